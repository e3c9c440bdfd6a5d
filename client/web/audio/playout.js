/**
 * The playout buffer: frames arrive when the network lets them, samples leave at a steady rate.
 *
 *     DRY ──audio came──► PLAYING ──about to run out──► FADING ──faded out──► DRY
 *
 * Playing starts once the buffer is `target` long, counting silence that is put in front of what came:
 * one frame and a margin for jitter (`governor.js` sets it). Running out is an underrun: the sound fades out
 * over what is left. A skip is a dip instead of a click. All of it is counted. Pure: time is the number of
 * samples asked for. Refuses to know the device's rate.
 */

import { FRAME_SAMPLES, SAMPLE_RATE } from "./frames.js";
import { Governor, samplesOf } from "./governor.js";

const msOf = (samples) => (samples * 1000) / SAMPLE_RATE;

export const FADE_MS = 5;
export const CAPACITY_MS = 2_000;

const DRY = "dry";
const PLAYING = "playing";
const FADING = "fading";
const FADE = samplesOf(FADE_MS);

export class PlayoutBuffer {
  #governor = new Governor();
  #ring = new Float32Array(samplesOf(CAPACITY_MS));
  #read = 0;
  #depth = 0; // samples waiting in the ring
  #lead = 0; // silence still to come before them
  #state = DRY;
  #fresh = false; // audio came since the last underrun
  #gain = 0;
  #toSkip = 0; // once the dip has reached silence
  #counts = { underruns: 0, skipped: 0, played: 0 };
  #delay = { sum: 0, samples: 0, mean: 0 };

  /** How fast to take samples out, about 1. */
  get speed() {
    return this.#governor.speed;
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
    for (let at = 0; at < out.length; ) at += this.#fill(out, at);
    if (this.#state !== PLAYING) return;
    const level = this.#depth + this.#lead;
    this.#average(level, out.length);
    const excess = this.#governor.watch(level, out.length);
    if (excess > 0) this.#toSkip = excess;
  }

  /**
   * underruns is a count, the others are milliseconds. target: how much is kept waiting when a frame has
   * just come. delay: how long samples waited here, on average over the last second.
   */
  get stats() {
    const { underruns, skipped, played } = this.#counts;
    return {
      underruns,
      skippedMs: msOf(skipped),
      playedMs: msOf(played),
      bufferedMs: msOf(this.#depth + this.#lead),
      targetMs: msOf(this.#target),
      delayMs: msOf(this.#delay.mean),
    };
  }

  get #target() {
    return FRAME_SAMPLES + this.#governor.margin;
  }

  #turn(wanted) {
    if (this.#state === FADING && this.#depth === 0) this.#fallSilent();
    if (this.#state === DRY && this.#fresh) this.#start();
    if (this.#state === PLAYING && this.#depth + this.#lead < wanted + FADE) this.#runOut();
  }

  #start() {
    this.#state = PLAYING;
    this.#lead = Math.max(0, this.#target - this.#depth);
    this.#governor.forget();
  }

  #runOut() {
    this.#state = FADING;
    this.#fresh = false;
    this.#toSkip = 0;
    this.#counts.underruns += 1;
    this.#governor.ranDry();
  }

  #fallSilent() {
    this.#state = DRY;
    this.#gain = 0;
  }

  /** Fills some of it, from `at` on. @returns {number} how much */
  #fill(out, at) {
    const room = out.length - at;
    if (this.#lead > 0) return this.#fillLead(out, at, Math.min(room, this.#lead));
    if (this.#state === DRY || this.#depth === 0) return silence(out, at, room);
    const steady = this.#gain === 1 && this.#state === PLAYING && this.#toSkip === 0;
    if (steady) return this.#copy(out, at, room);
    this.#turnGain();
    out[at] = this.#take() * this.#gain;
    return 1;
  }

  #fillLead(out, at, count) {
    this.#lead -= count;
    return silence(out, at, count);
  }

  #copy(out, at, room) {
    const count = Math.min(room, this.#depth, this.#ring.length - this.#read);
    out.set(this.#ring.subarray(this.#read, this.#read + count), at);
    this.#advance(count);
    this.#counts.played += count;
    return count;
  }

  #turnGain() {
    const down = this.#state === FADING || this.#toSkip > 0;
    this.#gain = down ? Math.max(0, this.#gain - 1 / FADE) : Math.min(1, this.#gain + 1 / FADE);
    if (this.#gain > 0) return;
    if (this.#state === FADING) this.#fallSilent();
    if (this.#toSkip > 0) this.#skip(Math.min(this.#toSkip, this.#depth - 1));
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
    this.#governor.forget();
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

  #average(level, count) {
    this.#delay.sum += level * count;
    this.#delay.samples += count;
    if (this.#delay.samples < SAMPLE_RATE) return;
    this.#delay = { sum: 0, samples: 0, mean: this.#delay.sum / this.#delay.samples };
  }
}

function silence(out, at, count) {
  out.fill(0, at, at + count);
  return count;
}
