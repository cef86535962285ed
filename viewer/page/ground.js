// What stays: the block of the ground as vertices. A vertex is a place on a middle line, the vector to
// the side (mitred), the half width (m), how far along its line it is (m), a style, and the road that it is of (-1: none).
const STYLE = { local: 0, main: 1, fast: 2, kerb: 3, mark: 4, dash: 5, stop: 6, turf: 7, start: 8, check: 9, rail: 10, green: 12, water: 13, building: 14, bus: 15 };
const VERTEX_FLOATS = 8;

class Mesh {
  constructor() { this.data = new Float32Array(1 << 14); this.index = new Uint32Array(1 << 14); this.n = 0; this.m = 0; this.parts = []; this.road = -1; }
  room(vertices, indices) {
    const f = (this.n + vertices) * VERTEX_FLOATS;
    if (f > this.data.length) { const d = new Float32Array(Math.max(f, 4 * this.data.length)); d.set(this.data); this.data = d; }
    if (this.m + indices > this.index.length) { const d = new Uint32Array(Math.max(this.m + indices, 4 * this.index.length)); d.set(this.index); this.index = d; }
  }
  vertex(x, y, nx, ny, half, along, style) {
    const d = this.data, at = this.n * VERTEX_FLOATS;
    d[at] = x; d[at + 1] = y; d[at + 2] = nx; d[at + 3] = ny; d[at + 4] = half; d[at + 5] = along; d[at + 6] = style; d[at + 7] = this.road;
    return this.n++;
  }
  triangle(a, b, c) { const { index, m } = this; index[m] = a; index[m + 1] = b; index[m + 2] = c; this.m = m + 3; }
  // A ribbon along points; half: its half width, shift: of its middle to the left, m; more: longer at both ends, m.
  ribbon(xs, ys, from, to, half, shift, style, more = 0) {
    const k = to - from;
    if (k < 2) return;
    this.room(2 * k, 6 * (k - 1));
    let along = 0, first = -1;
    for (let i = from; i < to; i++) {
      const a = Math.max(from, i - 1), b = Math.min(to - 1, i + 1);
      let ux = xs[i] - xs[a], uy = ys[i] - ys[a], vx = xs[b] - xs[i], vy = ys[b] - ys[i];
      const lu = Math.hypot(ux, uy), lv = Math.hypot(vx, vy);
      if (lu > 1e-6) { ux /= lu; uy /= lu; } if (lv > 1e-6) { vx /= lv; vy /= lv; }
      if (lu <= 1e-6) { ux = vx; uy = vy; } if (lv <= 1e-6) { vx = ux; vy = uy; }
      let mx = ux + vx, my = uy + vy; const lm = Math.hypot(mx, my) || 1; mx /= lm; my /= lm;
      const stretch = 1 / Math.max(0.6, mx * ux + my * uy);
      const nx = -my * stretch, ny = mx * stretch;
      along += i > from ? lu : 0;
      const end = i === from ? -more : i === to - 1 ? more : 0;
      const x = xs[i] + nx * shift + mx * end, y = ys[i] + ny * shift + my * end;
      const v = this.vertex(x, y, nx, ny, typeof half === "number" ? half : half[i - from], along, style);
      this.vertex(x, y, -nx, -ny, typeof half === "number" ? half : half[i - from], along, style);
      if (first < 0) first = v;
      else { this.triangle(v - 2, v - 1, v); this.triangle(v, v - 1, v + 1); }
    }
  }
  polygon(xs, ys, from, to, style) {
    const k = to - from;
    if (k < 3) return;
    this.room(k, 3 * (k - 2));
    const first = this.n;
    let cx = 0, cy = 0;
    for (let i = from; i < to; i++) { cx += xs[i] / k; cy += ys[i] / k; }
    for (let i = from; i < to; i++) {
      const dx = xs[i] - cx, dy = ys[i] - cy, d = Math.hypot(dx, dy) || 1;
      this.vertex(xs[i], ys[i], dx / d, dy / d, 0, 0, style);
    }
    for (let i = 2; i < k; i++) this.triangle(first, first + i - 1, first + i);
  }
  quad(places, style) {
    const xs = [], ys = [];
    for (const [x, y] of places) { xs.push(x); ys.push(y); }
    this.polygon(xs, ys, 0, 4, style);
  }
  // Ends a part that is drawn only where its box is seen.
  cut(box) { const from = this.parts.length ? this.parts[this.parts.length - 1].to : 0; if (this.m > from) this.parts.push({ from, to: this.m, box }); }
}

// Numbers of the points of a line, a to b, that lie farther than so many m beside what the others draw.
function simplified(x, y, a, b, most) {
  const dx = x[b] - x[a], dy = y[b] - y[a], d = Math.hypot(dx, dy) || 1;
  let worst = 0, at = -1;
  for (let i = a + 1; i < b; i++) { const off = Math.abs((x[i] - x[a]) * dy - (y[i] - y[a]) * dx) / d; if (off > worst) { worst = off; at = i; } }
  return worst <= most ? [a, b] : [...simplified(x, y, a, at, most).slice(0, -1), ...simplified(x, y, at, b, most)];
}

// Where one comes to from each lane: what frames are decoded by.
function waysOf(head) {
  if (head.facts.race) return { roads: 0, start: new Int32Array(1), to: new Int32Array(0), limit: new Float32Array(0) };
  const roads = head.facts.ground.lanes, start = new Int32Array(roads + 1);
  for (const lane of head.way_from) start[lane + 1]++;
  for (let l = 0; l < roads; l++) start[l + 1] += start[l];
  return { roads, start, to: head.way_to, limit: head.lane_limit };
}

// What the name of a mesh ends in that lies at a level.
const onLevel = (level) => (level ? ` at ${level}` : "");

class Ground {
  constructor(head) {
    const facts = head.facts;
    this.head = head; this.facts = facts; this.said = facts.ground; this.race = facts.race;
    this.meshes = {}; this.near = null;
    this.box = facts.box;
    if (this.race) { this.raceGround(); return; }
    this.lanes = openLines(head, "lane", 0.02);
    this.zebras = openLines(head, "zebra", 0.02);
    this.streets = openLines(head, "street", 0.02);
    this.roads = this.said.lanes;
    const n = this.lanes.start.length - 1;
    this.count = n;
    this.laneRoad = new Int32Array(n).fill(-1);
    for (let r = 0; r < head.road_lane.length; r++) this.laneRoad.fill(r, head.road_lane[r], head.road_lane[r] + head.road_lanes[r]);
    this.levels = [...new Set([0, ...head.level_of])].sort((a, b) => a - b); // from below
    this.stretches = new Map(); // of each road those that lie at another level than 0
    head.level_road.forEach((road, k) => { if (!this.stretches.has(road)) this.stretches.set(road, []); this.stretches.get(road).push(k); });
    this.ways = waysOf(head); this.outStart = this.ways.start;
    const [local, main, fast] = this.farRoads();
    this.meshes = { ...this.around(), "far local": local, "far main": main, "far fast": fast };
    this.near = this.nearRoads(); // what is left to build, null: nothing
  }
  // Builds a tile more of what is seen from near; whether there is more to build.
  builds() {
    if (this.near && this.near.next().done) this.near = null;
    return this.near !== null;
  }
  // A layer, built now if it is not yet.
  mesh(name) { while (!this.meshes[name] && this.builds()); return this.meshes[name]; }
  get limits() { return this.head.lane_limit; }
  // Lanes by tiles of the map, so that what is not seen is not drawn.
  tiles() {
    const [x0, y0, x1, y1] = this.box, side = Math.max(x1 - x0, y1 - y0) / Math.max(1, Math.min(24, Math.round(Math.sqrt(this.count / 60))));
    const tiles = new Map(), { start, x, y } = this.lanes;
    for (let l = 0; l < this.count; l++) {
      if (start[l + 1] === start[l]) continue;
      const mid = (start[l] + start[l + 1]) >> 1, key = Math.floor((x[mid] - x0) / side) + 1000 * Math.floor((y[mid] - y0) / side);
      if (!tiles.has(key)) tiles.set(key, { lanes: [], box: [1e9, 1e9, -1e9, -1e9] });
      const tile = tiles.get(key), b = tile.box;
      tile.lanes.push(l);
      for (let i = start[l]; i < start[l + 1]; i++) {
        b[0] = Math.min(b[0], x[i] - 9); b[1] = Math.min(b[1], y[i] - 9); b[2] = Math.max(b[2], x[i] + 9); b[3] = Math.max(b[3], y[i] + 9);
      }
    }
    return [...tiles.values()];
  }
  // Which storey a level is, from 1; land is 0.
  storey(level) { return 1 + this.levels.indexOf(level); }
  // The level of a lane where it is nearest to a place, m; away: where a vehicle so long is far from it.
  levelAt(lane, X, Y, length, away) {
    const head = this.head;
    if (lane < 0) return this.levels[this.levels.length - 1];
    if (lane >= this.roads) { // whoever comes from a bridge is on it still with its rear
      const way = lane - this.roads;
      return Math.max(head.node_level[head.way_at[way]], this.levelAlong(head.way_from[way], 1), this.levelAlong(head.way_to[way], 0));
    }
    const { start, x, y } = this.lanes, outside = (values, v) => { let low = Infinity, high = -Infinity; for (let i = start[lane]; i < start[lane + 1]; i++) { low = Math.min(low, values[i]); high = Math.max(high, values[i]); } return v < low - length - 4 || v > high + length + 4; };
    if (outside(x, X) || outside(y, Y)) return away;
    if (!this.stretches.has(this.laneRoad[lane])) return 0;
    let total = 0, at = 0, least = Infinity;
    for (let i = start[lane] + 1; i < start[lane + 1]; i++) {
      const dx = x[i] - x[i - 1], dy = y[i] - y[i - 1], d = Math.hypot(dx, dy), u = d > 0 ? Math.min(1, Math.max(0, ((X - x[i - 1]) * dx + (Y - y[i - 1]) * dy) / (d * d))) : 0;
      const off = Math.hypot(X - x[i - 1] - u * dx, Y - y[i - 1] - u * dy);
      if (off < least) { least = off; at = total + u * d; }
      total += d;
    }
    return this.levelAlong(lane, total > 0 ? at / total : 0);
  }
  // The same at a share of a lane's length.
  levelAlong(lane, share) {
    const some = this.stretches.get(this.laneRoad[lane]) || [], k = some.find((one) => this.head.level_begin[one] <= share && share <= this.head.level_end[one]);
    return k === undefined ? 0 : this.head.level_of[k];
  }
  // A lane in pieces that lie at one level each.
  pieces(lane) {
    const { start, x, y } = this.lanes, from = start[lane], to = start[lane + 1], head = this.head;
    if (lane >= this.roads) return [{ x, y, from, to, level: head.node_level[head.way_at[lane - this.roads]] }];
    const some = this.stretches.get(this.laneRoad[lane]);
    if (!some || to - from < 2) return [{ x, y, from, to, level: 0 }];
    const at = [0], found = [], limits = [0], levels = [];
    for (let i = from + 1; i < to; i++) at.push(at[i - from - 1] + Math.hypot(x[i] - x[i - 1], y[i] - y[i - 1]));
    const total = at[at.length - 1], place = (s, i) => { const u = (s - at[i - 1]) / (at[i] - at[i - 1] || 1), p = from + i; return [x[p - 1] + u * (x[p] - x[p - 1]), y[p - 1] + u * (y[p] - y[p - 1])]; };
    for (const k of some) { limits.push(head.level_begin[k] * total, head.level_end[k] * total); levels.push(0, head.level_of[k]); }
    limits.push(total); levels.push(0);
    levels.forEach((level, n) => {
      const a = limits[n], b = limits[n + 1], xs = [], ys = [], add = ([X, Y]) => { xs.push(X); ys.push(Y); };
      if (b - a < 0.01) return;
      for (let i = 1; i < at.length; i++) {
        if (at[i] <= a || at[i - 1] >= b) continue;
        if (!xs.length) add(place(Math.max(a, at[i - 1]), i));
        add(place(Math.min(b, at[i]), i));
      }
      found.push({ x: xs, y: ys, from: 0, to: xs.length, level });
    });
    return found;
  }
  // Lanes with what is painted on them, and crossings, tile by tile, those of each level apart.
  *nearRoads() {
    const head = this.head, width = head.lane_width, names = ["local", "main", "fast", "marks", "stops", "arrows", "zebras"];
    const storeys = new Map(this.levels.map((level) => [level, Object.fromEntries(names.map((name) => [name, new Mesh()]))]));
    const leftSign = this.said.left_hand ? -1 : 1;
    for (const { lanes, box } of this.tiles()) {
      for (const l of lanes) {
        const grade = head.lane_grade[l], half = 0.5 * width[l] + 0.05, road = l < this.roads ? this.laneRoad[l] : -1;
        const pieces = this.pieces(l), inner = l === head.road_lane[road] + head.road_lanes[road] - 1;
        for (const { x, y, from, to, level } of pieces) {
          const storey = storeys.get(level), mesh = storey[names[grade]];
          mesh.road = road;
          mesh.ribbon(x, y, from, to, half, 0, head.lane_bus[l] ? STYLE.bus : grade, 0.4);
          if (road >= 0) storey.marks.ribbon(x, y, from, to, 0.075, leftSign * 0.5 * width[l], inner ? STYLE.mark : STYLE.dash);
        }
        if (road < 0) continue;
        const stop = head.lane_stop[l], { stops, arrows } = storeys.get(pieces[pieces.length - 1].level);
        if (stop) this.line(stops, l, stop === 1);
        this.arrow(arrows, l);
      }
      for (const storey of storeys.values()) for (const name of names) storey[name].cut(box);
      yield;
    }
    const { zebras } = storeys.get(0);
    for (let a = 0; a + 1 < this.zebras.start.length; a++) zebras.polygon(this.zebras.x, this.zebras.y, this.zebras.start[a], this.zebras.start[a + 1], STYLE.stop);
    zebras.cut(null);
    for (const [level, storey] of storeys) for (const name of names) this.meshes[name + onLevel(level)] = storey[name];
    Object.assign(this.meshes, this.corners());
  }
  // Green, water and buildings, by tiles of the map.
  around() {
    const head = this.head, meshes = { green: new Mesh(), water: new Mesh(), buildings: new Mesh() }, kinds = Object.keys(meshes);
    const rings = openLines(head, "ring", 0.02), corners = signed(head, "ring_corner"), side = 800;
    const kind = new Uint8Array(rings.x.length);
    for (let r = 0; r < head.ring_kind.length; r++) kind.fill(head.ring_kind[r], rings.start[r], rings.start[r + 1]);
    const tiles = new Map();
    for (let k = 0, at = 0; k < corners.length; k += 3) {
      const three = [0, 1, 2].map((c) => (at += corners[k + c])), key = `${kind[three[0]]},${Math.floor(rings.x[three[0]] / side)},${Math.floor(rings.y[three[0]] / side)}`;
      if (!tiles.has(key)) tiles.set(key, { kind: kind[three[0]], triangles: [] });
      tiles.get(key).triangles.push(three);
    }
    const styles = [STYLE.green, STYLE.water, STYLE.building];
    for (const tile of tiles.values()) {
      const mesh = meshes[kinds[tile.kind]], box = [1e9, 1e9, -1e9, -1e9];
      mesh.room(3 * tile.triangles.length, 3 * tile.triangles.length);
      for (const three of tile.triangles) for (const p of three) {
        const x = rings.x[p], y = rings.y[p];
        mesh.index[mesh.m++] = mesh.vertex(x, y, 0, 0, 0, 0, styles[tile.kind]);
        box[0] = Math.min(box[0], x); box[1] = Math.min(box[1], y); box[2] = Math.max(box[2], x); box[3] = Math.max(box[3], y);
      }
      mesh.cut(box);
    }
    return meshes;
  }
  // Roads as one line each, from crossing to crossing, with no more bends than are seen from afar; by tile.
  farRoads() {
    const { start, x, y } = this.lanes, head = this.head, found = [new Mesh(), new Mesh(), new Mesh()];
    const side = 1200, tiles = new Map();
    for (let r = 0; r < head.road_lane.length; r++) {
      const first = head.road_lane[r], count = head.road_lanes[r], lane = first + (count >> 1), from = start[lane], to = start[lane + 1];
      if (to - from < 2) continue;
      const mid = (from + to) >> 1, key = `${Math.floor(x[mid] / side)},${Math.floor(y[mid] / side)}`;
      if (!tiles.has(key)) tiles.set(key, []);
      tiles.get(key).push(r);
    }
    for (const roads of tiles.values()) {
      const box = [1e9, 1e9, -1e9, -1e9];
      for (const r of roads) {
        const first = head.road_lane[r], count = head.road_lanes[r], lane = first + (count >> 1), xs = [], ys = [];
        const add = (X, Y) => { xs.push(X); ys.push(Y); box[0] = Math.min(box[0], X - 30); box[1] = Math.min(box[1], Y - 30); box[2] = Math.max(box[2], X + 30); box[3] = Math.max(box[3], Y + 30); };
        const near = (node, i) => node >= 0 && Math.hypot(head.node_x[node] - x[i], head.node_y[node] - y[i]) < 60;
        const a = start[lane], b = start[lane + 1] - 1, from = head.road_from[r], to = head.road_to[r];
        if (near(from, a)) add(head.node_x[from], head.node_y[from]);
        for (const i of simplified(x, y, a, b, 2.5)) add(x[i], y[i]);
        if (near(to, b)) add(head.node_x[to], head.node_y[to]);
        let half = 0; for (let l = first; l < first + count; l++) half += 0.5 * head.lane_width[l];
        const mesh = found[head.lane_grade[lane]];
        mesh.road = r; // an even number of lanes has its middle at the edge of this one
        mesh.ribbon(xs, ys, 0, xs.length, half, count % 2 ? 0 : (this.said.left_hand ? 0.5 : -0.5) * head.lane_width[lane], head.lane_grade[lane]);
      }
      for (const mesh of found) mesh.cut(box);
    }
    return found;
  }
  // The surfaces of crossings, those of each level apart.
  corners() {
    const head = this.head, { start, x, y } = openLines(head, "round", 0.02), corners = signed(head, "round_corner");
    const meshes = new Map(this.levels.map((level) => [level, new Mesh()])), number = new Uint32Array(x.length), mesh = new Array(start.length - 1);
    const ring = new Uint32Array(x.length);
    for (let k = 0; k + 1 < start.length; k++) {
      const first = start[k], n = start[k + 1] - first, grade = head.node_grade[head.round_at[k]];
      mesh[k] = meshes.get(head.node_level[head.round_at[k]]); mesh[k].room(n, 0); ring.fill(k, first, first + n);
      for (let i = 0; i < n; i++) { // a middle is a ring of its own, and stays where it is
        const p = first + (i + n - 1) % n, q = first + (i + 1) % n, ex = x[q] - x[p], ey = y[q] - y[p], e = Math.hypot(ex, ey) || 1;
        number[first + i] = mesh[k].vertex(x[first + i], y[first + i], ey / e, -ex / e, 0, 0, grade);
      }
    }
    for (let k = 0, at = 0; k < corners.length; k += 3) {
      const three = [0, 1, 2].map((c) => (at += corners[k + c])), one = mesh[ring[three[0]]];
      one.room(0, 3); one.triangle(...three.map((p) => number[p]));
    }
    for (const one of meshes.values()) one.cut(null);
    return Object.fromEntries([...meshes].map(([level, one]) => [`corners${onLevel(level)}`, one]));
  }
  end(lane) {
    const { start, x, y } = this.lanes, e = start[lane + 1] - 1;
    if (e <= start[lane]) return null;
    const dx = x[e] - x[e - 1], dy = y[e] - y[e - 1], d = Math.hypot(dx, dy) || 1;
    return { x: x[e], y: y[e], dx: dx / d, dy: dy / d, half: this.facts.paint.line * this.head.lane_width[lane] };
  }
  // A stop line, or the teeth of a yield line that point at who comes.
  line(mesh, lane, full) {
    const e = this.end(lane);
    if (!e) return;
    const { stop, tooth, tooth_long } = this.facts.paint;
    const p = (along, aside) => [e.x - e.dx * along - e.dy * aside, e.y - e.dy * along + e.dx * aside];
    if (full) { mesh.quad([p(0, e.half), p(0, -e.half), p(stop, -e.half), p(stop, e.half)], STYLE.stop); return; }
    const teeth = Math.max(2, Math.round(e.half * 2 / tooth)), w = 2 * e.half / teeth;
    for (let k = 0; k < teeth; k++) {
      const a = -e.half + k * w, xs = [], ys = [];
      for (const [px, py] of [p(0, a + 0.1 * w), p(0, a + 0.9 * w), p(tooth_long, a + 0.5 * w)]) { xs.push(px); ys.push(py); }
      mesh.polygon(xs, ys, 0, 3, STYLE.stop);
    }
  }
  // What may be done from a lane, painted before its end, where its road has several.
  arrow(mesh, lane) {
    const head = this.head, road = this.laneRoad[lane];
    if (head.road_lanes[road] < 2) return;
    const e = this.end(lane);
    if (!e) return;
    const { start, x, y } = this.lanes;
    let long = 0;
    for (let i = start[lane] + 1; i < start[lane + 1]; i++) long += Math.hypot(x[i] - x[i - 1], y[i] - y[i - 1]);
    const { arrow, least, stem, onwards, aside, straight, left, right } = this.facts.paint;
    if (long < least) return;
    let turns = 0;
    for (let k = this.outStart[lane]; k < this.outStart[lane + 1]; k++) turns |= 1 << Math.min(3, head.way_turn[k]);
    if (!turns || turns & 8) turns &= 7;
    if (!turns) return;
    const put = (places, side) => {
      const xs = [], ys = [];
      for (const [along, b] of places) { const back = arrow - along, out = side * b; xs.push(e.x - e.dx * back - e.dy * out); ys.push(e.y - e.dy * back + e.dx * out); }
      mesh.polygon(xs, ys, 0, xs.length, STYLE.mark);
    };
    for (const [turn, parts, side] of [[-1, stem, 1], [straight, onwards, 1], [left, aside, 1], [right, aside, -1]]) {
      if (turn < 0 || turns & 1 << turn) for (const places of parts) put(places, side);
    }
  }
  raceGround() {
    const head = this.head, mesh = new Mesh(), kerbs = new Mesh(), lines = new Mesh(), far = new Mesh();
    this.lanes = { start: new Int32Array(1), x: new Float32Array(0), y: new Float32Array(0) };
    this.streets = { start: new Int32Array(1) };
    this.roads = 0; this.count = 0; this.laneRoad = new Int32Array(0);
    this.ways = waysOf(head);
    if (head.track_left) {
      const l = head.track_left, r = head.track_right, k = l.length / 2;
      mesh.room(2 * k, 6 * k);
      for (let i = 0; i < k; i++) for (const [e, o] of [[l, r], [r, l]]) {
        const dx = e[2 * i] - o[2 * i], dy = e[2 * i + 1] - o[2 * i + 1], d = Math.hypot(dx, dy) || 1;
        mesh.vertex(e[2 * i], e[2 * i + 1], dx / d, dy / d, 0, 0, STYLE.main);
      }
      for (let i = 0; i < k; i++) { const a = 2 * i, b = 2 * ((i + 1) % k); mesh.triangle(a, a + 1, b); mesh.triangle(b, a + 1, b + 1); }
      const { kerb, stripe } = this.facts.track;
      for (const [e, o] of [[l, r], [r, l]]) {
        const xs = [], ys = [];
        for (let i = 0; i <= k; i++) { xs.push(e[2 * (i % k)]); ys.push(e[2 * (i % k) + 1]); }
        const dx = xs[1] - xs[0], dy = ys[1] - ys[0], d = Math.hypot(dx, dy) || 1;
        const out = Math.sign(dx * (ys[0] - o[1]) - dy * (xs[0] - o[0])) || 1, first = kerbs.n; // to the left, or to the right
        kerbs.ribbon(xs, ys, 0, xs.length, 0.5 * kerb, 0.5 * kerb * out, STYLE.rail);
        const at = (v) => v * VERTEX_FLOATS + 5, long = kerbs.data[at(kerbs.n - 1)]; // as many stripes as fit in whole pairs
        for (let v = first; v < kerbs.n; v++) kerbs.data[at(v)] *= 2 * stripe * Math.max(2, Math.round(long / (2 * stripe))) / long;
        if (e === l) this.start = { x0: l[0], y0: l[1], x1: r[0], y1: r[1], dx: dx / d, dy: dy / d };
      }
    } else {
      const { cell, rows, columns } = this.said, [x0, y0] = head.course_corner;
      for (let r = 0; r < rows; r++) for (let c = 0; c < columns;) {
        const cost = head.course_cost[r * columns + c];
        let e = c + 1;
        while (e < columns && head.course_cost[r * columns + e] === cost) e++;
        if (cost) {
          const X = x0 + cell * c, Y = y0 + cell * r, X1 = x0 + cell * e, Y1 = Y + cell;
          mesh.room(4, 6);
          const first = mesh.n, style = STYLE.turf + Math.min(0.9, 0.1 * (cost - 1));
          for (const [x, y, nx, ny] of [[X, Y, -1, -1], [X1, Y, 1, -1], [X1, Y1, 1, 1], [X, Y1, -1, 1]]) mesh.vertex(x, y, nx, ny, 0, 0, style); // its rim is as wide on all sides
          mesh.triangle(first, first + 1, first + 2); mesh.triangle(first, first + 2, first + 3);
        }
        c = e;
      }
      if (head.course_line) {
        const [x0, y0, x1, y1] = head.course_line, d = Math.hypot(x1 - x0, y1 - y0) || 1;
        this.start = { x0, y0, x1, y1, dx: (y0 - y1) / d, dy: (x1 - x0) / d };
      }
    }
    if (this.start) {
      const { cell, rows } = this.facts.track;
      const s = this.start, wide = Math.hypot(s.x1 - s.x0, s.y1 - s.y0), cells = Math.max(6, Math.round(wide / cell)), side = wide / cells;
      far.ribbon([s.x0, s.x1], [s.y0, s.y1], 0, 2, 0.5 * rows * side, 0, STYLE.start, 1.5);
      const ax = (s.x1 - s.x0) / wide, ay = (s.y1 - s.y0) / wide;
      for (let c = 0; c < cells; c++) for (let q = 0; q < rows; q++) {
        const at = (u, v) => [s.x0 + ax * side * u + s.dx * side * (v - 0.5 * rows), s.y0 + ay * side * u + s.dy * side * (v - 0.5 * rows)];
        lines.quad([at(c, q), at(c + 1, q), at(c + 1, q + 1), at(c, q + 1)], (c + q) % 2 ? STYLE.start : STYLE.check);
      }
    }
    for (const one of [mesh, kerbs, lines, far]) one.cut(null);
    this.meshes = { main: mesh, kerbs, lines, "far lines": far };
  }
}

// What of the ground is looked for.
Object.assign(Ground.prototype, {
  // Up to about 3,000 places on it.
  places() {
    const head = this.head, found = [], add = (x, y, n) => { const step = Math.max(1, Math.floor(n / 1500)); for (let k = 0; k < n; k += step) found.push([x(k), y(k)]); };
    if (!this.race) { const last = this.roads ? this.lanes.start[this.roads] : 0; add((k) => this.lanes.x[k], (k) => this.lanes.y[k], last); }
    else if (head.track_left) for (const e of [head.track_left, head.track_right]) add((k) => e[2 * k], (k) => e[2 * k + 1], e.length >> 1);
    else {
      const { cell, rows, columns } = this.said, [x0, y0] = head.course_corner, step = Math.max(1, Math.ceil(Math.sqrt(rows * columns / 3000)));
      for (let r = 0; r < rows; r += step) for (let c = 0; c < columns; c += step) if (head.course_cost[r * columns + c]) found.push([x0 + cell * c, y0 + cell * r]);
    }
    return found;
  },
  index() {
    const head = this.head, n = this.race ? 0 : head.node_x.length;
    this.signalOf = new Int32Array(n).fill(-1);
    if (this.race) return;
    for (let k = 0; k < head.way_signal.length; k++) if (head.way_signal[k] >= 0) this.signalOf[head.way_at[k]] = head.way_signal[k];
    this.streetsAt = new Map();
    for (let r = 0; r < head.road_from.length; r++) for (const at of [head.road_from[r], head.road_to[r]]) {
      if (at < 0 || !this.said.names) continue;
      const name = this.said.names[head.road_name[r]];
      if (!name) continue;
      if (!this.streetsAt.has(at)) this.streetsAt.set(at, new Set());
      this.streetsAt.get(at).add(name);
    }
  },
  meeting(node) { const found = this.streetsAt && this.streetsAt.get(node); return found ? [...found] : []; },
  middle(lane) {
    const { start, x, y } = this.lanes, mid = (start[lane] + start[lane + 1]) >> 1;
    return start[lane + 1] > start[lane] ? [x[mid], y[mid]] : null;
  },
  roadMiddle(road) { return this.middle(this.head.road_lane[road] + (this.head.road_lanes[road] >> 1)); },
});
