/**
 * How loud a piece of audio is, and where that stands on a meter.
 *
 * Pure. Refuses to know how a meter looks.
 */

/** The meter's lower end, in dB below full scale. */
export const FLOOR_DB = -60;

/** @param {Float32Array} samples @returns {number} the largest magnitude */
export function peak(samples) {
  let largest = 0;
  for (const sample of samples) largest = Math.max(largest, Math.abs(sample));
  return largest;
}

/** @param {number} magnitude full scale is 1 @returns {number} dB, from FLOOR_DB to 0 */
export function decibels(magnitude) {
  if (!(magnitude > 0)) return FLOOR_DB;
  return Math.min(0, Math.max(FLOOR_DB, 20 * Math.log10(magnitude)));
}

/** @param {number} db @returns {number} place on the meter, from 0 to 1 */
export function onMeter(db) {
  return 1 - db / FLOOR_DB;
}
