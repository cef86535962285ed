"""Costs against the number of vehicles: a sweep with fitted exponents, and how many fit a budget."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor, log10, sqrt
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.reprs import fields_shown
from rushhour.roadnets.errors import RunError
from rushhour.traffic.profiling.measuring import measure_frames
from rushhour.traffic.profiling.profile import MS, Profile
from rushhour.traffic.stepping.costs import PHASES

if TYPE_CHECKING:
    from rushhour.roadnets.model import Network
    from rushhour.traffic.world import World

MOST: Final = 5_000_000  # vehicles
SHARE: Final = 0.3  # of jam density on grids that grow
BLOCK: Final = 100.0  # m from crossing to crossing of these
PER_CAR: Final = 7.0  # m that a standing car takes
TRIES: Final = 5  # halvings of the interval in which the answer lies
CROWDED: Final = 0.9  # of the vehicles asked for; with fewer on the road they do not fit
_UNITS: Final = {"": 1, "k": 1000, "m": 1_000_000}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([km]?)")

MakeWorld = Callable[[int], "World"]


@dataclass(frozen=True)
class Sweep:
    """Profiles by the number of vehicles asked for, and the exponents of cost against size."""

    asked: tuple[int, ...]
    profiles: tuple[Profile, ...]
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return fields_shown(self)

    @property
    def vehicles(self) -> NDArray[np.float64]:
        """Vehicles on the road, the mean over the frames, shape (sizes,)."""
        return np.array([one.vehicles.mean() for one in self.profiles])

    def ms(self) -> dict[str, NDArray[np.float64]]:
        """p50 of each phase that took time, and of "all", ms, shape (sizes,)."""
        used = sorted({k for one in self.profiles for k in one.used})
        found = {
            PHASES[k]: np.array([np.median(one.ns[:, k]) for one in self.profiles]) / MS
            for k in used
        }
        found["all"] = np.array([one.at(50.0) for one in self.profiles]) / MS
        return found

    def exponents(self) -> dict[str, float]:
        """b of ms = a vehicles^b, by least squares of the logarithms; nan below two sizes."""
        found = {}
        for name, ms in self.ms().items():
            there = (ms > 0.0) & (self.vehicles > 0.0)
            found[name] = (
                float(np.polyfit(np.log(self.vehicles[there]), np.log(ms[there]), 1)[0])
                if there.sum() > 1
                else float("nan")
            )
        return found

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """Header and rows for people: sizes, their costs, and the exponents."""
        ms = self.ms()
        rows: list[list[Any]] = [
            [
                round(float(self.vehicles[i])), *(float(column[i]) for column in ms.values()),
                float(ms["all"][i] * 1e6 / max(1.0, self.vehicles[i])),
            ]
            for i in range(len(self.profiles))
        ]  # fmt: skip
        fitted = self.exponents()
        rows.append(["exponent", *(f"{fitted[name]:.2f}" for name in ms), ""])
        return ["vehicles", *ms, "ns/vehicle"], rows


@dataclass(frozen=True)
class Found:
    """How many vehicles fit a budget. trials: vehicles on the road and ms at the percentile."""

    vehicles: int
    took: float
    trials: tuple[tuple[int, float], ...]
    remark: str = ""


def sizes_of(text: str) -> list[int]:
    """The sizes of a --sweep: 1, 2, 5, 10, ... within `vehicles=1k..100k`, both ends included.

    Raises RunError for anything else.

    >>> sizes_of("vehicles=1k..10k")
    [1000, 2000, 5000, 10000]
    """
    name, _, span = text.partition("=")
    ends = [_SIZE.fullmatch(end.strip().lower()) for end in span.split("..")]
    if name.strip() != "vehicles" or len(ends) != 2 or not all(ends):
        raise RunError(f"sweep {text[:60]!r}: wanted vehicles=A..B, as vehicles=1k..100k")
    low, high = (round(float(end[1]) * _UNITS[end[2]]) for end in ends if end)
    if not 1 <= low <= high <= MOST:
        raise RunError(f"sweep {text[:60]!r}: wanted 1 to {MOST:,} vehicles, the smaller first")
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    steps = [step * 10**k for k in decades for step in (1, 2, 5)]
    return [low, *(size for size in steps if low < size < high), *([high] if high > low else [])]


def growing_grid(vehicles: int) -> "Network":
    """A grid of crossings with signals in which so many vehicles make up 30 % of jam density."""
    from rushhour.roadnets.generators.by_name import generate

    per_crossing = 4 * BLOCK / PER_CAR * SHARE  # two roads with a lane for each direction
    side = max(2, round(sqrt(vehicles / per_crossing)))
    return generate("grid", rows=side, columns=side, length=BLOCK, lanes=1, control="signals")


def sweep(
    make_world: MakeWorld, sizes: list[int], frames: int, warm_up: float, progress: Any = None
) -> Sweep:
    """Measure worlds of so many vehicles each; ends where no more fit on the network."""
    asked: list[int] = []
    profiles: list[Profile] = []
    remarks: list[str] = []
    for size in sizes:
        profile, fits = _measured(make_world, size, frames, warm_up, progress)
        if not fits:
            on = round(float(profile.vehicles.mean()))
            remarks.append(
                f"{size:,} vehicles do not fit: {on:,} are on the road, the others wait outside"
            )
            if profiles:
                break
        asked.append(size)
        profiles.append(profile)
        if not fits:
            break
    return Sweep(tuple(asked), tuple(profiles), tuple(remarks))


def find_vehicles(
    make_world: MakeWorld, budget: float, percentile: float, frames: int, warm_up: float,
    progress: Any = None,
) -> Found:  # fmt: skip
    """Look for the largest number of vehicles whose frames keep to a budget, s.

    Doubled until they do not, then halved in between; known to about 3 %.
    """
    trials: list[tuple[int, float]] = []
    limit = budget * 1e3

    def tried(size: int) -> tuple[bool, bool]:
        """Whether the budget is kept, and whether they fit on the network."""
        profile, fits = _measured(make_world, size, frames, warm_up, progress)
        trials.append((round(float(profile.vehicles.mean())), profile.at(percentile) / MS))
        return trials[-1][1] <= limit, fits

    size, below, remark = 1000, 0, ""
    while size <= MOST:
        kept, fits = tried(size)
        if not kept:
            break
        below = size
        if not fits:
            remark = "the network is full; a larger one may hold more"
            break
        size *= 2
    if not remark:
        above = size
        for _ in range(TRIES):
            middle = (below + above) // 2
            if middle in (below, above):
                break
            if tried(middle)[0]:
                below = middle
            else:
                above = middle
    good = [trial for trial in trials if trial[1] <= limit]
    vehicles, took = max(good, default=(0, float("nan")))
    return Found(vehicles, took, tuple(sorted(trials)), remark)


def _measured(
    make_world: MakeWorld, size: int, frames: int, warm_up: float, progress: Any
) -> tuple[Profile, bool]:
    world = make_world(size)
    profile = measure_frames(world, frames, warm_up=warm_up, progress=progress)
    return profile, float(profile.vehicles.mean()) >= CROWDED * size
