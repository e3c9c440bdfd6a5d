/**
 * What the page shows, and nothing else: elements in, no decisions out.
 *
 * Refuses to know calls, servers and audio.
 */

import { decibels, FLOOR_DB, onMeter } from "./level.js";
import { clock, Paragraphs } from "./transcript.js";

const PARAGRAPHS_KEPT = 200;
const NUMBERS = {
  elapsedMs: clock,
  p50Ms: milliseconds,
  p95Ms: milliseconds,
  underruns: String,
  sentFrames: String,
  answeredFrames: String,
  playedMs: (ms) => `${(ms / 1000).toFixed(1)} s`,
  targetMs: milliseconds,
  skippedMs: milliseconds,
};

const byId = (id) => document.getElementById(id);

export class View {
  #paragraphs = new Paragraphs();

  constructor() {
    this.levels({ user: 0, agent: 0 });
  }

  /** @param {{name: string, trained: boolean, capacity: number, active: number} | null} facts */
  facts(facts) {
    byId("model").textContent = facts?.name ?? "–";
    byId("places").textContent = facts ? `${facts.active} of ${facts.capacity}` : "–";
    byId("untrained").hidden = facts?.trained ?? true; // a server that is not there plays no noise
  }

  /** @param {string} text @param {"idle" | "busy" | "live" | "trouble"} mood */
  status(text, mood) {
    byId("status").textContent = text;
    byId("status").dataset.mood = mood;
  }

  /** @param {"idle" | "starting" | "running" | "closing"} phase */
  phase(phase) {
    const calling = phase !== "idle";
    this.#swap(calling ? "start" : "hang-up", calling ? "hang-up" : "start");
    byId("hang-up").textContent = phase === "starting" ? "Cancel" : "Hang up";
    byId("mute").disabled = phase !== "running";
    if (phase !== "running") this.levels({ user: 0, agent: 0 });
  }

  muted(on) {
    byId("mute").setAttribute("aria-pressed", String(on));
  }

  /** @param {{user?: number, agent?: number}} peaks of the last moment, full scale is 1 */
  levels(peaks) {
    for (const [side, magnitude] of Object.entries(peaks)) {
      const db = decibels(magnitude);
      const meter = byId(`${side}-level`);
      meter.style.setProperty("--level", onMeter(db).toFixed(3));
      meter.setAttribute("aria-valuenow", String(Math.round(onMeter(db) * 100)));
      meter.setAttribute("aria-valuetext", db <= FLOOR_DB ? "silent" : `${Math.round(db)} dB`);
    }
  }

  /** @param {Record<string, number | null>} numbers those without a value yet are null */
  numbers(numbers) {
    for (const element of document.querySelectorAll("[data-number]")) {
      const value = numbers[element.dataset.number] ?? null;
      element.textContent = value === null ? "–" : NUMBERS[element.dataset.number](value);
    }
  }

  clearWords() {
    this.#paragraphs = new Paragraphs();
    byId("words").replaceChildren();
  }

  /** @param {{delta: string, start_ms: number, end_ms: number}} words */
  words(words) {
    const log = byId("words");
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    const { begins, text } = this.#paragraphs.add(words);
    if (begins) log.append(paragraph(words.start_ms));
    log.lastElementChild.lastChild.append(text);
    if (log.children.length > PARAGRAPHS_KEPT) log.firstElementChild.remove();
    if (atEnd) log.scrollTop = log.scrollHeight; // who has scrolled back goes on reading there
  }

  /** Asks for a key. @param {string} trouble why the last one would not do, or "" */
  askForKey(trouble) {
    byId("key-trouble").textContent = trouble;
    if (!byId("key-dialog").open) byId("key-dialog").showModal();
  }

  closeKeyDialog() {
    byId("key-dialog").close();
    byId("key").value = "";
  }

  /** One button takes the other's place, and the keyboard goes with it. */
  #swap(from, to) {
    const hadFocus = document.activeElement === byId(from);
    byId(from).hidden = true;
    byId(to).hidden = false;
    if (hadFocus) byId(to).focus();
  }
}

function paragraph(start_ms) {
  const element = document.createElement("p");
  const time = document.createElement("time");
  time.textContent = clock(start_ms);
  element.append(time, document.createElement("span"));
  return element;
}

function milliseconds(ms) {
  return `${Math.round(ms)} ms`;
}
