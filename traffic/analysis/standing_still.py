"""Who waits for what in a world in which nobody moves: the causes, and how many each holds up."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.vehicles import EXIT_FULL, HAZARD, NOTHING, REASONS, RED_LIGHT
from rushhour.traffic.analysis.waiting import RING, cause_told
from rushhour.traffic.durations import clock
from rushhour.traffic.plurals import counted

if TYPE_CHECKING:
    from rushhour.traffic.world import World

CUT_OFF: Final = "cut_off"
ROAD_CLOSED: Final = "road_closed"
NO_ROOM: Final = "no_room"
SHOWN: Final = 5  # causes that the lines name
NAMED: Final = 20  # ids of the cut off


@dataclass(frozen=True)
class Held:
    """A cause of a standstill. vehicles: whom it holds up, the head among them.

    cause: a reason of models.md#reasons, "ring", "cut_off" (closed roads leave no way), or of those
    who wait to depart "no_room" or "road_closed". head: whom it holds up itself, the first of them.
    """

    cause: str
    where: str
    vehicles: int
    head: str
    lane: str
    since: float | None  # s, since when the head stands; None: it waits to depart

    def line(self) -> str:
        """For people."""
        others = f" and {counted(self.vehicles - 1, 'other')}" if self.vehicles > 1 else ""
        if self.since is None:
            why = "is closed" if self.cause == ROAD_CLOSED else "has no room"
            wait = "wait" if others else "waits"
            return f"{self.head}{others} {wait} to depart: road {self.where} {why}"
        if self.cause == CUT_OFF:
            why = "has no way, roads are closed"
        else:
            why = cause_told(self.cause, self.where)
        behind = f"; {self.vehicles - 1:,} more because of it" if self.vehicles > 1 else ""
        return f"{self.head} on {self.lane}: {why}; stands since {clock(self.since)}{behind}"


@dataclass(frozen=True)
class Standstill:
    """A run in which nobody moves. certain: nothing can change any more; else nobody has moved for
    the time after which it is given up."""

    time: float  # s, when the run stopped
    since: float  # s, when the last one moved
    certain: bool
    on_the_road: int
    waiting_to_depart: int
    cut_off: tuple[str, ...]  # the first ids of those without a way because roads are closed
    held: tuple[Held, ...]  # most vehicles first

    def facts(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "time_s": self.time,
            "since_s": self.since,
            "nothing_can_change": self.certain,
            "on_the_road": self.on_the_road,
            "waiting_to_depart": self.waiting_to_depart,
            "cut_off": list(self.cut_off),
            "causes": [one.__dict__ for one in self.held],
        }

    def lines(self) -> list[str]:
        """What it is, and its causes, for people."""
        why = (
            "nothing can change any more"
            if self.certain
            else f"nobody has moved for {clock(self.time - self.since)}"
        )
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
        veh = world._veh
        here = np.flatnonzero(veh.lane >= 0)
        self.slots: NDArray[np.intp] = here[np.argsort(veh.id[here])]
        self._slot = dict(zip(veh.id[self.slots].tolist(), self.slots.tolist(), strict=True))
        order = here[np.lexsort((veh.s[here], veh.lane[here]))]
        lanes, first = np.unique(veh.lane[order], return_index=True)
        self._last = dict(zip(lanes.tolist(), order[first].tolist(), strict=True))

    def next(self, slot: int) -> int:
        """The slot of whom a vehicle waits for; -1: for nobody."""
        veh = self.world._veh
        if self._own(slot):
            return -1
        reason, k = int(veh.reason[slot]), int(veh.path[slot, 0])
        if reason == RED_LIGHT:
            return -1
        if reason == EXIT_FULL and k >= 0:
            return self._fills(int(self.world.network.arrays.connectors.to_lane[k]), slot)
        return int(self._slot.get(int(veh.blocker[slot]), -1))

    def _own(self, slot: int) -> bool:
        """Whether a vehicle stands for a cause of its own, whoever is before it."""
        veh = self.world._veh
        return bool(
            veh.told[slot] != NOTHING
            or veh.dwell_until[slot] >= 0
            or int(veh.id[slot]) in self.world._cut_off
        )

    def _fills(self, lane: int, slot: int) -> int:
        """The slot of who is last on a lane, or on its way there; not the one that asks."""
        lanes = self.world.network.arrays.lanes
        found = self._last.get(lane, -1)
        if found >= 0 and found != slot:
            return int(found)
        ways = lanes.in_connector[slice(*lanes.in_start[lane : lane + 2])]
        inside = (self._last.get(self.world.network.n_road_lanes + int(k), -1) for k in ways)
        return int(next((other for other in inside if other not in (-1, slot)), -1))

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
        ids = self.world._veh.id
        return min(way[way.index(slot) :], key=lambda one: int(ids[one])), RING

    def _cause(self, slot: int) -> str:
        veh = self.world._veh
        if veh.told[slot] != NOTHING:
            return REASONS[HAZARD]
        return CUT_OFF if int(veh.id[slot]) in self.world._cut_off else REASONS[veh.reason[slot]]

    def where(self, slot: int, cause: str) -> str:
        """The place of a cause: a signal, a lane or an intersection."""
        network, veh = self.world.network, self.world._veh
        lane, k = int(veh.lane[slot]), int(veh.path[slot, 0])
        if cause == REASONS[RED_LIGHT] and k >= 0:
            return f"signal {network.signal_ids[network.arrays.connectors.signal[k]]}"
        if cause in ("at_stop", "hazard", "body", "lane_change", CUT_OFF):
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


def standstill_of(world: "World", since: float, certain: bool) -> Standstill:
    """Who waits for what now. since: s, when the last one moved."""
    holder, veh, ids = Holder(world), world._veh, world.demand.ids
    behind: Counter[tuple[int, str]] = Counter(holder.root(slot) for slot in holder.slots.tolist())
    cut_off = [one for one in behind if one[1] == CUT_OFF]
    for one in cut_off[1:]:  # closed roads are one cause, however many they keep from going on
        behind[cut_off[0]] += behind.pop(one)
    found = [
        Held(
            cause, holder.where(slot, cause), count, ids[veh.id[slot]],
            holder.lane_name(int(veh.lane[slot])),
            world.begin + int(veh.stands_since[slot]) * world.dt if veh.stands_since[slot] >= 0 else since,
        )
        for (slot, cause), count in behind.items()
    ]  # fmt: skip
    rows = world._verge.rows
    for row, frame in enumerate(world._verge._since):
        lane = holder.lane_name(int(rows.lane[row])) if rows.lane[row] >= 0 else "its road"
        name, stood = ids[rows.id[row]], world.begin + frame * world.dt
        found.append(Held("hazard", lane, 1, name, lane, stood))
    found += _outside(world)
    found.sort(key=lambda one: -one.vehicles)
    return Standstill(
        world.time, since, certain, world.active, world.waiting_to_depart,
        tuple(world.closures()["cut_off"][:NAMED]), tuple(found),
    )  # fmt: skip


def _outside(world: "World") -> list[Held]:
    """Those who wait to depart, by their road."""
    demand, network = world.demand, world.network
    due = demand.depart <= world.time
    due[world.trips.trip] = False
    veh = world._veh
    due[veh.trip[veh.lane >= 0]] = False
    due[world._verge.rows.trip] = False
    trips = np.flatnonzero(due & ~demand.walker)
    by_road: dict[int, list[int]] = {}
    for trip in trips.tolist():
        by_road.setdefault(int(demand.roads[demand.route_start[trip]]), []).append(trip)
    return [
        Held(
            NO_ROOM if world._can_be_entered(road) else ROAD_CLOSED, network.road_ids[road],
            len(waiting), demand.ids[waiting[0]], "", None,
        )
        for road, waiting in by_road.items()
    ]  # fmt: skip
