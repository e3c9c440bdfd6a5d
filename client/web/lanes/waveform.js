/**
 * One channel's waveform for drawing: its peaks at ten milliseconds, and at four times that, and again.
 *
 * However long the call, a picture of it takes a few values a column, and an hour takes half a megabyte.
 * Pure. Refuses to know samples' meaning and what a picture looks like.
 */

import { SAMPLE_RATE } from "../audio/frames.js";

export const HOP_MS = 10;
const HOP_SAMPLES = (SAMPLE_RATE * HOP_MS) / 1000;
const FACTOR = 4;
const LEVELS = 6;

export class Waveform {
  #levels = Array.from({ length: LEVELS }, () => new Bytes());

  /** How much of it there is, in ms. */
  get endMs() {
    return this.#levels[0].length * HOP_MS;
  }

  /** @param {Float32Array} samples whole hops of 240 */
  append(samples) {
    for (let at = 0; at + HOP_SAMPLES <= samples.length; at += HOP_SAMPLES) {
      let peak = 0;
      for (let i = at; i < at + HOP_SAMPLES; i++) peak = Math.max(peak, Math.abs(samples[i]));
      this.push(Math.min(255, Math.ceil(peak * 255)));
    }
  }

  /** @param {number} peak one hop's, of 255 */
  push(peak) {
    const index = this.#levels[0].length;
    for (const [level, bytes] of this.#levels.entries()) {
      bytes.raise(Math.floor(index / FACTOR ** level), peak);
    }
  }

  /** Silence up to a time. @param {number} ms */
  fillTo(ms) {
    while (this.endMs < ms) this.push(0);
  }

  /**
   * @param {number} fromMs where the first column begins; it may lie outside
   * @param {number} msPerColumn
   * @param {Uint8Array} out one peak for each column
   */
  columns(fromMs, msPerColumn, out) {
    const level = levelFor(msPerColumn);
    const hop = HOP_MS * FACTOR ** level;
    const bytes = this.#levels[level];
    for (let column = 0; column < out.length; column++) {
      const from = fromMs + column * msPerColumn;
      out[column] = bytes.peak(Math.floor(from / hop), Math.ceil((from + msPerColumn) / hop));
    }
  }

  /** @returns {Uint8Array} the peak of every hop */
  hops() {
    return this.#levels[0].slice();
  }
}

/** The coarsest level of which a column still holds two values. */
function levelFor(msPerColumn) {
  const level = Math.floor(Math.log(msPerColumn / (2 * HOP_MS)) / Math.log(FACTOR));
  return Math.max(0, Math.min(LEVELS - 1, level));
}

/** An array of bytes that grows. */
class Bytes {
  #held = new Uint8Array(1_024);
  length = 0;

  raise(index, value) {
    if (index >= this.#held.length) this.#grow();
    this.length = Math.max(this.length, index + 1);
    this.#held[index] = Math.max(this.#held[index], value);
  }

  /** The largest from `from` up to `to`; 0 where there is none. */
  peak(from, to) {
    let largest = 0;
    for (let i = Math.max(0, from); i < Math.min(this.length, to); i++) {
      if (this.#held[i] > largest) largest = this.#held[i];
    }
    return largest;
  }

  slice() {
    return this.#held.slice(0, this.length);
  }

  #grow() {
    const larger = new Uint8Array(this.#held.length * 2);
    larger.set(this.#held);
    this.#held = larger;
  }
}
