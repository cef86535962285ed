"""Measuring: what vehicles leave on the roads that they pass over.

A vehicle has *readings* that only grow: time, distance, what the way takes at its desired speed,
time standing, time at stops. What it leaves on a road is their growth between its coming and its
leaving, so that only those need a look who change lane, and what all roads and intersections get
adds up to what the trips took. It is summed in whole TICKS, so that a sum is the same whoever is added
first. Who enters and leaves roads with sections is listed first, as who passes loops (`measuring.loops`).
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import Types, Vehicles
from rushhour.kernels.following.desired_speed import desired_speed

# Columns of `since` and `sums`.
TIME: Final = 0  # s after frame 0
DISTANCE: Final = 1  # m
IDEAL: Final = 2  # s the way takes at the desired speed
WAITED: Final = 3  # s below 0.1 m/s, not at a stop
STOPPED: Final = 4  # s at stops
READINGS: Final = 5
TICKS: Final = 1 << 20  # in a second or a metre of `sums`

# Columns of `counts`.
ENTERED: Final = 0  # drove in or departed there
DEPARTED: Final = 1
LEFT: Final = 2  # drove out or arrived there
ARRIVED: Final = 3
COUNTS: Final = 4

# Columns of the list of passages.
ROAD: Final = 0
FROM: Final = 1  # lane where it began the frame
NAME: Final = 2  # vehicle
OUT: Final = 3  # 1: it left the road; 0: it entered
TIMED: Final = 4  # s after frame 0
PASSAGE: Final = 5


class Meters(NamedTuple):
    """What is measured on roads; row n_roads of counts and sums is for all connectors."""

    road: NDArray[np.int32]  # (n_trips,) where the vehicle is: road, n_roads: connector, -1 nowhere
    since: NDArray[np.float64]  # (n_trips, READINGS) when it came there or the interval began
    s: NDArray[np.float64]  # (n_trips,) m, at the end of the last frame; on watched lanes only
    counts: NDArray[np.int64]  # (n_roads+1, COUNTS) in this interval
    sums: NDArray[np.int64]  # (n_roads+1, READINGS) in this interval, ticks
    watched: NDArray[np.bool_]  # (n_lanes,) a lane of a road with a loop
    marked: NDArray[np.bool_]  # (n_roads+1,) who enters and leaves is logged
    log: NDArray[np.float64]  # (size, PASSAGE) of this frame
    logged: NDArray[np.int64]  # (1,) how many


@kernel
def come(
    m: Meters, name: int, road: int, t: float, distance: float, ideal: float, waited: float,
    stopped: float,
) -> None:  # fmt: skip
    """Vehicle `name` comes onto a road (n_roads: a connector) with these readings."""
    m.road[name] = road
    m.since[name, TIME] = t
    m.since[name, DISTANCE] = distance
    m.since[name, IDEAL] = ideal
    m.since[name, WAITED] = waited
    m.since[name, STOPPED] = stopped


@kernel
def ticks(amount: float) -> int:
    """Seconds or metres in TICKS."""
    return int(np.rint(amount * TICKS))


@kernel
def settle_sums(
    m: Meters, name: int, t: float, distance: float, ideal: float, waited: float, stopped: float
) -> None:
    """Add the growth of its readings to the road that vehicle `name` is on."""
    road = m.road[name]
    if road >= 0:
        m.sums[road, TIME] += ticks(t - m.since[name, TIME])
        m.sums[road, DISTANCE] += ticks(distance - m.since[name, DISTANCE])
        m.sums[road, IDEAL] += ticks(ideal - m.since[name, IDEAL])
        m.sums[road, WAITED] += ticks(waited - m.since[name, WAITED])
        m.sums[road, STOPPED] += ticks(stopped - m.since[name, STOPPED])


@kernel
def log_passage(m: Meters, name: int, lane: int, road: int, left: bool, t: float) -> None:
    """Count who enters or leaves a road, and log it where the road is marked; it began on `lane`."""
    m.counts[road, LEFT if left else ENTERED] += 1
    x = int(m.logged[0])
    if m.marked[road] and x < m.log.shape[0]:
        m.log[x, ROAD] = road
        m.log[x, FROM] = lane
        m.log[x, NAME] = name
        m.log[x, OUT] = 1.0 if left else 0.0
        m.log[x, TIMED] = t
        m.logged[0] = x + 1


@kernel
def leave_road(
    m: Meters, name: int, lane: int, t: float, distance: float, ideal: float, waited: float,
    stopped: float,
) -> None:  # fmt: skip
    """Vehicle `name`, that began the frame on `lane`, leaves the road that it is on with these readings."""
    settle_sums(m, name, t, distance, ideal, waited, stopped)
    if m.road[name] >= 0:
        log_passage(m, name, lane, m.road[name], True, t)


@kernel
def enter_lane(
    net: NetworkArrays, m: Meters, name: int, lane: int, on: int, t: float, distance: float,
    ideal: float, waited: float, stopped: float,
) -> None:  # fmt: skip
    """Vehicle `name`, that began the frame on `lane`, comes onto the lane `on` with these readings."""
    road = net.lanes.road[on]
    road = road if road >= 0 else m.sums.shape[0] - 1
    come(m, name, road, t, distance, ideal, waited, stopped)
    log_passage(m, name, lane, m.road[name], False, t)


@kernel
def waited_until(veh: Vehicles, i: int, frame: int) -> int:
    """Frames that i has stood, but for those from `frame` on."""
    standing = veh.stands_since[i]
    return veh.waited[i] + (max(0, frame - standing) if standing >= 0 else 0)


@kernel
def take_readings(
    net: NetworkArrays, veh: Vehicles, types: Types, m: Meters, frame: int, dt: float,
    on_road: NDArray[np.int64], slots: NDArray[np.int64],
) -> None:  # fmt: skip
    """Settle what the vehicles in some slots have left so far, as an interval ends before `frame`.

    Those not known yet become known. on_road: (n_roads+1,) how many are where, counted anew.
    """
    n_roads = on_road.shape[0] - 1
    on_road[:] = 0
    for i in slots:
        lane = veh.lane[i]
        name = veh.id[i]
        road = net.lanes.road[lane] if net.lanes.road[lane] >= 0 else n_roads
        distance = veh.distance[i] + veh.s[i]
        ideal = veh.ideal[i] + veh.s[i] / desired_speed(net, veh, types, i, lane)
        waited, stopped = waited_until(veh, i, frame) * dt, veh.stopped[i] * dt
        settle_sums(m, name, frame * dt, distance, ideal, waited, stopped)
        come(m, name, road, frame * dt, distance, ideal, waited, stopped)
        m.s[name] = veh.s[i]
        on_road[road] += 1
