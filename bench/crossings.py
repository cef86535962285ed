"""One crossing under load: what each of its streams carries, and how long its vehicles wait.

The figures that docs/validation.md compares with published ones are taken with these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.model import Network
from rushhour.traffic.checker import Checker
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import LANE_FIRST, SPEED_MAX, VehicleType
from rushhour.traffic.routing.routes import route_demand
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

FULL = 2400.0  # veh/h that want to enter a lane that shall always have a queue


@dataclass(frozen=True)
class Source:
    """Vehicles that come in by a road. rate: veh/h. turns: weight of each road they leave by.

    random: Poisson arrivals; else evenly spaced (a queue that never ends has no use for chance).
    """

    road: str
    rate: float
    turns: Mapping[str, float]
    random: bool = True


def queue(road: str, **turns: float) -> Source:
    """A road whose lane always has a queue."""
    return Source(road, FULL, turns, random=False)


@dataclass(frozen=True)
class Passed:
    """Trips that left in the time measured, one row each."""

    hours: float
    entry: NDArray[np.str_]  # road by which it came
    exit: NDArray[np.str_]
    delay: NDArray[np.float64]  # s beyond the time of an empty crossing, with the wait to enter
    left: NDArray[np.float64]  # s, when
    line_delay: NDArray[np.float64]  # s of the delay lost before the line; inf where nobody looked
    violations: dict[str, int]

    def flow(self, entry: str = "", exit: str = "") -> float:
        """Vehicles an hour, from a road, to a road."""
        return self._count(entry, exit).sum() / self.hours

    def mean_delay(self, entry: str = "", exit: str = "") -> float:
        """Mean delay, s."""
        return float(self.delay[self._count(entry, exit)].mean())

    def _count(self, entry: str, exit: str) -> NDArray[np.bool_]:
        found = np.ones(self.entry.size, np.bool_)
        if entry:
            found &= self.entry == entry
        if exit:
            found &= self.exit == exit
        return found


class _Lines:
    """Notes when each trip was first seen beyond its line."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.crossed = np.full(len(world.demand), np.inf)

    def observe(self) -> None:
        table = self.world.vehicles
        on = table.lane >= self.world.network.n_road_lanes
        inside, speed = table.trip[on], np.maximum(table.speed[on], 1.0)
        # The line was passed within the frame.
        self.crossed[inside] = np.minimum(
            self.crossed[inside], self.world.time - table.s[on] / speed
        )


def load(
    network: Network,
    sources: Sequence[Source],
    *,
    warm: float = 300.0,
    measured: float = 3600.0,
    seed: int = 1,
    dt: float = 0.25,
    kind: VehicleType | None = None,
    parameters: Mapping[str, Any] | None = None,
    lane: int = LANE_FIRST,
    lines: bool = False,
) -> Passed:
    """Let streams meet for `warm` + `measured` seconds; what passed in the latter, checked.

    lane: on which they depart, see traffic.demand.model. lines: note when each crosses its line.
    """
    kind = kind or VehicleType(speed_dev=0.0)
    draw = np.random.default_rng(seed)
    builder = DemandBuilder()
    end = warm + measured
    for source in sources:
        n = round(source.rate * end / 3600.0)
        times = np.sort(draw.uniform(0.0, end, n)) if source.random else np.linspace(0.0, end, n)
        weights = np.array(list(source.turns.values()))
        exits = draw.choice(list(source.turns), n, p=weights / weights.sum())
        for at, exit in zip(times, exits, strict=True):
            ends = [network.road_index[source.road], network.road_index[str(exit)]]
            builder.add(
                Trip(
                    f"{source.road} {exit} {at}", float(at), kind, ends, routed=False,
                    depart_speed_kind=SPEED_MAX, depart_lane=lane,
                )
            )  # fmt: skip
    demand = route_demand(network, builder.build())
    world = World(network, demand, dt=dt, seed=seed, begin=0.0, parameters=Parameters(parameters))
    checker = Checker(world)
    crossing = _Lines(world)
    world.observers += [checker, crossing] if lines else [checker]
    world.step(round(end / dt))
    log = world.trips
    rows = np.flatnonzero(log.arrived > warm)
    trip = log.trip[rows]
    names = np.array(network.road_ids)
    entry = demand.roads[demand.route_start[trip]]
    lane = network.arrays.roads.first_lane[entry]
    free = (network.arrays.roads.length[entry] - kind.length) / network.arrays.lanes.speed[lane]
    waited = log.departed[rows] - demand.depart[trip]
    return Passed(
        hours=measured / 3600.0,
        entry=names[entry],
        exit=names[demand.roads[demand.route_start[trip + 1] - 1]],
        delay=log.time_loss[rows] + waited,
        left=log.arrived[rows],
        line_delay=crossing.crossed[trip] - demand.depart[trip] - free,
        violations=dict(checker.violations),
    )


def alike(**changes: float) -> VehicleType:
    """A car whose drivers all want the same speed."""
    return replace(VehicleType(speed_dev=0.0), **changes)
