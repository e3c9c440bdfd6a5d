// Words in paragraphs, and their times.

import assert from "node:assert/strict";
import { test } from "node:test";

import { clock, Paragraphs } from "../../client/web/transcript.js";

test("words go on in a paragraph until a pause", () => {
  const paragraphs = new Paragraphs();
  const said = [
    [" Hello", 0, 80],
    [" there", 1_000, 1_080],
    [" Yes", 2_580, 2_660],
  ].map(([delta, start_ms, end_ms]) => paragraphs.add({ delta, start_ms, end_ms }));
  assert.deepEqual(said, [
    { begins: true, text: "Hello" },
    { begins: false, text: " there" },
    { begins: true, text: "Yes" },
  ]);
});

test("a paragraph that got long ends before the next word, never within one", () => {
  const paragraphs = new Paragraphs();
  const add = (delta) => paragraphs.add({ delta, start_ms: 0, end_ms: 80 }).begins;
  assert.deepEqual([add("x".repeat(400)), add("ing"), add(" next")], [true, false, true]);
});

test("a time is minutes and seconds, and hours where there are any", () => {
  assert.deepEqual([0, 65_900, 3_600_000, 36_061_000].map(clock), ["0:00", "1:05", "1:00:00", "10:01:01"]);
});
