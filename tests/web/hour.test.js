// One hour of a call through everything that the page keeps: memory stays flat, the delay as it began.

import assert from "node:assert/strict";
import { test } from "node:test";

import { PlayoutBuffer } from "../../client/web/audio/playout.js";
import { Marks } from "../../client/web/call/marks.js";
import { Timeline } from "../../client/web/lanes/timeline.js";
import { TimeAxis } from "../../client/web/lanes/time-axis.js";
import { RoundTrip } from "../../client/web/wire/round-trip.js";
import { Transcript } from "../../client/web/words/transcript.js";

const HOUR_FRAMES = 45_000;
const MINUTE_FRAMES = 750;
const MIB = 2 ** 20;

const silence = new Float32Array(1_920);
const voice = Float32Array.from({ length: 1_920 }, (_, i) => 0.2 * Math.sin(i / 9) * Math.sin(i / 300));

/** A call in which both take turns of four seconds, and each answer is a little late. */
class Hour {
  timeline = new Timeline();
  transcript = new Transcript();
  roundTrip = new RoundTrip();
  buffer = new PlayoutBuffer();
  marks = new Marks(this.timeline);
  #out = new Float32Array(1_920);

  frame(n) {
    const turn = Math.floor(n / 50) % 2;
    this.roundTrip.sent(n * 80);
    this.timeline.frame("user", n, turn === 0 && n % 50 > 5 ? voice : silence);
    this.roundTrip.received(3_840, n * 80 + 30 + (n % 17));
    this.timeline.frame("agent", n, turn === 1 && n % 50 > 5 ? voice : silence);
    this.buffer.push(voice);
    this.buffer.pull(this.#out);
    this.marks.played(this.buffer.stats);
    this.#words(n);
  }

  #words(n) {
    const piece = { delta: ` w${n}`, start_ms: n * 80, end_ms: n * 80 + 80 };
    if (n % 10 === 0) this.transcript.agentText(piece);
    if (n % 15 === 0) this.transcript.userText({ ...piece, start_ms: Math.max(0, piece.start_ms - 2_000) });
    if (n % 25 === 0) this.transcript.hearing([], n * 80);
  }
}

/** Bytes in use, once what is used no more has been let go. */
function used() {
  globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test("an hour of a call", { skip: globalThis.gc ? false : "needs --expose-gc" }, () => {
  const hour = new Hour();
  const at = {};
  for (let n = 0; n < HOUR_FRAMES; n++) {
    hour.frame(n);
    const minute = (n + 1) / MINUTE_FRAMES;
    if ([1, 10, 60].includes(minute)) at[minute] = { bytes: used(), delayMs: hour.buffer.stats.delayMs };
  }
  assert.equal(hour.timeline.endMs, 3_600_000);
  assert.equal(hour.timeline.gaps.length, 450);
  assert.equal(hour.buffer.stats.underruns, 0);
  assert.ok(Math.abs(at[60].delayMs - at[1].delayMs) <= 20, `${at[1].delayMs}, then ${at[60].delayMs} ms`);
  const grown = (at[60].bytes - at[10].bytes) / MIB;
  assert.ok(grown < 8, `${grown.toFixed(1)} MiB in fifty minutes`); // words, and a kilobyte a second of picture
});

test("a picture of the whole hour holds each of its turns", () => {
  const timeline = new Timeline();
  for (let n = 0; n < HOUR_FRAMES; n++) timeline.frame("user", n, n % 750 < 50 ? voice : silence);
  const axis = new TimeAxis();
  axis.resize(1_400);
  axis.reach(timeline.endMs);
  axis.zoom(Infinity, 0);
  assert.ok(axis.leftMs === 0 && axis.rightMs >= 3_600_000);
  const peaks = new Uint8Array(1_400);
  timeline.user.waveform.columns(axis.leftMs, axis.msPerPx, peaks);
  const turns = peaks.filter((peak, i) => peak > 0 && (i === 0 || peaks[i - 1] === 0)).length;
  assert.equal(turns, 60);
});
