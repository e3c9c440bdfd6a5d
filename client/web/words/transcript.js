/**
 * Who said what and when: the agent's words as the model writes them, the user's as they are heard.
 *
 * Fragments are only ever added, but the user's words come seconds late, so paragraphs are ordered by
 * their beginning. Pure. Refuses to know how a paragraph looks.
 */

import { Comparison } from "./comparison.js";

export const PAUSE_MS = 1_500;
export const PARAGRAPH_WORDS = 60;

/**
 * @typedef {{text: string, start_ms: number, end_ms: number, heard: string | null | undefined}} Word
 *   heard: what Whisper heard instead: "" for nothing, null for the same, undefined for not compared
 * @typedef {{id: number, channel: "user" | "agent", words: Word[]}} Paragraph
 */

export class Transcript {
  /** @type {Paragraph[]} in the order in which they began */
  paragraphs = [];
  #last = { user: null, agent: null };
  #next = 0;
  #comparison = new Comparison();

  /**
   * A piece of the agent's text; a blank at its beginning begins a word.
   * @param {{delta: string, start_ms: number, end_ms: number}} piece
   * @returns {Paragraph | null} the one that changed
   */
  agentText(piece) {
    return this.#pieces("agent", piece);
  }

  /** A word of the user's, as `agentText`. */
  userText(piece) {
    return this.#pieces("user", piece);
  }

  /**
   * What was heard of the agent.
   * @param {{word: string, start_ms: number, end_ms: number}[]} words
   * @param {number} throughMs every word before it has been told
   * @returns {Set<Paragraph>} those that changed
   */
  hearing(words, throughMs) {
    const changed = new Set(this.#comparison.hear(words, throughMs));
    if (changed.size === 0) return changed;
    return new Set(this.paragraphs.filter(({ words }) => words.some((word) => changed.has(word))));
  }

  /** @returns {{compared: number, same: number}} how many of the agent's words were heard as written */
  get agreement() {
    return this.#comparison.counts;
  }

  #pieces(channel, { delta, start_ms, end_ms }) {
    let changed = null;
    for (const part of delta.split(/(?=\s)/)) {
      if (part.trim() === "") this.#open(channel);
      else changed = this.#add(channel, part, start_ms, end_ms);
    }
    return changed;
  }

  /** A blank alone: whatever comes is a new word. */
  #open(channel) {
    if (this.#last[channel]) this.#last[channel].isWhole = true;
  }

  #add(channel, part, start_ms, end_ms) {
    const last = this.#last[channel];
    const goesOn = last && !last.isWhole && !/^\s/.test(part) && start_ms - last.word.end_ms < PAUSE_MS;
    if (!goesOn) return this.#begin(channel, { text: part.trim(), start_ms, end_ms });
    last.word.text += part;
    last.word.end_ms = end_ms;
    return last.paragraph;
  }

  #begin(channel, word) {
    const last = this.#last[channel];
    const fits = last && word.start_ms - last.word.end_ms < PAUSE_MS && !isLong(last.paragraph);
    const paragraph = fits ? last.paragraph : this.#paragraph(channel, word.start_ms);
    paragraph.words.push(word);
    this.#last[channel] = { paragraph, word, isWhole: false };
    if (channel === "agent") this.#comparison.write(word);
    return paragraph;
  }

  #paragraph(channel, start_ms) {
    const paragraph = { id: this.#next++, channel, words: [] };
    let at = this.paragraphs.length;
    while (at > 0 && this.paragraphs[at - 1].words[0].start_ms > start_ms) at -= 1;
    this.paragraphs.splice(at, 0, paragraph);
    return paragraph;
  }
}

/** Twice as long as it should be, or as long and at the end of a sentence. */
function isLong({ words }) {
  const ends = /[.!?]$/.test(words.at(-1).text);
  return words.length >= PARAGRAPH_WORDS * (ends ? 1 : 2);
}

/** @returns {string} the whole of it, a line a paragraph, to be read by people */
export function asText(paragraphs, names = { user: "You", agent: "Agent" }) {
  const line = ({ channel, words }) =>
    `[${clock(words[0].start_ms)}] ${names[channel]}: ${words.map(({ text }) => text).join(" ")}\n`;
  return paragraphs.map(line).join("");
}

/** @param {number} ms @returns {string} minutes and seconds, such as 1:05, with hours where there are any */
export function clock(ms) {
  const seconds = Math.floor(ms / 1000);
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60];
  const hours = Math.floor(seconds / 3600);
  if (hours) parts.unshift(hours);
  return parts.map((part, i) => (i ? String(part).padStart(2, "0") : String(part))).join(":");
}
