/**
 * What a person is told: one clear sentence, or two, for everything that can stand in a call's way.
 *
 * Pure. Refuses to know how things are found out.
 */

/** How a call ended, by the `kind` that session.js gives. */
const ENDINGS = {
  close_requested: "Call ended.",
  expired: "Call ended: it reached the longest time this server allows.",
  idle_timeout: "Call ended: the server heard nothing for too long.",
  draining: "Call ended because the server is stopping.",
  shut_down: "Call ended because the server is stopping.",
  content: "Call ended: the server's guardrail stopped it.",
  remote_hangup: "Call ended from the server's side.",
  connection_lost: "The connection to the server was lost. Start the call again when the network is back.",
  no_answer: "The server stopped answering. Start the call again in a moment.",
  microphone_lost: "Call ended: the microphone was unplugged or taken away.",
  server_full: "Somebody took the last place in this moment. Try again when a call has ended.",
};

/** The ones that went as somebody wanted. */
const PEACEFUL = ["close_requested", "expired", "idle_timeout", "draining", "shut_down"];

/** @param {{kind: string, detail: string | null}} ending @returns {{text: string, isTrouble: boolean}} */
export function endingSentence({ kind, detail }) {
  const isTrouble = !PEACEFUL.includes(kind);
  if (kind === "failed") return { text: `The server ended the call: ${clause(detail)}.`, isTrouble };
  if (kind === "not_understood") {
    return { text: `This page does not understand what the server said: ${clause(detail)}.`, isTrouble };
  }
  return { text: ENDINGS[kind], isTrouble };
}

const REFUSALS = {
  unreachable: "The server cannot be reached. Check that it runs and that the network is up.",
  missing_api_key: "This server asks for a key.",
  wrong_api_key: "This server does not know that key.",
  foreign_origin:
    "This server takes no calls from this page's address. Open the page that the server itself shows.",
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
  return MICROPHONE[error.name] ?? `The audio could not be opened: ${error.message || error.name}.`;
}

/** @param {Location} place the page's, which no browser would give a microphone */
export function insecureSentence({ hostname, port }) {
  const shown = port || "80";
  return (
    "Browsers give a page the microphone only over HTTPS or on localhost. Open this page at an https:// " +
    `address, or make a tunnel (ssh -L ${shown}:localhost:${shown} ${hostname}) and open ` +
    `http://localhost:${shown}/.`
  );
}

/** @param {string} code of an info event @param {string} message the server's own words */
export function noticeSentence(code, message) {
  if (code === "draining") return "The server is stopping soon; this call will end with it.";
  return `The server says: ${clause(message)}.`;
}

/** @param {boolean} muted */
export function runningSentence(muted) {
  if (muted) return "Connected, muted: the agent hears silence.";
  return "Connected. Speak whenever you like; with headphones the agent does not hear itself.";
}

/** Somebody else's sentence, to be put into ours. */
function clause(text) {
  return text.trim().replace(/\.$/, "");
}
