/**
 * The playout buffer: frames arrive when the network lets them, samples leave at a steady rate.
 *
 *     DRY ──audio came──► PLAYING ──about to run out──► FADING ──faded out──► DRY
 *
 * Playing starts once the buffer is `target` long, counting silence that is put in front of what came:
 * one frame and a margin for jitter. Running out is an underrun: the sound fades out over what is left,
 * and the margin grows. After a burst, where even the lowest level of a second stands well above the
 * margin, the excess is skipped, with a dip instead of a click, so that a hiccup does not delay
 * the rest of the call. All of it is counted. Pure: time is the number of samples asked for.
 */

import { FRAME_SAMPLES, SAMPLE_RATE } from "./frames.js";

const samplesOf = (ms) => Math.round((ms * SAMPLE_RATE) / 1000);
const msOf = (samples) => (samples * 1000) / SAMPLE_RATE;

export const PLAYOUT = Object.freeze({
  marginMs: 20, // at the start
  growthMs: 20, // with every underrun
  marginMaxMs: 320,
  toleranceMs: 40, // how far above the margin the lowest level may stay
  windowMs: 1_000,
  fadeMs: 5,
  capacityMs: 2_000,
});

const DRY = "dry";
const PLAYING = "playing";
const FADING = "fading";

export class PlayoutBuffer {
  #settings;
  #ring;
  #read = 0;
  #depth = 0; // samples waiting in the ring
  #lead = 0; // silence still to come before them
  #state = DRY;
  #fresh = false; // audio came since the last underrun
  #gain = 0;
  #fade;
  #margin;
  #toSkip = 0; // once the dip has reached silence
  #lowest = Infinity;
  #watched = 0;
  #counts = { underruns: 0, skipped: 0, played: 0 };

  constructor(settings = PLAYOUT) {
    this.#settings = settings;
    this.#ring = new Float32Array(samplesOf(settings.capacityMs));
    this.#fade = samplesOf(settings.fadeMs);
    this.#margin = samplesOf(settings.marginMs);
  }

  /** @param {Float32Array} samples what came from the network, any number of them */
  push(samples) {
    const kept = samples.subarray(Math.max(0, samples.length - this.#ring.length));
    this.#counts.skipped += samples.length - kept.length;
    this.#makeRoom(kept.length);
    const write = (this.#read + this.#depth) % this.#ring.length;
    const first = kept.subarray(0, this.#ring.length - write);
    this.#ring.set(first, write);
    this.#ring.set(kept.subarray(first.length), 0);
    this.#depth += kept.length;
    this.#fresh ||= kept.length > 0;
  }

  /** @param {Float32Array} out filled to its end, with silence where there is nothing to play */
  pull(out) {
    this.#turn(out.length);
    for (let i = 0; i < out.length; i++) out[i] = this.#next();
    this.#watch(out.length);
  }

  /** underruns is a count, the others are milliseconds; target: how much is kept waiting. */
  get stats() {
    const { underruns, skipped, played } = this.#counts;
    return {
      underruns,
      skippedMs: msOf(skipped),
      playedMs: msOf(played),
      bufferedMs: msOf(this.#depth + this.#lead),
      targetMs: msOf(this.#target),
    };
  }

  get #target() {
    return FRAME_SAMPLES + this.#margin;
  }

  #turn(wanted) {
    if (this.#state === FADING && this.#depth === 0) this.#fallSilent();
    if (this.#state === DRY && this.#fresh) this.#start();
    if (this.#state === PLAYING && this.#depth + this.#lead < wanted + this.#fade) this.#runOut();
  }

  #start() {
    this.#state = PLAYING;
    this.#lead = Math.max(0, this.#target - this.#depth);
    this.#forgetLevel();
  }

  #runOut() {
    this.#state = FADING;
    this.#fresh = false;
    this.#toSkip = 0;
    this.#counts.underruns += 1;
    const { growthMs, marginMaxMs } = this.#settings;
    this.#margin = Math.min(this.#margin + samplesOf(growthMs), samplesOf(marginMaxMs));
  }

  #fallSilent() {
    this.#state = DRY;
    this.#gain = 0;
  }

  #next() {
    if (this.#lead > 0) {
      this.#lead -= 1;
      return 0;
    }
    if (this.#state === DRY || this.#depth === 0) return 0;
    this.#turnGain();
    return this.#take() * this.#gain;
  }

  #turnGain() {
    const down = this.#state === FADING || this.#toSkip > 0;
    const step = 1 / this.#fade;
    this.#gain = down ? Math.max(0, this.#gain - step) : Math.min(1, this.#gain + step);
    if (this.#gain > 0) return;
    if (this.#state === FADING) this.#fallSilent();
    this.#skip(Math.min(this.#toSkip, this.#depth - 1));
    this.#toSkip = 0;
  }

  #take() {
    const sample = this.#ring[this.#read];
    this.#advance(1);
    this.#counts.played += 1;
    return sample;
  }

  #skip(count) {
    this.#advance(count);
    this.#counts.skipped += count;
  }

  #advance(count) {
    this.#read = (this.#read + count) % this.#ring.length;
    this.#depth -= count;
  }

  /** Nobody takes samples out, or far too many came: the oldest give way. */
  #makeRoom(count) {
    const excess = this.#depth + count - this.#ring.length;
    if (excess <= 0) return;
    this.#skip(excess);
    this.#gain = 0;
  }

  /** Plans a skip where a whole window never needed what was waiting. */
  #watch(pulled) {
    if (this.#state !== PLAYING) return;
    this.#lowest = Math.min(this.#lowest, this.#depth + this.#lead);
    this.#watched += pulled;
    if (this.#watched < samplesOf(this.#settings.windowMs)) return;
    const excess = this.#lowest - this.#margin;
    if (excess > samplesOf(this.#settings.toleranceMs)) this.#toSkip = excess;
    this.#forgetLevel();
  }

  #forgetLevel() {
    this.#lowest = Infinity;
    this.#watched = 0;
  }
}
