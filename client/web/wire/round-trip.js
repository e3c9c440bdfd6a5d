/**
 * How long the answer to a frame takes: from sending frame n to the last byte of output frame n.
 *
 * Every frame sent is answered by one frame, in order, however messages cut them, so the oldest
 * unanswered one is always the next to be answered. The server makes frames of silence where none come;
 * their answers are nobody's round trip. Pure: times are arguments, in milliseconds.
 */

import { FRAME_BYTES } from "../audio/frames.js";
import { Histogram } from "../numbers/histogram.js";

const RECENT = 1_500; // the last two minutes

export class RoundTrip {
  /** Of the whole call. */
  times = new Histogram();
  /** The last ones, {at, ms}, for a plot. */
  recent = [];
  sentFrames = 0;
  answeredFrames = 0;
  /** Frames that the server made itself. */
  unasked = 0;
  #sent = [];
  #bytes = 0;

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
      if (this.#sent.length) this.#note(now, now - this.#sent.shift());
      else this.unasked += 1;
    }
  }

  /** Frames that wait for their answer. */
  get unanswered() {
    return this.#sent.length;
  }

  #note(at, ms) {
    this.times.add(ms);
    this.recent.push({ at, ms });
    if (this.recent.length > RECENT) this.recent.shift();
  }
}
