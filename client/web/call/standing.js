/**
 * What the status line says of the server between two calls.
 *
 * Pure: times are arguments, in milliseconds. Refuses to know how the server is asked.
 */

import { refusalSentence } from "./sentences.js";

/** So long a full server may be full of the call that has just ended here. */
export const OWN_CALL_MS = 10_000;

export class Standing {
  #ended = null; // the call that the line still tells of, {text, isTrouble, at}
  #wasFree = false; // since then
  #wasAway = false;

  /**
   * A call ended, or never began.
   * @param {{text: string, isTrouble: boolean, refusal?: {type: string}}} outcome whose text stands in the line
   * @param {number} now
   */
  ended({ text, isTrouble, refusal }, now) {
    this.#ended = refusal ? null : { text, isTrouble, at: now }; // a refusal tells of the server
    this.#wasFree = false;
    this.#wasAway = refusal?.type === "unreachable";
  }

  /**
   * The server was asked.
   * @param {{type: string} | null} refusal why no call could start now
   * @param {number} now
   * @returns {{text: string, mood: string} | null} null where the line stays as it is: how a call ended is worth
   *   reading until somebody acts; only after a call that went as wanted may trouble of the server's come first
   */
  heard(refusal, now) {
    if (refusal?.type === "unreachable") this.#wasAway = true;
    this.#wasFree ||= !refusal;
    if (this.#ended?.isTrouble) return this.#held(refusal);
    if (this.#ended && (!refusal || this.#isOwn(refusal, now))) return null;
    this.#ended = null;
    if (refusal) return { text: refusalSentence(refusal), mood: "trouble" };
    const text = this.#wasAway ? "The server is back. Start a call when you like." : "Ready when you are.";
    this.#wasAway = false;
    return { text, mood: "idle" };
  }

  #held(refusal) {
    const { text } = this.#ended;
    return { text: this.#wasAway && !refusal ? `${text} The server is back.` : text, mood: "trouble" };
  }

  #isOwn({ type }, now) {
    return type === "server_full" && (!this.#wasFree || now - this.#ended.at < OWN_CALL_MS);
  }
}
