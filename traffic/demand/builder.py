"""Building a Demand trip by trip, and joining several."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import inf
from typing import Any, Final

import numpy as np

from rushhour.roadnets.errors import DemandError
from rushhour.traffic.demand.checks import check_type
from rushhour.traffic.demand.model import (
    LANE_FIRST,
    POS_BASE,
    SPEED_GIVEN,
    WAY_GIVEN,
    WAY_OPEN,
    Demand,
    VehicleType,
    empty_demand,
)
from rushhour.traffic.settings.numbers import LATEST

MOST_ROADS: Final = 200_000_000  # of all routes; 800 MB


@dataclass(frozen=True, slots=True)
class Stop:
    """A halt on the way."""

    lane: int  # road lane
    pos: float  # m, front bumper at rest
    duration: float = 0.0  # s
    until: float = -inf  # s, not before
    parking: bool = False  # off the lane


@dataclass(frozen=True, slots=True)
class Trip:
    """One trip; roads and lanes are indices of the network."""

    id: str
    depart: float  # s
    type: VehicleType
    roads: Sequence[int]
    routed: bool = True  # roads is the complete way, not only its ends (and stops)
    mended: bool = False  # its route was given; what is missing between its roads is filled in
    walker: bool = False
    depart_lane: int = LANE_FIRST
    depart_pos: float = 0.0
    depart_pos_kind: int = POS_BASE
    depart_speed: float = 0.0
    depart_speed_kind: int = SPEED_GIVEN
    arrival_pos: float = inf
    stops: Sequence[Stop] = ()


class DemandBuilder:
    """Collects trips in any order; `build` sorts them by departure."""

    def __init__(self) -> None:
        self.trips: list[Trip] = []
        self.remarks: list[str] = []
        self._checked: dict[int, VehicleType] = {}  # types by identity
        self._roads = 0

    def add(self, trip: Trip) -> None:
        """Add a trip. Raises DemandError for one that cannot be driven anywhere."""
        if not abs(trip.depart) <= LATEST:
            raise DemandError(f"vehicle {trip.id!r}: departs at {trip.depart:g}; give a time in s")
        if not trip.roads:
            raise DemandError(f"vehicle {trip.id!r}: has no road; give its route")
        if id(trip.type) not in self._checked:
            check_type(trip.type)
            self._checked[id(trip.type)] = trip.type
        self._roads += len(trip.roads)
        if self._roads > MOST_ROADS:
            raise DemandError(
                f"vehicle {trip.id!r}: the routes have more than {MOST_ROADS} roads in all; "
                "shorten them or run a part of the demand"
            )
        self.trips.append(trip)

    def build(self) -> Demand:
        """The demand, sorted by departure; ties stay in the order in which they were added."""
        trips = sorted(self.trips, key=lambda trip: trip.depart)
        used = {id(trip.type): trip.type for trip in trips}
        distinct = list(dict.fromkeys(used.values())) or [VehicleType()]
        place = {kind: i for i, kind in enumerate(distinct)}
        by_id = {key: place[kind] for key, kind in used.items()}
        routes = {id(trip.roads): trip.roads for trip in trips}  # many share one
        pieces = {key: np.array(roads, np.int32) for key, roads in routes.items()}
        stops = [stop for trip in trips for stop in trip.stops]

        def column(name: str, dtype: Any) -> Any:
            return _column([getattr(trip, name) for trip in trips], name, dtype)

        def stop_column(name: str, dtype: Any) -> Any:
            return _column([getattr(stop, name) for stop in stops], f"{name} of a stop", dtype)

        def choice(trip: Trip) -> Any:
            is_open = not (trip.routed or trip.mended or trip.walker)
            codes = np.full(len(trip.roads), WAY_OPEN if is_open else WAY_GIVEN, np.uint8)
            codes[-1] = WAY_GIVEN
            return codes

        def starts(sizes: list[int]) -> Any:
            return np.concatenate((np.zeros(1, np.int64), np.cumsum(np.array(sizes, np.int64))))

        return Demand(
            types=tuple(distinct),
            ids=tuple(trip.id for trip in trips),
            depart=column("depart", np.float64),
            type=np.array([by_id[id(trip.type)] for trip in trips], np.int32),
            walker=column("walker", np.bool_),
            routed=column("routed", np.bool_),
            route_start=starts([len(trip.roads) for trip in trips]),
            roads=np.concatenate(
                [np.zeros(0, np.int32), *(pieces[id(trip.roads)] for trip in trips)]
            ),
            route_choice=np.concatenate([np.zeros(0, np.uint8), *map(choice, trips)]),
            depart_lane=column("depart_lane", np.int32),
            depart_pos=column("depart_pos", np.float64),
            depart_pos_kind=column("depart_pos_kind", np.uint8),
            depart_speed=column("depart_speed", np.float64),
            depart_speed_kind=column("depart_speed_kind", np.uint8),
            arrival_pos=column("arrival_pos", np.float64),
            stop_start=starts([len(trip.stops) for trip in trips]),
            stop_lane=stop_column("lane", np.int32),
            stop_pos=stop_column("pos", np.float64),
            stop_duration=stop_column("duration", np.float64),
            stop_until=stop_column("until", np.float64),
            stop_parking=stop_column("parking", np.bool_),
            remarks=tuple(self.remarks),
        )


def _column(values: list[Any], name: str, dtype: Any) -> Any:
    try:
        return np.array(values, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise DemandError(f"{name}: wanted numbers ({error})") from None


def merge(demands: Sequence[Demand]) -> Demand:
    """One demand of several, sorted by departure; ties in the order of the list.

    Raises DemandError for demands of different networks.
    """
    if not demands:
        return empty_demand()
    networks = {d.made_for for d in demands} - {""}
    if len(networks) > 1:
        raise DemandError("demands of different networks cannot be joined; make all for one")
    types: list[VehicleType] = list(dict.fromkeys(t for d in demands for t in d.types))
    place = {kind: i for i, kind in enumerate(types)}
    joined = {
        field.name: np.concatenate([getattr(d, field.name) for d in demands])
        for field in fields(Demand)
        if field.name
        not in ("types", "ids", "remarks", "made_for", "type", "route_start", "stop_start")
    }
    kind = np.concatenate(
        [np.array([place[t] for t in d.types], np.int32)[d.type] for d in demands]
    )
    order = np.argsort(joined["depart"], kind="stable")
    ids = [name for d in demands for name in d.ids]
    result: dict[str, Any] = {
        "types": tuple(types),
        "ids": tuple(ids[i] for i in order.tolist()),
        "made_for": networks.pop() if networks else "",
        "type": kind[order],
        "remarks": tuple(line for d in demands for line in d.remarks),
    }
    for start_name, pooled in (
        ("route_start", ("roads", "route_choice")),
        ("stop_start", tuple(n for n in joined if n.startswith("stop_"))),
    ):
        sizes = np.concatenate([np.diff(getattr(d, start_name)) for d in demands])
        first = np.concatenate(([0], np.cumsum(sizes)))[:-1]
        start = np.concatenate(([0], np.cumsum(sizes[order])))
        rows = np.repeat(first[order] - start[:-1], sizes[order]) + np.arange(start[-1])
        result[start_name] = start.astype(np.int64)
        for name in pooled:
            result[name] = joined.pop(name)[rows]
    for name, values in joined.items():
        result[name] = values[order]
    return Demand(**result)
