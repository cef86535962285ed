"""A crossing with drivers at its lines, for tables of cases: who stands where, and for how long."""

from math import inf
from typing import Any

import numpy as np

from rushhour.kernels.core.network import GREEN, LEFT, OFF, RIGHT, STRAIGHT, NetworkArrays
from rushhour.kernels.core.vehicles import (
    BODY,
    CONFLICT,
    EXIT_FULL,
    HALT,
    LEADER,
    RED_LIGHT,
    STOP_SIGN,
    WAITS_INSIDE,
    YIELDS,
)
from rushhour.kernels.junctions.gap_acceptance import gap_blocker_on, is_clear_on
from rushhour.kernels.junctions.holder_gaps import meeting
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.world import World

DT = 0.25
I, J, LATER = 1, 0, 2  # slots of those who meet
V_MAX = 13.89  # m/s
LENGTH = 5.0  # m
EPS = 1e-6
TURNS = {"R": RIGHT, "T": STRAIGHT, "L": LEFT}
FREE_SLOT: dict[str, Any] = {
    "arrived": -1, "granted": 0, "had_grant": False, "refused": 0, "full_since": -1, "overtaken": 0, "line": 0,
    "stands_since": -1, "told": 0, "dwell_until": -1, "told_until": -1, "reason": 0, "speed": 0.0,
    "accel": 0.0, "lateral": 0.0, "around": 0, "yields_to": -1, "closes_up": 0, "ring_exit": -1,
    "goes_next": False, "queued": False,
}  # fmt: skip


class Junction:
    """One crossing X with arms N, E, S, W; `put` places drivers, `ask` lists those who want to go."""

    def __init__(self, control: str = "all_way_stop", **options: Any) -> None:
        self.network = generate("cross", control=control, **options)
        self.world = World(self.network, vehicles_on_road(self.network, 8, seed=1), dt=DT, seed=1)
        self.sim = self.world.sim
        self.net, self.veh, self.grants = self.network.arrays, self.sim.veh, self.sim.grants
        self.types, self.rules = self.sim.types, self.sim.rules
        self.x = self.network.intersection_index["X"]
        self.first = int(self.net.intersections.lane_start[self.x])

    def way(self, movement: str) -> int:
        """Connector of a movement: "ST" comes from the south and goes straight through."""
        c = self.net.connectors
        road = self.network.road_index[f"{movement[0]}-X"]
        found = (self.net.lanes.road[c.from_lane] == road) & (c.turn == TURNS[movement[1]])
        return int(np.flatnonzero(found)[0])

    def put(self, slot: int, movement: str, **fields: Any) -> None:
        """A driver at the line of its movement, with these fields of its state."""
        k = self.way(movement)
        self.veh.lane[slot] = self.net.connectors.from_lane[k]
        self.veh.path[slot] = -1
        self.veh.path[slot, 0] = k
        self.veh.id[slot] = slot
        for name, value in {**FREE_SLOT, **fields}.items():
            getattr(self.veh, name)[slot] = value

    def ask(self, *slots: int) -> int:
        """Make these the candidates for a grant; returns how many."""
        self.grants.candidate[self.first : self.first + len(slots)] = slots
        return len(slots)


class Meeting(Junction):
    """I at its line, J on or before a movement that conflicts with that of I and goes first."""

    def __init__(self, mine: str, theirs: str, control: str = "two_way_stop") -> None:
        super().__init__(control)
        self.mine, self.theirs = mine, theirs
        self.k, self.o = self.way(mine), self.way(theirs)
        between = slice(*self.net.connectors.conflict_start[self.k : self.k + 2])
        places = np.arange(between.start, between.stop)
        (self.c,) = places[self.net.conflicts.other[between] == self.o].tolist()
        self.n = self.net.lanes.out_start.shape[0] - 1
        self.pocket = self.grants.pocket.copy()
        self.alone()

    def put(self, slot: int, movement: str, **fields: Any) -> None:
        super().put(slot, movement, **{"length": LENGTH, "factor": 1.0, "top": inf, **fields})

    def alone(self) -> None:
        """Nobody but I is there, standing at its line."""
        self.net = self.network.arrays
        self.put(I, self.mine)
        self.grants.pocket[:] = self.pocket
        self.grants.tail[:], self.grants.tail_slot[:], self.grants.waiter[:] = inf, -1, -1
        self.sim.order.start[:] = 0
        self.sim.order.over[:] = -1
        self.grants.zips[:] = False
        self.grants.light[:] = OFF

    def comes(self, d: float, **fields: Any) -> None:
        """J is d m before its line, alone on its lane."""
        self.put(J, self.theirs, **fields)
        lane = self.veh.lane[J]
        self.veh.s[J] = self.net.lanes.length[lane] - d
        self.sim.order.start[:] = 0
        self.sim.order.start[lane + 1 :] = 1
        self.sim.order.slot[0] = J

    def holds(self, tail: float, **fields: Any) -> None:
        """J has its grant, its rear `tail` m along its movement; inside where its front is."""
        front = tail + LENGTH
        self.comes(-front, granted=1, **fields)
        if front > 0.0:
            self.veh.lane[J] = self.net.lanes.out_start.shape[0] - 1 + self.o
            self.veh.s[J] = front
            self.veh.granted[J] = 0
            self.veh.path[J] = -1
        self.grants.tail[self.o], self.grants.tail_slot[self.o] = tail, J

    def clear(
        self, margin: float = 1.0, reaction: float = 0.0, upto: float = inf, ahead: float = 0.3,
        share: float = 1.0, pressed: float = 1.0, between: bool = False, waits: bool = False,
    ) -> tuple[int, int, int]:  # fmt: skip
        """is_clear_on for I on its movement."""
        j, cut, stamp = is_clear_on(
            self.net, self.veh, self.types, self.sim.order, self.grants, self.rules, I, self.k,
            ahead, upto, reaction, V_MAX, margin, share, pressed, between, waits, DT,
        )  # fmt: skip
        return int(j), int(cut), int(stamp)

    def gap(
        self, patient: bool = True, share: float = 1.0, pressed: float = 1.0, ahead: float = 0.3
    ) -> int:
        """gap_blocker_on for I on its movement."""
        j = gap_blocker_on(
            self.net, self.veh, self.types, self.sim.order, self.grants, I, self.k, ahead, patient,
            share, pressed,
        )  # fmt: skip
        return int(j)

    def meets(self, d: float, in_time: float, need: float, back: float = inf) -> int:
        """What becomes of J, d m before its line."""
        return int(meeting(
            self.net, self.veh, self.types, self.rules, J, self.o, self.c, d, in_time, need, I, back, 8.0,
            0.5, DT,
        ))  # fmt: skip


def minor_and_major() -> tuple[str, str]:
    """Two movements straight on that cross, the first of which gives way to the second."""
    j = Junction("two_way_stop")
    ranks = {arm: int(j.net.connectors.rank[j.way(f"{arm}T")]) for arm in "NESW"}
    minor = max(ranks, key=lambda arm: ranks[arm])
    return f"{minor}T", "ET" if minor in "NS" else "ST"


def changed(net: NetworkArrays, table: str, **columns: Any) -> NetworkArrays:
    """A network with some cells of a table changed, told by column: {place: value}."""
    rows = getattr(net, table)
    new = {}
    for name, cells in columns.items():
        new[name] = getattr(rows, name).copy()
        for place, value in cells.items():
            new[name][place] = value
    return net._replace(**{table: rows._replace(**new)})


FRAME = 2001
A, B = 0, 1  # slots, and ids
AT_LINE = 0.3  # m
BEHIND = -22.0  # m: just beyond the crossing
STOOD: dict[str, Any] = {"arrived": 1900, "stands_since": 1900}
HALTS: dict[str, Any] = {"told": HALT}
GOES, INSIDE = "goes", "goes in and waits there"
WHY = {
    CONFLICT: "conflict", EXIT_FULL: "exit full", RED_LIGHT: "red", STOP_SIGN: "stop sign",
    YIELDS: "yields", BODY: "a body", 0: "does not ask",
}  # fmt: skip
Told = tuple[str, float, dict[str, Any]]  # movement, m before its line, fields


class Asked(Junction):
    """A crossing of which all but some drivers are far away."""

    def __init__(self, control: str) -> None:
        super().__init__(control)
        self.world.step()
        self.plain = self.rules

    def decide(self, *drivers: Told, light: int | dict[str, int] = OFF) -> list[tuple[str, int]]:
        """What becomes of the first slots: goes, or why not; and for whom (-1: nobody)."""
        for slot in range(8):
            self.put(
                slot, "ST" if slot % 2 else "NT", length=LENGTH, factor=1.0, top=inf, reason=LEADER
            )
            self.veh.s[slot], self.veh.blocker[slot], self.veh.go[slot] = 6.0, -1, -1
        for slot, (movement, d, fields) in enumerate(drivers):
            self.put(slot, movement, **{"length": LENGTH, "factor": 1.0, "top": inf, **fields})
            self.veh.s[slot] = self.net.lanes.length[self.veh.lane[slot]] - d
            if d < 0.0:  # inside, or on the road behind
                k = self.way(movement)
                n = self.net.lanes.out_start.shape[0] - 1
                beyond = -d - float(self.net.lanes.length[n + k])
                self.veh.lane[slot] = n + k if beyond < 0.0 else self.net.connectors.to_lane[k]
                self.veh.s[slot] = -d if beyond < 0.0 else beyond
                self.veh.path[slot] = -1
        sim = self.sim
        sim.rules, sim.frame = self.rules, FRAME
        self.world.phases.order()
        self.grants.light[:] = OFF
        if self.net.signals.cycle.size:
            self.grants.light[:] = light if isinstance(light, int) else GREEN
        for movement, shown in light.items() if isinstance(light, dict) else ():
            self.grants.light[self.way(movement)] = shown
        self.grants.closes[:] = inf
        self.world.phases.grant()
        veh = self.veh
        return [
            ((INSIDE if veh.stamp[slot] == WAITS_INSIDE else GOES) if veh.granted[slot]
             else WHY[int(veh.refused[slot])], int(veh.blocker[slot]))
            for slot in range(len(drivers))
        ]  # fmt: skip


def crossing_and_merging() -> tuple[Meeting, Meeting]:
    """Who gives way crosses the road of who goes first, and turns right into it."""
    minor, major = minor_and_major()
    theirs = {"S": "WT", "N": "ET", "E": "ST", "W": "NT"}[minor[0]]
    return Meeting(minor, major), Meeting(f"{minor[0]}R", theirs)
