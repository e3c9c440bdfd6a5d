// The score of one conversation: rows of time, in each the user above, the agent below, and between
// them a mark for every event. Refuses to know sound: a click is handed on.

const SVG = "http://www.w3.org/2000/svg";
const LANE = 34;
const MARK_HEIGHT = 16;
const MARK_GAP = 3;
const RULER = 16;
const WORD_ROOM = 15;
const LETTER_WIDTH = 6.4;
const WORDS_FROM_PX_PER_S = 70; // below this, words would lie on top of each other

function shape(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function unpackPeaks(packed) {
  return packed ? Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0)) : null;
}

function within(list, from, to) {
  return list.filter((item) => item[1] > from && item[0] < to);
}

// Marks that would touch go one level down; returns [mark, level] and how many levels there are.
function stacked(events, toX, width) {
  const ends = [];
  const placed = events.map((event) => {
    const markWidth = event.code.length * LETTER_WIDTH + 10;
    const x = Math.min(Math.max(toX(event.start), 0), width - markWidth);
    let level = ends.findIndex((end) => end + MARK_GAP <= x);
    if (level < 0) level = ends.length;
    ends[level] = x + markWidth;
    return { event, x, markWidth, level };
  });
  return { placed, levels: Math.max(1, ends.length) };
}

function drawWave(row, peaks, perSecond, from, to, toX, middle, name) {
  if (peaks === null) return;
  const first = Math.max(0, Math.floor(from * perSecond));
  const last = Math.min(peaks.length, Math.ceil(to * perSecond));
  if (last <= first) return;
  const half = LANE / 2 - 3;
  const height = (index) => Math.max(0.4, Math.sqrt(peaks[index] / 255) * half);
  const upper = [];
  const lower = [];
  for (let index = first; index < last; index += 1) {
    const x = toX((index + 0.5) / perSecond).toFixed(1);
    upper.push(`${x},${(middle - height(index)).toFixed(1)}`);
    lower.unshift(`${x},${(middle + height(index)).toFixed(1)}`);
  }
  row.append(shape("polygon", { points: [...upper, ...lower].join(" "), class: `wave ${name}` }));
}

// A word keeps to the room before the next one rather than lie on top of it.
function squeeze(label, room) {
  label.setAttribute("textLength", room.toFixed(1));
  label.setAttribute("lengthAdjust", "spacingAndGlyphs");
}

function drawLane(row, name, lane, span, view, top) {
  const { from, to, toX, pxPerS } = view;
  row.append(shape("rect", { x: 0, y: top, width: view.width, height: LANE, class: "groove" }));
  for (const [start, end, kind] of within(lane.turns, from, to)) {
    const turn = shape("rect", {
      x: toX(start),
      y: top,
      width: Math.max(1, toX(end) - toX(start)),
      height: LANE,
      class: `turn ${name} ${kind}`,
    });
    turn.append(shape("title", {}, `${name} ${kind.replaceAll("_", " ")}, ${start.toFixed(2)} to ${end.toFixed(2)} s`));
    row.append(turn);
  }
  for (const [start, end] of within(lane.ipus, from, to)) {
    row.append(
      shape("rect", {
        x: toX(start),
        y: top + 2,
        width: Math.max(1, toX(end) - toX(start)),
        height: LANE - 4,
        rx: 3,
        class: `ipu ${name}`,
      }),
    );
  }
  drawWave(row, lane.wave, span.peaksPerSecond, from, to, toX, top + LANE / 2, name);
  if (pxPerS < WORDS_FROM_PX_PER_S) return;
  const baseline = name === "user" ? top - 4 : top + LANE + 12;
  const words = within(lane.words, from, to).filter(([start]) => start >= from);
  words.forEach(([start, , word], index) => {
    const x = toX(start);
    const room = (index + 1 < words.length ? toX(words[index + 1][0]) : view.width) - x - 3;
    const label = shape("text", { x, y: baseline, class: "word" }, word);
    if (word.length * LETTER_WIDTH > room) squeeze(label, Math.max(6, room));
    row.append(label);
  });
}

function drawRuler(row, view, height) {
  const step = view.pxPerS > 60 ? 1 : view.pxPerS > 25 ? 2 : view.pxPerS > 12 ? 5 : 10;
  for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) {
    const x = view.toX(time);
    row.append(shape("line", { x1: x, x2: x, y1: RULER, y2: height, class: "tick" }));
    if (x < view.width - 24) row.append(shape("text", { x: x + 3, y: 11, class: "time" }, `${time} s`));
  }
}

// How long the event lasts and where its tag belongs; not part of what is clicked.
function drawExtent(row, mark, top, laneTops, view) {
  const { event, level } = mark;
  const edge = event.channel === "user" ? laneTops.user + LANE : laneTops.agent;
  const left = view.toX(event.start);
  const right = view.toX(Math.min(event.end, view.to));
  const middle = top + level * (MARK_HEIGHT + MARK_GAP) + MARK_HEIGHT / 2;
  row.append(
    shape(
      "g",
      { class: `span tone-${event.tone}` },
      shape("line", { x1: left, x2: Math.max(left + 1, right), y1: edge, y2: edge, class: "extent" }),
      shape("line", { x1: left, x2: left, y1: edge, y2: middle, class: "stem" }),
    ),
  );
}

function drawMark(row, mark, top, onPlay) {
  const { event, x, markWidth, level } = mark;
  const y = top + level * (MARK_HEIGHT + MARK_GAP);
  const times = `${event.start.toFixed(2)} to ${event.end.toFixed(2)} s`;
  const group = shape(
    "g",
    {
      class: `mark tone-${event.tone}${event.evaluable ? "" : " not-evaluable"}`,
      role: "button",
      tabindex: "-1",
      "aria-label": `${event.name}, ${event.start.toFixed(2)} s, ${event.shown}`,
      "data-event": event.id,
    },
    shape("title", {}, `${event.name}: ${event.shown}\n${times}\n${event.rule}`),
    shape("rect", { x, y, width: markWidth, height: MARK_HEIGHT, rx: 4, class: "tag" }),
    shape("text", { x: x + markWidth / 2, y: y + 12, class: "code" }, event.code),
  );
  group.addEventListener("click", (click) => {
    click.stopPropagation();
    onPlay(event);
  });
  row.append(group);
}

function drawRow(span, from, to, fullS, width, handlers) {
  const pxPerS = width / fullS;
  const toX = (time) => (time - from) * pxPerS;
  const view = { from, to, toX, pxPerS, width };
  const here = span.events.filter((event) => event.start >= from && event.start < to);
  const { placed, levels } = stacked(here, toX, width);
  const room = pxPerS >= WORDS_FROM_PX_PER_S && span.hasWords ? WORD_ROOM : 4;
  const user = RULER + room;
  const marksTop = user + LANE + 5;
  const agent = marksTop + levels * (MARK_HEIGHT + MARK_GAP) + 2;
  const height = agent + LANE + room + 4;
  const row = shape("svg", { width, height, class: "row", role: "group", "aria-label": `${from} to ${to.toFixed(0)} seconds` });
  drawRuler(row, { ...view, width: Math.min(width, toX(to)) }, height);
  const shown = { ...view, width: Math.min(width, toX(to)) };
  drawLane(row, "user", span.user, span, shown, user);
  drawLane(row, "agent", span.agent, span, shown, agent);
  for (const mark of placed) drawExtent(row, mark, marksTop, { user, agent }, view);
  for (const mark of placed) drawMark(row, mark, marksTop, handlers.onPlay);
  const head = shape("line", { x1: 0, x2: 0, y1: RULER - 4, y2: height, class: "head", visibility: "hidden" });
  row.append(head);
  row.addEventListener("click", (click) => {
    const time = from + (click.clientX - row.getBoundingClientRect().left) / pxPerS;
    handlers.onSeek(Math.min(time, to));
  });
  return { row, head, from, to, toX };
}

// Draws into `box`; returns what moves the play head and what marks the chosen event.
function drawTimeline(box, span, secondsPerRow, handlers) {
  const width = Math.max(280, box.clientWidth);
  const rows = [];
  const fullS = Math.max(1, Math.min(secondsPerRow, span.duration));
  for (let from = 0; from < span.duration - 1e-6; from += fullS) {
    rows.push(drawRow(span, from, Math.min(from + fullS, span.duration), fullS, width, handlers));
  }
  box.replaceChildren(...rows.map(({ row }) => row));
  walkMarks(box, handlers.onPlay, span.events);
  return {
    moveHead(time) {
      for (const { head, from, to, toX } of rows) {
        const inside = time >= from && time < to;
        head.setAttribute("visibility", inside ? "visible" : "hidden");
        if (inside) head.setAttribute("transform", `translate(${toX(time).toFixed(1)} 0)`);
      }
    },
    choose(id) {
      for (const mark of box.querySelectorAll(".mark")) {
        mark.classList.toggle("chosen", mark.dataset.event === id);
      }
    },
  };
}

// One stop for the Tab key; arrows walk from event to event, Enter or space plays.
function walkMarks(box, onPlay, events) {
  const marks = [...box.querySelectorAll(".mark")];
  if (marks.length > 0) marks[0].setAttribute("tabindex", "0");
  marks.forEach((mark, index) => {
    mark.addEventListener("keydown", (press) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[press.key];
      if (step !== undefined && marks[index + step] !== undefined) {
        mark.setAttribute("tabindex", "-1");
        marks[index + step].setAttribute("tabindex", "0");
        marks[index + step].focus();
      } else if (press.key === "Enter" || press.key === " ") {
        onPlay(events.find((event) => event.id === mark.dataset.event));
      } else return;
      press.preventDefault();
    });
  });
}
