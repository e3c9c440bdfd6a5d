/**
 * The server's transcript of a call that has ended, as the page shows one.
 *
 * Its shape is server/transcripts/document.py's. What its status `final` says was heard once more, with
 * care. Pure. Refuses to know how it is fetched.
 */

import { Transcript } from "./transcript.js";

/**
 * @param {{status: string, utterances?: object[], agent_text?: object[]}} document
 * @returns {Transcript | null} null where it holds no words: the server keeps none
 */
export function fromDocument({ utterances, agent_text }) {
  if (!utterances || !agent_text) return null;
  const transcript = new Transcript();
  const written = agent_text.map(({ text, ...span }) => ({ delta: ` ${text}`, ...span }));
  for (const piece of written) transcript.agentText(piece);
  for (const { channel, end_ms, words } of utterances) {
    if (channel === "agent") transcript.hearing(words, end_ms);
    else for (const { word, ...span } of words) transcript.userText({ delta: ` ${word.trim()}`, ...span });
  }
  while (transcript.hearing([], Infinity).size > 0);
  return transcript;
}
