"""Faces of other simulators' Python clients over rushhour worlds.

import rushhour.compat

rushhour.compat.install("traci")
import sumo_rl  # imports traci itself, and has this one
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from rushhour.roadnets.errors import RushhourError

if TYPE_CHECKING:
    from types import ModuleType

# Submodules by the names that clients import, and where they are here.
_TRACI: Final = {
    "connection": "connection", "constants": "constants", "domain": "domain",
    "exceptions": "exceptions", "_edge": "edge", "_inductionloop": "inductionloop",
    "_junction": "junction", "_lane": "lane", "_lanearea": "lanearea", "_route": "route",
    "_simulation": "simulation", "_trafficlight": "trafficlight", "_vehicle": "vehicle",
    "_vehicletype": "vehicletype",
}  # fmt: skip
_DOMAINS: Final = (
    "edge", "inductionloop", "junction", "lane", "lanearea", "route", "simulation", "trafficlight",
    "vehicle", "vehicletype",
)  # fmt: skip
FACES: Final = ("traci", "libsumo", "cityflow")


class CompatError(RushhourError, ValueError):
    """A face that is not there."""


def install(*names: str) -> None:
    """Let `import traci` (libsumo, cityflow) and what it contains be rushhour's from now on.

    For libraries that import these themselves: call it before they are imported. What was imported
    under these names before is replaced; names that were taken from it stay as they are.
    Raises CompatError for a name other than traci, libsumo, cityflow.

    >>> import rushhour.compat
    >>> rushhour.compat.install("cityflow")
    >>> import cityflow
    """
    for name in names:
        if name not in FACES:
            raise CompatError(f"install: {name[:60]!r}: wanted one of {', '.join(FACES)}")
    for name in names:
        uninstall(name)
        sys.modules[name] = import_module(f"rushhour.compat.{name}")
        if name != "cityflow":
            sys.modules.update(_parts(name))


def uninstall(*names: str) -> None:
    """Forget what was imported under these names: the next import looks for it anew."""
    for name in names:
        for module in [key for key in sys.modules if key == name or key.startswith(f"{name}.")]:
            del sys.modules[module]


def _parts(name: str) -> dict[str, Any]:
    """The submodules of a TraCI, those of domains by both names that clients know."""
    home = "rushhour.compat.traci"
    face: ModuleType = sys.modules[name]
    parts: dict[str, Any] = {
        f"{name}.{key}": import_module(f"{home}.{own}") for key, own in _TRACI.items()
    }
    parts |= {f"{name}.{domain}": getattr(face, domain) for domain in _DOMAINS}
    return parts | {f"{name}.main": face, f"{name}.step": face}
