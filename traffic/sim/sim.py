"""The state of a simulation: what every phase of a frame reads and writes, and nothing that watches."""

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.critical_gaps import RING_ROADS, find_critical_gaps
from rushhour.kernels.moving import TALLY_COLUMNS, TALLY_STOPS_MISSED
from rushhour.kernels.overtaking import PASS_LANES
from rushhour.kernels.planning import DEPTH
from rushhour.kernels.pockets import find_pockets
from rushhour.kernels.vehicles import MAX_LANES, TASKS, Types
from rushhour.roadnets.model import Network
from rushhour.roadnets.opposites import opposite_lanes
from rushhour.roadnets.partings import partings_of
from rushhour.traffic import state
from rushhour.traffic.awake import new_awake
from rushhour.traffic.commands.verge import Verge
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.measures.trip_log import TripLog
from rushhour.traffic.own_models import OwnModels
from rushhour.traffic.parameters import Parameters
from rushhour.traffic.quotas import Quotas
from rushhour.traffic.signal_control import controlled

CAPACITY: Final = 1024  # vehicles, at first
REPACK_EVERY: Final = 64  # frames within which every part of the slots is re-packed, one in each
REPACK_FROM: Final = 4096  # vehicles; below, everything is in cache anyway


class Sim:
    """Network, demand, parameters, and all that a frame changes.

    network: as it is now, with closures and limits; whole: as it was given; limited: with the limits
    of now, every lane open. demand: with those who joined; first_demand: as it was given.
    """

    def __init__(
        self, network: Network, demand: Demand, parameters: Parameters, models: OwnModels,
        dt: float, seed: int, begin: float,
    ) -> None:  # fmt: skip
        self.network = self.whole = self.limited = network
        self.demand = self.first_demand = demand
        self.parameters, self.models = parameters, models
        self.dt, self.seed, self.begin = dt, seed, begin  # s, -, s
        self.rules = parameters.rules(network.left_hand)
        self.frame = 0
        self.departed = 0
        self.removed = 0  # vehicles taken out of the world by commands
        self.vehicle_updates = 0
        self.tally: NDArray[np.int64] = np.zeros(TALLY_COLUMNS, np.int64)
        self.trip_log = TripLog()
        self.verge = Verge()
        self.told = 0  # how many were told something
        self.to_depart: list[tuple[float, int]] = []  # when, and number: who joined and is not due
        self.quotas = Quotas(parameters)
        self._make_arrays()

    def _make_arrays(self) -> None:
        net = self.network.arrays
        self.types = self.types_seen()
        self.trips = state.trip_arrays(self.demand)
        self.routes = state.route_arrays(self.demand, self.network.n_lanes, self.begin, self.dt)
        self.veh = state.new_vehicles(CAPACITY)
        self.n = 0  # of the order: on the road as the frame began
        self.moves = state.new_moves(CAPACITY)
        self.order = state.new_order(self.network.n_lanes, CAPACITY)
        self.other_order = state.other_order(self.order)
        self.grants = state.new_grants(net)
        find_critical_gaps(
            net, self.parameters.critical_gaps(), self.network.left_hand,
            np.zeros((RING_ROADS, 3), np.int64), self.grants.critical_gap, self.grants.zips,
        )  # fmt: skip
        if self.parameters["passing.oncoming"]:
            self.grants.opposite[:] = opposite_lanes(self.network)
        self.partings = partings_of(self.network)
        find_pockets(
            net, self.network.left_hand, *self.partings, self.grants.pocket, self.grants.let_past
        )
        self.passes = np.zeros(-(-self.network.n_road_lanes // PASS_LANES), np.int64)
        self.waiting = state.new_waiting(net, len(self.demand), CAPACITY)
        self.awake = new_awake(net)
        self.members = state.program_members(net)
        self.lit, self.actuation, self.clearing = controlled(self.whole, self.parameters)
        self.lights = state.new_lights(self.actuation)
        self.efforts = np.zeros((TASKS, 2 * (DEPTH + 1), MAX_LANES))
        self.tallies = np.zeros((TASKS, TALLY_COLUMNS), np.int64)
        self.changes = np.zeros(TASKS, np.int64)

    # --- time and totals -------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated time, s: that of the frame that comes next."""
        return self.begin + self.frame * self.dt

    @property
    def arrived(self) -> int:
        """Vehicles that have reached their end."""
        return len(self.trip_log) - self.removed

    @property
    def active(self) -> int:
        """Vehicles on the road, those at its side included."""
        return self.departed - self.arrived - self.removed

    @property
    def joined_due(self) -> int:
        """How many of those who joined have come due."""
        return len(self.demand) - len(self.first_demand) - len(self.to_depart)

    @property
    def waiting_to_depart(self) -> int:
        """Trips that are due and wait outside for room."""
        return int(self.waiting.numbers[0]) + self.joined_due - self.departed

    def miss_stop(self) -> None:
        """Count a stop as missed."""
        self.tally[TALLY_STOPS_MISSED] += 1

    # --- places ----------------------------------------------------------------------------

    def types_seen(self) -> Types:
        """The vehicle types as kernels see them; a reaction that was given is everybody's."""
        types = self.demand.types
        if self.parameters.given("right_of_way.green_reaction"):
            reaction = self.parameters.number("right_of_way.green_reaction")
            types = tuple(replace(kind, green_reaction=reaction) for kind in types)
        return self.models.assigned(types, state.type_arrays(types))
