/**
 * One call as a state machine: what came and the time in, what is to be done out.
 *
 *     opening ──session.started──► running ──hangUp──► closing ──► ended      (any state ──lost──► ended)
 *
 * `out` is whoever carries it out: send(data), play(audio), words(fields), notice(code, message),
 * phase(name), end({kind, detail}). `end` comes exactly once; its kinds are the keys of ENDINGS in
 * sentences.js. Pure. Refuses to know sockets, clocks, devices and the page.
 */

import { RoundTrip } from "./round-trip.js";
import { AUDIO_FORMAT, CLOSE_CODE, dumpCommand, parseEvent } from "./wire.js";

export const START_TIMEOUT_MS = 10_000;
/** A slow server is left then; with the tick that finds it out, within 3 s. */
export const CLOSE_TIMEOUT_MS = 2_500;
/** After hanging up the last words may still come for so long; then the screen stands still. */
export const LAST_WORDS_MS = 1_000;
/** Frames that may wait for their answer, 10 s of them; then the server counts as gone. */
export const UNANSWERED_LIMIT = 125;

/** Why a connection ended that said no more than its close code. */
const KIND_OF_CODE = {
  [CLOSE_CODE.GOING_AWAY]: "shut_down",
  [CLOSE_CODE.TRY_AGAIN]: "server_full",
};
/** Notices that say why the `expired` after them came. */
const EXPLAINING = ["idle_timeout", "draining", "shut_down"];

export class LiveSession {
  #out;
  #phase = "opening";
  #opened = false;
  #since; // of the phase
  #reason = null; // of session.closed
  #notice = null;
  #error = null;
  roundTrip = new RoundTrip();

  constructor(out, now) {
    this.#out = out;
    this.#since = now;
  }

  /** The connection stands. */
  opened() {
    if (this.#phase !== "opening") return;
    this.#opened = true;
    const start = { model: "default", audio_format: AUDIO_FORMAT, store: false };
    this.#out.send(dumpCommand("session.start", start));
  }

  /** A text message came. */
  text(message, now) {
    if (this.#phase === "ended") return;
    try {
      this.#hear(parseEvent(message), now);
    } catch (error) {
      this.#end("not_understood", error.message);
    }
  }

  /** A binary message came: the agent's audio. @param {ArrayBuffer} bytes */
  audio(bytes, now) {
    this.roundTrip.received(bytes.byteLength, now);
    this.#error = null; // the call goes on, so the error was no end of it
    if (this.#phase === "running") this.#out.play(bytes);
  }

  /** The microphone has a frame. @param {ArrayBuffer} bytes */
  frame(bytes, now) {
    if (this.#phase !== "running") return;
    this.roundTrip.sent(now);
    this.#out.send(bytes);
    if (this.roundTrip.unanswered > UNANSWERED_LIMIT) this.#end("no_answer");
  }

  /** @param {boolean} on */
  mute(on) {
    if (this.#phase !== "running") return;
    this.#out.send(dumpCommand(on ? "session.input_audio.mute" : "session.input_audio.unmute"));
  }

  hangUp(now) {
    if (this.#phase === "opening") this.#end("close_requested");
    if (this.#phase !== "running") return;
    this.#out.send(dumpCommand("session.close"));
    this.#enter("closing", now);
  }

  /** The microphone is gone. */
  deafened() {
    this.#end("microphone_lost");
  }

  /** Time went by. */
  tick(now) {
    const waited = now - this.#since;
    if (this.#phase === "opening" && waited >= START_TIMEOUT_MS) this.#end("no_answer");
    if (this.#phase === "closing" && waited >= CLOSE_TIMEOUT_MS) this.#end("close_requested");
  }

  /** The connection is gone, with this close code. */
  closed(code) {
    if (!this.#opened) this.#end("not_opened");
    else if (this.#reason === "expired") this.#end(this.#notice ?? "expired");
    else if (this.#error !== null) this.#end("failed", this.#error);
    else if (this.#reason !== null) this.#end(this.#reason);
    else if (this.#phase === "closing") this.#end("close_requested");
    else this.#end(KIND_OF_CODE[code] ?? "connection_lost");
  }

  #hear({ name, fields }, now) {
    switch (name) {
      case "session.started":
        if (this.#phase === "opening") this.#enter("running", now);
        break;
      case "session.output_transcript.delta":
        if (!this.#isSilent(now)) this.#out.words(fields);
        break;
      case "info":
        if (EXPLAINING.includes(fields.code)) this.#notice = fields.code;
        this.#out.notice(fields.code, fields.message);
        break;
      case "error":
        this.#error = fields.message;
        break;
      case "session.closed":
        this.#reason = fields.reason;
        break;
    }
  }

  #isSilent(now) {
    return this.#phase === "closing" && now - this.#since >= LAST_WORDS_MS;
  }

  #enter(phase, now) {
    this.#phase = phase;
    this.#since = now;
    this.#out.phase(phase);
  }

  #end(kind, detail = null) {
    if (this.#phase === "ended") return;
    this.#phase = "ended";
    this.#out.end({ kind, detail });
  }
}
