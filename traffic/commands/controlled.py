"""What the parts of `World` that change it from outside need of it."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.vehicles import Vehicles
from rushhour.roadnets.model import Network
from rushhour.traffic.commands.log import CommandLog
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.measures.trip_log import ARRIVED, TripLog
from rushhour.traffic.own_models import OwnModels

if TYPE_CHECKING:
    from rushhour.traffic.commands.signalling import SignalControl
    from rushhour.traffic.outside.bodies import Bodies
    from rushhour.traffic.parameters import Parameters
    from rushhour.traffic.routing.routing import Routing
    from rushhour.traffic.sim.sim import Sim


class Controlled:
    """The state of a `World`, as its parts see it."""

    sim: "Sim"
    routing: "Routing"
    signals: "SignalControl"
    commands: CommandLog
    bodies: "Bodies"

    @property
    def network(self) -> Network:
        """The network as it is now, with closures and limits."""
        return self.sim.network

    @property
    def demand(self) -> Demand:
        """All trips, with those who joined."""
        return self.sim.demand

    @property
    def parameters(self) -> "Parameters":
        """The parameters."""
        return self.sim.parameters

    @property
    def models(self) -> OwnModels:
        """What everybody drives by."""
        return self.sim.models

    @property
    def trips(self) -> TripLog:
        """The finished trips."""
        return self.sim.trip_log

    @property
    def tally(self) -> NDArray[np.int64]:
        """Totals that kernels count, by TALLY of kernels.moving."""
        return self.sim.tally

    @property
    def dt(self) -> float:
        """s per frame."""
        return self.sim.dt

    @property
    def seed(self) -> int:
        """Of all draws."""
        return self.sim.seed

    @property
    def begin(self) -> float:
        """s, time of frame 0."""
        return self.sim.begin

    @property
    def frame(self) -> int:
        """The frame that comes next."""
        return self.sim.frame

    @property
    def time(self) -> float:
        """Simulated time, s: that of the frame that comes next."""
        return self.sim.time

    @property
    def departed(self) -> int:
        """Vehicles that have come onto the road."""
        return self.sim.departed

    @property
    def removed(self) -> int:
        """Vehicles taken out of the world by commands."""
        return self.sim.removed

    @property
    def vehicle_updates(self) -> int:
        """Vehicles on the road, summed over the frames."""
        return self.sim.vehicle_updates

    @property
    def active(self) -> int:
        """Vehicles on the road, those at its side included."""
        return self.sim.active

    @property
    def arrived(self) -> int:
        """Vehicles that have reached their end."""
        return self.sim.arrived

    @property
    def waiting_to_depart(self) -> int:
        """Trips that are due and wait outside for room."""
        return self.sim.waiting_to_depart

    def _grow(self) -> None:
        """Double the places for vehicles."""
        raise NotImplementedError

    def _log_trips(
        self, veh: Vehicles, rows: NDArray[np.int32], now: float, ended: int = ARRIVED
    ) -> None:
        """Write finished trips into the log."""
        raise NotImplementedError
