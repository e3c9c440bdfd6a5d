/**
 * The stretch of time that is shown, and how it moves: along with the call, or as somebody drags it.
 *
 * Pure. Refuses to know what is drawn along it.
 */

import { clock } from "../words/transcript.js";

export const LEAST_MS_PER_PX = 1;
const MOST_MS_PER_PX = 20_000;
const TICK_PX = 84; // the least distance of two labels
const STEPS_MS = [100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5];

export class TimeAxis {
  /** Whether the end of the call stays in sight. */
  follows = true;
  msPerPx;
  #width = 1;
  #leftMs = 0;
  #endMs = 0;

  /** @param {number} msPerPx */
  constructor(msPerPx = 20) {
    this.msPerPx = msPerPx;
  }

  get leftMs() {
    return this.#leftMs;
  }

  get rightMs() {
    return this.#leftMs + this.#width * this.msPerPx;
  }

  /** @param {number} width in CSS pixels */
  resize(width) {
    this.#width = Math.max(1, width);
    this.#settle();
  }

  /** The call is so long now. @param {number} endMs */
  reach(endMs) {
    this.#endMs = endMs;
    this.#settle();
  }

  follow() {
    this.follows = true;
    this.#settle();
  }

  hold() {
    this.follows = false;
  }

  /** Moves the picture; to the right, time goes back. @param {number} px */
  drag(px) {
    this.show(this.#leftMs - px * this.msPerPx);
  }

  /** Puts a time at the left edge; at the call's end it follows again. @param {number} leftMs */
  show(leftMs) {
    const most = this.#mostLeft;
    this.follows = leftMs >= most;
    this.#leftMs = Math.max(0, Math.min(most, leftMs));
  }

  /** Puts a time into the middle. @param {number} ms */
  centre(ms) {
    this.show(ms - (this.#width * this.msPerPx) / 2);
  }

  /** @param {number} factor above 1: more time is seen @param {number} x what stays where it is */
  zoom(factor, x) {
    const ms = this.toMs(x);
    const whole = Math.max(this.#endMs * 1.05, 10_000) / this.#width;
    const most = Math.min(MOST_MS_PER_PX, Math.max(LEAST_MS_PER_PX, whole));
    this.msPerPx = Math.max(LEAST_MS_PER_PX, Math.min(most, this.msPerPx * factor));
    if (!this.follows) this.#leftMs = ms - x * this.msPerPx;
    this.#settle();
  }

  toX(ms) {
    return (ms - this.#leftMs) / this.msPerPx;
  }

  toMs(x) {
    return this.#leftMs + x * this.msPerPx;
  }

  /** @returns {{ms: number, x: number, label: string}[]} the labelled times in sight */
  ticks() {
    const step = STEPS_MS.find((ms) => ms / this.msPerPx >= TICK_PX) ?? STEPS_MS.at(-1);
    const ticks = [];
    for (let ms = Math.ceil(this.#leftMs / step) * step; ms <= this.rightMs; ms += step) {
      ticks.push({ ms, x: this.toX(ms), label: label(ms, step) });
    }
    return ticks;
  }

  /** The latest left edge: the call's end is at the right one. */
  get #mostLeft() {
    return Math.max(0, this.#endMs - this.#width * this.msPerPx);
  }

  #settle() {
    const most = this.#mostLeft;
    this.#leftMs = this.follows ? most : Math.max(0, Math.min(most, this.#leftMs));
  }
}

function label(ms, step) {
  return step >= 1000 ? clock(ms) : `${clock(ms)}.${Math.round((ms % 1000) / 100)}`;
}
