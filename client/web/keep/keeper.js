/**
 * What stays of a call: its recording and transcript from the server, and a replay made here.
 *
 * Each is fetched when it is asked for and handed over as a file. Refuses to know how the call went.
 */

import { headers, keptUrl } from "../wire/address.js";
import { fromDocument } from "../words/final.js";
import { asText } from "../words/transcript.js";
import { bundle } from "./bundle.js";
import { toBase64, toData } from "./conversation.js";
import { replayFile } from "./replay-file.js";

const TRIES = 12;
const BETWEEN_TRIES_MS = 1_000;
const FINAL_TRIES = 40; // a last pass over a long call takes its time
const FINAL_BETWEEN_MS = 3_000;
const STYLES = ["theme.css", "base.css", "lanes.css", "words.css", "replay.css"];

export class Keeper {
  #call;
  #key;

  /** @param {import("../call/call.js").Call} call that has ended @param {string | null} key */
  constructor(call, key) {
    this.#call = call;
    this.#key = key;
  }

  /** Why there is no recording, or "". */
  get noRecording() {
    return this.#call.started.store ? "" : "This call was not recorded.";
  }

  /** @returns {Promise<string>} what came of it, in a sentence */
  async recording() {
    const answer = await this.#fetch("content");
    if (!answer.ok) return `The recording could not be had: ${await reason(answer)}`;
    const blob = await answer.blob();
    save(blob, `${this.#name}.${suffix(blob.type)}`);
    return "The recording has been saved: you on the left, the agent on the right.";
  }

  /** The server's, which is heard with care after the call; as long as there is none, the page's own. */
  async transcript() {
    const answer = await this.#fetch("transcript", 1).catch(() => null);
    if (answer?.ok) {
      const blob = await answer.blob();
      save(blob, `${this.#name}.transcript.json`);
      if (JSON.parse(await blob.text()).status === "final") return "The server’s transcript has been saved.";
      return "The server’s transcript has been saved as it is now, without the last pass over the call.";
    }
    save(new Blob([asText(this.#call.transcript.paragraphs)], { type: "text/plain" }), `${this.#name}.txt`);
    return "This page’s transcript has been saved; the server’s final one is not there.";
  }

  /**
   * Waits for the words of the last pass over the call, and takes them for the call's.
   * @returns {Promise<boolean>} whether there are any
   */
  async finalWords() {
    for (let n = 0; n < FINAL_TRIES; n++) {
      const answer = await this.#fetch("transcript", 1).catch(() => null);
      if (answer?.status === 404) return false; // this server keeps none
      const document = answer?.ok ? await answer.json() : null;
      if (document?.status === "final") return this.#take(fromDocument(document));
      await new Promise((resolve) => setTimeout(resolve, FINAL_BETWEEN_MS));
    }
    return false;
  }

  #take(transcript) {
    if (transcript) this.#call.transcript = transcript;
    return transcript !== null;
  }

  async replay() {
    const answer = this.noRecording ? null : await this.#fetch("content").catch(() => null);
    const blob = answer?.ok ? await answer.blob() : null;
    const parts = {
      title: `Duet, ${this.#when}`,
      ...(await replayParts()),
      data: { ...toData(this.#call.timeline, this.#call.transcript), about: this.#about },
      sound: blob && { type: blob.type, base64: toBase64(new Uint8Array(await blob.arrayBuffer())) },
    };
    save(new Blob(await replayFile(parts, sha256), { type: "text/html" }), `${this.#name}.html`);
    const what = "The replay has been saved: one file, which needs no server and no network.";
    if (blob) return what;
    const why = this.noRecording ? "there is no recording" : "the server did not give the recording";
    return `${what} It has no sound, for ${why}.`;
  }

  get #about() {
    const { model, id } = this.#call.started;
    return { title: "A conversation", when: this.#when, model, session: id };
  }

  get #when() {
    return new Date(this.#call.startedUnixMs).toLocaleString("en", { dateStyle: "long", timeStyle: "short" });
  }

  get #name() {
    const date = new Date(this.#call.startedUnixMs).toISOString().slice(0, 16).replace(/[T:]/g, "-");
    return `duet-${date}-${this.#call.started.id.slice(-6)}`;
  }

  /** A recording that is still being written is asked for again. */
  async #fetch(what, tries = TRIES) {
    const url = keptUrl(document.baseURI, this.#call.started.id, what);
    for (let n = 1; ; n++) {
      const answer = await fetch(url, { headers: headers(this.#key), cache: "no-store" });
      if (answer.status !== 409 || n >= tries) return answer;
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_TRIES_MS));
    }
  }
}

let parts = null;

/**
 * What every replay is made with, fetched once.
 * @returns {Promise<{style: string, script: string}>} rejects where the server does not give it; then it may be
 *   asked for again
 */
export function replayParts() {
  parts ??= fetchParts().catch((error) => {
    parts = null;
    throw error;
  });
  return parts;
}

async function fetchParts() {
  const styles = await Promise.all(STYLES.map((name) => text(`../style/${name}`)));
  const script = await bundle(new URL("./replay-page.js", import.meta.url).href, load);
  return { style: styles.join("\n"), script };
}

async function reason(answer) {
  const body = await answer.json().catch(() => null);
  return `${(body?.error?.message ?? `the server answered ${answer.status}`).replace(/\.$/, "")}.`;
}

function suffix(type) {
  return type.includes("flac") ? "flac" : "wav";
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function text(path) {
  return load(new URL(path, import.meta.url).href);
}

async function load(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address} could not be loaded`);
  return answer.text();
}

async function sha256(content) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(content));
  return toBase64(new Uint8Array(digest));
}
