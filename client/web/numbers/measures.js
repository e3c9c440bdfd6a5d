/**
 * What was measured of a call, as numbers to be shown and as an object to be copied.
 *
 * Pure. Refuses to know where each number comes from.
 */

import { median } from "./histogram.js";

/**
 * @param {object} of {roundTrip, playout, timeline, transcript, stepMs, outputMs, elapsedMs}; playout: the
 *   playout buffer's stats; outputMs: from the buffer to the ear, as the browser estimates it
 * @returns {Record<string, number | null>} null where there is nothing yet
 */
export function measure({ roundTrip, playout, timeline, transcript, stepMs, outputMs, elapsedMs }) {
  const { times } = roundTrip;
  const gaps = timeline.gaps.map(({ gap_ms }) => gap_ms);
  return {
    elapsedMs,
    p50Ms: times.quantile(0.5),
    p95Ms: times.quantile(0.95),
    p99Ms: times.quantile(0.99),
    playoutMs: playout.playedMs > 0 ? playout.delayMs + outputMs : null,
    underruns: playout.underruns,
    skippedMs: playout.skippedMs,
    stepMs,
    gapMs: median(gaps),
    gaps: gaps.length,
    bargeIns: timeline.events.filter(({ kind }) => kind === "barge_in").length,
    sentFrames: roundTrip.sentFrames,
    answeredFrames: roundTrip.answeredFrames,
    paddedFrames: roundTrip.unasked,
    compared: transcript.agreement.compared,
    heardAsWritten: transcript.agreement.same,
  };
}

/**
 * The same, for a notebook: whole, rounded, and with what it was measured on.
 *
 * @param {object} numbers as `measure` gives them
 * @param {object} call {session, model, trained, sampling, startedUnixMs, userAgent}
 */
export function asObject(numbers, call, timeline, roundTrip) {
  return {
    session: call.session,
    model: call.model,
    trained: call.trained,
    sampling: call.sampling,
    started: new Date(call.startedUnixMs).toISOString(),
    browser: call.userAgent,
    duration_ms: round(numbers.elapsedMs),
    round_trip_ms: {
      p50: numbers.p50Ms,
      p95: numbers.p95Ms,
      p99: numbers.p99Ms,
      max: round(roundTrip.times.max),
      n: roundTrip.times.count,
    },
    playout: {
      delay_ms: round(numbers.playoutMs),
      underruns: numbers.underruns,
      skipped_ms: round(numbers.skippedMs),
    },
    server_step_ms: round(numbers.stepMs, 2),
    response_gap_ms: { median: numbers.gapMs, all: timeline.gaps },
    frames: {
      sent: numbers.sentFrames,
      answered: numbers.answeredFrames,
      padded_by_server: numbers.paddedFrames,
    },
    words: { compared: numbers.compared, heard_as_written: numbers.heardAsWritten },
    events: timeline.events,
  };
}

function round(value, digits = 0) {
  return value === null ? null : Number(value.toFixed(digits));
}
