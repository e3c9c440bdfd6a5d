/**
 * The page: its buttons, one call at a time, and the key it was given.
 *
 * Refuses to know sockets and audio.
 */

import { canBeKey } from "./address.js";
import { Call } from "./call.js";
import { insecureSentence, refusalSentence, runningSentence } from "./sentences.js";
import { askModel, askServer } from "./server-facts.js";
import { serverStatus } from "./standing.js";
import { View } from "./view.js";

const POLL_MS = 10_000;
const KEY = "duet.key"; // in sessionStorage, which ends with the tab
const KEY_REFUSALS = ["missing_api_key", "wrong_api_key"];

const view = new View();
let call = null;
let isMuted = false;
let showsCall = false; // the status tells of a call, not of the server

const byId = (id) => document.getElementById(id);

// -- a call -----------------------------------------------------------------------------------------

function startCall() {
  if (call !== null || !isSecure()) return;
  const mine = new Call({ ...handlers, ended: (outcome) => mine === call && ended(outcome) }, storedKey());
  call = mine;
  showsCall = true;
  setMuted(false);
  view.clearWords();
  view.numbers({});
  view.phase("starting");
  view.status("Opening the call. The browser may ask for the microphone.", "busy");
  call.start();
}

const handlers = {
  facts: (facts) => view.facts(facts),
  words: (fields) => view.words(fields),
  levels: (peaks) => view.levels(peaks),
  numbers: (numbers) => view.numbers(numbers),
  notice: (sentence) => view.status(sentence, "live"),
  phase(name) {
    view.phase(name);
    if (name === "closing") view.status("Hanging up…", "busy");
    if (name !== "running") return;
    view.status(runningSentence(isMuted), "live");
    refresh();
  },
};

function ended({ text, isTrouble, refusal }) {
  call = null;
  view.phase("idle");
  view.status(text, isTrouble ? "trouble" : "idle");
  showsCall = !refusal; // a refusal tells of the server, and is over when the server says so
  if (KEY_REFUSALS.includes(refusal?.type)) askForKey(refusal.type);
  showFacts(askModel); // but not yet its refusal: how the call ended is to be read first
}

function setMuted(on) {
  isMuted = on;
  view.muted(on);
}

function toggleMute() {
  setMuted(!isMuted);
  call.mute(isMuted);
  view.status(runningSentence(isMuted), isMuted ? "busy" : "live");
}

function isSecure() {
  if (!window.isSecureContext) view.status(insecureSentence(location), "trouble");
  return window.isSecureContext;
}

// -- the key ----------------------------------------------------------------------------------------

function storedKey() {
  return sessionStorage.getItem(KEY);
}

function askForKey(why) {
  sessionStorage.removeItem(KEY);
  view.askForKey(why === "wrong_api_key" ? refusalSentence({ type: why }) : "");
}

function takeKey(event) {
  event.preventDefault();
  const key = byId("key").value.trim();
  if (!canBeKey(key)) {
    view.askForKey("A key has only printable ASCII characters and no blanks.");
    return;
  }
  sessionStorage.setItem(KEY, key);
  view.closeKeyDialog();
  startCall();
}

// -- the server, between calls ------------------------------------------------------------------------

async function showFacts(ask) {
  const { facts, refusal } = await ask(fetch, document.baseURI, storedKey());
  view.facts(facts);
  return refusal;
}

async function refresh() {
  if (document.visibilityState === "hidden") return;
  const during = call; // a call finds out for itself whether it may go on
  const refusal = await showFacts(during === null ? askServer : askModel);
  if (during !== null || call !== null || !isSecure()) return;
  const status = serverStatus(refusal, showsCall);
  if (status === null) return;
  showsCall = false;
  view.status(status.text, status.mood);
}

byId("start").addEventListener("click", startCall);
byId("hang-up").addEventListener("click", () => call.hangUp());
byId("mute").addEventListener("click", toggleMute);
byId("key-form").addEventListener("submit", takeKey);
byId("key-cancel").addEventListener("click", () => view.closeKeyDialog());
window.addEventListener("pagehide", () => call?.hangUp());
document.addEventListener("visibilitychange", refresh);
setInterval(refresh, POLL_MS);
refresh();
