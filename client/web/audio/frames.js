/**
 * The frame: the 80 ms of audio in which both sides of a call are counted.
 *
 * Pure. Refuses to know where samples come from and where they go.
 */

export const SAMPLE_RATE = 24_000;
export const FRAME_SAMPLES = 1_920;
export const FRAME_MS = (FRAME_SAMPLES * 1000) / SAMPLE_RATE;
export const FRAME_BYTES = FRAME_SAMPLES * 2;

/** Cuts a stream of samples into frames of 1,920. */
export class Framer {
  #frame = new Float32Array(FRAME_SAMPLES);
  #filled = 0;

  /**
   * @param {Float32Array} samples any number of them
   * @returns {Float32Array[]} the frames that became whole; the caller may keep them
   */
  push(samples) {
    const whole = [];
    for (let at = 0; at < samples.length; ) {
      const part = samples.subarray(at, at + FRAME_SAMPLES - this.#filled);
      this.#frame.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === FRAME_SAMPLES) whole.push(this.#next());
    }
    return whole;
  }

  #next() {
    const frame = this.#frame;
    this.#frame = new Float32Array(FRAME_SAMPLES);
    this.#filled = 0;
    return frame;
  }
}
