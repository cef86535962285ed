"""A road with one lane for each direction, for tests of passing."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

import rushhour as rh
from rushhour.traffic.checker import Checker
from rushhour.traffic.demand.builder import DemandBuilder, Stop, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

TRACTOR = VehicleType(name="tractor", max_speed=5.0)
CAR = VehicleType()
EAST, WEST = ("in", "east", "out"), ("in2", "west", "out2")


def two_way_road(
    width: float = 3.2, left_hand: bool = False, metres: float = 1200.0, lanes: int = 1
):
    """1,200 m between two joints, a road of 200 m before and behind, for each direction."""
    side = -1.0 if left_hand else 1.0
    b = rh.NetworkBuilder()
    y = -side * width * lanes / 2.0
    ends = (-200.0, 0.0, metres, metres + 200.0)
    for x in ends:
        b.add_intersection(x, 0.0, id=f"x{x:g}")
    for names, xs, at in ((EAST, ends, y), (WEST, ends[::-1], -y)):
        for name, (x0, x1) in zip(names, pairwise(xs), strict=True):
            joins = {"start": f"x{x0:g}", "end": f"x{x1:g}"}
            b.add_road([(x0, at), (x1, at)], lanes, id=name, width=width, **joins)
    return replace(b.build(), left_hand=left_hand, derived={})


class Drive:
    """What happened on such a road: the world at the end, its checker, and places by frame."""

    def __init__(
        self, network: Any, trips: list[Trip], seconds: float, dt: float = 0.25, **parameters: Any
    ) -> None:
        builder = DemandBuilder()
        for trip in trips:
            builder.add(trip)
        values: Mapping[str, Any] = {f"passing.{k}": v for k, v in parameters.items()}
        self.world = World(network, builder.build(), dt=dt, seed=1, parameters=Parameters(values))
        self.checker = Checker(self.world)
        self.world.observers.append(self.checker)
        self.seen: dict[str, list[tuple[float, float, float, float]]] = {}
        for _ in range(round(seconds / dt)):
            self.world.step()
            veh = self.world.sim.veh
            for i in np.flatnonzero(veh.lane >= 0):
                name = self.world.demand.ids[veh.id[i]]
                place = float(veh.distance[i] + veh.s[i] + veh.length[i])  # it began there
                row = (self.world.time, place, float(veh.lateral[i]), float(veh.speed[i]))
                self.seen.setdefault(name, []).append(row)

    def arrival(self, name: str) -> float:
        """When a trip ended, s; inf: it has not."""
        log = self.world.trips
        ids = [self.world.demand.ids[i] for i in log.trip]
        return float(log.arrived[ids.index(name)]) if name in ids else np.inf

    def track(self, name: str) -> np.ndarray:
        """Time (s), place from the begin of its first road (m), lateral offset (m), speed (m/s) of one vehicle by frame."""
        return np.array(self.seen[name])


def trip(
    network: Any, name: str, depart: float, way=EAST, kind: VehicleType = CAR, halts=()
) -> Trip:
    """A trip; halts: (m along the long road, s)."""
    roads = [network.road_index[r] for r in way]
    lane = int(network.arrays.roads.first_lane[roads[1]])
    stops = [Stop(lane, at, seconds) for at, seconds in halts]
    return Trip(name, depart, kind, roads, stops=stops)
