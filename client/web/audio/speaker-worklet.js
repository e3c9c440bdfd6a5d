/**
 * The speaker's side of the audio thread: the wire's audio in, device samples out.
 *
 * Takes Float32Arrays of samples at 24 kHz; posts {stats, peak} about ten times a second.
 * Moves samples and decides nothing: the playout buffer does.
 */

import { SAMPLE_RATE } from "./frames.js";
import { peak } from "./level.js";
import { PlayoutBuffer } from "./playout.js";
import { Resampler } from "./resampler.js";

const REPORT_EVERY = Math.round(sampleRate / 10);

class Speaker extends AudioWorkletProcessor {
  #buffer = new PlayoutBuffer();
  #resampler = new Resampler(SAMPLE_RATE, sampleRate);
  #block = new Float32Array(1_024);
  #peak = 0;
  #unreported = 0;

  constructor() {
    super();
    this.port.onmessage = ({ data }) => this.#buffer.push(data);
  }

  process(_, [[channel]]) {
    this.#resampler.speed = this.#buffer.speed;
    const block = this.#block.subarray(0, this.#resampler.needs(channel.length));
    this.#buffer.pull(block);
    this.#resampler.write(block);
    this.#resampler.read(channel);
    this.#report(channel);
    return true;
  }

  #report(channel) {
    this.#peak = Math.max(this.#peak, peak(channel));
    this.#unreported += channel.length;
    if (this.#unreported < REPORT_EVERY) return;
    this.port.postMessage({ stats: this.#buffer.stats, peak: this.#peak });
    this.#peak = this.#unreported = 0;
  }
}

registerProcessor("speaker", Speaker);
