"""Demand as kernels see it: trips, and the queues of those that are due."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.vehicles import Routes, Vehicles


class Trips(NamedTuple):
    """Demand as kernels see it, shape (n_trips,) unless said; codes of traffic.demand.model."""

    depart: NDArray[np.float64]  # s, ascending
    type: NDArray[np.int32]
    walker: NDArray[np.bool_]
    route_start: NDArray[np.int64]  # into the pool of routes; where its driver chose another way
    route_end: NDArray[np.int64]
    lane: NDArray[np.int32]
    pos: NDArray[np.float64]
    pos_kind: NDArray[np.uint8]
    speed: NDArray[np.float64]
    speed_kind: NDArray[np.uint8]
    stop_start: NDArray[np.int64]  # (n+1,)


class Waiting(NamedTuple):
    """Trips that are due and wait outside."""

    head: NDArray[np.int32]  # (n_roads,) first trip of the queue; -1
    tail: NDArray[np.int32]  # (n_roads,)
    following: NDArray[np.int32]  # (n_trips,) next in the queue; -1
    lanes: NDArray[np.uint64]  # (n_trips,) bit per lane number on which it may depart
    shut: NDArray[np.uint64]  # (n_roads,) bit per lane number: closed, nobody departs onto it
    busy: NDArray[np.int32]  # (n_roads,) roads with a queue, in front
    numbers: NDArray[np.int64]  # [0] next trip to become due, [1] roads in busy, [2] lowest slot
    newest: NDArray[np.int32]  # (n_lanes,) newcomer of this frame on the lane; -1
    older: NDArray[np.int32]  # (capacity,) newcomer before this one on its lane; -1


@kernel(inline="always")
def is_on_last_road(veh: Vehicles, i: int) -> bool:
    """Whether the road that i is on, or comes from, is the last of its trip; not of a walker."""
    return bool(veh.leg[i] >= 0 and veh.leg[i] + 1 >= veh.route_end[i])


@kernel(inline="always")
def has_stops(veh: Vehicles, routes: Routes, i: int) -> bool:
    """Whether stops of its trip lie before i. Where no trip has any, no vehicle is asked."""
    return bool(routes.stop_lane.shape[0] > 0 and veh.stop[i] < veh.stop_end[i])
