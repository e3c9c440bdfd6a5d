/**
 * A call's microphone and speaker: the devices, and the two worklets between them and the wire.
 *
 * Moves audio and decides nothing. Refuses to know the server and the page.
 */

const MICROPHONE = {
  audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 },
};
const WORKLETS = ["./mic-worklet.js", "./speaker-worklet.js"];

export class CallAudio {
  #context = new AudioContext({ latencyHint: "interactive" }); // at the device's own rate
  #stream = null;
  #speaker = null;

  /** Make it within a click: without one, browsers do not let a page sound. */
  constructor() {
    this.#context.resume().catch(() => {}); // the call may be over before it began
  }

  /**
   * @param {(audio: ArrayBuffer, peak: number) => void} onFrame for every 80 ms of the microphone
   * @param {(stats: object, peak: number) => void} onPlayed ten times a second, for the speaker
   * @param {() => void} onLost the microphone has gone
   * @throws {DOMException} as getUserMedia does, where there is no microphone
   */
  async start(onFrame, onPlayed, onLost) {
    this.#stream = await navigator.mediaDevices.getUserMedia(MICROPHONE);
    this.#track.onended = onLost;
    await Promise.all(WORKLETS.map((file) => this.#load(file)));
    this.#connectMicrophone(onFrame);
    this.#connectSpeaker(onPlayed);
  }

  /** @param {ArrayBuffer} audio s16le, 24 kHz; it is given away */
  play(audio) {
    this.#speaker.port.postMessage(audio, [audio]);
  }

  /** @param {boolean} on whether the microphone gives silence: nothing said leaves this page */
  mute(on) {
    this.#track.enabled = !on;
  }

  /** Lets go of the devices; also of a microphone that comes too late. */
  close() {
    this.#stream?.getTracks().forEach((track) => track.stop());
    if (this.#context.state !== "closed") this.#context.close();
  }

  get #track() {
    return this.#stream.getAudioTracks()[0];
  }

  #load(file) {
    return this.#context.audioWorklet.addModule(new URL(file, import.meta.url));
  }

  #connectMicrophone(onFrame) {
    const node = new AudioWorkletNode(this.#context, "microphone", {
      channelCount: 1,
      channelCountMode: "explicit",
    });
    node.port.onmessage = ({ data }) => onFrame(data.audio, data.peak);
    this.#context.createMediaStreamSource(this.#stream).connect(node);
    node.connect(this.#context.destination); // it is silent there, but only so does it run in every browser
  }

  #connectSpeaker(onPlayed) {
    this.#speaker = new AudioWorkletNode(this.#context, "speaker", {
      numberOfInputs: 0,
      outputChannelCount: [1],
    });
    this.#speaker.port.onmessage = ({ data }) => onPlayed(data.stats, data.peak);
    this.#speaker.connect(this.#context.destination);
  }
}
