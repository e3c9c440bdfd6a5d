// Whether the microphone runs, by the frames it gives.

import assert from "node:assert/strict";
import { test } from "node:test";

import { CaptureClock } from "../../client/web/audio/capture-clock.js";

/** A clock after so many frames, one every `periodMs`. */
function after(frames, periodMs) {
  const clock = new CaptureClock(0);
  for (let n = 1; n <= frames; n++) clock.frame(n * periodMs);
  return { clock, now: frames * periodMs };
}

test("a frame every 80 ms runs", () => {
  const { clock, now } = after(200, 80);
  assert.equal(clock.verdict(now + 100), "runs");
});

test("no frame for two seconds is a stop, at the beginning too", () => {
  assert.equal(new CaptureClock(0).verdict(1_999), "runs");
  assert.equal(new CaptureClock(0).verdict(2_000), "stopped");
  const { clock, now } = after(50, 80);
  assert.equal(clock.verdict(now + 2_000), "stopped");
});

for (const [change, periodMs] of [
  ["48 kHz taken for 44.1", (80 * 44.1) / 48],
  ["16 kHz taken for 48", 240],
]) {
  test(`a device at another rate than it said is off its pace: ${change}`, () => {
    const { clock, now } = after(200, periodMs);
    assert.equal(clock.verdict(now), "off_pace");
  });
}

test("a page that is held up and then gets everything at once is on its pace", () => {
  const clock = new CaptureClock(0);
  for (let n = 1; n <= 300; n++) clock.frame(Math.ceil((n * 80) / 400) * 400);
  assert.equal(clock.verdict(24_000), "runs");
});

test("a machine that is overworked, now more and now less, is not taken for a change of rate", () => {
  const clock = new CaptureClock(0);
  let now = 0;
  for (const periodMs of [110, 90, 150]) {
    for (let n = 0; n < 8_000 / periodMs; n++) clock.frame((now += periodMs));
    assert.equal(clock.verdict(now), "runs");
  }
});
