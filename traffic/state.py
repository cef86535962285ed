"""The arrays of a world: made, grown, re-packed, hashed."""

import hashlib
from collections.abc import Collection
from typing import Any, Final

import numba
import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.holders import FRAMES_NOTED
from rushhour.kernels.network import FIXED, Actuation, NetworkArrays
from rushhour.kernels.order import MOST_PARTS
from rushhour.kernels.outside.obstacles import COUNTS, Obstacles
from rushhour.kernels.repacking import exchange, exchange_rows
from rushhour.kernels.signals import Lights
from rushhour.kernels.trips import Trips, Waiting
from rushhour.kernels.vehicles import (
    BEHIND,
    IDM,
    KRAUSS,
    NEVER,
    PATH,
    Grants,
    Order,
    Routes,
    Types,
    Vehicles,
)
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.traffic.demand.model import Demand, VehicleType

LONG_AGO = -(2**30)  # frame
MOST_FRAMES: Final = 2**30  # of a stop: for ever
_WORDS: Final[dict[int, Any]] = {1: np.uint8, 4: np.int32, 8: np.int64}
_WIDE = {"path": PATH, "behind": BEHIND}
# Not part of the state: slots, what is only valid within a frame, and how roads are remembered.
_DERIVED = ("line", "yields_to", "change_to", "left", "trip", "route_start")
_TOLD = ("told", "told_until")  # hashed as soon as anybody was told something


def dtype_of(annotation: Any) -> Any:
    """The dtype of a field that is annotated NDArray[dtype].

    That is `ndarray[shape, dtype[X]]`, and from numpy 2.5 on, under Python 3.12, `NDArray[X]`.
    """
    last = annotation.__args__[-1]
    return last.__args__[0] if hasattr(last, "__args__") else last


def new_vehicles(capacity: int) -> Vehicles:
    """Arrays for `capacity` vehicles, all slots free."""
    fields: list[Any] = []
    for name, kind in Vehicles.__annotations__.items():
        dtype = dtype_of(kind)
        shape: Any = (capacity, _WIDE[name]) if name in _WIDE else (capacity,)
        fields.append(np.full(shape, {"lane": -1, "top": np.inf}.get(name, 0), dtype))
    return Vehicles(*fields)


def grown(array: NDArray[Any], size: int, fill: int = 0) -> NDArray[Any]:
    """A copy with `size` entries along its first axis, the new ones filled."""
    new = np.full((size, *array.shape[1:]), fill, array.dtype)
    new[: array.shape[0]] = array
    return new


def columns(veh: Vehicles) -> list[tuple[str, NDArray[Any]]]:
    """Names and arrays of the vehicles' state."""
    return [(name, getattr(veh, name)) for name in veh._fields]


def grown_vehicles(veh: Vehicles, capacity: int) -> Vehicles:
    """The same vehicles in arrays for more of them."""
    return Vehicles(
        *(grown(array, capacity, -1 if name == "lane" else 0) for name, array in columns(veh))
    )


def new_order(n_lanes: int, capacity: int) -> Order:
    """An empty order."""
    return Order(
        start=np.zeros(n_lanes + 1, np.int32),
        slot=np.zeros(capacity, np.int32),
        spare=np.zeros(capacity, np.int32),
        counts=np.zeros((1 + min(numba.get_num_threads(), MOST_PARTS), n_lanes + 1), np.int32),
        over=np.full(n_lanes, -1, np.int32),
        over_rear=np.zeros(n_lanes),
    )


def other_order(order: Order) -> Order:
    """The same order with its two buffers exchanged, for the next frame."""
    return order._replace(slot=order.spare, spare=order.slot)


def new_grants(net: NetworkArrays) -> Grants:
    """Grants that nobody holds."""
    n = net.connectors.from_lane.size
    n_road_lanes = net.lanes.out_start.size - 1
    return Grants(
        light=np.zeros(n, np.uint8),
        closes=np.full(n, np.inf),
        tail=np.full(n, np.inf),
        tail_slot=np.full(n, -1, np.int32),
        waiter=np.full(n, -1, np.int32),
        held=np.ones(net.intersections.control.size, np.uint8),
        noted=np.full(n_road_lanes, FRAMES_NOTED, np.uint8),
        reserved=np.zeros(n_road_lanes),
        kept=np.zeros(n_road_lanes),
        crossed=np.zeros(n_road_lanes, np.bool_),
        onward=np.full(n_road_lanes, -1, np.int32),
        wished=np.zeros(n_road_lanes),
        wished_since=np.full(n_road_lanes, NEVER, np.int32),
        wished_first=np.zeros(n_road_lanes),
        eldest_since=np.full(n_road_lanes, NEVER, np.int32),
        eldest=np.zeros(n_road_lanes),
        claimed=np.zeros(n_road_lanes),
        claimed_since=np.full(n_road_lanes, NEVER, np.int32),
        candidate=np.full(net.intersections.lane.size, -1, np.int32),
        waived=np.full(n, -1, np.int32),
        critical_gap=np.zeros(n),
        pocket=np.zeros(n),
        let_past=np.zeros(n),
        zips=np.zeros(n, np.bool_),
        opposite=np.full(n_road_lanes, -1, np.int32),
        passers=np.zeros(n_road_lanes, np.int32),
        obstacles=new_obstacles(net.lanes.length.size, 0),
    )


def new_obstacles(n_lanes: int, room: int) -> Obstacles:
    """Room for so many entries, none there."""
    fields: dict[str, NDArray[Any]] = {}
    for name, kind in Obstacles.__annotations__.items():
        fields[name] = np.zeros(room, dtype_of(kind))
    fields["counts"], fields["first"] = np.zeros(COUNTS, np.int64), np.full(n_lanes, -1, np.int32)
    return Obstacles(**fields)


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


def route_arrays(demand: Demand, n_lanes: int, begin: float, dt: float) -> Routes:
    """Routes and stops with times in frames."""
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
    )


def new_waiting(net: NetworkArrays, n_trips: int, capacity: int) -> Waiting:
    """Empty queues outside."""
    n_roads = net.roads.first_lane.size
    return Waiting(
        head=np.full(n_roads, -1, np.int32),
        tail=np.full(n_roads, -1, np.int32),
        following=np.full(n_trips, -1, np.int32),
        lanes=np.zeros(n_trips, np.uint64),
        shut=np.zeros(n_roads, np.uint64),
        busy=np.zeros(n_roads, np.int32),
        numbers=np.zeros(3, np.int64),
        newest=np.full(net.lanes.length.size, -1, np.int32),
        older=np.full(capacity, -1, np.int32),
    )


def new_moves(capacity: int) -> NDArray[np.int32]:
    """Room for the pairs of slots that change places when all of them are re-packed."""
    return np.zeros((capacity, 2), np.int32)


Columns = tuple[tuple[NDArray[Any], ...], ...]


def columns_to_pack(arrays: Collection[NDArray[Any]]) -> Columns:
    """Arrays by slot, together by their width alone, so that a few kernels serve all; tables last."""
    one = [array.view(_WORDS[array.itemsize]) for array in arrays if array.ndim == 1]
    tables = tuple(array for array in arrays if array.ndim == 2)
    return (*(tuple(a for a in one if a.itemsize == width) for width in _WORDS), tables)


def repack(columns: Columns, moves: NDArray[np.int32], count: int) -> None:
    """Let the first `count` pairs of slots change places; see kernels.repacking."""
    for alike in columns[:-1]:
        exchange(alike, moves, count)
    exchange_rows(columns[-1], moves, count)


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
    n, detectors = actuation.control.size, actuation.lane.size
    return Lights(
        phase=np.full(n, -1, np.int32),
        since=np.zeros(n),
        target=np.full(n, -1, np.int32),
        held=np.full(n, LONG_AGO, np.int32),
        hit=np.full(detectors, LONG_AGO, np.int32),
        served=np.full(detectors, LONG_AGO, np.int32),
    )


def state_hash(
    veh: Vehicles,
    routes: Routes,
    frame: int,
    waiting: Waiting,
    actuation: Actuation,
    lights: Lights,
    aside: Vehicles,
    commanded: bytes,
) -> str:
    """SHA-256 of the state in order of vehicle id; slots, packing and threads leave no trace.

    aside: vehicles at the side of the road. commanded: what else commands have left in the world.
    """
    live = np.flatnonzero(veh.lane >= 0)
    h = hashlib.sha256(np.array([frame, live.size], np.int64).tobytes())
    _add_vehicles(h, veh, routes, live)
    h.update(waiting.head.tobytes() + waiting.numbers[:2].tobytes())
    if (actuation.control != FIXED).any():
        for remembered in lights:
            h.update(remembered.tobytes())
    if aside.lane.size:
        h.update(b"aside")
        _add_vehicles(h, aside, routes, np.arange(aside.lane.size))
    h.update(commanded)
    return h.hexdigest()


def _add_vehicles(h: Any, veh: Vehicles, routes: Routes, rows: NDArray[np.int64]) -> None:
    """Add the state of some rows of vehicles to a hash, in order of their ids."""
    rows = rows[np.argsort(veh.id[rows], kind="stable")]
    untold = () if veh.told[rows].any() else _TOLD
    if np.isinf(veh.top[rows]).all():
        untold = (*untold, "top")
    for name, array in columns(veh):
        if name not in _DERIVED and name not in untold:
            h.update(name.encode())
            h.update(np.ascontiguousarray(array[rows]).tobytes())
    routed = rows[veh.leg[rows] >= 0]
    first = veh.leg[routed].astype(np.int64)
    size = np.maximum(veh.route_end[routed] - first, 0)
    ends = np.cumsum(size)
    places = np.arange(ends[-1] if size.size else 0) + np.repeat(first - (ends - size), size)
    h.update(routes.road[places].tobytes())
