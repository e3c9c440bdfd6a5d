// What the two lanes show: peaks at every scale, and a time axis that moves as it should.

import assert from "node:assert/strict";
import { test } from "node:test";

import { TimeAxis } from "../../client/web/lanes/time-axis.js";
import { Timeline } from "../../client/web/lanes/timeline.js";
import { Waveform } from "../../client/web/lanes/waveform.js";

/** An hour of hops, with one loud one in each minute. */
function hour() {
  const waveform = new Waveform();
  for (let hop = 0; hop < 360_000; hop++) waveform.push(hop % 6_000 === 17 ? 200 : 3);
  return waveform;
}

const columns = (waveform, fromMs, msPerColumn, count) => {
  const out = new Uint8Array(count);
  waveform.columns(fromMs, msPerColumn, out);
  return [...out];
};

test("a peak is the largest magnitude of its ten milliseconds", () => {
  const waveform = new Waveform();
  const samples = new Float32Array(1_920);
  samples[250] = -0.5;
  samples[1_919] = 2;
  waveform.append(samples);
  assert.deepEqual(columns(waveform, 0, 10, 9), [0, 128, 0, 0, 0, 0, 0, 255, 0]);
  assert.equal(waveform.endMs, 80);
});

test("no peak is lost at any scale, and an hour in a thousand columns shows each of its sixty", () => {
  const waveform = hour();
  for (const msPerColumn of [10, 37, 400, 3_600]) {
    const loud = columns(waveform, 0, msPerColumn, Math.ceil(3_600_000 / msPerColumn));
    const found = loud.filter((peak, i) => peak === 200 && loud[i - 1] !== 200).length;
    assert.equal(found, 60, `${msPerColumn}`);
  }
});

test("before the beginning and after the end there is nothing", () => {
  const waveform = new Waveform();
  waveform.push(9);
  assert.deepEqual(columns(waveform, -20, 10, 4), [0, 0, 9, 0]);
});

test("frames stand at their time: what was left out is silent, what comes twice is told once", () => {
  const timeline = new Timeline();
  const loud = new Float32Array(1_920).fill(0.5);
  timeline.frame("user", 0, loud);
  timeline.frame("user", 3, loud);
  timeline.frame("user", 3, loud);
  assert.equal(timeline.endMs, 320);
  assert.deepEqual(columns(timeline.user.waveform, 0, 80, 4), [128, 0, 0, 128]);
});

test("while it follows, the end of the call is at the right edge, once it fills the width", () => {
  const axis = new TimeAxis(20);
  axis.resize(500);
  axis.reach(4_000);
  assert.equal(axis.leftMs, 0);
  axis.reach(60_000);
  assert.deepEqual([axis.leftMs, axis.rightMs], [50_000, 60_000]);
});

test("dragged back it stays, and follows again when it is dragged to the end", () => {
  const axis = new TimeAxis(20);
  axis.resize(500);
  axis.reach(60_000);
  axis.drag(100);
  axis.reach(70_000);
  assert.deepEqual([axis.follows, axis.leftMs], [false, 48_000]);
  axis.drag(10_000);
  assert.equal(axis.leftMs, 0);
  axis.drag(-100_000);
  axis.reach(80_000);
  assert.deepEqual([axis.follows, axis.rightMs], [true, 80_000]);
});

test("zoomed, what is under the pointer stays there", () => {
  const axis = new TimeAxis(20);
  axis.resize(500);
  axis.reach(600_000);
  axis.show(100_000);
  const under = axis.toMs(200);
  axis.zoom(2, 200);
  assert.equal(axis.msPerPx, 40);
  assert.ok(Math.abs(axis.toMs(200) - under) < 1e-6);
});

test("it zooms from a millisecond a pixel to the whole call, and no further", () => {
  const axis = new TimeAxis(20);
  axis.resize(1_000);
  axis.reach(3_600_000);
  axis.zoom(1e9, 0);
  assert.equal(axis.msPerPx, 3_780);
  axis.zoom(1e-9, 0);
  assert.equal(axis.msPerPx, 1);
});

for (const [msPerPx, first] of [
  [1, ["0:00.0", "0:00.1", "0:00.2"]],
  [20, ["0:00", "0:02", "0:04"]],
  [3_000, ["0:00", "5:00", "10:00"]],
]) {
  test(`the labels at ${msPerPx} ms a pixel are round times, far enough apart to be read`, () => {
    const axis = new TimeAxis(msPerPx);
    axis.resize(1_000);
    const ticks = axis.ticks();
    assert.deepEqual(ticks.slice(0, 3).map(({ label }) => label), first);
    assert.ok(ticks[1].x - ticks[0].x >= 84);
  });
}
