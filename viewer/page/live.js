// Frames of a world that is simulated meanwhile, as they come by a websocket: each with the one before it.
const LIVE_KEPT = 1200;

class LiveRuns {
  constructor(head, ways, socket) {
    this.ways = ways; this.socket = socket; this.failed = null; this.onready = () => {}; this.onframe = () => {};
    this.blocks = []; this.first = 0; // the block of step k is blocks[k - first]
    this.from = [0];
  }
  blockOf() { return 0; }
  at(i) {
    const last = this.blocks.length - 1;
    if (last < 0) return null;
    const k = Math.min(Math.max(0, i), last), block = this.blocks[k];
    return { frames: block, frame: i > k && block.times.length > 1 ? 1 : 0 };
  }
  ask() {}
  // As of pages that are whole, among the frames that are kept.
  async whenThere(id, i) {
    const n = this.blocks.length;
    for (let k = 0; k < n; k++) {
      const { frames, frame } = this.at((i + k) % n);
      if (rowOf(frames, frame, id) >= 0) return k === 0 ? null : frames.times[frame];
    }
    return null;
  }
  async take(data, app) {
    const block = await openBlock(new Uint8Array(data)), frames = openFrames(block, this.ways), head = app.head;
    frames.light = block.light_state;
    const now = frames.times.length - 1, time = frames.times[now], from = frames.start[now], to = frames.start[now + 1];
    let stand = 0, lost = 0;
    for (let r = from; r < to; r++) { if (frames.speed[r] < app.facts.stands) stand++; if (frames.lane[r] >= 0) lost += Math.max(0, 1 - frames.speed[r] / head.lane_limit[frames.lane[r]]); }
    if (now === 0 && !this.blocks.length) { this.blocks.push(frames); head.there[0] = to; head.stand[0] = stand; head.time[0] = time; this.onready(); return; }
    if (time <= app.end + 1e-6) return;
    if (now === 0) { // it missed some: all begins anew from here
      this.blocks = [frames]; head.time.splice(0, Infinity, time); head.there.splice(0, Infinity, to); head.stand.splice(0, Infinity, stand); head.lost.splice(0, Infinity, lost);
      this.onready(); return;
    }
    if (this.blocks.length === 1 && this.blocks[0].times.length === 1 && now === 1) this.blocks[0] = frames;
    else this.blocks.push(frames);
    head.time.push(time); head.there.push(to - from); head.stand.push(stand); head.lost.push(lost);
    if (head.time.length > LIVE_KEPT) { for (const list of [head.time, head.there, head.stand, head.lost]) list.shift(); this.blocks.shift(); }
    this.onready();
  }
  say(what) { if (this.socket.readyState === 1) this.socket.send(JSON.stringify(what)); }
}

function openLive() {
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/${location.search}`);
  socket.binaryType = "arraybuffer";
  let app = null, queue = Promise.resolve();
  socket.onmessage = ({ data }) => {
    queue = queue.then(async () => {
      if (typeof data === "string") { const { playing, rate } = JSON.parse(data); app.pickRate(rate, true); app.play(playing, true); return; }
      if (app) { await app.runs.take(data, app); return; }
      const head = await openBlock(new Uint8Array(data));
      for (const name of ["time", "there", "stand", "lost"]) head[name] = Array.from(head[name]);
      app = window.rushhour = new App(head, null, new LiveRuns(head, waysOf(head), socket));
    }).catch((error) => { $("wait").textContent = String(error); $("wait").hidden = false; });
  };
  socket.onclose = () => { if (app) { app.ended = true; app.play(false); } else $("wait").textContent = "nobody answers; start rushhour view --browser again"; };
}
