// The small pure parts of the page: frames, samples, levels, round trips, paragraphs, addresses, sentences.

import assert from "node:assert/strict";
import { test } from "node:test";

import { canBeKey, headers, sessionUrl, subprotocols } from "../../client/web/address.js";
import { Framer } from "../../client/web/frames.js";
import { decibels, onMeter, peak } from "../../client/web/level.js";
import { packS16, unpackS16 } from "../../client/web/pcm.js";
import { RoundTrip } from "../../client/web/round-trip.js";
import { endingSentence, insecureSentence, refusalSentence } from "../../client/web/sentences.js";
import { askServer } from "../../client/web/server-facts.js";
import { clock, Paragraphs } from "../../client/web/transcript.js";

const bytesOf = (buffer) => [...new Uint8Array(buffer)];

test("samples are cut into frames of 1,920, however they come", () => {
  const framer = new Framer();
  const ramp = Float32Array.from({ length: 2 * 1_920 + 5 }, (_, i) => i);
  const frames = [1, 700, 3_000, 144].reduce(
    ({ at, whole }, count) => ({ at: at + count, whole: [...whole, ...framer.push(ramp.subarray(at, at + count))] }),
    { at: 0, whole: [] },
  ).whole;
  assert.equal(frames.length, 2);
  assert.deepEqual(frames[0], ramp.subarray(0, 1_920));
  assert.deepEqual(frames[1], ramp.subarray(1_920, 3_840));
});

test("samples are packed little-endian, clipped, and no number is silence", () => {
  const packed = packS16(Float32Array.of(0, 0.5, -1, 1, 7, -Infinity, NaN, 1 / 32_768));
  const expected = [0, 0, 0, 0x40, 0, 0x80, 0xff, 0x7f, 0xff, 0x7f, 0, 0x80, 0, 0, 1, 0];
  assert.deepEqual(bytesOf(packed), expected);
});

test("samples survive the way there and back", () => {
  const samples = Float32Array.of(0, 0.5, -1, 0.25, -32_767 / 32_768);
  assert.deepEqual(unpackS16(packS16(samples)), samples);
});

test("half a sample is refused", () => {
  assert.throws(() => unpackS16(new ArrayBuffer(3)), RangeError);
});

test("a level is the largest magnitude, in dB, on a meter of 60 dB", () => {
  assert.equal(peak(Float32Array.of(0.25, -0.5, 0)), 0.5);
  assert.equal(decibels(0.1), -20);
  assert.equal(decibels(0), -60);
  assert.equal(decibels(2), 0);
  assert.deepEqual([-60, -30, 0].map(onMeter), [0, 0.5, 1]);
});

test("a round trip is from frame n out to the last byte of frame n in", () => {
  const trip = new RoundTrip();
  assert.equal(trip.quantile(0.5), null);
  trip.sent(0);
  trip.sent(80);
  trip.received(3_000, 30);
  assert.equal(trip.answeredFrames, 0);
  trip.received(2 * 3_840 - 3_000, 100);
  assert.deepEqual([trip.quantile(0.5), trip.quantile(0.95)], [20, 100]);
  assert.equal(trip.unanswered, 0);
});

test("a frame that nobody sent for is nobody's round trip", () => {
  const trip = new RoundTrip();
  trip.received(3_840, 10);
  trip.sent(100);
  trip.received(3_840, 140);
  assert.deepEqual([trip.quantile(0.5), trip.answeredFrames], [40, 2]);
});

test("quantiles are of the last 250 answers", () => {
  const trip = new RoundTrip();
  for (let n = 0; n < 250 + 100; n++) {
    trip.sent(0);
    trip.received(3_840, n + 1);
  }
  assert.deepEqual([trip.quantile(0), trip.quantile(0.5), trip.quantile(1)].slice(1), [225, 350]);
});

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

test("the session's address lies beside the page, secure where the page is, without a key", () => {
  const expected = "ws://localhost:8998/v1/live/sessions?audio=binary";
  assert.equal(sessionUrl("http://localhost:8998/"), expected);
  assert.equal(
    sessionUrl("https://example.org/duet/index.html?x=1#y"),
    "wss://example.org/duet/v1/live/sessions?audio=binary",
  );
});

test("a key is offered as unpadded base64url beside the real subprotocol", () => {
  assert.deepEqual(subprotocols("k?y>~"), ["duet", "duet.key.az95Pn4"]);
  assert.deepEqual(subprotocols(null), []);
  assert.deepEqual(headers("k"), { Authorization: "Bearer k" });
  assert.deepEqual(headers(null), {});
});

test("a key is printable ASCII without blanks", () => {
  assert.deepEqual(["sk-1~", "", "a b", "schlüssel"].map(canBeKey), [true, false, false, false]);
});

test("a full server is told with its places, and one place is told as one", () => {
  assert.match(refusalSentence({ type: "server_full", capacity: 8 }), /full: all 8 places are taken/);
  assert.match(refusalSentence({ type: "server_full", capacity: 1 }), /one call at a time/);
});

test("a refusal that this page does not know is told in the server's words", () => {
  assert.equal(refusalSentence({ type: "new", message: "come on Monday" }), "The server refuses calls: come on Monday.");
});

test("hanging up is no trouble, losing the network is", () => {
  assert.equal(endingSentence({ kind: "close_requested", detail: null }).isTrouble, false);
  assert.equal(endingSentence({ kind: "connection_lost", detail: null }).isTrouble, true);
});

test("a page without HTTPS says how it gets a microphone", () => {
  const sentence = insecureSentence({ hostname: "gpu-box", port: "8998" });
  assert.match(sentence, /ssh -L 8998:localhost:8998 gpu-box/);
});

/** A server that answers these paths so, and no other. */
const serving = (answers) => async (url, { headers }) => {
  const path = url.pathname;
  if (!(path in answers)) throw new TypeError("failed to fetch");
  const [status, body] = answers[path](headers);
  return new Response(JSON.stringify(body), { status });
};
const MODEL = { id: "tiny", duet: { trained: false, capacity: 2, active: 1 } };
const FREE = { "/v1/models": () => [200, { data: [MODEL] }], "/ready": () => [200, { status: "ready" }] };
const FACTS = { name: "tiny", trained: false, capacity: 2, active: 1 };
const FULL = { error: { type: "server_full", message: "full", active: 2, capacity: 2 } };
const guarded = ({ Authorization }) => [Authorization === "Bearer k" ? 200 : 401, { data: [MODEL] }];

for (const [name, answers, key, expected] of [
  ["a free server", FREE, null, { facts: FACTS, refusal: null }],
  ["a full one", { ...FREE, "/ready": () => [503, FULL] }, null, { facts: FACTS, refusal: FULL.error }],
  ["none", {}, null, { facts: null, refusal: { type: "unreachable" } }],
  ["one that asks for a key", { ...FREE, "/v1/models": guarded }, null, { facts: null, refusal: { type: "missing_api_key" } }],
  ["a wrong key", { ...FREE, "/v1/models": guarded }, "x", { facts: null, refusal: { type: "wrong_api_key" } }],
  ["the right key", { ...FREE, "/v1/models": guarded }, "k", { facts: FACTS, refusal: null }],
]) {
  test(`asking the server: ${name}`, async () => {
    assert.deepEqual(await askServer(serving(answers), "http://localhost:8998/", key), expected);
  });
}
