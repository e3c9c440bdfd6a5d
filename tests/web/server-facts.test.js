// What the server says about itself, and why it refuses.

import assert from "node:assert/strict";
import { test } from "node:test";

import { askServer } from "../../client/web/wire/server-facts.js";

/** A server that answers these paths so, and no other. */
const serving = (answers) => async (url, { headers }) => {
  const path = url.pathname;
  if (!(path in answers)) throw new TypeError("failed to fetch");
  const [status, body] = answers[path](headers);
  return new Response(JSON.stringify(body), { status });
};
const CAN = { sampling: { text_top_k: 25 }, instructions: true, voices: ["calm"] };
const MODEL = { id: "tiny", duet: { trained: false, capacity: 2, active: 1, ...CAN } };
const FREE = { "/v1/models": () => [200, { data: [MODEL] }], "/ready": () => [200, { status: "ready" }] };
const FACTS = { name: "tiny", trained: false, capacity: 2, active: 1, ...CAN };
const TAKEN = { id: "tiny", duet: { trained: false, capacity: 2, active: 2, ...CAN } };
const DRAINING = { type: "draining", message: "bye" };
const STOPPING = { ...FREE, "/ready": () => [503, { error: DRAINING }] };
const guarded = ({ Authorization }) => [Authorization === "Bearer k" ? 200 : 401, { data: [MODEL] }];

const ALL_TAKEN = { facts: { ...FACTS, active: 2 }, refusal: { type: "server_full", capacity: 2 } };
const refusedFor = (type) => ({ facts: null, refusal: { type } });

for (const [name, answers, key, expected] of [
  ["a free server", FREE, null, { facts: FACTS, refusal: null }],
  ["a full one, which is ready", { ...FREE, "/v1/models": () => [200, { data: [TAKEN] }] }, null, ALL_TAKEN],
  ["one that stops", STOPPING, null, { facts: FACTS, refusal: DRAINING }],
  ["none", {}, null, refusedFor("unreachable")],
  ["one that asks for a key", { ...FREE, "/v1/models": guarded }, null, refusedFor("missing_api_key")],
  ["a wrong key", { ...FREE, "/v1/models": guarded }, "x", refusedFor("wrong_api_key")],
  ["the right key", { ...FREE, "/v1/models": guarded }, "k", { facts: FACTS, refusal: null }],
]) {
  test(`asking the server: ${name}`, async () => {
    assert.deepEqual(await askServer(serving(answers), "http://localhost:8998/", key), expected);
  });
}
