"""The network with other speed limits on some of its lanes.

A way through an intersection allows the lower limit of the lanes that it joins, and no more than its
own where the source gives it a lower one. Where a limit is raised, bends that did not bind before are
measured: their speeds were left out when the network was built.
"""

from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import PROFILE_STEP, Lanes
from rushhour.kernels.following.curve_speed import lay_profiles
from rushhour.roadnets.model import Network

Values = NDArray[np.float64]


def with_limits(network: Network, limit: Values, lateral: float) -> Network:
    """The network with these limits, (n_road_lanes,) m/s, nan: its own.

    lateral: m/s^2 that is comfortable in a bend.
    """
    given = ~np.isnan(limit)
    if not given.any():
        return network
    arrays, n = network.arrays, limit.size
    own, links = arrays.lanes.speed, arrays.connectors
    speed = own.copy()
    speed[:n][given] = limit[given]
    joins = np.minimum(speed[links.from_lane], speed[links.to_lane])
    joined = np.minimum(own[links.from_lane], own[links.to_lane])
    across = np.where(own[n:] < joined, np.minimum(own[n:], joins), joins)
    touched = given[links.from_lane] | given[links.to_lane]
    speed[n:][touched] = across[touched]
    lanes = _with_bends(network, speed, lateral)._replace(speed=speed)
    roads = arrays.roads._replace(speed=np.maximum.reduceat(speed[:n], arrays.roads.first_lane))
    _as_before(arrays.lanes, lanes)
    _as_before(arrays.roads, roads)
    # Roads take other times now; what else was derived holds.
    derived = {
        key: value
        for key, value in network.derived.items()
        if not (isinstance(key, tuple) and key[0] == "road graph")
    }
    return replace(network, arrays=arrays._replace(lanes=lanes, roads=roads), derived=derived)


def _as_before(before: Any, after: Any) -> None:
    """Let arrays be read-only where they were: kernels are compiled for one kind of them."""
    for old, new in zip(before, after, strict=True):
        if new is not old:
            new.flags.writeable = old.flags.writeable


def _with_bends(network: Network, speed: Values, lateral: float) -> Lanes:
    """The lanes with the speeds of bends that begin to bind at higher limits."""
    lanes = network.arrays.lanes
    size = np.diff(lanes.profile_start)
    raised = np.flatnonzero((speed > lanes.speed) & (size == 0))
    if not raised.size:
        return lanes
    start, profile, entry = _profiles_of(network, raised, speed[raised], lateral)
    old = np.split(lanes.profile, lanes.profile_start[1:-1])
    for row, lane in enumerate(raised.tolist()):
        old[lane] = profile[start[row] : start[row + 1]]
    size[raised] = np.diff(start)
    entry_speed = lanes.entry_speed.copy()
    entry_speed[raised] = entry
    return lanes._replace(
        profile_start=np.concatenate(([0], np.cumsum(size))).astype(np.int32),
        profile=np.concatenate(old),
        entry_speed=entry_speed,
    )


def _profiles_of(
    network: Network, which: NDArray[np.int64], speed: Values, lateral: float
) -> tuple[NDArray[np.int32], Values, Values]:
    """Profiles of some lanes alone: starts, samples, and speeds at their beginnings."""
    first, last = network.point_start[which], network.point_start[which + 1]
    rows = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)])
    length = network.arrays.lanes.length[which].copy()
    most = sum(ceil(one / PROFILE_STEP) + 1 for one in length.tolist())
    start, profile = np.empty(which.size + 1, np.int32), np.empty(most)
    entry = np.empty(which.size)
    longest = ceil(float(length.max()) / PROFILE_STEP) + 1
    used = lay_profiles(
        network.points[rows], network.station[rows],
        np.concatenate(([0], np.cumsum(last - first))).astype(np.int32), length, speed, lateral,
        start, profile, entry, np.empty((2, longest)),
    )  # fmt: skip
    return start, profile[:used], entry
