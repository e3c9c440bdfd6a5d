// What the status line says of the server between two calls.

import assert from "node:assert/strict";
import { test } from "node:test";

import { serverStatus } from "../../client/web/standing.js";

test("a server that refuses calls is told, also over how the last call ended", () => {
  for (const tellsOfCall of [false, true]) {
    const { text, mood } = serverStatus({ type: "unreachable" }, tellsOfCall);
    assert.match(text, /^The server cannot be reached/);
    assert.equal(mood, "trouble");
  }
});

test("a server that takes calls again is told, unless a call's end stands there", () => {
  assert.deepEqual(serverStatus(null, false), { text: "Ready when you are.", mood: "idle" });
  assert.equal(serverStatus(null, true), null);
});
