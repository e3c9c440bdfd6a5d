/**
 * One call, from the click to the end: carries out what the session decides, and decides nothing itself.
 *
 * Brings together the server's answer, the devices and the WebSocket. Refuses to know the page:
 * `on` is told, with on.facts(facts), on.phase(name), on.notice(sentence), on.words(fields),
 * on.levels({user, agent}), on.numbers(numbers) and, once, on.ended({text, isTrouble}).
 */

import { sessionUrl, subprotocols } from "./address.js";
import { CallAudio } from "./audio.js";
import {
  endingSentence,
  microphoneSentence,
  NO_WEBSOCKET,
  noticeSentence,
  refusalSentence,
} from "./sentences.js";
import { askServer } from "./server-facts.js";
import { LiveSession } from "./session.js";

const TICK_MS = 250;
const NOT_PLAYED = { underruns: 0, skippedMs: 0, playedMs: 0, bufferedMs: 0, targetMs: 0 };

export class Call {
  #on;
  #key;
  #audio = new CallAudio();
  #session = null;
  #socket = null;
  #ticking = null;
  #stats = NOT_PLAYED;
  #startedAt = null;
  #isOver = false;

  /** Make it within a click. @param {string | null} key */
  constructor(on, key) {
    this.#on = on;
    this.#key = key;
  }

  async start() {
    const { facts, refusal } = await askServer(fetch, document.baseURI, this.#key);
    if (this.#isOver) return;
    if (facts) this.#on.facts(facts);
    if (refusal) this.#finish({ text: refusalSentence(refusal), isTrouble: true, refusal });
    else if (await this.#openAudio()) this.#openSocket();
  }

  /** @param {boolean} on */
  mute(on) {
    this.#audio.mute(on);
    this.#session.mute(on);
  }

  hangUp() {
    if (this.#session) this.#session.hangUp(performance.now());
    else this.#finish(endingSentence({ kind: "close_requested" }));
  }

  // -- the devices ------------------------------------------------------------------------------------

  async #openAudio() {
    try {
      await this.#audio.start(
        (audio, peak) => this.#captured(audio, peak),
        (stats, peak) => this.#played(stats, peak),
        () => this.#session?.deafened(),
      );
    } catch (error) {
      this.#finish({ text: microphoneSentence(error), isTrouble: true });
    }
    if (this.#isOver) this.#audio.close();
    return !this.#isOver;
  }

  #captured(audio, peak) {
    if (this.#isOver) return; // the audio thread may still have something to say
    this.#on.levels({ user: peak });
    this.#session?.frame(audio, performance.now());
  }

  #played(stats, peak) {
    if (this.#isOver) return;
    this.#stats = stats;
    this.#on.levels({ agent: peak });
  }

  // -- the connection -----------------------------------------------------------------------------------

  #openSocket() {
    const socket = new WebSocket(sessionUrl(document.baseURI), subprotocols(this.#key));
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    this.#session = new LiveSession(this, performance.now());
    socket.onopen = () => this.#session.opened();
    socket.onmessage = ({ data }) => this.#received(data, performance.now());
    socket.onclose = ({ code }) => this.#session.closed(code);
    this.#ticking = setInterval(() => this.#tick(performance.now()), TICK_MS);
  }

  #received(data, now) {
    if (typeof data === "string") this.#session.text(data, now);
    else this.#session.audio(data, now);
  }

  #tick(now) {
    this.#session.tick(now);
    if (this.#startedAt !== null) this.#on.numbers(this.#numbers(now));
  }

  #numbers(now) {
    const { roundTrip } = this.#session;
    return {
      ...this.#stats,
      elapsedMs: now - this.#startedAt,
      p50Ms: roundTrip.quantile(0.5),
      p95Ms: roundTrip.quantile(0.95),
      sentFrames: roundTrip.sentFrames,
      answeredFrames: roundTrip.answeredFrames,
    };
  }

  // -- what the session wants ---------------------------------------------------------------------------

  send(data) {
    this.#socket.send(data);
  }

  play(audio) {
    this.#audio.play(audio);
  }

  words(fields) {
    this.#on.words(fields);
  }

  notice(code, message) {
    this.#on.notice(noticeSentence(code, message));
  }

  phase(name) {
    if (name === "running") this.#startedAt = performance.now();
    if (name === "closing") this.#audio.close();
    this.#on.phase(name);
  }

  async end(ending) {
    this.#release();
    if (ending.kind === "not_opened") this.#finish(await this.#whyNotOpened());
    else this.#finish(endingSentence(ending));
  }

  async #whyNotOpened() {
    const { refusal } = await askServer(fetch, document.baseURI, this.#key);
    return { text: refusal ? refusalSentence(refusal) : NO_WEBSOCKET, isTrouble: true, refusal };
  }

  #release() {
    clearInterval(this.#ticking);
    this.#socket?.close();
    this.#audio.close();
  }

  #finish(outcome) {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#release();
    this.#on.ended(outcome);
  }
}
