/**
 * The page: its buttons, one call at a time, what stays of it, and the key it was given.
 *
 * Refuses to know sockets and audio.
 */

import { Call } from "./call/call.js";
import { insecureSentence, refusalSentence, runningSentence } from "./call/sentences.js";
import { Standing } from "./call/standing.js";
import { KeepPanel } from "./keep/keep-panel.js";
import { LanesView } from "./lanes/lanes-view.js";
import { NumbersView } from "./numbers/numbers-view.js";
import { copyMeasures } from "./numbers/copy.js";
import { stayAwake } from "./page/awake.js";
import { byId } from "./page/elements.js";
import { View } from "./page/view.js";
import { Settings } from "./settings/settings.js";
import { SettingsView } from "./settings/settings-view.js";
import { canBeKey } from "./wire/address.js";
import { askModel, askServer } from "./wire/server-facts.js";
import { WordsView } from "./words/words-view.js";

const POLL_MS = 5_000;
const NOTICE_MS = 8_000;
const KEY = "duet.key"; // in sessionStorage, which ends with the tab
const KEY_REFUSALS = ["missing_api_key", "wrong_api_key"];

const view = new View();
const settings = new Settings(browserStorage());
const settingsView = new SettingsView(settings, {
  microphone: async () => settingsView.trouble((await call?.useMicrophone()) ?? ""),
  speaker: async () => settingsView.trouble((await call?.useSpeaker()) ?? ""),
});
const lanes = new LanesView(byId("lanes"));
const words = new WordsView(byId("words"), (ms) => lanes.reveal(ms));
const numbers = new NumbersView();
const keep = new KeepPanel(view);
const standing = new Standing();
let call = null;
let last = null; // the call that is looked at, running or not
let isMuted = false;
let isRunning = false;
let passing = null; // the notice that is shown for a while
let isNoticed = false; // the status tells of more than that the call runs
let late = null; // by how many seconds the answers come late

// -- a call -----------------------------------------------------------------------------------------

function startCall() {
  if (call !== null || !isSecure()) return;
  const mine = new Call({ ...handlers, ended: (outcome) => mine === call && ended(outcome) }, storedKey(), settings);
  call = mine;
  late = null;
  setMuted(false);
  view.phase("starting");
  view.status("Opening the call. The browser may ask for the microphone.", "busy");
  call.start();
}

const handlers = {
  facts: showOwnFacts,
  words: (changed) => words.update(changed, call.transcript.paragraphs),
  levels: (peaks) => view.levels(peaks),
  numbers(measured) {
    view.elapsed(measured.elapsedMs);
    numbers.show(measured, call.roundTrip.recent, performance.now());
  },
  notice: showNotice,
  late: showLate,
  started() {
    last = call; // only now: a call that never began leaves the one before on the page
    words.clear();
    numbers.clear();
    lanes.show(call.timeline, true);
    keep.running(call);
    byId("copy").disabled = false;
    settingsView.devices(); // now they have names
    stayAwake(true);
  },
  phase(name) {
    isRunning = name === "running";
    view.phase(name);
    if (name === "closing") view.status("Hanging up…", "busy");
    if (!isRunning) return;
    showRunning();
    refresh();
  },
};

function ended(outcome) {
  const { text, isTrouble, refusal } = outcome;
  if (call.started) {
    numbers.show(call.numbers, call.roundTrip.recent, performance.now());
    lanes.rest();
    keep.over(call, storedKey(), showWords);
  }
  call = null;
  isRunning = false;
  setMuted(false);
  stayAwake(false);
  view.phase("idle");
  view.status(text, isTrouble ? "trouble" : "idle");
  standing.ended(outcome, performance.now());
  if (KEY_REFUSALS.includes(refusal?.type)) askForKey(refusal.type);
  showFacts(askModel); // but not yet its refusal: how the call ended is to be read first
}

/** All of them anew: the server has heard the call once more. */
function showWords() {
  const { paragraphs } = last.transcript;
  words.clear();
  words.update(paragraphs, paragraphs);
  numbers.show(last.numbers, last.roundTrip.recent, performance.now());
}

function showNotice(sentence, kind) {
  view.status(sentence, kind === "trouble" ? "trouble" : "live");
  isNoticed = true;
  clearTimeout(passing);
  if (kind !== "passing") return;
  const during = call;
  passing = setTimeout(() => call === during && isRunning && showRunning(), NOTICE_MS);
}

function showRunning() {
  isNoticed = false;
  const mood = isMuted ? "busy" : "live";
  view.status(runningSentence(isMuted, late), late === null ? mood : "trouble");
}

function showLate(seconds) {
  if (seconds === late) return;
  late = seconds;
  if (isRunning && !isNoticed) showRunning(); // else when the notice is over
}

function setMuted(on) {
  isMuted = on;
  view.muted(on);
}

function toggleMute() {
  setMuted(!isMuted);
  call.mute(isMuted);
  showRunning();
}

function isSecure() {
  if (!window.isSecureContext) view.status(insecureSentence(location), "trouble");
  return window.isSecureContext;
}

/** A browser may forbid a page to keep anything; then it keeps it for as long as it is open. */
function browserStorage() {
  try {
    return localStorage;
  } catch {
    return { getItem: () => null, setItem: () => {} };
  }
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

function showOwnFacts(facts) {
  view.facts(facts);
  settingsView.facts(facts);
}

async function showFacts(ask) {
  const { facts, refusal } = await ask(fetch, document.baseURI, storedKey());
  showOwnFacts(facts);
  return refusal;
}

async function refresh() {
  if (document.visibilityState === "hidden") return;
  const during = call; // a call finds out for itself whether it may go on
  const refusal = await showFacts(during === null ? askServer : askModel);
  if (during !== null || call !== null || !isSecure()) return;
  const status = standing.heard(refusal, performance.now());
  if (status !== null) view.status(status.text, status.mood);
}

byId("start").addEventListener("click", startCall);
byId("hang-up").addEventListener("click", () => call.hangUp());
byId("mute").addEventListener("click", toggleMute);
byId("copy").addEventListener("click", () => copyMeasures(last));
byId("open-settings").addEventListener("click", () => byId("settings").showModal());
byId("key-form").addEventListener("submit", takeKey);
byId("key-cancel").addEventListener("click", () => view.closeKeyDialog());
byId("show-heard").addEventListener("change", (event) => {
  byId("words").classList.toggle("with-heard", event.target.checked);
});
window.addEventListener("pagehide", () => call?.hangUp());
document.addEventListener("visibilitychange", refresh);
setInterval(refresh, POLL_MS);
numbers.clear();
refresh();
