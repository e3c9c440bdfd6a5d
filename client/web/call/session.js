/**
 * One call as a state machine: what came and the time in, what is to be done out.
 *
 *     opening ──session.started──► running ──hangUp──► closing ──► ended      (any state ──lost──► ended)
 *
 * `out` is whoever carries it out: send(data), began(session), play(index, samples), agentText(piece),
 * userText(piece), notice(code, message), missed(code, message, {start_ms, end_ms}), phase(name), end({kind,
 * detail}). `end` comes exactly once; its kinds are the keys of ENDINGS in sentences.js. Pure. Refuses to
 * know sockets, clocks, devices and the page.
 */

import { Framer } from "../audio/frames.js";
import { unpackS16 } from "../audio/pcm.js";
import { RoundTrip } from "../wire/round-trip.js";
import { AUDIO_FORMAT, CLOSE_CODE, dumpCommand, parseEvent } from "../wire/wire.js";

export const START_TIMEOUT_MS = 10_000;
/** A slow server is left then; with the tick that finds it out, within 3 s. */
export const CLOSE_TIMEOUT_MS = 2_500;
/** After hanging up the last words may still come for so long; then the screen stands still. */
export const LAST_WORDS_MS = 1_000;
/** Frames that may wait for their answer, 10 s of them; then the call is over. */
export const UNANSWERED_LIMIT = 125;
/** A server that was heard so lately is not gone, it is too slow. */
export const HEARD_LATELY_MS = 2_000;

/** Why a connection ended that said no more than its close code. */
const KIND_OF_CODE = {
  [CLOSE_CODE.GOING_AWAY]: "shut_down",
  [CLOSE_CODE.TRY_AGAIN]: "server_full",
};
/** Notices that say why the `expired` after them came. */
const EXPLAINING = ["idle_timeout", "draining", "shut_down"];
/** What of the user's audio the model did not hear. */
const MISSED = ["input_filled", "input_dropped"];

export class LiveSession {
  roundTrip = new RoundTrip();
  #out;
  #asked;
  #phase = "opening";
  #opened = false;
  #since; // of the phase
  #reason = null; // of session.closed
  #notice = null;
  #error = null;
  #framer = new Framer();
  #heardAt = -Infinity; // the agent's audio
  #played = 0;
  #next = 0; // index of the user's next frame

  /** @param {{store: boolean, instructions: string | null, voice: string | null, duet: object}} asked */
  constructor(out, asked, now) {
    this.#out = out;
    this.#asked = asked;
    this.#since = now;
  }

  /** The connection stands. */
  opened() {
    if (this.#phase !== "opening") return;
    this.#opened = true;
    const start = { model: "default", audio_format: AUDIO_FORMAT, ...this.#asked };
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
    this.#heardAt = now;
    this.#error = null; // the call goes on, so the error was no end of it
    if (this.#phase !== "running") return;
    for (const samples of this.#framer.push(unpackS16(bytes))) this.#out.play(this.#played++, samples);
  }

  /**
   * The microphone has a frame.
   * @param {ArrayBuffer} bytes
   * @returns {number | null} its index on the session's timeline; null where no session is
   */
  frame(bytes, now) {
    if (this.#phase !== "running") return null;
    this.roundTrip.sent(now);
    this.#out.send(bytes);
    if (this.roundTrip.unanswered > UNANSWERED_LIMIT) {
      this.#end(now - this.#heardAt < HEARD_LATELY_MS ? "too_slow" : "no_answer");
    }
    const index = Math.max(this.#next, this.roundTrip.answeredFrames); // what was filled in lies before
    this.#next = index + 1;
    return index;
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
        if (this.#phase === "opening") this.#start(fields.session, now);
        break;
      case "session.output_transcript.delta":
        if (!this.#isSilent(now)) this.#out.agentText(fields);
        break;
      case "session.input_transcript.delta":
        this.#out.userText(fields); // it comes late by nature, so also after hanging up
        break;
      case "info":
        this.#learn(fields);
        break;
      case "error":
        this.#error = fields.message;
        break;
      case "session.closed":
        this.#reason = fields.reason;
        break;
    }
  }

  #learn({ code, message, start_ms, end_ms }) {
    if (MISSED.includes(code) && start_ms !== null) {
      this.#out.missed(code, message, { start_ms, end_ms: end_ms ?? start_ms });
      return;
    }
    if (EXPLAINING.includes(code)) this.#notice = code;
    this.#out.notice(code, message);
  }

  #start(session, now) {
    this.#out.began(session);
    this.#enter("running", now);
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
