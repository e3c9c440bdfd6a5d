/**
 * What happens on the time axis, in words: for tags, for the list, for who cannot see the picture.
 *
 * Pure. Refuses to know how it is shown.
 */

import { clock } from "../words/transcript.js";
import { between, within } from "./timeline.js";

/** What a tag says, and what stands behind it. */
export const KINDS = Object.freeze({
  barge_in: { name: "barge-in", about: "You broke in while the agent spoke.", tone: "user" },
  backchannel: { name: "backchannel", about: "A short word, and the other went on.", tone: "plain" },
  interruption: { name: "interruption", about: "The agent broke in while you spoke.", tone: "agent" },
  guardrail: { name: "guardrail", about: "One of the server’s rules fired.", tone: "alarm" },
  padded: { name: "padded", about: "No audio came from here; the server filled in silence.", tone: "warn" },
  dropped: { name: "dropped", about: "Some of your audio came and was not heard.", tone: "warn" },
  skipped: { name: "skipped", about: "Too much of the agent’s audio waited; some was left out.", tone: "warn" },
  underrun: { name: "underrun", about: "The agent’s audio came too late to be played.", tone: "warn" },
  microphone: { name: "microphone", about: "The microphone went or came.", tone: "warn" },
  muted: { name: "muted", about: "The microphone was muted.", tone: "plain" },
});

/** @returns {string} such as "0:12.3" */
export function preciseClock(ms) {
  return `${clock(ms)}.${Math.floor((ms % 1000) / 100)}`;
}

/** @returns {string} what a tag tells in full */
export function eventSentence({ kind, channel, start_ms, text }) {
  const { name, about } = KINDS[kind];
  const whose = kind === "backchannel" ? (channel === "user" ? " (yours)" : " (the agent’s)") : "";
  return `${preciseClock(start_ms)} ${name}${whose}: ${text || about}`;
}

/** @returns {string} what there is at a moment */
export function momentSentence(timeline, ms) {
  const speaks = (channel) => within(timeline[channel].activity.segments, ms, ms + 1).length > 0;
  const [user, agent] = [speaks("user"), speaks("agent")];
  const who =
    user && agent ? "both speak" : user ? "you speak" : agent ? "the agent speaks" : "nobody speaks";
  const near = between(timeline.happenings, "start_ms", ms - 150, ms + 150);
  return [`${preciseClock(ms)}  ${who}`, ...near.map(({ kind }) => KINDS[kind].name)].join(" · ");
}

/** @returns {string} the picture as a whole */
export function summary(timeline) {
  const count = (kind) => timeline.events.filter((event) => event.kind === kind).length;
  const seconds = (channel) =>
    timeline[channel].activity.segments.reduce((sum, { start_ms, end_ms }) => sum + end_ms - start_ms, 0) / 1000;
  return (
    `Two voices over ${clock(timeline.endMs)}: you spoke for ${seconds("user").toFixed(0)} seconds, the agent ` +
    `for ${seconds("agent").toFixed(0)}; ${count("barge_in")} barge-ins, ${count("backchannel")} backchannels.`
  );
}
