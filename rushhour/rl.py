"""Environments for reinforcement learning (docs/learning.md); they need the extra `rl`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rushhour.traffic.learning.driving_env import DrivingEnv
    from rushhour.traffic.learning.side_by_side import side_by_side
    from rushhour.traffic.learning.signal_env import SignalEnv, SignalsEnv

__all__ = ["DrivingEnv", "SignalEnv", "SignalsEnv", "side_by_side"]
_HOME = {
    "DrivingEnv": "driving_env",
    "SignalEnv": "signal_env",
    "SignalsEnv": "signal_env",
    "side_by_side": "side_by_side",
}


def __getattr__(name: str) -> Any:
    from rushhour.roadnets.errors import RushhourError

    if name not in _HOME:
        raise AttributeError(f"module 'rushhour.rl' has no attribute {name!r}")
    try:
        return getattr(import_module(f"rushhour.traffic.learning.{_HOME[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name not in ("gymnasium", "pettingzoo"):
            raise
        raise RushhourError(f"rushhour.rl needs {error.name}; pip install 'rushhour[rl]'") from None
