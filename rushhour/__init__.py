"""rushhour: the traffic of a whole city on an ordinary computer.

The names below are imported when they are first used, so that `import rushhour` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rushhour.roadnets.by_hand.builder import NetworkBuilder
    from rushhour.roadnets.errors import RushhourError
    from rushhour.roadnets.generators.by_name import generate
    from rushhour.roadnets.loading import load_network
    from rushhour.traffic.detectors import Loop, Queue, Section
    from rushhour.traffic.measures import Measures
    from rushhour.traffic.parameters import Parameters
    from rushhour.traffic.random_demand import random_trips, random_walkers, vehicles_on_road
    from rushhour.traffic.recording import Recorder
    from rushhour.traffic.run_file import RunFile
    from rushhour.traffic.sumo_demand import read_demand
    from rushhour.traffic.table_demand import read_trips
    from rushhour.traffic.world import World

__version__ = "0.1.0"

_HOME = {
    "Loop": "traffic.detectors",
    "Measures": "traffic.measures",
    "NetworkBuilder": "roadnets.by_hand.builder",
    "Parameters": "traffic.parameters",
    "Queue": "traffic.detectors",
    "Recorder": "traffic.recording",
    "RunFile": "traffic.run_file",
    "RushhourError": "roadnets.errors",
    "Section": "traffic.detectors",
    "World": "traffic.world",
    "generate": "roadnets.generators.by_name",
    "load_network": "roadnets.loading",
    "random_trips": "traffic.random_demand",
    "random_walkers": "traffic.random_demand",
    "read_demand": "traffic.sumo_demand",
    "read_trips": "traffic.table_demand",
    "vehicles_on_road": "traffic.random_demand",
}

__all__ = [
    "Loop",
    "Measures",
    "NetworkBuilder",
    "Parameters",
    "Queue",
    "Recorder",
    "RunFile",
    "RushhourError",
    "Section",
    "World",
    "__version__",
    "generate",
    "load_network",
    "random_trips",
    "random_walkers",
    "read_demand",
    "read_trips",
    "vehicles_on_road",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rushhour' has no attribute {name!r}")
    value = getattr(import_module(f"rushhour.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
