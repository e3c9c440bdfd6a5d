// How the playout buffer finds its length: jitter, calm, drift, and an hour of both.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Governor } from "../../client/web/audio/governor.js";
import { PlayoutBuffer } from "../../client/web/audio/playout.js";

const MS = 24; // samples
const SECOND = 24_000;

/** Watches a steady level for so long. */
function watched(governor, levelMs, seconds) {
  let skipped = 0;
  for (let n = 0; n < seconds * 100; n++) skipped += governor.watch(levelMs * MS, SECOND / 100);
  return skipped;
}

test("a level at the margin is left alone", () => {
  const governor = new Governor();
  assert.equal(watched(governor, 20, 60), 0);
  assert.equal(governor.speed, 1);
});

test("a level a little above is played away faster, one below slower, within half a percent", () => {
  const governor = new Governor();
  watched(governor, 40, 2);
  assert.ok(Math.abs(governor.speed - 1.002) < 1e-9, `${governor.speed}`);
  watched(governor, 5, 2);
  assert.ok(Math.abs(governor.speed - 0.9985) < 1e-9, `${governor.speed}`);
  watched(governor, 75, 2);
  assert.equal(governor.speed, 1.005);
});

test("a level far above is skipped after a second, one that is absurd after a fifth of one", () => {
  const governor = new Governor();
  assert.equal(watched(governor, 120, 0.99), 0);
  assert.equal(watched(governor, 120, 0.01), 100 * MS);
  assert.equal(watched(new Governor(), 520, 0.2), 500 * MS);
});

test("the margin grows with an underrun and shrinks after a calm time, to where it began", () => {
  const governor = new Governor();
  for (let n = 0; n < 3; n++) governor.ranDry();
  assert.equal(governor.margin, 80 * MS);
  watched(governor, 80, 79);
  assert.equal(governor.margin, 80 * MS); // three underruns: eighty seconds have to be calm
  watched(governor, 80, 1);
  assert.equal(governor.margin, 60 * MS);
  watched(governor, 20, 120);
  assert.equal(governor.margin, 60 * MS); // a third of it was left: that was not calm
  watched(governor, 70, 300);
  assert.equal(governor.margin, 20 * MS);
});

/** The same numbers on every run, from 0 to 1. */
function randomly(seed) {
  let state = seed;
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
}

/**
 * A call: a frame every 80 ms by a clock that is off by `ppm`, each up to `jitterMs` late; the device takes
 * 5 ms at a time by its own clock.
 */
function call({ seconds, ppm, jitterMs, seed = 1 }, look) {
  const buffer = new PlayoutBuffer();
  const random = randomly(seed);
  const frame = new Float32Array(1_920).fill(0.1);
  const period = 80 / (1 + ppm * 1e-6);
  const out = new Float32Array(300);
  let sent = 0;
  let due = 0;
  let owed = 0; // what the changed speed asks for
  for (let now = 0; now < seconds * 1000; now += 5) {
    for (; due <= now; due = Math.max(due, sent * period + jitterMs * random() ** 4)) {
      buffer.push(frame);
      sent += 1;
    }
    owed += 120 * buffer.speed;
    buffer.pull(out.subarray(0, Math.floor(owed)));
    owed -= Math.floor(owed);
    if ((now + 5) % 60_000 === 0) look(buffer.stats);
  }
  return buffer.stats;
}

for (const ppm of [-200, 200]) {
  test(`an hour with clocks ${ppm} ppm apart: no underrun, nothing skipped, the delay as it began`, () => {
    const delays = [];
    const stats = call({ seconds: 3_600, ppm, jitterMs: 9 }, ({ delayMs }) => delays.push(delayMs));
    assert.equal(stats.underruns, 0);
    assert.equal(stats.skippedMs, 0);
    assert.equal(delays.length, 60);
    const furthest = Math.max(...delays.map((delay) => Math.abs(delay - delays[0])));
    assert.ok(furthest <= 20, `${furthest} ms`);
  });
}

test("a bad network costs a few underruns until the margin fits it, and hardly one after that", () => {
  let early = null;
  const stats = call({ seconds: 600, ppm: 0, jitterMs: 150, seed: 7 }, ({ underruns }) => (early ??= underruns));
  assert.ok(early >= 1, `${early}`);
  assert.ok(stats.underruns - early <= 9, `${early}, then ${stats.underruns}`); // one a minute, while it tries for less
  assert.ok(stats.targetMs <= 80 + 200, `${stats.targetMs} ms`);
});
