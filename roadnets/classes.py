"""Vehicle classes as bits of a lane's permissions (the names are SUMO's)."""

from typing import Final

CLASS_NAMES: Final = (
    "private", "emergency", "authority", "army", "vip", "pedestrian", "passenger", "hov",
    "taxi", "bus", "coach", "delivery", "truck", "trailer", "motorcycle", "moped",
    "bicycle", "evehicle", "tram", "rail_urban", "rail", "rail_electric", "rail_fast", "ship",
    "container", "cable_car", "subway", "aircraft", "wheelchair", "scooter", "drone", "custom1",
)  # fmt: skip

CLASS_BIT: Final[dict[str, int]] = {name: 1 << i for i, name in enumerate(CLASS_NAMES)}
# "custom2" shares the last bit with "custom1"; "ignoring" may use every lane.
CLASS_BIT["custom2"] = CLASS_BIT["custom1"]
EVERYBODY: Final = 0xFFFFFFFF
CLASS_BIT["ignoring"] = EVERYBODY
CAR: Final = CLASS_BIT["passenger"]
ROAD_VEHICLES: Final = sum(
    CLASS_BIT[name]
    for name in (
        "private", "emergency", "authority", "army", "vip", "passenger", "hov", "taxi", "bus",
        "coach", "delivery", "truck", "trailer", "motorcycle", "moped", "evehicle", "custom1",
    )
)  # fmt: skip
