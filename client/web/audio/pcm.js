/**
 * Samples as they travel: 16-bit signed little-endian, mono.
 *
 * Pure. Refuses to know rates and frames.
 */

const FULL_SCALE = 32_768;

/**
 * @param {Float32Array} samples nominally in [-1, 1]; what is beyond is clipped, what is no number is 0
 * @returns {ArrayBuffer} two bytes a sample
 */
export function packS16(samples) {
  const view = new DataView(new ArrayBuffer(samples.length * 2));
  for (let i = 0; i < samples.length; i++) view.setInt16(i * 2, toS16(samples[i]), true);
  return view.buffer;
}

/**
 * @param {ArrayBuffer} bytes
 * @returns {Float32Array} one sample for every two bytes
 * @throws {RangeError} where half a sample is left over
 */
export function unpackS16(bytes) {
  if (bytes.byteLength % 2) throw new RangeError("audio must have an even number of bytes");
  const view = new DataView(bytes);
  const samples = new Float32Array(bytes.byteLength / 2);
  for (let i = 0; i < samples.length; i++) samples[i] = view.getInt16(i * 2, true) / FULL_SCALE;
  return samples;
}

function toS16(sample) {
  if (Number.isNaN(sample)) return 0;
  return Math.max(-FULL_SCALE, Math.min(FULL_SCALE - 1, Math.round(sample * FULL_SCALE)));
}
