// One call as a state machine: what is sent and when, and which ending every kind of loss gets.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  CLOSE_TIMEOUT_MS,
  LAST_WORDS_MS,
  LiveSession,
  START_TIMEOUT_MS,
  UNANSWERED_LIMIT,
} from "../../client/web/call/session.js";

/** Carries nothing out and remembers everything. */
class Out {
  done = [];
  send = (data) => this.done.push(["send", typeof data === "string" ? JSON.parse(data) : data.byteLength]);
  began = ({ id }) => this.done.push(["started", id]);
  play = (index, samples) => this.done.push(["play", index, samples.length]);
  agentText = ({ delta }) => this.done.push(["agent", delta]);
  userText = ({ delta }) => this.done.push(["user", delta]);
  notice = (code) => this.done.push(["notice", code]);
  missed = (code, message, span) => this.done.push(["missed", code, message, span]);
  phase = (name) => this.done.push(["phase", name]);
  end = ({ kind, detail }) => this.done.push(["end", kind, detail]);

  of(what) {
    return this.done.filter(([name]) => name === what).map(([, value]) => value);
  }
}

const event = (type, fields) => JSON.stringify({ type, event_id: "ev_1", ...fields });
const STARTED = event("session.started", { session: { id: "sess_1" } });
const closedFor = (reason) => event("session.closed", { reason, session: {}, usage: { seconds: 1 } });
const errorOf = (message) => event("error", { error: { type: "server_error", code: "x", message } });
const info = (code) => event("info", { code, message: "why" });
const frame = () => new ArrayBuffer(3_840);

const ASKED = { store: true, instructions: null, voice: null, duet: { seed: 7, text_top_k: null } };

function opened() {
  const out = new Out();
  const session = new LiveSession(out, ASKED, 0);
  session.opened();
  return { out, session };
}

function running() {
  const { out, session } = opened();
  session.text(STARTED, 0);
  return { out, session };
}

test("the first message is session.start, in the page's format, with what was set and nothing else", () => {
  const format = { type: "audio/pcm", rate: 24_000 };
  const start = { model: "default", audio: { format }, store: true, duet: { seed: 7 } };
  assert.deepEqual(opened().out.done, [["send", { type: "session.start", session: start }]]);
});

test("no audio is sent before the session has started", () => {
  const { out, session } = opened();
  session.frame(frame(), 1);
  session.text(STARTED, 2);
  session.frame(frame(), 3);
  assert.deepEqual(out.done.slice(1), [["started", "sess_1"], ["phase", "running"], ["send", 3_840]]);
});

test("the agent's audio is played frame by frame, however it comes, and both sides' words are shown", () => {
  const { out, session } = running();
  const span = { start_ms: 0, end_ms: 80 };
  session.audio(new ArrayBuffer(5_000), 1);
  session.text(event("session.output_transcript.delta", { delta: " hi", ...span }), 1);
  session.text(event("session.input_transcript.delta", { delta: " ho", ...span }), 1);
  session.audio(new ArrayBuffer(2_680), 2);
  assert.deepEqual(out.done.slice(3), [["play", 0, 1_920], ["agent", " hi"], ["user", " ho"], ["play", 1, 1_920]]);
});

test("the user's frames stand behind those that the server filled in", () => {
  const { session } = running();
  assert.deepEqual([session.frame(frame(), 1), session.frame(frame(), 2)], [0, 1]);
  for (let n = 0; n < 10; n++) session.audio(frame(), 3); // two answers, and eight of silence that it made
  assert.deepEqual([session.frame(frame(), 4), session.frame(frame(), 5)], [10, 11]);
  assert.equal(session.roundTrip.unasked, 8);
});

test("hanging up asks for the close, plays nothing more, and ends when the server has closed", () => {
  const { out, session } = running();
  session.hangUp(10);
  session.audio(frame(), 11);
  session.frame(frame(), 11);
  session.text(closedFor("close_requested"), 12);
  session.closed(1000);
  assert.deepEqual(out.done.slice(3), [
    ["send", { type: "session.close" }],
    ["phase", "closing"],
    ["end", "close_requested", null],
  ]);
});

test("a server that does not close in time is left", () => {
  const { out, session } = running();
  session.hangUp(1_000);
  session.tick(1_000 + CLOSE_TIMEOUT_MS - 1);
  assert.deepEqual(out.of("end"), []);
  session.tick(1_000 + CLOSE_TIMEOUT_MS);
  assert.deepEqual(out.of("end"), ["close_requested"]);
});

test("a slow server is left within three seconds, the tick that finds it out included", () => {
  assert.ok(CLOSE_TIMEOUT_MS + 250 <= 3_000);
});

test("after hanging up the agent's last words are shown for one second, the user's until the end", () => {
  const { out, session } = running();
  const says = (delta) => event("session.output_transcript.delta", { delta, start_ms: 0, end_ms: 80 });
  session.hangUp(5_000);
  session.text(says(" bye"), 5_000 + LAST_WORDS_MS - 1);
  session.text(says(" and more"), 5_000 + LAST_WORDS_MS);
  assert.equal(LAST_WORDS_MS, 1_000);
  session.text(event("session.input_transcript.delta", { delta: " yes", start_ms: 0, end_ms: 80 }), 9_000);
  assert.deepEqual(out.of("agent"), [" bye"]);
  assert.deepEqual(out.of("user"), [" yes"]);
});

test("a server that never starts the session is left", () => {
  const { out, session } = opened();
  session.tick(START_TIMEOUT_MS);
  assert.deepEqual(out.of("end"), ["no_answer"]);
});

test("a server that answers no frame for ten seconds counts as gone", () => {
  const { out, session } = running();
  for (let n = 0; n < UNANSWERED_LIMIT; n++) session.frame(frame(), n);
  assert.deepEqual(out.of("end"), []);
  session.frame(frame(), UNANSWERED_LIMIT);
  assert.deepEqual(out.of("end"), ["no_answer"]);
});

test("a server that still answers, ten seconds late, is called too slow and not gone", () => {
  const { out, session } = running();
  for (let n = 0; n < UNANSWERED_LIMIT; n++) session.frame(frame(), n * 80);
  session.audio(frame(), UNANSWERED_LIMIT * 80);
  session.frame(frame(), UNANSWERED_LIMIT * 80);
  assert.deepEqual(out.of("end"), []);
  session.frame(frame(), (UNANSWERED_LIMIT + 1) * 80);
  assert.deepEqual(out.of("end"), ["too_slow"]);
});

test("muting tells the server", () => {
  const { out, session } = running();
  session.mute(true);
  session.mute(false);
  const types = out.of("send").slice(1).map(({ type }) => type);
  assert.deepEqual(types, ["session.input_audio.mute", "session.input_audio.unmute"]);
});

for (const [name, messages, code, kind, detail] of [
  ["a lost network", [], 1006, "connection_lost", null],
  ["a server that stops at once", [], 1001, "shut_down", null],
  ["a place that somebody else took", [], 1013, "server_full", null],
  ["a drained server", [info("draining"), closedFor("expired")], 1001, "draining", null],
  ["silence for too long", [info("idle_timeout"), closedFor("expired")], 1000, "idle_timeout", null],
  ["the longest time allowed", [closedFor("expired")], 1000, "expired", null],
  ["a guardrail", [closedFor("content")], 1008, "content", null],
  ["a hang-up from elsewhere", [closedFor("remote_hangup")], 1000, "remote_hangup", null],
  ["a model that failed", [errorOf("it broke"), closedFor("connection_lost")], 1011, "failed", "it broke"],
]) {
  test(`the end that ${name} brings is told as ${kind}`, () => {
    const { out, session } = running();
    for (const message of messages) session.text(message, 1);
    session.closed(code);
    assert.deepEqual(out.done.at(-1), ["end", kind, detail]);
  });
}

test("what of the user's audio was not heard is told with its span, and is no notice", () => {
  const { out, session } = running();
  session.text(event("info", { code: "input_filled", message: "none came", start_ms: 800, end_ms: 2_800 }), 1);
  session.text(event("info", { code: "input_dropped", message: "too late", start_ms: 4_000, end_ms: 4_000 }), 2);
  assert.deepEqual(out.done.slice(-2), [
    ["missed", "input_filled", "none came", { start_ms: 800, end_ms: 2_800 }],
    ["missed", "input_dropped", "too late", { start_ms: 4_000, end_ms: 4_000 }],
  ]);
});

test("an error after which the call went on does not explain a later loss", () => {
  const { out, session } = running();
  session.text(errorOf("a trifle"), 1);
  session.audio(frame(), 2);
  session.closed(1006);
  assert.deepEqual(out.done.at(-1), ["end", "connection_lost", null]);
});

test("a refused start is told in the server's words", () => {
  const { out, session } = opened();
  session.text(errorOf("no such model"), 1);
  session.closed(1008);
  assert.deepEqual(out.done.at(-1), ["end", "failed", "no such model"]);
});

test("a connection that never opened is told as that", () => {
  const out = new Out();
  new LiveSession(out, ASKED, 0).closed(1006);
  assert.deepEqual(out.of("end"), ["not_opened"]);
});

test("a message that breaks the wire ends the call, once", () => {
  const { out, session } = running();
  session.text("{", 1);
  session.text("{", 2);
  session.closed(1006);
  assert.deepEqual(out.of("end"), ["not_understood"]);
});

test("an event of a later server is passed over", () => {
  const { out, session } = running();
  session.text(event("session.paused", {}), 1);
  assert.deepEqual(out.done.length, 3);
});
