// Round trips, frame by frame.

import assert from "node:assert/strict";
import { test } from "node:test";

import { RoundTrip } from "../../client/web/round-trip.js";

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
