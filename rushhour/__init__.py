"""rushhour: the traffic of a whole city on an ordinary computer.

The names below are imported when they are first used, so that `import rushhour` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rushhour import chase, race, trajectory
    from rushhour.kernels.drawing.poses import Poses
    from rushhour.roadnets.by_hand.builder import NetworkBuilder
    from rushhour.roadnets.errors import RushhourError
    from rushhour.roadnets.generators.by_name import generate
    from rushhour.roadnets.loading import load_network
    from rushhour.traffic.analysis.queues import queues
    from rushhour.traffic.analysis.whom_to_ask import why
    from rushhour.traffic.demand.files import read_demand
    from rushhour.traffic.demand.random_trips import random_trips, random_walkers, vehicles_on_road
    from rushhour.traffic.demand.scaling_by_rule import scale_demand
    from rushhour.traffic.demand.tables import read_trips
    from rushhour.traffic.liveness.standstill import StandstillError
    from rushhour.traffic.measures.detectors import Loop, Queue, Section
    from rushhour.traffic.measures.measuring import Measures
    from rushhour.traffic.recording.recorder import Recorder
    from rushhour.traffic.recording.run_file import RunFile, open_run
    from rushhour.traffic.settings.parameters import Parameters
    from rushhour.traffic.studies.study import study
    from rushhour.traffic.world import World
    from rushhour.viewer.notebook import show
    from rushhour.viewer.pictures import Picture, picture

__version__ = "0.1.0"

_HOME = {
    "Loop": "traffic.measures.detectors",
    "Measures": "traffic.measures.measuring",
    "NetworkBuilder": "roadnets.by_hand.builder",
    "Parameters": "traffic.settings.parameters",
    "Picture": "viewer.pictures",
    "Poses": "kernels.drawing.poses",
    "Queue": "traffic.measures.detectors",
    "Recorder": "traffic.recording.recorder",
    "RunFile": "traffic.recording.run_file",
    "RushhourError": "roadnets.errors",
    "Section": "traffic.measures.detectors",
    "StandstillError": "traffic.liveness.standstill",
    "World": "traffic.world",
    "generate": "roadnets.generators.by_name",
    "load_network": "roadnets.loading",
    "open_run": "traffic.recording.run_file",
    "picture": "viewer.pictures",
    "queues": "traffic.analysis.queues",
    "random_trips": "traffic.demand.random_trips",
    "random_walkers": "traffic.demand.random_trips",
    "read_demand": "traffic.demand.files",
    "read_trips": "traffic.demand.tables",
    "scale_demand": "traffic.demand.scaling_by_rule",
    "study": "traffic.studies.study",
    "show": "viewer.notebook",
    "vehicles_on_road": "traffic.demand.random_trips",
    "why": "traffic.analysis.whom_to_ask",
}

__all__ = [
    "Loop",
    "Measures",
    "NetworkBuilder",
    "Parameters",
    "Picture",
    "Poses",
    "Queue",
    "Recorder",
    "RunFile",
    "RushhourError",
    "Section",
    "StandstillError",
    "World",
    "__version__",
    "chase",
    "generate",
    "load_network",
    "open_run",
    "picture",
    "queues",
    "race",
    "random_trips",
    "random_walkers",
    "read_demand",
    "read_trips",
    "scale_demand",
    "show",
    "study",
    "trajectory",
    "vehicles_on_road",
    "why",
]

_MODULES = ("chase", "race", "trajectory")  # names of their own: rushhour.race.CarRace


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"rushhour.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'rushhour' has no attribute {name!r}")
    value = getattr(import_module(f"rushhour.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
