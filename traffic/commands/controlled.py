"""What the parts of `World` that change it from outside need of it."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.max_pressure import Clearing
from rushhour.kernels.moving import TALLY_STOPS_MISSED
from rushhour.kernels.network import Actuation, NetworkArrays
from rushhour.kernels.signals import Lights
from rushhour.kernels.trips import Trips, Waiting
from rushhour.kernels.vehicles import Grants, Order, Routes, Types, Vehicles
from rushhour.kernels.waking import Awake
from rushhour.roadnets.model import Network
from rushhour.traffic.commands.log import CommandLog
from rushhour.traffic.commands.verge import Verge
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.measures.trip_log import ARRIVED, TripLog
from rushhour.traffic.quotas import Quotas
from rushhour.traffic.routing.minds import Minds

if TYPE_CHECKING:
    from rushhour.traffic.commands.signalling import SignalControl
    from rushhour.traffic.outside.bodies import Bodies
    from rushhour.traffic.parameters import Parameters
    from rushhour.traffic.routing.choosing import Choosing
    from rushhour.traffic.routing.detours import Detours
    from rushhour.traffic.routing.rerouting import Rerouting


class Controlled:
    """The state of a `World`, as its parts see it."""

    network: Network
    demand: Demand
    parameters: "Parameters"
    trips: TripLog
    tally: NDArray[np.int64]
    dt: float
    seed: int
    begin: float
    frame: int
    _veh: Vehicles
    _types: Types
    _routes: Routes
    _order: Order
    _grants: Grants
    _lit: NetworkArrays  # the network with the phases that its signals have now
    _actuation: Actuation
    _clearing: Clearing
    _lights: Lights
    signals: "SignalControl"
    _waiting: Waiting
    _awake: Awake
    _trips: Trips
    _efforts: NDArray[np.float64]
    _n: int
    _minds: Minds
    _detours: "Detours"
    _rerouting: "Rerouting"
    _choosing: "Choosing"
    _whole: Network  # as it was given
    _limited: Network  # with the limits of now
    _even: NDArray[np.float64]  # ones, by road
    _to_depart: list[tuple[float, int]]
    _verge: Verge
    commands: CommandLog
    bodies: "Bodies"
    _quotas: Quotas

    @property
    def time(self) -> float:
        """Simulated time, s: that of the frame that comes next."""
        return self.begin + self.frame * self.dt

    def _grow(self) -> None:
        """Double the places for vehicles."""
        raise NotImplementedError

    def _log_trips(
        self, veh: Vehicles, rows: NDArray[np.int32], now: float, ended: int = ARRIVED
    ) -> None:
        """Write finished trips into the log."""
        raise NotImplementedError

    def _miss_stop(self) -> None:
        """Count a stop as missed."""
        self.tally[TALLY_STOPS_MISSED] += 1
