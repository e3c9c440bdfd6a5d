/**
 * How a message's fields are read and written: the machinery under the tables of the wire.
 *
 * Pure. Refuses to know which messages exist.
 */

/** A message that breaks the wire's rules. param: dotted path of the offending field, or null. */
export class WireError extends Error {
  constructor(code, message, param = null) {
    super(message);
    this.code = code;
    this.param = param;
  }
}

const asItIs = (value) => value;

/** One field of a message. kind: how it is read from JSON and written to it, where that takes anything. */
export function field(name, path, kind = {}, { required = false, nullable = false } = {}) {
  return { name, keys: path.split("."), path, read: asItIs, write: asItIs, ...kind, required, nullable };
}

/** The fields found in a message; an optional one that is absent is null. */
export function readFields(fields, message) {
  const found = {};
  for (const { name, keys, path, read, required } of fields) {
    const value = lookUp(message, keys);
    if (value === undefined && required) throw new WireError("missing_field", `${path} is missing`, path);
    found[name] = !required && (value ?? null) === null ? null : read(value, path);
  }
  return found;
}

/** The JSON object that holds the fields; those that are null are left out unless nullable. */
export function writeFields(fields, given) {
  const message = {};
  for (const { name, keys, write, nullable } of fields) {
    const value = given[name] ?? null;
    const written = value === null ? null : write(value);
    if (written === null && !nullable) continue;
    let place = message;
    for (const key of keys.slice(0, -1)) place = place[key] ??= {};
    place[keys.at(-1)] = written;
  }
  return message;
}

/** undefined where it is not there; a null on the way there is an absence too. */
function lookUp(message, keys) {
  let value = message;
  for (const [depth, key] of keys.entries()) {
    if (value === null) return undefined;
    if (!isObject(value)) refuse(keys.slice(0, depth).join("."), "an object");
    if (!Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

// -- kinds ------------------------------------------------------------------------------------------

export const TEXT = kind("a string of well-formed Unicode", isText);
export const NAME = kind("a string that is not empty", (value) => isText(value) && value !== "");
export const NUMBER = kind("a number from 0", (value) => Number.isFinite(value) && value >= 0);
export const INTEGER = kind("an integer from 0", (value) => Number.isInteger(value) && value >= 0);
export const PROBABILITY = kind("a number from 0 to 1", (value) => value >= 0 && value <= 1 && Number.isFinite(value));
export const FLAG = kind("true or false", (value) => typeof value === "boolean");
export const OBJECT = kind("an object", isObject);
export const AUDIO = { read: fromBase64, write: toBase64 };

/** One of a few words. */
export function oneOf(...allowed) {
  return kind(`one of ${allowed.join(", ")}`, (value) => allowed.includes(value));
}

/** A list of objects with these fields. check: what else must hold of each. */
export function listOf(fields, name, most, check) {
  const read = (value, path) => {
    if (!Array.isArray(value) || value.length > most) refuse(path, `a list of at most ${most} ${name}`);
    return value.map((each, at) => readOne(fields, each, `${path}.${at}`, check));
  };
  return { read };
}

function readOne(fields, value, path, check) {
  if (!isObject(value)) refuse(path, "an object");
  try {
    const found = readFields(fields, value);
    check(found, path);
    return found;
  } catch (error) {
    throw error.param?.startsWith(path) ? error : within(error, path);
  }
}

/** The same trouble, with the path of the list's item in front. */
function within({ code, message, param }, path) {
  return new WireError(code, `${path}.${message}`, `${path}.${param}`);
}

function kind(mustBe, holds) {
  return { read: (value, path) => (holds(value) ? value : refuse(path, mustBe)) };
}

export function refuse(path, mustBe) {
  throw new WireError("invalid_value", `${path} must be ${mustBe}`, path);
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value) {
  return typeof value === "string" && !/\p{Surrogate}/u.test(value); // with u, only lone ones match
}

/** Strict where atob is lenient: whole groups of four, padded, the standard alphabet. */
function fromBase64(value, path) {
  const whole = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
  if (typeof value !== "string" || !whole.test(value)) {
    throw new WireError("invalid_audio", `${path} is not base64`, path);
  }
  return Uint8Array.from(atob(value), (character) => character.charCodeAt(0));
}

/** @param {Uint8Array} bytes */
function toBase64(bytes) {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
