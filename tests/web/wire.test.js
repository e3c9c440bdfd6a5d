// The page's wire against the golden messages that every language reads.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { dumpCommand, parseEvent, WireError } from "../../client/web/wire/wire.js";

const golden = (name) => JSON.parse(readFileSync(new URL(`../client/vectors/${name}`, import.meta.url), "utf-8"));
const VECTORS = golden("wire.json");
const SIDEBAND = golden("sideband.json");
/** What an observer of all calls is told; the page watches its own only. */
const OF_ALL_CALLS = ["CallStarted", "CallClosed"];
const observed = SIDEBAND.events.filter(({ message }) => !OF_ALL_CALLS.includes(message));

const hex = (bytes) => Buffer.from(bytes).toString("hex");

/** An event's fields as the golden file writes them: audio in hexadecimal. */
function meaning(fields) {
  return fields.audio instanceof Uint8Array ? { ...fields, audio: hex(fields.audio) } : fields;
}

/** Golden fields as the page gives them: audio as bytes. */
function given(fields) {
  return "audio" in fields ? { ...fields, audio: Uint8Array.from(Buffer.from(fields.audio, "hex")) } : fields;
}

for (const { name, text, fields, message } of [...VECTORS.events, ...observed]) {
  test(`an event means what its golden fields say: ${name}`, () => {
    const event = parseEvent(text);
    const type = JSON.parse(text).type;
    assert.equal(event.name, message === "UnknownEvent" ? "unknown" : type);
    assert.deepEqual(meaning(event.fields), fields);
  });
}

const written = VECTORS.commands.filter((vector) => !vector.read_only);
for (const { name, text, fields } of written.filter((vector) => vector.message !== "UnsupportedCommand")) {
  test(`a command is written as its golden text: ${name}`, () => {
    const { type } = JSON.parse(text);
    assert.deepEqual(JSON.parse(dumpCommand(type, given(fields))), JSON.parse(text));
  });
}

const refused = SIDEBAND.refused_events.filter(({ text }) => !text.includes("duet.session."));
for (const { name, text, code, param } of [...VECTORS.refused_events, ...refused]) {
  test(`a bad event is refused by code and field: ${name}`, () => {
    assert.throws(
      () => parseEvent(text),
      (error) => error instanceof WireError && error.code === code && error.param === param,
    );
  });
}

for (const text of ["", "{", "[]", "null", '"info"', "NaN"]) {
  test(`what is no JSON object is refused: ${text}`, () => {
    assert.throws(() => parseEvent(text), { code: "invalid_json" });
  });
}

test("a name that objects have by birth is no event's", () => {
  assert.equal(parseEvent('{"type":"constructor"}').name, "unknown");
});
