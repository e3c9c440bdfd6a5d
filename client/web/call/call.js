/**
 * One call, from the click to the end: carries out what the session decides, and decides nothing itself.
 *
 * Brings together the server's answer, the devices and the WebSocket, and keeps the conversation. Refuses
 * to know the page: `on` is told, with on.facts(facts), on.started(), on.phase(name), on.notice(sentence,
 * "passing" | "lasting" | "trouble"), on.late(seconds | null), on.words(paragraphs), on.levels({user, agent}),
 * on.numbers(numbers) and, once, on.ended({text, isTrouble}).
 */

import { CallAudio } from "../audio/call-audio.js";
import { CaptureClock } from "../audio/capture-clock.js";
import { Timeline } from "../lanes/timeline.js";
import { measure } from "../numbers/measures.js";
import { observerUrl, sessionUrl, subprotocols } from "../wire/address.js";
import { Observer } from "../wire/observer.js";
import { askServer } from "../wire/server-facts.js";
import { Transcript } from "../words/transcript.js";
import { Lateness } from "./lateness.js";
import { Marks } from "./marks.js";
import {
  DEVICES,
  endingSentence,
  LASTING_NOTICES,
  microphoneSentence,
  NO_WEBSOCKET,
  noticeSentence,
  refusalSentence,
} from "./sentences.js";
import { LiveSession } from "./session.js";
import { StepWatch } from "./step-watch.js";

const TICK_MS = 250;
const REBUILD_AGAIN_MS = 10_000;
const NOT_PLAYED = { underruns: 0, skippedMs: 0, playedMs: 0, bufferedMs: 0, targetMs: 0, delayMs: 0 };

export class Call {
  timeline = new Timeline();
  transcript = new Transcript();
  /** What session.started told; null before it. */
  started = null;
  startedUnixMs = null;
  /** Whether somebody transcribes it. */
  isHeard = false;
  #on;
  #key;
  #settings;
  #asked;
  #audio;
  #marks = new Marks(this.timeline);
  #steps = new StepWatch();
  #lateness = new Lateness();
  #session = null;
  #socket = null;
  #observer = null;
  #ticking = null;
  #clock = null;
  #rebuiltAt = -Infinity;
  #rebuilds = 0; // in a row, without a frame after them
  #stats = NOT_PLAYED;
  #startedAt = null;
  #elapsedMs = 0;
  #isOver = false;

  /** Make it within a click. @param {string | null} key @param {import("../settings/settings.js").Settings} settings */
  constructor(on, key, settings) {
    this.#on = on;
    this.#key = key;
    this.#settings = settings;
    this.#asked = asked(settings);
    this.#audio = new CallAudio(deviceSettings(settings));
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
    this.#marks.muted(on);
  }

  hangUp() {
    if (this.#session) this.#session.hangUp(performance.now());
    else this.#finish(endingSentence({ kind: "close_requested" }));
  }

  /** Takes over what was set of the microphone. @returns {Promise<string>} what is wrong with it, or "" */
  async useMicrophone() {
    return told(this.#audio.useMicrophone(deviceSettings(this.#settings)), microphoneSentence);
  }

  /** The same of the speaker. */
  async useSpeaker() {
    return told(this.#audio.useSpeaker(deviceSettings(this.#settings)), () => DEVICES.speakerRefused);
  }

  /** Whether a recording was asked for. */
  get isToBeRecorded() {
    return this.#asked.store;
  }

  /** @returns {object} as measures.js gives them */
  get numbers() {
    return measure({
      roundTrip: this.roundTrip,
      playout: this.#stats,
      timeline: this.timeline,
      transcript: this.transcript,
      stepMs: this.#steps.ms,
      outputMs: this.#audio.outputMs,
      elapsedMs: this.#elapsedMs,
    });
  }

  get roundTrip() {
    return this.#session.roundTrip;
  }

  // -- the devices ------------------------------------------------------------------------------------

  async #openAudio() {
    try {
      await this.#audio.start({
        frame: (frame) => this.#captured(frame, performance.now()),
        played: (stats, peak) => this.#played(stats, peak),
        microphone: (change) => this.#microphoneChanged(change),
      });
    } catch (error) {
      this.#finish({ text: microphoneSentence(error), isTrouble: true });
    }
    if (this.#isOver) this.#audio.close();
    return !this.#isOver;
  }

  #captured({ audio, samples, peak }, now) {
    if (this.#isOver) return; // the audio thread may still have something to say
    this.#clock?.frame(now);
    this.#rebuilds = 0;
    this.#on.levels({ user: peak });
    const index = this.#session?.frame(audio, now) ?? null;
    if (index !== null) this.timeline.frame("user", index, samples);
  }

  #played(stats, peak) {
    if (this.#isOver) return;
    this.#stats = stats;
    this.#on.levels({ agent: peak });
    if (this.#startedAt !== null) this.#marks.played(stats);
  }

  #microphoneChanged(change) {
    if (this.#isOver) return;
    this.#marks.microphone(DEVICES[change]);
    this.#on.notice(DEVICES[change], change === "lost" ? "trouble" : "passing");
  }

  #watchClock(now) {
    if (this.#clock.verdict(now) === "runs" || now - this.#rebuiltAt < REBUILD_AGAIN_MS) return;
    this.#rebuiltAt = now;
    this.#clock = new CaptureClock(now);
    this.#audio.rebuild().catch(() => {}); // it is tried again as long as the clock is wrong
    if (this.#rebuilds++ === 0) this.#on.notice(DEVICES.rebuilt, "passing");
    else this.#on.notice(DEVICES.dead, "trouble");
  }

  // -- the connection -----------------------------------------------------------------------------------

  #openSocket() {
    const now = performance.now();
    const socket = new WebSocket(sessionUrl(document.baseURI), subprotocols(this.#key));
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    this.#session = new LiveSession(this, this.#asked, now);
    this.#clock = new CaptureClock(now);
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
    if (this.#startedAt === null || this.#isOver) return;
    this.#watchClock(now);
    this.#steps.tick(now);
    this.#elapsedMs = now - this.#startedAt;
    this.#on.numbers(this.numbers);
    this.#on.late(this.#lateness.look(this.roundTrip.recent, now));
  }

  #observed(name, fields) {
    if (name === "duet.guardrail") this.#marks.guardrail(fields);
    if (name !== "duet.words") return;
    this.isHeard = true;
    if (fields.channel !== "agent") return; // the user's come on the call's own connection
    this.#on.words(this.transcript.hearing(fields.words, fields.through_ms));
  }

  // -- what the session wants ---------------------------------------------------------------------------

  send(data) {
    this.#socket.send(data);
  }

  play(index, samples) {
    this.timeline.frame("agent", index, samples);
    this.#audio.play(samples);
  }

  agentText(piece) {
    this.#told(this.transcript.agentText(piece));
  }

  userText(piece) {
    this.#told(this.transcript.userText(piece));
  }

  notice(code, message) {
    const sentence = noticeSentence(code, message);
    if (sentence) this.#on.notice(sentence, LASTING_NOTICES.includes(code) ? "lasting" : "passing");
  }

  missed(code, message, span) {
    if (code === "input_filled") this.#marks.filled(span);
    else this.#marks.dropped(span.start_ms, message);
  }

  phase(name) {
    if (name === "closing") this.#audio.close();
    this.#on.phase(name);
  }

  /** @param {object} session as the server resolved it */
  began(session) {
    this.started = session;
    this.startedUnixMs = Date.now();
    this.#startedAt = performance.now();
    this.#observer = new Observer(
      (fromMs) => observerUrl(document.baseURI, session.id, fromMs),
      this.#key,
      (name, fields) => this.#observed(name, fields),
    );
    this.#on.started();
  }

  async end(ending) {
    this.#release();
    const kept = this.started && { recorded: this.started.store === true };
    if (ending.kind === "not_opened") this.#finish(await this.#whyNotOpened());
    else this.#finish(endingSentence(ending, kept));
  }

  #told(paragraph) {
    if (paragraph !== null) this.#on.words(new Set([paragraph]));
  }

  async #whyNotOpened() {
    const { refusal } = await askServer(fetch, document.baseURI, this.#key);
    return { text: refusal ? refusalSentence(refusal) : NO_WEBSOCKET, isTrouble: true, refusal };
  }

  #release() {
    clearInterval(this.#ticking);
    this.#socket?.close();
    this.#observer?.close();
    this.#audio.close();
    this.#marks.close();
  }

  #finish(outcome) {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#release();
    this.#on.ended(outcome);
  }
}

function deviceSettings(settings) {
  const names = ["microphone", "speaker", "echoCancellation", "noiseSuppression", "autoGainControl"];
  return Object.fromEntries(names.map((name) => [name, settings.get(name)]));
}

function asked(settings) {
  const { sampling } = settings;
  return {
    store: settings.get("record"),
    instructions: settings.get("instructions") || null,
    voice: settings.get("voice") || null,
    duet: sampling,
  };
}

async function told(work, sentence) {
  try {
    await work;
    return "";
  } catch (error) {
    return sentence(error);
  }
}
