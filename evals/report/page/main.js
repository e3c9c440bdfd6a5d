// Brings the parts together: which conversation is shown, which event is chosen, what is playing.

function readJson(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

function lanesOf(number) {
  const { user, agent, about } = readJson(`lanes-${number}`);
  const heard = document.getElementById(`peaks-${number}`) !== null;
  const peaks = heard ? readJson(`peaks-${number}`) : { user: null, agent: null };
  return {
    about,
    user: { ...user, wave: unpackPeaks(peaks.user) },
    agent: { ...agent, wave: unpackPeaks(peaks.agent) },
  };
}

function main() {
  const index = readJson("index");
  const events = index.conversations.flatMap((conversation, number) =>
    readJson(`events-${number}`).map((event) => ({ ...event, conversation: conversation.id, number })),
  );
  const status = document.getElementById("playing");
  const choice = document.getElementById("conversation");
  const perRow = document.getElementById("per-row");
  const box = document.getElementById("timeline");
  const about = document.getElementById("about-conversation");
  const player = makePlayer(document.getElementById("audio"), status);
  let current = null;
  let drawn = null;
  let chosen = null;

  function show(number) {
    if (current === number && drawn !== null) return;
    current = number;
    choice.value = String(number);
    const lanes = lanesOf(number);
    about.textContent = lanes.about;
    const span = {
      duration: index.conversations[number].duration,
      peaksPerSecond: index.peaks_per_second,
      user: lanes.user,
      agent: lanes.agent,
      hasWords: lanes.user.words.length + lanes.agent.words.length > 0,
      events: events.filter((event) => event.number === number),
    };
    drawn = drawTimeline(box, span, Number(perRow.value), {
      onPlay: choose,
      onSeek: (time) => player.seek(number, time),
    });
    drawn.choose(chosen);
    player.load(number);
  }

  function redraw() {
    drawn = null;
    show(current);
  }

  function choose(event) {
    chosen = event.id;
    show(event.number);
    drawn.choose(event.id);
    table.choose(event.id);
    history.replaceState(null, "", `#${encodeURIComponent(event.id)}`);
    const where = `${event.start.toFixed(2)} to ${event.end.toFixed(2)} s of ${event.conversation}`;
    player.playSpan(event.number, event.start, event.end, `${event.name}, ${event.shown}: ${where}`);
  }

  const table = makeEventTable(document.getElementById("events"), events, choose);
  player.onTick((time, number) => {
    if (drawn !== null && number === current) drawn.moveHead(time);
  });
  choice.addEventListener("change", () => show(Number(choice.value)));
  perRow.addEventListener("change", redraw);
  document.getElementById("play-pause").addEventListener("click", player.toggle);
  let width = box.clientWidth;
  new ResizeObserver(() => {
    if (box.clientWidth !== width) {
      width = box.clientWidth;
      redraw();
    }
  }).observe(box);

  const linked = decodeURIComponent(location.hash.slice(1));
  const first = events.find((event) => event.id === linked);
  if (first !== undefined) chosen = first.id;
  if (index.conversations.length > 0) show(first === undefined ? 0 : first.number);
}

main();
