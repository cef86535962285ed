"""Demand scaled by rules of time, class and zone (scale_rules).

Which trips are kept or repeated follows from their ids, so that half of a demand is part of two thirds of it. Copies
depart at a time of their own within the quarter of an hour of their original; their drivers draw for themselves.
"""

import zlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.random import uniform_all
from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.matrix import ZoneSet, zones_of
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.demand.scale_rules import ScaleRule, scale_of, unknown
from rushhour.traffic.demand.scaling import MOST_TRIPS, SUFFIX, copies, scaled, taken

STREAM: Final = 8950  # + 0 who is kept or repeated, 1 departure of a copy
SPAN: Final = 900.0  # s of the clock within which a copy departs


def scale_demand(
    demand: Demand, scale: object, network: Network, zones: ZoneSet | None = None
) -> Demand:
    """A demand with more or fewer trips: by a factor, by rules of time, class and zone, or by several of both.

    scale: as of the option `--scale`: a number, a text, or a list of them. zones: None for those of the network.
    Raises DemandError for what is no scale, and for a rule under which no trip falls.

    >>> more = rh.scale_demand(demand, ["1.5,time=7:00-9:00", "0.5,class=truck"], network)
    """
    asked = scale_of(scale, "scale")
    return scaled_by(scaled(demand, asked.factor), asked.rules, network, zones=zones)


def scaled_by(
    demand: Demand, rules: tuple[ScaleRule, ...], network: Network, suffix: str = SUFFIX,
    zones: ZoneSet | None = None,
) -> Demand:  # fmt: skip
    """A demand scaled by rules; copies are called by its id, the suffix and 1, 2, ...

    Raises DemandError for a rule under which no trip falls, a zone that is not known, and too many trips.
    """
    if not rules:
        return demand
    n = len(demand)
    factor = np.ones(n)
    low, high = np.floor(demand.depart / SPAN) * SPAN, np.floor(demand.depart / SPAN + 1.0) * SPAN
    for rule in rules:
        under = _under(rule, demand, network, zones)
        if not under.any():
            raise DemandError(
                f"scale {rule.text}: none of the {n:,} trips is such; correct it or leave it out"
            )
        factor[under] *= rule.factor
        for begin, end in rule.times:
            inside = under & (demand.depart >= begin) & (demand.depart < end)
            low[inside] = np.maximum(low[inside], begin)
            high[inside] = np.minimum(high[inside], end)
    if factor.sum() > MOST_TRIPS:
        raise DemandError(f"scale of {n:,} trips: more than {MOST_TRIPS:,}; lower it")
    often = _often(factor, _draws(demand.ids, 0))
    rows = np.repeat(np.arange(n), often)
    known = set(demand.ids)
    ids = [
        name
        for name, count in zip(demand.ids, often.tolist(), strict=True)
        for name in copies(name, count, suffix, known)
    ]
    found = replace(taken(demand, rows), ids=tuple(ids))
    copy = np.diff(rows, prepend=-1) == 0
    first, last = (demand.depart[0], demand.depart[-1]) if n else (0.0, 0.0)
    low, high = np.maximum(low, first)[rows[copy]], np.minimum(high, last)[rows[copy]]
    own = [name for name, is_copy in zip(ids, copy.tolist(), strict=True) if is_copy]
    depart = found.depart.copy()
    depart[copy] = low + _draws(own, 1) * np.maximum(high - low, 0.0)
    found = taken(replace(found, depart=depart), np.argsort(depart, kind="stable"))
    told = tuple(f"scale {rule.text}" for rule in rules)
    what = f"demand scaled by {len(rules)} rules ({'; '.join(told)}): {n:,} trips became {len(found):,}"
    return replace(found, remarks=(*demand.remarks, what))


def _under(
    rule: ScaleRule, demand: Demand, network: Network, zones: ZoneSet | None
) -> NDArray[np.bool_]:
    """Which trips fall under a rule."""
    found = np.ones(len(demand), np.bool_)
    if rule.times:
        depart = demand.depart
        found &= np.any([(depart >= begin) & (depart < end) for begin, end in rule.times], axis=0)
    kinds = demand.types
    for wanted, names in (
        (rule.classes, [kind.vehicle_class for kind in kinds]),
        (rule.types, [kind.name for kind in kinds]),
    ):
        if wanted:
            found &= np.isin(names, wanted)[demand.type]
    for name in rule.types:
        if name not in {kind.name for kind in kinds}:
            known = (kind.name for kind in kinds)
            raise DemandError(f"scale {rule.text}: {unknown('type', name, known)}")
    if rule.by_zone:
        starts, ends = _ends(demand, network, rule, zones)
        if rule.origins:
            found &= starts(rule.origins)
        if rule.destinations:
            found &= ends(rule.destinations)
        if rule.ends:
            found &= starts(rule.ends) | ends(rule.ends)
    return found


def _ends(
    demand: Demand, network: Network, rule: ScaleRule, given: ZoneSet | None
) -> tuple[Any, Any]:
    """Two functions of names of zones: which trips start there, and which end there."""
    known = zones_of(network) if given is None else given
    place = {name: i for i, name in enumerate(known.ids)}
    zones = known.places
    first, last = known.ends(network, demand)
    last = np.where(demand.walker, -1, last)

    def within(at: NDArray[np.int32], start: NDArray[np.int32], pool: NDArray[np.int32]) -> Any:
        def of(names: tuple[str, ...]) -> NDArray[np.bool_]:
            for name in names:
                if name not in place:
                    raise DemandError(f"scale {rule.text}: {unknown('zone', name, place)}")
            inside = [pool[start[place[name]] : start[place[name] + 1]] for name in names]
            return np.isin(at, np.concatenate(inside))

        return of

    return (
        within(first, zones.origin_start, zones.origin),
        within(last, zones.destination_start, zones.destination),
    )


def _often(factor: NDArray[np.float64], draw: NDArray[np.float64]) -> NDArray[np.int64]:
    """How often each trip departs: of those of one factor as many once more as its rest says, lowest draws first."""
    whole = np.floor(factor).astype(np.int64)
    for value in np.unique(factor).tolist():
        mine = np.flatnonzero(factor == value)
        more = round((value - np.floor(value)) * mine.size)
        whole[mine[np.argsort(draw[mine], kind="stable")[:more]]] += 1
    return whole


def _draws(ids: Iterable[str], stream: int) -> NDArray[np.float64]:
    """A number of [0, 1) for each id."""
    keys = np.fromiter((zlib.crc32(name.encode()) for name in ids), np.int64)
    return uniform_all(0, keys, 0, STREAM + stream)
