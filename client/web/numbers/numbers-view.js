/**
 * The numbers of a call on the page, and their plot. Refuses to know how they are measured.
 */

import { SharpCanvas } from "../page/canvas.js";
import { byId, onPaletteChange, palette, setText } from "../page/elements.js";
import { drawPlot } from "./plot.js";

const FORMATS = {
  p50Ms: milliseconds,
  p95Ms: milliseconds,
  p99Ms: milliseconds,
  playoutMs: milliseconds,
  stepMs: (ms) => `${ms.toFixed(1)} ms`,
  gapMs: milliseconds,
  underruns: String,
  skippedMs: milliseconds,
  answeredFrames: String,
  agreement: (share) => `${Math.round(share * 100)} %`,
};

export class NumbersView {
  #points = [];
  #now = 0;
  #look = look();
  #plot = new SharpCanvas(byId("plot"), (context, size) => {
    drawPlot(context, size, this.#points, this.#now, this.#look);
    return false;
  });

  constructor() {
    onPaletteChange(() => {
      this.#look = look();
      this.#plot.ask();
    });
  }

  /**
   * @param {Record<string, number | null>} numbers as measures.js gives them
   * @param {{at: number, ms: number}[]} points the last round trips @param {number} now
   */
  show(numbers, points, now) {
    const { compared, heardAsWritten } = numbers;
    const shown = { ...numbers, agreement: compared > 0 ? heardAsWritten / compared : null };
    for (const node of document.querySelectorAll("[data-number]")) {
      const value = shown[node.dataset.number] ?? null;
      setText(node, value === null ? "–" : FORMATS[node.dataset.number](value));
    }
    this.#points = points;
    this.#now = now;
    this.#plot.ask();
  }

  clear() {
    this.show({ compared: 0 }, [], 0);
  }
}

function milliseconds(ms) {
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function look() {
  return { colours: palette(), font: getComputedStyle(document.body).fontFamily };
}
