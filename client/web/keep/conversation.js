/**
 * A conversation's picture and words as plain data, and back: what a replay is made of.
 *
 * Pure. Refuses to know sound, files and pages.
 */

import { Timeline } from "../lanes/timeline.js";

/**
 * @param {import("../lanes/timeline.js").Timeline} timeline
 * @param {{paragraphs: object[]}} transcript
 * @returns {object} as JSON can hold it
 */
export function toData(timeline, { paragraphs }) {
  return {
    user: voiceData(timeline.user),
    agent: voiceData(timeline.agent),
    events: timeline.events,
    gaps: timeline.gaps,
    marks: timeline.marks,
    paragraphs: paragraphs.map(({ channel, words }) => ({ channel, words })),
  };
}

/** @returns {{timeline: object, paragraphs: object[]}} to be drawn as the originals are */
export function fromData(data) {
  const timeline = new Timeline();
  for (const channel of ["user", "agent"]) {
    for (const peak of fromBase64(data[channel].peaks)) timeline[channel].waveform.push(peak);
    timeline[channel].activity.segments.push(...data[channel].speech);
  }
  timeline.events.push(...data.events);
  timeline.gaps.push(...data.gaps);
  timeline.marks.push(...data.marks);
  return { timeline, paragraphs: data.paragraphs.map((paragraph, id) => ({ id, ...paragraph })) };
}

function voiceData({ waveform, activity }) {
  return { peaks: toBase64(waveform.hops()), speech: activity.segments };
}

/** @param {Uint8Array} bytes @returns {string} */
export function toBase64(bytes) {
  const PIECE = 24_576; // a multiple of three, so that the pieces' letters can be joined
  const pieces = [];
  for (let at = 0; at < bytes.length; at += PIECE) {
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE))));
  }
  return pieces.join("");
}

function fromBase64(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
