/**
 * Who has the floor: what happens between two voices, from when each of them speaks.
 *
 * The words are those of the scoring (evals/SCORING.md), as far as they can be told while a call runs:
 * an overlap that begins while the other has spoken for 200 ms is a `backchannel` if it lasts a second at
 * most, stands alone and the other goes on; else a `barge_in` of the user's or an `interruption` of the
 * agent's. A response gap is the time from the end of a user's turn to the agent's next onset; it is
 * negative where the agent comes in up to half a second before. Pure. Refuses to know sound.
 */

export const FLOOR = Object.freeze({
  spokenMs: 200,
  backchannelMs: 1_000,
  aloneMs: 500,
  goesOnMs: 1_000,
  pauseMs: 1_000,
  terminalOverlapMs: 500,
  answerMs: 10_000,
});

const LOOK_BACK = 12; // segments; what lies further back is settled

/**
 * @typedef {{start_ms: number, end_ms: number}} Span
 * @typedef {{segments: Span[], isOpen: boolean, throughMs: number}} Voice
 */

export class Floor {
  /** {kind, channel, start_ms}, in the order in which they were known. */
  events = [];
  /** {from_ms, gap_ms}, one for each turn of the user's that was answered. */
  gaps = [];
  #user;
  #agent;
  #settled = { user: 0, agent: 0 };
  #turns = 0; // segments of the user's that are answered, or never will be

  /** @param {Voice} user @param {Voice} agent */
  constructor(user, agent) {
    this.#user = user;
    this.#agent = agent;
  }

  /** Looks at what has come since. */
  advance() {
    const now = Math.min(this.#user.throughMs, this.#agent.throughMs);
    this.#settle("user", this.#user, this.#agent, "barge_in", now);
    this.#settle("agent", this.#agent, this.#user, "interruption", now);
    this.#answers(now);
  }

  #settle(channel, mine, other, taking, now) {
    while (this.#settled[channel] < mine.segments.length) {
      const at = this.#settled[channel];
      const kind = judged(mine, at, other, taking, now);
      if (kind === undefined) return;
      this.#settled[channel] += 1;
      if (kind) this.events.push({ kind, channel, start_ms: mine.segments[at].start_ms });
    }
  }

  #answers(now) {
    for (; this.#turns < this.#user.segments.length; this.#turns++) {
      const gap = answered(this.#user, this.#turns, this.#agent, now);
      if (gap === undefined) return;
      if (gap !== null) this.gaps.push({ from_ms: this.#user.segments[this.#turns].end_ms, gap_ms: gap });
    }
  }
}

/** @returns {string | null | undefined} null: nothing; undefined: not to be told yet */
function judged(mine, at, other, taking, now) {
  const span = mine.segments[at];
  const closed = isClosed(mine, at);
  const length = span.end_ms - span.start_ms;
  if (!closed && length <= FLOOR.backchannelMs) return undefined;
  if (now < span.start_ms) return undefined;
  const over = tail(other).find((their) => their.start_ms <= span.start_ms && their.end_ms > span.start_ms);
  if (!over || span.start_ms - over.start_ms < FLOOR.spokenMs) return null;
  if (length > FLOOR.backchannelMs) return taking;
  if (now < span.end_ms + FLOOR.goesOnMs) return undefined;
  return standsAlone(mine, at) && goesOn(mine, at, other, over) ? "backchannel" : taking;
}

function standsAlone(mine, at) {
  const [before, span, after] = [mine.segments[at - 1], mine.segments[at], mine.segments[at + 1]];
  const near = (gap) => gap < FLOOR.aloneMs;
  if (before && near(span.start_ms - before.end_ms)) return false;
  return !(after && near(after.start_ms - span.end_ms));
}

function goesOn(mine, at, other, over) {
  const { end_ms } = mine.segments[at];
  if (over.end_ms > end_ms) return true;
  const next = tail(other).find((their) => their.start_ms > over.start_ms);
  return next !== undefined && next.start_ms - over.end_ms <= FLOOR.goesOnMs;
}

/** @returns {number | null | undefined} the gap; null: no turn, or no answer; undefined: not known yet */
function answered(user, at, agent, now) {
  if (!isClosed(user, at)) return undefined;
  const { start_ms, end_ms } = user.segments[at];
  const next = user.segments[at + 1];
  if (next && next.start_ms - end_ms <= FLOOR.pauseMs) return null; // a pause within a turn
  if (now < end_ms + FLOOR.pauseMs) return undefined;
  const earliest = Math.max(start_ms, end_ms - FLOOR.terminalOverlapMs);
  const speaksOn = tail(agent).some((their) => their.start_ms < earliest && their.end_ms > end_ms);
  if (speaksOn) return null;
  const until = Math.min(next?.start_ms ?? Infinity, end_ms + FLOOR.answerMs);
  const answer = tail(agent).find(
    (their) => their.start_ms >= earliest && their.start_ms < until && their.end_ms > end_ms,
  );
  if (answer) return answer.start_ms - end_ms;
  return next || now >= until ? null : undefined;
}

function isClosed(voice, at) {
  return at < voice.segments.length - 1 || !voice.isOpen;
}

function tail(voice) {
  return voice.segments.slice(-LOOK_BACK);
}
