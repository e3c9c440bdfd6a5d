/**
 * The Live wire in the page's language: commands as text, text as events.
 *
 * Two tables are the whole vocabulary; a row is one field: its name here, its dotted place in the JSON, and
 * what it may hold. The other copy of it is duet_client (client/duet_client/commands.py, events.py), and
 * tests/client/vectors/wire.json holds both to the same golden messages. Pure: no socket, no clock, no page.
 */

import {
  AUDIO,
  field,
  INTEGER,
  NAME,
  NUMBER,
  OBJECT,
  oneOf,
  readFields,
  TEXT,
  WireError,
  writeFields,
} from "./fields.js";
import { SIDEBAND_EVENTS } from "./sideband.js";

export { WireError };

/** The one format of this page, both ways. */
export const AUDIO_FORMAT = Object.freeze({ type: "audio/pcm", rate: 24_000 });

/** WebSocket close codes of this wire (RFC 6455 section 7.4.1; 1013 from the IANA registry). */
export const CLOSE_CODE = Object.freeze({
  NORMAL: 1000,
  GOING_AWAY: 1001,
  POLICY: 1008,
  TOO_BIG: 1009,
  INTERNAL: 1011,
  TRY_AGAIN: 1013,
});

const EVENT_ID = field("event_id", "event_id", TEXT);
const APPEND = [EVENT_ID, field("audio", "audio", AUDIO, { required: true })];

const COMMANDS = {
  "session.start": [
    EVENT_ID,
    field("model", "session.model", NAME, { required: true }),
    field("audio_format", "session.audio.format", OBJECT),
    field("instructions", "session.instructions", TEXT),
    field("voice", "session.audio.output.voice", NAME),
    field("store", "session.store"),
    field("duet", "session.duet", { write: withoutNulls }),
  ],
  "session.input_audio.append": APPEND,
  "session.input_audio.mute": [EVENT_ID],
  "session.input_audio.unmute": [EVENT_ID],
  "session.instructions.append": [
    EVENT_ID,
    field("content", "content", TEXT, { required: true }),
    field("delegation_id", "delegation_id", TEXT, { nullable: true }),
  ],
  "session.close": [EVENT_ID],
};

const ANSWERS = field("client_event_id", "client_event_id", TEXT);
const SPAN = [
  field("start_ms", "start_ms", INTEGER, { required: true }),
  field("end_ms", "end_ms", INTEGER, { required: true }),
];
const WORDS = [field("delta", "delta", TEXT, { required: true }), ...SPAN];
const SESSION = field("session", "session", OBJECT, { required: true });
const SECONDS = field("seconds", "usage.seconds", NUMBER, { required: true });
const REASON = oneOf("close_requested", "expired", "content", "remote_hangup", "connection_lost");

const EVENTS = {
  "session.started": [SESSION, ANSWERS],
  "session.input_audio.append": APPEND,
  "session.output_audio.delta": [
    field("audio", "delta", AUDIO, { required: true }),
    field("start_ms", "start_ms", INTEGER),
    field("end_ms", "end_ms", INTEGER),
  ],
  "session.output_transcript.delta": WORDS,
  "session.input_transcript.delta": WORDS,
  "session.instructions.appended": [...SPAN, ANSWERS],
  "session.usage.updated": [SECONDS, field("usage_ratio", "context_window.usage_ratio", NUMBER)],
  info: [
    field("code", "code", NAME, { required: true }),
    field("message", "message", TEXT, { required: true }),
    ANSWERS,
    field("start_ms", "start_ms", INTEGER),
    field("end_ms", "end_ms", INTEGER),
  ],
  error: [
    field("type", "error.type", NAME, { required: true }),
    field("code", "error.code", NAME, { required: true }),
    field("message", "error.message", TEXT, { required: true }),
    field("param", "error.param", TEXT),
    field("client_event_id", "error.client_event_id", TEXT),
  ],
  "session.input_audio.muted": [ANSWERS],
  "session.input_audio.unmuted": [ANSWERS],
  ...SIDEBAND_EVENTS,
  "session.closed": [field("reason", "reason", REASON, { required: true }), SESSION, SECONDS, ANSWERS],
};

const TYPE = field("type", "type", NAME, { required: true });

/**
 * @param {string} type a key of COMMANDS
 * @param {object} fields by their names there; null or absent ones are left out
 * @returns {string} the message
 */
export function dumpCommand(type, fields = {}) {
  return JSON.stringify({ type, ...writeFields(COMMANDS[type], fields) });
}

/**
 * @param {string} text one message
 * @returns {{name: string, fields: object}} name: the event's type. An event this page does not know has
 *   the name "unknown" and the fields type and payload.
 * @throws {WireError} with code invalid_json, missing_field, invalid_value or invalid_audio
 */
export function parseEvent(text) {
  const message = loadObject(text);
  const { type } = readFields([TYPE], message);
  if (!Object.hasOwn(EVENTS, type)) return { name: "unknown", fields: { type, payload: message } };
  return { name: type, fields: readFields(EVENTS[type], message) };
}

function loadObject(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new WireError("invalid_json", `the message is not valid JSON: ${error.message}`);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new WireError("invalid_json", "the message must be a JSON object");
  }
  return value;
}

/** null where nothing is left, so that a stock server need not see the object at all. */
function withoutNulls(options) {
  const given = Object.entries(options).filter(([, value]) => value !== null);
  return given.length ? Object.fromEntries(given) : null;
}
