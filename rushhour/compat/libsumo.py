"""SUMO's libsumo over rushhour worlds: the same face as `rushhour.compat.traci`, by its other name."""

from typing import Any

from rushhour.compat import traci
from rushhour.compat.traci.exceptions import FatalTraCIError, TraCIException
from rushhour.compat.traci.signal_program import Logic as TraCILogic
from rushhour.compat.traci.signal_program import Phase as TraCIPhase
from rushhour.compat.traci.simulation import Stage as TraCIStage

__all__ = ["FatalTraCIError", "TraCIException", "TraCILogic", "TraCIPhase", "TraCIStage"]


def isLibsumo() -> bool:
    """True: in this process, as libsumo is."""
    return True


def __getattr__(name: str) -> Any:
    return getattr(traci, name)


def __dir__() -> list[str]:
    return sorted({*dir(traci), *globals()})
