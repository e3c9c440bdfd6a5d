// What is remembered of the settings, and what cannot be set.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readNumber, Settings } from "../../client/web/settings/settings.js";

/** A browser's storage, as far as it is used. */
class Storage {
  held = new Map();
  getItem = (name) => this.held.get(name) ?? null;
  setItem = (name, value) => this.held.set(name, value);
}

const holding = (value) => {
  const storage = new Storage();
  storage.setItem("duet.settings", value);
  return storage;
};

test("a new browser has the defaults: everything that cleans the microphone is on", () => {
  const settings = new Settings(new Storage());
  const names = ["echoCancellation", "noiseSuppression", "autoGainControl", "record"];
  assert.deepEqual(names.map((name) => settings.get(name)), [true, true, true, true]);
  assert.deepEqual(new Set(Object.values(settings.sampling)), new Set([null]));
  assert.equal(settings.isDefault, true);
});

test("what was set is remembered, and only that", () => {
  const storage = new Storage();
  const settings = new Settings(storage);
  settings.set("seed", 7);
  settings.set("echoCancellation", false);
  settings.set("noiseSuppression", false);
  settings.set("noiseSuppression", true);
  assert.deepEqual(JSON.parse(storage.getItem("duet.settings")), { echoCancellation: false, seed: 7 });
  const again = new Settings(storage);
  assert.deepEqual([again.get("seed"), again.sampling.seed, again.isDefault], [7, 7, false]);
});

test("a reset brings the defaults back, but leaves the devices", () => {
  const settings = new Settings(new Storage());
  settings.set("microphone", "abc");
  settings.set("textTemperature", 0.2);
  settings.reset();
  assert.deepEqual([settings.get("textTemperature"), settings.get("microphone")], [null, "abc"]);
  assert.equal(settings.isDefault, true);
});

for (const stored of ["{", "null", "[]", '"x"', "7", '{"seed": -1, "record": "yes", "later": 1}']) {
  test(`what makes no sense is passed over: ${stored}`, () => {
    const settings = new Settings(holding(stored));
    assert.deepEqual([settings.get("seed"), settings.get("record")], [null, true]);
    assert.equal(settings.isDefault, true);
  });
}

test("a browser that keeps nothing still sets for this page", () => {
  const closed = {
    getItem() {
      throw new DOMException("no", "SecurityError");
    },
    setItem() {
      throw new DOMException("no", "QuotaExceededError");
    },
  };
  const settings = new Settings(closed);
  settings.set("seed", 3);
  assert.equal(settings.get("seed"), 3);
});

for (const [name, input, value, trouble] of [
  ["textTemperature", "", null, ""],
  ["textTemperature", " 0.7 ", 0.7, ""],
  ["textTemperature", "11", null, "Text temperature must be a number from 0 to 10."],
  ["textTopK", "2.5", null, "Text top-k must be a whole number from 0 to 2,147,483,647."],
  ["seed", "9007199254740991", 9007199254740991, ""],
  ["seed", "many", null, "Seed must be a whole number from 0 to 9,007,199,254,740,991."],
]) {
  test(`a number as typed: ${name} "${input}"`, () => {
    assert.deepEqual(readNumber(name, input), { value, trouble });
  });
}
