// Draws with WebGL 2: the ground into a picture that is kept while the camera stands, then lights and
// vehicles. Colours come from the theme. Without a graphics card each pass over all pixels is dear, so that
// a crowd is put into the pixels here and shown by a canvas of its own, and of a picture with bodies only
// what changed is drawn anew.
const GROUND_VERTEX = `#version 300 es
layout(location=0) in vec2 a_at; layout(location=1) in vec2 a_side; layout(location=2) in float a_half;
layout(location=3) in float a_along; layout(location=4) in float a_style; layout(location=5) in float a_road;
uniform vec2 u_centre, u_scale; uniform float u_widen, u_least; uniform vec3 u_palette[16]; uniform float u_style, u_layer; uniform sampler2D u_roads;
out vec3 v_colour, v_other; out float v_along, v_dash;
void main() {
  vec2 p = a_at + a_side * max(a_half + u_widen, a_half > 0.0 ? u_least : 0.0);
  gl_Position = vec4((p - u_centre) * u_scale, 0.0, 1.0);
  float style = u_style >= 0.0 ? u_style : a_style, base = floor(style);
  v_colour = u_palette[int(base)]; v_other = u_palette[8];
  if (base == 7.0) v_colour = mix(u_palette[7], u_palette[11], style - 7.0);
  if (u_layer > 0.0 && u_style < 0.0 && a_road >= 0.0) {
    int road = int(a_road); vec4 c = texelFetch(u_roads, ivec2(road & 1023, road >> 10), 0);
    if (c.a > 0.0) v_colour = c.rgb;
  }
  v_along = a_along; v_dash = a_style == 5.0 && u_style < 0.0 ? 1.0 : a_style == 10.0 && u_style < 0.0 ? 2.0 : 0.0;
}`;
const GROUND_FRAGMENT = `#version 300 es
precision highp float;
in vec3 v_colour, v_other; in float v_along, v_dash; uniform float u_alpha, u_stripe; out vec4 colour;
void main() {
  float period = 2.0 * u_stripe * exp2(ceil(max(0.0, log2(2.4 * fwidth(v_along) / u_stripe)))); // never finer than pixels
  if (v_dash == 1.0 && mod(v_along, 9.0) > 3.0) discard;
  colour = vec4(v_dash == 2.0 && mod(v_along, period) > 0.5 * period ? v_other : v_colour, u_alpha);
}`;
const STOREY = 8; // alpha of the ground for each storey, from 0 on land
// The rim around a vehicle: of a dark colour it is one that is seen on asphalt, which may be dark, too.
const RIM = `uniform vec3 u_rim, u_dark_rim; uniform float u_darkest; vec3 rimOf(vec3 c) { return dot(c * c, vec3(0.2126, 0.7152, 0.0722)) < u_darkest ? u_dark_rim : u_rim; }`;
const BODY_VERTEX = `#version 300 es
layout(location=0) in vec4 a_pose; layout(location=1) in vec4 a_what; layout(location=2) in vec4 a_colour;
uniform vec2 u_centre, u_scale; uniform float u_pixel;
out vec2 v_at; flat out vec2 v_half; flat out vec4 v_what; flat out vec3 v_colour;
void main() {
  vec2 corner = vec2(float(gl_VertexID & 1) * 2.0 - 1.0, float(gl_VertexID >> 1) * 2.0 - 1.0);
  float grow = 0.35 + 1.5 * u_pixel;
  vec2 half_ = 0.5 * a_what.xy;
  v_at = corner * (half_ + grow);
  v_half = half_; v_what = vec4(a_what.z, mod(a_what.w, 8.0), a_pose.w, floor(a_what.w / 8.0)); v_colour = a_colour.rgb;
  float c = cos(a_pose.z), s = sin(a_pose.z);
  vec2 q = vec2(v_at.x - half_.x, v_at.y);
  vec2 p = a_pose.xy + vec2(c * q.x - s * q.y, s * q.x + c * q.y);
  gl_Position = vec4((p - u_centre) * u_scale, 0.0, 1.0);
}`;
const BODY_FRAGMENT = `#version 300 es
precision highp float;
in vec2 v_at; flat in vec2 v_half; flat in vec4 v_what; flat in vec3 v_colour;
uniform float u_pixel, u_blink; uniform sampler2D u_ground; out vec4 colour;
${RIM}
${BODIES}void main() {
  // What a road of a higher storey covers is not seen; the ground's alpha says which is the highest there.
  if (texelFetch(u_ground, ivec2(gl_FragCoord.xy), 0).a * 255.0 > ${STOREY}.0 * v_what.w + 0.5 * ${STOREY}.0) discard;
  vec4 o = vehicle(v_at, v_half, v_what.x, v_what.y, v_what.z, v_colour, rimOf(v_colour), u_pixel, u_blink);
  if (o.a < 0.01) discard;
  colour = vec4(o.rgb * o.a, o.a);
}`;
const MARK_VERTEX = `#version 300 es
layout(location=0) in vec4 a_pose; layout(location=1) in vec4 a_what; layout(location=2) in vec4 a_colour;
uniform vec2 u_centre, u_scale; uniform float u_pixel, u_size, u_ratio;
out vec3 v_colour; flat out vec2 v_turn; flat out float v_long;
${BODIES}void main() {
  float c = cos(a_pose.z), s = sin(a_pose.z);
  vec2 p = a_pose.xy - 0.5 * a_what.x * vec2(c, s);
  gl_Position = vec4((p - u_centre) * u_scale, 0.0, 1.0);
  gl_PointSize = kite_size(u_size, a_what.x, a_what.z) * u_ratio; v_long = gl_PointSize;
  v_colour = a_colour.rgb; v_turn = vec2(c, s);
}`;
const MARK_FRAGMENT = `#version 300 es
precision highp float;
in vec3 v_colour; flat in vec2 v_turn; flat in float v_long; uniform float u_rim_wide; out vec4 colour;
${RIM}
${BODIES}void main() {
  vec2 q = vec2(gl_PointCoord.x - 0.5, 0.5 - gl_PointCoord.y) * v_long;
  vec4 o = kite(vec2(v_turn.x * q.x + v_turn.y * q.y, -v_turn.y * q.x + v_turn.x * q.y), v_long, u_rim_wide, v_colour, rimOf(v_colour));
  if (o.a < 0.02) discard;
  colour = vec4(o.rgb * o.a, o.a);
}`;
const BAR_VERTEX = `#version 300 es
layout(location=0) in vec4 a_pose; layout(location=1) in vec4 a_what; layout(location=2) in vec4 a_colour;
uniform vec2 u_centre, u_scale; uniform float u_pixel; out vec2 v_at; flat out vec2 v_half; out vec3 v_colour;
void main() {
  vec2 corner = vec2(float(gl_VertexID & 1) * 2.0 - 1.0, float(gl_VertexID >> 1) * 2.0 - 1.0);
  v_half = vec2(max(0.38, 1.4 * u_pixel), max(a_what.x, 2.0 * u_pixel));
  v_at = corner * (v_half + 1.6 * u_pixel);
  vec2 d = a_pose.zw, p = a_pose.xy + d * (v_at.x - v_half.x) + vec2(-d.y, d.x) * v_at.y;
  gl_Position = vec4((p - u_centre) * u_scale, 0.0, 1.0); v_colour = a_colour.rgb;
}`;
const BAR_FRAGMENT = `#version 300 es
precision highp float;
in vec2 v_at; flat in vec2 v_half; in vec3 v_colour; uniform float u_pixel; uniform vec3 u_rim; out vec4 colour;
void main() {
  vec2 d = abs(v_at) - v_half + 0.3 * v_half.x;
  float e = length(max(d, 0.0)) + min(max(d.x, d.y), 0.0) - 0.3 * v_half.x;
  float a = clamp(0.5 - (e - 0.7 * u_pixel) / u_pixel, 0.0, 1.0), i = clamp(0.5 - e / u_pixel, 0.0, 1.0);
  if (a < 0.02) discard;
  colour = vec4(mix(u_rim, v_colour, i) * a, a);
}`;
const PICTURE_VERTEX = `#version 300 es
out vec2 v_at; void main() { v_at = vec2(gl_VertexID == 1 ? 2.0 : 0.0, gl_VertexID == 2 ? 2.0 : 0.0); gl_Position = vec4(v_at * 2.0 - 1.0, 0.0, 1.0); }`;
const PICTURE_FRAGMENT = `#version 300 es
precision highp float; in vec2 v_at; uniform sampler2D u_picture; out vec4 colour; void main() { colour = texture(u_picture, v_at); }`;

const KERBS = 1.2; // pixels a m from which on a track has them
const CELL_PIXELS = 2.4; // of a cell of the start line, from which on it has cells
const BUILDINGS = 0.25; // pixels a m from which on they are drawn
const FAR = 3.4; // m a pixel from which on roads are one line each
const SPLATS = 1200; // marks, from which on they are put into the picture here, without a graphics card
const SAMPLES_COST = 8; // times that all samples take as long as one, without a graphics card
const HITCH = 1200; // ms that one picture may take while others follow
const RIMS = 12000; // marks, from which on they have no rims there
const MARGIN = 32; // pixels around that picture
const TILE = 64; // pixels, of a picture that is drawn anew in parts
const MANY = 0.5; // of its tiles, from which on all of it is
const INSTANCE = 36; // bytes: pose (4 floats), what (4 floats), colour (4 bytes)

class Draw {
  constructor(canvas, ground) {
    this.slow = withoutCard();
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: false, depth: false, powerPreference: "high-performance", preserveDrawingBuffer: this.slow });
    if (!gl) throw new Error(NO_GL);
    this.gl = gl; this.canvas = canvas; this.ground = ground;
    this.crowd = document.createElement("canvas"); this.crowd.id = "crowd"; this.crowd.hidden = true; canvas.after(this.crowd);
    this.shown = null; // the bodies and lights in the picture, by tile: what is to be covered before the next
    this.programs = {
      ground: this.program(GROUND_VERTEX, GROUND_FRAGMENT), body: this.program(BODY_VERTEX, BODY_FRAGMENT),
      mark: this.program(MARK_VERTEX, MARK_FRAGMENT), bar: this.program(BAR_VERTEX, BAR_FRAGMENT),
      picture: this.program(PICTURE_VERTEX, PICTURE_FRAGMENT),
    };
    this.layers = {}; // sent when they are first drawn
    this.instances = this.instanced(); this.bars = this.instanced();
    this.room(4096);
    this.barData = new ArrayBuffer(0);
    this.empty = gl.createVertexArray();
    this.texture = gl.createTexture(); this.names = gl.createTexture();
    this.kept = "";
    this.samples = Math.min(4, gl.getParameter(gl.MAX_SAMPLES));
    this.refineAt = Infinity; // ms, when a ground that was drawn with one sample is drawn with all
  }
  program(vertex, fragment) {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text); gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    const at = {};
    for (let k = 0; k < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); k++) {
      const name = gl.getActiveUniform(program, k).name;
      at[name.replace("[0]", "")] = gl.getUniformLocation(program, name);
    }
    return { program, at };
  }
  layer(mesh) {
    const gl = this.gl, vao = gl.createVertexArray();
    gl.bindVertexArray(vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, mesh.data.subarray(0, mesh.n * VERTEX_FLOATS), gl.STATIC_DRAW);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, mesh.index.subarray(0, mesh.m), gl.STATIC_DRAW);
    let at = 0;
    for (const [place, size] of [[0, 2], [1, 2], [2, 1], [3, 1], [4, 1], [5, 1]]) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, gl.FLOAT, false, 4 * VERTEX_FLOATS, 4 * at);
      at += size;
    }
    gl.bindVertexArray(null);
    return { vao, parts: mesh.parts };
  }
  instanced() {
    const gl = this.gl, buffer = gl.createBuffer(), vaos = [];
    for (const divisor of [1, 0]) {
      const vao = gl.createVertexArray();
      gl.bindVertexArray(vao); gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      for (const [place, size, kind, even, at] of [[0, 4, gl.FLOAT, false, 0], [1, 4, gl.FLOAT, false, 16], [2, 4, gl.UNSIGNED_BYTE, true, 32]]) {
        gl.enableVertexAttribArray(place); gl.vertexAttribPointer(place, size, kind, even, INSTANCE, at); gl.vertexAttribDivisor(place, divisor);
      }
      vaos.push(vao);
    }
    gl.bindVertexArray(null);
    return { buffer, one: vaos[0], points: vaos[1], bytes: 0 };
  }
  room(n) {
    if (this.data && this.data.byteLength >= n * INSTANCE) return;
    this.data = new ArrayBuffer(Math.ceil(1.3 * n) * INSTANCE);
    this.floats = new Float32Array(this.data); this.words = new Uint32Array(this.data);
  }
  send(to, data, n) {
    const gl = this.gl, bytes = n * INSTANCE;
    gl.bindBuffer(gl.ARRAY_BUFFER, to.buffer);
    if (bytes > to.bytes) { to.bytes = Math.max(bytes, 65536); }
    gl.bufferData(gl.ARRAY_BUFFER, to.bytes, gl.STREAM_DRAW); // a new one: the old may still be read
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, new Uint8Array(data, 0, bytes));
  }
  set theme(theme) {
    const unit = (c) => c.map((v) => v / 255), roads = this.ground.race ? [theme.track, theme.track, theme.track] : theme.roads;
    this.colours = theme; this.rim = unit(theme.rim); this.darkRim = unit(theme.dark_rim);
    const [red] = this.ground.facts.track.kerbs, [black, white] = this.ground.facts.track.checks;
    this.palette = new Float32Array([...roads.flatMap(unit), ...unit(theme.kerb), ...unit(theme.marks), ...unit(theme.marks), ...unit(theme.stops), ...unit(theme.turf[0]), ...unit(white), ...unit(black), ...unit(red), ...unit(theme.turf[1]), ...unit(theme.green), ...unit(theme.water), ...unit(theme.building), ...unit(theme.bus)]);
    this.kept = "";
  }
  resize(width, height, ratio) {
    const gl = this.gl, w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
    if (this.canvas.width === w && this.canvas.height === h && this.frame) return;
    this.canvas.width = w; this.canvas.height = h; this.width = width; this.height = height; this.ratio = ratio;
    for (const one of [this.frame, this.flat]) if (one) gl.deleteFramebuffer(one);
    this.image = this.pixels = this.shown = null;
    if (this.buffer) gl.deleteRenderbuffer(this.buffer);
    this.buffer = gl.createRenderbuffer();
    this.frame = gl.createFramebuffer(); gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame);
    gl.bindRenderbuffer(gl.RENDERBUFFER, this.buffer);
    gl.renderbufferStorageMultisample(gl.RENDERBUFFER, this.samples, gl.RGBA8, w, h);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, this.buffer);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, w, h, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
    for (const one of [this.texture, this.names]) {
      gl.bindTexture(gl.TEXTURE_2D, one);
      for (const [name, value] of [[gl.TEXTURE_MIN_FILTER, gl.NEAREST], [gl.TEXTURE_MAG_FILTER, gl.NEAREST], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) gl.texParameteri(gl.TEXTURE_2D, name, value);
    }
    this.flat = gl.createFramebuffer(); gl.bindFramebuffer(gl.FRAMEBUFFER, this.flat);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.texture, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.kept = "";
  }
  use(name, camera) {
    const gl = this.gl, { program, at } = this.programs[name];
    gl.useProgram(program);
    gl.uniform2f(at.u_centre, camera.x, camera.y);
    gl.uniform2f(at.u_scale, 2 / (this.width * camera.scale), 2 / (this.height * camera.scale));
    if (at.u_pixel) gl.uniform1f(at.u_pixel, camera.scale / this.ratio);
    if (at.u_rim) gl.uniform3fv(at.u_rim, this.rim);
    if (at.u_dark_rim) { gl.uniform3fv(at.u_dark_rim, this.darkRim); gl.uniform1f(at.u_darkest, this.ground.facts.darkest); }
    return at;
  }
  paint(name, at, box, { widen = 0, least = 0, style = -1, alpha = 0 } = {}) {
    const gl = this.gl, layer = (this.layers[name] ??= this.layer(this.ground.mesh(name)));
    gl.uniform1f(at.u_widen, widen); gl.uniform1f(at.u_least, least); gl.uniform1f(at.u_style, style); gl.uniform1f(at.u_alpha, alpha);
    gl.bindVertexArray(layer.vao);
    let from = -1, to = -1;
    const flush = () => { if (to > from) gl.drawElements(gl.TRIANGLES, to - from, gl.UNSIGNED_INT, 4 * from); };
    for (const part of layer.parts) {
      const b = part.box;
      if (b && (b[2] < box[0] || b[0] > box[2] || b[3] < box[1] || b[1] > box[3])) continue;
      if (part.from === to) { to = part.to; continue; }
      flush(); from = part.from; to = part.to;
    }
    flush();
  }
  // The ground, drawn anew only when something of it changed. key: what it depends on beside the camera.
  // names: gives a canvas with the names of streets, or null; roads: colours of roads, packed, or null;
  // plays: pictures follow each other, and none may take long.
  keepGround(camera, box, key, names, roads, plays) {
    const wanted = `${camera.x},${camera.y},${camera.scale},${key}`, now = performance.now();
    if (wanted === this.kept && (now < this.refineAt || (plays && this.fine > HITCH))) return;
    const refines = wanted === this.kept;
    this.kept = wanted; this.refineAt = Infinity; this.pixels = this.shown = null;
    names = names();
    if (!this.slow || refines) { this.drawGround(camera, box, names, roads, this.frame); return; }
    this.drawGround(camera, box, names, roads, this.flat);
    this.finish();
    this.fine = SAMPLES_COST * (performance.now() - now); // ms that all samples will take
    if (this.fine < 150) this.drawGround(camera, box, names, roads, this.frame);
    else this.refineAt = now + (this.fine < HITCH ? 400 : 1000); // once it stands
  }
  // Waits until all is drawn.
  finish() { const gl = this.gl; gl.bindFramebuffer(gl.FRAMEBUFFER, this.flat); gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); gl.bindFramebuffer(gl.FRAMEBUFFER, null); }
  drawGround(camera, box, names, roads, target) {
    const gl = this.gl, scale = camera.scale, near = 1 / scale;
    gl.bindFramebuffer(gl.FRAMEBUFFER, target);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    const land = this.colours.land;
    gl.disable(gl.BLEND);
    gl.clearColor(land[0] / 255, land[1] / 255, land[2] / 255, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const at = this.use("ground", camera);
    gl.uniform3fv(at.u_palette, this.palette);
    gl.uniform1f(at.u_layer, roads ? 1 : 0); gl.uniform1f(at.u_stripe, this.ground.facts.track.stripe);
    if (roads) this.sendRoads(roads); else gl.bindTexture(gl.TEXTURE_2D, null); // not what is drawn into
    if (this.ground.race) {
      const wide = near > KERBS ? 0 : 1.6 * scale; // from afar a track is a line, wider than it is
      const { kerb, rim, cell } = this.ground.facts.track;
      this.paint("main", at, box, { widen: near > KERBS ? (this.ground.said.cell ? 0 : kerb) + rim : wide + 1.1 * scale, style: STYLE.kerb });
      this.paint("main", at, box, { widen: wide });
      if (near > KERBS) this.paint("kerbs", at, box, { least: 0.9 * scale });
      if (near * cell > CELL_PIXELS) this.paint("lines", at, box);
      else { // its cells would be lost between pixels
        this.paint("far lines", at, box, { least: 3.2 * scale, style: STYLE.check });
        this.paint("far lines", at, box, { least: 1.6 * scale });
      }
    } else {
      this.paint("green", at, box); this.paint("water", at, box);
      if (near >= BUILDINGS) this.paint("buildings", at, box);
      // Side streets are the thinner the farther the camera is; fast ones stay seen.
      const least = { local: 0.6, main: 1.5, fast: 2.2 }, kerb = Math.max(0.3, 0.8 * scale), grades = ["local", "main", "fast"];
      const rim = kerb - 0.55 * scale * Math.min(1, Math.max(0, (scale - 14) / 11)); // of side streets: the thinner from 14 m a pixel to 25
      const far = scale > FAR ? "far " : ""; // roads as one line each
      for (const level of far ? [0] : this.ground.levels) {
        const on = onLevel(level), storey = STOREY * this.ground.storey(level) / 255;
        for (const g of grades) this.paint(far + g + on, at, box, { widen: g === "local" ? rim : kerb, least: least[g] * scale + (g === "local" ? rim : kerb), style: STYLE.kerb, alpha: storey });
        if (near > 0.25) this.paint("corners" + on, at, box, { widen: kerb, style: STYLE.kerb, alpha: storey });
        if (near > 0.25) this.paint("corners" + on, at, box, { alpha: storey });
        for (const g of grades) this.paint(far + g + on, at, box, { least: least[g] * scale, alpha: storey });
        if (near <= 1.4) continue;
        gl.enable(gl.BLEND); gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ZERO, gl.ONE);
        const alpha = Math.min(1, (near - 1.4) / 1.6);
        this.paint("marks" + on, at, box, { least: 0.4 * scale, alpha });
        this.paint("zebras" + on, at, box, { alpha }); this.paint("stops" + on, at, box, { alpha });
        if (near > 3.5) this.paint("arrows" + on, at, box, { alpha: Math.min(1, (near - 3.5) / 2) });
        gl.disable(gl.BLEND);
      }
    }
    if (names) {
      gl.bindTexture(gl.TEXTURE_2D, this.names);
      gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, true); gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, true);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, names);
      gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, false);
      gl.enable(gl.BLEND); gl.blendFuncSeparate(gl.ONE, gl.ONE_MINUS_SRC_ALPHA, gl.ZERO, gl.ONE);
      this.picture(this.names);
      gl.disable(gl.BLEND);
    }
    if (target !== this.flat) this.copy(target, this.flat);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }
  copy(from, to) {
    const gl = this.gl, w = this.canvas.width, h = this.canvas.height;
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, from); gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, to);
    gl.blitFramebuffer(0, 0, w, h, 0, 0, w, h, gl.COLOR_BUFFER_BIT, gl.NEAREST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }
  // A crowd without a graphics card: lights, and marks as dots that are longer along their heading, put into the
  // pixels of the ground here. Those have a margin, so that nothing is cut off at their edges.
  splat(camera, n, bars, size) {
    const gl = this.gl, w = this.canvas.width, h = this.canvas.height, W = w + 2 * MARGIN, H = h + 2 * MARGIN;
    if (!this.image) {
      this.crowd.width = w; this.crowd.height = h;
      this.pen = this.crowd.getContext("2d", { alpha: false });
      this.image = new ImageData(W, H); this.put = new Uint32Array(this.image.data.buffer);
    }
    if (!this.pixels) {
      const data = new Uint32Array(w * h);
      gl.bindFramebuffer(gl.FRAMEBUFFER, this.flat);
      gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(data.buffer));
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
      for (let k = 0; k < data.length; k++) data[k] |= 0xff000000; // its alpha tells storeys
      this.pixels = new Uint32Array(W * H); // a canvas begins with its upper row
      for (let row = 0; row < h; row++) this.pixels.set(data.subarray(row * w, (row + 1) * w), (MARGIN + h - 1 - row) * W + MARGIN);
    }
    const { put, ratio } = this, pixel = ratio / camera.scale, x0 = camera.x - (0.5 * w + MARGIN) / pixel, y1 = camera.y + (0.5 * h + MARGIN) / pixel;
    put.set(this.pixels);
    // Squares, so many pixels wide, from (x, y) - reach * (c, s) on.
    const row = (x, y, c, s, reach, step, steps, wide, last, colour) => {
      for (let q = 0; q <= steps; q++) {
        const u = q * step - reach, side = q === steps ? last : wide;
        let o = (y + u * s | 0) * W + (x + u * c | 0);
        for (let i = 0; i < side; i++, o += W) for (let j = 0; j < side; j++) put[o + j] = colour;
      }
    };
    const packed = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0, rim = packed(this.colours.rim), darkRim = packed(this.colours.dark_rim), room = MARGIN - 3;
    const { far, far_rim } = this.ground.facts.kites, least = camera.scale > far ? far_rim : 1; // a rim of less than a pixel is a pixel that is less of one
    const mixed = (a, b, shift) => Math.round(least * (a >> shift & 255) + (1 - least) * (b >> shift & 255)) << shift;
    const rimOf = (c) => {
      const whole = 0.2126 * (c & 255) ** 2 + 0.7152 * (c >> 8 & 255) ** 2 + 0.0722 * (c >> 16 & 255) ** 2 < this.ground.facts.darkest * 65025 ? darkRim : rim;
      return least === 1 ? whole : (255 << 24 | mixed(whole, c, 16) | mixed(whole, c, 8) | mixed(whole, c, 0)) >>> 0;
    };
    const seen = (x, y) => x > room && y > room && x < W - room && y < H - room;
    if (bars && bars.n) {
      const f = new Float32Array(bars.data), words = new Uint32Array(bars.data), wide = Math.max(2, Math.round(0.76 * pixel));
      for (let k = 0; k < bars.n; k++) {
        const at = 9 * k, x = (f[at] - x0) * pixel - 0.5 * wide, y = (y1 - f[at + 1]) * pixel - 0.5 * wide, c = -f[at + 3], s = -f[at + 2];
        const reach = Math.min(room - wide, Math.max(1, f[at + 4] * pixel - 0.5 * wide)), steps = Math.ceil(2 * reach / wide);
        if (!seen(x, y)) continue;
        row(x - 1, y - 1, c, s, reach, 2 * reach / steps, steps, wide + 2, wide + 2, rim); row(x, y, c, s, reach, 2 * reach / steps, steps, wide, wide, words[at + 8]);
      }
    }
    const f = this.floats, words = this.words;
    const thick = Math.max(2, Math.round(0.34 * size * ratio)), long = Math.max(0, 0.5 * size * ratio - 0.5 * thick), steps = Math.ceil(2 * long / thick);
    const middle = 0.5 * thick - 0.5, step = steps ? 2 * long / steps : 0, nose = steps && thick > 2 ? thick - 1 : thick;
    for (let k = 0; k < n; k++) {
      const at = 9 * k, c = Math.cos(f[at + 2]), s = -Math.sin(f[at + 2]), half = 0.5 * f[at + 4];
      const x = (f[at] - half * c - x0) * pixel - middle, y = (y1 - f[at + 1] - half * s) * pixel - middle;
      if (!seen(x, y)) continue;
      if (n < RIMS) row(x - 1, y - 1, c, s, long, step, steps, thick + 2, thick + 2, rimOf(words[at + 8]));
      row(x, y, c, s, long, step, steps, thick, nose, words[at + 8]);
    }
    this.pen.putImageData(this.image, -MARGIN, -MARGIN);
  }
  // Which tiles bodies and lights lie in. data: instances, n of them; far(at): how far one reaches, m, from where it is.
  tilesOf(camera, into, floats, n, far) {
    const w = this.canvas.width, h = this.canvas.height, columns = Math.ceil(w / TILE), rows = Math.ceil(h / TILE);
    const pixel = this.ratio / camera.scale, x0 = camera.x - 0.5 * w / pixel, y0 = camera.y - 0.5 * h / pixel;
    for (let k = 0; k < n; k++) {
      const at = 9 * k, reach = far(at) * pixel + 3, x = (floats[at] - x0) * pixel, y = (floats[at + 1] - y0) * pixel;
      const left = Math.max(0, Math.floor((x - reach) / TILE)), right = Math.min(columns - 1, Math.floor((x + reach) / TILE));
      const top = Math.min(rows - 1, Math.floor((y + reach) / TILE));
      for (let row = Math.max(0, Math.floor((y - reach) / TILE)); row <= top; row++) for (let c = left; c <= right; c++) into[row * columns + c] = 1;
    }
  }
  // Puts the ground below what is drawn next: all of it, or, without a graphics card, where something was or comes.
  cover(camera, n, bars) {
    const gl = this.gl, w = this.canvas.width, h = this.canvas.height;
    if (!this.slow) {
      gl.clear(gl.COLOR_BUFFER_BIT); // else Chrome does so before what is drawn next, when the copy below is there
      this.copy(this.flat, null);
      return;
    }
    const columns = Math.ceil(w / TILE), rows = Math.ceil(h / TILE), now = new Uint8Array(columns * rows), before = this.shown;
    const f = this.floats;
    this.tilesOf(camera, now, f, n, (at) => f[at + 4] + 0.5 * f[at + 5] + 1);
    if (bars && bars.n) { const b = new Float32Array(bars.data); this.tilesOf(camera, now, b, bars.n, (at) => b[at + 4] + 1); }
    this.shown = now;
    let count = 0;
    if (before) for (let k = 0; k < now.length; k++) count += now[k] | before[k];
    if (!before || count > MANY * now.length) { this.copy(this.flat, null); return; }
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.flat); gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
    for (let row = 0; row < rows; row++) for (let c = 0; c < columns; c++) {
      const first = c;
      while (c < columns && now[row * columns + c] | before[row * columns + c]) c++;
      if (c === first) continue;
      const x0 = first * TILE, x1 = Math.min(w, c * TILE), y0 = row * TILE, y1 = Math.min(h, y0 + TILE);
      gl.blitFramebuffer(x0, y0, x1, y1, x0, y0, x1, y1, gl.COLOR_BUFFER_BIT, gl.NEAREST);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }
  sendRoads(colours) {
    const gl = this.gl, rows = Math.max(1, Math.ceil(colours.length / 1024)), data = new Uint32Array(1024 * rows);
    data.set(colours);
    if (!this.roadColours) this.roadColours = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.roadColours);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 1024, rows, 0, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(data.buffer));
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
  }
  picture(texture) {
    const gl = this.gl;
    gl.useProgram(this.programs.picture.program);
    gl.bindVertexArray(this.empty);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
  // What moves. n: vehicles in this.data; bars: { data, n } of lights, or null; kite: pixels, 0: bodies.
  draw(camera, n, bars, kite, blink) {
    const gl = this.gl;
    const splats = this.slow && kite > 0 && n > SPLATS;
    if (this.crowd.hidden === splats) { this.crowd.hidden = !splats; this.canvas.style.visibility = splats ? "hidden" : ""; this.shown = null; }
    if (splats) { this.splat(camera, n, bars, kite); return; }
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    this.cover(camera, n, bars);
    gl.enable(gl.BLEND); gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    if (bars && bars.n) {
      this.send(this.bars, bars.data, bars.n);
      this.use("bar", camera);
      gl.bindVertexArray(this.bars.one);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, bars.n);
    }
    if (n) {
      this.send(this.instances, this.data, n);
      if (!kite) {
        const at = this.use("body", camera);
        gl.uniform1f(at.u_blink, blink ? 1 : 0);
        gl.bindTexture(gl.TEXTURE_2D, this.texture);
        gl.bindVertexArray(this.instances.one);
        gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, n);
      } else {
        const at = this.use("mark", camera), { rim, far_rim, far } = this.ground.facts.kites;
        gl.uniform1f(at.u_size, kite); gl.uniform1f(at.u_ratio, this.ratio); gl.uniform1f(at.u_rim_wide, (camera.scale > far ? far_rim : rim) * this.ratio);
        gl.bindVertexArray(this.instances.points);
        gl.drawArrays(gl.POINTS, 0, n);
      }
    }
    gl.bindVertexArray(null);
  }
}

const NO_GL = "this browser has no WebGL 2, which the map is drawn with";

// Whether WebGL is drawn by the processor here.
function withoutCard() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) throw new Error(NO_GL);
  const told = gl.getExtension("WEBGL_debug_renderer_info");
  const name = gl.getParameter(told ? told.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}
