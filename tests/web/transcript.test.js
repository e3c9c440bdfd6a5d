// Words in paragraphs and at their times, and what was heard of them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fromDocument } from "../../client/web/words/final.js";
import { asText, clock, Transcript } from "../../client/web/words/transcript.js";

const piece = (delta, start_ms, end_ms = start_ms + 80) => ({ delta, start_ms, end_ms });
const word = (text, start_ms) => ({ word: text, start_ms, end_ms: start_ms + 200, probability: 0.9 });
const read = ({ paragraphs }) =>
  paragraphs.map(({ channel, words }) => `${channel}: ${words.map(({ text }) => text).join(" ")}`);

/** A transcript in which the agent wrote these words, one every 400 ms. */
function written(...texts) {
  const transcript = new Transcript();
  texts.forEach((text, i) => transcript.agentText(piece(` ${text}`, i * 400)));
  return transcript;
}

/** What is marked, of the only paragraph: [written, heard]. */
const marked = ({ paragraphs }) =>
  paragraphs.flatMap(({ words }) => words.filter(({ heard }) => heard != null).map((w) => [w.text, w.heard]));

test("pieces become words at their blanks, each with its time", () => {
  const transcript = new Transcript();
  for (const [text, at] of [[" Hel", 0], ["lo", 80], [",", 160], [" there", 400], [" ", 480], ["you", 560]]) {
    transcript.agentText(piece(text, at));
  }
  assert.deepEqual(
    transcript.paragraphs[0].words.map(({ text, start_ms, end_ms }) => [text, start_ms, end_ms]),
    [["Hello,", 0, 240], ["there", 400, 480], ["you", 560, 640]],
  );
});

test("a pause of a second and a half begins a paragraph, also within a word", () => {
  const transcript = new Transcript();
  transcript.agentText(piece(" Yes", 0));
  transcript.agentText(piece(" no", 1_500));
  transcript.agentText(piece("pe", 3_200));
  assert.deepEqual(read(transcript), ["agent: Yes no", "agent: pe"]);
});

test("the user's words, which come late, stand where they were said", () => {
  const transcript = new Transcript();
  transcript.agentText(piece(" Welcome", 0));
  transcript.agentText(piece(" Fine", 5_000));
  transcript.userText(piece(" How", 2_000));
  transcript.userText(piece(" are", 2_200));
  transcript.userText(piece(" you", 2_400));
  assert.deepEqual(read(transcript), ["agent: Welcome", "user: How are you", "agent: Fine"]);
});

test("a paragraph that got long ends with its sentence, at the latest at twice the length", () => {
  const long = (text) => {
    const transcript = new Transcript();
    for (let n = 0; n < 130; n++) transcript.agentText(piece(n === 70 ? " end." : ` ${text}`, n * 100));
    return transcript.paragraphs.map(({ words }) => words.length);
  };
  assert.deepEqual(long("word"), [71, 59]);
  const endless = new Transcript();
  for (let n = 0; n < 130; n++) endless.agentText(piece(" word", n * 100));
  assert.deepEqual(endless.paragraphs.map(({ words }) => words.length), [120, 10]);
});

test("a word that was heard otherwise is marked with what was heard, one that was not with nothing", () => {
  const transcript = written("I", "like", "green", "apples", "a", "lot", "today");
  const heard = [word("I", 20), word("like", 420), word("cream", 830), word("apples", 1_240), word("lot", 2_010)];
  transcript.hearing([...heard, word("today", 2_420)], 9_000);
  assert.deepEqual(marked(transcript), [["green", "cream"], ["a", ""]]);
  assert.deepEqual(transcript.agreement, { compared: 7, same: 5 });
});

test("case, punctuation and the shape of an apostrophe make no difference", () => {
  const transcript = written("Well,", "that’s", "fine.", "–");
  transcript.hearing([word("well", 0), word("That's", 400), word("fine", 800)], 9_000);
  assert.deepEqual(marked(transcript), []);
  assert.deepEqual(transcript.agreement, { compared: 3, same: 3 });
});

test("a word that was heard in addition makes its neighbours no different", () => {
  const transcript = written("one", "two", "three");
  transcript.hearing([word("one", 0), word("uh", 300), word("two", 400), word("three", 800)], 9_000);
  assert.deepEqual(marked(transcript), []);
});

test("what was heard bit by bit gives the verdicts of what was heard at once, and none too early", () => {
  const texts = "the quick brown fox jumps over the lazy dog and runs away from the old house".split(" ");
  const heard = texts.filter((_, i) => i !== 4).map((text) => word(text === "lazy" ? "hazy" : text, 0));
  let n = 0;
  texts.forEach((_, i) => i !== 4 && (heard[n++].start_ms = i * 400 + 30));
  const transcript = written(...texts);
  transcript.hearing(heard.slice(0, 3), 1_300);
  assert.equal(transcript.agreement.compared, 0);
  for (let at = 3; at < heard.length; at++) transcript.hearing([heard[at]], heard[at].start_ms + 250);
  transcript.hearing([], 20_000);
  assert.deepEqual(marked(transcript), [["jumps", ""], ["lazy", "hazy"]]);
  assert.deepEqual(transcript.agreement, { compared: 16, same: 14 });
});

test("a word far away in time is another word", () => {
  const transcript = written("yes");
  transcript.hearing([word("yes", 8_000)], 20_000);
  assert.deepEqual(marked(transcript), [["yes", ""]]);
});

test("an hour of words that nobody hears is settled as it comes and held nowhere", () => {
  const transcript = new Transcript();
  for (let n = 0; n < 9_000; n++) {
    transcript.agentText(piece(` w${n}`, n * 400));
    if (n % 5 === 0) transcript.hearing([], n * 400);
  }
  assert.ok(transcript.agreement.compared > 8_900);
});

test("as text it is a line for each paragraph", () => {
  const transcript = written("Good", "day.");
  transcript.userText(piece(" Hello", 65_000));
  assert.equal(asText(transcript.paragraphs), "[0:00] Agent: Good day.\n[1:05] You: Hello\n");
});

test("a time is minutes and seconds, and hours where there are any", () => {
  assert.deepEqual([0, 65_900, 3_600_000, 36_061_000].map(clock), ["0:00", "1:05", "1:00:00", "10:01:01"]);
});

const heardWords = (text, start_ms) => text.split(" ").map((one, i) => word(one, start_ms + i * 300));
const utterance = (channel, text, start_ms) => {
  const words = heardWords(text, start_ms);
  return { channel, start_ms, end_ms: words.at(-1).end_ms, text, words };
};

test("the server's final transcript is shown as one that came live", () => {
  const agent_text = "Good day sir".split(" ").map((text, i) => ({ text, start_ms: i * 300, end_ms: i * 300 + 80 }));
  const utterances = [utterance("agent", "good bay sir", 40), utterance("user", "hello there", 4_000)];
  const transcript = fromDocument({ status: "final", utterances, agent_text });
  assert.deepEqual(read(transcript), ["agent: Good day sir", "user: hello there"]);
  assert.deepEqual(marked(transcript), [["day", "bay"]]);
  assert.deepEqual(transcript.agreement, { compared: 3, same: 2 });
});

test("a long final transcript is compared to its end", () => {
  const texts = Array.from({ length: 1_000 }, (_, i) => `w${i}`);
  const agent_text = texts.map((text, i) => ({ text, start_ms: i * 300, end_ms: i * 300 + 80 }));
  const utterances = [utterance("agent", texts.join(" "), 0)];
  const { agreement } = fromDocument({ status: "final", utterances, agent_text });
  assert.deepEqual(agreement, { compared: 1_000, same: 1_000 });
});

test("a transcript of which the server keeps no words is none", () => {
  assert.equal(fromDocument({ status: "final", keep: "metadata" }), null);
});
