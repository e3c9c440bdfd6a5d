/**
 * Where the server is and how a key is shown to it (the server's side: server/auth.py).
 *
 * A key travels in a header or a subprotocol, never in an address, which proxies and histories keep.
 * Pure. Refuses to know where the key is kept.
 */

const SUBPROTOCOL = "duet";
const KEY_SUBPROTOCOL_PREFIX = "duet.key.";

/** @param {string} page the page's own address @returns {string} where a call is opened */
export function sessionUrl(page) {
  return socketUrl("v1/live/sessions?audio=binary", page);
}

/**
 * @param {string} id the session's @param {number | null} fromMs what was said since then is told first
 * @returns {string} where it is observed, without its audio
 */
export function observerUrl(page, id, fromMs = null) {
  const from = fromMs === null ? "" : `&from_ms=${fromMs}`;
  return socketUrl(`v1/live/sessions/${id}/attach?audio=none${from}`, page);
}

/** @param {"content" | "transcript"} what @returns {string} where it is downloaded from */
export function keptUrl(page, id, what) {
  return new URL(`v1/live/sessions/${id}/${what}`, page).href;
}

/** @param {string | null} key @returns {string[]} what a WebSocket offers, since it cannot send headers */
export function subprotocols(key) {
  if (key === null) return [];
  const token = btoa(key).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return [SUBPROTOCOL, KEY_SUBPROTOCOL_PREFIX + token];
}

/** @param {string | null} key @returns {Record<string, string>} for fetch */
export function headers(key) {
  return key === null ? {} : { Authorization: `Bearer ${key}` };
}

/** @param {string} text @returns {boolean} whether it can be a key at all: printable ASCII, no blanks */
export function canBeKey(text) {
  return /^[!-~]+$/.test(text);
}

function socketUrl(path, page) {
  const url = new URL(path, page);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}
