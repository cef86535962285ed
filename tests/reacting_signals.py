"""Crossings whose signals react, and what they showed."""

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np
from network_drafts import crossing

from rushhour.kernels.core.network import SIGNAL
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import DraftActuation, DraftSignal
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import Demand, VehicleType
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

CAR = VehicleType(speed_dev=0.0)
EAST_WEST, NORTH_SOUTH = "GGgrrrGGgrrr", "rrrGGgrrrGGg"
PHASES = [
    (20.0, EAST_WEST), (3.0, "yyyrrryyyrrr"), (2.0, "r" * 12),
    (20.0, NORTH_SOUTH), (3.0, "rrryyyrrryyy"), (2.0, "r" * 12),
]  # fmt: skip


def limits(least: float = 5.0, most: float = 50.0) -> list[tuple[float, float]]:
    """Times of PHASES: those of the two greens as given."""
    return [(least, most) if time == 20.0 else (time, time) for time, _ in PHASES]


def actuated(plan: DraftActuation | None, lanes: int = 1, phases=PHASES) -> Network:
    """A crossing of four roads of 90 m; link 3 a + b is movement b of arm a (e, n, w, s)."""
    draft = crossing(SIGNAL, lanes)
    draft.signals.append(DraftSignal("t", phases, 0.0, plan))
    for i, connector in enumerate(draft.connectors):
        connector.signal, connector.link = "t", i // lanes
    return finish(draft)


def straight(network: Network, times: Iterable[float], start: str, end: str) -> list[Trip]:
    """Cars from one arm to another, departing at full speed at these times, s."""
    roads = [network.road_index[name] for name in (f"in_{start}", f"out_{end}")]
    return [Trip(f"{start}{i}", t, CAR, roads) for i, t in enumerate(times)]


def world_of(
    network: Network, trips: Sequence[Trip] | Demand, dt: float = 0.25, **parameters: object
) -> World:
    """A world that begins at 0 s; parameters of the group `signals`."""
    given = Parameters({f"signals.{name}": value for name, value in parameters.items()})
    if not isinstance(trips, Demand):
        builder = DemandBuilder()
        for trip in trips:
            builder.add(trip)
        trips = builder.build()
    return World(network, trips, parameters=given, dt=dt, seed=1, begin=0.0)


class Shown:
    """Remembers which phase each frame showed."""

    def __init__(self, world: World, program: int = 0) -> None:
        self.world, self.program = world, program
        self.phases: list[int] = []
        world.observers.append(self)

    def observe(self) -> None:
        self.phases.append(int(self.world.sim.lights.phase[self.program]))

    def runs(self) -> list[tuple[int, float]]:
        """Phases in turn and how long each was shown, s, without the last."""
        found = [(p, len(list(frames))) for p, frames in groupby(self.phases)]
        return [(p, n * self.world.dt) for p, n in found[:-1]]

    def times(self, phase: int) -> list[float]:
        """How long each run of a phase lasted, s."""
        return [time for p, time in self.runs() if p == phase]


def ran(world: World, seconds: float) -> Shown:
    """The phases of so many seconds."""
    shown = Shown(world)
    world.step(round(seconds / world.dt))
    return shown


def travel_times(world: World, prefix: str) -> np.ndarray:
    """Times from the wish to depart to the arrival of those whose id begins so, s."""
    trips, demand = world.trips, world.demand
    chosen = [i for i, t in enumerate(trips.trip) if demand.ids[t].startswith(prefix)]
    return (trips.arrived - demand.depart[trips.trip])[chosen]
