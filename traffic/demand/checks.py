"""The gate for demand: what kernels must not index or count with is refused, whoever made it."""

import warnings
from dataclasses import replace
from math import inf
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import LONGEST_VEHICLE
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.drafts.shapes import LONGEST
from rushhour.roadnets.errors import DemandError, UnheardParameter
from rushhour.roadnets.gate import fingerprint
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.model import (
    ARRAYS,
    LANE_ALLOWED,
    MODELS,
    POS_LAST,
    SPEED_AVERAGE,
    WAY_FOUND,
    Demand,
    VehicleType,
)
from rushhour.traffic.settings.numbers import LATEST
from rushhour.traffic.settings.parameter_table import CLASS_OF_TYPE, TYPE_FIELDS, TYPE_NAMES
from rushhour.traffic.settings.parameters import Parameters

FASTEST: Final = 1e3  # m/s, at which a vehicle departs
# The largest value of each number of a vehicle type, and whether it may be 0.
TYPE_BOUNDS: Final[dict[str, tuple[float, bool]]] = {
    "length": (LONGEST_VEHICLE, False), "width": (100.0, False), "min_gap": (1e3, True),
    "accel": (1e3, False), "decel": (1e3, False), "emergency_decel": (1e3, False),
    "time_gap": (1e3, True), "max_speed": (1e6, False), "speed_factor": (1e3, False),
    "speed_dev": (1e3, True), "speed_factor_min": (1e3, False), "speed_factor_max": (inf, False),
    "sigma": (1e3, True), "green_reaction": (1e3, True),
}  # fmt: skip
# The least and the largest value of each column of numbers; None: of the network or the demand.
BOUNDS: Final[dict[str, tuple[float, float]]] = {
    "depart": (-LATEST, LATEST), "depart_pos": (-LONGEST, LONGEST), "depart_speed": (0.0, FASTEST),
    "arrival_pos": (-LONGEST, inf), "stop_pos": (-LONGEST, LONGEST), "stop_duration": (-LATEST, inf),
    "stop_until": (-inf, inf), "depart_pos_kind": (0, POS_LAST),
    "depart_speed_kind": (0, SPEED_AVERAGE), "depart_lane": (LANE_ALLOWED, 1 << 20),
    "route_choice": (0, WAY_FOUND),
}  # fmt: skip


def check_type(kind: VehicleType) -> None:
    """Refuse a type that no vehicle can have. Raises DemandError naming the number."""
    name = str(kind.name)[:60]
    for field, (most, may_be_0) in TYPE_BOUNDS.items():
        value = getattr(kind, field)
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not (0.0 < value <= most or (value == 0.0 and may_be_0)):
            least = ">= 0" if may_be_0 else "> 0"
            unit = " m" if field == "length" else ""
            shown = f"{value:g}" if number else repr(value)[:40]
            raise DemandError(
                f"vehicle type {name!r}: {field} {shown}{unit}; wanted {least}"
                + (f", at most {most:g}{unit}" if most < inf else "")
            )
    for field, known in (("vehicle_class", tuple(CLASS_BIT)), ("model", MODELS)):
        value = getattr(kind, field)
        if value not in known:
            raise DemandError(
                f"vehicle type {name!r}: {field} {str(value)[:40]!r}; wanted one of {', '.join(known)}"
            )


def let_in(network: Network, demand: Demand) -> Demand:
    """The demand, checked, as one that was made for this network.

    Raises DemandError for demand of another network, and for columns that do not fit it or each
    other.
    """
    ours = fingerprint(network)
    if demand.made_for not in ("", ours):
        raise DemandError(
            f"demand of {len(demand):,} trips was made for another network than {network.name!r}: "
            "its roads are numbered otherwise; make it, or read it, for this network"
        )
    _check(network, demand)
    return demand if demand.made_for else replace(demand, made_for=ours)


def _check(network: Network, demand: Demand) -> None:
    n, stops = len(demand), demand.stop_lane.size
    for kind in demand.types:
        check_type(kind)
    for name, dtype in ARRAYS.items():
        values: NDArray[Any] = getattr(demand, name)
        size = stops if name.startswith("stop_") and name != "stop_start" else n
        if name == "roads":
            size = values.size
        elif name == "route_choice":
            size = demand.roads.size
        elif name.endswith("_start"):
            size = n + 1
        if values.dtype != dtype or values.shape != (size,) or not values.flags.c_contiguous:
            raise DemandError(
                f"demand: {name} has {values.dtype} of shape {values.shape}; "
                f"wanted contiguous {dtype} of shape ({size},)"
            )
    for name, end in (("route_start", demand.roads.size), ("stop_start", stops)):
        starts = getattr(demand, name)
        if starts[0] != 0 or starts[-1] != end or (np.diff(starts) < 0).any():
            raise DemandError(f"demand: {name}: wanted offsets from 0 that never fall, to {end}")
    if (np.diff(demand.route_start) < 1).any():
        trip = int(np.argmin(np.diff(demand.route_start)))
        raise DemandError(f"demand: vehicle {demand.ids[trip][:60]!r} has no road; give its route")
    ranges = {
        **BOUNDS, "type": (0, len(demand.types) - 1), "roads": (0, network.n_roads - 1),
        "stop_lane": (0, network.n_road_lanes - 1),
    }  # fmt: skip
    for name, (low, high) in ranges.items():
        values = getattr(demand, name)
        if values.size and not (low <= values.min() and values.max() <= high):
            at = int(np.argmin((values >= low) & (values <= high)))
            raise DemandError(
                f"demand: {name} has {values[at]:g} at {at}; wanted {low:g} to {high:g} "
                f"on network {network.name!r}"
            )
    if (np.diff(demand.depart) < 0.0).any():
        trip = int(np.argmin(np.diff(demand.depart))) + 1
        raise DemandError(
            f"demand: vehicle {demand.ids[trip][:60]!r} departs before the one in front of it; "
            "sort trips by departure"
        )
    _want_ways(network, demand)


def _want_ways(network: Network, demand: Demand) -> None:
    """The roads of a route that is told to be complete follow each other."""
    links = network.arrays.roads
    whole = np.repeat(demand.routed, np.diff(demand.route_start))
    whole[demand.route_start[1:] - 1] = False  # the last road of a trip
    pairs = np.flatnonzero(whole)
    follows = np.zeros(pairs.size, np.bool_)
    first, then = demand.roads[pairs], demand.roads[pairs + 1]
    count = np.diff(links.out_start)
    for k in range(int(count.max(initial=0))):
        at = np.minimum(links.out_start[first] + k, max(0, links.out.size - 1))
        follows |= (k < count[first]) & (links.out[at] == then)
    if not follows.all():
        wrong = int(np.argmin(follows))
        trip = int(np.searchsorted(demand.route_start, pairs[wrong], "right")) - 1
        raise DemandError(
            f"demand: vehicle {demand.ids[trip][:60]!r}: no way leads from "
            f"{network.road_quoted(first[wrong])} to {network.road_quoted(then[wrong])}; leave the route open (routed=False), or mend it"
        )


def unheard(parameters: Parameters, demand: Demand) -> list[str]:
    """Parameters of vehicle types that were given and that no vehicle of a demand has, in words."""
    model = "following.model"
    given = {
        name: [field for field in TYPE_FIELDS if parameters.given(f"{name}.{field}")]
        for name in TYPE_NAMES
    }
    if not any(given.values()) and not parameters.given(model):
        return []  # mostly; a million trips are not looked through for it
    kinds = [demand.types[k] for k in sorted(set(demand.type.tolist()))]
    found = []
    for name, fields in given.items() if kinds else ():
        mine = [kind for kind in kinds if kind.name == name]
        lost = [
            f"{name}.{field}={value:g}"
            for field, value in ((field, parameters.number(f"{name}.{field}")) for field in fields)
            if all(getattr(kind, field) != value for kind in mine)
        ]
        if lost:
            of_class = any(kind.vehicle_class == CLASS_OF_TYPE[name] for kind in kinds)
            why = "all such types of this demand give their own" if mine or of_class else f"this demand has no {name}"  # fmt: skip
            found.append(f"{', '.join(lost)} reach{'' if len(lost) > 1 else 'es'} nobody: {why}")
    if parameters.given(model) and kinds and all(kind.model != parameters[model] for kind in kinds):
        found.append(f"{model}={parameters[model]} reaches nobody: all types of this demand give their own")  # fmt: skip
    return found


def warn_of_unheard(parameters: Parameters, demand: Demand) -> None:
    """Warn whoever makes a world of parameters that no vehicle of its demand has."""
    for text in unheard(parameters, demand):
        what = (
            "give the demand such types, as by Parameters.vehicle_type or read_demand's parameters"
        )
        warnings.warn(f"{text}; {what}", UnheardParameter, stacklevel=3)
