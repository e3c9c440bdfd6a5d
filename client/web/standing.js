/**
 * What the status line says of the server between two calls.
 *
 * Pure. Refuses to know how the server is asked.
 */

import { refusalSentence } from "./sentences.js";

/**
 * @param {{type: string} | null} refusal why no call could start now
 * @param {boolean} tellsOfCall the line still says how the last call ended
 * @returns {{text: string, mood: string} | null} null where the line stays as it is: how a call ended is
 *   worth reading until the server has trouble of its own
 */
export function serverStatus(refusal, tellsOfCall) {
  if (refusal) return { text: refusalSentence(refusal), mood: "trouble" };
  return tellsOfCall ? null : { text: "Ready when you are.", mood: "idle" };
}
