/**
 * What runs in a replay: the picture, the words and the sound of one conversation, kept together.
 *
 * Refuses to know servers: everything stands in the file.
 */

import { LanesView } from "../lanes/lanes-view.js";
import { byId, setText } from "../page/elements.js";
import { clock } from "../words/transcript.js";
import { WordsView } from "../words/words-view.js";
import { fromData } from "./conversation.js";

const data = JSON.parse(byId("data").textContent);
const { timeline, paragraphs } = fromData(data);
const sound = soundOf(byId("sound"));
const lanes = new LanesView(byId("lanes"), seek);
const words = new WordsView(byId("words"), (ms) => {
  seek(ms);
  lanes.reveal(ms);
});

setText(document.querySelector("h1"), data.about.title);
setText(byId("about"), `${data.about.when} · ${data.about.model} · ${data.about.session}`);
lanes.show(timeline, false);
lanes.showAll();
words.update(paragraphs, paragraphs);
byId("play").disabled = sound === null;
byId("play").addEventListener("click", () => (sound.paused ? sound.play() : sound.pause()));
tell();

function soundOf(packed) {
  if (packed === null) return null;
  const bytes = Uint8Array.from(atob(packed.textContent), (letter) => letter.charCodeAt(0));
  const audio = new Audio(URL.createObjectURL(new Blob([bytes], { type: packed.dataset.type })));
  for (const name of ["play", "pause", "ended", "seeked"]) audio.addEventListener(name, follow);
  return audio;
}

function seek(ms) {
  if (sound) sound.currentTime = ms / 1000;
}

/** As long as it plays, the picture goes along. */
function follow() {
  tell();
  lanes.playAt(sound.currentTime * 1000);
  if (!sound.paused) requestAnimationFrame(follow);
}

function tell() {
  const paused = sound === null || sound.paused;
  setText(byId("play"), sound === null ? "No sound in this file" : paused ? "Play" : "Pause");
  setText(byId("at"), `${clock((sound?.currentTime ?? 0) * 1000)} of ${clock(timeline.endMs)}`);
}
