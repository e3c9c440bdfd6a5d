// What the status line says of the server between two calls.

import assert from "node:assert/strict";
import { test } from "node:test";

import { OWN_CALL_MS, Standing } from "../../client/web/call/standing.js";

const READY = { text: "Ready when you are.", mood: "idle" };
const FULL = { type: "server_full", capacity: 1 };
const AWAY = { type: "unreachable" };
const LOST = { text: "The connection was lost.", isTrouble: true };
const HELD = { text: "The connection was lost.", mood: "trouble" };

function after(outcome) {
  const standing = new Standing();
  standing.ended(outcome, 0);
  return standing;
}

const hungUp = () => after({ text: "Call ended.", isTrouble: false });

test("without a call, a server that refuses is told, and so is one that takes calls again", () => {
  const standing = new Standing();
  assert.deepEqual(standing.heard(null, 0), READY);
  assert.equal(standing.heard(FULL, 1).mood, "trouble");
  assert.match(standing.heard(FULL, 2).text, /^The server is full/);
  assert.deepEqual(standing.heard(null, 3), READY);
});

test("a server that was away and answers again is told as back, once", () => {
  const standing = new Standing();
  assert.match(standing.heard(AWAY, 0).text, /^The server cannot be reached/);
  assert.match(standing.heard(null, 1).text, /^The server is back/);
  assert.deepEqual(standing.heard(null, 2), READY);
});

test("a call that ended as wanted stands there while the server is free", () => {
  const standing = hungUp();
  assert.equal(standing.heard(null, 1), null);
  assert.equal(standing.heard(null, 60_000), null);
});

test("a server full of one's own call that drains is not told as full, however long that takes", () => {
  const standing = hungUp();
  assert.equal(standing.heard(FULL, 1), null);
  assert.equal(standing.heard(FULL, OWN_CALL_MS + 20_000), null);
});

test("somebody else's call is told once the place has been free and ten seconds are over", () => {
  const standing = hungUp();
  assert.equal(standing.heard(null, 1), null);
  assert.equal(OWN_CALL_MS, 10_000);
  assert.equal(standing.heard(FULL, 9_999), null);
  assert.match(standing.heard(FULL, 10_000).text, /^The server is full/);
  assert.deepEqual(standing.heard(null, 10_001), READY);
});

test("after a call that ended as wanted, a server that goes away is told at once", () => {
  assert.match(hungUp().heard(AWAY, 1).text, /^The server cannot be reached/);
});

test("a call that was lost stands there until somebody acts, and what is kept of it with it", () => {
  const standing = after(LOST);
  for (const refusal of [AWAY, FULL, { type: "draining" }]) assert.deepEqual(standing.heard(refusal, 60_000), HELD);
});

test("a server that is back after a lost call is told behind it, for as long as it is there", () => {
  const standing = after(LOST);
  assert.deepEqual(standing.heard(null, 1), HELD);
  standing.heard(AWAY, 2);
  assert.deepEqual(standing.heard(null, 3), { ...HELD, text: "The connection was lost. The server is back." });
  assert.deepEqual(standing.heard(AWAY, 4), HELD);
});

test("a call that was refused tells of the server, and is over when the server says so", () => {
  assert.deepEqual(after({ text: "Full.", isTrouble: true, refusal: FULL }).heard(null, 1), READY);
  assert.match(after({ text: "Away.", isTrouble: true, refusal: AWAY }).heard(null, 1).text, /^The server is back/);
});
