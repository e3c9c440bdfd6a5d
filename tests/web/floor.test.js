// Who speaks when, and what happens between the two.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Activity } from "../../client/web/lanes/activity.js";
import { Floor } from "../../client/web/lanes/floor.js";
import { Timeline } from "../../client/web/lanes/timeline.js";

const LOUD = -20;
const QUIET = -70;

/** Hears [ms, dB] after [ms, dB]. */
function heard(...stretches) {
  const activity = new Activity();
  for (const [ms, db] of stretches) for (let n = 0; n < ms / 10; n++) activity.hop(db);
  return activity;
}

const spans = (activity) => activity.segments.map(({ start_ms, end_ms }) => [start_ms, end_ms]);

test("speech begins and ends where it does, though that is known only later", () => {
  const activity = heard([500, QUIET], [800, LOUD], [190, QUIET]);
  assert.deepEqual([spans(activity), activity.isOpen], [[[500, 1_300]], true]);
  activity.hop(QUIET);
  assert.equal(activity.isOpen, false);
});

test("less than 50 ms is dropped, silences below 200 ms are joined, and 200 ms splits", () => {
  assert.deepEqual(spans(heard([300, QUIET], [40, LOUD], [300, QUIET])), []);
  assert.deepEqual(spans(heard([300, QUIET], [50, LOUD], [300, QUIET])), [[300, 350]]);
  assert.deepEqual(spans(heard([300, QUIET], [300, LOUD], [190, QUIET], [300, LOUD])), [[300, 1_090]]);
  assert.deepEqual(spans(heard([300, QUIET], [300, LOUD], [200, QUIET], [300, LOUD])).length, 2);
  assert.deepEqual(spans(heard([300, QUIET], [300, LOUD], [100, QUIET], [40, LOUD], [300, QUIET])), [[300, 600]]);
});

test("steady noise below -30 dBFS is no speech, and a voice above it is", () => {
  const activity = heard([1_000, -42], [20_000, -42], [600, -25], [1_000, -42]);
  assert.deepEqual(spans(activity), [[21_000, 21_600]]);
});

test("noise that begins after nothing at all is no speech either", () => {
  const activity = heard([160, -120], [5_000, -40], [400, -20], [1_000, -40]);
  assert.deepEqual(spans(activity), [[5_160, 5_560]]);
});

test("samples are judged by their energy", () => {
  const activity = new Activity();
  activity.append(new Float32Array(4_800));
  activity.append(Float32Array.from({ length: 4_800 }, (_, i) => 0.1 * Math.sin(i / 5)));
  assert.deepEqual(spans(activity), [[200, 400]]);
});

/** A conversation of spans, told bit by bit as a call does. */
function conversation(user, agent, endMs) {
  const voices = [user, agent].map(() => ({ segments: [], isOpen: false, throughMs: 0 }));
  const floor = new Floor(...voices);
  for (let now = 80; now <= endMs; now += 80) {
    for (const [i, all] of [user, agent].entries()) {
      voices[i].throughMs = now;
      voices[i].segments = all
        .filter(([start]) => start + 50 <= now)
        .map(([start_ms, end]) => ({ start_ms, end_ms: Math.min(end, now) }));
      voices[i].isOpen = all.some(([start, end]) => start + 50 <= now && now < end + 200);
    }
    floor.advance();
  }
  return {
    events: floor.events.map(({ kind, start_ms }) => [kind, start_ms]),
    gaps: floor.gaps.map(({ gap_ms }) => gap_ms),
  };
}

for (const [name, user, agent, events] of [
  ["the user breaks in and goes on", [[2_000, 4_000]], [[0, 2_600]], [["barge_in", 2_000]]],
  ["a short word, and the agent goes on", [[2_000, 2_400]], [[0, 5_000]], [["backchannel", 2_000]]],
  ["a short word, and the agent stops", [[2_000, 2_400]], [[0, 2_300]], [["barge_in", 2_000]]],
  ["a short word that belongs to a longer stretch", [[2_000, 2_400], [2_700, 4_000]], [[0, 5_000]], [["barge_in", 2_000], ["barge_in", 2_700]]],
  ["the agent's short word", [[0, 5_000]], [[2_000, 2_500]], [["backchannel", 2_000]]],
  ["the agent talks over the user", [[0, 5_000]], [[2_000, 4_000]], [["interruption", 2_000]]],
  ["both begin at once", [[1_000, 3_000]], [[900, 3_000]], []],
  ["one after the other", [[0, 1_000], [4_000, 5_000]], [[1_300, 3_000]], []],
]) {
  test(`between the voices: ${name}`, () => {
    assert.deepEqual(conversation(user, agent, 8_000).events, events);
  });
}

for (const [name, user, agent, gaps] of [
  ["an answer after 400 ms", [[0, 1_000]], [[1_400, 3_000]], [400]],
  ["an answer that comes 300 ms early", [[0, 1_000]], [[700, 3_000]], [-300]],
  ["a pause within the turn is not its end", [[0, 1_000], [1_800, 2_600]], [[2_900, 4_000]], [300]],
  ["an agent that speaks all along answers nothing", [[2_000, 3_000]], [[0, 6_000]], []],
  ["nobody answers", [[0, 1_000], [3_000, 4_000]], [], []],
  ["an answer after eleven seconds is none", [[0, 1_000]], [[12_000, 13_000]], []],
  ["two turns, two answers", [[0, 1_000], [5_000, 6_000]], [[1_200, 3_000], [6_500, 7_000]], [200, 500]],
]) {
  test(`the response gap: ${name}`, () => {
    assert.deepEqual(conversation(user, agent, 14_000).gaps, gaps);
  });
}

test("overlaps are where both speak", () => {
  const timeline = new Timeline();
  const tone = Float32Array.from({ length: 1_920 }, (_, i) => 0.1 * Math.sin(i / 5));
  for (let n = 0; n < 20; n++) timeline.frame("user", n, n < 10 ? tone : new Float32Array(1_920));
  for (let n = 0; n < 20; n++) timeline.frame("agent", n, n >= 5 && n < 15 ? tone : new Float32Array(1_920));
  assert.deepEqual(timeline.overlaps(0, 10_000), [{ start_ms: 400, end_ms: 800 }]);
  assert.deepEqual(timeline.overlaps(900, 10_000), []);
});
