/**
 * The three buttons that save a conversation, and the line that says what came of it.
 *
 * Refuses to know how each is made.
 */

import { byId } from "../page/elements.js";
import { Keeper, replayParts } from "./keeper.js";

export class KeepPanel {
  #view;
  #keeper = null;

  /** @param {import("../page/view.js").View} view */
  constructor(view) {
    this.#view = view;
    for (const name of ["recording", "transcript", "replay"]) {
      byId(name).addEventListener("click", () => this.#save(name));
    }
  }

  /** @param {import("../call/call.js").Call} call that runs */
  running(call) {
    this.#keeper = null;
    replayParts().catch(() => {}); // a server that dies in the call does not take the replay along
    const { store } = call.started;
    const reason = call.isToBeRecorded ? "This server keeps no recordings." : "This call is not recorded.";
    const note = store ? "The server records this call." : reason;
    this.#view.kept(`${note} What is kept can be saved when it has ended.`, []);
  }

  /**
   * @param {import("../call/call.js").Call} call that is over @param {string | null} key
   * @param {() => void} onWords its words have become better
   */
  over(call, key, onWords) {
    const keeper = new Keeper(call, key);
    const { noRecording } = keeper;
    this.#keeper = keeper;
    const mayBeHeard = call.isHeard || call.started.store; // a server that keeps nothing has no words either
    if (mayBeHeard) keeper.finalWords().then((found) => found && keeper === this.#keeper && onWords());
    const all = ["transcript", "replay", ...(noRecording ? [] : ["recording"])];
    this.#view.kept(noRecording || "Kept until this page is left, and the recording on the server.", all);
  }

  async #save(name) {
    const keeper = this.#keeper;
    const button = byId(name);
    const hadFocus = document.activeElement === button;
    button.disabled = true;
    const told = await keeper[name]().catch(() => "The server cannot be reached; try again later.");
    button.disabled = false;
    if (hadFocus && document.activeElement === document.body) button.focus(); // disabling took it away
    if (keeper === this.#keeper) byId("kept").textContent = told;
  }
}
