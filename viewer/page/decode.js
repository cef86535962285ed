"use strict";
// Opens blocks (blocks.py) and turns frames (motion.py) into arrays by frame. It runs in a worker, and
// in the page itself where a browser starts none.
const ARRAYS = { u8: Uint8Array, u16: Uint16Array, i32: Int32Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array };
const TURN = 1024, SCALE = 16384, BESIDE = 20, FOLLOWS = 30, ELSEWHERE = 100;
const COSINE = Int32Array.from({ length: TURN }, (_, k) => Math.round(SCALE * Math.cos(2 * Math.PI * k / TURN)));

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
  return bytes;
}

async function openBlock(bytes) {
  // Not by way of a Blob: WebKit reads none in a worker of a page that was opened from a disk.
  const stream = new DecompressionStream("deflate"), writer = stream.writable.getWriter();
  for (const done of [writer.write(bytes), writer.close()]) done.catch(() => {}); // who reads is told
  const data = await new Response(stream.readable).arrayBuffer();
  const size = new DataView(data).getUint32(0, true);
  const { facts, arrays } = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, size)));
  const found = { facts };
  for (const [name, [kind, at, count]] of Object.entries(arrays)) {
    found[name] = new ARRAYS[kind](data, 4 + size + at, count);
  }
  return found;
}

// Whole numbers that were written as signs.
function signed(block, name) {
  const small = block[name], wide = block[name + "+"], values = new Int32Array(small.length);
  for (let k = 0, w = 0; k < small.length; k++) {
    const s = small[k];
    values[k] = s === 255 ? wide[w++] : (s & 1 ? -((s + 1) >> 1) : s >> 1);
  }
  return values;
}

// Lines of places (m), each its own run of differences: { start: (k + 1,), x, y }.
function openLines(block, name, unit) {
  const counts = signed(block, name + "_n"), x = signed(block, name + "_x"), y = signed(block, name + "_y");
  const start = new Int32Array(counts.length + 1);
  const xs = new Float32Array(x.length), ys = new Float32Array(y.length);
  for (let l = 0, at = 0; l < counts.length; l++) {
    let px = 0, py = 0;
    for (const end = at + counts[l]; at < end; at++) {
      px += x[at]; py += y[at];
      xs[at] = px * unit; ys[at] = py * unit;
    }
    start[l + 1] = at;
  }
  return { start, x: xs, y: ys };
}

function laneAfter(lane, code, ways) {
  if (code === 0) return lane;
  if (code >= ELSEWHERE - 1) return code - ELSEWHERE;
  if (code >= FOLLOWS) return ways.to[ways.start[lane] + code - FOLLOWS];
  if (code > BESIDE - 5) return lane + code - BESIDE;
  return lane < ways.roads ? ways.roads + ways.start[lane] + code - 1 : ways.to[lane - ways.roads];
}

// The frames of a block. ways: { roads, start, to, limit } of the network. Rows are by frame, within a
// frame by vehicle; next: the row of the same vehicle in the frame after, -1 if it is not there.
function openFrames(block, ways) {
  const { frames, tenths } = block.facts;
  const get = (name) => signed(block, name);
  const vehicle = get("vehicle"), from = get("from"), count = get("count"), lostAt = get("lost");
  const cSpeed = get("speed"), cTurn = get("turn"), cx = get("x"), cy = get("y"), cLane = get("lane");
  const cReason = get("reason"), cBlocker = get("blocker"), cLights = get("lights");
  const cSteer = block.steer ? get("steer") : null;
  const n = cSpeed.length, runs = vehicle.length;
  const start = new Int32Array(frames + 1);
  for (let r = 0, id = 0; r < runs; r++) {
    id += vehicle[r]; vehicle[r] = id;
    for (let f = from[r], end = f + count[r]; f < end; f++) start[f + 1]++;
  }
  for (let f = 0; f < frames; f++) start[f + 1] += start[f];
  const at = start.slice(0, frames);
  const out = {
    start, vehicle: new Int32Array(n), x: new Float32Array(n), y: new Float32Array(n), turn: new Float32Array(n),
    speed: new Float32Array(n), lane: new Int32Array(n), reason: new Uint8Array(n), blocker: new Int32Array(n),
    lights: new Uint8Array(n), lost: new Float32Array(n), steer: new Int8Array(n), next: new Int32Array(n).fill(-1),
    times: Float64Array.from(tenths, (t) => t / 10),
  };
  for (let r = 0, k = 0; r < runs; r++) {
    let speed = 0, gain = 0, turn = 0, x = 0, y = 0, lane = 0, reason = 0, blocker = -1, lights = 0, lost = lostAt[r];
    let steer = 0, before = -1;
    for (let f = from[r], first = f, end = f + count[r]; f < end; f++, k++) {
      if (f === first) {
        speed = cSpeed[k]; turn = cTurn[k]; x = cx[k]; y = cy[k]; lane = cLane[k];
        reason = cReason[k]; blocker = cBlocker[k]; lights = cLights[k]; gain = 0;
        if (cSteer) steer = cSteer[k];
      } else {
        const old = speed, span = tenths[f] - tenths[f - 1];
        gain = (f > first + 1 ? gain >> 1 : 0) + cSpeed[k];
        speed += gain;
        const way = (turn + (cTurn[k] >> 1) + TURN) % TURN, far = (speed + old) * span;
        turn = (turn + cTurn[k] + TURN) % TURN;
        x += Math.floor(far * COSINE[way] / (20 * SCALE)) + cx[k];
        y += Math.floor(far * COSINE[(way + TURN - TURN / 4) % TURN] / (20 * SCALE)) + cy[k];
        lane = laneAfter(lane, cLane[k], ways);
        if (cReason[k]) reason = cReason[k] - 1;
        if (cBlocker[k]) blocker = cBlocker[k] - 2 < 0 ? -1 : cBlocker[k] - 2;
        lights ^= cLights[k];
        if (cSteer) steer += cSteer[k];
        if (lane >= 0) lost += 0.1 * span * Math.max(0, 1 - 0.1 * speed / ways.limit[lane]);
      }
      const row = at[f]++;
      out.vehicle[row] = vehicle[r]; out.x[row] = 0.1 * x; out.y[row] = 0.1 * y;
      out.turn[row] = turn * (2 * Math.PI / TURN); out.speed[row] = 0.1 * speed; out.lane[row] = lane;
      out.reason[row] = reason; out.blocker[row] = blocker; out.lights[row] = lights; out.lost[row] = lost;
      out.steer[row] = steer;
      if (before >= 0) out.next[before] = row;
      before = row;
    }
  }
  return out;
}

function buffers(value) {
  return Object.values(value).filter((one) => ArrayBuffer.isView(one)).map((one) => one.buffer);
}

if (typeof document === "undefined") {
  let ways = null;
  self.postMessage({ runs: true });
  self.onmessage = async ({ data }) => {
    try {
      if (data.ways) { ways = data.ways; return; }
      const bytes = data.text ? fromBase64(data.text) : new Uint8Array(data.bytes);
      const frames = openFrames(await openBlock(bytes), ways);
      self.postMessage({ number: data.number, frames }, buffers(frames));
    } catch (error) {
      self.postMessage({ number: data.number, error: String(error) });
    }
  };
}
