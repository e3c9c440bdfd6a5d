/**
 * A call's sound: the microphone, the speaker, and the two worklets between them and the wire.
 *
 * Moves audio and decides nothing. Refuses to know the server and the page.
 */

import { Microphone } from "./microphone.js";

const WORKLETS = ["./mic-worklet.js", "./speaker-worklet.js"];
const COUNTS = ["underruns", "skippedMs", "playedMs"];
/**
 * Firefox asks the sound server for outputLatency and holds the page up as long; asked while a stream is being set
 * up, on a busy machine, the two may wait for each other for ever. So it is asked later, and rarely.
 */
const LATENCY_EVERY = 30; // reports of the speaker: 3 s

export class CallAudio {
  #settings;
  #on = null;
  #context = newContext();
  #microphone = new Microphone(
    (stream) => this.#connect(stream),
    (change) => this.#on.microphone(change),
  );
  #stream = null;
  #input = null;
  #source = null;
  #speaker = null;
  #before = { underruns: 0, skippedMs: 0, playedMs: 0 }; // of speakers that were set up before this one
  #counts = this.#before;
  #reports = 0;
  #outputMs = 0;
  #isClosed = false;

  /** Make it within a click: without one, browsers do not let a page sound. */
  constructor(settings) {
    this.#settings = settings;
  }

  /**
   * @param {object} on frame({audio, samples, peak, silent}) for every 80 ms of the microphone,
   *   played(stats, peak) ten times a second, microphone(change)
   * @throws {DOMException} as getUserMedia does, where there is no microphone
   */
  async start(on) {
    this.#on = on;
    await Promise.all([this.#microphone.open(this.#settings), this.#prepare()]);
    if (this.#isClosed) return;
    this.#run();
    await this.#useSpeaker();
  }

  /** @param {Float32Array} samples at 24 kHz; they are given away */
  play(samples) {
    this.#speaker?.port.postMessage(samples, [samples.buffer]);
  }

  /** @param {boolean} on whether the microphone gives silence: nothing said leaves this page */
  mute(on) {
    this.#microphone.mute(on);
  }

  /** Another microphone, or what is done to it. @throws {DOMException} where it cannot be had */
  async useMicrophone(settings) {
    await this.#microphone.open(settings);
    this.#settings = settings;
  }

  /** @throws {DOMException} where it cannot be used */
  async useSpeaker(settings) {
    this.#settings = settings;
    await this.#useSpeaker();
  }

  /** From the last sample handed over to the ear, in ms, as far as the browser knows; 0 for the first seconds. */
  get outputMs() {
    return this.#outputMs;
  }

  /** Everything anew but the microphone: the device is no longer what it was. */
  async rebuild() {
    const old = this.#context;
    this.#before = this.#counts;
    this.#reports = 0;
    this.#speaker = this.#input = this.#source = null;
    this.#context = newContext();
    old.close().catch(() => {});
    await this.#prepare();
    if (this.#isClosed) return;
    this.#run();
    await this.#useSpeaker().catch(() => {}); // then it is the system's
  }

  /** Lets go of the devices; also of a microphone that comes too late. */
  close() {
    this.#isClosed = true;
    this.#microphone.close();
    if (this.#context.state !== "closed") this.#context.close().catch(() => {});
  }

  async #prepare() {
    const { audioWorklet } = this.#context;
    await Promise.all(WORKLETS.map((file) => audioWorklet.addModule(new URL(file, import.meta.url))));
  }

  #run() {
    const context = this.#context;
    context.onstatechange = () => context.state !== "closed" && context.resume().catch(() => {});
    this.#speaker = new AudioWorkletNode(context, "speaker", { numberOfInputs: 0, outputChannelCount: [1] });
    this.#speaker.port.onmessage = ({ data }) => this.#played(data);
    this.#speaker.connect(context.destination);
    this.#input = new AudioWorkletNode(context, "microphone", {
      channelCount: 1,
      channelCountMode: "explicit",
    });
    this.#input.port.onmessage = ({ data }) => !this.#isClosed && this.#on.frame(data);
    this.#input.connect(context.destination); // it is silent there, but only so does it run in every browser
    this.#connect(this.#stream);
  }

  #connect(stream) {
    this.#stream = stream;
    if (!this.#input || !stream) return;
    this.#source?.disconnect();
    this.#source = this.#context.createMediaStreamSource(stream);
    this.#source.connect(this.#input);
  }

  #played({ stats, peak }) {
    if (this.#isClosed) return;
    this.#reports += 1;
    if (this.#reports % LATENCY_EVERY === 0) this.#outputMs = outputMs(this.#context);
    const sums = COUNTS.map((name) => [name, this.#before[name] + stats[name]]);
    this.#counts = { ...stats, ...Object.fromEntries(sums) };
    this.#on.played(this.#counts, peak);
  }

  async #useSpeaker() {
    if (canChooseSpeaker()) await this.#context.setSinkId(this.#settings.speaker);
  }
}

/** Whether this browser lets a page choose where its sound goes. */
export function canChooseSpeaker() {
  return typeof AudioContext.prototype.setSinkId === "function";
}

function outputMs({ baseLatency = 0, outputLatency = 0 }) {
  return 1000 * Math.max(baseLatency, outputLatency);
}

function newContext() {
  const context = new AudioContext({ latencyHint: "interactive" }); // at the device's own rate
  context.resume().catch(() => {}); // the call may be over before it began
  return context;
}
