// Round trips, frame by frame, and the server's step time.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Histogram, median } from "../../client/web/numbers/histogram.js";
import { RoundTrip } from "../../client/web/wire/round-trip.js";
import { readSteps, stepMs } from "../../client/web/wire/step-time.js";

test("a round trip is from frame n out to the last byte of frame n in", () => {
  const trip = new RoundTrip();
  assert.equal(trip.times.quantile(0.5), null);
  trip.sent(0);
  trip.sent(80);
  trip.received(3_000, 30);
  assert.equal(trip.answeredFrames, 0);
  trip.received(2 * 3_840 - 3_000, 100);
  assert.deepEqual([trip.times.quantile(0.5), trip.times.quantile(0.95)], [20, 100]);
  assert.deepEqual(trip.recent, [{ at: 100, ms: 100 }, { at: 100, ms: 20 }]);
  assert.equal(trip.unanswered, 0);
});

test("a frame that nobody sent for is nobody's round trip, and counted", () => {
  const trip = new RoundTrip();
  trip.received(3_840, 10);
  trip.sent(100);
  trip.received(3_840, 140);
  assert.deepEqual([trip.times.quantile(0.5), trip.answeredFrames, trip.unasked], [40, 2, 1]);
});

test("of an hour the last two minutes are held for the plot, and the rest in the quantiles", () => {
  const trip = new RoundTrip();
  for (let n = 0; n < 45_000; n++) {
    trip.sent(n * 80);
    trip.received(3_840, n * 80 + (n % 100));
  }
  assert.equal(trip.recent.length, 1_500);
  assert.deepEqual([0.5, 0.95, 0.99, 1].map((q) => trip.times.quantile(q)), [49, 94, 98, 99]);
});

test("quantiles are by the nearest rank, and beyond twenty seconds they stop", () => {
  const histogram = new Histogram();
  for (const ms of [1, 2, 3, 90_000]) histogram.add(ms);
  assert.deepEqual([0, 0.25, 0.5, 0.75, 1].map((q) => histogram.quantile(q)), [1, 1, 2, 3, 20_000]);
  assert.equal(histogram.max, 90_000);
});

test("a median is the middle one, or between the two in the middle", () => {
  assert.deepEqual([[], [5], [9, 1], [3, -200, 7]].map(median), [null, 5, 5, 3]);
});

const metrics = (sum, count) => `# HELP duet_step_seconds One step of the model
duet_step_seconds_bucket{le="0.02",stage="total"} 3.0
duet_step_seconds_count{stage="encode"} 99.0
duet_step_seconds_count{stage="total"} ${count}
duet_step_seconds_sum{stage="total"} ${sum}
duet_step_seconds_created{stage="total"} 1.79e+09
`;

test("the step time is the mean of what was stepped between two looks", () => {
  const [before, after] = [metrics("0.5", "10.0"), metrics("1.1", "40.0")].map(readSteps);
  assert.deepEqual(before, { sum: 0.5, count: 10 });
  assert.ok(Math.abs(stepMs(before, after) - 20) < 1e-9);
});

test("without a step in between, or of another server, there is no step time", () => {
  const [one, other] = [metrics("0.5", "10.0"), metrics("0.1", "2.0")].map(readSteps);
  assert.deepEqual([stepMs(one, one), stepMs(one, other), stepMs(null, one)], [null, null, null]);
  assert.equal(readSteps("<html>"), null);
});
