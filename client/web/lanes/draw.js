/**
 * Draws two voices on one time axis.
 *
 * The picture is a function of what is handed in. Refuses to know where a conversation comes from, and who
 * looks at it.
 */

import { preciseClock } from "./words-of-events.js";
import { within } from "./timeline.js";
import { drawGaps, drawTags } from "./draw-events.js";

const RULER = 26;
const STRIP = 46; // between the lanes, for what happens between the voices
const BAR = 2;
const BAR_STEP = 3; // a bar and the gap after it
const HATCH = 9;
const LABEL_FONT = "600 12px";
const RULER_FONT = "11px";

/**
 * @param {CanvasRenderingContext2D} context in CSS pixels
 * @param {{width: number, height: number}} size
 * @param {import("./time-axis.js").TimeAxis} axis
 * @param {import("./timeline.js").Timeline} timeline
 * @param {{colours: Record<string, string>, font: string}} look
 * @param {{hoverX: number | null, headMs: number | null}} pointers
 * @returns {{x: number, y: number, width: number, height: number, event: object}[]} the tags, to be pointed at
 */
export function drawLanes(context, size, axis, timeline, look, { hoverX, headMs }) {
  const lanes = places(size);
  context.clearRect(0, 0, size.width, size.height);
  context.textBaseline = "middle";
  for (const channel of ["user", "agent"]) groove(context, size, lanes[channel], look);
  ruler(context, size, axis, look);
  overlaps(context, lanes, axis, timeline, look);
  for (const channel of ["user", "agent"]) {
    spans(context, lanes[channel], axis, timeline, channel, look);
    bars(context, size, lanes[channel], axis, timeline[channel], look, channel);
  }
  silences(context, size, lanes.user, axis, timeline, look);
  drawGaps(context, size, lanes.strip, axis, timeline, look);
  const tags = drawTags(context, size, lanes, axis, timeline, look);
  labels(context, lanes, look);
  if (headMs !== null) line(context, size, axis.toX(headMs), look.colours.ink, 2);
  if (hoverX !== null) pointer(context, size, axis, hoverX, look);
  return tags;
}

/** Where the parts stand, from top to bottom. */
function places({ height }) {
  const lane = (height - RULER - STRIP) / 2;
  return {
    user: { top: RULER, height: lane },
    strip: { top: RULER + lane, height: STRIP },
    agent: { top: RULER + lane + STRIP, height: lane },
  };
}

function groove(context, { width }, { top, height }, { colours }) {
  context.fillStyle = colours.groove;
  context.beginPath();
  context.roundRect(0, top, width, height, 10);
  context.fill();
}

function ruler(context, { width, height }, axis, { colours, font }) {
  context.font = `${RULER_FONT} ${font}`;
  context.textAlign = "left";
  for (const { x, label } of axis.ticks()) {
    context.fillStyle = colours.line;
    context.fillRect(Math.round(x), RULER - 8, 1, height - RULER + 8);
    context.fillStyle = colours.quiet;
    const fits = x + 5 + context.measureText(label).width <= width;
    if (fits) context.fillText(label, x + 5, RULER / 2 - 1);
  }
}

function overlaps(context, lanes, axis, timeline, { colours }) {
  const top = lanes.user.top;
  const height = lanes.agent.top + lanes.agent.height - top;
  context.fillStyle = colours.overlap;
  for (const { from, to } of stretches(timeline.overlaps(axis.leftMs, axis.rightMs), axis)) {
    context.fillRect(from, top, Math.max(1, to - from), height);
  }
}

function spans(context, { top, height }, axis, timeline, channel, { colours }) {
  context.fillStyle = colours[`${channel}Soft`];
  const spans = within(timeline[channel].activity.segments, axis.leftMs, axis.rightMs);
  context.beginPath();
  for (const { from, to } of stretches(spans, axis)) {
    context.roundRect(from, top + 3, Math.max(2, to - from), height - 6, 6);
  }
  context.fill();
}

/** Spans in pixels; those that a screen cannot keep apart are one. */
function stretches(spans, axis) {
  const found = [];
  for (const { start_ms, end_ms } of spans) {
    const [from, to] = [axis.toX(start_ms), axis.toX(end_ms)];
    const last = found.at(-1);
    if (last && from < Math.max(last.to, last.from + 2) + 1) last.to = to;
    else found.push({ from, to });
  }
  return found;
}

/** The waveform: bars that keep their place in time, so that they do not shimmer when they move. */
function bars(context, { width }, { top, height }, axis, { waveform, activity }, { colours }, channel) {
  const msPerBar = BAR_STEP * axis.msPerPx;
  const first = Math.floor(axis.leftMs / msPerBar);
  const peaks = new Uint8Array(Math.ceil(width / BAR_STEP) + 1);
  waveform.columns(first * msPerBar, msPerBar, peaks);
  const middle = top + height / 2;
  const half = height / 2 - 7;
  const paths = { speech: new Path2D(), rest: new Path2D() };
  const speech = within(activity.segments, axis.leftMs - msPerBar, axis.rightMs);
  let at = 0;
  for (const [bar, peak] of peaks.entries()) {
    const ms = (first + bar) * msPerBar;
    if (ms >= waveform.endMs) break;
    while (at < speech.length && speech[at].end_ms <= ms) at += 1;
    const speaks = at < speech.length && speech[at].start_ms < ms + msPerBar;
    const length = Math.max(0.75, half * (peak / 255) ** 0.7);
    paths[speaks ? "speech" : "rest"].rect(axis.toX(ms), middle - length, BAR, 2 * length);
  }
  context.fillStyle = colours[`${channel}Faint`];
  context.fill(paths.rest);
  context.fillStyle = colours[channel];
  context.fill(paths.speech);
}

/** Where the user's lane was silent on purpose, or for want of audio: hatched, in one go. */
function silences(context, { width }, { top, height }, axis, timeline, { colours }) {
  const spans = timeline.silences(axis.leftMs, Math.min(axis.rightMs, timeline.endMs));
  if (spans.length === 0) return;
  const end = axis.toX(timeline.endMs);
  context.save();
  context.beginPath();
  for (const { from, to } of stretches(spans, axis)) context.rect(from, top, Math.min(to, end) - from, height);
  context.clip();
  context.beginPath();
  for (let x = (axis.toX(0) % HATCH) - height; x < width; x += HATCH) {
    context.moveTo(x, top + height);
    context.lineTo(x + height, top);
  }
  context.globalAlpha = 0.35;
  context.strokeStyle = colours.quiet;
  context.lineWidth = 1;
  context.stroke();
  context.restore();
}

function labels(context, lanes, { colours, font }) {
  context.font = `${LABEL_FONT} ${font}`;
  context.textAlign = "left";
  for (const [channel, name] of [
    ["user", "You"],
    ["agent", "Agent"],
  ]) {
    const { top } = lanes[channel];
    const { width } = context.measureText(name);
    context.fillStyle = colours.card;
    context.globalAlpha = 0.85;
    context.beginPath();
    context.roundRect(8, top + 8, width + 14, 22, 11);
    context.fill();
    context.globalAlpha = 1;
    context.fillStyle = colours[channel];
    context.fillText(name, 15, top + 19.5);
  }
}

function pointer(context, size, axis, x, { colours, font }) {
  line(context, size, x, colours.ink, 1);
  const text = preciseClock(Math.max(0, axis.toMs(x)));
  context.font = `600 ${RULER_FONT} ${font}`;
  context.textAlign = "center";
  const width = context.measureText(text).width + 14;
  const centre = Math.max(width / 2, Math.min(size.width - width / 2, x));
  context.fillStyle = colours.ink;
  context.beginPath();
  context.roundRect(centre - width / 2, 2, width, 19, 9.5);
  context.fill();
  context.fillStyle = colours.card;
  context.fillText(text, centre, 12);
}

function line(context, { height }, x, colour, width) {
  context.fillStyle = colour;
  context.fillRect(x - width / 2, RULER - 4, width, height - RULER + 4);
}
