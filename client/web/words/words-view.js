/**
 * The words on the page, a paragraph for each stretch of speech. Refuses to know where they come from.
 */

import { element } from "../page/elements.js";
import { clock } from "./transcript.js";

const PARAGRAPHS_KEPT = 400;
const NAMES = { user: "You", agent: "Agent" };
const AT_END_PX = 60;

export class WordsView {
  #log;
  #onSeek;
  #shown = new Map(); // paragraph's id -> its element
  #isFollowing = false; // the end is brought into sight with the next picture

  /** @param {HTMLElement} log is filled @param {(ms: number) => void} onSeek somebody clicked a time */
  constructor(log, onSeek) {
    this.#log = log;
    this.#onSeek = onSeek;
  }

  clear() {
    this.#shown.clear();
    this.#log.replaceChildren();
  }

  /**
   * @param {Iterable<object>} changed paragraphs that are new or not what they were
   * @param {object[]} all of them, in order
   */
  update(changed, all) {
    this.#follow();
    for (const paragraph of changed) {
      const shown = this.#shown.get(paragraph.id) ?? this.#insert(paragraph, all);
      if (shown) write(shown.querySelector(".said"), paragraph.words);
    }
  }

  /** Measured once a picture, for it costs a layout; who has scrolled back goes on reading there. */
  #follow() {
    if (this.#isFollowing) return;
    const { scrollHeight, scrollTop, clientHeight } = this.#log;
    if (scrollHeight - scrollTop - clientHeight >= AT_END_PX) return;
    this.#isFollowing = true;
    requestAnimationFrame(() => {
      this.#isFollowing = false;
      this.#log.scrollTop = this.#log.scrollHeight;
    });
  }

  #insert(paragraph, all) {
    const at = all.indexOf(paragraph);
    const next = all.slice(at + 1).find(({ id }) => this.#shown.has(id));
    const before = next ? this.#shown.get(next.id) : null;
    const full = this.#shown.size >= PARAGRAPHS_KEPT;
    if (full && before === this.#log.firstElementChild) return null; // older than what is kept
    const made = this.#paragraph(paragraph);
    this.#log.insertBefore(made, before);
    this.#shown.set(paragraph.id, made);
    if (full) this.#drop(this.#log.firstElementChild);
    return made;
  }

  #drop(oldest) {
    this.#shown.delete(Number(oldest.dataset.id));
    oldest.remove();
  }

  #paragraph({ id, channel, words }) {
    const { start_ms } = words[0];
    const label = `Show ${clock(start_ms)} in the picture`;
    const seek = () => this.#onSeek(start_ms);
    return element(
      "p",
      { class: channel, "data-id": String(id) },
      element("button", { type: "button", class: "time", "aria-label": label, click: seek }, clock(start_ms)),
      element("span", { class: "who" }, NAMES[channel]),
      element("span", { class: "said" }),
    );
  }
}

/** Writes what is new of them; what stands there already is left alone, for it is being read. */
function write(said, words) {
  for (const [at, word] of words.entries()) {
    const shown = said.children[at];
    const state = `${word.text}\u0000${word.heard ?? ""}\u0000${typeof word.heard}`;
    if (!shown) said.append(written(word, state), " ");
    else if (shown.dataset.state !== state) shown.replaceWith(written(word, state));
  }
}

function written(word, state) {
  const made = element("span", { class: "word" }, word.text);
  if (typeof word.heard === "string") {
    const heard = word.heard === "" ? "not heard" : `heard: ${word.heard}`;
    made.classList.add("differs");
    made.title = `${word.text} (${heard})`;
    made.append(element("span", { class: "heard" }, ` (${heard})`));
  }
  made.dataset.state = state;
  return made;
}
