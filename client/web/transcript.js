/**
 * Words as they come, cut into paragraphs that can be read.
 *
 * Fragments are only ever added. Pure. Refuses to know how a paragraph looks.
 */

export const PAUSE_MS = 1_500;
export const PARAGRAPH_CHARACTERS = 400;

/** Says of each fragment whether it begins a paragraph. */
export class Paragraphs {
  #end_ms = null;
  #characters = 0;

  /**
   * @param {{delta: string, start_ms: number, end_ms: number}} words
   * @returns {{begins: boolean, text: string}} text: what to show of it
   */
  add({ delta, start_ms, end_ms }) {
    const begins = this.#begins(delta, start_ms);
    const text = begins ? delta.trimStart() : delta;
    this.#characters = begins ? text.length : this.#characters + text.length;
    this.#end_ms = end_ms;
    return { begins, text };
  }

  /** After a pause; in a paragraph that got long, at the next word. */
  #begins(delta, start_ms) {
    if (this.#end_ms === null || start_ms - this.#end_ms >= PAUSE_MS) return true;
    return this.#characters >= PARAGRAPH_CHARACTERS && delta.startsWith(" ");
  }
}

/** @param {number} ms @returns {string} minutes and seconds, such as 1:05, with hours where there are any */
export function clock(ms) {
  const seconds = Math.floor(ms / 1000);
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60];
  const hours = Math.floor(seconds / 3600);
  if (hours) parts.unshift(hours);
  return parts.map((part, i) => (i ? String(part).padStart(2, "0") : String(part))).join(":");
}
