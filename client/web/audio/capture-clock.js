/**
 * Whether the microphone still runs, and at its own rate: frames against the wall clock.
 *
 * A headset that changes its rate in mid-call, a device that was taken away, a machine that slept: the
 * audio thread then gives frames at another pace than 12.5 a second, or none. Judged over seconds, for the
 * page's own thread may be late; and a wrong rate is equally wrong twice in a row, where a machine that is
 * overworked is not. Pure: times are arguments, in milliseconds. Refuses to know devices.
 */

import { FRAME_MS } from "./frames.js";

export const STOPPED_MS = 2_000;
export const WINDOW_MS = 6_000;
/** How far the pace may be off; clocks are within 0.1 %, a change of rate is 9 % or more. */
export const TOLERANCE = 0.06;
const ALIKE = 0.03;

export class CaptureClock {
  #last;
  #since;
  #frames = 0;
  #paces = [1, 1]; // of the last two windows

  /** @param {number} now */
  constructor(now) {
    this.#last = this.#since = now;
  }

  /** A frame came. */
  frame(now) {
    this.#last = now;
    this.#frames += 1;
    if (now - this.#since < WINDOW_MS) return;
    this.#paces = [this.#paces[1], (this.#frames * FRAME_MS) / (now - this.#since)];
    this.#since = now;
    this.#frames = 0;
  }

  /** @returns {"runs" | "stopped" | "off_pace"} */
  verdict(now) {
    if (now - this.#last >= STOPPED_MS) return "stopped";
    const [before, last] = this.#paces;
    const isOff = [before, last].every((pace) => Math.abs(pace - 1) > TOLERANCE);
    return isOff && Math.abs(last - before) < ALIKE ? "off_pace" : "runs";
  }
}
