/**
 * The agent's words as written beside what Whisper heard of them: which were heard otherwise.
 *
 * Both lists grow at their ends, the heard one seconds later. What is new is aligned by the least edit
 * distance over normalised words (lower case, no punctuation, apostrophes kept, as in evals/SCORING.md);
 * words far apart in time are never taken for each other. Everything before a match that is old enough is
 * settled and not looked at again. Pure. Refuses to know paragraphs.
 */

export const SETTLE_MS = 2_500; // so far behind what was heard a verdict is given
export const APART_MS = 3_000; // what is written and what is heard of it are no further apart
const STALE_MS = 4 * SETTLE_MS; // what was heard so long ago without being written never will be
const MOST_OPEN = 160; // words; what does not align by then never will

export class Comparison {
  counts = { compared: 0, same: 0 };
  #written = [];
  #heard = [];

  /** @param {{text: string, start_ms: number, heard?: string | null}} word `heard` is set on it later */
  write(word) {
    this.#written.push(word);
  }

  /**
   * @param {{word: string, start_ms: number}[]} words that follow those of before
   * @param {number} throughMs everything before it has been heard
   * @returns {object[]} the written words that got a verdict
   */
  hear(words, throughMs) {
    this.#heard.push(...words.filter(({ word }) => normal(word) !== ""));
    const due = this.#written.findIndex(({ start_ms }) => start_ms > throughMs - SETTLE_MS);
    const written = this.#written.slice(0, due === -1 ? undefined : due).slice(0, MOST_OPEN);
    const pairs = aligned(written, this.#heard.slice(0, 2 * MOST_OPEN));
    const cut = written.length < MOST_OPEN ? lastMatch(pairs, throughMs) : pairs.length;
    const settled = this.#settle(pairs.slice(0, cut));
    this.#forget(throughMs);
    return settled;
  }

  /** What was heard long ago, and before everything that still waits. */
  #forget(throughMs) {
    const open = this.#written[0]?.start_ms ?? Infinity;
    const until = Math.min(throughMs - STALE_MS, open - APART_MS);
    const kept = this.#heard.findIndex(({ start_ms }) => start_ms >= until);
    this.#heard.splice(0, kept === -1 ? this.#heard.length : kept);
  }

  #settle(pairs) {
    const settled = [];
    for (const { written, heard } of pairs) {
      if (heard) this.#heard.shift();
      if (!written) continue;
      this.#written.shift();
      written.heard = verdict(written, heard);
      if (written.heard === undefined) continue;
      this.counts.compared += 1;
      this.counts.same += written.heard === null ? 1 : 0;
      settled.push(written);
    }
    return settled;
  }
}

/** undefined where there is nothing to be heard, such as a dash. */
function verdict(written, heard) {
  if (normal(written.text) === "") return undefined;
  if (!heard) return "";
  return normal(written.text) === normal(heard.word) ? null : heard.word.trim();
}

/** @returns {string} what two words are compared by */
export function normal(word) {
  return word
    .toLowerCase()
    .replace(/[’‘]/g, "'")
    .replace(/[^\p{Letter}\p{Number}']/gu, "");
}

/** How many of the pairs are settled: up to the last match, or to where silence has gone on for long. */
function lastMatch(pairs, throughMs) {
  const matches = pairs.map(
    ({ written, heard }) => written && heard && normal(written.text) === normal(heard.word),
  );
  const match = matches.lastIndexOf(true) + 1;
  const old = pairs.findLastIndex(
    (pair) => (pair.written ?? pair.heard).start_ms < throughMs - SETTLE_MS - APART_MS,
  );
  return Math.max(match, old + 1);
}

/**
 * Pairs of the cheapest way from one list to the other; where one side is null, the word stands alone.
 * Heard words that follow the last written one are left out: what they belong to is not due yet.
 */
function aligned(written, heard) {
  const costs = table(written, heard);
  const last = costs[written.length];
  const pairs = [];
  let [i, j] = [written.length, last.indexOf(Math.min(...last))];
  while (i > 0 || j > 0) {
    const here = costs[i][j];
    if (i > 0 && j > 0 && here === costs[i - 1][j - 1] + price(written[i - 1], heard[j - 1])) {
      pairs.push({ written: written[--i], heard: heard[--j] });
    } else if (i > 0 && here === costs[i - 1][j] + 1) pairs.push({ written: written[--i], heard: null });
    else pairs.push({ written: null, heard: heard[--j] });
  }
  return pairs.reverse();
}

function table(written, heard) {
  const costs = [Array.from({ length: heard.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= written.length; i++) {
    const row = [i];
    for (let j = 1; j <= heard.length; j++) {
      const both = costs[i - 1][j - 1] + price(written[i - 1], heard[j - 1]);
      row.push(Math.min(both, costs[i - 1][j] + 1, row[j - 1] + 1));
    }
    costs.push(row);
  }
  return costs;
}

function price(written, heard) {
  if (Math.abs(written.start_ms - heard.start_ms) > APART_MS) return 3; // dearer than both alone
  return normal(written.text) === normal(heard.word) ? 0 : 1;
}
