"""Why a vehicle waits: from it to whom it waits for, and on, up to the cause of it all.

A frame holds the reason and the blocker of each vehicle. What counts is not the reason of an
instant but the one that held the vehicle longest since it stands; from there the walk goes on in the
last frame with that reason. A red light after a green that could not be used is not what held
somebody: it counts as what kept the green from being used. Where the exit is full there is none: then
it is the last vehicle on the lane that it drives onto later in the run, or by its route.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.vehicles import (
    AT_STOP,
    BODY,
    CONFLICT,
    CURVE,
    EXIT_FULL,
    FREE,
    HAZARD,
    LANE_CHANGE,
    LEADER,
    ONCOMING,
    PASSED,
    REASONS,
    RED_LIGHT,
    SPEED_LIMIT_AHEAD,
    YIELDS,
)
from rushhour.roadnets.errors import RunError
from rushhour.traffic.analysis.body_events import BodyEvents
from rushhour.traffic.durations import clock
from rushhour.traffic.places_named import lanes_named
from rushhour.traffic.plurals import counted
from rushhour.traffic.recording.id_hints import id_hint

if TYPE_CHECKING:
    from rushhour.traffic.recording.recorded_frame import RecordedFrame
    from rushhour.traffic.recording.run_file import RunFile

STANDS: Final = 0.1  # m/s
CREEPS: Final = 1.4  # m/s, below which a vehicle belongs to a queue
DRIVES: Final = (FREE, CURVE, SPEED_LIMIT_AHEAD)
# What may keep somebody from going in a green; not to follow, to react.
UNUSABLE: Final = (YIELDS, CONFLICT, EXIT_FULL, LANE_CHANGE, ONCOMING, PASSED, HAZARD, BODY)
UNUSED: Final = 5.0  # s of a green from which on it could have been used
NEEDED: Final = ("reason", "blocker")
RING: Final = "ring"
WORDS: Final = {
    "free": "drives freely", "leader": "follows", "red_light": "red light",
    "stop_sign": "waits for its turn at a stop sign", "yields": "gives way",
    "conflict": "waits until the crossing is clear", "exit_full": "the exit is full",
    "curve": "slows down for a bend", "speed_limit_ahead": "slows down for a limit",
    "lane_change": "waits for a lane change", "at_stop": "is at a stop of its trip",
    "starting": "has the right of way and reacts", "oncoming": "somebody comes towards it",
    "passed": "lets somebody pass", "hazard": "was told to stand",
    "body": "a body from outside is in its way",
}  # fmt: skip


@dataclass(frozen=True)
class Wait:
    """One link of a chain: who waits, where, why."""

    vehicle: int
    name: str  # in the demand
    lane: str  # a road lane; within an intersection the movement, as "a_0 -> b_0"
    intersection: str  # before it or around it; empty: none
    to_line: float  # m from its front to the lane's end
    speed: float  # m/s
    reason: str
    since: float | None  # s, since when it stands; None: it moves, or follows
    what: str = ""  # the signal, the lane that is full
    body: str = ""  # what befell its body, if it steers one: off its lane, or set on it


@dataclass(frozen=True)
class Chain:
    """Who waits for whom, from the one that was asked for; cause: the last reason, or "ring"."""

    time: float  # s, of the recorded frame
    waits: tuple[Wait, ...]
    cause: str
    where: str  # intersection or lane of the cause

    def lines(self) -> list[str]:
        """The chain for people: a line for each queue, and the cause."""
        asked = self.waits[0]
        found, queued, first = [], 0, asked
        bodies = [f"{wait.name} {wait.body}" for wait in self.waits if wait.body]
        if asked.reason == "leader":
            found.append(f"{asked.name} on {asked.lane}, {asked.to_line:z.0f} m before its end: "
                         f"follows {self._leader()}; {_pace(asked.speed)}")  # fmt: skip
        for wait in self.waits:
            if wait.reason == "leader":
                queued += 1
                continue
            found.append(_told(first, wait, queued))
            queued, first = 0, wait
        if queued > 1:
            found.append(_told(first, None, queued))
        found += bodies
        drives = self.cause in ("free", "curve", "speed_limit_ahead")
        if drives and len(self.waits) == 1:
            found.append("cause: none, it waits for nobody")
        elif drives:
            found.append("cause: none any more, what held them up is gone; ask for an earlier time")
        else:
            found.append(f"cause: {cause_told(self.cause, self.where)}")
        return found

    def _leader(self) -> str:
        return self.waits[1].name if len(self.waits) > 1 else "somebody who is not in the file"

    def facts(self) -> dict[str, Any]:
        """The same as plain values."""
        waits = [wait.__dict__ for wait in self.waits]
        return {"time_s": self.time, "cause": self.cause, "where": self.where, "waits": waits}


def cause_told(cause: str, where: str) -> str:
    """A cause and its place in words."""
    words = "a ring: each waits for the next" if cause == RING else WORDS[cause]
    if where and not where.startswith("signal "):
        where = f"{'on' if cause in ('at_stop', 'hazard') else 'at'} {where}"
    return f"{words} ({where})" if where else words


def _told(first: Wait, head: Wait | None, queued: int) -> str:
    """A queue: its head, or whom it follows, and how many wait behind."""
    if head is None:
        others = counted(queued - 1, "other")
        return f"{first.name} on {first.lane} and {others} follow each other"
    stands = _pace(head.speed) if head.since is None else f"stands since {clock(head.since)}"
    behind = f", {queued} in the queue behind it" if queued else ""
    what = f" ({head.what})" if head.what else ""
    return (
        f"{head.name} on {head.lane}, {head.to_line:z.0f} m before its end: "
        f"{WORDS[head.reason]}{what}; {stands}{behind}"
    )


def _pace(speed: float) -> str:
    return "stands" if speed < STANDS else f"at {3.6 * speed:.0f} km/h"


class Scene:
    """A recorded frame, to walk from vehicle to vehicle. Raises RunError without their reasons."""

    def __init__(self, run: "RunFile", place: int) -> None:
        self.run, self.place = run, place
        self._others: dict[int, Scene] = {place: self}  # by their places, for all of a walk
        self.frame: RecordedFrame = run.frame(place)
        missing = [name for name in NEEDED if name not in self.frame.columns]
        if missing:
            raise RunError(
                f"{run.path}: its frames hold no {missing[0]}, so nobody knows who waits for whom; "
                "record it again with this version, without --record-fields"
            )
        self.network = run.network()
        order = np.lexsort((self.frame.s, self.frame.lane))
        self._by_lane = order
        self._lanes = self.frame.lane[order]

    def row(self, vehicle: int) -> int:
        """Row of a vehicle in the frame; -1 if it is not on the road."""
        at = int(np.searchsorted(self.frame.id, vehicle))
        return at if at < len(self.frame) and self.frame.id[at] == vehicle else -1

    def last_on(self, lane: int) -> int:
        """Row of the last vehicle on a lane; -1 if it is empty."""
        at = int(np.searchsorted(self._lanes, lane))
        return int(self._by_lane[at]) if at < self._lanes.size and self._lanes[at] == lane else -1

    def queue_tail(self, lane: int) -> int:
        """Row of the last of those who queue on a lane; -1 if nobody does."""
        lo, hi = np.searchsorted(self._lanes, [lane, lane + 1])
        rows = self._by_lane[lo:hi]
        slow = rows[self.frame.speed[rows] < CREEPS]
        return int(slow[0]) if slow.size else -1

    def lane_name(self, lane: int) -> str:
        """A lane's id; of a connector those of the lanes that it joins."""
        net, n = self.network.arrays, self.network.n_road_lanes
        if lane < n:
            return self.network.lane_ids[lane]
        ends = (net.connectors.from_lane[lane - n], net.connectors.to_lane[lane - n])
        return " -> ".join(self.network.lane_ids[end] for end in ends)

    def intersection(self, lane: int) -> str:
        """The intersection at a lane's end, or a connector's own."""
        at = int(self.network.arrays.lanes.intersection[lane])
        return self.network.intersection_ids[at] if at >= 0 else ""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of vehicles by number."""
        return self.run.vehicle_names()

    @cached_property
    def bodies(self) -> BodyEvents:
        """What befell bodies that steer."""
        return BodyEvents(self.run)

    def _body(self, row: int) -> str:
        """What befell the body of the vehicle in a row; "" for who has none."""
        tier = self.frame.columns.get("tier")
        if tier is not None and tier[row] == 0:
            return ""
        return self.bodies.told(int(self.frame.id[row]), self.frame.time)

    def way_on(self, row: int) -> int:
        """The connector by which a vehicle will leave its lane; -1 if nothing tells."""
        net, n = self.network.arrays, self.network.n_road_lanes
        vehicle, lane = int(self.frame.id[row]), int(self.frame.lane[row])
        inside = lane
        if lane >= n:  # it faces the line behind the road that its connector leads to
            lane = int(net.connectors.to_lane[lane - n])
        way = self.run.trajectory(vehicle)
        for later in way.lane[np.searchsorted(way.time, self.frame.time + 1e-6) :].tolist():
            if later == inside:
                continue
            if later < n and net.lanes.road[later] == net.lanes.road[lane]:
                lane = later
                continue
            if later >= n:
                return int(later - n)
            return self._between(lane, int(net.lanes.road[later]))
        outs = net.lanes.out_start[lane : lane + 2]
        if outs[1] - outs[0] == 1:
            return int(outs[0])
        demand = self.run.demand
        if demand is None or demand.walker[vehicle]:
            return -1
        roads = demand.roads[slice(*demand.route_start[vehicle : vehicle + 2])]
        here = np.flatnonzero(roads == net.lanes.road[lane])
        if not here.size or here[-1] + 1 == roads.size:
            return -1
        return self._between(lane, int(roads[here[-1] + 1]))

    def _between(self, lane: int, road: int) -> int:
        """A connector from a lane, or from one beside it, to a road; -1 if there is none."""
        net = self.network.arrays
        own = int(net.lanes.road[lane])
        first = int(net.roads.first_lane[own])
        beside = range(first, first + int(net.roads.lane_count[own]))
        for start in (lane, *beside):
            for k in range(int(net.lanes.out_start[start]), int(net.lanes.out_start[start + 1])):
                if net.lanes.road[net.connectors.to_lane[k]] == road:
                    return int(k)
        return -1

    def stands_since(self, vehicle: int) -> float | None:
        """Since when a vehicle stands in this frame, s; None if it moves."""
        way = self.run.trajectory(vehicle)
        last = int(np.searchsorted(way.time, self.frame.time + 1e-6)) - 1
        moving = np.flatnonzero(way.speed[: last + 1] > STANDS)
        first = int(moving[-1]) + 1 if moving.size else 0
        return None if first > last else float(way.time[first])

    def chain(self, row: int) -> Chain:
        """Whom the vehicle of a row waits for, whom that one, and so on."""
        names = self.names
        waits: list[Wait] = []
        seen: set[int] = set()
        scene = self
        while row >= 0:
            vehicle = int(scene.frame.id[row])
            seen.add(vehicle)
            reason, place = scene._held(row, first=not waits)
            if place != scene.place:
                scene = scene._at(place)
                row = scene.row(vehicle)
            frame, lane = scene.frame, int(scene.frame.lane[row])
            what, after = scene._next(row, reason)
            waits.append(
                Wait(
                    vehicle, names[vehicle], scene.lane_name(lane), scene.intersection(lane),
                    float(self.network.arrays.lanes.length[lane] - frame.s[row]),
                    float(frame.speed[row]), REASONS[reason],
                    None if reason == LEADER else scene.stands_since(vehicle), what,
                    scene._body(row),
                )
            )  # fmt: skip
            if after >= 0 and int(frame.id[after]) in seen:
                return Chain(self.frame.time, tuple(waits), RING, _head(waits).intersection)
            row = after
        last = waits[-1]
        where = last.what if last.reason == REASONS[RED_LIGHT] else last.intersection
        if last.reason in (REASONS[AT_STOP], REASONS[HAZARD], REASONS[BODY]):
            where = last.lane
        return Chain(self.frame.time, tuple(waits), last.reason, where)

    def _at(self, place: int) -> "Scene":
        """Another frame of the same run."""
        if place not in self._others:
            self._others[place] = other = Scene(self.run, place)
            other._others = self._others
        return self._others[place]

    def _held(self, row: int, first: bool = False) -> tuple[int, int]:
        """The reason that held a vehicle longest since it stands, and the place of its last frame.

        Whoever follows in a queue waits for its head: only the first of a walk is asked then.
        """
        now = int(self.frame.reason[row])
        if (now == LEADER and not first) or float(self.frame.speed[row]) > STANDS:
            return now, self.place
        way = self.run.trajectory(int(self.frame.id[row]))
        last = int(np.searchsorted(way.time, self.frame.time + 1e-6)) - 1
        moving = np.flatnonzero(way.speed[: last + 1] > STANDS)
        begin = int(moving[-1]) + 1 if moving.size else 0
        if begin >= last:
            return now, self.place
        reasons = way.reason[begin : last + 1]
        steps = np.diff(way.time[begin : last + 1])
        longest = _longest(reasons, np.append(steps, np.median(steps)))
        found = begin + int(np.flatnonzero(reasons == longest)[-1])
        return longest, int(np.searchsorted(self.run.frames, way.frame[found]))

    def _next(self, row: int, reason: int) -> tuple[str, int]:
        """What a vehicle waits for, in words where the reason alone does not say it, and whose row."""
        if reason in (RED_LIGHT, EXIT_FULL):
            k = self.way_on(row)
            if reason == RED_LIGHT:
                return self._signal(int(self.frame.lane[row]), k), -1
            if k < 0:
                return "", -1
            lane = int(self.network.arrays.connectors.to_lane[k])
            return self.lane_name(lane), self._fills(lane, row)
        blocker = int(self.frame.blocker[row])
        if blocker < 0 or reason in DRIVES:
            return "", -1
        return "", self.row(blocker)

    def _fills(self, lane: int, row: int) -> int:
        """Row of who is last on a lane, or on its way there; not the one that asks."""
        net, n = self.network.arrays, self.network.n_road_lanes
        found = self.last_on(lane)
        if found >= 0 and found != row:
            return found
        ways = net.lanes.in_connector[slice(*net.lanes.in_start[lane : lane + 2])]
        inside = [self.last_on(n + int(k)) for k in ways]
        return next((other for other in inside if other not in (-1, row)), -1)

    def _signal(self, lane: int, k: int) -> str:
        net, n = self.network.arrays, self.network.n_road_lanes
        if lane >= n:  # before the line of the road that follows
            lane = int(net.connectors.to_lane[lane - n])
        ways = [k] if k >= 0 else range(*net.lanes.out_start[lane : lane + 2].tolist())
        programs = [int(net.connectors.signal[way]) for way in ways]
        lit = [program for program in programs if program >= 0]
        return f"signal {self.network.signal_ids[lit[0]]}" if lit else self.intersection(lane)


def _longest(reasons: NDArray[np.uint8], spans: NDArray[np.float64]) -> int:
    """The reason that held somebody longest; of two the later one. spans: s of each.

    Red after a green of which UNUSED s or more could not be used counts as what was in its way.
    """
    time = np.zeros(len(REASONS))
    kept, unused = -1, 0.0  # what keeps it from going, and for how long in this green
    for reason, span in zip(reasons.tolist(), spans.tolist(), strict=True):
        if reason == RED_LIGHT:
            time[kept if unused >= UNUSED else RED_LIGHT] += span
            continue
        time[reason] += span
        if reason in UNUSABLE:
            unused = span if reason != kept else unused + span
            kept = reason
    latest = {reason: place for place, reason in enumerate(reasons.tolist())}
    return int(max(latest, key=lambda reason: (time[reason], latest[reason])))


def _head(waits: list[Wait]) -> Wait:
    """The last link that is not in a queue."""
    return next((wait for wait in reversed(waits) if wait.reason != "leader"), waits[-1])


def scene_at(run: "RunFile", time: float) -> Scene:
    """The last frame recorded at or before a time in s. Raises RunError if there is none."""
    if not run.frames.size:
        raise RunError(
            f"{run.path}: holds no frames (mode {run.mode}); record it with --record-mode both"
        )
    if not run.times[0] - 1e-6 <= time <= run.times[-1] + 1.0:
        raise RunError(
            f"{run.path}: nothing was recorded at {clock(time)}; its frames are from "
            f"{clock(run.times[0])} to {clock(run.times[-1])}"
        )
    place = int(np.searchsorted(run.times, time + 1e-6, side="right")) - 1
    return Scene(run, max(place, 0))


def why(
    run: "RunFile", at: float, vehicle: int | str | None = None, road: str | None = None
) -> list[Chain]:
    """Why a vehicle, or the last in each queue on a road, waits at a time in s.

    vehicle: its number, or its id in the demand. road: its id. Chains are empty where nobody queues
    on the road. Raises RunError for a vehicle, road or time that is not there.

    >>> with rh.open_run("run.h5") as run:
    ...     for one in why(run, run.times[-1], road="A0A1"):
    ...         print("\\n".join(one.lines()))
    """
    scene = scene_at(run, at)
    if road is not None:
        return [scene.chain(row) for row in _tails(scene, road)]
    if vehicle is None:
        raise RunError("why: wanted a vehicle or a road")
    number = run.trajectory(vehicle)
    row = scene.row(number.id)
    if row < 0:
        seen = (
            f"; it was from {clock(number.time[0])} to {clock(number.time[-1])}"
            if len(number)
            else ""
        )
        raise RunError(f"{run.path}: vehicle {number.name} is not on the road at {clock(at)}{seen}")
    return [scene.chain(row)]


def _tails(scene: Scene, road: str) -> list[int]:
    """Rows of the last in the queue of each lane of a road, or of another place."""
    network = scene.network
    lanes = lanes_named(network, road).tolist()
    if not lanes:
        hint = id_hint(road, network.road_ids)
        raise RunError(f"{scene.run.path}: no road {road[:60]!r}; {hint}")
    return [row for row in map(scene.queue_tail, lanes) if row >= 0]
