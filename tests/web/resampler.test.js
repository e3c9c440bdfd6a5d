// The resampler: what passes, what is suppressed, how long the result is, and that blocks do not matter.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Resampler } from "../../client/web/audio/resampler.js";

const sine = (hertz, rate, count) =>
  Float32Array.from({ length: count }, (_, i) => Math.sin((2 * Math.PI * hertz * i) / rate));

/** Everything that comes of the input, written in blocks of this size. */
function resampled(rateIn, rateOut, input, block = 128) {
  const resampler = new Resampler(rateIn, rateOut);
  const out = new Float32Array(Math.ceil((input.length * rateOut) / rateIn) + 1);
  let count = 0;
  for (let at = 0; at < input.length; at += block) {
    resampler.write(input.subarray(at, at + block));
    count += resampler.read(out.subarray(count));
  }
  return out.subarray(0, count);
}

/** The largest error against a sine of the given amplitude, once the filter has seen no beginning. */
function worstError(samples, hertz, rate, amplitude) {
  const expected = sine(hertz, rate, samples.length).map((sample) => sample * amplitude);
  return Math.max(...samples.map((sample, i) => Math.abs(sample - expected[i])).subarray(100));
}

for (const rate of [16_000, 44_100, 48_000, 96_000]) {
  test(`a tone of 1 kHz stays what and where it was, from ${rate} Hz`, () => {
    const out = resampled(rate, 24_000, sine(1_000, rate, rate / 2));
    assert.ok(worstError(out, 1_000, 24_000, 1) < 1e-3);
  });
  test(`and back to ${rate} Hz`, () => {
    const out = resampled(24_000, rate, sine(1_000, 24_000, 12_000));
    assert.ok(worstError(out, 1_000, rate, 1) < 1e-3);
  });
}

for (const hertz of [12_100, 14_000, 17_000, 23_000]) {
  test(`a tone of ${hertz} Hz, which 24 kHz cannot hold, is down by more than 70 dB`, () => {
    const out = resampled(48_000, 24_000, sine(hertz, 48_000, 24_000));
    const rest = Math.max(...out.subarray(100).map(Math.abs));
    assert.ok(rest < 10 ** (-70 / 20), `${20 * Math.log10(rest)} dB`);
  });
}

test("a tone of 10 kHz, within speech's fricatives, still passes", () => {
  const out = resampled(48_000, 24_000, sine(10_000, 48_000, 24_000));
  assert.ok(worstError(out, 10_000, 24_000, 1) < 0.01);
});

test("a constant comes out as itself, at every phase", () => {
  const out = resampled(44_100, 24_000, new Float32Array(44_100).fill(0.5));
  assert.ok(out.subarray(100).every((sample) => Math.abs(sample - 0.5) < 1e-6));
});

for (const [rateIn, rateOut, held] of [
  [48_000, 24_000, 40],
  [44_100, 24_000, 40],
  [16_000, 24_000, 60],
  [24_000, 48_000, 80],
]) {
  test(`a minute from ${rateIn} to ${rateOut} Hz is a minute, less half a filter held back`, () => {
    const out = resampled(rateIn, rateOut, new Float32Array(60 * rateIn));
    assert.ok(Math.abs(60 * rateOut - held - out.length) <= 1, `${out.length}`);
  });
}

test("equal rates change nothing", () => {
  const input = sine(11_900, 24_000, 4_800);
  const out = resampled(24_000, 24_000, input);
  assert.ok(out.every((sample, i) => Math.abs(sample - input[i]) < 1e-6));
});

test("how the input is cut into blocks makes no difference", () => {
  const input = sine(3_000, 44_100, 22_050);
  const whole = resampled(44_100, 24_000, input, input.length);
  for (const block of [1, 7, 128, 4_096]) {
    assert.deepEqual(resampled(44_100, 24_000, input, block), whole);
  }
});

test("what `needs` asks for is enough and never too much", () => {
  for (const rate of [44_100, 48_000, 16_000]) {
    const resampler = new Resampler(24_000, rate);
    const out = new Float32Array(128);
    for (let turn = 0; turn < 500; turn++) {
      const needed = resampler.needs(128);
      if (needed > 0) {
        resampler.write(new Float32Array(needed - 1));
        assert.equal(resampler.needs(128), 1);
        resampler.write(new Float32Array(1));
      }
      assert.equal(resampler.read(out), 128);
    }
  }
});

test("a tone read 0.5 % faster is 0.5 % higher, without a seam where the speed changes", () => {
  const resampler = new Resampler(24_000, 48_000);
  resampler.write(sine(1_000, 24_000, 24_000));
  const out = new Float32Array(40_000);
  resampler.read(out.subarray(0, 10_000));
  resampler.speed = 1.005;
  resampler.read(out.subarray(10_000, 40_000));
  const turn = Math.sin((2 * Math.PI * 1_000) / 48_000);
  const steps = out.subarray(100).map((sample, i) => Math.abs(sample - out[99 + i]));
  assert.ok(Math.max(...steps) < turn * 1.01);
  const crossings = out.subarray(10_000).filter((sample, i) => i > 0 && sample >= 0 && out[9_999 + i] < 0).length;
  assert.ok(Math.abs(crossings - 1_005 * (30_000 / 48_000)) <= 1, `${crossings}`);
});
