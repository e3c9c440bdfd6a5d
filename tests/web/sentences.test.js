// What a person is told.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  endingSentence,
  insecureSentence,
  microphoneSentence,
  noticeSentence,
  refusalSentence,
  runningSentence,
} from "../../client/web/call/sentences.js";

test("a full server is told with its places, and one place is told as one", () => {
  assert.match(refusalSentence({ type: "server_full", capacity: 8 }), /full: all 8 places are taken/);
  assert.match(refusalSentence({ type: "server_full", capacity: 1 }), /one call at a time/);
});

test("a refusal that this page does not know is told in the server's words", () => {
  const sentence = refusalSentence({ type: "new", message: "come on Monday" });
  assert.equal(sentence, "The server refuses calls: come on Monday.");
});

test("hanging up is no trouble, losing the network is", () => {
  assert.equal(endingSentence({ kind: "close_requested", detail: null }).isTrouble, false);
  assert.equal(endingSentence({ kind: "connection_lost", detail: null }).isTrouble, true);
});

for (const [recorded, expected] of [
  [true, /was lost\. Words and picture stay here, the recording on the server\. Start the call again/],
  [false, /was lost\. Words and picture stay here; there is no recording\. Start the call again/],
]) {
  test(`a lost connection is told with what was kept: ${recorded ? "recorded" : "not recorded"}`, () => {
    assert.match(endingSentence({ kind: "connection_lost", detail: null }, { recorded }).text, expected);
  });
}

test("of a call that never began nothing is said to be kept", () => {
  const { text } = endingSentence({ kind: "no_answer", detail: null }, null);
  assert.equal(text, "The server stopped answering. Start the call again in a moment.");
});

test("a page without HTTPS says how it gets a microphone", () => {
  const sentence = insecureSentence({ hostname: "gpu-box", port: "8998" });
  assert.match(sentence, /ssh -L 8998:localhost:8998 gpu-box/);
});

for (const [name, expected] of [
  ["NotFoundError", /^No microphone was found/],
  ["NotAllowedError", /^The microphone was refused/],
  ["NotReadableError", /^The microphone is in use elsewhere/],
]) {
  test(`a microphone that cannot be had is told with what to do: ${name}`, () => {
    assert.match(microphoneSentence(new DOMException("no", name)), expected);
  });
}

test("any other trouble with the audio is told in the browser's words", () => {
  const sentence = microphoneSentence(new DOMException("it hums", "AbortError"));
  assert.equal(sentence, "The audio could not be opened: it hums.");
});

test("answers that come late are told with how late, and that one is muted with them", () => {
  assert.equal(runningSentence(false, 3), "The server does not keep up: answers come 3 s late.");
  assert.match(runningSentence(true, 3), /3 s late\. You are muted\.$/);
  assert.match(runningSentence(false, null), /^Connected\. Speak/);
  assert.match(runningSentence(true, null), /^Connected, muted/);
});

test("a server that drains says so, and another notice is the server's sentence, with one full stop", () => {
  assert.match(noticeSentence("draining", "..."), /stopping soon/);
  assert.equal(noticeSentence("other", "It rains."), "The server says: It rains.");
});
