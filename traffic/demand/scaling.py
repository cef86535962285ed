"""Demand scaled by a factor, by SUMO's rule: how many of each listed trip depart.

A factor of 2.5 lets each trip depart twice and every other one a third time; one of 0.3 keeps three
of ten. Which ones follows from their order alone, so no seed changes it.
"""

from dataclasses import replace
from math import floor, isfinite
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import DemandError
from rushhour.traffic.demand.model import Demand

SUFFIX: Final = "."  # between the id of a trip and the number of its copy
MOST_SCALE: Final = 1e6
MOST_TRIPS: Final = 10_000_000
_PARTS: Final = 1000  # of a whole trip, to which a factor is rounded


class Quota:
    """How many of each trip depart, told one after the other."""

    def __init__(self) -> None:
        self._before = 0  # trips and copies before this one, as SUMO counts
        self.told = 0  # trips and copies in all

    def of(self, factor: float) -> int:
        """How many of the next trip depart at a factor >= 0."""
        self._before += 1
        self.told += 1
        if factor == 1.0:
            return 1
        trips = int(self._before / factor) if factor > 1.0 else self._before - 1
        whole = floor(factor)
        part = floor((factor - whole) * _PARTS + 0.5)
        found = whole + ((trips % _PARTS) * part % _PARTS < part)
        self._before += max(0, found - 1)
        self.told += found - 1
        return found


def checked_scale(factor: float) -> float:
    """A factor on a demand. Raises DemandError for one that is none."""
    if not (isfinite(factor) and 0.0 <= factor <= MOST_SCALE):
        raise DemandError(f"scale {factor:g}: wanted a factor from 0 to {MOST_SCALE:g}")
    return float(factor)


def want_some(factor: float) -> None:
    """Refuse a factor on a whole demand that leaves nobody."""
    if factor == 0.0:
        raise DemandError("scale 0: nobody would drive; give a factor above 0, as 1.2")


def scaled(demand: Demand, factor: float, suffix: str = SUFFIX) -> Demand:
    """A demand with `factor` times the trips, each listed one copied or left out as a whole.

    Trips are taken in their order, by departure; copies depart with their original, are called by
    its id, the suffix and 1, 2, ... (the next number that is free). A remark says what came of it.
    Raises DemandError for a factor that is none, and for more than 10,000,000 trips.

    >>> more = scaled(demand, 1.2)
    """
    factor = checked_scale(factor)
    if factor == 1.0 or not len(demand):
        return demand
    if factor * len(demand) > MOST_TRIPS:
        raise DemandError(
            f"scale {factor:g} of {len(demand):,} trips: more than {MOST_TRIPS:,}; lower it"
        )
    quota = Quota()
    counts = np.array([quota.of(factor) for _ in range(len(demand))], np.int64)
    rows = np.repeat(np.arange(len(demand)), counts)
    return replace(
        taken(demand, rows),
        ids=_names(demand.ids, counts.tolist(), suffix),
        remarks=(*demand.remarks, scale_remark(factor, len(demand), rows.size)),
    )


def taken(demand: Demand, rows: NDArray[np.int64]) -> Demand:
    """Some trips of a demand, in this order; one that is taken more than once has its id each time."""
    changed: dict[str, object] = {"ids": tuple(demand.ids[i] for i in rows.tolist())}
    for start_name, pooled in (("route_start", ("roads", "route_choice")), ("stop_start", _STOPS)):
        old = getattr(demand, start_name)
        sizes = np.diff(old)[rows]
        start = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
        place = np.repeat(old[rows] - start[:-1], sizes) + np.arange(start[-1])
        changed[start_name] = start.astype(np.int64)
        for name in pooled:
            changed[name] = getattr(demand, name)[place]
    for name in _TRIPS:
        changed[name] = getattr(demand, name)[rows]
    return replace(demand, **changed)  # type: ignore[arg-type]  # arrays for array fields


_STOPS: Final = ("stop_lane", "stop_pos", "stop_duration", "stop_until", "stop_parking")
_TRIPS: Final = (
    "depart", "type", "walker", "routed", "depart_lane", "depart_pos", "depart_pos_kind",
    "depart_speed", "depart_speed_kind", "arrival_pos",
)  # fmt: skip


def scale_remark(factor: float, before: int, after: int) -> str:
    """What a factor made of a demand."""
    return f"demand scaled by {factor:g}: {before:,} trips became {after:,}"


def copies(name: str, count: int, suffix: str, taken: set[str]) -> list[str]:
    """Ids of a trip and its copies, `count` in all; those of the copies are put into `taken`."""
    found = [name][:count]
    number = 0
    while len(found) < count:
        number += 1
        copy = f"{name}{suffix}{number}"
        if copy not in taken:
            taken.add(copy)
            found.append(copy)
    return found


def _names(ids: tuple[str, ...], counts: list[int], suffix: str) -> tuple[str, ...]:
    taken = set(ids)
    found: list[str] = []
    for name, count in zip(ids, counts, strict=True):
        found += copies(name, count, suffix, taken)
    return tuple(found)
