/**
 * The server's step time, asked for every few seconds while a call runs.
 *
 * Refuses to know how it is read (wire/step-time.js) and shown.
 */

import { askSteps } from "../wire/server-facts.js";
import { stepMs } from "../wire/step-time.js";

const EVERY_MS = 4_000;

export class StepWatch {
  /** The mean of the last seconds; null as long as it is not known. */
  ms = null;
  #askedAt = -Infinity;
  #last = null;

  /** @param {number} now */
  tick(now) {
    if (now - this.#askedAt < EVERY_MS) return;
    this.#askedAt = now;
    this.#ask();
  }

  async #ask() {
    const steps = await askSteps(fetch, document.baseURI);
    this.ms = stepMs(this.#last, steps) ?? this.ms;
    this.#last = steps ?? this.#last;
  }
}
