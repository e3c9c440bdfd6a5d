// What happens to a call's audio, on its time axis.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Marks } from "../../client/web/call/marks.js";
import { Timeline } from "../../client/web/lanes/timeline.js";

function began() {
  const timeline = new Timeline();
  const marks = new Marks(timeline);
  let frames = 0;
  const goOn = (ms) => {
    for (const end = frames + ms / 80; frames < end; frames++) timeline.frame("user", frames, new Float32Array(1_920));
  };
  const seen = () => timeline.marks.map(({ kind, start_ms, end_ms }) => [kind, start_ms, end_ms]);
  return { timeline, marks, goOn, seen };
}

test("a mute lasts until it is taken back, and at the longest until the end of the call", () => {
  const { marks, goOn, seen } = began();
  goOn(800);
  marks.muted(true);
  goOn(400);
  marks.muted(false);
  goOn(400);
  marks.muted(true);
  assert.equal(seen()[1][2], Infinity);
  goOn(80);
  marks.close();
  assert.deepEqual(seen(), [["muted", 800, 1_200], ["muted", 1_600, 1_680]]);
});

test("underruns within a second are one mark, later ones another", () => {
  const { marks, goOn, seen } = began();
  for (const [ms, underruns] of [[80, 0], [80, 1], [400, 2], [1_600, 3], [80, 3]]) {
    goOn(ms);
    marks.played({ underruns, skippedMs: 0 });
  }
  assert.deepEqual(seen().map(([kind, at]) => [kind, at]), [["underrun", 160], ["underrun", 2_160]]);
});

test("what was left out is told with its length", () => {
  const { timeline, marks, goOn } = began();
  goOn(800);
  marks.played({ underruns: 0, skippedMs: 240.4 });
  assert.match(timeline.marks[0].text, /^240 ms/);
});

test("silence that the server filled in stands where it was filled in, and its pieces are one", () => {
  const { timeline, marks, goOn, seen } = began();
  goOn(16_000);
  marks.filled({ start_ms: 4_000, end_ms: 6_000 });
  marks.filled({ start_ms: 6_000, end_ms: 6_800 });
  marks.filled({ start_ms: 12_000, end_ms: 12_080 });
  assert.deepEqual(seen(), [["padded", 4_000, 6_800], ["padded", 12_000, 12_080]]);
  assert.match(timeline.marks[0].text, /filled in 2800 ms of silence/);
});

test("audio that came and was not heard is told in the server's words", () => {
  const { timeline, marks, seen } = began();
  marks.dropped(2_400, "400 ms of audio came and were not heard");
  assert.deepEqual(seen(), [["dropped", 2_400, 2_400]]);
  assert.equal(timeline.marks[0].text, "400 ms of audio came and were not heard.");
});

test("a rule that fired names itself and what it did, in the lane where it listens", () => {
  const { timeline, marks } = began();
  marks.guardrail({ rule: "no-prices", listen: "agent_text", action: "mute", at_ms: 4_000 });
  marks.guardrail({ rule: "shouting", listen: "user", action: "flag", at_ms: 5_000 });
  assert.deepEqual(
    timeline.marks.map(({ channel, start_ms, text }) => [channel, start_ms, text]),
    [["agent", 4_000, "no-prices (mute)"], ["user", 5_000, "shouting (flag)"]],
  );
});
