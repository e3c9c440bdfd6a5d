/**
 * A look at one's own call from the side: what Whisper hears of the agent, and which rules fired.
 *
 * That is not told on the caller's own connection. It is an extra: where it cannot be had, the call goes on
 * without it. Refuses to know the call.
 */

import { subprotocols } from "./address.js";
import { parseEvent } from "./wire.js";

const AGAIN_MS = 3_000;

export class Observer {
  #url;
  #throughMs = null; // until when the agent's words have been told
  #key;
  #on;
  #socket = null;
  #waiting = null;
  #isClosed = false;

  /**
   * @param {(fromMs: number | null) => string} url from when on it tells; null: from now on
   * @param {string | null} key
   * @param {(name: string, fields: object) => void} on for every event that this page understands
   */
  constructor(url, key, on) {
    this.#url = url;
    this.#key = key;
    this.#on = on;
    this.#open();
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#waiting);
    this.#socket.close();
  }

  #open() {
    const socket = new WebSocket(this.#url(this.#throughMs), subprotocols(this.#key));
    this.#socket = socket;
    let wasOpen = false;
    socket.onopen = () => (wasOpen = true);
    socket.onmessage = ({ data }) => this.#received(data);
    socket.onclose = ({ code }) => {
      if (!this.#isClosed && wasOpen && code !== 1000) this.#waiting = setTimeout(() => this.#open(), AGAIN_MS);
    };
  }

  #received(data) {
    if (typeof data !== "string" || this.#isClosed) return;
    try {
      const { name, fields } = parseEvent(data);
      if (name === "duet.words" && fields.channel === "agent") this.#throughMs = fields.through_ms;
      this.#on(name, fields);
    } catch {
      // a word that this page does not understand costs a mark in the transcript, not the call
    }
  }
}
