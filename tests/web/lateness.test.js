// Whether a person is told that the server does not keep up.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Lateness } from "../../client/web/call/lateness.js";

/** A call in which, from `from` to `to`, every 80 ms an answer comes that took `ms`. */
class Line {
  trips = [];
  lateness = new Lateness();
  told = []; // [at, what], at each change
  #last = null;

  answers(from, to, ms) {
    for (let at = from; at < to; at += 80) {
      this.trips.push({ at, ms });
      this.look(at);
    }
    return this;
  }

  look(at) {
    const late = this.lateness.look(this.trips, at);
    if (late !== this.#last) this.told.push([at, late]);
    this.#last = late;
    return late;
  }
}

test("a server that answers within a second keeps up", () => {
  assert.deepEqual(new Line().answers(0, 20_000, 1_000).told, []);
});

test("answers that come late for five seconds are told, in whole seconds", () => {
  assert.deepEqual(new Line().answers(0, 4_960, 3_400).told, []);
  assert.deepEqual(new Line().answers(0, 8_000, 3_400).told, [[5_040, 3]]); // the first look after 5 s
});

test("a hiccup is not told, and two with a recovery between them are not added up", () => {
  const line = new Line().answers(0, 4_000, 2_000).answers(4_000, 8_000, 80).answers(8_000, 12_000, 2_000);
  assert.deepEqual(line.answers(12_000, 16_000, 80).told, []);
});

test("some late answers among many that are not are no lateness", () => {
  const line = new Line();
  for (let at = 0; at < 20_000; at += 240) line.answers(at, at + 160, 90).answers(at + 160, at + 240, 4_000);
  assert.deepEqual(line.told, []);
});

test("it is told anew as it grows, and withdrawn when most of the last two seconds were in time", () => {
  const line = new Line().answers(0, 8_000, 2_000).answers(8_000, 12_000, 4_000).answers(12_000, 16_000, 80);
  assert.deepEqual(line.told.map(([, late]) => late), [2, 4, null]);
  assert.equal(line.told.at(-1)[0], 12_960); // the 13th of 25
});

test("while no answer comes nothing is learnt, and what was told stays", () => {
  const line = new Line().answers(0, 8_000, 2_000);
  assert.equal(line.look(20_000), 2);
  assert.equal(new Line().look(20_000), null);
});
