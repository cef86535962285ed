"""Demand: who departs when, from where to where, in what kind of vehicle.

A `Demand` is arrays over trips, sorted by departure time (ties in the order of the source), with
routes and stops pooled. Readers build one with `DemandBuilder`; `merge` joins several.
"""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.reprs import fields_shown
from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.facts import Shown
from rushhour.traffic.words.durations import clock

# depart_lane: a number >= 0 from the kerb, or one of
LANE_FIRST: Final = -1  # the rightmost lane that is allowed
LANE_BEST: Final = -2  # the least full of those that carry the route furthest
LANE_FREE: Final = -3  # the least full
LANE_RANDOM: Final = -4
LANE_ALLOWED: Final = -5  # the least full of those allowed

# How a road of a route came there.
WAY_GIVEN: Final = 0  # the demand names it, and how the way goes on from it
WAY_OPEN: Final = 1  # the demand names it; the way on from it is the driver's choice
WAY_FOUND: Final = 2  # on such a way

# How depart_pos is meant.
POS_GIVEN: Final = 0  # m from the lane's start (front bumper)
POS_BASE: Final = 1  # rear bumper at the lane's start
POS_RANDOM: Final = 2  # one random place; waits while it is occupied
POS_FREE: Final = 3  # the first free place
POS_RANDOM_FREE: Final = 4  # random places, then the first free one
POS_LAST: Final = 5  # behind the last vehicle of the lane

# How depart_speed is meant.
SPEED_GIVEN: Final = 0  # m/s
SPEED_MAX: Final = 1  # as fast as is safe, at most the desired speed
SPEED_DESIRED: Final = 2  # the desired speed; waits while that is unsafe
SPEED_LIMIT: Final = 3  # the posted limit; waits while that is unsafe
SPEED_RANDOM: Final = 4  # uniform between 0 and the desired speed, lowered if unsafe
SPEED_LAST: Final = 5  # that of the last vehicle on the lane
SPEED_AVERAGE: Final = 6  # the mean speed on the lane

MODELS: Final = ("idm", "krauss")


@dataclass(frozen=True)
class VehicleType:
    """How a kind of vehicle is built and driven; SI units."""

    name: str = "car"
    vehicle_class: str = "passenger"  # a name of roadnets.classes
    length: float = 5.0  # m, at most 18
    width: float = 1.8  # m
    min_gap: float = 2.0  # m, bumper to bumper at standstill
    accel: float = 2.5  # m/s^2
    decel: float = 2.5  # m/s^2, comfortable
    emergency_decel: float = 9.0  # m/s^2
    time_gap: float = 1.0  # s, desired, bumper to bumper
    max_speed: float = 55.0  # m/s
    speed_factor: float = 1.0  # mean of the ratio desired speed / limit
    speed_dev: float = 0.1  # its standard deviation
    speed_factor_min: float = 0.2
    speed_factor_max: float = 2.0
    sigma: float = 0.0  # driver's imperfection, Krauss only
    green_reaction: float = 1.5  # s, of the head of a queue when the light turns green
    model: str = "idm"  # one of MODELS

    def __repr__(self) -> str:
        return fields_shown(self)


@dataclass(frozen=True, repr=False)
class Demand(Shown):
    """Trips sorted by departure. n trips; every array is (n,) unless said, and read-only.

    A trip with `routed` False and walker False has only its first and last road (and stops) in the
    pool: `routing.routes.route_demand` fills in the way. A random walker has its first road only
    and draws an exit at every intersection until it is removed at a dead end.
    Where a trip's way is open its driver chooses it as it departs (routing.choosing).
    """

    types: tuple[VehicleType, ...]
    ids: tuple[str, ...]  # source ids
    depart: NDArray[np.float64]  # s
    type: NDArray[np.int32]  # into types
    walker: NDArray[np.bool_]
    routed: NDArray[np.bool_]  # the pool has the complete, connected route
    route_start: NDArray[np.int64]  # (n+1,) into roads
    roads: NDArray[np.int32]  # pooled road indices
    depart_lane: NDArray[np.int32]  # number from the kerb, or LANE_FIRST ...
    depart_pos: NDArray[np.float64]  # m, true metres along the lane
    depart_pos_kind: NDArray[np.uint8]  # POS_GIVEN ...
    depart_speed: NDArray[np.float64]  # m/s
    depart_speed_kind: NDArray[np.uint8]  # SPEED_GIVEN ...
    arrival_pos: NDArray[np.float64]  # m on the last road; inf: its end
    stop_start: NDArray[np.int64]  # (n+1,) into the stop arrays
    stop_lane: NDArray[np.int32]  # road lane
    stop_pos: NDArray[np.float64]  # m, front bumper at rest
    stop_duration: NDArray[np.float64]  # s
    stop_until: NDArray[np.float64]  # s, not before; -inf: none
    stop_parking: NDArray[np.bool_]  # off the lane
    remarks: tuple[str, ...] = ()  # what was skipped or doubted
    made_for: str = (
        ""  # `gate.fingerprint` of the network that roads and lanes are of; "" not known
    )
    route_choice: NDArray[np.uint8] = field(  # pooled as roads: WAY_GIVEN ...; default: all given
        default_factory=lambda: np.zeros(0, np.uint8)
    )

    def __post_init__(self) -> None:
        if not self.route_choice.size:
            object.__setattr__(self, "route_choice", np.zeros(self.roads.size, np.uint8))
        for name in ARRAYS:
            object.__setattr__(self, name, _read_only(getattr(self, name)))

    def _shown(self) -> tuple[str, dict[str, object]]:
        walkers = int(np.count_nonzero(self.walker))
        facts: dict[str, object] = {
            "trips": len(self) - walkers,
            "random walkers": walkers,
            "departures": f"{clock(self.depart[0])} to {clock(self.depart[-1])}"
            if len(self)
            else "",
            "types": ", ".join(kind.name for kind in self.types),
            "remarks": len(self.remarks),
        }
        return "Demand", facts

    def __len__(self) -> int:
        return len(self.ids)


ARRAYS: Final[dict[str, np.dtype[Any]]] = {  # by name of the column
    name: np.dtype(kind)
    for name, kind in {
        "depart": np.float64, "type": np.int32, "walker": np.bool_, "routed": np.bool_,
        "route_start": np.int64, "roads": np.int32, "depart_lane": np.int32,
        "depart_pos": np.float64, "depart_pos_kind": np.uint8, "depart_speed": np.float64,
        "depart_speed_kind": np.uint8, "arrival_pos": np.float64, "stop_start": np.int64,
        "stop_lane": np.int32, "stop_pos": np.float64, "stop_duration": np.float64,
        "stop_until": np.float64, "stop_parking": np.bool_, "route_choice": np.uint8,
    }.items()
}  # fmt: skip


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The array, or a copy of one that is part of another, so that nobody changes it any more."""
    array = np.asarray(array)
    if array.flags.writeable:
        if array.base is not None:
            array = array.copy()
        array.flags.writeable = False
    return array


def open_choice(route_start: NDArray[np.int64]) -> NDArray[np.uint8]:
    """`route_choice` of trips of which the demand names the first and the last road alone."""
    codes = np.full(int(route_start[-1]), WAY_FOUND, np.uint8)
    codes[route_start[:-1]] = WAY_OPEN
    codes[route_start[1:] - 1] = WAY_GIVEN
    return codes


def empty_demand() -> Demand:
    """Nobody: one default vehicle type and no trip."""
    return Demand(
        types=(VehicleType(),),
        ids=(),
        depart=np.zeros(0),
        type=np.zeros(0, np.int32),
        walker=np.zeros(0, np.bool_),
        routed=np.zeros(0, np.bool_),
        route_start=np.zeros(1, np.int64),
        roads=np.zeros(0, np.int32),
        depart_lane=np.zeros(0, np.int32),
        depart_pos=np.zeros(0),
        depart_pos_kind=np.zeros(0, np.uint8),
        depart_speed=np.zeros(0),
        depart_speed_kind=np.zeros(0, np.uint8),
        arrival_pos=np.zeros(0),
        stop_start=np.zeros(1, np.int64),
        stop_lane=np.zeros(0, np.int32),
        stop_pos=np.zeros(0),
        stop_duration=np.zeros(0),
        stop_until=np.zeros(0),
        stop_parking=np.zeros(0, np.bool_),
    )


def want_trips(demand: Demand) -> None:
    """Refuse demand without a trip."""
    if not len(demand):
        raise DemandError("the demand has no trips; check its files and the times of the run")
