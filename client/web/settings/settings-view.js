/**
 * The settings on the page: a form that shows them and writes them, each as soon as it is changed.
 *
 * Refuses to know what they do. `on` is told on.microphone() and on.speaker() when one of theirs changed.
 */

import { canChooseSpeaker } from "../audio/call-audio.js";
import { byId, element, setText } from "../page/elements.js";
import { readNumber } from "./settings.js";

const SWITCHES = ["echoCancellation", "noiseSuppression", "autoGainControl", "record"];
const OF_MICROPHONE = ["echoCancellation", "noiseSuppression", "autoGainControl"];
const NUMBERS = { textTemperature: "text_temperature", textTopK: "text_top_k", audioTemperature: "audio_temperature", audioTopK: "audio_top_k", seed: "seed" };
const DRAWN = "drawn anew";

export class SettingsView {
  #settings;
  #on;

  /** @param {import("./settings.js").Settings} settings */
  constructor(settings, on) {
    this.#settings = settings;
    this.#on = on;
    for (const name of SWITCHES) byId(name).addEventListener("change", () => this.#switch(name));
    for (const name of Object.keys(NUMBERS)) byId(name).addEventListener("input", () => this.#number(name));
    for (const name of ["microphone", "speaker"]) byId(name).addEventListener("change", () => this.#device(name));
    byId("instructions").addEventListener("input", () => this.#write("instructions", byId("instructions").value));
    byId("voice").addEventListener("change", () => this.#write("voice", byId("voice").value));
    byId("reset").addEventListener("click", () => this.#reset());
    navigator.mediaDevices?.addEventListener("devicechange", () => this.devices());
    this.#speakerOrReason();
    this.#fill();
    this.devices();
  }

  /** @param {object | null} facts the server's: its defaults, and what its model can take */
  facts(facts) {
    for (const [name, theirs] of Object.entries(NUMBERS)) {
      const initial = facts?.sampling?.[theirs];
      byId(name).placeholder = initial === undefined ? (name === "seed" ? DRAWN : "") : String(initial);
    }
    const model = facts ? facts.name : "the model";
    able("instructions", facts?.instructions ?? false, `${model} takes no instructions here.`);
    able("voice", (facts?.voices.length ?? 0) > 0, `${model} has one voice here.`);
    const voices = (facts?.voices ?? []).map((voice) => element("option", { value: voice }, voice));
    byId("voice").replaceChildren(element("option", { value: "" }, "The model’s own"), ...voices);
    byId("voice").value = this.#settings.get("voice");
  }

  /** Asks for the list of devices; they have names only once the microphone was allowed. */
  async devices() {
    const all = (await navigator.mediaDevices?.enumerateDevices().catch(() => [])) ?? [];
    this.#list("microphone", all, "audioinput");
    this.#list("speaker", all, "audiooutput");
  }

  /** @param {string} trouble what came of a device that was chosen, or "" */
  trouble(trouble) {
    setText(byId("device-trouble"), trouble);
  }

  #list(name, all, kind) {
    const found = all.filter((device) => device.kind === kind && device.deviceId !== "default" && device.label);
    const options = found.map(({ deviceId, label }) => element("option", { value: deviceId }, label));
    const chosen = this.#settings.get(name);
    byId(name).replaceChildren(element("option", { value: "" }, "The system’s choice"), ...options);
    byId(name).value = found.some(({ deviceId }) => deviceId === chosen) ? chosen : "";
  }

  #fill() {
    for (const name of SWITCHES) byId(name).checked = this.#settings.get(name);
    for (const name of Object.keys(NUMBERS)) {
      byId(name).value = this.#settings.get(name) ?? "";
      this.#tell(name, "");
    }
    byId("instructions").value = this.#settings.get("instructions");
    byId("reset").disabled = this.#settings.isDefault;
  }

  #write(name, value) {
    this.#settings.set(name, value);
    byId("reset").disabled = this.#settings.isDefault;
  }

  #switch(name) {
    this.#write(name, byId(name).checked);
    if (OF_MICROPHONE.includes(name)) this.#on.microphone();
  }

  #device(name) {
    this.#write(name, byId(name).value);
    this.#on[name]();
  }

  #number(name) {
    const { value, trouble } = readNumber(name, byId(name).value);
    this.#tell(name, trouble);
    if (!trouble) this.#write(name, value);
  }

  #tell(name, trouble) {
    byId(name).setAttribute("aria-invalid", String(trouble !== ""));
    setText(byId(`${name}-trouble`), trouble);
  }

  #reset() {
    this.#settings.reset();
    this.#fill();
    this.#on.microphone();
  }

  #speakerOrReason() {
    able("speaker", canChooseSpeaker(), "This browser plays where the system says.");
  }
}

/** A field that cannot be used says why. */
function able(name, isAble, reason) {
  byId(name).disabled = !isAble;
  setText(byId(`${name}-reason`), isAble ? "" : reason);
}
