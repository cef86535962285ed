"""The world: a network, its demand, and the frame that steps them.

`World.step` is the frame, readable from top to bottom; each phase is one line and is timed.
"""

import weakref
from collections.abc import Callable, Mapping
from math import inf
from threading import RLock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.critical_gaps import RING_ROADS, find_critical_gaps
from rushhour.kernels.departing import depart, queue_due, release_left
from rushhour.kernels.moving import (
    TALLY_COLUMNS,
    collect_tallies,
    move_all,
)
from rushhour.kernels.order import (
    sort_all,
    sort_by_lane,
    splice_new,
)
from rushhour.kernels.overtaking import PASS_LANES, pass_all
from rushhour.kernels.passing import forget_states
from rushhour.kernels.planning import DEPTH
from rushhour.kernels.pockets import find_pockets
from rushhour.kernels.repacking import plan_moves
from rushhour.kernels.right_of_way import grant_all
from rushhour.kernels.switching import switch_lights
from rushhour.kernels.vehicles import MAX_LANES, TASKS, Vehicles
from rushhour.kernels.waking import wake_all
from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.facts import Shown
from rushhour.roadnets.gate import let_in
from rushhour.roadnets.model import Network
from rushhour.roadnets.opposites import opposite_lanes
from rushhour.roadnets.partings import partings_of
from rushhour.traffic import state
from rushhour.traffic.awake import new_awake
from rushhour.traffic.commands.signalling import SignalControl
from rushhour.traffic.costs import PHASES, Costs
from rushhour.traffic.demand.model import Demand, empty_demand
from rushhour.traffic.durations import clock, seconds
from rushhour.traffic.forking import refuse_after_fork
from rushhour.traffic.looping import Looping
from rushhour.traffic.measures.trip_log import ARRIVED, CUT_SHORT, TripLog
from rushhour.traffic.numbers import LATEST, bounded, whole_frames, whole_seed
from rushhour.traffic.outside.bodies import Bodies
from rushhour.traffic.outside.poses import PoseKeeper
from rushhour.traffic.own_models import Given, own_models
from rushhour.traffic.pace import Pace
from rushhour.traffic.parameters import Parameters
from rushhour.traffic.quotas import Quotas, checked_quotas
from rushhour.traffic.readings import Readable, Readings
from rushhour.traffic.rings import Rings
from rushhour.traffic.routing.minds import MIND_PERIOD, Minds
from rushhour.traffic.routing.routes import route_demand
from rushhour.traffic.steering.tier import Steering
from rushhour.traffic.telling import Telling

ORDER, DEPART, SIGNALS, GRANT, LANES, DRIVE, STEER, MOVE, WATCH, RECORD, CHECK = range(len(PHASES))
REPACK_EVERY: Final = 64  # frames within which every part of the slots is re-packed, one in each
REPACK_FROM: Final = 4096  # vehicles; below, everything is in cache anyway
DT_RANGE: Final = (1.0 / 120.0, 0.5)


class World(Shown, Looping, Readable, Telling):
    """Traffic on a network.

    dt: s per frame, 1/120 .. 0.5. begin: s, time of frame 0 (default: the first departure).
    car_following: a function of numbers, plain or under `@njit`, that everybody follows by, or one for
    each of some vehicle types, by name; lane_change: one that says who wants another lane
    (docs/models.md). Both are compiled into the frame. quotas: most work of a kind in a frame, by
    name. budget: time a frame may take (s, or text as "16.6ms"): quotas that are not given are
    chosen for it, from a short run on this machine (docs/profiling.md). routing: "current", trips
    without a route choose theirs as they depart, by the travel times of then, or "free-flow", on empty
    roads; short for the parameter routing.choice.
    Raises ParameterError for a dt out of range and a function that cannot be compiled, NetworkError
    for a network whose arrays do not fit each other, DemandError for trips that cannot be routed or
    were made for another network.

    >>> world = World(network, demand, dt=0.25, seed=1)
    >>> world.step(40)
    """

    def __init__(
        self,
        network: Network,
        demand: Demand | None = None,
        *,
        parameters: Parameters | None = None,
        dt: float = 0.25,
        seed: int = 0,
        begin: float | None = None,
        car_following: Given = None,
        lane_change: Callable[..., Any] | None = None,
        quotas: Mapping[str, int] | None = None,
        budget: float | str | None = None,
        routing: str | None = None,
    ) -> None:
        if not DT_RANGE[0] - 1e-9 <= bounded(dt, "dt", 0.0, inf) <= DT_RANGE[1]:
            raise ParameterError(f"dt {dt:g} s: wanted 1/120 to 0.5 s; choose one in that range")
        refuse_after_fork()
        let_in(network)
        self.network = network
        self.parameters = parameters if parameters is not None else Parameters()
        if quotas:
            self.parameters = self.parameters.with_(**checked_quotas(quotas))
        if routing is not None:
            self.parameters = self.parameters.with_(**{"routing.choice": routing})
        self.dt = dt
        self.seed = whole_seed(seed)
        self.calibration: dict[str, Any] = {}  # what quotas were chosen from, for a budget
        if budget is not None:
            self._keep_to(seconds(budget, "budget"))
        self.models = own_models(car_following, lane_change)
        demand = demand if demand is not None else empty_demand()
        self.demand = self._first_demand = route_demand(network, demand)
        first = float(self.demand.depart[0]) if len(self.demand) else 0.0
        self.begin = first if begin is None else bounded(begin, "begin", -LATEST, LATEST)
        self._rules = self.parameters.rules(network.left_hand)
        self._turn, self._stepping = RLock(), False
        self._begin()
        weakref.finalize(self, forget_states)

    def _keep_to(self, budget: float) -> None:
        """Choose the quotas that were not given, for a time in s, from what work costs here."""
        from rushhour.traffic.profiling.calibrating import calibrate

        found = calibrate(self.network, self.parameters, self.dt, self.seed, budget)
        given = checked_quotas(found["quotas"])
        more = {name: most for name, most in given.items() if not self.parameters.given(name)}
        self.parameters = self.parameters.with_(**more)
        self.calibration = found

    def _begin(self) -> None:
        """Stand before the first frame."""
        self.frame = 0
        self.costs = Costs()
        self._pace = Pace()
        self.trips = TripLog()
        self.observers: list[Any] = []  # called after each frame: recorder, checker
        self._poses: PoseKeeper | None = None
        self._reader = Readings(self)
        self.bodies = Bodies(self)
        self.vehicle_updates = 0
        self.departed = 0
        self.tally: NDArray[np.int64] = np.zeros(TALLY_COLUMNS, np.int64)
        self._make_arrays()
        self._begin_controls()

    def _make_arrays(self) -> None:
        net = self.network.arrays
        capacity = 1024
        self._types = self._types_seen()
        self._trips = state.trip_arrays(self.demand)
        self._routes = state.route_arrays(self.demand, self.network.n_lanes, self.begin, self.dt)
        self._veh = state.new_vehicles(capacity)
        self._moves = state.new_moves(capacity)
        self._packed: Vehicles | None = None  # whose columns are in _columns
        self._columns: state.Columns = ()
        self._steering = Steering(self.network, self.demand.types, self.parameters, capacity)
        self._order = state.new_order(self.network.n_lanes, capacity)
        self._next_order = state.other_order(self._order)
        self._grants = state.new_grants(net)
        find_critical_gaps(
            net, self.parameters.critical_gaps(), self.network.left_hand,
            np.zeros((RING_ROADS, 3), np.int64), self._grants.critical_gap, self._grants.zips,
        )  # fmt: skip
        if self.parameters["passing.oncoming"]:
            self._grants.opposite[:] = opposite_lanes(self.network)
        self._partings = partings_of(self.network)
        find_pockets(
            net, self.network.left_hand, *self._partings, self._grants.pocket, self._grants.let_past
        )
        self._passes = np.zeros(-(-self.network.n_road_lanes // PASS_LANES), np.int64)
        self._waiting = state.new_waiting(net, len(self.demand), capacity)
        self._awake = new_awake(net)
        self._members = state.program_members(net)
        self.signals = SignalControl(self)
        self._lights = state.new_lights(self._actuation)
        self._efforts = np.zeros((TASKS, 2 * (DEPTH + 1), MAX_LANES))
        self._tallies = np.zeros((TASKS, TALLY_COLUMNS), np.int64)
        self._changes = np.zeros(TASKS, np.int64)
        number = self.parameters.number
        self._minds = Minds(
            self.network, self._routes, self.dt, number("gridlock.change_mind_after"),
            number("gridlock.turn_off_after"), number("gridlock.change_mind_share"),
            bool(self.parameters["gridlock.keep_routes"]), number("gridlock.turn_across_after"),
        )  # fmt: skip
        self._rings = Rings(
            self.network, str(self.parameters["gridlock.policy"]),
            number("gridlock.act_after"), self.dt, number("right_of_way.stop_offset"),
        )  # fmt: skip
        self._ring_frames = max(1, round(number("gridlock.wait_for_period") / self.dt))
        self._watch_frames = max(1, round(MIND_PERIOD / self.dt))
        self._quotas = Quotas(self.parameters)
        self._steering.waiting = self._quotas.steered
        self._n = 0

    # --- the frame -------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Step n frames.

        Raises RunError while another thread, or what observes a frame, steps this world, and in a
        fork of a process in which one was stepped.
        """
        refuse_after_fork()
        frames = whole_frames(n)
        with self._one_at_a_time(frames=True):
            self._pace.ask()
            for _ in range(frames):
                self._pace.begin()
                self._step_once()
                self._pace.end(self.costs.in_kernels(), self._n)

    def _step_once(self) -> None:
        self.costs.start()
        self._obey()
        bodies = self.bodies.take()
        net, rules, types = self.network.arrays, self._rules, self._types
        frame, dt, seed, costs = self.frame, self.dt, self.seed, self.costs
        self._sort()
        if bodies:
            self.bodies.meet()
        grants, awake = self._grants, self._awake
        if rules.passing_gain < inf:
            pass_all(
                net, self._veh, types, self._routes, self._order, grants, rules, self._passes,
                frame, dt,
            )  # fmt: skip
            if bodies:
                self.bodies.pass_by()
        costs.mark(ORDER)
        self._depart()
        veh, order, n = self._veh, self._order, self._n
        costs.mark(DEPART)
        switch_lights(
            self._lit, self._actuation, self._clearing, veh, order, *self._members, self._lights,
            self.signals._told, grants, rules.pressure_period, rules.min_green, self.time, frame,
            dt,
        )  # fmt: skip
        costs.mark(SIGNALS)
        wake_all(net, veh, order, awake, frame)
        if self._quotas.lanes.given:
            self._quotas.lanes.choose(net, veh, order, frame, awake.looks)
        grant_all(net, veh, types, order, grants, rules, awake, frame, dt, seed)
        costs.mark(GRANT)
        routes = self._routes
        self.models.choose_lanes_all(
            net, veh, types, routes, order, grants, rules, awake, self._changes, frame, dt
        )
        costs.mark(LANES)
        self.models.drive_all(
            net, veh, types, routes, order, grants, self._partings, rules, n, frame, dt, seed
        )
        if bodies:
            self.bodies.heed()
        costs.mark(DRIVE)
        if self._steering.on:
            self._steering.step(net, veh, types, order, rules, n, frame, dt, seed)
            costs.mark(STEER)
        move_all(
            net, veh, types, routes, order, rules, n, frame, dt, seed, self._tallies, self._efforts
        )
        self._arrive()
        costs.mark(MOVE)
        self._watch()
        costs.mark(WATCH)
        costs.count(n)
        self.vehicle_updates += n
        self.frame += 1
        for observer in self.observers:
            observer.observe()
            if getattr(observer, "steers", False):
                costs.mark(STEER)
            else:
                costs.mark(CHECK if getattr(observer, "is_checker", False) else RECORD)

    def _sort(self) -> None:
        """Rebuild the order, and re-pack a part of the slots by it."""
        veh, n = self._veh, self._n
        self._n = sort_by_lane(veh, self._order, n)
        self._order, self._next_order = self._next_order, self._order
        if self._n >= REPACK_FROM or self.frame == 0:  # in the first frame, to compile it
            self._repack(self.frame % REPACK_EVERY)
        sort_all(veh, self.network.arrays.lanes, self._order)

    def _repack(self, part: int) -> None:
        """Bring the vehicles of one part of the order into the slots of their places."""
        veh, n = self._veh, self._n
        first, last = n * part // REPACK_EVERY, n * (part + 1) // REPACK_EVERY
        count = plan_moves(veh.lane, self._order, self._waiting, first, last, self._moves)
        if self._packed is not veh:
            others = [array for array in veh if array is not veh.lane]
            self._columns = state.columns_to_pack(others + self._steering.columns())
            self._packed = veh
        state.repack(self._columns, self._moves, count)

    def _depart(self) -> None:
        """Queue the trips that are due and let those depart for whom there is room."""
        if self._verge.returning:
            self._come_back()
        self._choosing.choose()
        queue_due(
            self.network.arrays, self._types, self._routes, self._trips, self._waiting,
            self.time, self.seed, self._efforts[0],
        )  # fmt: skip
        self._queue_joined()
        most = self._quotas.vehicles.most
        while self._waiting.numbers[1] > 0 and self._n < most:
            new = depart(
                self.network.arrays, self._veh, self._types, self._routes, self._order,
                self._grants, self._waiting, self._trips, most - self._n, self._steering.on,
                self.frame, self.dt, self.seed, self._efforts[0],
            )  # fmt: skip
            full = new < 0
            new = -1 - new if full else new
            if new:
                splice_new(self._veh, self._order, new)
                self._n += new
                self.departed += new
            if self._n >= most:
                self._next_road_first()
            if not full:
                break
            self._grow()
        if self._quotas.vehicles.given:
            self._quotas.note_full(self._n, self.waiting_to_depart)

    def _next_road_first(self) -> None:
        """Let the road whose queue came first come last: places are few."""
        queues = self._waiting.busy[: int(self._waiting.numbers[1])]
        queues[:] = np.roll(queues, -1)

    def _grow(self) -> None:
        """Double the places for vehicles."""
        capacity = 2 * self._veh.lane.size
        self._veh = state.grown_vehicles(self._veh, capacity)
        self._moves = state.new_moves(capacity)
        self._steering.grow(capacity)
        self._order = self._order._replace(
            slot=state.grown(self._order.slot, capacity),
            spare=state.grown(self._order.spare, capacity),
        )
        self._next_order = state.other_order(self._order)
        self._waiting = self._waiting._replace(older=state.grown(self._waiting.older, capacity, -1))

    def _arrive(self) -> None:
        """Take those off the road who have reached their end."""
        left = collect_tallies(self._tallies, self.tally)
        if left or self.frame == 0:  # in the first frame nobody, so that no later one compiles it
            out = np.zeros(left, np.int32)
            release_left(self._veh, self._order, self._waiting, self._n, out)
            self._log_trips(self._veh, out, self.begin + (self.frame + 1) * self.dt)

    def _log_trips(
        self, veh: Vehicles, rows: NDArray[np.int32], now: float, ended: int = ARRIVED
    ) -> None:
        """Write finished trips into the log."""
        trip, detours = veh.trip[rows], self._detours
        short = detours.cut_short[trip] & (ended == ARRIVED)
        how = np.where(short, CUT_SHORT, ended)
        self.trips.add(veh, rows, self.begin, now, self.dt, detours.reroutes[trip], how)

    def _watch(self) -> None:
        """Now and then minds are changed, and rings looked for; drivers look for other ways."""
        quotas, lanes = self._quotas, self.network.n_road_lanes
        self._lead()
        also: list[int] = []
        if quotas.wait_for.given:
            quotas.note_rings(lanes, self._ring_frames, self.frame)
        first, last = quotas.share(lanes, self._ring_frames, self.frame)
        if last > first or self.frame == 0:
            also, gone = self._rings.look(
                self._veh, self._order, self._grants, self.frame, first, last
            )
            self._remove_soon(gone)
        first, last = quotas.share(lanes, self._watch_frames, self.frame)
        if also or last > first or quotas.routing.since or self.frame == 0:
            self._routes = self._minds.change(
                self._veh, self._order, self._routes, self._types, self._grants, self._rules,
                self.frame, self.seed, self._efforts[0], also, first, last, quotas,
            )  # fmt: skip

    def _shown(self) -> tuple[str, dict[str, object]]:
        speed = self.vehicles.speed
        facts: dict[str, object] = {
            "time": f"{clock(self.time)}, frame {self.frame:,} of {self.dt:g} s",
            "seed": self.seed,
            "on the road": f"{self.active:,}, {(speed < 0.1).sum():,} standing",
            "mean speed": f"{3.6 * speed.mean():.1f} km/h" if speed.size else "",
            "waiting to depart": self.waiting_to_depart,
            "arrived": f"{self.arrived:,} of {len(self.demand):,}",
            **self.models.told(),
        }
        return f"World on {self.network.name}", facts

    # --- what can be asked -----------------------------------------------------------------

    @property
    def active(self) -> int:
        """Vehicles on the road, those at its side included."""
        return self.departed - self.arrived - self.removed

    @property
    def arrived(self) -> int:
        """Vehicles that have reached their end."""
        return len(self.trips) - self.removed

    @property
    def waiting_to_depart(self) -> int:
        """Trips that are due and wait outside for room."""
        return int(self._waiting.numbers[0]) + self._joined_due - self.departed

    @property
    def done(self) -> bool:
        """Everybody has departed, and arrived or been removed."""
        return len(self.trips) == len(self.demand)

    def state_hash(self) -> str:
        """SHA-256 of the state in order of vehicle id."""
        return state.state_hash(
            self._veh, self._routes, self.frame, self._waiting, self._actuation, self._lights,
            self._verge.rows, self._commanded_state() + self._steering.hashed(self._veh),
        )  # fmt: skip
