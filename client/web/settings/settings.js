/**
 * What a person can set, remembered by the browser: only what differs from the defaults is kept.
 *
 * Ranges are the server's (model/config.py). What was stored by another version, or by hand, is taken as
 * far as it makes sense. Pure but for the storage that is handed in. Refuses to know the form.
 */

const STORED_AS = "duet.settings";
const SEED_MOST = Number.MAX_SAFE_INTEGER;

const onOff = (initial) => ({ initial, holds: (value) => typeof value === "boolean" });
const text = (longest) => ({
  initial: "",
  holds: (value) => typeof value === "string" && value.length <= longest,
});
const number = (label, most, whole) => ({
  initial: null, // the server's own
  label,
  most,
  whole,
  holds: (value) => value === null || isWithin(value, most, whole),
});

export const SETTINGS = Object.freeze({
  echoCancellation: onOff(true),
  noiseSuppression: onOff(true),
  autoGainControl: onOff(true),
  microphone: text(400), // a device's id; "" is the system's choice
  speaker: text(400),
  record: onOff(true),
  textTemperature: number("Text temperature", 10, false),
  textTopK: number("Text top-k", 2 ** 31 - 1, true),
  audioTemperature: number("Audio temperature", 10, false),
  audioTopK: number("Audio top-k", 2 ** 31 - 1, true),
  seed: number("Seed", SEED_MOST, true),
  instructions: text(4_000),
  voice: text(200),
});

/** What a reset leaves: which devices these are is no matter of taste. */
const DEVICES = ["microphone", "speaker"];

export class Settings {
  #storage;
  #values;

  /** @param {Storage} storage */
  constructor(storage) {
    this.#storage = storage;
    this.#values = { ...defaults(), ...read(storage) };
  }

  get(name) {
    return this.#values[name];
  }

  /** @throws {RangeError} with a sentence, where the value is none for it */
  set(name, value) {
    if (!SETTINGS[name].holds(value)) throw new RangeError(`${name} cannot be ${value}`);
    this.#values[name] = value;
    this.#keep();
  }

  reset() {
    const kept = DEVICES.map((name) => [name, this.#values[name]]);
    this.#values = { ...defaults(), ...Object.fromEntries(kept) };
    this.#keep();
  }

  /** Whether a reset would change anything. */
  get isDefault() {
    const changed = Object.entries(defaults()).filter(([name, value]) => this.#values[name] !== value);
    return changed.every(([name]) => DEVICES.includes(name));
  }

  /** The sampling that session.start asks for; what is not set is left to the server. */
  get sampling() {
    return {
      text_temperature: this.get("textTemperature"),
      text_top_k: this.get("textTopK"),
      audio_temperature: this.get("audioTemperature"),
      audio_top_k: this.get("audioTopK"),
      seed: this.get("seed"),
    };
  }

  #keep() {
    const changed = Object.entries(defaults()).filter(([name, value]) => this.#values[name] !== value);
    const kept = Object.fromEntries(changed.map(([name]) => [name, this.#values[name]]));
    try {
      this.#storage.setItem(STORED_AS, JSON.stringify(kept));
    } catch {
      // a browser that keeps nothing, as in a private window: the settings hold until the page is left
    }
  }
}

/**
 * @param {string} name of a number @param {string} input as typed; "" is the server's own
 * @returns {{value: number | null, trouble: string}} trouble: what is wrong with it, or ""
 */
export function readNumber(name, input) {
  const { label, most, whole } = SETTINGS[name];
  if (input.trim() === "") return { value: null, trouble: "" };
  const value = Number(input);
  if (isWithin(value, most, whole)) return { value, trouble: "" };
  const kind = whole ? "a whole number" : "a number";
  return { value: null, trouble: `${label} must be ${kind} from 0 to ${most.toLocaleString("en")}.` };
}

function isWithin(value, most, whole) {
  if (!Number.isFinite(value) || value < 0 || value > most) return false;
  return !whole || Number.isInteger(value);
}

function defaults() {
  return Object.fromEntries(Object.entries(SETTINGS).map(([name, { initial }]) => [name, initial]));
}

function read(storage) {
  try {
    const stored = Object.entries(JSON.parse(storage.getItem(STORED_AS) ?? "{}"));
    return Object.fromEntries(stored.filter(([name, value]) => SETTINGS[name]?.holds(value)));
  } catch {
    return {};
  }
}
