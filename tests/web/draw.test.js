// What one picture costs: no more for a long call than for a short one.

import assert from "node:assert/strict";
import { test } from "node:test";

import { drawLanes } from "../../client/web/lanes/draw.js";
import { TimeAxis } from "../../client/web/lanes/time-axis.js";
import { Timeline } from "../../client/web/lanes/timeline.js";

const SIZE = { width: 1_280, height: 280 };
const TURN_MS = 16_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LOOK = { colours: {}, font: "sans" };
const POINTERS = { hoverX: null, headMs: null };

let steps = 0; // of every path and canvas
globalThis.Path2D = class {
  rect() {
    steps += 1;
  }
};

/** Counts what is asked of it. */
const canvas = new Proxy(
  {},
  {
    get: (_, name) => (...given) => {
      steps += 1;
      return name === "measureText" ? { width: 7 * given[0].length } : undefined;
    },
    set: () => true,
  },
);

/** A call of turns of sixteen seconds, in each of them everything that can be drawn. */
function call(ms) {
  const timeline = new Timeline();
  for (const channel of ["user", "agent"]) {
    const { waveform, activity } = timeline[channel];
    for (let hop = 0; hop < ms / 10; hop++) waveform.push((hop * 37) % 256);
    const from = channel === "user" ? 1_000 : 5_000;
    for (let at = 0; at < ms; at += TURN_MS) {
      activity.segments.push({ start_ms: at + from, end_ms: at + from + 4_500 });
    }
  }
  for (let at = 0; at < ms; at += TURN_MS) {
    timeline.events.push({ kind: "barge_in", channel: "user", start_ms: at + 5_200 });
    timeline.gaps.push({ from_ms: at + 5_500, gap_ms: 700 });
    timeline.mark("underrun", at + 7_000, { channel: "agent" });
    timeline.mark("padded", at + 12_000, { channel: "user", end_ms: at + 13_000 });
    timeline.mark("muted", at + 14_000, { channel: "user", end_ms: at + 14_500 });
  }
  return timeline;
}

/** @returns {number} what is asked of the canvas for one picture */
function cost(timeline, look) {
  const axis = new TimeAxis();
  axis.resize(SIZE.width);
  axis.reach(timeline.endMs);
  look(axis);
  steps = 0;
  drawLanes(canvas, SIZE, axis, timeline, LOOK, POINTERS);
  return steps;
}

const LENGTHS = [2 * TURN_MS * 4, HOUR_MS, 4 * HOUR_MS];
const CALLS = LENGTHS.map(call);

for (const [name, look] of [
  ["at the end, as while a call runs", () => {}],
  ["scrolled back", (axis) => axis.show(3 * TURN_MS)],
  ["zoomed in", (axis) => axis.zoom(0.1, 0)],
]) {
  test(`a picture ${name} costs no more after four hours than after two minutes`, () => {
    const [short, ...long] = CALLS.map((timeline) => cost(timeline, look));
    assert.ok(short > 100);
    for (const steps of long) assert.ok(steps <= short, `${steps} steps, ${short} for a short call`);
  });
}

// In a width of 1,280: 2 lanes of 427 bars; at most 427 each of stretches (2 lanes and overlaps), of dots (2 lanes,
// 6 steps each) and of gaps (3 lines each, and 1 label in 80 px); hatching 2 lines in 9 px, ruler and labels.
const MOST = 2 * 427 + 3 * 427 + 2 * 6 * 427 + 4 * 427 + 2 * 200 + 200;

test("a picture of the whole call is bounded by its width, however long the call", () => {
  for (const timeline of CALLS) {
    const whole = cost(timeline, (axis) => axis.zoom(Infinity, 0));
    assert.ok(whole <= MOST, `${whole} steps of ${MOST}`);
  }
});

test("what happened is told in order of time, whatever became known first", () => {
  const timeline = new Timeline();
  timeline.mark("underrun", 3_000);
  timeline.mark("guardrail", 1_000);
  timeline.events.push({ kind: "barge_in", channel: "user", start_ms: 2_000 });
  assert.deepEqual(timeline.happenings.map(({ start_ms }) => start_ms), [1_000, 2_000, 3_000]);
  timeline.mark("padded", 2_500);
  assert.deepEqual(timeline.happenings.map(({ start_ms }) => start_ms), [1_000, 2_000, 2_500, 3_000]);
});

test("overlaps are where both speak, of many stretches of either", () => {
  const timeline = new Timeline();
  timeline.user.activity.segments.push({ start_ms: 0, end_ms: 400 }, { start_ms: 600, end_ms: 2_000 });
  timeline.agent.activity.segments.push({ start_ms: 300, end_ms: 700 }, { start_ms: 900, end_ms: 1_000 });
  const found = timeline.overlaps(0, 10_000).map(({ start_ms, end_ms }) => [start_ms, end_ms]);
  assert.deepEqual(found, [[300, 400], [600, 700], [900, 1_000]]);
});
