/**
 * What an observer of a call is told beside every event of the call itself, as far as the page reads it.
 *
 * The other copy is duet_client (client/duet_client/sideband_events.py, words.py), and
 * tests/client/vectors/sideband.json holds both to the same golden messages. Pure.
 */

import { field, FLAG, INTEGER, listOf, NAME, OBJECT, oneOf, PROBABILITY, refuse, TEXT } from "./fields.js";

const must = (name, kind) => field(name, name, kind, { required: true });

const WORD = [
  must("word", NAME),
  must("start_ms", INTEGER),
  must("end_ms", INTEGER),
  must("probability", PROBABILITY),
];
const WORDS = listOf(WORD, "words", 256, ({ start_ms, end_ms }, path) => {
  if (end_ms < start_ms) refuse(`${path}.end_ms`, "at least start_ms");
});

export const SIDEBAND_EVENTS = {
  "duet.attached": [
    must("session", OBJECT),
    must("frame", INTEGER),
    must("transcript", OBJECT),
    must("ended", FLAG),
  ],
  "duet.words": [must("channel", oneOf("user", "agent")), must("words", WORDS), must("through_ms", INTEGER)],
  "duet.gap": [must("from_ms", INTEGER), must("to_ms", INTEGER)],
  "duet.guardrail": [
    must("rule", NAME),
    must("listen", NAME),
    must("action", NAME),
    must("at_ms", INTEGER),
    field("text", "text", TEXT),
  ],
};
