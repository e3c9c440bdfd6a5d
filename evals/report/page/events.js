// The table of events: filtered, sorted, and drawn a piece at a time. Refuses to know sound.

const ROWS_AT_ONCE = 200;

function cell(text, className = "") {
  const made = document.createElement("td");
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function eventRow(event, onPlay) {
  const row = document.createElement("tr");
  row.dataset.event = event.id;
  if (!event.evaluable) row.className = "not-evaluable";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "play";
  button.textContent = "▶";
  button.setAttribute("aria-label", `Play ${event.name} at ${event.start.toFixed(2)} s of ${event.conversation}`);
  button.addEventListener("click", () => onPlay(event));
  const first = cell("");
  first.append(button);
  const tag = document.createElement("span");
  tag.className = `tag tone-${event.tone}`;
  tag.textContent = event.code;
  const type = cell("", "event");
  const rule = document.createElement("span");
  rule.className = "rule";
  rule.textContent = event.rule;
  type.append(tag, ` ${event.name}`, rule);
  const tags = event.tags.filter((one) => one !== event.why);
  const doubt = event.evaluable ? "" : `not evaluable: ${event.why}`;
  row.append(
    first,
    cell(event.conversation, "id"),
    type,
    cell(event.channel),
    cell(event.start.toFixed(2), "figure"),
    cell((event.end - event.start).toFixed(2), "figure"),
    cell(event.shown, "figure"),
    cell(event.words, "words"),
    cell([doubt, ...tags, event.scoring].filter(Boolean).join("; ")),
  );
  return row;
}

function sortKey(event, key) {
  if (key === "length") return event.end - event.start;
  return event[key];
}

// What has no value comes last, whichever way the rest is sorted.
function compareEvents(key, direction) {
  return (a, b) => {
    const left = sortKey(a, key);
    const right = sortKey(b, key);
    if (left === null || right === null) return (left === null) - (right === null);
    if (typeof left === "number") return direction * (left - right);
    return direction * String(left).localeCompare(String(right), "en", { numeric: true });
  };
}

function makeEventTable(root, events, onPlay) {
  const body = root.querySelector("tbody");
  const more = root.querySelector("[data-more]");
  const count = root.querySelector("[data-count]");
  const filters = [...root.querySelectorAll("[data-filter]")];
  let sorting = { key: null, direction: 1 };
  let shown = ROWS_AT_ONCE;

  function passes(event) {
    return filters.every((filter) => {
      if (filter.type === "checkbox") {
        return !filter.checked || !event.evaluable || event.censored;
      }
      if (filter.value === "") return true;
      if (filter.dataset.filter !== "text") return event[filter.dataset.filter] === filter.value;
      const text = [event.id, event.name, event.words, event.rule, event.why, ...event.tags].join(" ");
      return text.toLowerCase().includes(filter.value.toLowerCase());
    });
  }

  function draw() {
    const found = events.filter(passes);
    if (sorting.key !== null) found.sort(compareEvents(sorting.key, sorting.direction));
    body.replaceChildren(...found.slice(0, shown).map((event) => eventRow(event, onPlay)));
    count.textContent = `${found.length} of ${events.length} events`;
    more.hidden = found.length <= shown;
  }

  for (const filter of filters) {
    filter.addEventListener("input", () => {
      shown = ROWS_AT_ONCE;
      draw();
    });
  }
  for (const button of root.querySelectorAll("[data-sort]")) {
    button.addEventListener("click", () => {
      const same = sorting.key === button.dataset.sort;
      sorting = { key: button.dataset.sort, direction: same ? -sorting.direction : 1 };
      for (const head of root.querySelectorAll("th[aria-sort]")) head.removeAttribute("aria-sort");
      button.closest("th").setAttribute("aria-sort", sorting.direction > 0 ? "ascending" : "descending");
      draw();
    });
  }
  more.addEventListener("click", () => {
    shown += ROWS_AT_ONCE;
    draw();
  });
  draw();
  return {
    choose(id) {
      for (const row of body.children) row.classList.toggle("chosen", row.dataset.event === id);
    },
  };
}
