"""A two-way road with drivers on it, for tables of cases: who is where, and how fast."""

from typing import Any

import numpy as np
import pytest
from junction_cases import DT, FREE_SLOT
from numba import config
from two_way_road import two_way_road

from rushhour.kernels.core.vehicles import NEVER
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.world import World

# Tables call many kernels by themselves, each of which would be compiled for that alone.
AS_PYTHON = pytest.mark.skipif(
    not config.DISABLE_JIT, reason="test_tables_of_rules.py runs it as Python"
)


class Road:
    """East 1,200 m one way, west the other; `put` places drivers, and keeps the order of each lane."""

    def __init__(self, width: float = 3.2, left_hand: bool = False, lanes: int = 1) -> None:
        self.network = two_way_road(width, left_hand, lanes=lanes)
        self.world = World(self.network, vehicles_on_road(self.network, 8, seed=1), dt=DT, seed=1)
        self.sim = self.world.sim
        self.net, self.veh = self.network.arrays, self.sim.veh
        o = self.sim.grants.obstacles
        rows = {
            f: np.zeros(1, getattr(o, f).dtype) for f in o._fields if f not in ("counts", "first")
        }
        self.grants = self.sim.grants._replace(obstacles=o._replace(**rows))  # with room for a body
        self.types, self.rules, self.routes = self.sim.types, self.sim.rules, self.sim.routes
        self.order = self.sim.order
        self.east, self.west = (
            int(self.net.roads.first_lane[self.network.road_index[name]])
            for name in ("east", "west")
        )
        self.clear()

    def clear(self) -> None:
        """Nobody is anywhere."""
        self.veh.lane[:] = -1
        self.grants.passers[:] = 0
        self.grants.reserved[:] = 0.0
        self.grants.crossed[:] = False
        self.grants.wished_first[:] = 0.0
        self.grants.wished_since[:] = NEVER
        self.routes.stops_on[:] = True
        self.grants.obstacles.counts[:] = 0
        self.grants.obstacles.first[:] = -1
        self.sim.waiting.newest[:] = -1
        self.order.over[:] = -1
        self.sort()

    def put(self, slot: int, lane: int, s: float, **fields: Any) -> None:
        """A car with its front at s, at 10 m/s; it has two roads before it, and no stop."""
        more = {
            "lane": lane, "s": s, "id": slot, "type": 0, "speed": 10.0, "factor": 1.0, "top": np.inf,
            "length": 4.5, "behind": -1, "leg": 0, "route_end": 3, "stop": 0, "stop_end": 0, "swerve": 0.0,
        }  # fmt: skip
        for name, value in {**FREE_SLOT, **more, **fields}.items():
            getattr(self.veh, name)[slot] = value
        self.sort()

    def body(self, lane: int, rear: float, front: float, **fields: Any) -> None:
        """A body from outside in the middle of a lane, which stands there."""
        o, e = self.grants.obstacles, 0
        more = {
            "lane": lane, "rear": rear, "front": front, "right": -1.0, "left": 1.0, "speed": 0.0,
            "across": 0.0, "enters": 0.0, "leaves": np.inf, "comes": False, "waits": False, "body": 0,
        }  # fmt: skip
        for name, value in {**more, **fields}.items():
            getattr(o, name)[e] = value
        o.first[lane], o.then[e] = e, -1
        o.counts[:] = 1

    def sort(self) -> None:
        """The order of each lane, the first in front."""
        veh, order = self.veh, self.order
        on = np.flatnonzero(veh.lane >= 0)
        slots = on[np.lexsort((-veh.s[on], veh.lane[on]))]
        order.slot[: slots.size] = slots
        lanes = np.arange(order.start.size)
        order.start[:] = np.searchsorted(veh.lane[slots], lanes)

    def place(self, slot: int) -> int:
        """Its place in the order."""
        return int(np.flatnonzero(self.order.slot[: self.order.start[-1]] == slot)[0])
