"""The checker: recomputes after each frame whether everybody kept the rules of the road.

It uses positions, speeds, plans and the lanes that rears are still on, never the order, the grants
or the lights that the frame worked with. `docs/checks.md` says what each check means.
"""

from math import inf
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rushhour.kernels.checking.all_way_stops import check_stop_order, note_full_exits
from rushhour.kernels.checking.bodies import (
    Bodies,
    check_gaps,
    check_oncoming,
    check_standing,
    check_zones,
)
from rushhour.kernels.checking.motion import (
    check_speeds,
    excuse_caught,
    follow,
    remember,
    show_lights,
)
from rushhour.kernels.checking.survey import (
    BOUND,
    BRAKING,
    CLOSEST,
    CONSERVATION,
    EXTREMES,
    GONE,
    KEPT,
    KINDS,
    LIGHTS,
    NEVER,
    RAN_INTO_BODY,
    REASON,
    STANDSTILL,
    TALLIES,
    VALUE,
    VANISHED,
    VEHICLE,
    WAIT_AT_LINE,
    Findings,
    Survey,
    collect,
    face_lines,
    match,
    miss,
    note,
)
from rushhour.kernels.core.rules import POLICY_FAIR, POLICY_LITERAL
from rushhour.kernels.core.vehicles import BEHIND, REASONS
from rushhour.roadnets.facts import fact_line
from rushhour.roadnets.street_names import called
from rushhour.traffic.analysis.chains import RING, STANDS, cause_told
from rushhour.traffic.analysis.standing_still import Holder
from rushhour.traffic.outside.watching import BodyWatch
from rushhour.traffic.sim.fields import dtype_of
from rushhour.traffic.words.durations import clock

if TYPE_CHECKING:
    from rushhour.traffic.world import World

INSIDE_PATIENCE: Final = 30.0  # s a vehicle may stand in a conflict zone
HEAD_PATIENCE: Final = 300.0  # s the first of those who wait may stand but for a red light
STUCK_PATIENCE: Final = 600.0  # s a vehicle may stand at all, stops of its trip apart
EXTREME_NAMES: Final = {
    STANDSTILL: "longest_standstill_s",
    WAIT_AT_LINE: "longest_wait_at_stop_sign_s",
    CLOSEST: "smallest_gap_m",
    BRAKING: "hardest_braking_mps2",
}
TALLY_NAMES: Final = ("caught_by_red", "red_in_chain", "stop_in_chain", "merges_shared")
# What the numbers of a finding say: value, bound and the other vehicle, reason or connector.
TEXTS: Final = {
    "overlap": "gap {value:.3f} m to vehicle {other}",
    "close_gap": "gap {value:.3f} m to vehicle {other}, wanted more than {bound:.2f}",
    "conflict_zone_shared": "{value:.2f} m into the zone that vehicle {other} leaves in {bound:.2f} m",
    "negative_speed": "{value:.6g} m/s",
    "not_finite": "a number of its state is not finite",
    "acceleration_cap": "{value:.3f} m/s^2, cap {bound:.2f}",
    "speed_cap": "speeds up to {value:.3f} m/s, desired at most {bound:.2f}",
    "conservation": "found {value:.0f}, wanted {bound:.0f}",
    "vanished": "left the road {value:.2f} m before its end, could drive {bound:.2f} m",
    "jumped": "moved {value:.6f} m, wanted {bound:.6f}",
    "red_light": "onto {connector}, red for {value:.2f} s, at {bound:.2f} m/s",
    "stop_sign": "onto {connector} without standing, {bound:.2f} m before it at {value:.2f} m/s",
    "stop_order": "overtaken {value:.0f} times, allowed {bound:.0f}, last by vehicle {other}",
    "stands_inside": "has stood {value:.0f} s in a conflict zone of {connector}",
    "stands_without_end": "has stood {bound:.0f} s: {reason}, waits for vehicle {other}",
    "stuck": "has stood {bound:.0f} s: {reason}, waits for vehicle {other}",
    "ran_into_body": "body {value:.0f} had stood there for {bound:.1f} s",
}
STANDING: Final = ("stands_without_end", "stuck")
OF_CONNECTORS: Final = ("red_light", "stop_sign", "stands_inside")


def _new(kind: type[Any], sizes: dict[str, Any], size: int) -> Any:
    """Arrays of a NamedTuple, `size` entries each unless `sizes` says otherwise; -1 in integers."""
    fields: list[Any] = []
    for name, annotation in kind.__annotations__.items():
        dtype = dtype_of(annotation)
        fill = -1 if np.issubdtype(dtype, np.signedinteger) else 0
        fields.append(np.full(sizes.get(name, size), fill, dtype))
    return kind(*fields)


def _new_findings() -> Findings:
    found = Findings(
        total=np.zeros(len(KINDS), np.int64),
        kept=np.zeros((len(KINDS), KEPT, BOUND + 1)),
        extreme=np.full((EXTREMES, REASON + 1), -1.0),
        tally=np.zeros(TALLIES, np.int64),
    )
    found.extreme[:, VALUE] = -np.inf
    return found


class Checker:
    """Watches a world; append it to `world.observers`.

    Memory is about 200 bytes per vehicle on the road and 4 per trip.

    >>> checker = Checker(world)
    >>> world.observers.append(checker)
    >>> world.step(100)
    >>> sum(checker.report().values())
    0
    """

    is_checker = True

    def __init__(self, world: "World") -> None:
        self.world = world
        n_connectors = world.network.n_connectors
        self._found = _new_findings()
        self._causes: dict[tuple[int, int], str] = {}  # by kind and number of a finding
        self._body_watch = BodyWatch()
        self._light = np.zeros(n_connectors, np.uint8)
        self._since = np.full(n_connectors, -1, np.int64)
        self._row_of_id = np.full(max(1, len(world.demand)), NEVER, np.int32)
        self._way = np.zeros(BEHIND + 1, np.int32)
        self._capacity = 0
        self._before: Survey
        self._logged = len(world.trips)
        self._make_room(1024)
        self._survey(self._before)
        n = int(self._before.start[-1])
        self._row_of_id[self._before.id[:n]] = np.arange(n)
        for name, value in (("old", -1), ("stood", -1), ("caught_at", -1), ("overtaken", 0)):
            getattr(self._before, name)[:] = value
        self._before.standing[:] = 0
        self._before.full[:] = False
        self._before.stretch[:] = np.inf

    def _make_room(self, capacity: int) -> None:
        """Have rows for every slot of the world."""
        wanted = max(capacity, self.world.sim.veh.lane.size)
        if wanted <= self._capacity:
            return
        n_lanes = self.world.network.n_lanes
        sizes: dict[str, Any] = {"start": n_lanes + 1, "place": n_lanes}
        sizes["lights"] = (wanted, LIGHTS)
        before: Survey = _new(Survey, sizes, wanted)
        if self._capacity:
            for name in Survey._fields:
                old = getattr(self._before, name)
                getattr(before, name)[: len(old)] = old
        else:
            before.start[:] = 0
        self._before = before
        self._now: Survey = _new(Survey, sizes, wanted)
        self._crossed = np.zeros(wanted, np.int32)
        self._gone = np.zeros(wanted, np.int32)
        self._make_bodies(2 * wanted)
        self._capacity = wanted

    def _make_bodies(self, size: int) -> None:
        network = self.world.network
        sizes = {
            "first": network.n_connectors,
            "hanging": network.n_lanes,
            "hanging_rear": network.n_lanes,
        }
        self._bodies: Bodies = _new(Bodies, sizes, size)

    def _survey(self, survey: Survey) -> int:
        """Survey the world as it stands; returns how many are on the road."""
        world = self.world
        live = collect(world.sim.veh, survey, self._row_of_id, self._found, world.frame)
        face_lines(world.network.arrays, world.sim.veh, world.sim.routes, survey)
        return int(live)

    def __repr__(self) -> str:
        return fact_line("Checker", {"found": ", ".join(self.violations) or "nothing"})

    def observe(self) -> None:
        """Check the frame that the world has just stepped."""
        world, found = self.world, self._found
        net, veh = world.network.arrays, world.sim.veh
        types, rules = world.sim.types, world.sim.rules
        frame, dt = world.frame, world.dt
        self._make_room(0)
        if len(world.demand) > self._row_of_id.size:
            more = np.full(len(world.demand) - self._row_of_id.size, NEVER, np.int32)
            self._row_of_id = np.concatenate((self._row_of_id, more))
        now, before = self._now, self._before
        self._excuse_commanded(before)
        live = self._survey(now)
        match(now, before, self._row_of_id, found, frame)
        left = miss(net, now, before, self._row_of_id, self._gone, found, frame, dt)
        self._check_counts(live, left)
        lit = world.begin + (frame - 1) * dt
        turned = show_lights(
            world.sim.lit.signals, net.connectors, world.sim.actuation.control, world.sim.grants.light,
            self._light, self._since, lit, frame,
        )  # fmt: skip
        if turned:
            excuse_caught(net, types, veh, before, self._since, frame, dt)
        remember(net, now, before, frame, rules.stop_offset)
        check_speeds(net, types, veh, now, before, found, frame, dt)
        crossed = follow(
            net, types, veh, now, before, found, self._light, self._since,
            world.sim.grants.sure_turn, self._crossed, self._way, frame, dt, rules.stop_offset,
        )  # fmt: skip
        note_full_exits(net, now, rules.queue_gap, rules.stop_offset)
        if crossed:
            check_stop_order(
                net, now, before, found, self._crossed, crossed, frame,
                rules.overtake_limit if rules.all_way_policy == POLICY_FAIR else 0,
                rules.all_way_policy == POLICY_LITERAL,
            )  # fmt: skip
        used = check_gaps(net, types, veh, now, before, found, self._bodies, frame)
        if used > self._bodies.row.size:
            self._make_bodies(2 * used)
            check_gaps(net, types, veh, now, before, found, self._bodies, frame)
        if world.sim.rules.passing_gain < inf:
            check_oncoming(net, types, veh, now, before, found, world.sim.grants.opposite, frame)
        inside, stuck, head = (
            round(patience / dt) for patience in (INSIDE_PATIENCE, STUCK_PATIENCE, HEAD_PATIENCE)
        )
        check_zones(net, now, before, found, self._bodies, self._light, frame, dt, inside)
        check_standing(veh, now, before, found, frame, dt, stuck, head)
        self._note_causes()
        for i, body, stood in self._body_watch.look(world):
            where = (int(veh.id[i]), -1, int(veh.lane[i]), float(veh.s[i]))
            note(found, RAN_INTO_BODY, frame, *where, float(body), stood)
        self._now, self._before = before, now

    def _note_causes(self) -> None:
        """Keep what those wait for in the end who were found standing in this frame."""
        new = [
            (kind, x)
            for kind in map(KINDS.index, STANDING)
            for x in range(min(int(self._found.total[kind]), KEPT))
            if (kind, x) not in self._causes
        ]
        if not new:
            return
        holder = Holder(self.world)
        for kind, x in new:
            slot = holder.slot(int(self._found.kept[kind, x, VEHICLE]))
            self._causes[kind, x] = self._in_the_end(holder, slot) if slot >= 0 else ""

    def _in_the_end(self, holder: Holder, slot: int) -> str:
        """What a vehicle waits for at the end of its chain, for its line; "" where it is that itself."""
        root, cause = holder.root(slot)
        if root == slot:
            return ""
        veh = self.world.sim.veh
        if veh.speed[root] >= STANDS:
            told = f"a queue that moves {self._place(int(veh.lane[root]), float(veh.s[root]))}"
        else:
            told = cause_told(cause, "" if cause == RING else holder.where(root, cause))
        return f"; in the end {told}, vehicle {self._who(int(veh.id[root]))}"

    def _excuse_commanded(self, before: Survey) -> None:
        """Miss nobody who was taken off the road by command, and welcome who was put back on it."""
        for vehicle in self.world.sim.taken_off:
            row = self._row_of_id[vehicle]
            if row >= 0:
                before.seen[row] = True
            self._row_of_id[vehicle] = GONE
        for vehicle in self.world.sim.put_back_on:
            self._row_of_id[vehicle] = NEVER

    def _check_counts(self, live: int, left: int) -> None:
        """Departed = on the road + aside + arrived + removed; who left the road is in the log."""
        world = self.world
        expected = world.departed - world.arrived - world.removed - world.aside
        if live != expected:
            note(
                self._found,
                CONSERVATION,
                world.frame,
                -1,
                -1,
                -1,
                0.0,
                float(live),
                float(expected),
            )
        logged = world.trips.column("trip")[self._logged :]
        self._logged = len(world.trips)
        if left:
            gone = self._gone[:left]
            for name in gone[~np.isin(gone, logged.astype(np.int32))]:
                note(self._found, VANISHED, world.frame, int(name), -1, -1, 0.0, np.nan, 0.0)

    # --- what was found --------------------------------------------------------------------

    def report(self) -> dict[str, int]:
        """How often each rule was broken, by its name."""
        return {name: int(self._found.total[kind]) for kind, name in enumerate(KINDS)}

    @property
    def violations(self) -> dict[str, int]:
        """Those of `report` that were broken at all."""
        return {name: count for name, count in self.report().items() if count}

    def lines(self) -> list[str]:
        """A line for each finding kept (the first 20 of each kind): name, time, who, where, what."""
        found = self._found
        lines: list[str] = []
        for kind, name in enumerate(KINDS):
            count = int(found.total[kind])
            lines += [self._line(kind, name, x) for x in range(min(count, KEPT))]
            if count > KEPT:
                lines.append(f"{name}: and {count - KEPT:,} more")
        return lines

    @property
    def information(self) -> dict[str, Any]:
        """Extremes, each with its value, time, vehicle and place, and what the rules excuse."""
        found = self._found
        facts: dict[str, Any] = {}
        for which, name in EXTREME_NAMES.items():
            frame, vehicle, lane, s, value, reason = found.extreme[which].tolist()
            if vehicle < 0:
                continue
            facts[name] = {
                "value": -value if which == CLOSEST else value,
                "time_s": self._time(frame),
                "vehicle": self._who(int(vehicle)),
                "place": self._place(int(lane), s),
                "reason": REASONS[int(reason)],
            }
        for name, count in zip(TALLY_NAMES, found.tally, strict=True):
            facts[name] = int(count)
        return facts

    def _line(self, kind: int, name: str, x: int) -> str:
        frame, vehicle, lane, s, value, other, bound = self._found.kept[kind, x].tolist()
        what = TEXTS[name].format(
            value=value,
            bound=bound,
            other=self._who(int(other)),
            connector=self._connector(int(other)) if name in OF_CONNECTORS else "",
            reason=REASONS[int(value)] if name in STANDING else "",
        )
        what += self._causes.get((kind, x), "")
        who, place = self._who(int(vehicle)), self._place(int(lane), s)
        return f"{name}: {clock(self._time(frame))} vehicle {who} {place}: {what}"

    def _time(self, frame: float) -> float:
        return self.world.begin + frame * self.world.dt

    def _who(self, vehicle: int) -> str:
        """Number and source id of a vehicle."""
        if vehicle < 0:
            return "none"
        ids = self.world.demand.ids
        source = f" ({ids[vehicle]})" if vehicle < len(ids) else ""
        return f"{vehicle}{source}"

    def _connector(self, k: int) -> str:
        network = self.world.network
        c = network.arrays.connectors
        return f"{network.lane_ids[c.from_lane[k]]} -> {network.lane_ids[c.to_lane[k]]}"

    def _place(self, lane: int, s: float) -> str:
        """Lane or connector, metres along it, and the point on the plane."""
        network = self.world.network
        if lane < 0:
            return "on the road"
        if lane < network.n_road_lanes:
            where = f"on lane {called(network.lane_ids[lane], network.lane_street(lane))}"
        else:
            k = lane - network.n_road_lanes
            x = int(network.arrays.connectors.intersection[k])
            at = f" at {network.intersection_ids[x]}" if x >= 0 else ""
            where = f"on {self._connector(k)}{at}"
        rows = slice(network.point_start[lane], network.point_start[lane + 1])
        point = [np.interp(s, network.station[rows], network.points[rows, axis]) for axis in (0, 1)]
        return f"{where}, {s:.2f} m ({point[0]:.1f}, {point[1]:.1f})"
