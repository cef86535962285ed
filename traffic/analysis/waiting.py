"""Why a vehicle waits: from it to whom it waits for, and on, up to the cause of it all.

A frame holds the reason and the blocker of each vehicle. What counts is not the reason of an
instant but the one that held the vehicle longest since it stands; from there the walk goes on in the
last frame with that reason. A red light after a green that could not be used is not what held
somebody: it counts as what kept the green from being used. Where the exit is full there is none: then
it is the last vehicle on the lane that it drives onto later in the run, or by its route.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.codec.frame_rows import INDICATOR_LEFT, INDICATOR_RIGHT
from rushhour.kernels.core.vehicles import (
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
from rushhour.kernels.junctions.critical_gaps import RING_ROADS
from rushhour.kernels.junctions.ring_entries import find_ring_entries
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.opposites import one_way_roads
from rushhour.traffic.analysis.beside import in_the_way, who_stands_beside
from rushhour.traffic.analysis.body_events import BodyEvents
from rushhour.traffic.analysis.chains import CUT_OFF, RING, STANDS, Chain, Wait
from rushhour.traffic.analysis.closed_ways import ClosedWays
from rushhour.traffic.words.durations import clock
from rushhour.traffic.words.places_named import INTERSECTION, MOVEMENT, place_named

if TYPE_CHECKING:
    from rushhour.roadnets.model import Network
    from rushhour.traffic.recording.recorded_frame import RecordedFrame
    from rushhour.traffic.recording.run_file import RunFile

CREEPS: Final = 1.4  # m/s, below which a vehicle belongs to a queue
DRIVES: Final = (FREE, CURVE, SPEED_LIMIT_AHEAD)
# What may keep somebody from going in a green; not to follow, to react.
UNUSABLE: Final = (YIELDS, CONFLICT, EXIT_FULL, LANE_CHANGE, ONCOMING, PASSED, HAZARD, BODY)
UNUSED: Final = 5.0  # s of a green from which on it could have been used
NEEDED: Final = ("reason", "blocker")
EXITS: Final = 4  # lanes shorter than a vehicle that are looked over to the one that can hold it
LOOKS: Final = 7  # times of a standstill at which its cause is looked for
# A cause that is none yet: what held somebody up moves, what fills an exit is not seen, or nobody is in the
# way of a lane change any more.
UNTOLD: Final = tuple(REASONS[reason] for reason in (*DRIVES, EXIT_FULL, LANE_CHANGE))


def _ring_lanes(network: "Network") -> NDArray[np.bool_]:
    """Which road lanes are of a roundabout."""
    kept = network.derived.get("ring_lanes")
    if kept is None:
        net = network.arrays
        kept, entry = (np.zeros(n, np.bool_) for n in (network.n_road_lanes, network.n_lanes))
        way = np.zeros((RING_ROADS, 3), np.int64)
        find_ring_entries(net, one_way_roads(network), way, kept, entry[network.n_road_lanes :])
        network.derived["ring_lanes"] = kept
    return np.asarray(kept)


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

    def name_of(self, where: str) -> str:
        """What the place of a cause is called: a street, or those that meet at an intersection."""
        found = place_named(self.network, where, INTERSECTION) if where else None
        if found is None:
            return ""
        if found.kind == INTERSECTION:
            return self.network.intersection_name(found.number)
        lane = found.number + self.network.n_road_lanes * (found.kind == MOVEMENT)
        return self.network.lane_street(lane)

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

    def way_on(self, row: int, beyond: int = -1) -> int:
        """The connector by which a vehicle will leave its lane; -1 if nothing tells.

        beyond: or will leave this lane, to which it comes later.
        """
        net, n = self.network.arrays, self.network.n_road_lanes
        vehicle, lane = int(self.frame.id[row]), int(self.frame.lane[row])
        inside = lane
        if lane >= n:  # it faces the line behind the road that its connector leads to
            lane = int(net.connectors.to_lane[lane - n])
        there = beyond < 0  # whether the lanes that follow lie behind the one asked for
        lane = lane if there else beyond
        road = net.lanes.road[lane]
        way = self.run.trajectory(vehicle)
        for later in way.lane[np.searchsorted(way.time, self.frame.time + 1e-6) :].tolist():
            if later < n and net.lanes.road[later] == road:
                lane, there = later, True
            elif later == inside or not there:
                continue
            elif later >= n:
                return int(later - n)
            else:
                return self._between(lane, int(net.lanes.road[later]))
        outs = net.lanes.out_start[lane : lane + 2]
        if outs[1] - outs[0] == 1 and self.frame.reason[row] != LANE_CHANGE:
            return int(outs[0])
        demand = self.run.demand
        if demand is None or demand.walker[vehicle]:
            return -1
        roads = demand.roads[slice(*demand.route_start[vehicle : vehicle + 2])]
        here = np.flatnonzero(roads == road)
        if not here.size or here[-1] + 1 == roads.size:
            return -1
        return self._between(lane, int(roads[here[-1] + 1]))

    def _between(self, lane: int, road: int) -> int:
        """A connector from a lane, or from the nearest beside it, to a road; -1: there is none."""
        net = self.network.arrays
        own = int(net.lanes.road[lane])
        first = int(net.roads.first_lane[own])
        lanes = range(first, first + int(net.roads.lane_count[own]))
        for start in sorted(lanes, key=lambda one: abs(one - lane)):
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
        """Whom the vehicle of a row waits for, whom that one, and so on.

        A chain whose end moves, or that ends before a full exit, is walked again at other times
        while its links were held, the latest first.
        """
        first = self._chain(row, 0)
        stands = any(wait.since is not None for wait in first.waits)
        if not stands or first.cause not in UNTOLD:
            return first
        others = (self._chain(row, look) for look in range(2, LOOKS, 2))
        return next((chain for chain in others if chain.cause not in UNTOLD), first)

    def _chain(self, row: int, look: int) -> Chain:
        """The chain of a row; of all that stand at the look-th time, back from the last."""
        names, index = self.names, self.network.lane_index
        waits: list[Wait] = []
        seen: set[int] = set()
        scene = self
        while row >= 0:
            vehicle = int(scene.frame.id[row])
            seen.add(vehicle)
            reason, place = scene._held(row, look, first=not waits)
            if place != scene.place:
                scene = scene._at(place)
                row = scene.row(vehicle)
                if row < 0:
                    raise RunError(
                        f"{self.run.path}: frames are damaged, {names[vehicle]} is missing in one of "
                        f"{clock(scene.frame.time)}; record the run again"
                    )
            frame, lane = scene.frame, int(scene.frame.lane[row])
            what, after = scene._next(row, reason)
            if after >= 0 and reason in UNUSABLE and frame.speed[after] > CREEPS:
                after = -1  # traffic that flows is waited for, nobody in it
            why = REASONS[reason]
            if reason == LANE_CHANGE and after < 0 and scene._is_cut_off(row):
                why, what = CUT_OFF, ""
            waits.append(
                Wait(
                    vehicle, names[vehicle], scene.lane_name(lane), scene.intersection(lane),
                    float(self.network.arrays.lanes.length[lane] - frame.s[row]),
                    float(frame.speed[row]), why,
                    None if reason == LEADER else scene.stands_since(vehicle), what,
                    scene._body(row), self.network.lane_street(lane),
                    self.network.lane_street(index[what]) if what in index else "",
                )
            )  # fmt: skip
            if after >= 0 and int(frame.id[after]) in seen:
                there = _head(waits).intersection
                street = self.name_of(there)
                return Chain(self.frame.time, tuple(waits), RING, there, street)
            row = after
        last = waits[-1]
        told = last.reason in (REASONS[RED_LIGHT], REASONS[LANE_CHANGE])
        where = last.what if told else last.intersection
        if last.reason in (REASONS[AT_STOP], REASONS[HAZARD], REASONS[BODY], CUT_OFF):
            where = last.lane
        return Chain(self.frame.time, tuple(waits), last.reason, where, self.name_of(where))

    def _at(self, place: int) -> "Scene":
        """Another frame of the same run."""
        if place not in self._others:
            self._others[place] = other = Scene(self.run, place)
            other._others = self._others
        return self._others[place]

    def _held(self, row: int, look: int = 0, first: bool = False) -> tuple[int, int]:
        """The reason that held a vehicle longest since it stands, and the place of its last frame.

        look: or of another one with it, the last of LOOKS is the first that it stands. Whoever follows in a queue waits for its head: only the first of a walk is asked then.
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
        places = np.flatnonzero(reasons == longest)
        found = begin + int(places[-1 - look * (places.size - 1) // (LOOKS - 1)])
        return longest, int(np.searchsorted(self.run.frames, way.frame[found]))

    def _next(self, row: int, reason: int) -> tuple[str, int]:
        """What a vehicle waits for, in words where the reason alone does not say it, and whose row."""
        if reason == RED_LIGHT:
            return self._signal(int(self.frame.lane[row]), self.way_on(row)), -1
        if reason == EXIT_FULL:
            return self._fills(row)
        blocker = int(self.frame.blocker[row])
        if blocker < 0 and reason == LANE_CHANGE:
            return self._keeps_out(row)
        if blocker < 0 or reason in DRIVES:
            return "", -1
        return "", self.row(blocker)

    def _fills(self, row: int) -> tuple[str, int]:
        """The exit that a vehicle waits for, and the row of who is last on it, or on its way there.

        A lane shorter than the vehicle is passed at once with the one behind, if nobody stands there.
        """
        net, n = self.network.arrays, self.network.n_road_lanes
        length = float(self.run.vehicles("length")[self.frame.id[row]])
        what, lane = "", -1
        for _ in range(EXITS):
            k = self.way_on(row, lane)
            if k < 0:
                break
            lane = int(net.connectors.to_lane[k])
            what = self.lane_name(lane)
            ways = net.lanes.in_connector[slice(*net.lanes.in_start[lane : lane + 2])]
            on = [self.last_on(place) for place in (lane, *(n + int(way) for way in ways))]
            fits = bool(net.lanes.length[lane] >= length)
            for other in on:
                if other not in (-1, row) and (fits or self.frame.speed[other] <= STANDS):
                    return what, other
            beside = who_stands_beside(net, k, self.last_on, self._rear, self._stands)
            if beside not in (-1, row):
                return what, beside
            if fits:
                break
        if lane >= 0 and _ring_lanes(self.network)[lane]:
            return self._fills_way_out(row, lane)
        return what, -1

    def _rear(self, row: int) -> float:
        """Where the rear of a vehicle is on its lane, m; negative: on what is behind that."""
        return float(self.frame.s[row] - self.run.vehicles("length")[self.frame.id[row]])

    def _stands(self, row: int) -> bool:
        return bool(self.frame.speed[row] <= STANDS)

    def _fills_way_out(self, row: int, lane: int) -> tuple[str, int]:
        """The way out by which a vehicle would leave a roundabout, from a lane of it on, and the row of
        who is last there: who finds no room on it does not enter."""
        net, on_ring = self.network.arrays, _ring_lanes(self.network)
        for _ in range(RING_ROADS):
            k = self.way_on(row, lane)
            if k < 0 or not on_ring[lane]:
                break
            lane = int(net.connectors.to_lane[k])
        other = self.last_on(lane)
        return self.lane_name(lane), -1 if on_ring[lane] or other == row else other

    def _keeps_out(self, row: int) -> tuple[str, int]:
        """The lane that a vehicle must change to, and the row of who is in its way; "": unknown."""
        net, frame, lane = self.network.arrays, self.frame, int(self.frame.lane[row])
        k = self.way_on(row) if lane < self.network.n_road_lanes else -1
        wanted = int(net.connectors.from_lane[k]) if k >= 0 else lane
        side = self._indicated(row) or int(np.sign(wanted - lane))
        beside = lane + side
        if side == 0 or k < 0 or net.lanes.road[beside] != net.lanes.road[lane]:
            return "", -1
        if (wanted - lane) * side <= 0:
            wanted = beside  # it drove on otherwise later
        others = np.flatnonzero(frame.lane == beside)
        lengths = self.run.vehicles("length")
        halts = np.isin(frame.reason[others], (HAZARD, AT_STOP))
        s = float(frame.s[row] * net.lanes.length[beside] / net.lanes.length[lane])
        found = in_the_way(
            frame.s[others], lengths[frame.id[others]], halts, s, float(lengths[frame.id[row]])
        )
        return self.lane_name(wanted), int(others[found]) if found >= 0 else -1

    def _is_cut_off(self, row: int) -> bool:
        """Whether roads that are closed leave a vehicle no way to the end of its trip."""
        demand, vehicle = self.run.demand, int(self.frame.id[row])
        lane = int(self.frame.lane[row])
        if demand is None or demand.walker[vehicle] or lane >= self.network.n_road_lanes:
            return False
        end = int(demand.roads[demand.route_start[vehicle + 1] - 1])
        return self._closed_ways.bars(int(self.network.arrays.lanes.road[lane]), end)

    @cached_property
    def _closed_ways(self) -> ClosedWays:
        """What is closed in this frame."""
        return ClosedWays(self.network, self.run.commands(), self.frame.time)

    def _indicated(self, row: int) -> int:
        """To which side the lights of a vehicle say that it changes lane: 1, -1; 0: not known."""
        lights = self.frame.columns.get("signals")
        if lights is None:
            return 0
        left, right = bool(lights[row] & INDICATOR_LEFT), bool(lights[row] & INDICATOR_RIGHT)
        side = int(left) - int(right)
        return -side if self.network.left_hand else side

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
