"""A connection: a world that was made from SUMO's files, its domains, and the step."""

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any, Final, Protocol

from rushhour import __version__
from rushhour.compat.traci import constants as tc
from rushhour.compat.traci.edge import EdgeDomain
from rushhour.compat.traci.exceptions import NotThere, TraCIException
from rushhour.compat.traci.expected import Expected
from rushhour.compat.traci.inductionloop import InductionLoopDomain
from rushhour.compat.traci.junction import JunctionDomain
from rushhour.compat.traci.lane import LaneDomain
from rushhour.compat.traci.lanearea import LaneAreaDomain
from rushhour.compat.traci.names import Names
from rushhour.compat.traci.options import Options, read_options
from rushhour.compat.traci.route import RouteDomain
from rushhour.compat.traci.scene import Scene, Steps
from rushhour.compat.traci.simulation import SimulationDomain
from rushhour.compat.traci.trafficlight import TrafficLightDomain
from rushhour.compat.traci.vehicle import VehicleDomain
from rushhour.compat.traci.vehicletype import VehicleTypeDomain
from rushhour.roadnets.errors import RushhourError
from rushhour.traffic.commands.events import plan_events
from rushhour.traffic.demand.model import Demand, empty_demand
from rushhour.traffic.scenarios.opening import scenario_demand, scenario_network, sumo_events
from rushhour.traffic.scenarios.scenario import Scenario
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.sumo.records import Records, RouteRecord, read_records
from rushhour.traffic.sumo.tripinfo import write_tripinfo
from rushhour.traffic.sumo.vehicle_types import default_type
from rushhour.traffic.world import World

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_FRAME: Final = 0.5  # s
DEFAULT: Final = "DEFAULT_VEHTYPE"
VERSION: Final = (tc.TRACI_VERSION, f"rushhour {__version__}")


class Listener(Protocol):
    """Something that is told of each step."""

    def step(self, t: float) -> object:
        """Called after a call of `simulationStep`, with what that was given; False: no more."""


class Connection:
    """A world and TraCI's domains over it: `vehicle`, `lane`, `edge`, ...; world: a rushhour.World.

    Raises TraCIException, in one line, for a command line or files that cannot be meant.
    """

    def __init__(self, arguments: "Sequence[str]", label: str) -> None:
        self.label = label
        self._listeners: dict[int, Listener] = {}
        self._begun = False
        self.load(arguments)

    def load(self, arguments: "Sequence[str]") -> None:
        """Begin anew with another command line (without the name of the program)."""
        try:
            options = read_options(arguments)
            self._write_tripinfo()
            self.options = options
            self.world, self.routes, self.expected = _world(self.options)
            self.names = Names(self.world.network, self.options.net_file, self.options.demand)
        except RushhourError as error:
            raise TraCIException(str(error)) from None
        self._begun = True
        self.frames = round(self.options.step / self.world.dt)
        self.steps = Steps(self.world, self.options.memory, self.options.step)
        self._scene: tuple[int, Scene] | None = None
        self._make_domains()

    def _make_domains(self) -> None:
        self.route = RouteDomain(self)
        self.vehicletype = VehicleTypeDomain(self)
        self.vehicle = VehicleDomain(self)
        self.lane = LaneDomain(self)
        self.edge = EdgeDomain(self)
        self.junction = JunctionDomain(self)
        self.trafficlight = TrafficLightDomain(self)
        self.inductionloop = InductionLoopDomain(self)
        self.lanearea = LaneAreaDomain(self)
        self.simulation = SimulationDomain(self)

    @property
    def scene(self) -> Scene:
        """The vehicles as they are now."""
        if self._scene is None or self._scene[0] != self.world.frame:
            self._scene = (self.world.frame, Scene(self.world, self.names))
        return self._scene[1]

    def simulationStep(self, step: float = 0.0) -> list[Any]:
        """Simulate a step, or steps until a time, s; times that have gone by do nothing."""
        if step == 0.0:
            self._step()
        else:
            while self.world.time < step - 1e-6:
                self._step()
        for number, listener in list(self._listeners.items()):
            if listener.step(step) is False:
                del self._listeners[number]
        return []

    def _step(self) -> None:
        self.vehicle._before_step()
        self.trafficlight._before_step()
        self.inductionloop._before_step()
        since = self.world.frame
        self.world.step(self.frames)
        self.steps.look(since)
        self.inductionloop._after_step()

    def addStepListener(self, listener: Listener) -> int:
        """Call `listener.step(t)` after each call of `simulationStep`; returns its number."""
        number = max(self._listeners, default=-1) + 1
        self._listeners[number] = listener
        return number

    def removeStepListener(self, listenerID: int) -> bool:
        """Call it no more; whether it was there."""
        return self._listeners.pop(listenerID, None) is not None

    def getVersion(self) -> tuple[int, str]:
        """TraCI's version and ours."""
        return VERSION

    def getLabel(self) -> str:
        """The label that it was started with."""
        return self.label

    def close(self, wait: bool = True) -> None:
        """End it, and write its tripinfo; `traci.close()` also forgets it."""
        self._listeners.clear()
        try:
            self._write_tripinfo()
        except RushhourError as error:
            raise TraCIException(str(error)) from None

    def _write_tripinfo(self) -> None:
        """Write the tripinfo of the run that ends, if one was asked for."""
        options = self.options if self._begun else None
        if options is not None and options.tripinfo is not None:
            write_tripinfo(
                options.tripinfo, self.world, unfinished=options.unfinished,
                undeparted=options.undeparted,
            )  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotThere(name, "no such domain or call; docs/from-sumo.md lists those that are")


def _world(options: Options) -> tuple[World, dict[str, RouteRecord], Expected]:
    """The world that a command line asks for, the routes that its files name, who is to come."""
    frames = max(1, ceil(options.step / LONGEST_FRAME - 1e-9))
    parameters = Parameters(dict(options.parameters))
    scenario = Scenario(
        network=options.net_file,
        demand=options.demand,
        begin=options.begin,
        duration=None if options.end is None else options.end - options.begin,
        seed=options.seed,
        skip_bad_trips=options.skip_bad_trips,
        parameters=options.parameters,
        demand_scale=options.scale,
        scale_suffix=options.scale_suffix,
        trip_defaults=options.trip_defaults,
        ignored_options=options.ignored,
    )
    network = scenario_network(scenario, parameters)
    records = read_records(list(options.demand), options.ignored)
    demand = scenario_demand(scenario, network, parameters) if options.demand else empty_demand()
    world = World(
        network,
        _with_types(demand, records),
        parameters=parameters,
        dt=options.step / frames,
        seed=options.seed,
        begin=options.begin,
    )
    plan_events(world, sumo_events(options.demand, network, options.ignored)[0])
    return world, records.routes, Expected(world, records, options.step, options.scale_suffix)


def _with_types(demand: Demand, records: Records) -> Demand:
    """The demand with the types of its files that nobody has yet, for those who are added."""
    kinds = dict(records.types)
    kinds.setdefault(DEFAULT, replace(default_type("passenger"), name=DEFAULT))
    known = {kind.name for kind in demand.types}
    return replace(
        demand, types=(*demand.types, *(kind for name, kind in kinds.items() if name not in known))
    )
