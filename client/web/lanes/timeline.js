/**
 * A conversation on one time axis: both waveforms, who spoke when, what happened, and marks.
 *
 * Frame n of the user's and frame n of the agent's are the same 80 ms. Pure. Refuses to know how it is
 * drawn and where frames come from.
 */

import { FRAME_MS } from "../audio/frames.js";
import { Activity } from "./activity.js";
import { Floor } from "./floor.js";
import { Waveform } from "./waveform.js";

export class Timeline {
  user = new Channel();
  agent = new Channel();
  /** {kind, channel, start_ms, end_ms, text}: what is not in the voices themselves. */
  marks = [];
  #floor = new Floor(this.user.activity, this.agent.activity);
  #ordered = [];
  #silent = { muted: [], padded: [] };
  #taken = { events: 0, marks: 0 }; // how many of each are in #ordered

  /** How long the conversation is. */
  get endMs() {
    return Math.max(this.user.waveform.endMs, this.agent.waveform.endMs);
  }

  /** What happened between the voices. */
  get events() {
    return this.#floor.events;
  }

  /** The agent's answers: {from_ms, gap_ms}. */
  get gaps() {
    return this.#floor.gaps;
  }

  /** Events and marks, in order of time. */
  get happenings() {
    this.#takeIn();
    return this.#ordered;
  }

  /**
   * @param {"user" | "agent"} channel
   * @param {number} index of the frame; frames that were left out before it were silent
   * @param {Float32Array} samples [1920]
   */
  frame(channel, index, samples) {
    this[channel].append(index * FRAME_MS, samples);
    this.#floor.advance();
  }

  /** @param {string} kind @param {number} start_ms @param {object} more {channel, end_ms, text} */
  mark(kind, start_ms, { channel = null, end_ms = start_ms, text = "" } = {}) {
    const mark = { kind, channel, start_ms, end_ms, text };
    this.marks.push(mark);
    return mark;
  }

  /** Stretches in which both speak, of those that touch a span. */
  overlaps(fromMs, toMs) {
    const user = within(this.user.activity.segments, fromMs, toMs);
    const agent = within(this.agent.activity.segments, fromMs, toMs);
    const found = [];
    for (let i = 0, j = 0; i < user.length && j < agent.length; ) {
      const start_ms = Math.max(user[i].start_ms, agent[j].start_ms);
      const end_ms = Math.min(user[i].end_ms, agent[j].end_ms);
      if (end_ms > start_ms) found.push({ start_ms, end_ms });
      if (user[i].end_ms < agent[j].end_ms) i += 1;
      else j += 1;
    }
    return found;
  }

  /** Marks of the user's silences that touch a span: on purpose, and for want of audio. */
  silences(fromMs, toMs) {
    this.#takeIn();
    const found = Object.values(this.#silent).flatMap((marks) => within(marks, fromMs, toMs));
    return found.sort((a, b) => a.start_ms - b.start_ms);
  }

  #takeIn() {
    for (const of of ["events", "marks"]) {
      for (; this.#taken[of] < this[of].length; this.#taken[of]++) this.#place(this[of][this.#taken[of]]);
    }
  }

  /** What becomes known late stands near the end all the same. */
  #place(happening) {
    this.#silent[happening.kind]?.push(happening);
    let at = this.#ordered.length;
    while (at > 0 && this.#ordered[at - 1].start_ms > happening.start_ms) at -= 1;
    this.#ordered.splice(at, 0, happening);
  }
}

class Channel {
  waveform = new Waveform();
  activity = new Activity();

  append(startMs, samples) {
    if (startMs < this.waveform.endMs) return; // that time has been told
    this.waveform.fillTo(startMs);
    this.activity.fillTo(startMs);
    this.waveform.append(samples);
    this.activity.append(samples);
  }
}

/** The spans of an ordered list that touch a stretch of time. */
export function within(spans, fromMs, toMs) {
  const first = firstOf(spans, ({ end_ms }) => end_ms > fromMs);
  return spans.slice(first, firstOf(spans, ({ start_ms }) => start_ms >= toMs, first));
}

/** The items of an ordered list whose time lies in a stretch. @param {string} time the name of it */
export function between(items, time, fromMs, toMs) {
  const first = firstOf(items, (item) => item[time] >= fromMs);
  return items.slice(first, firstOf(items, (item) => item[time] >= toMs, first));
}

/** @returns {number} the first item of which it holds; it holds of all after it too */
function firstOf(items, holds, low = 0) {
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(items[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}
