/**
 * Quantiles of milliseconds over a whole call, in memory that does not grow with it.
 *
 * Pure. Refuses to know what was measured.
 */

const MOST_MS = 20_000; // what took longer counts as so long

export class Histogram {
  count = 0;
  max = null;
  #counts = new Uint32Array(MOST_MS + 1); // one for each millisecond

  /** @param {number} ms */
  add(ms) {
    this.count += 1;
    this.max = Math.max(this.max ?? 0, ms);
    this.#counts[Math.max(0, Math.min(MOST_MS, Math.round(ms)))] += 1;
  }

  /** @param {number} fraction @returns {number | null} by the nearest rank; null of nothing */
  quantile(fraction) {
    if (this.count === 0) return null;
    let left = Math.max(1, Math.ceil(this.count * fraction));
    let ms = 0;
    for (; (left -= this.#counts[ms]) > 0; ms++);
    return ms;
  }
}

/** @param {number[]} values @returns {number | null} the middle one, or the mean of the middle two */
export function median(values) {
  if (values.length === 0) return null;
  const ordered = [...values].sort((a, b) => a - b);
  const middle = ordered.length >> 1;
  return ordered.length % 2 ? ordered[middle] : (ordered[middle - 1] + ordered[middle]) / 2;
}
