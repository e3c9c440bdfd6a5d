/**
 * Where a growing conversation is now: frames come in steps of 80 ms, and the picture should glide.
 *
 * Pure: times are arguments, in milliseconds. Refuses to know frames.
 */

const BEHIND_MS = 120; // so that the next frame is usually there before it is needed
const PULL = 0.05; // of the error, at each picture

export class Playhead {
  #shown = 0;
  #last = null;

  /** @param {number} now @param {number} endMs how long the conversation is @returns {number} up to where it is shown */
  at(now, endMs) {
    const passed = this.#last === null ? 0 : now - this.#last;
    this.#last = now;
    const glided = this.#shown + passed;
    const wanted = glided + PULL * (endMs - BEHIND_MS - glided);
    this.#shown = Math.max(this.#shown, Math.min(endMs, Math.max(wanted, endMs - 3 * BEHIND_MS)));
    return this.#shown;
  }
}
