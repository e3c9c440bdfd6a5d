/**
 * What the page shows of the server and of the call itself: elements in, no decisions out.
 *
 * Refuses to know calls, servers and audio.
 */

import { decibels, FLOOR_DB, onMeter } from "../audio/level.js";
import { clock } from "../words/transcript.js";
import { byId, setText } from "./elements.js";

const KEPT = ["recording", "transcript", "replay"];

export class View {
  constructor() {
    this.levels({ user: 0, agent: 0 });
  }

  /** @param {{name: string, trained: boolean, capacity: number, active: number} | null} facts */
  facts(facts) {
    setText(byId("model"), facts?.name ?? "–");
    setText(byId("places"), facts ? `${facts.active} of ${facts.capacity}` : "–");
    byId("trained").hidden = !facts?.trained;
    byId("untrained").hidden = facts?.trained ?? true; // a server that is not there plays no noise
  }

  /** @param {string} text @param {"idle" | "busy" | "live" | "trouble"} mood */
  status(text, mood) {
    setText(byId("status"), text);
    byId("status").dataset.mood = mood;
  }

  /** @param {"idle" | "starting" | "running" | "closing"} phase */
  phase(phase) {
    const calling = phase !== "idle";
    this.#swap(calling ? "start" : "hang-up", calling ? "hang-up" : "start");
    setText(byId("hang-up"), phase === "starting" ? "Cancel" : "Hang up");
    byId("mute").disabled = phase !== "running";
    if (phase !== "running") this.levels({ user: 0, agent: 0 });
  }

  muted(on) {
    byId("mute").setAttribute("aria-pressed", String(on));
    setText(byId("mute"), on ? "Muted" : "Mute");
  }

  /** @param {number | null} ms how long the call is */
  elapsed(ms) {
    setText(byId("elapsed"), ms === null ? "" : clock(ms));
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

  /**
   * @param {string} note what is kept, or what came of asking for it
   * @param {string[]} able which of recording, transcript and replay can be had
   */
  kept(note, able) {
    setText(byId("kept"), note);
    for (const name of KEPT) byId(name).disabled = !able.includes(name);
  }

  /** Asks for a key. @param {string} trouble why the last one would not do, or "" */
  askForKey(trouble) {
    setText(byId("key-trouble"), trouble);
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
