"""The state of a simulation: what every phase of a frame reads and writes, and nothing that watches."""

from dataclasses import replace
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.address_tables import forget_states
from rushhour.kernels.core.order import BLOCK, sort_all, sort_by_lane
from rushhour.kernels.core.repacking import plan_moves
from rushhour.kernels.core.vehicles import MAX_LANES, TASKS, Types, Vehicles
from rushhour.kernels.driving.moving import TALLY_COLUMNS, TALLY_STOPS_MISSED
from rushhour.kernels.junctions.critical_gaps import RING_ROADS, find_critical_gaps, find_unposted
from rushhour.kernels.junctions.permissive_places import find_pockets
from rushhour.kernels.junctions.ring_entries import find_ring_entries
from rushhour.kernels.rerouting.detours import look_again_all
from rushhour.kernels.routing.way_ahead import DEPTH
from rushhour.roadnets.facts import fact_line
from rushhour.roadnets.model import Network
from rushhour.roadnets.opposites import one_way_roads, opposite_lanes
from rushhour.roadnets.partings import partings_of
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.measures.trip_log import ARRIVED, CUT_SHORT, TripLog
from rushhour.traffic.ranks.domain import Domain
from rushhour.traffic.settings.own_models import OwnModels
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.settings.quotas import Quotas
from rushhour.traffic.sim import state
from rushhour.traffic.sim.awake import new_awake
from rushhour.traffic.sim.fields import VEHICLE, with_room
from rushhour.traffic.sim.signal_control import controlled, sure_turns
from rushhour.traffic.sim.verge import Verge

CAPACITY: Final = 1024  # vehicles, at first
REPACK_EVERY: Final = 64  # frames within which every part of the slots is re-packed, one in each
REPACK_FROM: Final = 4096  # vehicles; below, everything is in cache anyway

OffOrOn = tuple[int, float, float, float, float]


class BySlot(Protocol):
    """Arrays of a part that have a row for each slot of the vehicles."""

    def columns(self) -> list[NDArray[Any]]:
        """All of them."""

    def grow(self, capacity: int) -> None:
        """Have room for more vehicles."""


class Sim:
    """Network, demand, parameters, and all that a frame changes.

    network: as it is now, with closures and limits; whole: as it was given; limited: with the limits
    of now, every lane open. demand: with those who joined; first_demand: as it was given.
    """

    def __init__(
        self, network: Network, demand: Demand, parameters: Parameters, models: OwnModels,
        dt: float, seed: int, begin: float, comm: Any = None,
        parts: NDArray[np.int64] | None = None,
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
        # Who was taken off the road in this frame, to the side or for ever, and who came back onto
        # it: by id their road (-1 in an intersection), and distance, ideal, waited, stopped by then.
        self.taken_off: dict[int, OffOrOn] = {}
        self.put_back_on: dict[int, OffOrOn] = {}
        self.quotas = Quotas(parameters)
        self.followers: list[BySlot] = []  # what else has a row for each slot
        self._make_arrays(comm, parts)

    def _make_arrays(self, comm: Any, parts: NDArray[np.int64] | None) -> None:
        net = self.network.arrays
        self.types = self.types_seen()
        self.trips = state.trip_arrays(self.demand)
        self.veh = state.new_vehicles(CAPACITY)
        self.n = 0  # of the order: on the road as the frame began
        self.moves = state.new_moves(CAPACITY)
        self._packed: Vehicles | None = None  # whose columns are in _columns
        self._columns: state.Columns = ()
        self.order = state.new_order(self.network.n_lanes, CAPACITY)
        self.other_order = state.other_order(self.order)
        self.grants = state.new_grants(net)
        one_way, way = one_way_roads(self.network), np.zeros((RING_ROADS, 3), np.int64)
        find_critical_gaps(
            net, one_way, self.parameters.critical_gaps(), self.network.left_hand, way,
            self.grants.critical_gap, self.grants.zips,
        )  # fmt: skip
        find_unposted(net, np.zeros(one_way.size, np.bool_), self.grants.unposted)
        find_ring_entries(net, one_way, way, self.grants.on_ring, self.grants.ring_entry)
        self.routes = state.route_arrays(
            self.demand, self.network.n_lanes, self.grants.on_ring[net.roads.first_lane],
            self.begin, self.dt,
        )  # fmt: skip
        if self.parameters["passing.oncoming"]:
            self.grants.opposite[:] = opposite_lanes(self.network)
        self.partings = partings_of(self.network)
        find_pockets(
            net, self.network.left_hand, *self.partings, self.grants.pocket, self.grants.let_past
        )
        self.passes = np.zeros(-(-self.network.n_road_lanes // BLOCK), np.int64)
        self.waiting = state.new_waiting(net, len(self.demand), CAPACITY)
        self.closed = np.zeros(self.network.n_road_lanes, np.bool_)
        self.will_close = self.closed.copy()  # when the commands given so far are applied
        self.reroutes = np.zeros(len(self.demand), np.int32)  # by trip
        self.cut_short = np.zeros(len(self.demand), np.bool_)  # trips that end before a closed end
        self.awake = new_awake(net)
        self.members = state.program_members(net)
        self.lit, self.actuation, self.clearing = controlled(self.whole, self.parameters)
        self.grants.sure_turn[:] = sure_turns(self.lit, self.actuation)
        self.lights = state.new_lights(self.actuation)
        self.efforts = np.zeros((TASKS, 2 * (DEPTH + 1), MAX_LANES))
        self.tallies = np.zeros((TASKS, TALLY_COLUMNS), np.int64)
        self.changes = np.zeros(TASKS, np.int64)
        self.domain = Domain(self, comm, parts)

    def anew(self, seed: int) -> "Sim":
        """The state before the first frame, as it was given."""
        return Sim(
            self.whole, self.first_demand, self.parameters, self.models, self.dt, seed, self.begin,
            self.domain.comm, self.domain.parts,
        )  # fmt: skip

    def __repr__(self) -> str:
        facts = {"frame": self.frame, "vehicles": self.active, "roads": len(self.network.road_ids)}
        return fact_line("Sim", facts)

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

    @property
    def aside(self) -> int:
        """Vehicles at the side of the road."""
        return len(self.verge)

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

    def sort(self) -> None:
        """Rebuild the order, and re-pack a part of the slots by it."""
        self.n = sort_by_lane(self.veh, self.order, self.domain.blocks, self.n)
        self.order, self.other_order = self.other_order, self.order
        if self.n >= REPACK_FROM or self.frame == 0:  # in the first frame, to compile it
            self._repack(self.frame % REPACK_EVERY)
        sort_all(self.veh, self.network.arrays.lanes, self.order)

    def _repack(self, part: int) -> None:
        """Bring the vehicles of one part of the order into the slots of their places."""
        veh, n = self.veh, self.n
        first, last = n * part // REPACK_EVERY, n * (part + 1) // REPACK_EVERY
        count = plan_moves(veh.lane, self.order, self.waiting, first, last, self.moves)
        if self._packed is not veh:
            others = [array for array in veh if array is not veh.lane]
            for follower in self.followers:
                others += follower.columns()
            self._columns = state.by_width(others)
            self._packed = veh
        state.repack(self._columns, self.moves, count)

    def grow(self) -> None:
        """Double the places for vehicles."""
        capacity = 2 * self.veh.lane.size
        self.veh = with_room(self.veh, VEHICLE, capacity)
        self.moves = state.new_moves(capacity)
        for follower in self.followers:
            follower.grow(capacity)
        self.order = with_room(self.order, VEHICLE, capacity)
        self.other_order = state.other_order(self.order)
        self.waiting = with_room(self.waiting, VEHICLE, capacity)
        # Whoever remembers the arrays of before would keep as much memory again.
        self._packed, self._columns = None, ()
        forget_states()

    # --- vehicles --------------------------------------------------------------------------

    def look_again(self, slots: NDArray[np.int32]) -> None:
        """Let the drivers in some slots plan their lanes anew."""
        look_again_all(
            self.network.arrays, self.veh, self.types, self.routes, self.order, slots, self.seed,
            self.efforts[0],
        )  # fmt: skip

    def log_trips(
        self, veh: Vehicles, rows: NDArray[np.int32], now: float, ended: int = ARRIVED
    ) -> None:
        """Write finished trips into the log. now: s."""
        trip = veh.trip[rows]
        how = np.where(self.cut_short[trip] & (ended == ARRIVED), CUT_SHORT, ended)
        self.trip_log.add(veh, rows, self.begin, now, self.dt, self.reroutes[trip], how)

    def queued_trips(self) -> NDArray[np.int32]:
        """Trips that are due and have not departed, ascending."""
        waits = np.arange(len(self.demand)) < int(self.waiting.numbers[0])
        waits[len(self.first_demand) :] = True
        waits[[number for _, number in self.to_depart]] = False
        waits[self.domain.departed()] = False
        waits[self.verge.rows.trip] = False
        waits[self.trip_log.trip] = False
        return np.flatnonzero(waits).astype(np.int32)
