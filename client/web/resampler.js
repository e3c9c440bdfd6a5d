/**
 * Streaming change of sample rate: a Kaiser-windowed sinc, one row of taps for each phase.
 *
 * Output sample k is the input at time k / rateOut; nothing is shifted, only held back for half a filter
 * (1.7 ms). Below 0.875 of the lower rate's Nyquist frequency the signal passes; from Nyquist on it is
 * down by 80 dB (window length and shape after Kaiser; Oppenheim and Schafer, Discrete-Time Signal
 * Processing, section 7.6). Pure. Refuses to know frames, blocks and clocks.
 */

const HALF_TAPS = 40; // at the lower of the two rates
const BETA = 7.86; // 0.1102 (80 dB - 8.7)
const CUTOFF = 0.9375; // of the lower Nyquist frequency: the middle of the slope

export class Resampler {
  #up;
  #down;
  #half;
  #rows;
  #input; // samples that an output may still need; the first one has index #first
  #first;
  #end = 0; // index after the last sample written
  #base = 0; // the next output stands at input position #base + #phase / #up
  #phase = 0;

  /** @param {number} rateIn hertz @param {number} rateOut hertz, both whole numbers */
  constructor(rateIn, rateOut) {
    const divisor = greatestCommonDivisor(rateIn, rateOut);
    this.#up = rateOut / divisor;
    this.#down = rateIn / divisor;
    this.#half = Math.ceil(HALF_TAPS * Math.max(1, rateIn / rateOut));
    this.#rows = taps(this.#up, this.#half, rateIn === rateOut ? 1 : CUTOFF * Math.min(1, rateOut / rateIn));
    this.#first = 1 - this.#half; // silence before the beginning
    this.#input = new Float32Array(8 * this.#half);
  }

  /** @param {number} count @returns {number} how many samples to write so that `count` can be read */
  needs(count) {
    if (count < 1) return 0;
    const last = this.#base + Math.floor((this.#phase + (count - 1) * this.#down) / this.#up);
    return Math.max(0, last + this.#half + 1 - this.#end);
  }

  /** @param {Float32Array} samples */
  write(samples) {
    this.#makeRoom(samples.length);
    this.#input.set(samples, this.#end - this.#first);
    this.#end += samples.length;
  }

  /**
   * Fills `out` as far as what was written allows.
   * @param {Float32Array} out
   * @returns {number} how many samples were put there
   */
  read(out) {
    let count = 0;
    while (count < out.length && this.#base + this.#half < this.#end) {
      out[count++] = this.#sample();
      this.#phase += this.#down;
      this.#base += Math.floor(this.#phase / this.#up);
      this.#phase %= this.#up;
    }
    return count;
  }

  #sample() {
    const row = this.#rows[this.#phase];
    const start = this.#base - this.#half + 1 - this.#first;
    let sum = 0;
    for (let i = 0; i < row.length; i++) sum += row[i] * this.#input[start + i];
    return sum;
  }

  #makeRoom(count) {
    const needed = this.#base - this.#half + 1; // older samples are of no more use
    const held = this.#end - needed;
    if (this.#end - this.#first + count <= this.#input.length) return;
    const from = this.#input.subarray(needed - this.#first, this.#end - this.#first);
    const room = held + count <= this.#input.length ? this.#input : new Float32Array(2 * (held + count));
    room.set(from, 0); // typed arrays copy as if through a buffer of their own
    this.#input = room;
    this.#first = needed;
  }
}

/** One row for each phase p: the weights of the samples around input position p / phases. */
function taps(phases, half, cutoff) {
  return Array.from({ length: phases }, (_, phase) => {
    const row = new Float32Array(2 * half);
    for (let i = 0; i < row.length; i++) row[i] = kernel(half - 1 - i + phase / phases, half, cutoff);
    const gain = row.reduce((sum, weight) => sum + weight, 0);
    return row.map((weight) => weight / gain); // every phase passes a constant as it is
  });
}

function kernel(t, half, cutoff) {
  const x = Math.PI * cutoff * t;
  const sinc = x === 0 ? 1 : Math.sin(x) / x;
  return sinc * bessel(BETA * Math.sqrt(Math.max(0, 1 - (t / half) ** 2)));
}

/** Modified Bessel function of the first kind, order 0, by its power series. */
function bessel(x) {
  let sum = 1;
  for (let term = 1, k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a, b) {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
