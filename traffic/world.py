"""The world: a network, its demand, and the parts that step, change and read their state.

The state is `sim.sim.Sim`, the phases of a frame stand in `sim.frame`. Here a world is put together.
"""

import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.address_tables import forget_states
from rushhour.kernels.drawing.poses import Poses
from rushhour.roadnets.errors import ParameterError, RunError
from rushhour.roadnets.facts import Played
from rushhour.roadnets.gate import let_in
from rushhour.roadnets.model import Network
from rushhour.traffic.commands.changing_kind import ChangingKind
from rushhour.traffic.commands.closures import Closures
from rushhour.traffic.commands.control import Control
from rushhour.traffic.commands.driving import DriverInputs, Driving
from rushhour.traffic.commands.joining import Joining
from rushhour.traffic.commands.lane_requests import LaneRequests
from rushhour.traffic.commands.limits import Limits
from rushhour.traffic.commands.log import CommandLog
from rushhour.traffic.commands.ruling import Ruling
from rushhour.traffic.commands.signalling import SignalControl
from rushhour.traffic.commands.standing import Standing
from rushhour.traffic.commands.stopping import Stops
from rushhour.traffic.commands.told_speeds import ToldSpeeds
from rushhour.traffic.commands.ways import Ways
from rushhour.traffic.demand.checks import warn_of_unheard
from rushhour.traffic.demand.model import Demand, empty_demand
from rushhour.traffic.keyframes.hashing import state_hash
from rushhour.traffic.keyframes.restoring import fits, restore
from rushhour.traffic.keyframes.snapshot import Snapshot, take_snapshot
from rushhour.traffic.liveness.rings import Rings
from rushhour.traffic.measures.summary import Clocking
from rushhour.traffic.measures.trip_log import TripLog
from rushhour.traffic.outside.bodies import Bodies
from rushhour.traffic.outside.poses import PoseKeeper
from rushhour.traffic.passing_on import asked, passed_on, read_from
from rushhour.traffic.ranks.refused import refuse_budget
from rushhour.traffic.readings.lanes_and_trips import Readings
from rushhour.traffic.readings.vehicle_table import VehicleTable
from rushhour.traffic.readings.vehicles_and_totals import Telling
from rushhour.traffic.routing.routes import route_demand
from rushhour.traffic.routing.routing import Routing
from rushhour.traffic.settings.numbers import LATEST, bounded, whole_frames, whole_seed
from rushhour.traffic.settings.own_models import Given, OwnModels, own_models
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.settings.quotas import checked_quotas
from rushhour.traffic.sim.frame import Frame
from rushhour.traffic.sim.sim import Sim
from rushhour.traffic.steering.body_table import BodyTable
from rushhour.traffic.steering.tier import Steering
from rushhour.traffic.stepping.costs import Costs
from rushhour.traffic.stepping.forking import refuse_after_fork
from rushhour.traffic.stepping.looping import Turn, observing
from rushhour.traffic.stepping.pace import Pace
from rushhour.traffic.words.durations import seconds

if TYPE_CHECKING:
    from rushhour.traffic.recording.recorder import Recorder

DT_RANGE: Final = (1.0 / 120.0, 0.5)


class World(Played):
    """Traffic on a network.

    dt: s per frame, 1/120 .. 0.5. begin: s, time of frame 0 (default: the first departure).
    car_following: a function of numbers, plain or under `@njit`, that everybody follows by, or one for
    each of some vehicle types, by name; lane_change: one that says who wants another lane
    (docs/models.md). Both are compiled into the frame. quotas: most work of a kind in a frame, by
    name. budget: time a frame may take (s, or text as "16.6ms"): quotas that are not given are
    chosen for it, from a short run on this machine (docs/profiling.md). routing: "current", trips
    without a route choose theirs as they depart, by the travel times of then, or "free-flow", on empty
    roads; short for the parameter routing.choice. comm: a communicator of mpi4py whose ranks step
    this world together, all of them making the same calls (docs/ranks.md). parts: the rank of each
    grant group, for good, in place of a division by work (`traffic.ranks.parts.divide`).
    Raises ParameterError for a dt out of range and a function that cannot be compiled, NetworkError
    for a network whose arrays do not fit each other, DemandError for trips that cannot be routed or
    were made for another network.

    It is put together of `sim`, the state, and parts that step, change and read it: `control`
    (commands), `signals`, `bodies`, `steering`, `routing`, `rings`, `readings`, `telling`.

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
        comm: Any = None,
        parts: NDArray[np.int64] | None = None,
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
        if comm is not None and comm.size > 1:
            refuse_budget(budget)
        seed = whole_seed(seed)
        self.calibration: dict[str, Any] = {}  # what quotas were chosen from, for a budget
        if budget is not None:
            from rushhour.traffic.profiling.calibrating import calibrate, kept_to

            found = calibrate(network, parameters, dt, seed, seconds(budget, "budget"))
            self.calibration, parameters = found, kept_to(found, parameters)
        models = own_models(car_following, lane_change)
        demand = route_demand(network, demand if demand is not None else empty_demand())
        warn_of_unheard(parameters, demand)
        first = float(demand.depart[0]) if len(demand) else 0.0
        begin = first if begin is None else bounded(begin, "begin", -LATEST, LATEST)
        self._turn = Turn()
        self._begin(Sim(network, demand, parameters, models, dt, seed, begin, comm, parts))
        weakref.finalize(self, forget_states)

    def _begin(self, sim: Sim) -> None:
        """Stand before the first frame of a state."""
        self.sim = sim
        self.costs = Costs()
        self.pace = Pace()
        self.observers: list[Any] = []  # called after each frame: recorder, checker
        self.commands = CommandLog()
        self.steering = Steering(
            sim.network, sim.demand.types, sim.parameters, sim.veh.lane.size, sim.quotas.steered
        )
        sim.followers.append(self.steering)
        self.bodies = Bodies(sim)
        self.signals = SignalControl(sim, self.commands)
        self.routing = Routing(sim)
        number = sim.parameters.number
        self.rings = Rings(
            sim.network, str(sim.parameters["gridlock.policy"]),
            number("gridlock.act_after"), sim.dt, number("right_of_way.stop_offset"),
            number("right_of_way.queue_gap"),
        )  # fmt: skip
        self.control = Control(sim, self.commands, self.steering, self.signals, self.routing)
        self.phases = Frame(
            sim, self.costs, self.observers, control=self.control, bodies=self.bodies,
            signals=self.signals, steering=self.steering, routing=self.routing, rings=self.rings,
        )  # fmt: skip
        self.readings = Readings(sim, self.observers)
        self.telling = Telling(sim, self.steering, self.routing, self.rings, self.bodies)
        self._poses: PoseKeeper | None = None

    # --- running ---------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Step n frames.

        Raises RunError while another thread, or what observes a frame, steps this world, and in a
        fork of a process in which one was stepped.
        """
        refuse_after_fork()
        frames = whole_frames(n)
        with self._turn.taken(frames=True):
            self.pace.ask()
            for _ in range(frames):
                self.pace.begin()
                self.phases.step()
                self.pace.end(self.costs.in_kernels(), self.sim.n)
            self.sim.domain.rest()

    def run(
        self,
        duration: float | str | None = None,
        *,
        until: Callable[["World"], bool] | None = None,
        every: float | str | None = None,
        call: Callable[["World"], object] | None = None,
        record: str | Path | None = None,
        progress: bool | None = None,
        give_up_after: float | str | None = None,
    ) -> Clocking:
        """Step for `duration` (s, or text such as "10min"), or until everybody has arrived.

        until: asked before each frame; the run ends when it says so. call: called with the world
        after every `every` of simulated time (default: each frame); what it commands holds from the
        next frame on. record: a run file to write, a frame a second (other choices: `record`).
        progress: a bar; by default only where somebody watches. Returns what the run took: frames,
        run_s, compile_s. give_up_after: s, or text, without anybody moving, after which the run ends
        with a StandstillError (default: 1h, with a duration "never"); where nothing can change any
        more it ends sooner (docs/running.md). Raises ParameterError for a duration that is none,
        RunError for a run without an end.

        >>> world.run("10min", every="1min", call=lambda world: print(world.active))
        """
        from rushhour.traffic.scenarios.running import run_for

        return run_for(self, duration, until, every, call, record, progress, give_up_after)

    @contextmanager
    def record(
        self, path: str | Path, every: float | str = 1.0, **options: Any
    ) -> Iterator["Recorder"]:
        """Record whatever is stepped within the block to a run file.

        every: s between two recorded frames, or text. options: those of `Recorder`. Raises RunError
        for a path that cannot be written.

        >>> with world.record("run.h5", every="0.5s"):
        ...     world.step(400)
        """
        from rushhour.traffic.recording.recorder import Recorder

        recorder = Recorder(path, self, seconds(every, "record: every"), **options)
        with recorder, observing(self, recorder):
            yield recorder

    def reset(self, seed: int | None = None) -> None:
        """Go back to before the first frame, as if the world were made anew; see `restore` for later.

        seed: another one; None keeps it. Commands, closures and observers are forgotten.

        >>> for seed in range(3):
        ...     world.reset(seed)
        ...     world.run("10min")
        """
        seed = self.sim.seed if seed is None else whole_seed(seed)
        with self._turn.taken():
            forget_states()  # those of before would be kept until others take their place
            self._begin(self.sim.anew(seed))

    def snapshot(self) -> Snapshot:
        """A copy of everything that later frames depend on, logs included; see `restore`."""
        with self._turn.taken():
            return take_snapshot(self)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of this world, or of one made from the same; steps then repeat.

        Observers keep what they have seen: begin new ones. Raises RunError for a snapshot of a
        world with another network or demand.

        >>> before = world.snapshot()
        >>> world.step(100)
        >>> world.restore(before)
        """
        if not fits(snapshot, self):
            raise RunError(
                "restore: the snapshot is of another network or demand; make the world from the same"
            )
        with self._turn.taken():
            restore(self, snapshot)
            if self._poses is not None:
                self._poses.forget()

    def clone(self) -> "World":
        """Another world that stands where this one does and goes on with the same bits.

        It has the signals, closures, commands to come, bodies, steered vehicles and quotas of this
        one, and shares its network, demand and functions, which never change. Observers (recorders,
        measures, checkers) stay with this one. `copy.copy` and `copy.deepcopy` do the same. Raises
        RunError while another thread steps this world.

        >>> other = world.clone()
        >>> other.step(40)  # what if
        """
        with self._turn.taken():
            other = World(
                self.sim.whole, self.sim.first_demand, parameters=self.parameters, dt=self.dt,
                seed=self.seed, begin=self.begin,
            )  # fmt: skip
            other.sim.models = self.models
            other.sim.types = other.sim.types_seen()
            other.calibration = dict(self.calibration)
            restore(other, take_snapshot(self))
            other.bodies.follow(self.bodies)
            return other

    __copy__ = clone

    def __deepcopy__(self, memo: dict[int, Any]) -> "World":
        return self.clone()

    def __reduce__(self) -> Any:
        raise RunError(
            'a world is not pickled: record it, world.run(..., record="run.h5"), and go on in the '
            'other process with World.resume("run.h5"); in this one, use world.clone()'
        )

    @staticmethod
    def resume(
        path: str | Path,
        at: float | str | None = None,
        *,
        parameters: Mapping[str, object] | None = None,
        seed: int | None = None,
        commands: bool = True,
        measures: bool = False,
        **models: Any,
    ) -> "World":
        """The world of a run file at a time (s, or text such as "7:10"), ready to be stepped on.

        Without a time: at the last keyframe. It goes on bit for bit as the recorded run. parameters
        and seed: others than the run's hold from then on. commands: those given later in the run
        are planned again. measures: what the run measured goes on, in `observers`. models:
        car_following and lane_change as the world had them. Raises RunError for a file without
        keyframes by then, ParameterError.

        >>> world = World.resume("run.h5", at="7:10")
        """
        from rushhour.traffic.recording.resuming import resume

        time = None if at is None else seconds(at, "resume: at")
        return resume(
            path, time, parameters=parameters, seed=seed, commands=commands, measures=measures,
            **models,
        )  # fmt: skip

    # --- commands, totals and tables: passed on to the parts ------------------------------

    def schedule(self, time: float | str, command: str, **arguments: Any) -> None:
        """Plan a command for a simulated time (s, or text such as "7:10"), to be tried then.

        What cannot be obeyed by then is not an error: its outcome in the log says why.
        Raises CommandError for an unknown command, argument, vehicle or place, or a time gone by.

        >>> world.schedule("7:10", "close_roads", roads=["north"])
        """
        self.control.schedule(time, command, arguments)

    repeat = passed_on("control", Control.repeat)
    set_tier = passed_on("control.driving", Driving.set_tier)
    steer_where = passed_on("control.ruling", Ruling.steer_where)
    stop = passed_on("control.standing", Standing.stop)
    go_on = passed_on("control.standing", Standing.go_on)
    push_aside = passed_on("control.standing", Standing.push_aside)
    put_back = passed_on("control.standing", Standing.put_back)
    remove = passed_on("control.standing", Standing.remove)
    stop_at = passed_on("control.stops", Stops.stop_at)
    leave_stop = passed_on("control.stops", Stops.leave_stop)
    set_route = passed_on("control.ways", Ways.set_route)
    set_destination = passed_on("control.ways", Ways.set_destination)
    request_lane = passed_on("control.lane_requests", LaneRequests.request_lane)
    set_type = passed_on("control.kinds", ChangingKind.set_type)
    set_speed = passed_on("control.speeds", ToldSpeeds.set_speed)
    add_vehicles = passed_on("control.joining", Joining.add_vehicles)
    set_speed_limit = passed_on("control.limits", Limits.set_speed_limit)
    speed_limits = passed_on("control.limits", Limits.speed_limits)
    close_lanes = passed_on("control.closures", Closures.close_lanes)
    open_lanes = passed_on("control.closures", Closures.open_lanes)
    close_roads = passed_on("control.closures", Closures.close_roads)
    open_roads = passed_on("control.closures", Closures.open_roads)
    closures = passed_on("control.closures", Closures.closures)
    rerouting = passed_on("control.closures", Closures.rerouting)
    table = passed_on("telling", Telling.table)
    counts = passed_on("telling", Telling.counts)
    steered = passed_on("telling", Telling.steered)
    gridlock = passed_on("telling", Telling.gridlock)
    quotas = passed_on("telling", Telling.quotas)
    reasons = passed_on("telling", Telling.reasons)
    trip_table = passed_on("readings", Readings.trip_table)

    # --- what can be asked -----------------------------------------------------------------

    network = asked("sim.network", Network, "The network as it is now, with closures and limits.")
    demand = asked("sim.demand", Demand, "All trips, with those who joined.")
    parameters = asked("sim.parameters", Parameters, "The parameters.")
    models = asked("sim.models", OwnModels, "What everybody drives by.")
    trips = asked("sim.trip_log", TripLog, "The finished trips.")
    tally = asked("sim.tally", NDArray[np.int64], "Totals of kernels, by TALLY of driving.moving.")
    dt = asked("sim.dt", float, "s per frame.")
    seed = asked("sim.seed", int, "Of all draws.")
    begin = asked("sim.begin", float, "s, time of frame 0.")
    frame = asked("sim.frame", int, "The frame that comes next.")
    time = asked("sim.time", float, "Simulated time, s: that of the frame that comes next.")
    departed = asked("sim.departed", int, "Vehicles that have come onto the road.")
    removed = asked("sim.removed", int, "Vehicles taken out of the world by commands.")
    vehicle_updates = asked(
        "sim.vehicle_updates", int, "Vehicles on the road in all frames, summed."
    )
    active = asked("sim.active", int, "Vehicles on the road, those at its side included.")
    arrived = asked("sim.arrived", int, "Vehicles that have reached their end.")
    aside = asked("sim.aside", int, "Vehicles at the side of the road.")
    waiting_to_depart = asked("sim.waiting_to_depart", int, "Trips due, outside for want of room.")
    controls = asked("control.driving.inputs", DriverInputs, """
        Throttle, brake, steer and hand brake of those who are driven: arrays to write to.""")  # fmt: skip
    lanes = read_from("readings", Readings.lanes)
    intersections = read_from("readings", Readings.intersections)
    detectors = read_from("readings", Readings.detectors)

    @property
    def vehicles(self) -> VehicleTable:
        """The vehicles on the road, as read-only arrays that are valid until the next step."""
        return VehicleTable(self.sim)

    @property
    def steered_bodies(self) -> BodyTable:
        """The bodies of those who steer, read-only, valid until the next step (docs/steered.md)."""
        return BodyTable(self.sim.veh, self.steering.bodies, self.steering.state)

    @property
    def steering_rule(self) -> dict[str, Any] | None:
        """The rule in force, as it was given to `steer_where`; None: there is none."""
        return self.control.ruling.in_force

    def poses(self, out: Poses | None = None, alpha: float = 1.0) -> Poses:
        """Where everybody is, for who draws: arrays (rows,) of id, x, y, heading, speed, length,
        width and type. A vehicle keeps its row for as long as it lives; id -1 marks a free one.

        x, y: m, of the body's middle; heading: rad from east, counter-clockwise. alpha: 0 where the
        frame before the last one ended, 1 where the last one did. out: what an earlier call
        returned, to be filled again; a larger one is returned where the world has outgrown it.
        They are kept from the first call on, as an observer; the state stays as it is.

        >>> poses = world.poses()
        >>> poses = world.poses(poses, alpha=0.5)
        """
        if self._poses is None:
            self._poses = PoseKeeper(self)
        if self._poses not in self.observers:
            self.observers.append(self._poses)
        return self._poses.blended(out, alpha)

    def _shown(self) -> tuple[str, dict[str, object]]:
        return f"World on {self.sim.network.name}", self.telling.facts()

    @property
    def done(self) -> bool:
        """Everybody has departed, and arrived or been removed."""
        return len(self.sim.trip_log) == len(self.sim.demand)

    def state_hash(self) -> str:
        """SHA-256 of the state; slots, the order in which things are kept and threads leave no trace."""
        commanded = self.control.hashed(self.bodies.state()) + self.steering.hashed(self.sim.veh)
        return state_hash(self.sim, commanded)
