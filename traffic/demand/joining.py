"""Trips that join a demand while a world runs: behind the others, whenever they depart.

They are columns of plain values, as a command keeps them: id, depart (s), type (a name), route (roads,
end to end) and, where they are given, depart_lane, depart_pos and depart_speed, type_fields of types
that came with them, and `open`: whether the route was found here, for a trip that had none.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np

from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.checks import check_type
from rushhour.traffic.demand.model import (
    LANE_FIRST,
    POS_BASE,
    WAY_GIVEN,
    Demand,
    VehicleType,
    open_choice,
)
from rushhour.traffic.demand.tables import read_trips
from rushhour.traffic.settings.parameters import Parameters

PER_TRIP: Final = tuple(
    field.name
    for field in fields(Demand)
    if field.name not in ("types", "ids", "type", "remarks", "made_for", "roads")
    and not field.name.startswith(("stop_", "route_"))
)
KEPT: Final = ("id", "depart", "type", "route")  # columns that every command has
OPEN: Final = "open"  # column: whether a trip's way is its driver's choice
FIELDS: Final = "type_fields"  # column of the fields of types that came with the trips
Columns = dict[str, list[Any]]


def columns_given(trips: Any, network: Network, now: float, names: Iterator[str]) -> Any:
    """What a user gives as columns of texts and numbers for `read_trips`.

    trips: a pandas frame, a mapping of columns, or a list of mappings, one a trip. now: s, when those
    depart that say nothing. names: for those that have no id.
    """
    if isinstance(trips, Mapping) or hasattr(trips, "columns"):
        columns = {str(key): list(trips[key]) for key in trips.keys()}  # noqa: SIM118 (frames)
    elif isinstance(trips, Sequence) and not isinstance(trips, str):
        if not all(isinstance(trip, Mapping) for trip in trips):
            raise DemandError("trips: wanted a mapping for each, such as {'route': 'north west'}")
        keys = dict.fromkeys(str(key) for trip in trips for key in trip)
        columns = {key: [trip.get(key) for trip in trips] for key in keys}
    else:
        raise DemandError(
            f"trips: a {type(trips).__name__}; wanted a frame, a mapping of columns or a list"
        )
    if not any(columns.values()):
        raise DemandError("no trips given; give at least one")
    if not hasattr(trips, "columns"):  # in a frame, nan says that nothing is given
        for key, column in columns.items():
            if any(isinstance(one, float | np.floating) and np.isnan(one) for one in column):
                raise DemandError(f"{key} nan: wanted a number; leave it out, or None, for nothing")
    sizes = {len(column) for column in columns.values()}
    if len(sizes) == 1:
        count = sizes.pop()
        columns["depart"] = [
            now if _missing(one) else one for one in columns.get("depart", [None] * count)
        ]
        columns["id"] = [
            next(names) if _missing(one) else one for one in columns.get("id", [None] * count)
        ]
    for key in ("route", "origin", "destination"):
        if key in columns:
            columns[key] = [_named(one, network) for one in columns[key]]
    if any(isinstance(one, VehicleType) for one in columns.get("type", ())):
        given = columns["type"]
        columns[FIELDS] = [asdict(one) if isinstance(one, VehicleType) else None for one in given]
        columns["type"] = [one.name if isinstance(one, VehicleType) else one for one in given]
    return columns


def _missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and np.isnan(value))


def _named(value: Any, network: Network) -> Any:
    """Roads by their ids, one or several end to end."""
    if isinstance(value, list | tuple | np.ndarray):
        return " ".join(str(_named(one, network)) for one in value)
    number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return network.road_ids[value] if number and 0 <= value < network.n_roads else value


def read_joining(
    columns: Any, network: Network, types: Sequence[VehicleType], parameters: Parameters
) -> Demand:
    """Columns of trips as a demand, with their routes. types: those that are known besides the
    built-in ones, and go before them. Raises DemandError for what cannot be meant."""
    known = {kind.name: kind for kind in reversed(types)}
    if isinstance(columns, Mapping) and FIELDS in columns:
        for kind in _types_given(columns):
            if known.setdefault(kind.name, kind) != kind:
                raise DemandError(
                    f"type {kind.name[:60]!r} is known and otherwise; give yours another name"
                )
        columns = {key: column for key, column in columns.items() if key != FIELDS}
    return read_trips(columns, network, parameters=parameters, types=known)


def _types_given(columns: Mapping[str, Any]) -> list[VehicleType]:
    """The types that came with trips. Raises DemandError for values that cannot be meant."""
    found = []
    for given in columns[FIELDS]:
        if given is None:
            continue
        try:
            kind = VehicleType(**given)
        except TypeError:
            raise DemandError(f"type_fields {str(given)[:80]}: wanted those of a type") from None
        check_type(kind)
        found.append(kind)
    return found


def read_again(
    columns: Any, network: Network, types: Sequence[VehicleType], parameters: Parameters
) -> Demand:
    """The trips of a command, from the columns that it keeps. Raises DemandError for others."""
    if not isinstance(columns, Mapping) or not set(KEPT) <= set(columns):
        raise DemandError(f"trips: wanted columns {', '.join(KEPT)}")
    is_open = dict(zip(columns["id"], columns.get(OPEN, ()), strict=False))
    given = {key: column for key, column in columns.items() if key != OPEN}
    found = read_joining(given, network, types, parameters)
    wide = np.repeat([bool(is_open.get(name)) for name in found.ids], np.diff(found.route_start))
    return replace(
        found, route_choice=np.where(wide, open_choice(found.route_start), np.uint8(WAY_GIVEN))
    )


def plain_columns(demand: Demand, network: Network) -> Columns:
    """Trips whose routes are found as columns of plain values."""
    ids, start = network.road_ids, demand.route_start.tolist()
    roads = demand.roads.tolist()
    columns: Columns = {
        "id": list(demand.ids),
        "depart": demand.depart.tolist(),
        "type": [demand.types[kind].name for kind in demand.type.tolist()],
        "route": [" ".join(ids[road] for road in roads[a:b]) for a, b in pairwise(start)],
    }
    if (demand.depart_lane != LANE_FIRST).any():
        columns["depart_lane"] = [x if x >= 0 else None for x in demand.depart_lane.tolist()]
    if (demand.depart_pos_kind != POS_BASE).any():
        given = (demand.depart_pos_kind != POS_BASE).tolist()
        columns["depart_pos"] = [
            x if is_given else None
            for x, is_given in zip(demand.depart_pos.tolist(), given, strict=True)
        ]
    if demand.route_choice.any():
        columns[OPEN] = np.logical_or.reduceat(demand.route_choice > 0, start[:-1]).tolist()
    if demand.depart_speed.any():
        columns["depart_speed"] = demand.depart_speed.tolist()
    return columns


def with_trips(demand: Demand, more: Demand) -> Demand:
    """A demand with trips without stops behind its own; the numbers of its own stay."""
    types = list(demand.types)
    types += [kind for kind in more.types if kind not in demand.types]
    place = np.array([types.index(kind) for kind in more.types], np.int32)
    last = demand.stop_start[-1]
    joined: dict[str, Any] = {
        name: np.concatenate((getattr(demand, name), getattr(more, name))) for name in PER_TRIP
    }
    return replace(
        demand,
        types=tuple(types),
        ids=(*demand.ids, *more.ids),
        type=np.concatenate((demand.type, place[more.type])),
        route_start=np.concatenate(
            (demand.route_start, demand.route_start[-1] + more.route_start[1:])
        ),
        roads=np.concatenate((demand.roads, more.roads)),
        route_choice=np.concatenate((demand.route_choice, more.route_choice)),
        stop_start=np.concatenate((demand.stop_start, np.full(len(more), last, np.int64))),
        **joined,
    )
