"""What of a run is recorded, how exactly, and how much at most: options and their reading."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rushhour.roadnets.errors import RunError
from rushhour.traffic.recording.frame_fields import (
    PACKINGS,
    PLAIN,
    PRECISIONS,
    STANDARD,
    chosen_fields,
)
from rushhour.traffic.recording.run_layout import FRAMES, KEYFRAMES
from rushhour.traffic.words.plurals import counted

if TYPE_CHECKING:
    from rushhour.traffic.world import World

NAMES: Final = (
    "precision",
    "packing",
    "fields",
    "region",
    "max",
)  # in a scenario's section, and as options
UNITS: Final = {"": 1, "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_SIZE = re.compile(r"(\d+(?:\.\d*)?)\s*([kKMGT]?B|)")
# Of the estimate of a file's size.
ROW: Final = {"standard": 3.0, "full": 25.0}  # bytes of a vehicle in a frame
BODY_ROW: Final = {"standard": 6.5, "full": 24.5}  # bytes of a body that steers, besides
STATE: Final = 400.0  # bytes of a vehicle in a keyframe
TRIP: Final = 60.0  # bytes of a trip and its route in /vehicles, /demand and /trips
SLOWER: Final = 1.5  # times that a trip takes as long as on empty roads


@dataclass(frozen=True)
class RecordChoice:
    """Options of a `Recorder`. fields: None for all. region: x0, y0, x1, y1, m. most: bytes."""

    precision: str = STANDARD
    packing: str = PLAIN
    fields: tuple[str, ...] | None = None
    region: tuple[float, float, float, float] | None = None
    most: int | None = None


AS_EVER: Final = RecordChoice()


def record_choice(given: Mapping[str, Any], where: str) -> RecordChoice:
    """Read options by NAMES, as text or, in a scenario, as lists. where: of messages, before a name.

    Raises RunError that names the option.
    """
    found: dict[str, Any] = {}
    for name, known in (("precision", PRECISIONS), ("packing", PACKINGS)):
        if name in given:
            if given[name] not in known:
                wanted = " or ".join(known)
                raise RunError(f"{where}{name} {given[name]!r:.60}: wanted {wanted}")
            found[name] = given[name]
    if "fields" in given:
        names = _listed(given["fields"])
        if not names or not all(isinstance(name, str) for name in names):
            raise RunError(
                f"{where}fields {given['fields']!r:.60}: wanted names such as speed,reason"
            )
        found["fields"] = chosen_fields([str(name).strip() for name in names])
    if "region" in given:
        found["region"] = _region(given["region"], where)
    if "max" in given:
        found["most"] = _size(given["max"], where)
    return RecordChoice(**found)


def _listed(value: object) -> list[Any]:
    if isinstance(value, str):
        return value.split(",")
    return value if isinstance(value, list) else []


def _region(value: object, where: str) -> tuple[float, float, float, float]:
    try:
        x0, y0, x1, y1 = (float(number) for number in _listed(value))
    except (TypeError, ValueError):
        raise RunError(
            f"{where}region {value!r:.60}: wanted X0,Y0,X1,Y1 in m of the network"
        ) from None
    return x0, y0, x1, y1


def _size(value: object, where: str) -> int:
    found = _SIZE.fullmatch(str(value).strip())
    size = float(found[1]) * UNITS[found[2]] if found else 0.0
    if not 1.0 <= size <= 1e18 or isinstance(value, bool):
        raise RunError(f"{where}max {value!r:.60}: wanted a size such as 5GB or 200MB")
    return int(size)


def expected_size(
    world: "World",
    end: float | None,
    every: float,
    keyframe_every: float,
    mode: str,
    precision: str,
) -> str:
    """An estimate, for people, of what a recording will come to. end: s, None: until all arrived."""
    demand, roads = world.demand, world.network.arrays.roads
    if not len(demand):
        return "nobody drives"
    ideal = roads.length[demand.roads] / np.maximum(roads.speed[demand.roads], 1.0)
    took = np.add.reduceat(ideal, demand.route_start[:-1]) * SLOWER
    start = np.maximum(demand.depart, world.time)
    leaves = np.where(demand.walker, np.inf, demand.depart + took)
    if end is not None:
        leaves = np.minimum(leaves, end)
    leaves = np.where(np.isfinite(leaves), leaves, start + took)
    driven = float(np.maximum(0.0, leaves - start).sum())  # vehicle seconds
    span = max(every, (float(leaves.max()) if end is None else end) - world.time)
    vehicles = max(driven / span, world.active)  # a resumed run may stand in a jam
    # No more is written than there are frames of the run.
    frames = 0 if mode == KEYFRAMES else span / max(every, world.dt)
    states = 0 if mode == FRAMES else span / max(keyframe_every, world.dt) + 1
    steering, row = world.steering, ROW[precision]
    if steering.on and vehicles > 0.0:
        row += BODY_ROW[precision] * min(steering.share, steering.most / vehicles)
    size = vehicles * (row * frames + STATE * states) + TRIP * len(demand)
    return (
        f"about {sized(size)} expected, more where roads jam (some {counted(round(vehicles), 'vehicle')} "
        f"at a time, each {row:.2g} bytes in {counted(round(frames), 'frame')} and {STATE:g} in "
        f"{counted(round(states), 'keyframe')})"
    )


def sized(size: float) -> str:
    """Bytes for people.

    >>> sized(3_438_824)
    '3.4 MB'
    """
    for unit in ("TB", "GB", "MB"):
        if size >= UNITS[unit]:
            return f"{size / UNITS[unit]:.1f} {unit}"
    return f"{size / 1000:.0f} kB"
