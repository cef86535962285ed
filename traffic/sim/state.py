"""The arrays of a world as its parts make and re-pack them; what they are stands in sim.fields."""

from collections.abc import Iterable
from typing import Any, Final

import numba
import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import Actuation, NetworkArrays
from rushhour.kernels.core.obstacles import Obstacles
from rushhour.kernels.core.order import MOST_PARTS
from rushhour.kernels.core.repacking import exchange
from rushhour.kernels.core.trips import Trips, Waiting
from rushhour.kernels.core.vehicles import IDM, KRAUSS, Grants, Order, Routes, Types, Vehicles
from rushhour.kernels.signals.fixed_time import Lights
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.traffic.demand.model import Demand, VehicleType
from rushhour.traffic.sim import fields
from rushhour.traffic.sim.fields import new

MOST_FRAMES: Final = 2**30  # of a stop: for ever
WORDS: Final[dict[int, Any]] = {8: np.int64, 4: np.int32, 1: np.uint8}  # by width


def new_vehicles(capacity: int) -> Vehicles:
    """Arrays for `capacity` vehicles, all slots free."""
    return new(Vehicles, {fields.VEHICLE: capacity})


def new_order(n_lanes: int, capacity: int) -> Order:
    """An empty order."""
    parts = min(numba.get_num_threads(), MOST_PARTS)
    counts = np.zeros((1 + parts, n_lanes + 1), np.int32)
    return new(Order, {fields.LANE: n_lanes, fields.VEHICLE: capacity}, counts=counts)


def other_order(order: Order) -> Order:
    """The same order with its two buffers exchanged, for the next frame."""
    return order._replace(slot=order.spare, spare=order.slot)


def new_grants(net: NetworkArrays) -> Grants:
    """Grants that nobody holds."""
    sizes = {
        fields.CONNECTOR: net.connectors.from_lane.size,
        fields.ROAD_LANE: net.lanes.out_start.size - 1,
        fields.INTERSECTION: net.intersections.control.size,
        fields.INTERSECTION_LANE: net.intersections.lane.size,
    }
    return new(Grants, sizes, obstacles=new_obstacles(net.lanes.length.size, 0))


def new_obstacles(n_lanes: int, room: int) -> Obstacles:
    """Room for so many entries, none there."""
    return new(Obstacles, {fields.LANE: n_lanes, fields.ENTRY: room})


def type_arrays(types: tuple[VehicleType, ...]) -> Types:
    """Vehicle types as kernels see them."""

    def column(name: str) -> NDArray[np.float64]:
        return np.array([getattr(t, name) for t in types], np.float64)

    return Types(
        length=column("length"),
        width=column("width"),
        min_gap=column("min_gap"),
        accel=column("accel"),
        decel=column("decel"),
        mean_accel=np.sqrt(column("accel") * column("decel")),
        emergency=column("emergency_decel"),
        time_gap=column("time_gap"),
        max_speed=column("max_speed"),
        sigma=column("sigma"),
        green_reaction=column("green_reaction"),
        model=np.array([KRAUSS if t.model == "krauss" else IDM for t in types], np.int32),
        permission=np.array([CLASS_BIT[t.vehicle_class] for t in types], np.uint32),
        factor_mean=column("speed_factor"),
        factor_dev=column("speed_dev"),
        factor_min=column("speed_factor_min"),
        factor_max=column("speed_factor_max"),
    )


def trip_arrays(demand: Demand) -> Trips:
    """Demand as kernels see it: copies that can be written, as all that they were compiled for."""
    return Trips(
        depart=demand.depart.copy(),
        type=demand.type.copy(),
        walker=demand.walker.copy(),
        route_start=demand.route_start[:-1].copy(),
        route_end=demand.route_start[1:].copy(),
        lane=demand.depart_lane.copy(),
        pos=demand.depart_pos.copy(),
        pos_kind=demand.depart_pos_kind.copy(),
        speed=demand.depart_speed.copy(),
        speed_kind=demand.depart_speed_kind.copy(),
        stop_start=demand.stop_start.copy(),
    )


def route_arrays(
    demand: Demand, n_lanes: int, round_roads: NDArray[np.bool_], begin: float, dt: float
) -> Routes:
    """Routes and stops with times in frames. round_roads: (n_roads,) part of a roundabout."""
    until = np.where(np.isfinite(demand.stop_until), np.ceil((demand.stop_until - begin) / dt), -1)
    return Routes(
        road=demand.roads.copy(),
        arrival=demand.arrival_pos.copy(),
        stop_lane=demand.stop_lane.copy(),
        stop_pos=demand.stop_pos.copy(),
        stop_frames=np.clip(np.ceil(demand.stop_duration / dt), -1, MOST_FRAMES).astype(np.int32),
        stop_until=np.clip(until, -1, 2**31 - 1).astype(np.int32),
        stop_parking=demand.stop_parking.copy(),
        stops_on=np.isin(np.arange(n_lanes), demand.stop_lane),
        round=round_roads,
    )


def new_waiting(net: NetworkArrays, n_trips: int, capacity: int) -> Waiting:
    """Empty queues outside."""
    sizes = {
        fields.ROAD: net.roads.first_lane.size,
        fields.TRIP: n_trips,
        fields.LANE: net.lanes.length.size,
        fields.VEHICLE: capacity,
    }
    return new(Waiting, sizes)


def new_moves(capacity: int) -> NDArray[np.int32]:
    """Room for the pairs of slots that change places when all of them are re-packed."""
    return np.zeros((capacity, 2), np.int32)


Columns = tuple[tuple[NDArray[Any], ...], ...]


def by_width(arrays: Iterable[NDArray[Any]]) -> Columns:
    """Arrays and columns of tables, together by their width alone, so that a few kernels serve all."""
    columns = [column for array in arrays for column in ([array] if array.ndim == 1 else array.T)]
    words = [column.view(WORDS[column.itemsize]) for column in columns]
    groups = [tuple(word for word in words if word.itemsize == width) for width in WORDS]
    return tuple(group for group in groups if group)


def repack(columns: Columns, moves: NDArray[np.int32], count: int) -> None:
    """Let the first `count` pairs of slots change places; see kernels.core.repacking."""
    for alike in columns:
        exchange(alike, moves, count)


def program_members(net: NetworkArrays) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Connectors of each signal program: offsets and connector numbers."""
    signal = net.connectors.signal
    members = np.flatnonzero(signal >= 0)
    members = members[np.argsort(signal[members], kind="stable")]
    n = net.signals.cycle.size
    start = np.searchsorted(signal[members], np.arange(n + 1))
    return start.astype(np.int32), members.astype(np.int32)


def new_lights(actuation: Actuation) -> Lights:
    """Signals before the first frame."""
    sizes = {fields.PROGRAM: actuation.control.size, fields.DETECTOR: actuation.lane.size}
    return new(Lights, sizes)
