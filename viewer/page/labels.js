// Names of streets along them, drawn on a canvas that lies below the vehicles. They are laid out for a
// zoom and a wide surrounding, in metres, so that they stay where they are while the map is moved.
const FONT = 'system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';
const SHIFTS = [0, -0.12, 0.12, -0.25, 0.25, -0.38, 0.38];
const BRIDGES = 3.4; // m a pixel, up to which they are drawn over what they cross
const JOINED = /[\u0590-\u08ff\u0900-\u0dff\u0e00-\u0eff\ufb1d-\ufeff]/; // scripts whose letters join or stack

class Labels {
  constructor(ground) {
    this.ground = ground; this.canvas = document.createElement("canvas"); this.key = ""; this.placed = [];
    const { streets, said } = ground;
    this.lines = [];
    let below = 0;
    for (let l = 0; said.streets && l < said.streets.length; l++) {
      const from = streets.start[l], to = streets.start[l + 1], at = new Float32Array(to - from);
      let low = [1e9, 1e9], high = [-1e9, -1e9];
      for (let i = from; i < to; i++) {
        if (i > from) at[i - from] = at[i - from - 1] + Math.hypot(streets.x[i] - streets.x[i - 1], streets.y[i] - streets.y[i - 1]);
        low = [Math.min(low[0], streets.x[i]), Math.min(low[1], streets.y[i])]; high = [Math.max(high[0], streets.x[i]), Math.max(high[1], streets.y[i])];
      }
      const covered = ground.head.street_covered.subarray(below, (below += ground.head.street_covers[l])); // m along it, below another road
      this.lines.push({ covered, text: said.streets[l], rank: said.ranks[l], from, to, at, long: at.length ? at[at.length - 1] : 0, low, high });
    }
  }
  place(line, s) {
    const { x, y } = this.ground.streets, { at, from } = line;
    let lo = 0, hi = at.length - 1;
    while (hi - lo > 1) { const mid = (lo + hi) >> 1; if (at[mid] <= s) lo = mid; else hi = mid; }
    const share = at[hi] > at[lo] ? (s - at[lo]) / (at[hi] - at[lo]) : 0;
    return [x[from + lo] + share * (x[from + hi] - x[from + lo]), y[from + lo] + share * (y[from + hi] - y[from + lo])];
  }
  style(line) { return line.rank >= 24 ? [13.5, 650] : line.rank >= 15 ? [12.5, 600] : [11.5, 500]; }
  layOut(camera, width, height) {
    const { scale } = camera, context = this.canvas.getContext("2d");
    const bx = 0.9 * width * scale, by = 0.9 * height * scale;
    this.box = [camera.x - bx, camera.y - by, camera.x + bx, camera.y + by];
    this.placed = [];
    if (scale > 9) return;
    const taken = new Map(), cell = 18 * scale, where = new Map();
    const key = (x, y) => Math.floor(x / cell) * 65536 + Math.floor(y / cell);
    for (const line of this.lines) {
      if (line.high[0] < this.box[0] || line.low[0] > this.box[2] || line.high[1] < this.box[1] || line.low[1] > this.box[3]) continue;
      const [size, weight] = this.style(line);
      if (scale > 3.2 && line.rank < 15) continue;
      context.font = `${weight} ${size}px ${FONT}`;
      if (line.wide === undefined || line.size !== size) { line.wide = context.measureText(line.text).width; line.size = size; }
      const wide = line.wide * scale;
      if (1.08 * wide > line.long) continue;
      const times = Math.max(1, Math.floor(line.long / Math.max(620 * scale, 1.6 * wide)));
      for (let k = 0; k < times; k++) for (const shift of SHIFTS) {
        const start = line.long * (k + 0.5 + shift) / times - 0.5 * wide;
        if (start < 0 || start + wide > line.long) continue;
        if (scale <= BRIDGES && line.covered.some((s) => s > start && s < start + wide)) continue;
        const found = this.fitting(line, start, wide, scale, size);
        if (!found) continue;
        const mid = found.places[found.places.length >> 1];
        if (mid[0] < this.box[0] || mid[0] > this.box[2] || mid[1] < this.box[1] || mid[1] > this.box[3]) continue;
        if ((where.get(line.text) || []).some(([x, y]) => Math.hypot(x - mid[0], y - mid[1]) < 480 * scale)) continue;
        const cells = found.places.map(([x, y]) => key(x, y));
        if (cells.some((c) => { for (const d of [0, 1, -1, 65536, -65536, 65537, 65535, -65535, -65537]) if (taken.has(c + d)) return true; return false; })) continue;
        for (const c of cells) taken.set(c, true);
        if (!where.has(line.text)) where.set(line.text, []);
        where.get(line.text).push(mid);
        this.placed.push({ line, start, wide, size, weight, ...found });
        break;
      }
    }
  }
  // Where a name would be: places along it, whether it runs backwards, and whether its line is straight there.
  fitting(line, start, wide, scale, size) {
    const pieces = Math.max(3, Math.ceil(wide / (size * scale))), places = [];
    for (let k = 0; k <= pieces; k++) places.push(this.place(line, start + wide * k / pieces));
    let turned = 0, most = 0, before = null, total = 0;
    for (let k = 1; k <= pieces; k++) {
      const a = Math.atan2(places[k][1] - places[k - 1][1], places[k][0] - places[k - 1][0]);
      if (before !== null) { let d = a - before; d -= 2 * Math.PI * Math.round(d / (2 * Math.PI)); most = Math.max(most, Math.abs(d)); total += d; turned = Math.max(turned, Math.abs(total)); }
      before = a;
    }
    if (most > 0.32 || turned > 1.2) return null;
    const a = places[0], b = places[pieces], chord = Math.hypot(b[0] - a[0], b[1] - a[1]);
    let off = 0;
    for (const [x, y] of places) off = Math.max(off, Math.abs((x - a[0]) * (b[1] - a[1]) - (y - a[1]) * (b[0] - a[0])) / Math.max(chord, 1e-6));
    const straight = off < 0.22 * size * scale;
    if (!straight && JOINED.test(line.text)) return null;
    return { places, backwards: b[0] < a[0] - 1e-6 || (Math.abs(b[0] - a[0]) <= 1e-6 && b[1] < a[1]), straight };
  }
  // The names on a canvas of the size of the map; null: there are none.
  draw(camera, width, height, ratio, theme) {
    if (!this.lines.length || camera.scale > 9) return null;
    const key = `${camera.scale.toPrecision(6)},${width},${height}`, b = this.box;
    const half = [0.5 * width * camera.scale, 0.5 * height * camera.scale];
    if (key !== this.key || camera.x - half[0] < b[0] || camera.x + half[0] > b[2] || camera.y - half[1] < b[1] || camera.y + half[1] > b[3]) {
      this.layOut(camera, width, height); this.key = key;
    }
    const canvas = this.canvas, c = canvas.getContext("2d");
    canvas.width = width * ratio; canvas.height = height * ratio;
    c.scale(ratio, ratio); c.textAlign = "center"; c.textBaseline = "middle"; c.lineJoin = "round";
    c.fillStyle = css(theme.names); c.strokeStyle = css(theme.halo, 0.92);
    const px = (x) => (x - camera.x) / camera.scale + 0.5 * width, py = (y) => 0.5 * height - (y - camera.y) / camera.scale;
    for (const one of this.placed) {
      c.font = `${one.weight} ${one.size}px ${FONT}`;
      const ends = [one.places[0], one.places[one.places.length - 1]];
      const x = 0.5 * (ends[0][0] + ends[1][0]), y = 0.5 * (ends[0][1] + ends[1][1]);
      if (px(x) < -one.wide || px(x) > width + one.wide || py(y) < -200 || py(y) > height + 200) continue;
      const parts = [];
      if (one.straight) {
        let angle = Math.atan2(-(ends[1][1] - ends[0][1]), ends[1][0] - ends[0][0]);
        if (one.backwards) angle += Math.PI;
        parts.push([one.line.text, px(x), py(y), angle]);
      } else {
        const letters = [...one.line.text], whole = one.line.wide;
        let before = "";
        for (const letter of letters) {
          const w0 = c.measureText(before).width; before += letter;
          const w1 = c.measureText(before).width, share = 0.5 * (w0 + w1) / whole;
          const s = one.start + one.wide * (one.backwards ? 1 - share : share), d = 0.4 * one.size * camera.scale;
          const p = this.place(one.line, s), a = this.place(one.line, Math.max(0, s - d)), b2 = this.place(one.line, Math.min(one.line.long, s + d));
          let angle = Math.atan2(-(b2[1] - a[1]), b2[0] - a[0]);
          if (one.backwards) angle += Math.PI;
          parts.push([letter, px(p[0]), py(p[1]), angle]);
        }
      }
      for (const rim of [true, false]) for (const [text, X, Y, angle] of parts) {
        c.save(); c.translate(X, Y); c.rotate(angle);
        if (rim) { c.lineWidth = 3.4; c.strokeText(text, 0, 0); } else c.fillText(text, 0, 0);
        c.restore();
      }
    }
    return canvas;
  }
}

function css(colour, alpha = 1) { return alpha === 1 ? `rgb(${colour.join(",")})` : `rgba(${colour.join(",")},${alpha})`; }
