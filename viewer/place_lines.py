"""What is known of a lane or an intersection at a moment, in lines."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import FIXED, OFF
from rushhour.kernels.core.vehicles import REASONS
from rushhour.traffic.analysis.waiting import CREEPS
from rushhour.traffic.recording.happenings import STATES
from rushhour.viewer.inspector import NAME, WIDEST, cut, lane_name
from rushhour.viewer.lights import LIGHT_COLOURS
from rushhour.viewer.moments import Moment, Source
from rushhour.viewer.panels import ACCENT, FAINT, INK, Line, Tone, line, pair
from rushhour.viewer.places import approaches, movements
from rushhour.viewer.standing import waited_words

MOST: Final = 8  # lines of a list
LANE_LETTERS: Final = 22
CONTROLS: Final = ("none", "signal", "all-way stop", "stop signs", "yield")
TURNS: Final = ("straight", "left", "right", "U-turn")


def state_colour(state: int) -> Tone:
    """The colour of what a signal shows."""
    if state == OFF:
        return FAINT
    red, yellow, green, green_yield = (LIGHT_COLOURS[k].tolist() for k in (0, 2, 4, 3))
    shown = (red, red, yellow, green, green_yield, red)[state]
    return (int(shown[0]), int(shown[1]), int(shown[2]))


class Standings:
    """Who is where at a moment: rows of lanes, and since when they stand."""

    def __init__(self, source: Source, moment: Moment) -> None:
        self.source, self.moment = source, moment
        self._waited = source.waiting(moment)
        self._lane = moment.columns["lane"] if len(moment) else np.zeros(0, np.int32)

    def on(self, lane: int) -> NDArray[np.intp]:
        """Rows of the vehicles of a lane, the first at its end first."""
        rows = np.flatnonzero(self._lane == lane)
        return (
            rows[np.argsort(-self.moment.columns["s"][rows], kind="stable")] if rows.size else rows
        )

    def queued(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Those of some rows that belong to a queue: slower than 5 km/h."""
        return rows[self.moment.speed[rows] < CREEPS]

    def waited(self, rows: NDArray[np.intp]) -> float:
        """The longest that one of them has stood, s; 0 where nothing tells."""
        if self._waited is None or not rows.size:
            return 0.0
        return float(self._waited[rows].max())

    def reason(self, row: int) -> str:
        """Why one is slow, in a word; empty where it was not recorded."""
        reason = self.moment.columns.get("reason")
        if reason is None:
            return ""
        return REASONS[min(int(reason[row]), len(REASONS) - 1)].replace("_", " ")

    def holders(self, connector: int) -> list[int]:
        """Numbers of those on a connector, and in a live world of those who may enter it."""
        lane = self.source.network.n_road_lanes + connector
        found = self.moment.id[self.on(lane)].tolist()
        granted = self.moment.columns.get("granted")
        if granted is not None:
            found += self.moment.id[granted == connector].tolist()
        return list(dict.fromkeys(found))


def lane_lines(
    source: Source, moment: Moment, lights: NDArray[np.uint8], lane: int, counted: tuple[Line, ...]
) -> tuple[Line, ...]:
    """What is on a lane, and where it leads. counted: lines of what passed over some time."""
    network, here = source.network, Standings(source, moment)
    lanes, connectors = network.arrays.lanes, network.arrays.connectors
    lines = [line(cut(lane_name(source, lane)), ACCENT)]

    def tell(what: str, value: str) -> None:
        lines.append(pair(what, cut(value, WIDEST - NAME), NAME))

    street = network.lane_street(lane)
    if street:
        tell("street", street)
    tell("lane", f"{lanes.length[lane]:.0f} m, limit {3.6 * lanes.speed[lane]:.0f} km/h")
    rows = here.on(lane)
    queue = here.queued(rows)
    tell(
        "on it", f"{rows.size}, {1000.0 * rows.size / max(1.0, float(lanes.length[lane])):.0f} a km"
    )
    if rows.size:
        tell("speed", f"{3.6 * float(moment.speed[rows].mean()):.1f} km/h on average")
    if queue.size:
        length = float(lanes.length[lane])
        back = length - float(moment.columns["s"][queue[-1]]) + float(moment.length[queue[-1]])
        tell("queue", f"{queue.size}, back to {min(back, length):.0f} m before the end")
        if here.waited(queue) >= 1.0:
            tell("stands", f"up to {waited_words(here.waited(queue))}")
        tell(
            "head", " ".join((source.vehicle_name(int(moment.id[queue[0]])), here.reason(queue[0])))
        )
    lines += counted
    first, end = int(lanes.out_start[lane]), int(lanes.out_start[lane + 1])
    for k in range(first, min(end, first + MOST)):
        to = network.lane_ids[int(connectors.to_lane[k])]
        state = int(lights[k])
        told = f"{TURNS[int(connectors.turn[k])]} to {to}"
        shown = f", {STATES[state].replace('_', ' ')}" if state != OFF else _rule(source, k)
        lines.append(pair("leads", cut(told + shown, WIDEST - NAME), NAME, state_colour(state)))
    if end == first:
        tell("leads", "nowhere: it ends here")
    return tuple(lines)


def _rule(source: Source, k: int) -> str:
    """What a movement without a signal must do."""
    connectors = source.network.arrays.connectors
    if bool(connectors.must_stop[k]):
        return ", stops"
    return ", gives way" if int(connectors.rank[k]) > 0 else ""


def intersection_lines(
    source: Source, moment: Moment, lights: NDArray[np.uint8], intersection: int
) -> tuple[Line, ...]:
    """The queues before an intersection, and who has the right of way in it."""
    network, here = source.network, Standings(source, moment)
    control = CONTROLS[int(network.arrays.intersections.control[intersection])]
    lines = [line(cut(network.intersection_ids[intersection]), ACCENT)]
    streets = network.intersection_name(intersection)
    if streets:
        lines.append(pair("streets", cut(streets, WIDEST - NAME), NAME))
    lines.append(pair("control", _programs(source, intersection) or control, NAME))
    lanes = approaches(network, intersection)
    queues = [(here.queued(here.on(lane)), lane) for lane in lanes]
    waiting = sum(queue.size for queue, _ in queues)
    coming = sum(here.on(lane).size for lane in lanes)
    lines.append(pair("queue", f"{waiting} of {coming} on {len(lanes)} lanes", NAME))
    for queue, lane in sorted(queues, key=lambda one: -one[0].size)[:MOST]:
        if not queue.size:
            break
        head = f"{queue.size:3d}  {here.waited(queue):3.0f} s  {here.reason(queue[0])}"
        lines.append(pair("  " + _short(network.lane_ids[lane]), head, LANE_LETTERS + 3))
    held = [(k, holder) for k in movements(network, intersection) for holder in here.holders(k)]
    lines.append(pair("granted", f"{len(held)} may cross", NAME))
    for k, holder in held[:MOST]:
        ends = network.arrays.connectors.from_lane[k], network.arrays.connectors.to_lane[k]
        way = " -> ".join(network.lane_ids[int(end)] for end in ends)
        lines.append(line(cut(f"  {source.vehicle_name(holder)}  {way}"), INK))
    return tuple(lines)


def _short(name: str) -> str:
    return cut(name, LANE_LETTERS)


def _programs(source: Source, intersection: int) -> str:
    """The signal programs of an intersection, and who ends their phases."""
    network = source.network
    found = sorted(
        {int(network.arrays.connectors.signal[k]) for k in movements(network, intersection)} - {-1}
    )
    if not found:
        return ""
    ends = ("by the clock", "by detectors", "by queues")
    program = found[0]
    control = int(network.actuation.control[program])
    told = f"signal {network.signal_ids[program]}, {ends[control]}"
    if control == FIXED:
        told += f", {network.arrays.signals.cycle[program]:.0f} s"
    return cut(told, WIDEST - NAME)
