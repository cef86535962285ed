"""A closed ring on which every car has its place: where nothing but following matters."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import POS_GIVEN, VehicleType
from rushhour.traffic.world import World

LENGTH = 5.0  # m of every car


def car(v0: float, time_gap: float, min_gap: float, accel: float, decel: float) -> VehicleType:
    """A type without spread whose desired speed is v0 on roads with a higher limit."""
    return VehicleType(
        max_speed=v0, time_gap=time_gap, min_gap=min_gap, accel=accel, decel=decel,
        length=LENGTH, speed_dev=0.0,
    )  # fmt: skip


def equilibrium_speed(gap: float, v0: float, time_gap: float, min_gap: float) -> float:
    """Speed at which IDM keeps a gap behind somebody as fast."""
    low, high = 0.0, v0
    while high - low > 1e-13:
        mid = 0.5 * (low + high)
        wide = (min_gap + mid * time_gap) / sqrt(1.0 - (mid / v0) ** 4) >= gap
        low, high = (low, mid) if wide else (mid, high)
    return low


def put(world: World, s: NDArray[np.float64], speed: float | NDArray[np.float64]) -> None:
    """Move every car, by its number in the demand, along its lane, and set its speed."""
    slots = np.flatnonzero(world.sim.veh.lane >= 0)
    number = world.sim.veh.id[slots]
    world.sim.veh.s[slots] = s[number]
    world.sim.veh.speed[slots] = np.broadcast_to(speed, s.shape)[number]


class ClosedRing:
    """n cars evenly spaced on a ring, number 0 the last of its row: x grows with the number."""

    def __init__(self, circumference: float, n: int, kind: VehicleType, dt: float) -> None:
        network = generate("ring", circumference=circumference, speed=50.0)
        net = network.arrays
        lane, at = int(net.roads.first_lane[0]), 0.0
        self.begins = np.full(network.n_lanes, np.nan)  # m along the ring, of each lane
        while np.isnan(self.begins[lane]):
            self.begins[lane] = at
            at += net.lanes.length[lane]
            if lane < network.n_road_lanes:
                lane = network.n_road_lanes + int(net.lanes.out_start[lane])
            else:
                lane = int(net.connectors.to_lane[lane - network.n_road_lanes])
        self.length = at
        self.n = n
        self.x = self._places(network.n_road_lanes)
        builder = DemandBuilder()
        for i, x in enumerate(self.x):
            lane = self._lane(x)
            builder.add(
                Trip(
                    str(i), 0.0, kind, [int(net.lanes.road[lane])], walker=True,
                    depart_pos=x - self.begins[lane], depart_pos_kind=POS_GIVEN,
                )
            )  # fmt: skip
        self.world = World(network, builder.build(), dt=dt, seed=1)
        self.world.step()
        assert self.world.active == n

    def _lane(self, x: float) -> int:
        return int(np.argmax(np.where(self.begins <= x, self.begins, -1.0)))

    def _places(self, n_road_lanes: int) -> NDArray[np.float64]:
        """Places off the short connectors between the roads, where nobody can depart."""
        even = np.arange(self.n) * self.length / self.n
        for shift in np.linspace(1.0, self.length / self.n, 20):
            x = (even + shift) % self.length
            if all(self._lane(place) < n_road_lanes for place in x):
                return np.asarray(x)
        raise AssertionError("no place for all on the ring's roads")

    def put(self, moved: NDArray[np.float64], speed: float) -> None:
        """Set all to their even places, each moved on by some metres, and to one speed."""
        begins = np.array([self.begins[self._lane(x)] for x in self.x])
        put(self.world, self.x - begins + moved, speed)

    def now(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Places along the ring and speeds, by number."""
        table = self.world.vehicles
        order = np.argsort(table.id)
        return (self.begins[table.lane] + table.s)[order], table.speed[order]
