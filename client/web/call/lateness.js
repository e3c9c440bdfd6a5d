/**
 * Whether the server keeps up: by how much its answers come late, where they do so lastingly.
 *
 * Pure: times are arguments, in milliseconds. Refuses to know how round trips are measured and what is said.
 */

import { median } from "../numbers/histogram.js";

/** A round trip above it is late; nobody converses over it. */
export const LATE_MS = 1_000;
/** So long it must have been late: one hiccup is nothing to be told of. */
export const LASTING_MS = 5_000;
/** Round trips that ended within it are the recent ones. */
export const RECENT_MS = 2_000;

export class Lateness {
  #since = null; // when it was first found late, and at every look after
  #late = null;

  /**
   * @param {{at: number, ms: number}[]} trips the last round trips and when each ended @param {number} now
   * @returns {number | null} the median of the recent ones in whole seconds; null where the server keeps up
   */
  look(trips, now) {
    const ms = median(trips.filter(({ at }) => now - at < RECENT_MS).map((trip) => trip.ms));
    if (ms === null) return this.#late; // nothing was learnt
    this.#since = ms > LATE_MS ? (this.#since ?? now) : null;
    const lasts = this.#since !== null && now - this.#since >= LASTING_MS;
    this.#late = lasts ? Math.round(ms / 1_000) : null;
    return this.#late;
  }
}
