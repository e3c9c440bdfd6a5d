/**
 * The microphone of a call: the one that was chosen, another one when it is taken away, and it again.
 *
 * Tells `onChange` with "lost", "replaced" or "back". Refuses to know what is done with the sound.
 */

export class Microphone {
  #onChange;
  #onStream;
  #settings;
  #stream = null;
  #muted = false;
  #isLost = false;
  #isClosed = false;
  #retry = () => this.#tryAgain();

  /**
   * @param {(stream: MediaStream) => void} onStream there is a stream, or another one
   * @param {(change: "lost" | "replaced" | "back") => void} onChange
   */
  constructor(onStream, onChange) {
    this.#onStream = onStream;
    this.#onChange = onChange;
  }

  /**
   * Takes the microphone that the settings name, or the system's; in a call, instead of the one before.
   * @throws {DOMException} as getUserMedia does
   */
  async open(settings) {
    this.#settings = settings;
    const stream = await navigator.mediaDevices.getUserMedia({ audio: wanted(settings) });
    if (this.#isClosed) return stop(stream); // it came too late
    const before = this.#stream;
    this.#take(stream);
    if (before) stop(before);
    else this.#watch();
  }

  /** @param {boolean} on whether it gives silence */
  mute(on) {
    this.#muted = on;
    for (const track of this.#stream?.getAudioTracks() ?? []) track.enabled = !on;
  }

  close() {
    this.#isClosed = true;
    navigator.mediaDevices?.removeEventListener("devicechange", this.#retry);
    if (this.#stream) stop(this.#stream);
  }

  #take(stream) {
    const [track] = stream.getAudioTracks();
    track.enabled = !this.#muted;
    track.onended = () => this.#lost(stream);
    this.#stream = stream;
    this.#isLost = false;
    this.#onStream(stream);
  }

  /** What may bring a lost one back: it is plugged in, or allowed again. */
  async #watch() {
    navigator.mediaDevices.addEventListener("devicechange", this.#retry);
    try {
      const permission = await navigator.permissions.query({ name: "microphone" });
      permission.onchange = this.#retry;
    } catch {
      // a browser that does not tell about it
    }
  }

  async #lost(stream) {
    if (this.#isClosed || stream !== this.#stream) return;
    this.#isLost = true;
    if (!(await this.#reopens("replaced"))) this.#onChange("lost");
  }

  async #tryAgain() {
    if (this.#isLost) await this.#reopens("back");
  }

  /** @returns {Promise<boolean>} whether there is a microphone again */
  async #reopens(change) {
    try {
      await this.open(this.#settings);
    } catch {
      return false; // there is none; the call goes on in silence until one comes
    }
    if (!this.#isClosed) this.#onChange(change);
    return true;
  }
}

function wanted({ microphone, echoCancellation, noiseSuppression, autoGainControl }) {
  return {
    deviceId: microphone ? { ideal: microphone } : undefined,
    echoCancellation,
    noiseSuppression,
    autoGainControl,
    channelCount: 1,
  };
}

function stop(stream) {
  for (const track of stream.getTracks()) track.stop();
}
