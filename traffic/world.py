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

from rushhour.kernels.departing import depart, queue_due, release_left
from rushhour.kernels.moving import (
    collect_tallies,
    move_all,
)
from rushhour.kernels.order import (
    sort_all,
    sort_by_lane,
    splice_new,
)
from rushhour.kernels.overtaking import pass_all
from rushhour.kernels.passing import forget_states
from rushhour.kernels.repacking import plan_moves
from rushhour.kernels.right_of_way import grant_all
from rushhour.kernels.switching import switch_lights
from rushhour.kernels.vehicles import Vehicles
from rushhour.kernels.waking import wake_all
from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.facts import Shown
from rushhour.roadnets.gate import let_in
from rushhour.roadnets.model import Network
from rushhour.traffic import state
from rushhour.traffic.commands.signalling import SignalControl
from rushhour.traffic.costs import PHASES, Costs
from rushhour.traffic.demand.model import Demand, empty_demand
from rushhour.traffic.durations import clock, seconds
from rushhour.traffic.forking import refuse_after_fork
from rushhour.traffic.looping import Looping
from rushhour.traffic.measures.trip_log import ARRIVED, CUT_SHORT
from rushhour.traffic.numbers import LATEST, bounded, whole_frames, whole_seed
from rushhour.traffic.outside.bodies import Bodies
from rushhour.traffic.outside.poses import PoseKeeper
from rushhour.traffic.own_models import Given, own_models
from rushhour.traffic.pace import Pace
from rushhour.traffic.parameters import Parameters
from rushhour.traffic.quotas import checked_quotas
from rushhour.traffic.readings import Readable, Readings
from rushhour.traffic.rings import Rings
from rushhour.traffic.routing.minds import MIND_PERIOD, Minds
from rushhour.traffic.routing.routes import route_demand
from rushhour.traffic.routing.routing import Routing
from rushhour.traffic.sim.sim import REPACK_EVERY, REPACK_FROM, Sim
from rushhour.traffic.steering.tier import Steering
from rushhour.traffic.telling import Telling

ORDER, DEPART, SIGNALS, GRANT, LANES, DRIVE, STEER, MOVE, WATCH, RECORD, CHECK = range(len(PHASES))
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
        parameters = parameters if parameters is not None else Parameters()
        if quotas:
            parameters = parameters.with_(**checked_quotas(quotas))
        if routing is not None:
            parameters = parameters.with_(**{"routing.choice": routing})
        seed = whole_seed(seed)
        self.calibration: dict[str, Any] = {}  # what quotas were chosen from, for a budget
        if budget is not None:
            parameters = self._kept_to(seconds(budget, "budget"), network, parameters, dt, seed)
        models = own_models(car_following, lane_change)
        demand = route_demand(network, demand if demand is not None else empty_demand())
        first = float(demand.depart[0]) if len(demand) else 0.0
        begin = first if begin is None else bounded(begin, "begin", -LATEST, LATEST)
        self._turn, self._stepping = RLock(), False
        self._begin(Sim(network, demand, parameters, models, dt, seed, begin))
        weakref.finalize(self, forget_states)

    def _kept_to(
        self, budget: float, network: Network, parameters: Parameters, dt: float, seed: int
    ) -> Parameters:
        """Choose the quotas that were not given, for a time in s, from what work costs here."""
        from rushhour.traffic.profiling.calibrating import calibrate

        found = calibrate(network, parameters, dt, seed, budget)
        given = checked_quotas(found["quotas"])
        more = {name: most for name, most in given.items() if not parameters.given(name)}
        self.calibration = found
        return parameters.with_(**more)

    def _begin(self, sim: Sim) -> None:
        """Stand before the first frame of a state."""
        self.sim = sim
        self.costs = Costs()
        self._pace = Pace()
        self.observers: list[Any] = []  # called after each frame: recorder, checker
        self._poses: PoseKeeper | None = None
        self._reader = Readings(self)
        self.bodies = Bodies(self)
        self._packed: Vehicles | None = None  # whose columns are in _columns
        self._columns: state.Columns = ()
        self.steering = Steering(
            sim.network, sim.demand.types, sim.parameters, sim.veh.lane.size, sim.quotas.steered
        )
        self.signals = SignalControl(self)
        number = sim.parameters.number
        self.routing = Routing()
        self.routing.minds = Minds(
            sim.network, sim.routes, sim.dt, number("gridlock.change_mind_after"),
            number("gridlock.turn_off_after"), number("gridlock.change_mind_share"),
            bool(sim.parameters["gridlock.keep_routes"]), number("gridlock.turn_across_after"),
        )  # fmt: skip
        self.rings = Rings(
            sim.network, str(sim.parameters["gridlock.policy"]),
            number("gridlock.act_after"), sim.dt, number("right_of_way.stop_offset"),
        )  # fmt: skip
        self._ring_frames = max(1, round(number("gridlock.wait_for_period") / sim.dt))
        self._watch_frames = max(1, round(MIND_PERIOD / sim.dt))
        self._begin_controls()

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
                self._pace.end(self.costs.in_kernels(), self.sim.n)

    def _step_once(self) -> None:
        self.costs.start()
        self._obey()
        bodies = self.bodies.take()
        net, rules, types = self.sim.network.arrays, self.sim.rules, self.sim.types
        frame, dt, seed, costs = self.sim.frame, self.sim.dt, self.sim.seed, self.costs
        self._sort()
        if bodies:
            self.bodies.meet()
        grants, awake = self.sim.grants, self.sim.awake
        if rules.passing_gain < inf:
            pass_all(
                net, self.sim.veh, types, self.sim.routes, self.sim.order, grants, rules, self.sim.passes,
                frame, dt,
            )  # fmt: skip
            if bodies:
                self.bodies.pass_by()
        costs.mark(ORDER)
        self._depart()
        veh, order, n = self.sim.veh, self.sim.order, self.sim.n
        costs.mark(DEPART)
        switch_lights(
            self.sim.lit, self.sim.actuation, self.sim.clearing, veh, order, *self.sim.members, self.sim.lights,
            self.signals.told, grants, rules.pressure_period, rules.min_green, self.sim.time, frame,
            dt,
        )  # fmt: skip
        costs.mark(SIGNALS)
        wake_all(net, veh, order, awake, frame)
        if self.sim.quotas.lanes.given:
            self.sim.quotas.lanes.choose(net, veh, order, frame, awake.looks)
        grant_all(net, veh, types, order, grants, rules, awake, frame, dt, seed)
        costs.mark(GRANT)
        routes = self.sim.routes
        self.sim.models.choose_lanes_all(
            net, veh, types, routes, order, grants, rules, awake, self.sim.changes, frame, dt
        )
        costs.mark(LANES)
        self.sim.models.drive_all(
            net, veh, types, routes, order, grants, self.sim.partings, rules, n, frame, dt, seed
        )
        if bodies:
            self.bodies.heed()
        costs.mark(DRIVE)
        if self.steering.on:
            self.steering.step(net, veh, types, order, rules, n, frame, dt, seed)
            costs.mark(STEER)
        move_all(
            net,
            veh,
            types,
            routes,
            order,
            rules,
            n,
            frame,
            dt,
            seed,
            self.sim.tallies,
            self.sim.efforts,
        )
        self._arrive()
        costs.mark(MOVE)
        self._watch()
        costs.mark(WATCH)
        costs.count(n)
        self.sim.vehicle_updates += n
        self.sim.frame += 1
        for observer in self.observers:
            observer.observe()
            if getattr(observer, "steers", False):
                costs.mark(STEER)
            else:
                costs.mark(CHECK if getattr(observer, "is_checker", False) else RECORD)

    def _sort(self) -> None:
        """Rebuild the order, and re-pack a part of the slots by it."""
        veh, n = self.sim.veh, self.sim.n
        self.sim.n = sort_by_lane(veh, self.sim.order, n)
        self.sim.order, self.sim.other_order = self.sim.other_order, self.sim.order
        if self.sim.n >= REPACK_FROM or self.sim.frame == 0:  # in the first frame, to compile it
            self._repack(self.sim.frame % REPACK_EVERY)
        sort_all(veh, self.sim.network.arrays.lanes, self.sim.order)

    def _repack(self, part: int) -> None:
        """Bring the vehicles of one part of the order into the slots of their places."""
        veh, n = self.sim.veh, self.sim.n
        first, last = n * part // REPACK_EVERY, n * (part + 1) // REPACK_EVERY
        count = plan_moves(veh.lane, self.sim.order, self.sim.waiting, first, last, self.sim.moves)
        if self._packed is not veh:
            others = [array for array in veh if array is not veh.lane]
            self._columns = state.columns_to_pack(others + self.steering.columns())
            self._packed = veh
        state.repack(self._columns, self.sim.moves, count)

    def _depart(self) -> None:
        """Queue the trips that are due and let those depart for whom there is room."""
        if self.sim.verge.returning:
            self._come_back()
        self.routing.choosing.choose()
        queue_due(
            self.sim.network.arrays, self.sim.types, self.sim.routes, self.sim.trips, self.sim.waiting,
            self.sim.time, self.sim.seed, self.sim.efforts[0],
        )  # fmt: skip
        self._queue_joined()
        most = self.sim.quotas.vehicles.most
        while self.sim.waiting.numbers[1] > 0 and self.sim.n < most:
            new = depart(
                self.sim.network.arrays, self.sim.veh, self.sim.types, self.sim.routes, self.sim.order,
                self.sim.grants, self.sim.waiting, self.sim.trips, most - self.sim.n, self.steering.on,
                self.sim.frame, self.sim.dt, self.sim.seed, self.sim.efforts[0],
            )  # fmt: skip
            full = new < 0
            new = -1 - new if full else new
            if new:
                splice_new(self.sim.veh, self.sim.order, new)
                self.sim.n += new
                self.sim.departed += new
            if self.sim.n >= most:
                self._next_road_first()
            if not full:
                break
            self._grow()
        if self.sim.quotas.vehicles.given:
            self.sim.quotas.note_full(self.sim.n, self.sim.waiting_to_depart)

    def _next_road_first(self) -> None:
        """Let the road whose queue came first come last: places are few."""
        queues = self.sim.waiting.busy[: int(self.sim.waiting.numbers[1])]
        queues[:] = np.roll(queues, -1)

    def _grow(self) -> None:
        """Double the places for vehicles."""
        capacity = 2 * self.sim.veh.lane.size
        self.sim.veh = state.grown_vehicles(self.sim.veh, capacity)
        self.sim.moves = state.new_moves(capacity)
        self.steering.grow(capacity)
        self.sim.order = self.sim.order._replace(
            slot=state.grown(self.sim.order.slot, capacity),
            spare=state.grown(self.sim.order.spare, capacity),
        )
        self.sim.other_order = state.other_order(self.sim.order)
        self.sim.waiting = self.sim.waiting._replace(
            older=state.grown(self.sim.waiting.older, capacity, -1)
        )

    def _arrive(self) -> None:
        """Take those off the road who have reached their end."""
        left = collect_tallies(self.sim.tallies, self.sim.tally)
        if (
            left or self.sim.frame == 0
        ):  # in the first frame nobody, so that no later one compiles it
            out = np.zeros(left, np.int32)
            release_left(self.sim.veh, self.sim.order, self.sim.waiting, self.sim.n, out)
            self._log_trips(self.sim.veh, out, self.sim.begin + (self.sim.frame + 1) * self.sim.dt)

    def _log_trips(
        self, veh: Vehicles, rows: NDArray[np.int32], now: float, ended: int = ARRIVED
    ) -> None:
        """Write finished trips into the log."""
        trip, detours = veh.trip[rows], self.routing.detours
        short = detours.cut_short[trip] & (ended == ARRIVED)
        how = np.where(short, CUT_SHORT, ended)
        self.sim.trip_log.add(
            veh, rows, self.sim.begin, now, self.sim.dt, detours.reroutes[trip], how
        )

    def _watch(self) -> None:
        """Now and then minds are changed, and rings looked for; drivers look for other ways."""
        quotas, lanes = self.sim.quotas, self.sim.network.n_road_lanes
        self._lead()
        also: list[int] = []
        if quotas.wait_for.given:
            quotas.note_rings(lanes, self._ring_frames, self.sim.frame)
        first, last = quotas.share(lanes, self._ring_frames, self.sim.frame)
        if last > first or self.sim.frame == 0:
            also, gone = self.rings.look(
                self.sim.veh, self.sim.order, self.sim.grants, self.sim.frame, first, last
            )
            self._remove_soon(gone)
        first, last = quotas.share(lanes, self._watch_frames, self.sim.frame)
        if also or last > first or quotas.routing.since or self.sim.frame == 0:
            self.sim.routes = self.routing.minds.change(
                self.sim.veh, self.sim.order, self.sim.routes, self.sim.types, self.sim.grants, self.sim.rules,
                self.sim.frame, self.sim.seed, self.sim.efforts[0], also, first, last, quotas,
            )  # fmt: skip

    def _shown(self) -> tuple[str, dict[str, object]]:
        speed = self.vehicles.speed
        facts: dict[str, object] = {
            "time": f"{clock(self.sim.time)}, frame {self.sim.frame:,} of {self.sim.dt:g} s",
            "seed": self.sim.seed,
            "on the road": f"{self.sim.active:,}, {(speed < 0.1).sum():,} standing",
            "mean speed": f"{3.6 * speed.mean():.1f} km/h" if speed.size else "",
            "waiting to depart": self.sim.waiting_to_depart,
            "arrived": f"{self.sim.arrived:,} of {len(self.sim.demand):,}",
            **self.sim.models.told(),
        }
        return f"World on {self.sim.network.name}", facts

    # --- what can be asked -----------------------------------------------------------------

    @property
    def done(self) -> bool:
        """Everybody has departed, and arrived or been removed."""
        return len(self.sim.trip_log) == len(self.sim.demand)

    def state_hash(self) -> str:
        """SHA-256 of the state in order of vehicle id."""
        return state.state_hash(
            self.sim.veh, self.sim.routes, self.sim.frame, self.sim.waiting, self.sim.actuation, self.sim.lights,
            self.sim.verge.rows, self._commanded_state() + self.steering.hashed(self.sim.veh),
        )  # fmt: skip
