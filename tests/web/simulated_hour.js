/**
 * A call without devices, network and waiting, for a page that knows nothing of it: everything that a browser
 * gives to the page is replaced (clock, timers, WebSocket, audio), and `simulate(untilMs)` makes time go by.
 *
 * Both take turns of four seconds; answers come 30 to 45 ms after their frame; the device's clock is 150 ppm
 * fast. The playout buffer is the page's own, pulled as its worklet pulls it.
 */
(() => {
  const FRAME_MS = 80;
  const STEP_MS = 10;
  const STEP_SAMPLES = 240;
  const TURN_FRAMES = 50;
  const DRIFT = 1.00015;
  const BATCH_MS = 30_000; // then the browser draws: 120 pictures in all
  const ASKED_AGAIN = ["/v1/models", "/metrics"]; // every few seconds of the call; answered as the first time
  const samples = {
    silence: new Float32Array(1_920),
    voice: Float32Array.from({ length: 1_920 }, (_, i) => 0.2 * Math.sin(i / 9) * Math.sin(i / 300)),
  };
  const bytes = Object.fromEntries(
    Object.entries(samples).map(([name, each]) => [name, Int16Array.from(each, (sample) => 32_767 * sample).buffer]),
  );
  let now = 0;
  let frame = 0; // of the microphone's
  let microphone = null;
  let speaker = null;
  let call = null;
  let observer = null;
  let timers = [];
  let coming = []; // {at, give}: what the network holds, in order

  const answers = new Map();
  const ask = window.fetch.bind(window);
  window.fetch = async (url, options) => {
    const { pathname } = new URL(url);
    if (!ASKED_AGAIN.includes(pathname)) return ask(url, options);
    if (!answers.has(pathname)) answers.set(pathname, await (await ask(url, options)).text());
    return new Response(answers.get(pathname));
  };

  performance.now = () => now;
  window.setInterval = (act, every) => {
    const timer = { act, every, next: now + every };
    timers.push(timer);
    return timer;
  };
  window.clearInterval = (timer) => {
    timers = timers.filter((each) => each !== timer);
  };

  const speaks = (channel, n) => {
    const turn = Math.floor(n / TURN_FRAMES) % 2;
    return turn === (channel === "user" ? 0 : 1) && n % TURN_FRAMES > 5 ? "voice" : "silence";
  };
  const tell = (socket, type, fields) => socket.onmessage({ data: JSON.stringify({ type, event_id: "ev", ...fields }) });
  const word = (n) => ["lorem", "ipsum", "dolor", "sit", "amet", "elit"][Math.floor(n / 8) % 6];

  window.WebSocket = class {
    constructor(url) {
      if (url.includes("/attach")) observer = this;
      queueMicrotask(() => this.onopen());
    }

    send(data) {
      if (typeof data !== "string") this.#answer(frame++);
      else if (data.includes("session.start")) this.#begin();
      else if (data.includes("session.close")) queueMicrotask(() => this.#end());
    }

    close() {}

    #begin() {
      call = this;
      const session = { id: `sess_${"0".repeat(32)}`, model: "simulated", store: false, duet: { trained: true } };
      tell(this, "session.started", { session });
    }

    #end() {
      const closed = { reason: "close_requested", session: {}, usage: { seconds: frame * 0.08 } };
      tell(this, "session.closed", closed);
      this.onclose({ code: 1000 });
    }

    #answer(n) {
      const at = now + 30 + ((n * 7) % 16);
      coming.push({ at, give: () => this.onmessage({ data: bytes[speaks("agent", n)] }) });
      if (n % 8 === 0) coming.push({ at, give: () => this.#words(n) });
    }

    /** The agent's as they are written; the user's, and what is heard of the agent's, two seconds later. */
    #words(n) {
      const span = (of) => ({ start_ms: of * FRAME_MS, end_ms: (of + 4) * FRAME_MS });
      if (speaks("agent", n) === "voice") {
        tell(this, "session.output_transcript.delta", { delta: ` ${word(n)}`, ...span(n) });
      }
      const before = n - 24;
      if (before < 0) return;
      if (speaks("user", before) === "voice") {
        tell(this, "session.input_transcript.delta", { delta: ` ${word(before)}`, ...span(before) });
      }
      const heard = speaks("agent", before) === "voice";
      const words = heard ? [{ word: word(before), probability: 0.9, ...span(before) }] : [];
      tell(observer, "duet.words", { channel: "agent", words, through_ms: (before + 8) * FRAME_MS });
    }
  };

  window.AudioContext = class {
    state = "running";
    baseLatency = 0.01;
    outputLatency = 0.02;
    audioWorklet = { addModule: async () => {} };
    resume = async () => {};
    close = async () => {};
    createMediaStreamSource = () => ({ connect() {}, disconnect() {} });
  };

  window.AudioWorkletNode = class {
    port = { onmessage: null, postMessage: (played) => this.#buffer.push(played) };
    #buffer = null;
    #out = new Float32Array(2 * STEP_SAMPLES);
    #owed = 0;

    constructor(_, name) {
      if (name === "microphone") microphone = this;
      else speaker = this;
    }

    connect() {}

    async prepare() {
      const { PlayoutBuffer } = await import("/audio/playout.js");
      this.#buffer = new PlayoutBuffer();
    }

    pull() {
      this.#owed += STEP_SAMPLES * DRIFT * this.#buffer.speed;
      const count = Math.floor(this.#owed);
      this.#owed -= count;
      this.#buffer.pull(this.#out.subarray(0, count));
    }

    report() {
      this.port.onmessage({ data: { stats: this.#buffer.stats, peak: 0.1 } });
    }

    capture() {
      const kind = speaks("user", frame);
      const data = { audio: bytes[kind], samples: samples[kind], peak: 0.1, silent: false };
      this.port.onmessage({ data });
    }
  };

  navigator.mediaDevices.getUserMedia = async () => new MediaStream();
  MediaStream.prototype.getAudioTracks = () => [{ enabled: true, stop() {} }];

  function step() {
    now += STEP_MS;
    if (now % FRAME_MS === 0) microphone.capture();
    while (coming.length && coming[0].at <= now) coming.shift().give();
    speaker.pull();
    if (now % 100 === 0) speaker.report();
    for (const timer of timers) {
      if (timer.next > now) continue;
      timer.next = now + timer.every;
      timer.act();
    }
  }

  /** Time goes by until this moment of the call. @param {number} untilMs */
  window.simulate = async (untilMs) => {
    if (now === 0) await speaker.prepare();
    while (now < untilMs) {
      for (const end = Math.min(untilMs, now + BATCH_MS); now < end; ) step();
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
    }
  };
})();
