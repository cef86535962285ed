"""The demand in the run file: group /demand, so that a world can be made from the file alone.

A dataset per field of `Demand`, ids apart, which stand in /vehicles/name; /demand/types has one per
field of `VehicleType`. Routes are written as they were found.
"""

from dataclasses import fields
from math import inf
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.network import LONGEST_VEHICLE
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.hdf5_file import texts, whole
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.model import (
    LANE_ALLOWED,
    MODELS,
    POS_LAST,
    SPEED_AVERAGE,
    Demand,
    VehicleType,
    empty_demand,
)
from rushhour.traffic.recording.unclosed_file import DAMAGE

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile

UNITS: Final = {
    "depart": "s", "depart_pos": "m", "depart_speed": "m/s", "arrival_pos": "m", "stop_pos": "m",
    "stop_duration": "s", "stop_until": "s", "length": "m", "width": "m", "min_gap": "m",
    "accel": "m/s^2", "decel": "m/s^2", "emergency_decel": "m/s^2", "time_gap": "s",
    "max_speed": "m/s",
}  # fmt: skip
ARRAYS: Final = {
    field.name: getattr(empty_demand(), field.name).dtype
    for field in fields(Demand)
    if field.name not in ("types", "ids", "remarks")
}
_OF_STOPS: Final = ("stop_lane", "stop_pos", "stop_duration", "stop_until", "stop_parking")
_MAY_BE_INFINITE: Final = ("arrival_pos", "stop_until", "stop_duration")


def write_demand(group: Any, demand: Demand) -> None:
    """Write a demand whose routes were found into an empty group."""
    import h5py

    text = h5py.string_dtype()
    for name in ARRAYS:
        values = np.asarray(getattr(demand, name), ARRAYS[name])
        options: dict[str, Any] = {}
        if values.size > 256:
            options = {"compression": "gzip", "compression_opts": 1, "shuffle": True}
        data = group.create_dataset(name, data=values, fletcher32=values.size > 256, **options)
        data.attrs["unit"] = UNITS.get(name, "")
    group["remarks"] = np.array(demand.remarks, dtype=text)
    types = group.create_group("types")
    for field in fields(VehicleType):
        column = [getattr(kind, field.name) for kind in demand.types]
        is_text = isinstance(field.default, str)
        types[field.name] = np.array(column, dtype=text if is_text else np.float64)
        types[field.name].attrs["unit"] = UNITS.get(field.name, "")


def read_demand(run: "RunFile", network: Network) -> Demand:
    """The demand that a run began with, on its network. Raises RunError if it is not there, or damaged."""
    group = run.group("demand")
    if group is None:
        raise RunError(
            f"{run.path}: holds no demand, as files of rushhour's first version; record the run again"
        )
    try:
        demand = _read(run, group)
        _check(demand, network)
    except RunError as error:
        raise RunError(f"{run.path}: /demand: {error}; record the run again") from error
    except DAMAGE as error:
        why = " ".join(str(error).split())[:200]
        raise RunError(f"{run.path}: /demand is damaged ({why}); record the run again") from error
    return demand


def _read(run: "RunFile", group: Any) -> Demand:
    import h5py

    arrays: dict[str, Any] = {}
    for name, dtype in ARRAYS.items():
        data = group[name]
        if not isinstance(data, h5py.Dataset) or data.dtype != dtype or data.ndim != 1:
            raise RunError(f"{name}: wanted {dtype} with one axis")
        arrays[name] = whole(data)
    types = group["types"]
    columns: dict[str, list[Any]] = {}
    for field in fields(VehicleType):
        data = types[field.name]
        is_text = isinstance(field.default, str)
        columns[field.name] = texts(data) if is_text else whole(data).tolist()
    rows = zip(*columns.values(), strict=True)
    kinds = tuple(VehicleType(**dict(zip(columns, row, strict=True))) for row in rows)
    remarks = tuple(texts(group["remarks"]))
    return Demand(types=kinds, ids=run.names_at_first, remarks=remarks, **arrays)


def _check(demand: Demand, network: Network) -> None:
    """Refuse what kernels must not index or count with."""
    n = len(demand)
    for kind in demand.types:
        _check_type(kind)
    for name in ARRAYS:
        values: NDArray[Any] = getattr(demand, name)
        if name in _OF_STOPS:
            size = demand.stop_lane.size
        elif name == "roads":
            size = values.size
        else:
            size = n + name.endswith("_start")
        if values.size != size:
            raise RunError(f"{name} has {values.size} values, wanted {size}")
        if values.dtype.kind == "f" and name not in _MAY_BE_INFINITE:
            if not np.isfinite(values).all():
                raise RunError(f"{name} has a value that is not finite")
        elif values.dtype.kind == "f" and np.isnan(values).any():
            raise RunError(f"{name} has a value that is no number")
    for name, end in (("route_start", demand.roads.size), ("stop_start", demand.stop_lane.size)):
        starts = getattr(demand, name)
        if starts[0] != 0 or starts[-1] != end or (np.diff(starts) < 0).any():
            raise RunError(f"{name}: wanted offsets from 0 that never fall, to {end}")
    if (np.diff(demand.route_start) < 1).any() or (np.diff(demand.depart) < 0).any():
        raise RunError("a trip without a road, or departures that are not in order")
    lanes = network.arrays.roads.lane_count.max(initial=1)
    for name, low, high in (
        ("type", 0, len(demand.types) - 1), ("roads", 0, network.n_roads - 1),
        ("stop_lane", 0, network.n_road_lanes - 1), ("depart_pos_kind", 0, POS_LAST),
        ("depart_speed_kind", 0, SPEED_AVERAGE), ("depart_lane", LANE_ALLOWED, max(lanes, 1 << 20)),
    ):  # fmt: skip
        values = getattr(demand, name)
        if values.size and not (low <= int(values.min()) and int(values.max()) <= high):
            raise RunError(f"{name}: wanted {low} to {high}")
    if not demand.routed[~demand.walker].all():
        raise RunError("routed: a trip has no route yet")


def _check_type(kind: VehicleType) -> None:
    numbers = {
        f.name: getattr(kind, f.name) for f in fields(kind) if not isinstance(f.default, str)
    }
    for name, value in numbers.items():
        positive = name not in ("min_gap", "time_gap", "speed_dev", "sigma")
        sound = 0.0 < value if positive else 0.0 <= value
        if not sound or (value == inf and name != "speed_factor_max"):
            raise RunError(f"vehicle type {kind.name[:40]!r}: {name} is {value:g}")
    if (
        kind.length > LONGEST_VEHICLE
        or kind.vehicle_class not in CLASS_BIT
        or kind.model not in MODELS
    ):
        raise RunError(
            f"vehicle type {kind.name[:40]!r}: {kind.length:g} m, class {kind.vehicle_class[:20]!r}, "
            f"model {kind.model[:20]!r}"
        )
