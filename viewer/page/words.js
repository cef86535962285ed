// What is said of vehicles, signals and times.
function clockText(t, tenths = false) {
  const sign = t < 0 ? "-" : "", whole = Math.floor(Math.abs(t) + 1e-6), h = Math.floor(whole / 3600), two = (v) => String(v).padStart(2, "0");
  const rest = tenths ? `.${Math.floor((Math.abs(t) - whole) * 10 + 1e-6)}` : "";
  return `${sign}${h}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}${rest}`;
}
function lengthText(m) { return m >= 1000 ? `${+(m / 1000).toPrecision(3)} km` : `${+m.toPrecision(3)} m`; }
function waitedText(s) {
  const whole = Math.round(s), rest = whole % 60, minutes = `${(whole - rest) / 60} min`;
  return whole < 60 ? `${whole} s` : rest ? `${minutes} ${String(rest).padStart(2, "0")} s` : minutes;
}

class Words {
  constructor(ground, facts) { this.ground = ground; this.said = ground.said; this.facts = facts; }
  vehicle(id) { return this.facts.vehicles[id] ?? `vehicle ${id}`; }
  street(lane) {
    const { head, roads, laneRoad, said } = this.ground;
    if (lane < 0 || !said.names) return "";
    const road = laneRoad[lane < roads ? lane : head.way_to[lane - roads]];
    return road < 0 ? "" : said.names[head.road_name[road]];
  }
  laneText(lane) {
    const { head, roads, laneRoad, said } = this.ground;
    if (lane < 0) return "";
    if (lane >= roads) return `${this.laneText(head.way_from[lane - roads])} → ${this.laneText(head.way_to[lane - roads])}`;
    const road = laneRoad[lane];
    return head.road_lanes[road] > 1 ? `${said.roads[road]}, lane ${lane - head.road_lane[road]}` : said.roads[road];
  }
  // The intersection that a lane leads to or lies in; -1: none.
  node(lane) {
    const { head, roads, laneRoad } = this.ground;
    return lane < 0 ? -1 : lane >= roads ? head.way_at[lane - roads] : head.road_to[laneRoad[lane]];
  }
  nodeText(node) {
    if (node < 0) return "";
    const signal = this.ground.signalOf[node], name = signal >= 0 ? `signal ${this.said.signals[signal]}` : `intersection ${this.said.nodes[node]}`;
    const streets = this.ground.meeting(node);
    return streets.length ? `${name} (${streets.slice(0, 2).join(" / ")})` : name;
  }
  // Why a vehicle of a row waits, in a sentence without its name.
  why(frames, row) {
    const reason = this.facts.reasons[frames.reason[row]] || "", lane = frames.lane[row], at = this.nodeText(this.node(lane));
    const other = frames.blocker[row] >= 0 ? this.vehicle(frames.blocker[row]) : "";
    const whom = other || "somebody";
    switch (reason) {
      case "free": return "drives freely";
      case "leader": return other ? `follows ${whom}` : "follows who is ahead";
      case "red light": return `waits at a red light: ${at}`;
      case "stop sign": return `stops at a stop sign: ${at}`;
      case "yields": return `yields${other ? ` to ${whom}` : ""}: ${at}`;
      case "conflict": return `waits until ${other || "who crosses"} is out of its way: ${at}`;
      case "exit full": return `waits, as there is no room behind ${at}${other ? ` (${whom})` : ""}`;
      case "curve": return "slows down for a curve";
      case "speed limit ahead": return "slows down for a lower limit ahead";
      case "lane change": return `wants to change lane${other ? `, beside ${whom}` : ""}`;
      case "at stop": return "stands at a stop of its route";
      case "starting": return "has just begun to move";
      case "oncoming": return `lets ${whom} come by on the lane that both use`;
      case "passed": return `is being passed by ${whom}`;
      case "hazard": return `is held by a hazard${other ? `: ${whom}` : ""}`;
      case "body": return `is held by ${other || "a body from outside"}`;
      default: return reason;
    }
  }
  // From a vehicle to whom it waits for, and on: [{ id, row, text }], the last one the cause.
  chain(frames, frame, row) {
    const found = [], seen = new Set();
    while (row >= 0 && found.length < 60) {
      const id = frames.vehicle[row];
      if (seen.has(id)) { found.push({ id, row, text: "a ring: it waits for itself" }); break; }
      seen.add(id);
      found.push({ id, row, text: this.why(frames, row) });
      row = frames.blocker[row] >= 0 ? rowOf(frames, frame, frames.blocker[row]) : -1;
    }
    return found;
  }
}

// The row of a vehicle in a frame of a block; -1: it is not there.
function rowOf(frames, frame, id) {
  let lo = frames.start[frame], hi = frames.start[frame + 1];
  while (lo < hi) { const mid = (lo + hi) >> 1; if (frames.vehicle[mid] < id) lo = mid + 1; else hi = mid; }
  return lo < frames.start[frame + 1] && frames.vehicle[lo] === id ? lo : -1;
}
