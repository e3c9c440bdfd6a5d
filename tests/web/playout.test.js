// The playout buffer: when it begins to play, what it does when it runs dry or too full, and what it counts.

import assert from "node:assert/strict";
import { test } from "node:test";

import { PlayoutBuffer } from "../../client/web/audio/playout.js";

const FRAME = 1_920; // 80 ms
const MS = 24; // samples

const pushed = (buffer, ms, value = 0.5) => buffer.push(new Float32Array(ms * MS).fill(value));

function pulled(buffer, ms, block = 64) {
  const out = new Float32Array(ms * MS);
  for (let at = 0; at < out.length; at += block) buffer.pull(out.subarray(at, at + block));
  return out;
}

const loud = (samples) => samples.filter((sample) => sample !== 0).length;
const steps = (samples) => samples.slice(1).map((sample, i) => Math.abs(sample - samples[i]));
const largestStep = (samples) => Math.max(...steps(samples));

test("nothing is played, and nothing missed, before anything came", () => {
  const buffer = new PlayoutBuffer();
  assert.equal(loud(pulled(buffer, 1_000)), 0);
  assert.equal(buffer.stats.underruns, 0);
});

test("the first frame is heard after a margin of 20 ms, faded in", () => {
  const buffer = new PlayoutBuffer();
  pushed(buffer, 80);
  const out = pulled(buffer, 40);
  assert.equal(out.findIndex((sample) => sample !== 0), 20 * MS);
  assert.equal(out.at(-1), 0.5);
  assert.ok(largestStep(out) < 0.01);
});

test("a frame every 80 ms, each up to 14 ms late, plays without a gap", () => {
  const buffer = new PlayoutBuffer();
  pushed(buffer, 80);
  const late = [0, 14, 3, 14, 0, 9, 14, 0];
  let now = 0;
  for (const [n, ms] of late.entries()) {
    const due = (n + 1) * 80 + ms;
    assert.equal(loud(pulled(buffer, due - now)) > 0, true);
    now = due;
    pushed(buffer, 80);
  }
  assert.equal(buffer.stats.underruns, 0);
});

test("running out is one underrun, fades out without a click, and is silent from then on", () => {
  const buffer = new PlayoutBuffer();
  pushed(buffer, 80);
  const out = pulled(buffer, 300);
  assert.equal(buffer.stats.underruns, 1);
  assert.ok(largestStep(out) < 0.01);
  assert.equal(loud(out.subarray(100 * MS)), 0);
});

test("every underrun makes the margin 20 ms larger, up to 320 ms", () => {
  const buffer = new PlayoutBuffer();
  const targets = [];
  for (let n = 0; n < 20; n++) {
    pushed(buffer, 80);
    pulled(buffer, 600);
    targets.push(buffer.stats.targetMs);
  }
  assert.deepEqual(targets.slice(0, 3), [120, 140, 160]);
  assert.equal(targets.at(-1), 400);
  assert.equal(buffer.stats.underruns, 20);
});

test("what was left at an underrun is heard when playing goes on", () => {
  const buffer = new PlayoutBuffer();
  pushed(buffer, 80);
  pulled(buffer, 300);
  pushed(buffer, 80);
  pulled(buffer, 1_000);
  const { playedMs, bufferedMs, skippedMs } = buffer.stats;
  assert.equal(playedMs + bufferedMs, 160);
  assert.equal(skippedMs, 0);
});

test("a piece shorter than the fade does not hold the buffer up", () => {
  const buffer = new PlayoutBuffer();
  pushed(buffer, 1);
  pulled(buffer, 300);
  pushed(buffer, 80);
  assert.ok(loud(pulled(buffer, 200)) > 70 * MS);
});

test("within three seconds of a burst the call is at its margin again, and what was skipped is counted", () => {
  const buffer = new PlayoutBuffer();
  for (let n = 0; n < 6; n++) pushed(buffer, 80);
  let out = [];
  for (let n = 0; n < 38; n++) {
    out = out.concat([...pulled(buffer, 80)]);
    pushed(buffer, 80);
  }
  const { underruns, skippedMs, bufferedMs } = buffer.stats;
  assert.equal(underruns, 0);
  assert.ok(Math.abs(bufferedMs - 100) <= 10, `${bufferedMs} ms`); // a frame just came: 80 ms and the margin
  assert.equal(Math.round(skippedMs + bufferedMs + buffer.stats.playedMs), (6 + 38) * 80);
  assert.ok(largestStep(Float32Array.from(out)) < 0.01);
});

test("a steady call is never cut short", () => {
  const buffer = new PlayoutBuffer();
  for (let n = 0; n < 500; n++) {
    pushed(buffer, 80);
    pulled(buffer, 80);
  }
  assert.equal(buffer.stats.skippedMs, 0);
  assert.equal(buffer.stats.underruns, 0);
});

test("a stall of two seconds is one underrun, and the burst after it delays the call for half a second at most", () => {
  const buffer = new PlayoutBuffer();
  let out = [];
  for (let n = 0; n < 20; n++) {
    pushed(buffer, 80);
    pulled(buffer, 80);
  }
  const before = buffer.stats;
  out = out.concat([...pulled(buffer, 2_000)]);
  for (let n = 0; n < 25; n++) pushed(buffer, 80);
  for (let n = 0; n < 6; n++) {
    out = out.concat([...pulled(buffer, 80)]);
    pushed(buffer, 80);
  }
  const { underruns, skippedMs, bufferedMs, targetMs } = buffer.stats;
  assert.equal(before.underruns, 0);
  assert.equal(underruns, 1);
  assert.equal(targetMs, before.targetMs + 20);
  assert.ok(bufferedMs < 250, `${bufferedMs} ms`);
  assert.ok(skippedMs > 1_700, `${skippedMs} ms`);
  assert.ok(largestStep(Float32Array.from(out)) < 0.01);
});

test("a device that stops for ten seconds costs no more delay than before once it plays again", () => {
  const buffer = new PlayoutBuffer();
  for (let n = 0; n < 125; n++) pushed(buffer, 80);
  for (let n = 0; n < 25; n++) {
    pulled(buffer, 80);
    pushed(buffer, 80);
  }
  assert.equal(buffer.stats.underruns, 0);
  assert.ok(buffer.stats.bufferedMs < 160, `${buffer.stats.bufferedMs} ms`);
});

test("a buffer that nobody plays holds two seconds and counts what it lets go", () => {
  const buffer = new PlayoutBuffer();
  for (let n = 0; n < 100; n++) pushed(buffer, 80);
  pushed(buffer, 5_000);
  assert.equal(buffer.stats.bufferedMs, 2_000);
  assert.equal(buffer.stats.skippedMs, 100 * 80 + 5_000 - 2_000);
});

test("samples come out in the order in which they came", () => {
  const buffer = new PlayoutBuffer();
  const ramp = Float32Array.from({ length: 3 * FRAME }, (_, i) => (i + 1) / 10_000);
  buffer.push(ramp.subarray(0, 1_000));
  buffer.push(ramp.subarray(1_000));
  const out = pulled(buffer, 200).filter((sample) => sample !== 0);
  assert.deepEqual(out.subarray(200, 4_000), ramp.subarray(200, 4_000));
});
