/**
 * When one channel holds speech, from its energy, while it comes in.
 *
 * The rules are those of the scoring (evals/SCORING.md, detector `energy`, and IPUs): hops of 10 ms are
 * active when louder than the highest of -45 dBFS and the noise floor + 10 dB, at most -30 dBFS; less than
 * 50 ms of them are dropped, and silences below 200 ms joined. The noise floor is the 10th percentile of
 * the last 20 s, for nobody knows the future; the zeros before the first sound are none of it. Pure.
 * Refuses to know whose channel it is.
 */

import { SAMPLE_RATE } from "../audio/frames.js";

export const ACTIVITY = Object.freeze({
  hopMs: 10,
  quietDb: -45,
  overFloorDb: 10,
  loudDb: -30,
  floorPercentile: 0.1,
  floorMs: 20_000,
  leastMs: 50,
  joinMs: 200,
});

const { hopMs, leastMs, joinMs } = ACTIVITY;
const HOP_SAMPLES = (SAMPLE_RATE * hopMs) / 1000;

export class Activity {
  /** Stretches of speech, in order: {start_ms, end_ms}; the last one grows while it lasts. */
  segments = [];
  #floor = new NoiseFloor();
  #nowMs = 0;
  #runStart = null; // of active hops
  #isOpen = false;

  /** How far it has heard, in ms. */
  get throughMs() {
    return this.#nowMs;
  }

  /** Whether somebody speaks, as far as that is known now. */
  get isOpen() {
    return this.#isOpen;
  }

  /** @param {Float32Array} samples whole hops of 240 */
  append(samples) {
    for (let at = 0; at + HOP_SAMPLES <= samples.length; at += HOP_SAMPLES) {
      this.hop(decibels(samples, at, at + HOP_SAMPLES));
    }
  }

  /** @param {number} db the next hop's level */
  hop(db) {
    const active = db > this.#floor.threshold;
    this.#floor.add(db);
    if (active) this.#runStart ??= this.#nowMs;
    else this.#runStart = null;
    this.#nowMs += hopMs;
    if (this.#runStart !== null && this.#nowMs - this.#runStart >= leastMs) this.#speak();
    else this.#fallSilent();
  }

  /** Nothing was heard up to a time. @param {number} ms */
  fillTo(ms) {
    while (this.#nowMs < ms) this.hop(NoiseFloor.LOWEST_DB);
  }

  #speak() {
    if (!this.#isOpen) this.segments.push({ start_ms: this.#runStart, end_ms: this.#nowMs });
    this.#isOpen = true;
    this.segments.at(-1).end_ms = this.#nowMs;
  }

  #fallSilent() {
    if (!this.#isOpen) return;
    const { end_ms } = this.segments.at(-1);
    const pending = this.#runStart !== null && this.#runStart - end_ms < joinMs;
    if (this.#nowMs - end_ms >= joinMs && !pending) this.#isOpen = false;
  }
}

function decibels(samples, from, to) {
  let sum = 0;
  for (let i = from; i < to; i++) sum += samples[i] * samples[i];
  return 10 * Math.log10(sum / (to - from) + 1e-12);
}

/** The 10th percentile of the last levels, to a decibel. */
class NoiseFloor {
  static LOWEST_DB = -100;
  #ring = new Uint8Array(ACTIVITY.floorMs / hopMs);
  #counts = new Uint16Array(101); // how many of the last hops had so many dB above the lowest
  #at = 0;
  #held = 0;

  add(db) {
    if (this.#held === 0 && db < NoiseFloor.LOWEST_DB) return; // nobody there yet: that is no noise
    const above = Math.round(Math.max(0, Math.min(100, db - NoiseFloor.LOWEST_DB)));
    if (this.#held === this.#ring.length) this.#counts[this.#ring[this.#at]] -= 1;
    else this.#held += 1;
    this.#ring[this.#at] = above;
    this.#counts[above] += 1;
    this.#at = (this.#at + 1) % this.#ring.length;
  }

  get threshold() {
    const { quietDb, overFloorDb, loudDb } = ACTIVITY;
    return Math.min(loudDb, Math.max(quietDb, this.#level() + overFloorDb));
  }

  #level() {
    if (this.#held === 0) return NoiseFloor.LOWEST_DB;
    let left = Math.ceil(this.#held * ACTIVITY.floorPercentile);
    let above = 0;
    for (; (left -= this.#counts[above]) > 0; above++);
    return NoiseFloor.LOWEST_DB + above;
  }
}
