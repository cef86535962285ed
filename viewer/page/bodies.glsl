// What a vehicle looks like from above, the same in windows, pictures and pages: GLSL that is both 1.20 and ES 3.00.
// x forward, m, from the middle of the body; of every shape a rim that sets it off from asphalt.
float cover(float pixel, float d) { return clamp(0.5 - d / pixel, 0.0, 1.0); }
float box(vec2 p, vec2 h, float r) { vec2 d = abs(p) - h + r; return length(max(d, 0.0)) + min(max(d.x, d.y), 0.0) - r; }
vec4 over(vec4 below, vec3 c, float a) { a = clamp(a, 0.0, 1.0); float t = a + below.a * (1.0 - a); return vec4(t > 0.0 ? (c * a + below.rgb * below.a * (1.0 - a)) / t : c, t); }
vec4 wheel(vec4 o, vec2 q, float turned, vec2 size, float pixel) {
  float c = cos(turned), s = sin(turned);
  return over(o, vec3(0.07), cover(pixel, box(vec2(c * q.x + s * q.y, -s * q.x + c * q.y), size, 0.08)));
}
// h: half of length and width, m.   shape: of silhouettes.CLASSES.   lights: 1 brake, 2 left, 4 right.
// steer: rad, of the front wheels.   pixel: m.   blink: whether indicators are lit now.
vec4 vehicle(vec2 p, vec2 h, float shape, float lights, float steer, vec3 body, vec3 rim, float pixel, float blink) {
  if (shape > 6.5) shape = h.y < 0.6 ? 4.0 : h.x > 5.0 ? 3.0 : h.x > 3.5 ? 2.0 : h.y > 0.975 ? 1.0 : 0.0; // of no class: by its size
  float L = h.x, W = h.y, x = p.x, y = p.y, ay = abs(y);
  vec3 glass = mix(vec3(0.06, 0.09, 0.13), body, 0.12), light = mix(body, vec3(1.0), 0.28);
  vec4 o = vec4(0.0);
  bool stops = mod(lights, 2.0) >= 1.0;
  vec3 stopped = stops ? vec3(1.0, 0.05, 0.08) : vec3(0.42, 0.02, 0.05);
  float fine = 1.0 - smoothstep(0.16, 0.30, pixel);
  if (shape == 5.0) { // an open racing car: wheels, wings, a thin nose
    for (int k = 0; k < 4; k++) {
      float fx = k < 2 ? 0.52 * L : -0.62 * L, fy = (mod(float(k), 2.0) < 0.5 ? 1.0 : -1.0) * (W - 0.17);
      o = wheel(o, p - vec2(fx, fy), k < 2 ? steer : 0.0, vec2(0.36, 0.17), pixel);
    }
    float taper = mix(0.5 * W, 0.15 * W, smoothstep(0.0, L, x));
    float d = max(ay - taper, max(x - L, -x - 0.85 * L));
    d = min(d, box(p - vec2(L - 0.22, 0.0), vec2(0.22, 0.95 * W), 0.08));
    d = min(d, box(p - vec2(-L + 0.25, 0.0), vec2(0.25, 0.75 * W), 0.08));
    o = over(o, rim, cover(pixel, d - 0.05 - 0.7 * pixel)); o = over(o, body, cover(pixel, d));
    o = over(o, glass, cover(pixel, length((p - vec2(-0.12 * L, 0.0)) / vec2(1.5, 1.0)) - 0.28) );
  } else if (shape == 6.0) { // a horse with who rides it
    float d = W * (length((p + vec2(0.2 * L, 0.0)) / vec2(0.8 * L, W)) - 1.0);
    d = min(d, box(p - vec2(0.62 * L, 0.0), vec2(0.38 * L, 0.3 * W), 0.28 * W));
    o = over(o, rim, cover(pixel, d - 0.05 - 0.5 * pixel)); o = over(o, body, cover(pixel, d));
    o = over(o, light, cover(pixel, box(p + vec2(0.16 * L, 0.0), vec2(0.14 * L, 0.72 * W), 0.1)));
    o = over(o, glass, cover(pixel, length(p + vec2(0.06 * L, 0.0)) - 0.3 * W));
  } else if (shape == 4.0) { // a motorcycle with who rides it
    float d = box(p, vec2(L, 0.22), 0.2);
    o = over(o, rim, cover(pixel, d - 0.06 - 0.5 * pixel)); o = over(o, body, cover(pixel, d));
    float r = length((p + vec2(0.1 * L, 0.0)) / vec2(0.8, 1.15)) - 0.32;
    o = over(o, rim, cover(pixel, r - 0.05)); o = over(o, light, cover(pixel, r));
    o = over(o, glass, cover(pixel, length(p - vec2(-0.02 * L, 0.0)) - 0.15));
    o = over(o, rim, fine * cover(pixel, box(p - vec2(0.52 * L, 0.0), vec2(0.05, 0.4), 0.04)));
    o = over(o, stopped, (stops ? max(fine, 0.6) : fine) * cover(pixel, box(p + vec2(L - 0.1, 0.0), vec2(0.12, 0.18), 0.06)));
  } else {
    bool truck = shape == 2.0, bus = shape == 3.0, van = shape == 1.0;
    // Of bodies that are steered: front wheels that look out when they are turned.
    if (abs(steer) > 0.01) {
      o = wheel(o, p - vec2(0.56 * L, W - 0.04), steer, vec2(0.34, 0.12), pixel);
      o = wheel(o, p - vec2(0.56 * L, 0.04 - W), steer, vec2(0.34, 0.12), pixel);
    }
    float round_ = bus || truck ? 0.22 : van ? 0.4 : 0.55;
    float nose = truck || bus ? 0.0 : van ? 0.10 : 0.16;
    float narrow = 1.0 - nose * smoothstep(0.35 * L, L, x) - 0.5 * nose * (1.0 - smoothstep(-L, -0.6 * L, x));
    vec2 q = vec2(x, y / narrow);
    float d = box(q, vec2(L, W), round_);
    if (truck) { float cab = min(2.3, 0.8 * L); d = min(box(p - vec2(L - 0.5 * cab, 0.0), vec2(0.5 * cab, W), 0.25), box(p + vec2(0.5 * cab + 0.15, 0.0), vec2(L - 0.5 * cab - 0.15, W), 0.08)); }
    o = over(o, rim, cover(pixel, d - 0.07 - 0.6 * pixel)); o = over(o, body, cover(pixel, d));
    float shade = 1.0 - smoothstep(-0.5, 0.0, d);
    o.rgb = mix(o.rgb * 0.86, o.rgb, shade);
    if (truck) {
      float cab = min(2.3, 0.8 * L);
      o = over(o, light, cover(pixel, box(p + vec2(0.5 * cab + 0.15, 0.0), vec2(L - 0.5 * cab - 0.35, W - 0.18), 0.05)));
      o = over(o, glass, cover(pixel, box(p - vec2(L - 0.42, 0.0), vec2(0.26, W - 0.16), 0.12)));
    } else if (bus) {
      o = over(o, light, cover(pixel, box(p + vec2(0.3, 0.0), vec2(L - 0.9, W - 0.38), 0.2)));
      o = over(o, glass, cover(pixel, box(p - vec2(L - 0.3, 0.0), vec2(0.18, W - 0.15), 0.1)));
      o = over(o, glass, fine * cover(pixel, box(vec2(mod(x + 0.5 * L, 3.4) - 1.7, y), vec2(0.55, 0.4), 0.1)));
    } else {
      float front = van ? 0.52 * L : 0.30 * L;
      o = over(o, light, cover(pixel, box(vec2(x + (van ? 0.2 : 0.16) * L, y), vec2((van ? 0.62 : 0.36) * L, W - 0.3), 0.25)));
      o = over(o, glass, cover(pixel, max(box(vec2(x - front, y), vec2(0.15 * L, W - 0.2), 0.12), -(x - front + 0.13 * L) + 0.5 * y * y / W - 0.1)));
      if (!van) o = over(o, glass, cover(pixel, box(vec2(x + 0.64 * L, y), vec2(0.08 * L, W - 0.28), 0.1)));
      o = over(o, glass, fine * cover(pixel, box(vec2(x + 0.12 * L, ay - W + 0.16), vec2(0.34 * L, 0.06), 0.03)));
    }
    o = over(o, vec3(1.0, 0.97, 0.82), fine * cover(pixel, length(vec2((x - L + 0.22) * 0.8, ay - 0.72 * W)) - 0.17));
    vec2 rear = vec2(x + L - 0.12, ay - 0.70 * W);
    o = over(o, stopped, (stops ? max(fine, 0.6) : fine) * cover(pixel, box(rear, vec2(stops ? 0.20 : 0.10, 0.26), 0.06)));
    float left = mod(floor(lights / 2.0), 2.0), right = mod(floor(lights / 4.0), 2.0);
    float lit = blink * (y > 0.0 ? left : right);
    if (lit > 0.5) {
      vec2 c1 = vec2(abs(x) - L + 0.22, ay - W + 0.10);
      o = over(o, vec3(1.0, 0.62, 0.0), cover(pixel, length(c1) - 0.26 - 0.3 * pixel));
    }
  }
  return o;
}
// A vehicle from afar: a kite, pointed in front and blunt behind. p: pixels from its middle, x forward.   size: pixels that it is long.   rim_wide: pixels.
vec4 kite(vec2 p, float size, float rim_wide, vec3 body, vec3 rim) {
  float r = 0.5 * size - 0.5, h = 0.56 * r;
  p.y = abs(p.y);
  float side = dot(p - vec2(r, 0.0), normalize(vec2(h, 1.25 * r)));
  float back = dot(p - vec2(-0.62 * r, 0.0), vec2(-0.94, 0.34));
  float d = max(max(side, back), p.y - h);
  return vec4(mix(mix(rim, body, 0.3), body, clamp(0.5 - (d + rim_wide), 0.0, 1.0)), clamp(0.5 - d, 0.0, 1.0));
}
// How long the kite of a vehicle is where a car's is so long. length_: m. Who chases and who is chased stands out.
float kite_size(float kite, float length_, float shape) { return kite * clamp(sqrt(length_ / 4.5), 0.8, 1.7) * (shape > 6.5 && shape < 8.5 ? 1.8 : 1.0); }
