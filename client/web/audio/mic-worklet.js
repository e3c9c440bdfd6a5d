/**
 * The microphone's side of the audio thread: device samples in, frames of the wire out.
 *
 * Posts {audio: ArrayBuffer, samples: Float32Array, peak, silent} for every frame; silent: in it there was
 * no microphone. Moves samples and decides nothing.
 */

import { Framer, SAMPLE_RATE } from "./frames.js";
import { peak } from "./level.js";
import { packS16 } from "./pcm.js";
import { Resampler } from "./resampler.js";

const SILENCE = new Float32Array(128);

class Microphone extends AudioWorkletProcessor {
  #resampler = new Resampler(sampleRate, SAMPLE_RATE);
  #framer = new Framer();
  #block = new Float32Array(1_024);
  #silent = false;

  process([input]) {
    const samples = input[0] ?? SILENCE; // the call's clock goes on without a source
    this.#silent ||= samples === SILENCE;
    this.#resampler.write(samples);
    for (let count; (count = this.#resampler.read(this.#block)) > 0; ) {
      this.#framer.push(this.#block.subarray(0, count)).forEach((frame) => this.#post(frame));
    }
    return true;
  }

  #post(samples) {
    const audio = packS16(samples);
    const message = { audio, samples, peak: peak(samples), silent: this.#silent };
    this.port.postMessage(message, [audio, samples.buffer]);
    this.#silent = false;
  }
}

registerProcessor("microphone", Microphone);
