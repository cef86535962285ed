"""The demand in the run file: group /demand, so that a world can be made from the file alone.

A dataset per field of `Demand`, ids apart, which stand in /vehicles/name; /demand/types has one per
field of `VehicleType`. Routes are written as they were found.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import DemandError, RunError
from rushhour.roadnets.hdf5_file import keep_differences, texts, whole, with_differences
from rushhour.roadnets.model import Network
from rushhour.roadnets.reading.remarks import differences, in_order
from rushhour.roadnets.writing import replaced
from rushhour.traffic.demand.checks import let_in
from rushhour.traffic.demand.model import ARRAYS, Demand, VehicleType
from rushhour.traffic.recording.unclosed_file import DAMAGE

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile

DEMAND_FORMAT: Final = "rushhour demand"
_DRAWN: Final = re.compile(r"([a-z]+(?:\.[a-z]+)?)\.\d")  # ids of `rushhour demand`, as work.out.12
UNITS: Final = {
    "depart": "s", "depart_pos": "m", "depart_speed": "m/s", "arrival_pos": "m", "stop_pos": "m",
    "stop_duration": "s", "stop_until": "s", "length": "m", "width": "m", "min_gap": "m",
    "accel": "m/s^2", "decel": "m/s^2", "emergency_decel": "m/s^2", "time_gap": "s",
    "max_speed": "m/s",
}  # fmt: skip


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
    keep_differences(group["remarks"], demand.remarks)
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
        demand = _read(group, run.names_at_first)
        demand = let_in(network, demand)
        if not demand.routed[~demand.walker].all():
            raise RunError("routed: a trip has no route yet")
    except (RunError, DemandError) as error:
        raise RunError(f"{run.path}: /demand: {error}; record the run again") from error
    except DAMAGE as error:
        why = " ".join(str(error).split())[:200]
        raise RunError(f"{run.path}: /demand is damaged ({why}); record the run again") from error
    return demand


def save_demand(path: Path, demand: Demand, more: Mapping[str, NDArray[Any]] | None = None) -> None:
    """Write a demand whose routes were found into a file of its own, for `load_demand`.

    more: other datasets, by place. Raises RunError if it cannot be written, and for a demand that was not
    let in to a network.
    """
    import h5py

    if not demand.made_for:
        raise RunError(f"{path}: the demand was made for no network; route it first")
    with replaced(path) as part, h5py.File(part, "w") as file:
        file.attrs["format"] = DEMAND_FORMAT
        file.attrs["made_for"] = demand.made_for
        file["ids"] = np.array(demand.ids, dtype=h5py.string_dtype())
        write_demand(file.create_group("demand"), demand)
        for name, values in (more or {}).items():
            file.create_dataset(name, data=values)


def load_demand(
    path: Path, network: Network, more: Sequence[str] = ()
) -> tuple[Demand, dict[str, NDArray[Any]]]:
    """The demand of a file of `save_demand`, and those of `more` of its other datasets that it has.

    Raises DemandError for another file, a damaged one, and for a demand of another network.
    """
    demand, made_for, found = _stored(path, more)
    try:
        return let_in(network, replace(demand, made_for=made_for)), found
    except DemandError as error:
        raise DemandError(f"{path}: {error}") from None


def _stored(path: Path, more: Sequence[str] = ()) -> tuple[Demand, str, dict[str, NDArray[Any]]]:
    """The demand of a file of `save_demand`, of which network it is, and other datasets."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            if file.attrs.get("format") != DEMAND_FORMAT:
                raise DemandError(
                    f"{path}: is no demand file; give one of `rushhour assign` or `rushhour demand`"
                )
            demand = _read(file["demand"], tuple(texts(file["ids"])))
            made_for = str(file.attrs["made_for"])
            return demand, made_for, {name: whole(file[name]) for name in more if name in file}
    except RunError as error:
        raise DemandError(f"{path}: {error}; write it again") from error
    except FileNotFoundError:
        raise DemandError(f"{path}: no such file; check the name") from None
    except DAMAGE as error:
        why = " ".join(str(error).split())[:200]
        raise DemandError(f"{path}: cannot be read ({why}); write it again") from None


def is_demand_file(path: Path) -> bool:
    """Whether a file says that it is one of `save_demand`."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            return bool(file.attrs.get("format", "") == DEMAND_FORMAT)
    except DAMAGE:
        return False


def stored_demand_facts(path: Path) -> dict[str, Any]:
    """What a file of `save_demand` holds: trips, by vehicle type, class and purpose, and when they depart.

    Raises DemandError for a damaged file.
    """
    demand, made_for, _ = _stored(path)
    numbers = demand.type.tolist()
    if not all(0 <= k < len(demand.types) for k in numbers) or len(demand.depart) != len(numbers):
        raise DemandError(f"{path}: its trips do not fit its vehicle types; write it again")
    kinds = [demand.types[k] for k in numbers]
    facts: dict[str, Any] = {
        "kind": "demand", "name": path.name, "trips": len(demand),
        "types": dict(Counter(kind.name for kind in kinds)),
        "classes": dict(Counter(kind.vehicle_class for kind in kinds)),
        "made_for": made_for,
    }  # fmt: skip
    drawn = [_DRAWN.match(name) for name in demand.ids]
    if drawn and all(drawn):  # as `rushhour demand` names trips, by purpose
        facts["by_purpose"] = dict(Counter(one[1] for one in drawn if one))
    if len(demand):
        facts["first_departure_s"] = float(demand.depart.min())
        facts["last_departure_s"] = float(demand.depart.max())
    facts["differences"] = differences(demand.remarks)
    facts["remarks"] = in_order(demand.remarks)
    return facts


def _read(group: Any, ids: tuple[str, ...]) -> Demand:
    import h5py

    arrays: dict[str, Any] = {}
    for name, dtype in ARRAYS.items():
        if name == "route_choice" and name not in group:  # of older runs, which kept all routes
            continue
        data = group[name]
        if not isinstance(data, h5py.Dataset) or data.dtype != dtype or data.ndim != 1:
            raise RunError(f"{name}: wanted {dtype} with one axis")
        arrays[name] = whole(data)
    types = group["types"]
    columns: dict[str, list[Any]] = {}
    for field in fields(VehicleType):
        if field.name == "green_reaction" and field.name not in types:  # of older runs
            columns[field.name] = [field.default] * len(columns["name"])
            continue
        data = types[field.name]
        is_text = isinstance(field.default, str)
        columns[field.name] = texts(data) if is_text else whole(data).tolist()
    rows = zip(*columns.values(), strict=True)
    kinds = tuple(VehicleType(**dict(zip(columns, row, strict=True))) for row in rows)
    remarks = with_differences(group["remarks"], texts(group["remarks"]))
    return Demand(types=kinds, ids=ids, remarks=remarks, **arrays)
