/**
 * What a person is told: one clear sentence, or a few, for everything that can stand in a call's way.
 *
 * Pure. Refuses to know how things are found out.
 */

/** How a call ended, by the `kind` that session.js gives; after it comes what was kept. */
const ENDINGS = {
  close_requested: "Call ended.",
  expired: "Call ended: it reached the longest time this server allows.",
  idle_timeout: "Call ended: the server heard nothing for too long.",
  draining: "Call ended because the server is stopping.",
  shut_down: "Call ended because the server is stopping.",
  content: "Call ended: the server’s guardrail stopped it.",
  remote_hangup: "Call ended from the server’s side.",
  connection_lost: "The connection to the server was lost.",
  no_answer: "The server stopped answering.",
  too_slow: "The server is too slow for this call: it fell 10 s behind.",
  server_full: "Somebody took the last place in this moment. Try again when a call has ended.",
};

/** What to do about it, said last. */
const REMEDIES = {
  connection_lost: "Start the call again when the network is back.",
  no_answer: "Start the call again in a moment.",
  too_slow: "Start the call again when it has less to do.",
};

/** The ones that went as somebody wanted. */
const PEACEFUL = ["close_requested", "expired", "idle_timeout", "draining", "shut_down"];

/**
 * @param {{kind: string, detail: string | null}} ending
 * @param {{recorded: boolean} | null} kept of the call; null where there was none
 * @returns {{text: string, isTrouble: boolean}}
 */
export function endingSentence({ kind, detail }, kept = null) {
  const isTrouble = !PEACEFUL.includes(kind);
  const parts = [cause(kind, detail)];
  if (isTrouble && kept) parts.push(keptSentence(kept));
  if (REMEDIES[kind]) parts.push(REMEDIES[kind]);
  return { text: parts.join(" "), isTrouble };
}

function cause(kind, detail) {
  if (kind === "failed") return `The server ended the call: ${clause(detail)}.`;
  if (kind === "not_understood") {
    return `This page does not understand what the server said: ${clause(detail)}.`;
  }
  return ENDINGS[kind];
}

function keptSentence({ recorded }) {
  if (recorded) return "Words and picture stay here, the recording on the server.";
  return "Words and picture stay here; there is no recording.";
}

const REFUSALS = {
  unreachable: "The server cannot be reached. Check that it runs and that the network is up.",
  missing_api_key: "This server asks for a key.",
  wrong_api_key: "This server does not know that key.",
  foreign_origin:
    "This server takes no calls from this page’s address. Open the page that the server itself shows.",
  draining: "The server is stopping and takes no new calls.",
};

/** @param {{type: string, message?: string, capacity?: number}} refusal as the server words it, or our own */
export function refusalSentence(refusal) {
  if (refusal.type === "server_full") return fullSentence(refusal.capacity);
  if (refusal.type === "model_failed") return `The model has failed: ${clause(refusal.message)}.`;
  return REFUSALS[refusal.type] ?? `The server refuses calls: ${clause(refusal.message)}.`;
}

/** Nothing refuses, and yet no WebSocket could be opened. */
export const NO_WEBSOCKET =
  "The server says it is ready, but the call could not be opened. " +
  "Try again; a proxy in between may not let WebSockets through.";

function fullSentence(capacity) {
  const taken =
    capacity === 1
      ? "The server is full: it takes one call at a time, and somebody is in it."
      : `The server is full: all ${capacity} places are taken.`;
  return `${taken} Try again when a call has ended.`;
}

const MICROPHONE = {
  NotFoundError: "No microphone was found. Plug one in and start the call again.",
  NotAllowedError:
    "The microphone was refused. Allow it for this page next to the address, then start the call again.",
  NotReadableError: "The microphone is in use elsewhere. Close the other program and start the call again.",
};

/** @param {DOMException} error what came of asking for it */
export function microphoneSentence(error) {
  return MICROPHONE[error.name] ?? `The audio could not be opened: ${clause(error.message || error.name)}.`;
}

/** @param {Location} place the page's, which no browser would give a microphone */
export function insecureSentence({ hostname, port }) {
  const shown = port || "80";
  return (
    "Browsers give the microphone to HTTPS pages and localhost only. Use https://, or " +
    `ssh -L ${shown}:localhost:${shown} ${hostname} and http://localhost:${shown}/.`
  );
}

const NOTICES = {
  draining: "The server is stopping soon; this call will end with it.",
  store_unsupported: "", // the line about what is kept says so
  input_ahead: "This page’s audio runs ahead of the clock; the server holds it to real time.",
};

/** Those that hold until the call ends; the others have been read after a while. */
export const LASTING_NOTICES = ["draining"];

/** @param {string} code of an info event @param {string} message the server's own words @returns {string} or "" */
export function noticeSentence(code, message) {
  return NOTICES[code] ?? `The server says: ${clause(message)}.`;
}

/** What happens to the devices during a call. */
export const DEVICES = Object.freeze({
  lost: "The microphone was unplugged: the agent hears silence. Plug it in again or choose another.",
  replaced: "The microphone was unplugged; another one has taken over.",
  back: "The microphone is back.",
  rebuilt: "The audio device changed; the sound was set up anew.",
  dead: "The browser’s audio stands still: it found no sound device, or another program holds it.",
  speakerRefused: "That speaker cannot be used; the sound stays where it is.",
});

/** @param {boolean} muted @param {number | null} late by how many seconds the answers come late; null where not */
export function runningSentence(muted, late = null) {
  if (late !== null) {
    const sentence = `The server does not keep up: answers come ${late} s late.`;
    return muted ? `${sentence} You are muted.` : sentence;
  }
  if (muted) return "Connected, muted: the agent hears silence.";
  return "Connected. Speak whenever you like; with headphones the agent does not hear itself.";
}

/** Somebody else's sentence, to be put into ours. */
function clause(text) {
  return text.trim().replace(/\.$/, "");
}
