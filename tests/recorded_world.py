"""A stand-in for a World whose vehicles drive by a formula, to test what observes it."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from rushhour.kernels.core.vehicles import Vehicles
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.commands.log import CommandLog
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.measures.trip_log import TripLog
from rushhour.traffic.settings.own_models import OwnModels
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.sim.state import new_vehicles
from rushhour.traffic.sim.verge import Verge
from rushhour.traffic.stepping.costs import Costs


class FormulaWorld:
    """n vehicles on one straight road; vehicle i is at 7 i + 2 t, in slots that rotate."""

    def __init__(self, n: int = 5, dt: float = 0.25, begin: float = 100.0) -> None:
        self.n, self.dt, self.begin, self.seed, self.frame = n, dt, begin, 3, 0
        self.sim = self  # what recorders ask of either
        self.network = self.whole = generate("straight")
        self.parameters = Parameters({"car.time_gap": 1.2})
        kind = self.parameters.vehicle_type("bus")
        builder = DemandBuilder()
        for i in range(n):
            builder.add(Trip(f"veh,{i}", float(i), kind, [0]))
        self.demand = builder.build()
        self.observers: list[Any] = []
        self.costs = Costs()
        self.rings = SimpleNamespace(named=[])
        self.models = OwnModels()
        self.routing = SimpleNamespace(
            minds=SimpleNamespace(changed=0),
            detours=SimpleNamespace(total=0, reroutes=np.zeros(n, np.int32)),
        )
        self.grants = SimpleNamespace(light=np.zeros(0, np.uint8))
        self.trips = self.trip_log = TripLog()
        self.verge = Verge()
        self.domain = SimpleNamespace(ranks=1, rank=0)
        self.commands = CommandLog()
        self.bodies = SimpleNamespace(listeners=[])
        self.steering = SimpleNamespace(on=False)
        self.calibration: dict[str, Any] = {}

    def quotas(self) -> dict[str, Any]:
        return {}

    @property
    def first_demand(self) -> Demand:
        return self.demand

    @property
    def time(self) -> float:
        return self.begin + self.frame * self.dt

    @property
    def veh(self) -> Vehicles:
        """The first `frame` vehicles at most are there, so that counts change."""
        there = min(self.n, self.frame)
        ids = np.roll(np.arange(there, dtype=np.int32), self.frame)
        veh = new_vehicles(there)
        return veh._replace(
            id=ids,
            lane=np.zeros(there, np.int32),
            s=7.0 * ids + 2.0 * self.frame * self.dt,
            lateral=0.1 * ids,
            speed=np.full(there, 2.0),
            reason=(ids % 3).astype(np.uint8),
        )

    def step(self, n: int = 1) -> None:
        for _ in range(n):
            self.frame += 1
            for observer in self.observers:
                observer.observe()
