/**
 * The two lanes on the page: drawn, followed, dragged, zoomed and pointed at, by mouse, finger and keyboard.
 *
 * Refuses to know where the conversation comes from.
 */

import { SharpCanvas } from "../page/canvas.js";
import { element, onPaletteChange, palette, setText } from "../page/elements.js";
import { drawLanes } from "./draw.js";
import { Hand } from "./hand.js";
import { Playhead } from "./playhead.js";
import { TimeAxis } from "./time-axis.js";
import { Timeline } from "./timeline.js";
import { eventSentence, momentSentence, summary } from "./words-of-events.js";

const HINT = matchMedia("(pointer: coarse)").matches
  ? "Drag to look back, pinch to zoom, touch for times."
  : "Drag to look back, Ctrl and wheel to zoom, point for times.";
const KEYS_HINT = "Arrows and Page keys move, + and - zoom, 0 shows all, Home and End go to the ends.";
const KEYS = "ArrowLeft ArrowRight PageUp PageDown Home End + - 0";
const SUMMARY_EVERY_MS = 2_000;

export class LanesView {
  #timeline = new Timeline();
  #axis = new TimeAxis();
  #canvas;
  #sharp;
  #parts;
  #look;
  #tags = [];
  #hover = null; // {x, y} in the canvas
  #head = new Playhead();
  #headMs = null;
  #isLive = false;
  #wantsAll = false;
  #summedUpAt = -Infinity;
  #listed = -1;

  /** @param {HTMLElement} root is filled @param {(ms: number) => void} onSeek somebody clicked a time */
  constructor(root, onSeek = () => {}) {
    const hint = () => setText(this.#parts.readout, this.#hint);
    const attributes = { class: "lanes", tabindex: "0", role: "img", "aria-keyshortcuts": KEYS };
    this.#canvas = element("canvas", { ...attributes, focus: hint, blur: hint });
    this.#parts = this.#build(root);
    this.#look = look();
    this.#sharp = new SharpCanvas(this.#canvas, (context, size) => this.#draw(context, size));
    new Hand(this.#canvas, {
      drag: (px) => this.#move(() => this.#axis.drag(px)),
      zoom: (factor, x) => this.#move(() => this.#axis.zoom(factor, x)),
      hover: (place) => this.#point(place),
      click: (x) => onSeek(Math.max(0, this.#axis.toMs(x))),
      key: (name) => this.#key(name),
    });
    onPaletteChange(() => {
      this.#look = look();
      this.#sharp.ask();
    });
    this.#tell();
  }

  /** @param {Timeline} timeline what is shown from now on @param {boolean} isLive it grows */
  show(timeline, isLive) {
    this.#timeline = timeline;
    this.#isLive = isLive;
    this.#head = new Playhead();
    this.#listed = -1;
    this.#parts.empty.hidden = isLive || timeline.endMs > 0;
    this.#axis.follow();
    this.#tell();
  }

  /** It grows no more. */
  rest() {
    this.#isLive = false;
    this.#tell();
  }

  /** Puts a time into the middle. */
  reveal(ms) {
    this.#move(() => this.#axis.centre(ms));
    this.#axis.hold();
    this.#tell();
  }

  /** What is being listened to. @param {number | null} ms */
  playAt(ms) {
    this.#headMs = ms;
    if (ms !== null && (ms < this.#axis.leftMs || ms > this.#axis.rightMs)) this.#axis.centre(ms);
    this.#sharp.ask();
  }

  /** The whole of it at once. */
  showAll() {
    this.#wantsAll = true; // how wide it is, is known when it is drawn
    this.#axis.follow();
    this.#tell();
  }

  #draw(context, size) {
    const now = performance.now();
    this.#axis.resize(size.width);
    this.#axis.reach(this.#isLive ? this.#head.at(now, this.#timeline.endMs) : this.#timeline.endMs);
    if (this.#wantsAll) this.#axis.zoom(Infinity, 0);
    this.#wantsAll = false;
    const pointers = { hoverX: this.#hover?.x ?? null, headMs: this.#headMs };
    this.#tags = drawLanes(context, size, this.#axis, this.#timeline, this.#look, pointers);
    this.#sumUp(now);
    return this.#isLive;
  }

  /** For who reads instead of looking: rarely, and the list only when it has grown. */
  #sumUp(now) {
    if (now - this.#summedUpAt < SUMMARY_EVERY_MS && this.#isLive) return;
    this.#summedUpAt = now;
    this.#canvas.setAttribute("aria-label", summary(this.#timeline));
    const events = this.#timeline.happenings;
    if (events.length === this.#listed) return;
    this.#listed = events.length;
    setText(this.#parts.count, `What happened (${events.length})`);
    const items = events.slice(-200).map((event) => this.#item(event));
    this.#parts.list.replaceChildren(...items);
  }

  #item(event) {
    const reveal = () => this.reveal(event.start_ms);
    return element("li", {}, element("button", { type: "button", class: "link", click: reveal }, eventSentence(event)));
  }

  #move(change) {
    change();
    this.#tell();
  }

  #point(place) {
    this.#hover = place;
    const inTag = ({ x, y, width, height }) =>
      place.x >= x && place.x <= x + width && place.y >= y - 4 && place.y <= y + height + 4;
    const tag = place && this.#tags.find(inTag);
    const ms = place && this.#axis.toMs(place.x);
    if (tag) setText(this.#parts.readout, eventSentence(tag.event));
    else if (place && ms <= this.#timeline.endMs) {
      setText(this.#parts.readout, momentSentence(this.#timeline, Math.max(0, ms)));
    } else setText(this.#parts.readout, this.#hint);
    this.#sharp.ask();
  }

  get #hint() {
    return this.#canvas.matches(":focus-visible") ? KEYS_HINT : HINT;
  }

  #key(name) {
    const page = this.#sharp.size.width / 2;
    const middle = this.#sharp.size.width / 2;
    const acts = {
      ArrowLeft: () => this.#axis.drag(page / 3),
      ArrowRight: () => this.#axis.drag(-page / 3),
      PageUp: () => this.#axis.drag(page),
      PageDown: () => this.#axis.drag(-page),
      Home: () => this.#axis.show(0),
      End: () => this.#axis.follow(),
      "+": () => this.#axis.zoom(0.5, middle),
      "-": () => this.#axis.zoom(2, middle),
      0: () => this.showAll(),
    };
    if (!Object.hasOwn(acts, name)) return false;
    this.#move(acts[name]);
    return true;
  }

  #toggle() {
    if (this.#axis.follows) this.#axis.hold();
    else this.#axis.follow();
    this.#tell();
  }

  #tell() {
    const { follow } = this.#parts;
    follow.disabled = !this.#isLive;
    setText(follow, this.#isLive && !this.#axis.follows ? "Go on" : "Pause");
    this.#sharp.ask();
  }

  #build(root) {
    const button = (text, label, click) => element("button", { type: "button", "aria-label": label, click }, text);
    const middle = () => this.#sharp.size.width / 2;
    const follow = element("button", { type: "button", class: "follow", click: () => this.#toggle() }, "Pause");
    const tools = element(
      "div",
      { class: "tools" },
      follow,
      button("–", "Zoom out", () => this.#move(() => this.#axis.zoom(2, middle()))),
      button("+", "Zoom in", () => this.#move(() => this.#axis.zoom(0.5, middle()))),
      element("button", { type: "button", click: () => this.showAll() }, "All"),
    );
    const readout = element("p", { class: "readout" }, HINT);
    const empty = element("p", { class: "empty" }, "Both voices appear here, on one time axis.");
    const count = element("summary", {}, "What happened (0)");
    const list = element("ol", { class: "events" });
    root.append(
      element("div", { class: "stage" }, this.#canvas, empty),
      element("div", { class: "under" }, readout, tools),
      element("details", {}, count, list),
    );
    return { follow, readout, empty, count, list };
  }
}

function look() {
  return { colours: palette(), font: getComputedStyle(document.body).fontFamily };
}
