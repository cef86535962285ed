"""What streets are coloured by over an interval, and how: one description for pictures, the window and pages.

Values are Edie's: of all that was driven on a road in an interval (`road_sums`). A share is 0 at the low end
of a scale and 1 at its high end; NaN where nothing was driven.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import NONE, SIGNAL
from rushhour.roadnets.model import Network
from rushhour.traffic.analysis.levels import AT_SIGNALS, AT_SIGNS, LETTERS
from rushhour.viewer.road_sums import Sums
from rushhour.viewer.themes import DELAYS, LESS_MORE, LEVELS, SPEEDS, Colour

Share = NDArray[np.float64]
FEW: Final = 10.0  # s of all vehicles on a road together, below which it has no level
LESS: Final = "less-"  # before the name of a layer: what it differs by from another run


class Streets:
    """What layers ask of roads, each (n_roads,)."""

    def __init__(self, network: Network) -> None:
        roads, control = network.arrays.roads, network.arrays.intersections.control
        self.limit = np.maximum(network.arrays.lanes.speed[roads.first_lane], 0.1).astype(float)
        self.km, self.lanes = roads.length / 1000.0, roads.lane_count.astype(float)
        ends = roads.to_intersection
        known = ends >= 0
        self.control = np.where(known, control[np.maximum(ends, 0)] if control.size else NONE, NONE)


@dataclass(frozen=True)
class Layer:
    """A quantity of roads over an interval. full: its value at the high end, in unit."""

    title: str
    low: str
    high: str
    scale: tuple[Colour, ...]
    share: Callable[[Sums, Streets], Share]
    full: float = 0.0
    unit: str = ""
    none: float = 0.0  # the share of a road that nobody drove on, beside one that somebody did
    letters: str = ""  # kinds in place of a scale


def _level(sums: Sums, streets: Streets) -> Share:
    """The level of service of approaches, 0 (A) to 1 (F), by the delay of a vehicle that drives them (HCM 7,
    exhibits 19-8 and 20-2); of roads that end at a sign or signal."""
    passed = sums.distance / (1000.0 * streets.km)
    delay = sums.lost / np.maximum(1.0, passed)
    signals, signs = (np.searchsorted(steps, delay) for steps in (AT_SIGNALS, AT_SIGNS))
    level = np.where(streets.control == SIGNAL, signals, signs) / (len(LETTERS) - 1)
    return np.where((streets.control != NONE) & (sums.time >= FEW), level, np.nan)


LAYERS: Final[dict[str, Layer]] = {
    "speed": Layer(
        "mean speed", "0", "the limit", SPEEDS,
        lambda sums, streets: sums.distance / sums.time / streets.limit, 100.0, "% of the limit", none=1.0,
    ),
    "delay": Layer(
        "delay", "0", "60 s per s and km", DELAYS,
        lambda sums, streets: sums.lost / sums.span / streets.km / 60.0, 60.0, "s per s and km",
    ),
    "flow": Layer(
        "flow", "0", "1,800 vehicles/h", DELAYS,
        lambda sums, streets: 3.6 * sums.distance / sums.span / streets.km / streets.lanes / 1800.0, 1800.0, "vehicles/h",
    ),
    "density": Layer(
        "density", "0", "130 vehicles/km", DELAYS,
        lambda sums, streets: sums.time / sums.span / streets.km / streets.lanes / 130.0, 130.0, "vehicles/km",
    ),
    "queue": Layer(
        "standing, mean", "0", "20 on a lane", DELAYS,
        lambda sums, streets: sums.standing / sums.span / streets.lanes / 20.0, 20.0, "on a lane",
    ),
    "co2": Layer(
        "CO2", "0", "500 kg/h and km", DELAYS,
        lambda sums, streets: 3.6 * sums.co2 / sums.span / streets.km / 500.0, 500.0, "kg/h and km",
    ),
    "level": Layer("level of service", "", "", LEVELS, _level, letters=LETTERS),
}  # fmt: skip


def layer_names(beside: bool) -> tuple[str, ...]:
    """Those that there are; beside: with the differences from another run."""
    compared = [LESS + name for name, layer in LAYERS.items() if not layer.letters]
    return (*LAYERS, *(compared if beside else ()))


def layer_called(name: str, other: str = "") -> Layer:
    """A layer by its name; other: what the run that it is compared with is called."""
    layer = LAYERS[name.removeprefix(LESS)]
    if not name.startswith(LESS):
        return layer
    half = f"{0.5 * layer.full:,.0f}"
    return replace(
        layer, title=f"{layer.title}, less that of {other}", low=f"-{half}", high=f"+{half} {layer.unit}",
        scale=LESS_MORE,
    )  # fmt: skip


def shares(name: str, streets: Streets, sums: Sums, other: Sums | None = None) -> Share:
    """Where each road lies on the scale of a layer, (n_roads,); other: what was driven in the run compared with."""
    layer = LAYERS[name.removeprefix(LESS)]
    here = _share(layer, streets, sums)
    if not name.startswith(LESS) or other is None:
        return np.clip(here, 0.0, 1.0)
    there = _share(layer, streets, other)
    less = 0.5 + np.nan_to_num(here, nan=layer.none) - np.nan_to_num(there, nan=layer.none)
    return np.clip(np.where(np.isnan(here) & np.isnan(there), np.nan, less), 0.0, 1.0)


def _share(layer: Layer, streets: Streets, sums: Sums) -> Share:
    driven = sums.time > 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        share = layer.share(sums, streets)
    return np.where(driven, share, np.nan)
