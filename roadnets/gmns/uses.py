"""Who may use a link, a lane or a movement: `allowed_uses` of GMNS tables as vehicle classes."""

import re
from typing import Final

from rushhour.roadnets.classes import CLASS_BIT, ROAD_VEHICLES

CAR_USES: Final = {
    "all", "any", "auto", "autos", "automobile", "car", "cars", "drive", "driving", "hov", "motor",
    "motor_vehicle", "private", "sov", "truck", "trucks", "vehicle", "vehicles",
}  # fmt: skip
_BUS: Final = CLASS_BIT["bus"] | CLASS_BIT["coach"]
_OTHER_USES: Final = {
    "bus": _BUS, "buses": _BUS, "transit": _BUS, "brt": _BUS, "taxi": CLASS_BIT["taxi"],
}  # fmt: skip


def _words(uses: str) -> set[str]:
    return {word for word in re.split(r"[^a-z_]+", uses.lower()) if word}


def for_cars(uses: str) -> bool:
    """Whether cars are among the uses; none given means everybody."""
    words = _words(uses)
    return not words or bool(words & CAR_USES)


def classes_of(uses: str) -> int:
    """Mask of the road vehicles that are among the uses; 0 for lanes of bicycles, parking, ..."""
    if for_cars(uses):
        return ROAD_VEHICLES
    mask = 0
    for word in _words(uses):
        mask |= _OTHER_USES.get(word, 0)
    return mask
