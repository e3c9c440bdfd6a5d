/**
 * How long the answer to a frame takes: from sending frame n to the last byte of output frame n.
 *
 * Every frame sent is answered by one frame, in order, however messages cut them, so the oldest
 * unanswered one is always the next to be answered. Pure: times are arguments, in milliseconds.
 */

import { FRAME_BYTES } from "./frames.js";

const WINDOW = 250; // the last 20 s

export class RoundTrip {
  #sent = [];
  #last = [];
  #bytes = 0;
  sentFrames = 0;
  answeredFrames = 0;

  /** @param {number} now */
  sent(now) {
    this.#sent.push(now);
    this.sentFrames += 1;
  }

  /** @param {number} bytes of the agent's audio @param {number} now */
  received(bytes, now) {
    this.#bytes += bytes;
    for (; this.#bytes >= FRAME_BYTES; this.#bytes -= FRAME_BYTES) {
      this.answeredFrames += 1;
      if (this.#sent.length) this.#note(now - this.#sent.shift());
    }
  }

  /** Frames that wait for their answer. */
  get unanswered() {
    return this.#sent.length;
  }

  /** @param {number} fraction @returns {number | null} by the nearest rank; null before the first answer */
  quantile(fraction) {
    if (!this.#last.length) return null;
    const ordered = [...this.#last].sort((a, b) => a - b);
    return ordered[Math.ceil(ordered.length * fraction) - 1];
  }

  #note(elapsed) {
    this.#last.push(elapsed);
    if (this.#last.length > WINDOW) this.#last.shift();
  }
}
