/**
 * Streaming change of sample rate: a Kaiser-windowed sinc, read between the rows of a table of phases.
 *
 * Output sample k is the input at time k / rateOut; nothing is shifted, only held back for half a filter
 * (1.7 ms). `speed` may change at any time: 1.001 takes in 0.1 % more than the rates say, which is how two
 * clocks that drift apart are kept together. Below 0.875 of the lower rate's Nyquist frequency the signal
 * passes; from Nyquist on it is down by 80 dB (window length and shape after Kaiser; Oppenheim and
 * Schafer, Discrete-Time Signal Processing, section 7.6). Pure. Refuses to know frames, blocks and clocks.
 */

const HALF_TAPS = 40; // at the lower of the two rates
const BETA = 7.86; // 0.1102 (80 dB - 8.7)
const CUTOFF = 0.9375; // of the lower Nyquist frequency: the middle of the slope
const PHASES = 256; // between them linearly: the error is below the window's own 80 dB

export class Resampler {
  /** How fast the input is taken in, against what the rates say. */
  speed = 1;
  #step; // input samples for one output sample, at speed 1
  #half;
  #rows;
  #input; // samples that an output may still need; the first one has index #first
  #first;
  #end = 0; // index after the last sample written
  #base = 0; // the next output stands at input position #base + #between
  #between = 0;

  /** @param {number} rateIn hertz @param {number} rateOut hertz */
  constructor(rateIn, rateOut) {
    this.#step = rateIn / rateOut;
    this.#half = Math.ceil(HALF_TAPS * Math.max(1, this.#step));
    this.#rows = taps(this.#half, rateIn === rateOut ? 1 : CUTOFF * Math.min(1, rateOut / rateIn));
    this.#first = 1 - this.#half; // silence before the beginning
    this.#input = new Float32Array(8 * this.#half);
  }

  /** @param {number} count @returns {number} how many samples to write so that `count` can be read */
  needs(count) {
    let base = this.#base;
    let between = this.#between;
    for (let k = 1; k < count; k++) {
      between += this.#step * this.speed; // as `read` will, to the last bit
      base += Math.floor(between);
      between -= Math.floor(between);
    }
    return count < 1 ? 0 : Math.max(0, base + this.#half + 1 - this.#end);
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
      this.#between += this.#step * this.speed;
      this.#base += Math.floor(this.#between);
      this.#between -= Math.floor(this.#between);
    }
    return count;
  }

  #sample() {
    const place = this.#between * PHASES;
    const phase = Math.floor(place);
    const first = this.#dot(this.#rows[phase]);
    if (place === phase) return first;
    return first + (place - phase) * (this.#dot(this.#rows[phase + 1]) - first);
  }

  #dot(row) {
    const input = this.#input;
    const start = this.#base - this.#half + 1 - this.#first;
    let sum = 0;
    for (let i = 0; i < row.length; i++) sum += row[i] * input[start + i];
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

/** One row for each phase p, and one more: the weights of the samples around position p / PHASES. */
function taps(half, cutoff) {
  return Array.from({ length: PHASES + 1 }, (_, phase) => {
    const row = new Float32Array(2 * half);
    for (let i = 0; i < row.length; i++) row[i] = kernel(half - 1 - i + phase / PHASES, half, cutoff);
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
