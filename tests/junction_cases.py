"""A crossing with drivers at its lines, for tables of cases: who stands where, and for how long."""

from typing import Any

import numpy as np

from rushhour.kernels.core.network import LEFT, RIGHT, STRAIGHT
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.world import World

DT = 0.25
TURNS = {"R": RIGHT, "T": STRAIGHT, "L": LEFT}
FREE_SLOT: dict[str, Any] = {
    "arrived": -1, "granted": 0, "refused": 0, "full_since": -1, "overtaken": 0, "line": 0,
    "stands_since": -1, "told": 0, "dwell_until": -1, "told_until": -1, "reason": 0, "speed": 0.0,
    "accel": 0.0, "lateral": 0.0, "around": 0, "yields_to": -1,
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
