/**
 * How long the server's model takes for a step, read from what the server counts for Prometheus.
 *
 * The counters are of the whole server since its start, so two looks at them make one number: of the time
 * between. Pure. Refuses to know how they are fetched.
 */

const LINE = /^duet_step_seconds_(sum|count)\{[^}]*stage="total"[^}]*\} (\S+)$/gm;

/** @param {string} text of /metrics @returns {{sum: number, count: number} | null} seconds, and steps */
export function readSteps(text) {
  const found = Object.fromEntries([...text.matchAll(LINE)].map(([, name, value]) => [name, Number(value)]));
  return Number.isFinite(found.sum) && Number.isFinite(found.count) ? found : null;
}

/** @returns {number | null} the mean step between two looks, in ms; null where there was none */
export function stepMs(before, after) {
  if (!before || !after || !(after.count > before.count)) return null;
  return ((after.sum - before.sum) * 1000) / (after.count - before.count);
}
