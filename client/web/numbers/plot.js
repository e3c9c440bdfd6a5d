/**
 * The one plot: how long the answers took, over the last two minutes, against the frame's own length.
 *
 * Refuses to know how they were measured.
 */

import { FRAME_MS } from "../audio/frames.js";

export const SPAN_MS = 120_000;
const LEAST_TOP_MS = 120;
const LEFT = 34;
const BOTTOM = 18;
const DOT = 2;

/**
 * @param {CanvasRenderingContext2D} context @param {{width: number, height: number}} size
 * @param {{at: number, ms: number}[]} points in order of time
 * @param {number} now
 * @param {{colours: object, font: string}} look
 */
export function drawPlot(context, size, points, now, { colours, font }) {
  const top = ceiling(points);
  const room = { width: size.width - LEFT - 4, height: size.height - BOTTOM - 6 };
  const toX = (at) => LEFT + room.width * (1 - (now - at) / SPAN_MS);
  const toY = (ms) => 6 + room.height * (1 - Math.min(ms, top) / top);
  context.clearRect(0, 0, size.width, size.height);
  context.font = `11px ${font}`;
  context.textBaseline = "middle";
  scale(context, size, top, toY, colours);
  times(context, size, room, colours);
  context.fillStyle = colours.alarm;
  for (let x = LEFT; x < size.width - 4; x += 8) context.fillRect(x, toY(FRAME_MS) - 0.5, 4, 1);
  for (const { at, ms } of points) {
    if (now - at > SPAN_MS) continue;
    context.fillStyle = ms > FRAME_MS ? colours.alarm : colours.user;
    context.fillRect(toX(at) - DOT / 2, toY(ms) - DOT / 2, DOT, DOT);
  }
}

/** A round number above nearly all of them. */
function ceiling(points) {
  const ordered = points.map(({ ms }) => ms).sort((a, b) => a - b);
  const high = ordered[Math.floor(ordered.length * 0.995)] ?? 0;
  const steps = [LEAST_TOP_MS, 200, 400, 800, 2_000, 5_000, 20_000];
  return steps.find((step) => step >= high * 1.1) ?? steps.at(-1);
}

function scale(context, { width }, top, toY, colours) {
  context.textAlign = "right";
  for (const ms of [0, FRAME_MS, top]) {
    context.fillStyle = colours.line;
    context.fillRect(LEFT, toY(ms) - 0.5, width - LEFT - 4, 1);
    context.fillStyle = colours.quiet;
    if (ms !== FRAME_MS || toY(0) - toY(ms) > 12) context.fillText(ms < 1_000 ? String(ms) : `${ms / 1_000} s`, LEFT - 6, toY(ms));
  }
}

function times(context, { height }, room, colours) {
  context.fillStyle = colours.quiet;
  context.textAlign = "left";
  context.fillText("2 min ago", LEFT, height - 7);
  context.textAlign = "right";
  context.fillText("now", LEFT + room.width, height - 7);
}
