// The page: time, camera, what is chosen, and all that is clicked.
const COLOURS = { speed: "speed", "speed-red-green": "speed, red to green", reason: "why it is slow", type: "type", delay: "delay so far" };
const NO_SHARE = 255; // of a road on which nothing was driven
const RATES = [0.25, 0.5, 1, 2, 5, 10, 20, 60, 120, 300];
const LONG_DELAY = 300; // s
const MOST_STOREYS = 31; // where nothing covers a vehicle
const KEPT = 10; // blocks that stay decoded
const ASKED = 500; // ms in which the first frames come to the worker, before the page is busy with the ground
const SLICE = 8; // ms of building what is not yet seen, between two pictures
const HOME_SMALLER = 1.5; // times, by which all of it may be smaller so that no panel lies over it
const FEW = 2000; // vehicles that are seen, up to which a name is put beside them
const HARDLY = 0.002; // share of it that may lie behind panels
const $ = (id) => document.getElementById(id);

// What decodes blocks; null where a browser starts none. It starts only while the page is not busy: `started` tells when.
function startWorker() {
  try {
    const worker = new Worker(URL.createObjectURL(new Blob([DECODER], { type: "text/javascript" })));
    worker.started = new Promise((done) => { worker.onmessage = done; worker.onerror = (event) => { event.preventDefault(); worker.failed = true; done(); }; });
    return worker;
  } catch { return null; }
}

// Blocks of frames as they are needed, decoded in a worker.
class Runs {
  constructor(head, ways, data, worker) {
    this.from = head.block_from; this.times = head.time; this.data = data; this.ways = ways;
    this.kept = new Map(); this.asked = new Set(); this.failed = null; this.onready = () => {};
    this.worker = worker && !worker.failed ? worker : null;
    if (!this.worker) return;
    worker.onmessage = ({ data: d }) => { if (!d.runs) this.take(d.number, d.frames, d.error); };
    worker.onerror = (event) => { event.preventDefault(); this.worker = null; this.asked.clear(); this.onready(); };
    worker.postMessage({ ways });
  }
  take(number, frames, error) {
    this.asked.delete(number);
    if (error) { this.failed = `what this page holds is damaged or was cut off; get it again (${error})`; this.onready(); return; }
    this.kept.set(number, frames);
    while (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value);
    this.onready();
  }
  blockOf(i) { let lo = 0, hi = this.from.length - 1; while (lo < hi) { const mid = (lo + hi + 1) >> 1; if (this.from[mid] <= i) lo = mid; else hi = mid - 1; } return lo; }
  // The block of a frame, and the frame's place in it; null until it is decoded.
  at(i) {
    const b = this.blockOf(i), frames = this.kept.get(b);
    if (b + 1 < this.from.length) this.ask(b + 1);
    if (!frames) { this.ask(b); return null; }
    this.kept.delete(b); this.kept.set(b, frames);
    return { frames, frame: i - this.from[b] };
  }
  // The time of a frame in which a vehicle is there, from a frame on and then from the first; null: it is there now, or never.
  async whenThere(id, i) {
    const first = this.blockOf(i), n = this.from.length;
    for (let k = 0; k < n; k++) {
      const b = (first + k) % n;
      while (!this.kept.get(b)) { if (this.failed) return null; this.ask(b); await new Promise((done) => setTimeout(done, 10)); }
      const frames = this.kept.get(b), now = k === 0 ? i - this.from[b] : 0;
      for (let f = now; f + 1 < frames.start.length; f++) if (rowOf(frames, f, id) >= 0) return k === 0 && f === now ? null : frames.times[f];
      if (k === 0) for (let f = 0; f < now; f++) if (rowOf(frames, f, id) >= 0) return frames.times[f];
    }
    return null;
  }
  async ask(b) {
    if (this.kept.has(b) || this.asked.has(b) || this.failed) return;
    this.asked.add(b);
    try {
      const bytes = await this.data.bytes(b);
      if (this.worker) this.worker.postMessage(typeof bytes === "string" ? { number: b, text: bytes } : { number: b, bytes: bytes.buffer }, typeof bytes === "string" ? [] : [bytes.buffer]);
      else this.take(b, openFrames(await openBlock(typeof bytes === "string" ? fromBase64(bytes) : bytes), this.ways));
    } catch (error) { this.take(b, null, String(error)); }
  }
}

// Blocks in elements of this file.
const inPage = {
  async element(id) {
    // It is whole as soon as something follows it: the parser adds text to the last one, piece by piece.
    while (!$(id)?.nextSibling && document.readyState === "loading") await new Promise((done) => setTimeout(done, 20));
    if (!$(id)) throw new Error(`the page lacks ${id}: it is not whole, get it again`);
    return $(id).textContent;
  },
  async head() { return fromBase64(await this.element("head")); },
  bytes(b) { return this.element(`b${b}`); },
};
// Blocks in a file beside it, by range.
const inFolder = {
  async part(from, size) {
    let answer;
    try { answer = await fetch(FOLDER.file, { headers: { Range: `bytes=${from}-${from + size - 1}` } }); }
    catch { throw new Error("the data lies beside this page and wants a web server: python -m http.server in this folder, then http://127.0.0.1:8000"); }
    if (!answer.ok) throw new Error(`${FOLDER.file}: ${answer.status} ${answer.statusText}`);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    return answer.status === 206 ? bytes : bytes.slice(from, from + size);
  },
  head() { return this.part(0, FOLDER.head); },
  bytes(b) { let at = FOLDER.head; for (let k = 0; k < b; k++) at += this.sizes[k]; return this.part(at, this.sizes[b]); },
};

class App {
  constructor(head, data, runs) {
    const facts = head.facts;
    this.head = head; this.facts = facts; this.data = data;
    this.ground = new Ground(head); this.ground.index();
    this.words = new Words(this.ground, facts);
    this.runs = runs; this.live = facts.live || 0; // s between frames that come by themselves
    this.runs.onready = () => this.wake();
    this.times = head.time;
    this.time = this.begin; this.rate = facts.race || this.live ? 1 : this.end - this.begin > 900 ? 20 : 5; this.playing = false;
    this.colour = facts.race ? "type" : "speed";
    this.chosen = null; this.follow = false; this.layer = "";
    this.draw = new Draw($("map"), this.ground);
    this.labels = new Labels(this.ground);
    this.over = $("over"); this.sheet = $("marks"); this.pen = this.sheet.getContext("2d");
    this.camera = { x: 0, y: 0, scale: 1 }; this.firstSpecial = facts.shapes.indexOf("target");
    this.drawn = 0; this.spent = [];
    this.theme = "dark";
    this.lightTables();
    this.controls();
    this.resize();
    this.pickTheme(this.theme);
    this.pickColour(this.colour);
    this.home(); // beside the legend, which is there now
    this.fromHash();
    this.wake();
  }
  // ---- time
  get goesOn() { return this.live && !this.ended; } // frames come by themselves still
  get begin() { return this.times[0]; }
  get end() { return this.times[this.times.length - 1]; }
  frameAt(t) { const T = this.times; let lo = 0, hi = T.length - 1; while (lo < hi) { const mid = (lo + hi + 1) >> 1; if (T[mid] <= t + 1e-6) lo = mid; else hi = mid - 1; } return lo; }
  seek(t) { this.pinned = t >= this.end; this.time = Math.min(this.end, Math.max(this.begin, t)); this.cardKey = null; this.wake(); }
  // told: what the world does already, as another page asked for.
  play(on = !this.playing, told = false) {
    // Pinned: at the newest frame, also when one comes. Who pauses stays where the world was then; a frame may be on its way.
    if (this.goesOn) { if (!told) this.runs.say({ play: on }); this.pinned = false; if (!on) this.time = this.end; }
    else if (on && this.time >= this.end - 1e-6) this.time = this.begin;
    this.playing = on; this.before = performance.now();
    $("play").textContent = on ? "❚❚" : "▶"; $("play").setAttribute("aria-pressed", on);
    this.wake();
  }
  pickRate(rate, told = false) { this.rate = rate; if (this.live && !told) this.runs.say({ rate }); $("rate").textContent = `${rate}×`; }
  faster(step) { let k = RATES.findIndex((r) => r >= this.rate - 1e-9); if (k < 0) k = RATES.length - 1; this.pickRate(RATES[Math.min(RATES.length - 1, Math.max(0, k + step))]); }
  // ---- looks
  pickTheme(name) {
    if (!this.facts.themes[name]) name = "dark";
    this.theme = name; $("theme").value = name;
    const theme = this.facts.themes[name];
    document.documentElement.dataset.theme = name;
    for (const key of ["land", "panel", "edge", "ink", "faint", "accent", "names", "halo"]) document.documentElement.style.setProperty(`--${key}`, css(theme[key]));
    document.documentElement.style.colorScheme = name === "dark" ? "dark" : "light";
    this.look = theme; this.draw.theme = theme; this.timeKey = ""; this.legend(); this.wake();
  }
  pickColour(name) { this.colour = name; $("colour").value = name; this.legend(); this.wake(); }
  packed(c) { return (255 << 24 | c[2] << 16 | c[1] << 8 | c[0]) >>> 0; }
  ramp(stops, share) {
    const at = Math.min(1, Math.max(0, share)) * (stops.length - 1), k = Math.min(stops.length - 2, Math.floor(at)), u = at - k;
    return [0, 1, 2].map((b) => Math.round(stops[k][b] + u * (stops[k + 1][b] - stops[k][b])));
  }
  // A table of packed colours, and what chooses of it.
  colouring() {
    const { scales, racers } = this.facts, head = this.head, key = `${this.colour},${this.theme}`;
    if (this.coloured && this.coloured.key === key) return this.coloured;
    const table = (stops) => Uint32Array.from({ length: 256 }, (_, k) => this.packed(this.ramp(stops, k / 255)));
    const kinds = (list) => Uint32Array.from(list, (c) => this.packed(c));
    let of;
    if (this.colour === "reason") { const t = kinds(scales.reason); of = (frames, row) => t[frames.reason[row]]; }
    else if (this.colour === "type") {
      const t = racers ? kinds(racers) : kinds(scales.kind);
      of = racers ? (frames, row) => t[frames.vehicle[row] % t.length] : (frames, row) => t[head.kind[frames.vehicle[row]] % t.length];
    } else if (this.colour === "delay") { const t = table(scales.delay); of = (frames, row) => t[Math.min(255, 255 * frames.lost[row] / LONG_DELAY | 0)]; }
    else { const t = table(scales[this.colour]), fast = this.facts.fastest; of = (frames, row, speed) => t[Math.min(255, 255 * Math.max(0, speed) / fast | 0)]; }
    return (this.coloured = { key, of });
  }
  legend() {
    const key = $("key"), { scales } = this.facts;
    if (!this.look) return;
    key.replaceChildren();
    const ramp = (stops, low, high) => {
      const bar = document.createElement("div"), ends = document.createElement("div");
      bar.className = "ramp"; bar.style.background = `linear-gradient(90deg, ${stops.map((c) => css(c)).join(", ")})`;
      ends.className = "ends";
      for (const text of [low, high]) { const span = document.createElement("span"); span.textContent = text; ends.append(span); }
      key.append(bar, ends);
    };
    this.kindRows = null;
    if (this.colour.startsWith("speed")) ramp(scales[this.colour], "standing", `${Math.round(3.6 * this.facts.fastest)} km/h`);
    else if (this.colour === "delay") ramp(scales.delay, "none", `${LONG_DELAY / 60} min`);
    else {
      const rows = new Map();
      const names = this.colour === "reason" ? this.facts.reasons : this.facts.racers ? this.facts.vehicles : this.facts.kinds;
      const list = this.colour === "reason" ? scales.reason : this.facts.racers || scales.kind;
      names.slice(0, 40).forEach((name, k) => {
        const colour = css((this.colour === "type" && this.bodyColours[name]) || list[k % list.length]), same = this.colour === "reason" && rows.get(colour);
        if (same) { same.of.push(k); same.label.textContent += `, ${name}`; return; }
        const row = document.createElement("div"), chip = document.createElement("i"), label = document.createElement("span"), count = document.createElement("b");
        row.className = "kind"; chip.style.background = colour; label.textContent = name; row.append(chip, label, count); key.append(row);
        rows.set(this.colour === "reason" ? colour : k, { of: [k], row, label, count });
      });
      this.kindRows = [...rows.values()];
    }
    if (this.colour !== "type") this.facts.kinds.forEach((name, k) => {
      if (!this.bodyColours[name] || !this.head.kind.includes(k)) return;
      const row = document.createElement("div"), chip = document.createElement("i"), label = document.createElement("span");
      row.className = "kind"; chip.style.background = css(this.bodyColours[name]); label.textContent = name; row.append(chip, label); key.append(row);
    });
    this.countKey = "";
    if (this.layer) {
      const layer = this.layerNow, title = document.createElement("div"), span = this.head.layer_time[1] - this.head.layer_time[0];
      title.textContent = `streets: ${layer.title}, by ${waitedText(span)}`; title.style.marginTop = "8px"; key.append(title);
      if (layer.letters) {
        const bar = document.createElement("div"); bar.className = "levels";
        [...layer.letters].forEach((letter, k) => { const chip = document.createElement("i"), c = layer.scale[k]; chip.textContent = letter; chip.style.background = css(c); chip.style.color = 0.3 * c[0] + 0.6 * c[1] + 0.1 * c[2] > 128 ? "#000" : "#fff"; bar.append(chip); });
        key.append(bar);
      } else ramp(layer.scale, layer.low, layer.high);
    }
  }
  count(now) {
    const key = `${now.frames.start.length},${this.index},${this.colour}`;
    if (!this.kindRows || key === this.countKey) return;
    this.countKey = key;
    const { frames, frame } = now, counts = new Int32Array(256);
    const from = frames.start[frame], to = frames.start[frame + 1];
    if (this.facts.racers) {
      const done = this.facts.finish.map((f, k) => [f, k]).filter(([f]) => f !== null && f <= this.time).sort((a, b) => a[0] - b[0]);
      for (const row of this.kindRows) { const place = done.findIndex(([, k]) => k === row.of[0]); row.count.textContent = place < 0 ? "" : `${place + 1}. ${done[place][0].toFixed(2)} s`; }
      return;
    }
    if (this.colour === "reason") for (let r = from; r < to; r++) counts[frames.reason[r]]++;
    else for (let r = from; r < to; r++) counts[this.head.kind[frames.vehicle[r]]]++;
    for (const one of this.kindRows) {
      const n = one.of.reduce((sum, k) => sum + counts[k], 0);
      one.count.textContent = n ? n.toLocaleString("en") : ""; one.row.classList.toggle("none", !n);
    }
  }
  // ---- camera
  get width() { return this.draw.width; }
  get height() { return this.draw.height; }
  boxOf(margin = 0) { const { x, y, scale } = this.camera, w = 0.5 * this.width * scale + margin, h = 0.5 * this.height * scale + margin; return [x - w, y - h, x + w, y + h]; }
  toWorld(px, py) { const { x, y, scale } = this.camera; return [x + (px - 0.5 * this.width) * scale, y - (py - 0.5 * this.height) * scale]; }
  toScreen(wx, wy) { const { x, y, scale } = this.camera; return [(wx - x) / scale + 0.5 * this.width, 0.5 * this.height - (wy - y) / scale]; }
  // All of it, in the place, beside panels or between them, where it is the largest and nearly nothing lies behind one.
  home() {
    const [x0, y0, x1, y1] = this.facts.box, { width: W, height: H } = this, places = this.ground.places();
    const [search, tools, legend, foot] = ["top", "tools", "legend", "bar"].map((id) => $(id).getBoundingClientRect());
    const panels = [search, tools, legend], found = [];
    for (const left of [20, search.right + 12]) for (const right of [W - 20, legend.left - 12]) for (const top of [12, search.bottom + 12, Math.max(search.bottom, tools.bottom) + 12]) {
      const wide = right - left, high = foot.top - 10 - top;
      if (wide < 200 || high < 150) continue;
      const scale = Math.max((x1 - x0) / wide, (y1 - y0) / high), x = 0.5 * (x0 + x1) + (0.5 * W - 0.5 * (left + right)) * scale, y = 0.5 * (y0 + y1) + (top + 0.5 * high - 0.5 * H) * scale;
      let hidden = 0;
      for (const [wx, wy] of places) { const px = (wx - x) / scale + 0.5 * W, py = 0.5 * H - (wy - y) / scale; if (panels.some((r) => px > r.left && px < r.right && py > r.top && py < r.bottom)) hidden++; }
      found.push({ x, y, scale, hidden: hidden / Math.max(1, places.length) });
    }
    if (!found.length) { this.lookAt(0.5 * (x0 + x1), 0.5 * (y0 + y1), Math.max((x1 - x0) / W, (y1 - y0) / H)); return; }
    const least = Math.min(...found.map(({ scale }) => scale)), near = found.filter(({ scale }) => scale < HOME_SMALLER * least);
    const best = near.reduce((a, b) => (Math.max(HARDLY, b.hidden) < Math.max(HARDLY, a.hidden) || (Math.max(HARDLY, b.hidden) === Math.max(HARDLY, a.hidden) && b.scale < a.scale) ? b : a));
    this.lookAt(best.x, best.y, best.scale);
  }
  lookAt(x, y, scale = this.camera.scale) { this.camera = { x, y, scale: Math.min(60, Math.max(0.02, scale)) }; this.wake(); }
  zoom(px, py, factor) {
    const [wx, wy] = this.toWorld(px, py), scale = Math.min(60, Math.max(0.02, this.camera.scale * factor));
    this.lookAt(wx - (px - 0.5 * this.width) * scale, wy + (py - 0.5 * this.height) * scale, scale);
  }
  resize() { this.draw.resize(innerWidth, innerHeight, Math.min(2, devicePixelRatio || 1)); const r = this.draw.ratio; this.sheet.width = innerWidth * r; this.sheet.height = innerHeight * r; this.timeKey = ""; this.wake(); }
  // ---- pictures
  wake() { if (!this.awake) { this.awake = true; requestAnimationFrame((now) => this.picture(now)); } }
  picture(now) {
    this.awake = false;
    if (this.playing) {
      const gone = Math.min(0.25, (now - (this.before ?? now)) / 1000); this.before = now;
      const waits = !this.runs.at(this.frameAt(this.time));
      if (!waits) this.time = Math.min(this.end, this.time + Math.max(0, gone) * this.rate);
      if (this.goesOn && this.end - this.time > 3 * this.live) this.time = this.end - this.live; // at the newest
      if (this.time < this.begin) this.time = this.begin;
      if (this.time >= this.end && !this.goesOn) this.play(false);
    }
    const begun = performance.now();
    if (this.pinned && !this.playing) this.time = this.end;
    this.index = this.frameAt(this.time);
    const moment = this.runs.at(this.index);
    if (this.runs.failed) { $("wait").hidden = false; $("wait").textContent = this.runs.failed; return; }
    if (moment) {
      this.pack(moment);
      const chosen = this.chosen && this.chosen.kind === "vehicle" ? this.poseOf(this.chosen.id) : null;
      if (this.follow && chosen) { this.camera = { ...this.camera, x: chosen.x - 0.5 * chosen.length * Math.cos(chosen.turn), y: chosen.y - 0.5 * chosen.length * Math.sin(chosen.turn) }; this.pack(moment); }
      this.scene(now, moment);
      this.marks(moment);
      this.count(moment);
      this.card(moment);
      $("wait").hidden = true;
      if (!this.drawn++) { this.firstPicture = performance.now(); setTimeout(() => this.buildAhead(), SLICE); } // ms since the page was asked for
    }
    const say = (id, text) => { if ($(id).textContent !== text) $(id).textContent = text; };
    say("clock", clockText(this.time, this.facts.race));
    const i = this.index, there = this.head.there[i];
    say("now", this.ended ? "the simulation has ended" : this.facts.race ? `${there} on the track` : `${there.toLocaleString("en")} vehicles, ${this.head.stand[i].toLocaleString("en")} standing`);
    this.timeline();
    this.scaleBar();
    this.spent.push(performance.now() - begun); if (this.spent.length > 120) this.spent.shift();
    if (this.playing) this.wake();
    else if (this.draw.refineAt < Infinity) setTimeout(() => this.wake(), Math.max(0, this.draw.refineAt - performance.now()) + 5);
  }
  // What is seen from near, in slices: zooming in does not wait for it.
  buildAhead() { const until = performance.now() + SLICE; while (this.ground.builds() && performance.now() < until); if (this.ground.near) setTimeout(() => this.buildAhead(), SLICE); }
  // Where the vehicles of a moment are that are seen: into draw's data. Between two frames everybody is on a curve
  // that has the headings of both at its ends, as fast there as in both.
  pack({ frames, frame }) {
    const from = frames.start[frame], to = frames.start[frame + 1], draw = this.draw, head = this.head;
    const [x0, y0, x1, y1] = this.boxOf(25), t0 = frames.times[frame], t1 = frame + 1 < frames.times.length ? frames.times[frame + 1] : t0;
    const span = t1 - t0, share = span > 0 ? Math.min(1, Math.max(0, (this.time - t0) / span)) : 0;
    const { of } = this.colouring(), { vehicle, x, y, next } = frames, pose = this.pose || (this.pose = new Float64Array(5));
    draw.room(to - from);
    const f = draw.floats, w = draw.words;
    let n = 0;
    const far = this.camera.scale > 2, storeys = !this.facts.race && this.ground.levels.length > 1;
    for (let row = from; row < to; row++) {
      const then = next[row], xa = x[row], ya = y[row];
      if (then < 0 || share === 0) { if (xa < x0 || xa > x1 || ya < y0 || ya > y1) continue; }
      else { const xb = x[then], yb = y[then]; if ((xa < x0 && xb < x0) || (xa > x1 && xb > x1) || (ya < y0 && yb < y0) || (ya > y1 && yb > y1)) continue; }
      if (far) { // nobody sees curves between frames
        const to = then < 0 ? row : then;
        pose[0] = xa + share * (x[to] - xa); pose[1] = ya + share * (y[to] - ya); pose[2] = frames.turn[row]; pose[4] = 0;
        pose[3] = frames.speed[row] + share * (frames.speed[to] - frames.speed[row]);
      } else between(frames, row, share, span, pose);
      const id = vehicle[row], at = 9 * n;
      f[at] = pose[0]; f[at + 1] = pose[1]; f[at + 2] = pose[2]; f[at + 3] = pose[4];
      f[at + 4] = head.size[2 * id]; f[at + 5] = head.size[2 * id + 1];
      const shape = head.shape[id]; f[at + 6] = shape; f[at + 7] = (frames.lights[row] & 7) + 8 * (storeys && !far ? this.storeyOf(frames, row, pose, head.size[2 * id]) : MOST_STOREYS);
      w[at + 8] = shape >= this.firstSpecial ? this.special(shape) : of(frames, row, pose[3]);
      n++;
    }
    this.seen = n;
  }
  // Which storey a vehicle is on: the highest of where its front and its rear are, and where it will be.
  storeyOf(frames, row, [x, y, turn], length) {
    const { ground } = this, lane = frames.lane[row], then = frames.next[row], at = (l, s) => ground.levelAt(l, x - s * Math.cos(turn), y - s * Math.sin(turn), length, -Infinity);
    const level = Math.max(at(lane, 0), at(lane, length), then < 0 ? -Infinity : at(frames.lane[then], 0));
    return level > -Infinity ? ground.storey(level) : MOST_STOREYS; // between two frames far apart it may be on neither lane
  }
  // Bodies from outside have colours of their own, whatever others are coloured by.
  get bodyColours() { return this.facts.bodies || {}; }
  special(shape) { return this.packed(this.bodyColours[this.facts.shapes[shape]] || this.look.unknown); }
  poseOf(id) {
    const moment = this.runs.at(this.index);
    const row = moment ? rowOf(moment.frames, moment.frame, id) : -1;
    if (row < 0) return null;
    const { frames, frame } = moment, t0 = frames.times[frame], t1 = frame + 1 < frames.times.length ? frames.times[frame + 1] : t0, span = t1 - t0;
    const pose = new Float64Array(5);
    between(frames, row, span > 0 ? Math.min(1, Math.max(0, (this.time - t0) / span)) : 0, span, pose);
    return { x: pose[0], y: pose[1], turn: pose[2], speed: pose[3], length: this.head.size[2 * id], width: this.head.size[2 * id + 1], row, frames, frame };
  }
  // How many pixels long a car's kite is now; 0: bodies are drawn.
  get kite() {
    const k = this.facts.kites, { scale } = this.camera;
    if (k.car / scale >= k.body * (this.facts.race ? 2 : 1)) return 0;
    if (this.facts.race) return k.racer;
    const crowd = Math.min(1, (k.crowd / Math.max(1, this.seen)) ** k.crowded), [, least] = k.least.find(([far]) => scale > far);
    return Math.min(k.most, Math.max(least * crowd, k.near / scale));
  }
  scene(now) {
    const { camera, draw } = this;
    draw.keepGround(camera, this.boxOf(30), `${this.theme},${this.layer},${this.layer ? this.interval() : 0}`, () => this.labels.draw(camera, this.width, this.height, draw.ratio, this.look), this.layer ? this.roadColours() : null, this.playing);
    draw.draw(camera, this.seen, camera.scale < 4 ? this.lights() : null, this.kite, Math.floor(now / 400) % 2 === 0);
  }
  // ---- layers: roads by what was measured on them in an interval
  interval() { return Math.min(this.head.layer_time.length - 2, Math.max(0, this.head.layer_time.findLastIndex((t) => t <= this.time + 1e-6))); }
  // Of each road the packed colour, 0: its own.
  roadColours() {
    const k = this.interval(), key = `${this.layer},${k}`;
    if (this.layered && this.layered.key === key) return this.layered.colours;
    const n = this.head.road_lane.length, colours = new Uint32Array(n), { scale, letters } = this.layerNow, rows = this.head[`layer_${this.layer}`];
    for (let r = 0; r < n; r++) {
      const step = rows[k * n + r], share = step / (NO_SHARE - 1);
      if (step < NO_SHARE) colours[r] = this.packed(letters ? scale[Math.round(share * (scale.length - 1))] : this.ramp(scale, share));
    }
    this.layered = { key, colours };
    return colours;
  }
  get layers() { return this.facts.ground.layers || []; }
  get layerNow() { return this.layers.find(({ name }) => name === this.layer); }
  pickLayer(name) { this.layer = this.layers.some((one) => one.name === name) ? name : ""; $("layer").value = this.layer; this.legend(); this.wake(); }
  // ---- signals
  lightTables() {
    const head = this.head;
    if (!head.light_lane || !head.light_lane.length) { this.lit = null; return; }
    const counts = this.live ? [] : signed(head, "light_n"), at = this.live ? [] : signed(head, "light_at");
    const start = new Int32Array(counts.length + 1);
    for (let l = 0; l < counts.length; l++) {
      start[l + 1] = start[l] + counts[l];
      for (let k = start[l] + 1; k < start[l + 1]; k++) at[k] += at[k - 1];
    }
    this.lit = this.live ? { lanes: head.light_lane, ends: Array.from(head.light_lane, (l) => this.ground.end(l)) } : { lanes: head.light_lane, start, at, state: head.light_state, times: head.light_time, ends: Array.from(head.light_lane, (l) => this.ground.end(l)) };
  }
  lightState(l) {
    if (this.live) { const moment = this.runs.at(this.index), light = moment && moment.frames.light; return light ? light[l] : 255; }
    const { times } = this.lit;
    let lo = 0, hi = times.length - 1;
    while (lo < hi) { const mid = (lo + hi + 1) >> 1; if (times[mid] <= this.time + 1e-6) lo = mid; else hi = mid - 1; }
    let a = this.lit.start[l], b = this.lit.start[l + 1] - 1;
    while (a < b) { const mid = (a + b + 1) >> 1; if (this.lit.at[mid] <= lo) a = mid; else b = mid - 1; }
    return this.lit.state[a];
  }
  lights() {
    if (!this.lit) return null;
    const { lanes, ends } = this.lit, [x0, y0, x1, y1] = this.boxOf(5);
    const data = this.lightData && this.lightData.byteLength >= lanes.length * INSTANCE ? this.lightData : (this.lightData = new ArrayBuffer(lanes.length * INSTANCE));
    const f = new Float32Array(data), w = new Uint32Array(data);
    let n = 0;
    for (let l = 0; l < lanes.length; l++) {
      const e = ends[l];
      if (!e || e.x < x0 || e.x > x1 || e.y < y0 || e.y > y1) continue;
      const state = this.lightState(l);
      if (state >= this.facts.lights.length) continue;
      const at = 9 * n++;
      f[at] = e.x; f[at + 1] = e.y; f[at + 2] = e.dx; f[at + 3] = e.dy; f[at + 4] = e.half; w[at + 8] = this.packed(this.facts.lights[state]);
    }
    return { data, n };
  }
  // ---- what lies above: chosen things, the scale
  marks() {
    const c = this.pen, r = this.draw.ratio, { look, chosen } = this;
    this.sheet.hidden = !chosen; // a canvas over the whole map costs a pass over it, without a graphics card
    if (!chosen) return;
    c.setTransform(1, 0, 0, 1, 0, 0); c.clearRect(0, 0, this.sheet.width, this.sheet.height); c.scale(r, r);
    if (chosen.kind === "vehicle") {
      const pose = this.poseOf(chosen.id);
      if (!pose) return;
      const chain = this.words.chain(pose.frames, pose.frame, pose.row).map(({ id }) => this.poseOf(id)).filter(Boolean);
      const mid = (p) => this.toScreen(p.x - 0.5 * p.length * Math.cos(p.turn), p.y - 0.5 * p.length * Math.sin(p.turn));
      if (chain.length > 1) {
        for (const [wide, colour] of [[5, css(look.halo, 0.8)], [2.4, css(look.blocked)]]) {
          c.beginPath(); chain.forEach((p, k) => { const [X, Y] = mid(p); k ? c.lineTo(X, Y) : c.moveTo(X, Y); });
          c.lineWidth = wide; c.strokeStyle = colour; c.lineJoin = "round"; c.stroke();
        }
        const [X, Y] = mid(chain[chain.length - 1]); c.beginPath(); c.arc(X, Y, 5, 0, 7); c.fillStyle = css(look.blocked); c.fill();
      }
      const [X, Y] = mid(pose), long = Math.max(14, pose.length / this.camera.scale + 8), wide = Math.max(14, pose.width / this.camera.scale + 8);
      c.save(); c.translate(X, Y); c.rotate(-pose.turn);
      for (const [w, colour] of [[5, css(look.halo, 0.85)], [2.6, css(look.chosen)]]) { c.lineWidth = w; c.strokeStyle = colour; c.beginPath(); c.roundRect(-long / 2, -wide / 2, long, wide, 5); c.stroke(); }
      c.restore();
      const text = this.words.vehicle(chosen.id);
      c.font = `600 12px ${FONT}`; c.textAlign = "left"; c.textBaseline = "middle"; c.lineWidth = 3.5; c.lineJoin = "round";
      c.strokeStyle = css(look.halo, 0.95); c.fillStyle = css(look.names);
      const [tx, ty] = this.besideOthers(X, Y, c.measureText(text).width, pose, long, wide); c.strokeText(text, tx, ty); c.fillText(text, tx, ty);
    } else {
      c.lineCap = "round"; c.lineJoin = "round";
      const { start, x, y } = this.ground.lanes;
      const lanes = chosen.kind === "street" ? chosen.lanes : [];
      for (const [more, colour] of [[5, css(look.halo, 0.8)], [2, css(look.chosen)]]) {
        for (const l of lanes) {
          c.beginPath();
          for (let i = start[l]; i < start[l + 1]; i++) { const [X, Y] = this.toScreen(x[i], y[i]); i > start[l] ? c.lineTo(X, Y) : c.moveTo(X, Y); }
          c.lineWidth = more; c.strokeStyle = colour; c.stroke();
        }
        if (chosen.kind === "signal") { const [X, Y] = this.toScreen(chosen.x, chosen.y); c.beginPath(); c.arc(X, Y, Math.max(16, 12 / this.camera.scale), 0, 7); c.lineWidth = more + 0.6; c.strokeStyle = colour; c.stroke(); }
      }
    }
  }
  // Where a text so wide lies beside a frame around (X, Y) and on as few vehicles as can be: left end and middle, pixels.
  besideOthers(X, Y, text, pose, long, wide) {
    const c = Math.abs(Math.cos(pose.turn)), s = Math.abs(Math.sin(pose.turn)), across = 0.5 * (long * c + wide * s), up = 0.5 * (long * s + wide * c);
    const f = this.draw.floats, kite = this.kite, places = [[X + across + 8, Y], [X - across - 8 - text, Y], [X - 0.5 * text, Y - up - 13], [X - 0.5 * text, Y + up + 13], [X + across + 4, Y - up - 8], [X - across - 4 - text, Y + up + 8]];
    if (this.seen > FEW) return places[0]; // each is looked at, in every picture
    const covered = places.map(([left, middle]) => {
      let n = 0;
      for (let k = 0; k < this.seen; k++) {
        const at = 9 * k, cos = Math.cos(f[at + 2]), sin = Math.sin(f[at + 2]), [x, y] = this.toScreen(f[at] - 0.5 * f[at + 4] * cos, f[at + 1] - 0.5 * f[at + 4] * sin);
        const l = Math.max(kite, f[at + 4] / this.camera.scale), w = Math.max(kite, f[at + 5] / this.camera.scale), dx = 0.5 * (l * Math.abs(cos) + w * Math.abs(sin)), dy = 0.5 * (l * Math.abs(sin) + w * Math.abs(cos));
        if (x + dx > left - 2 && x - dx < left + text + 2 && y + dy > middle - 8 && y - dy < middle + 8) n++;
      }
      return n;
    });
    const least = Math.min(...covered);
    if (covered[this.labelSide] !== least) this.labelSide = covered.indexOf(least); // else it stays where it is
    return places[this.labelSide];
  }
  scaleBar() {
    const scale = this.camera.scale;
    if (scale === this.scaleKey) return;
    this.scaleKey = scale;
    const most = 130 * scale, step = 10 ** Math.floor(Math.log10(most)), long = [5, 2, 1].map((k) => k * step).find((v) => v <= most);
    $("scale").firstElementChild.textContent = lengthText(long); $("scale").lastElementChild.style.width = `${long / scale}px`;
  }
  // ---- the axis of time: how many there are, stand, and are lost to delay
  timeline() {
    const canvas = $("time"), w = canvas.clientWidth, h = canvas.clientHeight, r = this.draw.ratio, key = `${w},${h},${r},${this.theme},${this.times.length}`;
    if (key !== this.timeKey) {
      this.timeKey = key; this.timeAt = "";
      const back = (this.back = this.back || document.createElement("canvas")); back.width = w * r; back.height = h * r;
      const c = back.getContext("2d"), { look, head } = this, T = this.times, span = Math.max(1e-6, this.end - this.begin), top = 12, foot = h - 13;
      c.scale(r, r);
      let most = 1; for (const v of head.there) most = Math.max(most, v);
      const X = (t) => (t - this.begin) / span * w, Y = (v) => foot - v / most * (foot - top);
      const area = (values, colour) => { c.beginPath(); c.moveTo(0, foot); for (let i = 0; i < T.length; i++) c.lineTo(X(T[i]), Y(values[i])); if (T.length === 1) c.lineTo(w, Y(values[0])); c.lineTo(w, foot); c.fillStyle = colour; c.fill(); };
      area(head.there, css(look.faint, 0.38));
      if (!this.facts.race) {
        // Lost to delay: smoothed over what two pixels show.
        const k = Math.max(1, Math.round(2 * T.length / w)), smooth = new Float32Array(T.length);
        for (let i = 0; i < T.length; i++) { let s = 0, n = 0; for (let j = Math.max(1, i - k); j <= Math.min(T.length - 1, i + k); j++) { s += head.lost[j]; n++; } smooth[i] = n ? s / n : 0; }
        c.beginPath(); for (let i = 0; i < T.length; i++) i ? c.lineTo(X(T[i]), Y(smooth[i])) : c.moveTo(X(T[i]), Y(smooth[i]));
        c.strokeStyle = css(look.blocked); c.lineWidth = 1.6; c.stroke();
      }
      for (const event of this.facts.events || []) { c.fillStyle = event.kind === "ring" ? css(look.accent) : css(look.chosen); c.fillRect(X(event.t) - 0.75, top - 2, 1.5, 6); }
      c.font = `11px ${FONT}`; c.textBaseline = "bottom"; c.fillStyle = css(look.faint);
      const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600], step = steps.find((s) => s / span * w > 74) || 43200;
      const first = Math.ceil(this.begin / step) * step, wide = c.measureText(clockText(this.begin)).width;
      if (first > this.end || X(first) > 1.5 * wide + 8) { c.fillRect(0, foot, 1, 3); c.textAlign = "left"; c.fillText(clockText(this.begin), 0, h); } // else there is no room
      for (let t = first; t <= this.end; t += step) { const x = X(t); c.fillRect(x, foot, 1, 3); c.textAlign = x < 30 ? "left" : x > w - 30 ? "right" : "center"; c.fillText(clockText(t), x, h); }
      c.textBaseline = "top"; c.textAlign = "left"; c.fillText(this.facts.race ? `up to ${most} racers` : `vehicles, up to ${most.toLocaleString("en")}`, 3, 0);
      if (!this.facts.race) { const at = c.measureText(`vehicles, up to ${most.toLocaleString("en")}`).width + 18; c.fillStyle = css(look.blocked); c.fillText("of their time lost to delay", at, 0); }
      canvas.width = w * r; canvas.height = h * r;
    }
    const at = `${key},${Math.round(2 * r * (this.time - this.begin) / Math.max(1e-6, this.end - this.begin) * w)}`;
    if (at === this.timeAt) return;
    this.timeAt = at;
    const c = canvas.getContext("2d");
    c.setTransform(1, 0, 0, 1, 0, 0); c.clearRect(0, 0, canvas.width, canvas.height); c.drawImage(this.back, 0, 0); c.scale(r, r);
    const x = (this.time - this.begin) / Math.max(1e-6, this.end - this.begin) * w;
    c.fillStyle = css(this.look.chosen); c.fillRect(x - 1, 8, 2, h - 20); c.beginPath(); c.arc(Math.min(w - 5, Math.max(5, x)), 11, 5, 0, 7); c.fill();
  }
  // ---- choosing
  choose(what, look = false) {
    this.chosen = what; this.cardKey = null;
    if (!what || what.kind !== "vehicle") this.follow = false;
    if (what && look) {
      if (what.kind === "vehicle") {
        this.index = this.frameAt(this.time);
        const pose = this.poseOf(what.id);
        if (pose) this.lookAt(pose.x, pose.y, Math.min(this.camera.scale, 0.15));
      } else if (what.kind === "street") { const box = this.boxAround(what.lanes); if (box) this.fit(box); }
      else this.lookAt(what.x, what.y, Math.min(this.camera.scale, 0.18));
    }
    this.wake();
  }
  boxAround(lanes) {
    const { start, x, y } = this.ground.lanes, b = [1e9, 1e9, -1e9, -1e9];
    for (const l of lanes) for (let i = start[l]; i < start[l + 1]; i++) { b[0] = Math.min(b[0], x[i]); b[1] = Math.min(b[1], y[i]); b[2] = Math.max(b[2], x[i]); b[3] = Math.max(b[3], y[i]); }
    return b[2] < b[0] ? null : b;
  }
  fit(b) { this.lookAt(0.5 * (b[0] + b[2]), 0.5 * (b[1] + b[3]), Math.max(0.12, (b[2] - b[0]) / (0.6 * this.width), (b[3] - b[1]) / (0.5 * this.height))); }
  street(name) {
    const { head, said } = this.ground, lanes = [];
    const number = said.names ? said.names.indexOf(name) : -1;
    for (let r = 0; r < head.road_lane.length; r++) if (said.roads[r] === name || (number >= 0 && head.road_name[r] === number)) for (let k = 0; k < head.road_lanes[r]; k++) lanes.push(head.road_lane[r] + k);
    return lanes.length ? { kind: "street", name, lanes } : null;
  }
  signal(node) { const { head } = this.ground; return { kind: "signal", node, x: head.node_x[node], y: head.node_y[node] }; }
  search(text) {
    const found = [], wanted = text.trim().toLowerCase(), { said, head, signalOf } = this.ground;
    if (!wanted) return found;
    const match = (name) => { const n = name.toLowerCase(); return n === wanted ? 0 : n.startsWith(wanted) ? 1 : n.includes(wanted) ? 2 : -1; };
    const add = (name, note, what) => { const m = match(name); if (m >= 0) found.push({ m, name, note, what }); };
    if (!this.facts.race) {
      for (const name of said.names || []) if (name) add(name, "street", () => this.street(name));
      for (let node = 0; node < said.nodes.length; node++) {
        const s = signalOf[node], streets = this.ground.meeting(node).slice(0, 2).join(" / ");
        if (s >= 0) { add(`signal ${said.signals[s]}`, streets, () => this.signal(node)); if (match(said.signals[s]) === 0) found.push({ m: 0, name: `signal ${said.signals[s]}`, note: streets, what: () => this.signal(node) }); }
        else if (match(said.nodes[node]) === 0) found.push({ m: 1, name: `intersection ${said.nodes[node]}`, note: streets, what: () => this.signal(node) });
      }
      for (const road of said.roads) if (match(road) === 0) found.push({ m: 0, name: road, note: "road", what: () => this.street(road) });
    }
    let shown = 0;
    this.facts.vehicles.some((name, id) => { const m = match(name); if (m >= 0 && (m === 0 || shown++ < 40)) found.push({ m, name, note: this.facts.race ? "racer" : this.facts.kinds[this.head.kind[id]], what: () => ({ kind: "vehicle", id }) }); return found.length > 400; });
    const seen = new Set();
    return found.filter(({ name, note }) => !seen.has(name + note) && seen.add(name + note)).sort((a, b) => a.m - b.m || a.name.length - b.name.length || a.name.localeCompare(b.name, "en", { numeric: true })).slice(0, 12);
  }
  pick(px, py) {
    const moment = this.runs.at(this.index);
    if (!moment) return;
    const [wx, wy] = this.toWorld(px, py), f = this.draw.floats, reach = 9 * this.camera.scale;
    let best = 1e9, id = -1;
    const { frames, frame } = moment, t0 = frames.times[frame], t1 = frame + 1 < frames.times.length ? frames.times[frame + 1] : t0, span = t1 - t0, share = span > 0 ? Math.min(1, Math.max(0, (this.time - t0) / span)) : 0, pose = new Float64Array(5);
    for (let row = frames.start[frame]; row < frames.start[frame + 1]; row++) {
      if (Math.abs(frames.x[row] - wx) > 90 + reach || Math.abs(frames.y[row] - wy) > 90 + reach) continue;
      between(frames, row, share, span, pose);
      const v = frames.vehicle[row], long = this.head.size[2 * v], wide = this.head.size[2 * v + 1], c = Math.cos(pose[2]), s = Math.sin(pose[2]);
      const dx = wx - pose[0], dy = wy - pose[1], along = c * dx + s * dy + 0.5 * long, aside = -s * dx + c * dy;
      const d = Math.hypot(Math.max(0, Math.abs(along) - 0.5 * long), Math.max(0, Math.abs(aside) - 0.5 * wide));
      if (d < best) { best = d; id = v; }
    }
    if (id >= 0 && best <= reach) { this.choose({ kind: "vehicle", id }); return; }
    if (!this.facts.race) {
      const { head, signalOf, said } = this.ground;
      let near = 14 * Math.max(this.camera.scale, 0.9), node = -1;
      for (let k = 0; k < head.node_x.length; k++) { const d = Math.hypot(head.node_x[k] - wx, head.node_y[k] - wy); if (signalOf[k] >= 0 && d < near) { near = d; node = k; } }
      if (node >= 0) { this.choose(this.signal(node)); return; }
      const { start, x, y } = this.ground.lanes;
      let lane = -1, closest = Math.max(3, 6 * this.camera.scale);
      for (let l = 0; l < this.ground.roads; l++) for (let i = start[l] + 1; i < start[l + 1]; i++) {
        const ax = x[i - 1], ay = y[i - 1], bx = x[i] - ax, by = y[i] - ay, u = Math.min(1, Math.max(0, ((wx - ax) * bx + (wy - ay) * by) / Math.max(1e-9, bx * bx + by * by)));
        const d = Math.hypot(ax + u * bx - wx, ay + u * by - wy);
        if (d < closest) { closest = d; lane = l; }
      }
      if (lane >= 0) { const road = this.ground.laneRoad[lane]; this.choose(this.street((said.names && said.names[head.road_name[road]]) || said.roads[road])); return; }
    }
    this.choose(null);
  }
  // ---- the card of what is chosen
  card(moment) {
    const card = $("card"), chosen = this.chosen;
    const key = chosen ? `${JSON.stringify(chosen.id ?? chosen.name ?? chosen.node)},${this.index},${this.follow}` : "";
    if (key === this.cardKey) return;
    this.cardKey = key;
    card.hidden = !chosen;
    if (!chosen) return;
    const rows = [], list = document.createElement("ol"), make = (tag, text = "") => { const e = document.createElement(tag); e.textContent = text; return e; };
    const title = make("h2"), close = make("button", "×"), extra = document.createElement("div");
    close.className = "close"; close.title = "let go (Esc)"; close.onclick = () => this.choose(null);
    if (chosen.kind === "vehicle") {
      const id = chosen.id, pose = this.poseOf(id);
      title.textContent = this.words.vehicle(id);
      const [L, W] = [this.head.size[2 * id], this.head.size[2 * id + 1]];
      rows.push(["type", `${this.facts.kinds[this.head.kind[id]]}, ${L.toFixed(1)} × ${W.toFixed(1)} m`]);
      if (!pose) rows.push(["now", "not on the road at this time"]);
      else {
        const { frames, frame, row } = pose, lane = frames.lane[row];
        rows.push(["speed", `${(3.6 * pose.speed).toFixed(0)} km/h${lane >= 0 ? `, limit ${(3.6 * this.head.lane_limit[lane]).toFixed(0)}` : ""}`]);
        if (lane >= 0) {
          if (this.words.street(lane)) rows.push(["street", this.words.street(lane)]);
          rows.push(["lane", this.words.laneText(lane)], ["delay", waitedText(frames.lost[row])]);
          const chain = this.words.chain(frames, frame, row);
          rows.push(["why", chain[0].text]);
          chain.slice(1).slice(0, 12).forEach(({ id: other, text }) => {
            const li = make("li"), a = make("a", this.words.vehicle(other)); a.tabIndex = 0; a.onclick = () => this.choose({ kind: "vehicle", id: other });
            li.append(a, ` ${text}`); list.append(li);
          });
          if (chain.length > 13) list.append(make("li", `… and ${chain.length - 13} more, the last one: ${chain[chain.length - 1].text}`));
        }
      }
      const button = make("button", this.follow ? "stop following (F)" : "follow (F)"); button.id = "follow"; button.onclick = () => this.toggleFollow(); extra.append(button);
    } else if (chosen.kind === "signal") {
      title.textContent = this.words.nodeText(chosen.node);
      let waits = 0; const { frames, frame } = moment, by = new Map();
      for (let row = frames.start[frame]; row < frames.start[frame + 1]; row++) if (frames.speed[row] < this.facts.stands && frames.lane[row] >= 0 && this.words.node(frames.lane[row]) === chosen.node) { waits++; const t = this.facts.reasons[frames.reason[row]]; by.set(t, (by.get(t) || 0) + 1); }
      rows.push(["control", ["none", "signal", "all-way stop", "stop", "yield"][this.head.node_control[chosen.node]] || "none"], ["standing", `${waits} vehicles`]);
      for (const [name, n] of [...by].sort((a, b) => b[1] - a[1]).slice(0, 5)) rows.push([name, String(n)]);
    } else {
      title.textContent = chosen.name;
      const { frames, frame } = moment, on = new Set(chosen.lanes); let n = 0, stand = 0, sum = 0, limit = 0;
      for (let row = frames.start[frame]; row < frames.start[frame + 1]; row++) if (on.has(frames.lane[row])) { n++; sum += frames.speed[row]; if (frames.speed[row] < this.facts.stands) stand++; }
      for (const l of chosen.lanes) limit = Math.max(limit, this.head.lane_limit[l]);
      const ids = [...new Set(chosen.lanes.map((l) => this.ground.said.roads[this.ground.laneRoad[l]]))];
      rows.push(["vehicles", `${n}, ${stand} standing`], ["mean speed", n ? `${(3.6 * sum / n).toFixed(0)} km/h` : "–"], ["limit", `${(3.6 * limit).toFixed(0)} km/h`], [ids.length > 1 ? "roads" : "road", ids.slice(0, 6).join(", ") + (ids.length > 6 ? ` and ${ids.length - 6} more` : "")]);
    }
    const dl = document.createElement("dl");
    for (const [name, value] of rows) dl.append(make("dt", name), make("dd", value));
    card.replaceChildren(title, close, dl, list, extra);
  }
  toggleFollow() { if (this.chosen && this.chosen.kind === "vehicle") { this.follow = !this.follow; this.cardKey = null; this.wake(); } }
  // ---- the address
  get hash() {
    const { x, y, scale } = this.camera, [ox, oy] = this.facts.origin, p = new URLSearchParams();
    p.set("t", this.time.toFixed(1)); p.set("x", (x + ox).toFixed(1)); p.set("y", (y + oy).toFixed(1)); p.set("z", scale.toPrecision(4));
    p.set("colour", this.colour); p.set("theme", this.theme);
    if (this.layer) p.set("layer", this.layer);
    if (this.chosen && this.chosen.kind === "vehicle") { p.set("v", this.words.vehicle(this.chosen.id)); if (this.follow) p.set("follow", "1"); }
    return `#${p}`;
  }
  fromHash() {
    const p = new URLSearchParams(location.hash.slice(1)), number = (k) => (p.get(k)?.trim() && isFinite(+p.get(k)) ? +p.get(k) : null), [ox, oy] = this.facts.origin, [x0, y0, x1, y1] = this.facts.box;
    if (number("t") !== null) this.seek(number("t"));
    if (number("x") !== null && number("y") !== null) {
      const x = number("x") - ox, y = number("y") - oy, scale = Math.min(60, Math.max(0.02, number("z") ?? Math.min(this.camera.scale, 0.5))), wide = 0.5 * this.width * scale, high = 0.5 * this.height * scale;
      if (x + wide > x0 && x - wide < x1 && y + high > y0 && y - high < y1) this.lookAt(x, y, scale); // else nothing would be seen
    }
    if (p.has("layer")) this.pickLayer(p.get("layer"));
    if (COLOURS[p.get("colour")]) this.colour = p.get("colour");
    this.theme = p.get("theme") || this.facts.theme || (matchMedia("(prefers-color-scheme: light)").matches ? "day" : "dark");
    if (p.has("v")) { const id = this.facts.vehicles.indexOf(p.get("v")); if (id >= 0) { this.chosen = { kind: "vehicle", id }; this.follow = p.has("follow"); } else { $("search").value = p.get("v"); this.showFound(); } }
    this.pickTheme(this.theme); this.pickColour(this.colour);
  }
  // ---- controls
  controls() {
    $("title").textContent = this.facts.title;
    if (this.facts.race) $("search").placeholder = "racer …";
    for (const name of Object.keys(this.facts.themes)) $("theme").append(new Option(name, name));
    const colours = this.facts.race ? { type: "racer", speed: COLOURS.speed, "speed-red-green": COLOURS["speed-red-green"] } : COLOURS;
    for (const [name, text] of Object.entries(colours)) $("colour").append(new Option(text, name));
    this.pickRate(this.rate, true);
    if (this.layers.length) {
      $("layer").append(new Option("none", ""));
      for (const { name, title } of this.layers) $("layer").append(new Option(title, name));
      $("layer-label").hidden = false; $("layer").onchange = (e) => this.pickLayer(e.target.value);
    }
    $("play").onclick = () => this.play(); $("back").onclick = () => this.step(-1); $("on").onclick = () => this.step(1);
    $("slower").onclick = () => this.faster(-1); $("faster").onclick = () => this.faster(1);
    $("fit").onclick = () => { this.follow = false; this.home(); };
    $("theme").onchange = (e) => this.pickTheme(e.target.value); $("colour").onchange = (e) => this.pickColour(e.target.value);
    $("help-button").onclick = () => { $("help").hidden = !$("help").hidden; };
    $("link").onclick = () => { history.replaceState(null, "", this.hash); navigator.clipboard?.writeText(location.href).catch(() => {}); $("link").textContent = "copied"; setTimeout(() => { $("link").textContent = "link"; }, 1200); };
    addEventListener("hashchange", () => this.fromHash());
    addEventListener("resize", () => this.resize());
    $("search").oninput = () => this.showFound();
    $("search").onkeydown = (e) => this.searchKey(e);
    $("search").onblur = () => this.closeFound();
    $("search").onfocus = () => { if ($("search").value.trim()) this.showFound(); };
    const queues = this.facts.queues || [];
    $("queues-button").hidden = !queues.length;
    $("queues-button").onclick = () => { $("queues").hidden = !$("queues").hidden; };
    for (const queue of queues) {
      const li = document.createElement("li"), text = document.createElement("div"), small = document.createElement("small");
      li.tabIndex = 0; text.textContent = `${queue.name || queue.road}: ${queue.most} vehicles, ${(queue.delay / 3600).toFixed(1)} h`; small.textContent = `${clockText(queue.begin)} to ${clockText(queue.end)}; ${queue.cause}`;
      li.append(text, small); li.onclick = () => this.jump(queue); li.onkeydown = (e) => { if (e.key === "Enter") this.jump(queue); };
      $("queues").querySelector("ol").append(li);
    }
    this.pointers();
    const scrub = (e) => { const b = $("time").getBoundingClientRect(); this.seek(this.begin + (this.end - this.begin) * Math.min(1, Math.max(0, (e.clientX - b.left) / b.width))); };
    $("time").onpointerdown = (e) => { $("time").setPointerCapture(e.pointerId); this.scrubbing = true; scrub(e); };
    $("time").onpointermove = (e) => { if (this.scrubbing) scrub(e); };
    $("time").onpointerup = $("time").onpointercancel = () => { this.scrubbing = false; };
    addEventListener("keydown", (e) => this.key(e));
  }
  // On a phone the list would lie over what it leads to.
  jump(queue) { if (matchMedia("(max-width: 720px)").matches) $("queues").hidden = true; this.seek(queue.worst); const what = this.street(queue.road); if (what) this.choose({ ...what, name: queue.name ? `${queue.name} (${queue.road})` : queue.road }, true); }
  showFound() {
    const list = $("found"), text = $("search").value;
    this.foundNow = this.search(text);
    list.replaceChildren(); list.hidden = !text.trim(); $("search").setAttribute("aria-expanded", !list.hidden);
    if (text.trim() && !this.foundNow.length) { const li = document.createElement("li"); li.className = "none"; li.textContent = "nothing is called so"; list.append(li); }
    this.foundNow.forEach((one, k) => {
      const li = document.createElement("li"), small = document.createElement("small");
      li.id = `found-${k}`; li.setAttribute("role", "option"); li.textContent = `${one.name} `; small.textContent = one.note; li.append(small);
      li.onmousedown = (e) => e.preventDefault(); // else the list closes before the click
      li.onclick = () => this.goto(one);
      list.append(li);
    });
    this.mark(0);
  }
  // Marks the one that Enter takes.
  mark(k) {
    this.marked = k;
    [...$("found").querySelectorAll("[role=option]")].forEach((li, i) => { li.setAttribute("aria-selected", i === k); if (i === k) li.scrollIntoView({ block: "nearest" }); });
    if (k < this.foundNow.length) $("search").setAttribute("aria-activedescendant", `found-${k}`); else $("search").removeAttribute("aria-activedescendant");
  }
  closeFound() { $("found").hidden = true; $("search").setAttribute("aria-expanded", false); $("search").removeAttribute("aria-activedescendant"); }
  searchKey(e) {
    e.stopPropagation(); // letters are no keys of the page here
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key], closed = $("found").hidden;
    if (step) {
      e.preventDefault();
      if (closed) this.showFound();
      else if (this.foundNow.length) this.mark((this.marked + step + this.foundNow.length) % this.foundNow.length);
    } else if (e.key === "Enter") {
      if (closed) this.showFound();
      if (this.foundNow.length) this.goto(this.foundNow[this.marked]);
    } else if (e.key === "Escape") { $("search").value = ""; this.closeFound(); this.over.focus(); }
  }
  // A vehicle that is not there now is shown when it is.
  async goto(one) {
    const what = one.what();
    this.closeFound(); this.over.focus({ preventScroll: true }); // so that keys are those of the page again
    if (!what) return;
    if (what.kind === "vehicle") { const t = await this.runs.whenThere(what.id, this.frameAt(this.time)); if (t !== null) this.seek(t); await this.ready(); }
    this.choose(what, true);
  }
  async ready() { this.index = this.frameAt(this.time); while (!this.runs.at(this.index) && !this.runs.failed) await new Promise((done) => setTimeout(done, 10)); }
  step(by) {
    if (this.playing) this.play(false);
    if (this.goesOn && by > 0 && this.time >= this.end - 1e-6) { this.pinned = true; this.runs.say({ step: 1 }); return; }
    const i = this.frameAt(this.time); this.seek(this.times[Math.min(this.times.length - 1, Math.max(0, by < 0 && this.time > this.times[i] + 1e-6 ? i : i + by))]); }
  cycle(id, pick) { const s = $(id), k = (s.selectedIndex + 1) % s.options.length; pick(s.options[k].value); }
  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || ["INPUT", "SELECT", "TEXTAREA"].includes(e.target.tagName)) return;
    const keys = {
      " ": () => this.play(), ",": () => this.step(-1), ".": () => this.step(1), "[": () => this.faster(-1), "]": () => this.faster(1),
      ArrowLeft: () => this.seek(this.time - 10), ArrowRight: () => this.seek(this.time + 10), Home: () => this.seek(this.begin), End: () => this.seek(this.end),
      c: () => this.cycle("colour", (v) => this.pickColour(v)), t: () => this.cycle("theme", (v) => this.pickTheme(v)), q: () => $("queues-button").click(), r: () => $("fit").click(), f: () => this.toggleFollow(),
      "?": () => $("help-button").click(), "/": () => $("search").focus(), Escape: () => { this.choose(null); $("help").hidden = true; },
      "+": () => this.zoom(this.width / 2, this.height / 2, 0.7), "-": () => this.zoom(this.width / 2, this.height / 2, 1.4),
    };
    const act = keys[e.key] || keys[e.key.toLowerCase()];
    if (!act || (e.key === " " && e.target.tagName === "BUTTON")) return;
    e.preventDefault(); act();
  }
  pointers() {
    const over = this.over, held = new Map();
    let moved = 0, far = 0;
    over.onwheel = (e) => { e.preventDefault(); if (this.follow) this.zoom(this.width / 2, this.height / 2, Math.exp(0.0015 * e.deltaY)); else this.zoom(e.clientX, e.clientY, Math.exp(0.0015 * e.deltaY * (e.deltaMode ? 20 : 1))); };
    over.onpointerdown = (e) => { over.setPointerCapture(e.pointerId); held.set(e.pointerId, [e.clientX, e.clientY]); moved = held.size > 1 ? 99 : 0; over.classList.add("moving"); over.focus({ preventScroll: true }); };
    over.onpointermove = (e) => {
      if (!held.has(e.pointerId)) return;
      const [x, y] = held.get(e.pointerId), dx = e.clientX - x, dy = e.clientY - y;
      moved += Math.abs(dx) + Math.abs(dy);
      if (held.size === 1) { if (moved > 4) { this.follow = false; held.set(e.pointerId, [e.clientX, e.clientY]); this.lookAt(this.camera.x - dx * this.camera.scale, this.camera.y + dy * this.camera.scale); } }
      else if (held.size === 2) {
        const [a, b] = [...held.entries()].map(([id, p]) => (id === e.pointerId ? [e.clientX, e.clientY] : p)), [oa, ob] = [...held.values()];
        const before = Math.hypot(oa[0] - ob[0], oa[1] - ob[1]), after = Math.hypot(a[0] - b[0], a[1] - b[1]);
        const mid = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], old = [(oa[0] + ob[0]) / 2, (oa[1] + ob[1]) / 2];
        held.set(e.pointerId, [e.clientX, e.clientY]);
        this.lookAt(this.camera.x - (mid[0] - old[0]) * this.camera.scale, this.camera.y + (mid[1] - old[1]) * this.camera.scale);
        if (before > 1 && after > 1) this.zoom(mid[0], mid[1], before / after);
      }
    };
    const up = (e) => { held.delete(e.pointerId); if (!held.size) over.classList.remove("moving"); };
    over.onpointerup = (e) => { const click = held.size === 1 && moved <= 4; up(e); if (click) this.pick(e.clientX, e.clientY); };
    over.onpointercancel = up;
    over.ondblclick = (e) => this.zoom(e.clientX, e.clientY, 0.5);
  }
}

// Pose (x, y, turn, speed, steer) of a row at a share of the time to the next frame, span s.
function between(frames, row, share, span, pose) {
  const then = frames.next[row], { x, y, turn, speed, steer } = frames;
  pose[0] = x[row]; pose[1] = y[row]; pose[2] = turn[row]; pose[3] = speed[row]; pose[4] = 0.02 * steer[row];
  if (then < 0 || share <= 0) return;
  const dx = x[then] - x[row], dy = y[then] - y[row], far = Math.hypot(dx, dy), h0 = turn[row], h1 = turn[then];
  let change = h1 - h0; change -= 2 * Math.PI * Math.round(change / (2 * Math.PI));
  pose[3] += share * (speed[then] - speed[row]); pose[4] += share * 0.02 * (steer[then] - steer[row]);
  if (far < 0.3) { pose[0] += share * dx; pose[1] += share * dy; pose[2] += share * change; return; }
  const a = Math.min(3, speed[row] * span / far), b = Math.min(3, speed[then] * span / far), u = share;
  const w = ((a + b - 2) * u + 3 - 2 * a - b) * u * u + a * u;
  const c0 = Math.cos(h0), s0 = Math.sin(h0), c1 = Math.cos(h1), s1 = Math.sin(h1), m = far * 2 / (1 + Math.cos(0.5 * change));
  const m0 = c0 * dx + s0 * dy < 0 ? -m : m, m1 = c1 * dx + s1 * dy < 0 ? -m : m;
  const w2 = w * w, w3 = w2 * w, k0 = w3 - 2 * w2 + w, k1 = w3 - w2, q = 3 * w2 - 2 * w3;
  pose[0] += q * dx + k0 * m0 * c0 + k1 * m1 * c1; pose[1] += q * dy + k0 * m0 * s0 + k1 * m1 * s1;
  pose[2] += w * change;
}

(async () => {
  try {
    if (typeof LIVE !== "undefined") { openLive(); return; }
    const data = typeof FOLDER === "undefined" ? inPage : inFolder;
    const worker = startWorker(), head = await openBlock(await data.head());
    data.sizes = head.block_bytes;
    // The first frames are decoded while the ground is built.
    const runs = new Runs(head, waysOf(head), data, worker), asked = +new URLSearchParams(location.hash.slice(1)).get("t");
    let first = 0;
    while (first + 1 < head.time.length && head.time[first + 1] <= asked + 1e-6) first++;
    await Promise.race([Promise.all([worker?.started, runs.ask(runs.blockOf(first))]), new Promise((done) => setTimeout(done, ASKED))]);
    window.rushhour = new App(head, data, runs);
  } catch (error) { $("wait").textContent = `${error.message || error}`; $("wait").hidden = false; console.error(error); }
})();
