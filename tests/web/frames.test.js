// Frames, samples and levels.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Framer } from "../../client/web/audio/frames.js";
import { decibels, onMeter, peak } from "../../client/web/audio/level.js";
import { packS16, unpackS16 } from "../../client/web/audio/pcm.js";

const bytesOf = (buffer) => [...new Uint8Array(buffer)];

test("samples are cut into frames of 1,920, however they come", () => {
  const framer = new Framer();
  const ramp = Float32Array.from({ length: 2 * 1_920 + 5 }, (_, i) => i);
  const frames = [];
  for (const [from, to] of [[0, 1], [1, 701], [701, 3_701], [3_701, 3_845]]) {
    frames.push(...framer.push(ramp.subarray(from, to)));
  }
  assert.equal(frames.length, 2);
  assert.deepEqual(frames[0], ramp.subarray(0, 1_920));
  assert.deepEqual(frames[1], ramp.subarray(1_920, 3_840));
});

test("samples are packed little-endian, clipped, and no number is silence", () => {
  const packed = packS16(Float32Array.of(0, 0.5, -1, 1, 7, -Infinity, NaN, 1 / 32_768));
  const expected = [0, 0, 0, 0x40, 0, 0x80, 0xff, 0x7f, 0xff, 0x7f, 0, 0x80, 0, 0, 1, 0];
  assert.deepEqual(bytesOf(packed), expected);
});

test("samples survive the way there and back", () => {
  const samples = Float32Array.of(0, 0.5, -1, 0.25, -32_767 / 32_768);
  assert.deepEqual(unpackS16(packS16(samples)), samples);
});

test("half a sample is refused", () => {
  assert.throws(() => unpackS16(new ArrayBuffer(3)), RangeError);
});

test("a level is the largest magnitude, in dB, on a meter of 60 dB", () => {
  assert.equal(peak(Float32Array.of(0.25, -0.5, 0)), 0.5);
  assert.equal(decibels(0.1), -20);
  assert.equal(decibels(0), -60);
  assert.equal(decibels(2), 0);
  assert.deepEqual([-60, -30, 0].map(onMeter), [0, 0.5, 1]);
});
