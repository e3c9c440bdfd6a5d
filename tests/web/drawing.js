// Times the page's own drawing in a browser: see measure_drawing.py.

import { drawLanes } from "../../client/web/lanes/draw.js";
import { LanesView } from "../../client/web/lanes/lanes-view.js";
import { TimeAxis } from "../../client/web/lanes/time-axis.js";
import { Timeline } from "../../client/web/lanes/timeline.js";
import { palette } from "../../client/web/page/elements.js";

const FRAME_MS = 80;
const PICTURES = 300;
const LIVE_MS = 5_000;

const silence = new Float32Array(1_920);
const voice = Float32Array.from({ length: 1_920 }, (_, i) => 0.3 * Math.sin(i / 9) * Math.sin(i / 300));

/** Turns of four seconds, with a backchannel in each of the agent's and a barge-in at every third. */
function speaks(channel, frame) {
  const [turn, within] = [Math.floor(frame / 50), frame % 50];
  if (channel === "user") return turn % 2 === 0 ? within > 5 : within > 20 && within < 25;
  return turn % 2 === 1 ? within > 5 : turn % 3 === 0 && within < 8;
}

function grow(timeline, frame) {
  for (const channel of ["user", "agent"]) timeline.frame(channel, frame, speaks(channel, frame) ? voice : silence);
  if (frame % 400 === 0) timeline.mark("underrun", frame * FRAME_MS, { channel: "agent" });
}

function call(minutes) {
  const timeline = new Timeline();
  for (let frame = 0; frame < minutes * 750; frame++) grow(timeline, frame);
  return timeline;
}

const quantiles = (times) => {
  const sorted = [...times].sort((a, b) => a - b);
  return [0.5, 0.99].map((q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]);
};

/** One scene's axis: what stands at the left, and how it moves from picture to picture. */
const SCENES = {
  live: (axis) => axis.follow(),
  back: (axis, n, endMs) => axis.show(endMs / 2 + n * 16),
  near: (axis, n, endMs) => axis.show(endMs / 3 + n * 16),
  all: () => {},
};

function drawn(timeline, scene, pixels) {
  const canvas = document.querySelector("canvas");
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const context = canvas.getContext("2d");
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  const look = { colours: palette(), font: "sans-serif" };
  const axis = new TimeAxis(scene === "near" ? 10 : 20);
  axis.resize(width);
  axis.reach(timeline.endMs);
  if (scene === "all") axis.zoom(Infinity, 0);
  const times = [];
  for (let n = 0; n < PICTURES; n++) {
    SCENES[scene](axis, n, timeline.endMs);
    const from = performance.now();
    drawLanes(context, { width, height }, axis, timeline, look, { hoverX: null, headMs: null });
    if (pixels) context.getImageData(0, 0, 1, 1);
    times.push(performance.now() - from);
  }
  return quantiles(times);
}

/** The page's own view, drawing whenever the browser lets it, while frames come in. */
function live(view, timeline, scene) {
  view.show(timeline, true);
  if (scene === "back" || scene === "near") view.reveal(timeline.endMs / 2);
  if (scene === "all") view.showAll();
  let frame = timeline.endMs / FRAME_MS;
  const coming = setInterval(() => grow(timeline, frame++), FRAME_MS);
  return new Promise((resolve) => {
    const times = [];
    const began = performance.now();
    let last = began;
    const next = () => {
      const now = performance.now();
      times.push(now - last);
      last = now;
      if (now - began < LIVE_MS) return requestAnimationFrame(next);
      clearInterval(coming);
      view.rest();
      resolve(quantiles(times));
    };
    requestAnimationFrame(next);
  });
}

globalThis.measure = async (minutes) => {
  const timeline = call(minutes);
  const view = new LanesView(document.getElementById("lanes"));
  const found = {};
  for (const scene of Object.keys(SCENES)) {
    const frames = await live(view, timeline, scene);
    found[scene] = [...drawn(timeline, scene, false), ...drawn(timeline, scene, true), ...frames];
  }
  return found;
};
