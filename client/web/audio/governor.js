/**
 * How much audio the playout buffer should keep waiting, and how it gets there.
 *
 * It watches the lowest level of each second, which is what was not needed in it, against a margin for
 * jitter. The margin grows with every underrun and shrinks after a calm time, which has to be the longer
 * the more underruns there were. Small errors, such as
 * two clocks that drift apart by some hundred ppm, are played away: a little faster or slower, by 0.5 % at
 * most, which nobody hears. A large excess, as after a stall, is skipped at once, so that a hiccup does not
 * delay the rest of the call. Pure: time is the number of samples played. Refuses to know samples.
 */

import { SAMPLE_RATE } from "./frames.js";

export const samplesOf = (ms) => Math.round((ms * SAMPLE_RATE) / 1000);

export const GOVERNOR = Object.freeze({
  marginMs: 20, // at the start, and at the least
  growthMs: 20, // with every underrun
  marginMaxMs: 320,
  shrinkBy: 0.25, // of what was not needed in a calm time
  calmMs: 10_000, // without need of more than half the margin; each underrun doubles it
  calmMostMs: 80_000,
  windowMs: 1_000,
  toleranceMs: 60, // how far above the margin the lowest level may stand before it is skipped
  hurryWindowMs: 200, // and in how short a time a level that is absurd is found out
  hurryMs: 400,
  pullPerSecond: 0.1, // of the error, played away
  speedMost: 0.005,
});

export class Governor {
  /** Samples that should be left when the next frame comes. */
  margin;
  /** How fast to play. */
  speed = 1;
  #settings;
  #second;
  #moment;
  #calm;
  #calmSamples;

  constructor(settings = GOVERNOR) {
    this.#settings = settings;
    this.margin = samplesOf(settings.marginMs);
    this.#second = new Lowest(samplesOf(settings.windowMs));
    this.#moment = new Lowest(samplesOf(settings.hurryWindowMs));
    this.#calmSamples = samplesOf(settings.calmMs);
    this.#calm = new Lowest(this.#calmSamples);
  }

  /** The buffer ran dry: it will start anew. */
  ranDry() {
    const { growthMs, marginMaxMs } = this.#settings;
    this.margin = Math.min(this.margin + samplesOf(growthMs), samplesOf(marginMaxMs));
    this.speed = 1;
    this.forget();
    this.#beCalmFor(this.#calmSamples * 2);
  }

  /** What was seen of the level holds no longer. */
  forget() {
    for (const window of [this.#second, this.#moment, this.#calm]) window.restart();
  }

  /**
   * @param {number} level samples waiting, after `played` of them were taken out
   * @returns {number} how many samples to skip; 0 nearly always
   */
  watch(level, played) {
    const { toleranceMs, hurryMs } = this.#settings;
    this.#shrink(this.#calm.after(level, played));
    const moment = this.#moment.after(level, played);
    if (moment !== null && moment - this.margin > samplesOf(hurryMs)) return moment - this.margin;
    const second = this.#second.after(level, played);
    if (second === null) return 0;
    const excess = second - this.margin;
    if (excess > samplesOf(toleranceMs)) return excess;
    this.#adjust(excess / SAMPLE_RATE);
    return 0;
  }

  #adjust(excessS) {
    const { pullPerSecond, speedMost } = this.#settings;
    this.speed = 1 + Math.max(-speedMost, Math.min(speedMost, excessS * pullPerSecond));
  }

  #shrink(lowest) {
    if (lowest === null || lowest < this.margin / 2) return;
    const { marginMs, shrinkBy } = this.#settings;
    this.margin = Math.max(samplesOf(marginMs), this.margin - Math.round(shrinkBy * lowest));
    this.#beCalmFor(this.#calmSamples / 2);
  }

  #beCalmFor(samples) {
    const { calmMs, calmMostMs } = this.#settings;
    this.#calmSamples = Math.max(samplesOf(calmMs), Math.min(samplesOf(calmMostMs), samples));
    this.#calm = new Lowest(this.#calmSamples);
  }
}

/** The lowest level of one window after another. */
class Lowest {
  #window;
  #lowest = Infinity;
  #watched = 0;

  constructor(window) {
    this.#window = window;
  }

  restart() {
    this.#lowest = Infinity;
    this.#watched = 0;
  }

  /** @returns {number | null} the window's, once it is full */
  after(level, played) {
    this.#lowest = Math.min(this.#lowest, level);
    this.#watched += played;
    if (this.#watched < this.#window) return null;
    const lowest = this.#lowest;
    this.restart();
    return lowest;
  }
}
