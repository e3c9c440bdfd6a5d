// The sound: one audio element that plays spans of the conversation that is chosen.
// Refuses to know events and drawings; who wants to follow the play head says so with onTick.

const AROUND_S = 0.5; // heard before and after a span, so that an edge is not cut off

function makePlayer(audio, status) {
  let loaded = null; // index of the conversation whose sound is in the element
  let stopAt = Infinity;
  let address = null;
  let ticking = false;
  const listeners = [];

  function tick() {
    if (audio.currentTime >= stopAt) {
      audio.pause();
      stopAt = Infinity;
    }
    for (const listener of listeners) listener(audio.currentTime, loaded);
    ticking = !audio.paused;
    if (ticking) requestAnimationFrame(tick);
  }

  function startTicking() {
    if (!ticking) {
      ticking = true;
      requestAnimationFrame(tick);
    }
  }

  audio.addEventListener("play", startTicking);
  for (const name of ["seeked", "pause", "timeupdate"]) {
    audio.addEventListener(name, () => startTicking());
  }
  audio.addEventListener("error", () => {
    if (audio.getAttribute("src")) status.textContent = "This browser cannot play Ogg-Opus sound.";
  });

  function load(index) {
    if (loaded === index) return;
    audio.pause();
    stopAt = Infinity;
    if (address !== null) URL.revokeObjectURL(address);
    address = null;
    loaded = index;
    const packed = document.getElementById(`sound-${index}`);
    if (packed === null) {
      audio.removeAttribute("src");
      audio.load();
      return;
    }
    const bytes = Uint8Array.from(atob(packed.textContent.trim()), (letter) => letter.charCodeAt(0));
    address = URL.createObjectURL(new Blob([bytes], { type: "audio/ogg" }));
    audio.src = address;
    audio.load();
  }

  function at(time, action) {
    const go = () => {
      audio.currentTime = Math.max(0, time);
      action();
    };
    if (audio.readyState >= HTMLMediaElement.HAVE_METADATA) go();
    else audio.addEventListener("loadedmetadata", go, { once: true });
  }

  function play() {
    // A refusal is told in words: a page opened by a link may not play before the first click.
    audio.play().catch((refusal) => {
      if (refusal.name === "NotAllowedError") status.textContent = "Press play to hear it.";
    });
  }

  return {
    load,
    onTick: (listener) => listeners.push(listener),
    seek(index, time) {
      load(index);
      stopAt = Infinity;
      if (address !== null) at(time, () => {});
    },
    playSpan(index, start, end, words) {
      load(index);
      if (address === null) {
        status.textContent = `${words} (the sound of this conversation is not in the file)`;
        return;
      }
      status.textContent = words;
      at(start - AROUND_S, () => {
        stopAt = end + AROUND_S;
        play();
      });
    },
    toggle() {
      if (address === null) return;
      if (audio.paused) {
        stopAt = Infinity;
        play();
      } else audio.pause();
    },
  };
}
