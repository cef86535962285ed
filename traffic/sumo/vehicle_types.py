"""Vehicle types of SUMO files: defaults per vClass, distributions, drawing by id.

Source of the defaults: SUMO's vehicle type documentation, as listed in docs/demand.md.
"""

import re
import zlib
from collections.abc import Collection
from dataclasses import replace
from typing import Final

from rushhour.kernels.core.network import LONGEST_VEHICLE
from rushhour.kernels.core.random import uniform
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.reading.values import number
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.sumo.asked import want_ignored

STREAM_CHOICE: Final = 8301


def _type(
    vehicle_class: str, length: float, width: float, accel: float, decel: float, emergency: float,
    top_kmh: float, dev: float, min_gap: float = 2.5,
) -> VehicleType:  # fmt: skip
    return VehicleType(
        name=vehicle_class, vehicle_class=vehicle_class, length=length, width=width,
        min_gap=min_gap, accel=accel, decel=decel, emergency_decel=emergency, time_gap=1.0,
        max_speed=top_kmh / 3.6, speed_dev=dev, sigma=0.5, green_reaction=0.0, model="krauss",
    )  # fmt: skip


_CAR: Final = _type("passenger", 5.0, 1.8, 2.6, 4.5, 9.0, 200.0, 0.1)
DEFAULTS: Final = {
    kind.vehicle_class: kind
    for kind in (
        _CAR,
        _type("taxi", 5.0, 1.8, 2.6, 4.5, 9.0, 200.0, 0.05),
        _type("delivery", 6.5, 2.16, 2.6, 4.5, 9.0, 200.0, 0.05),
        _type("emergency", 6.5, 2.16, 2.6, 4.5, 9.0, 200.0, 0.0),
        _type("truck", 7.1, 2.4, 1.3, 4.0, 7.0, 130.0, 0.05),
        _type("trailer", 16.5, 2.55, 1.0, 4.0, 7.0, 130.0, 0.05),
        _type("bus", 12.0, 2.5, 1.2, 4.0, 7.0, 85.0, 0.1),
        _type("coach", 14.0, 2.6, 2.0, 4.0, 7.0, 100.0, 0.05),
        _type("motorcycle", 2.2, 0.9, 6.0, 10.0, 10.0, 200.0, 0.1),
        _type("moped", 2.1, 0.8, 1.1, 7.0, 10.0, 45.0, 0.1),
        _type("bicycle", 1.6, 0.65, 1.2, 3.0, 7.0, 20.0, 0.1, 0.5),
    )
}
DEFAULT_IDS: Final = {
    "DEFAULT_VEHTYPE": "passenger", "DEFAULT_BIKETYPE": "bicycle", "DEFAULT_TAXITYPE": "taxi",
}  # fmt: skip
_NUMBERS: Final = {
    "length": "length", "width": "width", "minGap": "min_gap", "accel": "accel",
    "decel": "decel", "emergencyDecel": "emergency_decel", "tau": "time_gap",
    "maxSpeed": "max_speed", "speedDev": "speed_dev", "sigma": "sigma", "startupDelay": "green_reaction",
}  # fmt: skip
TYPE_ATTRIBUTES: Final = ("id", "vClass", "speedFactor", "carFollowModel", *_NUMBERS)
_KRAUSS: Final = ("Krauss", "KraussOrig1", "KraussPS", "SKOrig")  # SUMO's default and its kin
_NORMAL = re.compile(r"norm(c?)\(([^()]*)\)")


def default_type(vehicle_class: str) -> VehicleType:
    """The type of a vClass for which a file says nothing more."""
    return replace(DEFAULTS.get(vehicle_class, _CAR), vehicle_class=vehicle_class)


def read_type(
    attributes: dict[str, str], where: str, remarks: Remarks, ignored: Collection[str] = ()
) -> VehicleType:
    """A vType element. ignored: names that are let be, of `asked`.

    Raises RushhourError for values that make no vehicle, and models that nobody here drives by.
    """
    name = attributes.get("id", "")
    vehicle_class = attributes.get("vClass", DEFAULT_IDS.get(name, "passenger"))
    if vehicle_class not in CLASS_BIT:
        raise DemandError(
            f"{where}: vClass {vehicle_class[:40]!r} is unknown; give one of SUMO's, as passenger"
        )
    kind = replace(default_type(vehicle_class), name=name)
    values: dict[str, float] = {}
    for attribute, field in _NUMBERS.items():
        if attribute in attributes:
            values[field] = number(attributes[attribute], where, attribute, 0.0, 1000.0)
    for attribute in ("length", "width", "accel", "decel", "emergencyDecel", "maxSpeed"):
        if values.get(_NUMBERS[attribute], 1.0) <= 0.0:
            raise DemandError(f"{where}: {attribute} is 0; give more than 0")
    if values.get("length", 0.0) > LONGEST_VEHICLE:
        what = f"length {attributes['length'][:40]} m, above {LONGEST_VEHICLE:g},"
        want_ignored("length", what, where, ignored, remarks)
        values["length"] = LONGEST_VEHICLE
    if "decel" in values and "emergency_decel" not in values:
        values["emergency_decel"] = max(kind.emergency_decel, values["decel"])
    values.update(_speed_factor(attributes.get("speedFactor"), where))
    model = attributes.get("carFollowModel", "Krauss")
    if model not in (*_KRAUSS, "IDM"):
        what = f"carFollowModel {model[:40]!r}"
        want_ignored("carFollowModel", what, where, ignored, remarks)
    follows = "krauss" if model in _KRAUSS else "idm"
    return replace(kind, model=follows, **values)  # type: ignore[arg-type]  # numbers for number fields


def _speed_factor(text: str | None, where: str) -> dict[str, float]:
    """Mean, deviation and bounds of a speedFactor attribute."""
    if text is None:
        return {}
    match = _NORMAL.fullmatch(text.replace(" ", ""))
    if not match:
        return {"speed_factor": number(text, where, "speedFactor", 0.01, 10.0)}
    parts = [number(t, where, "speedFactor", 0.0, 10.0) for t in match[2].split(",")]
    bounded = len(parts) == 4 and bool(match[1])
    if not (bounded or len(parts) == 2) or parts[0] <= 0.0:
        raise DemandError(f"{where}: speedFactor {text[:40]!r}; give norm(m,d) or normc(m,d,lo,hi)")
    values = {"speed_factor": parts[0], "speed_dev": parts[1]}
    if bounded:
        if not 0.0 < parts[2] <= parts[3]:
            raise DemandError(f"{where}: speedFactor {text[:40]!r}; wanted bounds 0 < lo <= hi")
        values["speed_factor_min"], values["speed_factor_max"] = parts[2], parts[3]
    return values


def drawn(seed: int, name: str, stream: int = STREAM_CHOICE, turn: int = 0) -> float:
    """Uniform in [0, 1) for a source id: the same whatever else is in the file."""
    return float(uniform(seed, zlib.crc32(name.encode()), turn, stream))


def choose(shares: list[tuple[str, float]], u: float) -> str:
    """The entry of (name, weight) pairs at u in [0, 1) of their sum."""
    total = sum(weight for _, weight in shares)
    mark = u * total
    for name, weight in shares:
        mark -= weight
        if mark < 0.0:
            return name
    return shares[-1][0]
