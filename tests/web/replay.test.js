// A conversation that stands alone: its data, its script, its file.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { bundle } from "../../client/web/keep/bundle.js";
import { fromData, toData } from "../../client/web/keep/conversation.js";
import { replayFile } from "../../client/web/keep/replay-file.js";
import { Timeline } from "../../client/web/lanes/timeline.js";
import { eventSentence, momentSentence, summary } from "../../client/web/lanes/words-of-events.js";
import { Transcript } from "../../client/web/words/transcript.js";

const sha256 = async (text) => createHash("sha256").update(text).digest("base64");
const tone = Float32Array.from({ length: 1_920 }, (_, i) => 0.1 * Math.sin(i / 5));
const silence = new Float32Array(1_920);

/** The user breaks in after a second, for two. */
function conversation() {
  const timeline = new Timeline();
  for (let n = 0; n < 50; n++) {
    timeline.frame("user", n, n >= 13 && n < 38 ? tone : silence);
    timeline.frame("agent", n, n < 20 ? tone : silence);
  }
  timeline.mark("guardrail", 1_600, { channel: "agent", text: "no-prices" });
  const transcript = new Transcript();
  transcript.agentText({ delta: " Hi </script> you", start_ms: 0, end_ms: 80 });
  return { timeline, transcript };
}

test("a conversation comes back from JSON as it was", () => {
  const { timeline, transcript } = conversation();
  const again = fromData(JSON.parse(JSON.stringify(toData(timeline, transcript))));
  assert.deepEqual(again.timeline.user.waveform.hops(), timeline.user.waveform.hops());
  assert.deepEqual(again.timeline.overlaps(0, 9_000), [{ start_ms: 1_040, end_ms: 1_600 }]);
  assert.deepEqual(again.timeline.events, [{ kind: "barge_in", channel: "user", start_ms: 1_040 }]);
  assert.equal(again.paragraphs[0].words[0].text, "Hi");
});

test("what happened is told in words", () => {
  const { timeline } = conversation();
  assert.equal(momentSentence(timeline, 1_200), "0:01.2  both speak");
  assert.equal(momentSentence(timeline, 1_050), "0:01.0  both speak · barge-in");
  assert.equal(momentSentence(timeline, 3_900), "0:03.9  nobody speaks");
  assert.equal(eventSentence(timeline.marks[0]), "0:01.6 guardrail: no-prices");
  const expected = "Two voices over 0:04: you spoke for 2 seconds, the agent for 2; 1 barge-ins, 0 backchannels.";
  assert.equal(summary(timeline), expected);
});

test("modules become one script that does what they do", async () => {
  const files = {
    "file:///a/main.js":
      'import { ONE } from "./one.js";\nimport {\n  twice as double,\n} from "./lib/math.js";\nresult = double(ONE) + 1;\n',
    "file:///a/lib/math.js":
      'import { ONE } from "../one.js";\nexport function twice(n) {\n  return n * 2 * ONE;\n}\n',
    "file:///a/one.js": "/** The first. */\nexport const ONE = 1;\n",
  };
  const script = await bundle("file:///a/main.js", async (address) => files[address]);
  assert.equal(new Function(`let result; ${script}; return result;`)(), 3);
});

test("the replay's own modules make a script that can be read", async () => {
  const entry = new URL("../../client/web/keep/replay-page.js", import.meta.url).href;
  const script = await bundle(entry, (address) => readFile(new URL(address), "utf-8"));
  assert.doesNotThrow(() => new Function(script));
  assert.doesNotMatch(script, /^(import|export) /m);
});

test("the file holds its words, lets nothing run but its own script, and names no other place", async () => {
  const { timeline, transcript } = conversation();
  const script = 'document.title = "</script>";';
  const parts = {
    title: 'Call <1> & "2"',
    style: "body { color: red }",
    script,
    data: toData(timeline, transcript),
    sound: { type: "audio/flac", base64: "AAAA" },
  };
  const html = (await replayFile(parts, sha256)).join("");
  const written = html.match(/<script>(.*)<\/script>\n<\/body>/s)[1];
  assert.match(html, new RegExp(`script-src 'sha256-${(await sha256(written)).replace(/[+/]/g, "\\$&")}'`));
  assert.match(html, /default-src 'none'/);
  assert.match(html, /<title>Call &lt;1&gt; &amp; &quot;2&quot;<\/title>/);
  assert.equal(html.match(/<\/script/g).length, 3);
  assert.doesNotMatch(html, /https?:/);
  const data = JSON.parse(html.match(/id="data">(.*?)<\/script>/s)[1]);
  assert.equal(data.paragraphs[0].words[1].text, "</script>");
});
