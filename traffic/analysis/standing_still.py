"""Who waits for what in a world in which nobody gets anywhere: the causes, and how many each holds up."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import (
    EXIT_FULL,
    HAZARD,
    LANE_CHANGE,
    LEADER,
    NOTHING,
    PATH,
    REASONS,
    RED_LIGHT,
)
from rushhour.kernels.junctions.exit_room import chain_length
from rushhour.kernels.junctions.ring_exits import entry_within
from rushhour.roadnets.street_names import called
from rushhour.traffic.analysis.beside import in_the_way, who_stands_beside
from rushhour.traffic.analysis.chains import CUT_OFF, RING, WORDS, cause_told
from rushhour.traffic.words.durations import clock
from rushhour.traffic.words.plurals import counted

if TYPE_CHECKING:
    from rushhour.traffic.world import World

ROAD_CLOSED: Final = "road_closed"
NO_ROOM: Final = "no_room"
LANE_CLOSED: Final = "lane_closed"
SHOWN: Final = 5  # causes that the lines name
NAMED: Final = 20  # ids of the cut off
# Nothing is compiled for an end.
_chain_length: Any = getattr(chain_length, "py_func", chain_length)
_entry_within: Any = getattr(entry_within, "py_func", entry_within)


@dataclass(frozen=True)
class Held:
    """A cause of a standstill. vehicles: whom it holds up, the head among them.

    cause: a reason of models.md#reasons, "ring", "cut_off" (closed roads leave no way), "lane_closed"
    (it must change over a lane that its class may not use), or of those who wait to depart "no_room"
    or "road_closed". where: of a lane change the lane it wants. head: whom it holds up itself, the
    first of them.
    """

    cause: str
    where: str
    vehicles: int
    head: str
    lane: str  # "": it waits to depart
    since: float | None  # s, since when the head stands; None: not known
    ring: tuple[str, ...] = ()  # who waits for what in it, the head first; without who just follows
    street: str = ""  # what the road of the lane is called, or the one that it departs from

    def line(self) -> str:
        """For people."""
        others = f" and {counted(self.vehicles - 1, 'other')}" if self.vehicles > 1 else ""
        if not self.lane:
            why = "is closed" if self.cause == ROAD_CLOSED else "has no room"
            wait = "wait" if others else "waits"
            return f"{self.head}{others} {wait} to depart: road {called(self.where, self.street)} {why}"
        if self.cause == CUT_OFF:
            why = WORDS[CUT_OFF]
        elif self.cause == LANE_CLOSED:
            why = f"must change lane, and may not use {self.where}"
        else:
            why = cause_told(self.cause, self.where)
        if self.ring:
            more = len(self.ring) - SHOWN
            why += ": " + ", ".join(self.ring[:SHOWN]) + (f" and {more} more" if more > 0 else "")
        behind = f"; {self.vehicles - 1:,} more because of it" if self.vehicles > 1 else ""
        stands = "" if self.since is None else f"; stands since {clock(self.since)}"
        return f"{self.head} on {called(self.lane, self.street)}: {why}{stands}{behind}"


@dataclass(frozen=True)
class Standstill:
    """A run in which nobody gets anywhere. certain: nothing can change any more; else nobody has
    moved for the time after which it is given up, or departed, arrived or come nearer: those who
    move go round."""

    time: float  # s, when the run stopped
    since: float  # s, when the last one moved; where some go round, departed or arrived
    certain: bool
    on_the_road: int
    waiting_to_depart: int
    cut_off: tuple[str, ...]  # the first ids of those without a way because roads are closed
    held: tuple[Held, ...]  # most vehicles first
    going_round: tuple[
        str, ...
    ] = ()  # the first ids of those who take way after way, and come back

    def facts(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "time_s": self.time,
            "since_s": self.since,
            "nothing_can_change": self.certain,
            "on_the_road": self.on_the_road,
            "waiting_to_depart": self.waiting_to_depart,
            "cut_off": list(self.cut_off),
            "going_round": list(self.going_round),
            "causes": [one.__dict__ for one in self.held],
        }

    def lines(self) -> list[str]:
        """What it is, and its causes, for people."""
        passed = clock(self.time - self.since)
        if self.certain:
            why = "nothing can change any more"
        elif self.going_round:
            why = f"nobody has departed or arrived for {passed}, {self.going_round[0]} and others that move go round"
        else:
            why = f"nobody has moved for {passed}"
        found = [
            (
                f"stopped at {clock(self.time)}: {why}; {self.on_the_road:,} on the road, "
                f"{self.waiting_to_depart:,} waiting to depart"
            )
        ]
        found += ["  " + one.line() for one in self.held[:SHOWN]]
        if len(self.held) > SHOWN:
            found.append(f"  and {counted(len(self.held) - SHOWN, 'more cause', 'more causes')}")
        return found


class Holder:
    """Who holds up whom among the vehicles of a world, by their slots."""

    def __init__(self, world: "World") -> None:
        self.world = world
        veh = world.sim.veh
        here = np.flatnonzero(veh.lane >= 0)
        self.slots: NDArray[np.intp] = here[np.argsort(veh.id[here])]
        self._slot = dict(zip(veh.id[self.slots].tolist(), self.slots.tolist(), strict=True))
        order = here[np.lexsort((veh.s[here], veh.lane[here]))]
        lanes, first = np.unique(veh.lane[order], return_index=True)
        self._on: dict[int, NDArray[np.intp]] = dict(
            zip(lanes.tolist(), np.split(order, first[1:]), strict=False)
        )  # those on a lane, the last one first

    def slot(self, vehicle: int) -> int:
        """The slot of a vehicle by its id; -1 where it is not on the road."""
        return int(self._slot.get(vehicle, -1))

    def next(self, slot: int) -> int:
        """The slot of whom a vehicle waits for; -1: for nobody."""
        veh = self.world.sim.veh
        if self._own(slot):
            return -1
        reason = int(veh.reason[slot])
        if reason == RED_LIGHT:
            return -1
        if reason == EXIT_FULL:
            return self._fills(slot)
        if reason == LANE_CHANGE and veh.blocker[slot] < 0:
            return self._keeps_out(slot)
        return self.slot(int(veh.blocker[slot]))

    def _own(self, slot: int) -> bool:
        """Whether a vehicle stands for a cause of its own, whoever is before it."""
        veh = self.world.sim.veh
        return bool(
            veh.told[slot] != NOTHING
            or veh.dwell_until[slot] >= 0
            or int(veh.id[slot]) in self.world.control.closures.cut_off
        )

    def _last(self, lane: int, slot: int) -> int:
        """The slot of who is last on a lane or connector, -1: nobody but the one that asks."""
        others = self._on.get(lane, ())
        return next((int(other) for other in others if other != slot), -1)

    def _fills(self, slot: int) -> int:
        """The slot of who is last on the exit that a vehicle waits for, or on its way there; -1.

        Lanes shorter than the vehicle are passed at once with the one behind, if nobody stands there;
        a roundabout up to the way out.
        """
        world, net, veh = self.world, self.world.network.arrays, self.world.sim.veh
        n_road = world.network.n_road_lanes
        last, _ = _chain_length(net, veh, slot, float(world.sim.rules.stop_offset))
        grants = world.sim.grants
        round_it = _entry_within(veh, grants.ring_entry, slot, last) >= 0
        for q in range(int(veh.line[slot]), PATH):
            k = int(veh.path[slot, q])
            on_ring = k >= 0 and round_it and grants.on_ring[net.connectors.from_lane[k]]
            if k < 0 and round_it and veh.ring_exit[slot] >= 0:  # it has to change lane on the way
                first = int(net.roads.first_lane[veh.ring_exit[slot]])
                exits = range(first, first + int(net.roads.lane_count[veh.ring_exit[slot]]))
                return max(self._last(lane, slot) for lane in exits)
            if k < 0 or (q >= last and not net.connectors.free[k] and not on_ring):
                return -1  # behind the exit only what hangs over from beyond a joint fills it
            lane = int(net.connectors.to_lane[k])
            ways = net.lanes.in_connector[slice(*net.lanes.in_start[lane : lane + 2])]
            for place in (lane, *(n_road + int(way) for way in ways)):
                found = self._last(place, slot)
                if found < 0:
                    continue
                leaves = not round_it or q < last or not grants.on_ring[lane]
                if veh.stands_since[found] >= 0 or (q >= last - 1 and leaves):
                    return found
            beside = who_stands_beside(
                net, k, lambda place: self._last(place, slot),
                lambda other: float(veh.s[other] - veh.length[other]),
                lambda other: bool(veh.stands_since[other] >= 0),
            )  # fmt: skip
            if beside >= 0:
                return beside
        return -1

    def _next_lane(self, slot: int) -> int:
        """The lane beside that a vehicle would change to; -1: it wants none."""
        veh = self.world.sim.veh
        lane, wanted = int(veh.lane[slot]), int(veh.wanted[slot])
        if lane >= self.world.network.n_road_lanes or wanted < 0 or wanted == lane:
            return -1
        return lane + (1 if wanted > lane else -1)

    def _may_use(self, lane: int, slot: int) -> bool:
        world = self.world
        kind = world.sim.types.permission[world.sim.veh.type[slot]]
        return bool(world.network.arrays.lanes.permissions[lane] & kind)

    def _keeps_out(self, slot: int) -> int:
        """The slot of who is in the way of the change that a vehicle waits for; -1: nobody."""
        veh, length = self.world.sim.veh, self.world.network.arrays.lanes.length
        lane, beside = int(veh.lane[slot]), self._next_lane(slot)
        if beside < 0 or beside not in self._on or not self._may_use(beside, slot):
            return -1
        others = self._on[beside]
        halts = (veh.told[others] != NOTHING) | (veh.dwell_until[others] >= 0)
        s = float(veh.s[slot] * length[beside] / length[lane])
        found = in_the_way(
            veh.s[others], veh.length[others], halts, s, float(veh.length[slot])
        )  # fmt: skip
        return int(others[found]) if found >= 0 else -1

    def root(self, slot: int) -> tuple[int, str]:
        """The last one up the chain from a vehicle, and the cause: a reason, CUT_OFF or RING.

        Of a ring the one with the lowest id stands for it.
        """
        way: list[int] = []
        while slot not in way:
            way.append(slot)
            after = self.next(slot)
            if after < 0:
                return slot, self._cause(slot)
            slot = after
        ids = self.world.sim.veh.id
        return min(way[way.index(slot) :], key=lambda one: int(ids[one])), RING

    def ring(self, slot: int) -> tuple[str, ...]:
        """Who waits for what in the ring that a vehicle is in, from it on."""
        found, at = [], slot
        while True:
            cause = self._cause(at)
            if cause != REASONS[LEADER]:
                name = self.world.demand.ids[self.world.sim.veh.id[at]]
                place = self.where(at, cause) if cause == REASONS[LANE_CHANGE] else ""
                found.append(f"{name} {cause_told(cause, place)}")
            at = self.next(at)
            if at in (slot, -1):
                return tuple(found)

    def _cause(self, slot: int) -> str:
        veh = self.world.sim.veh
        if veh.told[slot] != NOTHING:
            return REASONS[HAZARD]
        if int(veh.id[slot]) in self.world.control.closures.cut_off:
            return CUT_OFF
        if veh.reason[slot] == LANE_CHANGE:
            beside = self._next_lane(slot)
            if beside >= 0 and not self._may_use(beside, slot):
                return LANE_CLOSED
        return REASONS[veh.reason[slot]]

    def where(self, slot: int, cause: str) -> str:
        """The place of a cause: a signal, a lane or an intersection."""
        network, veh = self.world.network, self.world.sim.veh
        lane, k = int(veh.lane[slot]), int(veh.path[slot, 0])
        if cause == REASONS[RED_LIGHT] and k >= 0:
            return f"signal {network.signal_ids[network.arrays.connectors.signal[k]]}"
        if cause == LANE_CLOSED:
            return self.lane_name(self._next_lane(slot))
        if cause == REASONS[LANE_CHANGE]:
            return self.lane_name(int(veh.wanted[slot])) if self._next_lane(slot) >= 0 else ""
        if cause in ("at_stop", "hazard", "body", CUT_OFF):
            return self.lane_name(lane)
        at = int(network.arrays.lanes.intersection[lane])
        return network.intersection_ids[at] if at >= 0 else self.lane_name(lane)

    def lane_name(self, lane: int) -> str:
        """A lane's id; of a connector those of the lanes that it joins."""
        network = self.world.network
        if lane < network.n_road_lanes:
            return network.lane_ids[lane]
        ways, k = network.arrays.connectors, lane - network.n_road_lanes
        return f"{network.lane_ids[ways.from_lane[k]]} -> {network.lane_ids[ways.to_lane[k]]}"


def standstill_of(
    world: "World", since: float, certain: bool, movers: NDArray[np.intp] | None = None
) -> Standstill:
    """Who waits for what now. since: as that of `Standstill`. movers: slots of those who go round."""
    holder, veh, ids = Holder(world), world.sim.veh, world.demand.ids
    behind: Counter[tuple[int, str]] = Counter(holder.root(slot) for slot in holder.slots.tolist())
    cut_off = [one for one in behind if one[1] == CUT_OFF]
    for one in cut_off[1:]:  # closed roads are one cause, however many they keep from going on
        behind[cut_off[0]] += behind.pop(one)
    found = [
        Held(
            cause, holder.where(slot, cause), count, ids[veh.id[slot]],
            holder.lane_name(int(veh.lane[slot])),
            world.begin + int(veh.stands_since[slot]) * world.dt if veh.stands_since[slot] >= 0 else None,
            holder.ring(slot) if cause == RING else (), world.network.lane_street(int(veh.lane[slot])),
        )
        for (slot, cause), count in behind.items()
    ]  # fmt: skip
    rows = world.sim.verge.rows
    for row, frame in enumerate(world.sim.verge.since):
        lane = holder.lane_name(int(rows.lane[row])) if rows.lane[row] >= 0 else "its road"
        name, stood = ids[rows.id[row]], world.begin + frame * world.dt
        street = world.network.lane_street(int(rows.lane[row])) if rows.lane[row] >= 0 else ""
        found.append(Held("hazard", lane, 1, name, lane, stood, street=street))
    found += _outside(world)
    found.sort(key=lambda one: -one.vehicles)
    return Standstill(
        world.time, since, certain, world.active, world.waiting_to_depart,
        tuple(world.closures()["cut_off"][:NAMED]), tuple(found),
        tuple(ids[i] for i in np.sort(veh.id[movers])[:NAMED]) if movers is not None else (),
    )  # fmt: skip


def _outside(world: "World") -> list[Held]:
    """Those who wait to depart, by their road."""
    demand, network = world.demand, world.network
    due = demand.depart <= world.time
    due[world.trips.trip] = False
    veh = world.sim.veh
    due[veh.trip[veh.lane >= 0]] = False
    due[world.sim.verge.rows.trip] = False
    trips = np.flatnonzero(due & ~demand.walker)
    by_road: dict[int, list[int]] = {}
    for trip in trips.tolist():
        by_road.setdefault(int(demand.roads[demand.route_start[trip]]), []).append(trip)
    return [
        Held(
            NO_ROOM if world.control.closures.can_be_entered(road) else ROAD_CLOSED, network.road_ids[road],
            len(waiting), demand.ids[waiting[0]], "", None, street=network.road_name(road),
        )
        for road, waiting in by_road.items()
    ]  # fmt: skip
