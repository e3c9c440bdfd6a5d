/**
 * The microphone's side of the audio thread: device samples in, frames of the wire out.
 *
 * Posts {audio: ArrayBuffer, peak} for every frame. Moves samples and decides nothing.
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

  process([input]) {
    this.#resampler.write(input[0] ?? SILENCE); // the call's clock goes on without a source
    for (let count; (count = this.#resampler.read(this.#block)) > 0; ) {
      this.#framer.push(this.#block.subarray(0, count)).forEach((frame) => this.#post(frame));
    }
    return true;
  }

  #post(frame) {
    const audio = packS16(frame);
    this.port.postMessage({ audio, peak: peak(frame) }, [audio]);
  }
}

registerProcessor("microphone", Microphone);
