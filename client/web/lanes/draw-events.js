/**
 * Draws what happens between the two voices: the agent's response gaps, and tags.
 *
 * Refuses to know the lanes' insides.
 */

import { FLOOR } from "./floor.js";
import { between } from "./timeline.js";
import { KINDS } from "./words-of-events.js";

const FONT = "11px";
const GAP_ROW = 13; // from the strip's top to its middle
const TAG_ROW = 33;
const TAG_HEIGHT = 18;
const TAG_PADDING = 7;
const DOT = 8;
const APART_PX = 3; // what is nearer than that to the one before would only lie on it

/** A dimension line from the end of a turn to its answer, with its length. */
export function drawGaps(context, { width }, { top }, axis, timeline, { colours, font }) {
  const y = top + GAP_ROW;
  context.font = `600 ${FONT} ${font}`;
  context.textAlign = "left";
  context.fillStyle = colours.ink;
  let free = -Infinity;
  let drawn = -Infinity;
  const [first, last] = [axis.toMs(-80) - FLOOR.answerMs, axis.toMs(width) + FLOOR.terminalOverlapMs];
  for (const { from_ms, gap_ms } of between(timeline.gaps, "from_ms", first, last)) {
    const [from, to] = [from_ms, from_ms + gap_ms].map((ms) => axis.toX(ms));
    if (from < drawn + APART_PX) continue;
    drawn = from;
    context.fillRect(Math.min(from, to), y - 0.5, Math.abs(to - from), 1);
    for (const x of [from, to]) context.fillRect(x - 0.5, y - 5, 1, 10);
    const x = Math.max(from, to) + 6;
    const text = `${gap_ms} ms`;
    if (x < free) continue;
    context.fillText(text, x, y + 0.5);
    free = x + context.measureText(text).width + 6;
  }
}

/** @returns {{x: number, y: number, width: number, height: number, event: object}[]} */
export function drawTags(context, { width }, lanes, axis, timeline, { colours, font }) {
  context.font = `600 ${FONT} ${font}`;
  context.textAlign = "left";
  const tags = [];
  const dots = { user: -Infinity, agent: -Infinity };
  let free = -Infinity;
  for (const event of between(timeline.happenings, "start_ms", axis.toMs(-120), axis.toMs(width + 4))) {
    const at = axis.toX(event.start_ms);
    const { name, tone } = KINDS[event.kind];
    const colour = colours[tone];
    const tag = placed(context, lanes, event.channel, at, name, free, width);
    if (!tag.named && at < dots[event.channel] + APART_PX) continue;
    if (!tag.named) dots[event.channel] = at;
    stem(context, lanes, event.channel, at, tag, colour);
    pill(context, tag, name, colour, colours.card);
    if (tag.named) free = tag.x + tag.width + 4;
    tags.push({ ...tag, event });
  }
  return tags;
}

/** With its name where there is room for it, else as a dot in its lane. */
function placed(context, { user, agent, strip }, channel, at, name, free, width) {
  const wanted = context.measureText(name).width + 2 * TAG_PADDING;
  const x = Math.min(at - 4, width - wanted);
  if (x >= free) {
    return { x, y: strip.top + TAG_ROW - TAG_HEIGHT / 2, width: wanted, height: TAG_HEIGHT, named: true };
  }
  const y = channel === "agent" ? agent.top + agent.height - 2 * DOT : user.top + DOT;
  return { x: at - DOT / 2, y, width: DOT, height: DOT, named: false };
}

function stem(context, { user, agent, strip }, channel, at, tag, colour) {
  const middle = tag.named ? strip.top + TAG_ROW : tag.y;
  const edge = channel === "agent" ? agent.top + agent.height : user.top;
  context.globalAlpha = 0.55;
  context.fillStyle = colour;
  context.fillRect(at - 0.5, Math.min(edge, middle), 1, Math.abs(edge - middle));
  context.globalAlpha = 1;
}

function pill(context, { x, y, width, height, named }, name, colour, ground) {
  context.beginPath();
  context.roundRect(x, y, width, height, height / 2);
  context.fillStyle = named ? ground : colour;
  context.fill();
  if (!named) return;
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.stroke();
  context.fillStyle = colour;
  context.fillText(name, x + TAG_PADDING, y + height / 2 + 0.5);
}
