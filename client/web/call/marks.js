/**
 * What happens to a call's audio, told to its time axis: rules that fired, gaps, underruns, mutes.
 *
 * Pure: it is told counts and names, and the end of the axis is its clock. Refuses to know where they come
 * from.
 */

const SOON_MS = 1_000; // what happens again within it is one mark

export class Marks {
  #timeline;
  #mute = null; // the mark that lasts
  #filled = null; // the last one, which may go on
  #counts = { underruns: 0, skippedMs: 0 };
  #last = {};

  /** @param {import("../lanes/timeline.js").Timeline} timeline */
  constructor(timeline) {
    this.#timeline = timeline;
  }

  /** @param {boolean} on */
  muted(on) {
    this.#endMute();
    if (on) this.#mute = this.#timeline.mark("muted", this.#now, { channel: "user", end_ms: Infinity });
  }

  /** @param {{underruns: number, skippedMs: number}} stats of the playout, since the call began */
  played({ underruns, skippedMs }) {
    const skipped = Math.round(skippedMs - this.#counts.skippedMs);
    if (underruns > this.#counts.underruns) this.#once("underrun", "agent", "");
    if (skipped > 0) this.#once("skipped", "agent", `${skipped} ms of the agent’s audio were left out.`);
    this.#counts = { underruns, skippedMs };
  }

  /** The server made silence of a span; spans that adjoin are one. @param {{start_ms: number, end_ms: number}} span */
  filled({ start_ms, end_ms }) {
    if (this.#filled?.end_ms !== start_ms) this.#filled = this.#timeline.mark("padded", start_ms, { channel: "user" });
    this.#filled.end_ms = end_ms;
    const length = end_ms - this.#filled.start_ms;
    this.#filled.text = `No audio came from here; the server filled in ${length} ms of silence.`;
  }

  /** Audio that had come by then was not heard. @param {number} start_ms @param {string} message the server's words */
  dropped(start_ms, message) {
    this.#timeline.mark("dropped", start_ms, { channel: "user", text: sentence(message) });
  }

  /** @param {string} text */
  microphone(text) {
    this.#timeline.mark("microphone", this.#now, { channel: "user", text });
  }

  /** @param {{rule: string, listen: string, action: string, at_ms: number}} hit */
  guardrail({ rule, listen, action, at_ms }) {
    const channel = listen === "user" ? "user" : "agent";
    this.#timeline.mark("guardrail", at_ms, { channel, text: `${rule} (${action})` });
  }

  /** The call is over. */
  close() {
    this.#endMute();
  }

  get #now() {
    return this.#timeline.endMs;
  }

  #endMute() {
    if (this.#mute) this.#mute.end_ms = this.#now;
    this.#mute = null;
  }

  #once(kind, channel, text) {
    if (this.#now - (this.#last[kind] ?? -Infinity) < SOON_MS) return;
    this.#last[kind] = this.#now;
    this.#timeline.mark(kind, this.#now, { channel, text });
  }
}

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;
}
