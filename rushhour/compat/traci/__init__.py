"""SUMO's TraCI over rushhour worlds: control scripts run with one changed import.

    import rushhour.compat.traci as traci

    traci.start(["sumo", "-c", "town.sumocfg"])
    while traci.simulation.getMinExpectedNumber() > 0:
        traci.simulationStep()
    traci.close()

Names, units, ids and invalid values are those of SUMO's documentation ("TraCI"); which calls are
there and what differs stands in docs/from-sumo.md.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from rushhour.compat.traci import constants
from rushhour.compat.traci.connection import Connection, Listener
from rushhour.compat.traci.exceptions import FatalTraCIError, NotThere, TraCIException
from rushhour.compat.traci.trafficlight import TrafficLightDomain

if TYPE_CHECKING:
    from rushhour.compat.traci.edge import EdgeDomain
    from rushhour.compat.traci.inductionloop import InductionLoopDomain
    from rushhour.compat.traci.junction import JunctionDomain
    from rushhour.compat.traci.lane import LaneDomain
    from rushhour.compat.traci.lanearea import LaneAreaDomain
    from rushhour.compat.traci.route import RouteDomain
    from rushhour.compat.traci.simulation import SimulationDomain
    from rushhour.compat.traci.vehicle import VehicleDomain
    from rushhour.compat.traci.vehicletype import VehicleTypeDomain

__all__ = [
    "FatalTraCIError", "StepListener", "TraCIException", "addStepListener", "close", "constants",
    "edge", "getConnection", "getLabel", "getVersion", "hasGUI", "inductionloop", "isLibsumo",
    "isLibtraci", "isLoaded", "junction", "lane", "lanearea", "load", "removeStepListener",
    "route", "simulation", "simulationStep", "start", "switch", "tc", "trafficlight", "vehicle",
    "vehicletype",
]  # fmt: skip

tc = constants
_open: dict[str, Connection] = {}
_current: list[Connection] = []  # the one that is switched to, or none


class StepListener:
    """Base of listeners: `step(t)` is called after each call of `simulationStep`."""

    def step(self, t: float = 0.0) -> bool:
        """What to do; False: no more."""
        return True


class _Switched:
    """A domain of the connection that is switched to."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self._name == "trafficlight" and name in ("Logic", "Phase"):
            return getattr(TrafficLightDomain, name)
        return getattr(getattr(_check(), self._name), name)


edge = cast("EdgeDomain", _Switched("edge"))
inductionloop = cast("InductionLoopDomain", _Switched("inductionloop"))
junction = cast("JunctionDomain", _Switched("junction"))
lane = cast("LaneDomain", _Switched("lane"))
lanearea = cast("LaneAreaDomain", _Switched("lanearea"))
route = cast("RouteDomain", _Switched("route"))
simulation = cast("SimulationDomain", _Switched("simulation"))
trafficlight = cast("TrafficLightDomain", _Switched("trafficlight"))
vehicle = cast("VehicleDomain", _Switched("vehicle"))
vehicletype = cast("VehicleTypeDomain", _Switched("vehicletype"))


def _check() -> Connection:
    if not _current:
        raise FatalTraCIError("Not connected.")
    return _current[0]


def start(
    cmd: Sequence[str],
    port: int | None = None,
    numRetries: int = 0,
    label: str = "default",
    verbose: bool = False,
    traceFile: str | None = None,
    traceGetters: bool = True,
    stdout: Any = None,
    doSwitch: bool = True,
) -> tuple[int, str]:
    """Make a world from a command line of SUMO's; the rest is there for SUMO's sake.

    Raises TraCIException for a label that is taken, and, in one line, for options and files that
    cannot be meant. Options that are not used are named in a warning.
    """
    if label in _open:
        raise TraCIException(f"Connection '{label}' is already active.")
    if traceFile is not None:
        raise TraCIException("start: traceFile is not there; world.commands is the log of commands")
    _open[label] = Connection(list(cmd)[1:], label)
    if doSwitch or not _current:
        _current[:] = [_open[label]]
    return _open[label].getVersion()


def load(args: Sequence[str]) -> None:
    """Begin anew with another command line, without the name of the program."""
    _check().load(args)


def isLoaded() -> bool:
    """Whether there is a connection."""
    return bool(_current)


def simulationStep(step: float = 0.0) -> list[Any]:
    """Simulate a step, or steps until a time, s; times that have gone by do nothing."""
    return _check().simulationStep(step)


def close(wait: bool = True) -> None:
    """End the connection that is switched to."""
    connection = _check()
    connection.close(wait)
    del _open[connection.getLabel()]
    _current.clear()


def switch(label: str) -> None:
    """Switch to the connection of a label. Raises TraCIException if there is none."""
    _current[:] = [getConnection(label)]


def getConnection(label: str = "default") -> Connection:
    """The connection of a label. Raises TraCIException if there is none."""
    if label not in _open:
        raise TraCIException(f"Connection '{label}' is not known.")
    return _open[label]


def getLabel() -> str:
    """The label of the connection that is switched to."""
    return _check().getLabel()


def getVersion() -> tuple[int, str]:
    """TraCI's version and ours."""
    return _check().getVersion()


def addStepListener(listener: Listener) -> int:
    """Call `listener.step(t)` after each call of `simulationStep`; returns its number."""
    return _check().addStepListener(listener)


def removeStepListener(listenerID: int) -> bool:
    """Call it no more; whether it was there."""
    return _check().removeStepListener(listenerID)


def isLibsumo() -> bool:
    """False: this is rushhour."""
    return False


def isLibtraci() -> bool:
    """False: this is rushhour."""
    return False


def hasGUI() -> bool:
    """False: `rushhour view` shows run files."""
    return False


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    why = {
        "connect": "worlds are in this process; give start",
        "init": "worlds are in this process; give start",
        "setOrder": "worlds are in this process; give start",
        "executeMove": "give simulationStep",
        "gui": "`rushhour view` shows run files",
        "person": "there are no people on foot",
        "simulationStepLegacy": "give simulationStep",
    }.get(name, "docs/from-sumo.md lists what is")
    raise NotThere(f"traci.{name}", why)
