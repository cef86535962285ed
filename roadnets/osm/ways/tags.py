"""What the tags of an OpenStreetMap way say of the whole way: class, access, direction.

Source: networks.md 1.1, 1.2; the tag pages of the OpenStreetMap wiki.
"""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

Tags = dict[str, str]


class Class(NamedTuple):
    """Defaults of a class of roads."""

    rank: int  # of two roads that meet, the higher goes first
    two_way: int  # lanes per direction
    one_way: int
    width: float  # m per lane


CLASSES: Final[dict[str, Class]] = {
    "motorway": Class(14, 2, 2, 3.6),
    "trunk": Class(13, 1, 2, 3.5),
    "primary": Class(12, 1, 2, 3.25),
    "secondary": Class(11, 1, 2, 3.25),
    "tertiary": Class(10, 1, 1, 3.0),
    "motorway_link": Class(9, 1, 1, 3.5),
    "trunk_link": Class(8, 1, 1, 3.5),
    "primary_link": Class(7, 1, 1, 3.25),
    "secondary_link": Class(6, 1, 1, 3.25),
    "tertiary_link": Class(5, 1, 1, 3.25),
    "unclassified": Class(4, 1, 1, 3.0),
    "road": Class(4, 1, 1, 3.0),
    "residential": Class(3, 1, 1, 2.9),
    "living_street": Class(2, 1, 1, 2.9),
    "service": Class(1, 1, 1, 2.75),
}
CLOSED: Final = ("no", "private", "agricultural", "forestry", "emergency", "military", "delivery")
VISITORS: Final = ("destination", "customers")
ACCESS_KEYS: Final = ("motorcar", "motor_vehicle", "vehicle", "access")


class Direction(NamedTuple):
    """One direction of a way. Tuples have one entry per lane, from the kerb."""

    lanes: int  # 0: closed
    speed: float  # m/s
    turns: tuple[str, ...]  # letters that are indicated, "" none; () nothing is
    bus: tuple[bool, ...]  # for buses only; () none is
    speeds: tuple[float, ...] = ()  # m/s; () all have `speed`
    visitors: bool = False  # only for those who start or end there

    @property
    def cars(self) -> bool:
        """Whether cars may use it."""
        return self.lanes > (sum(self.bus) if self.bus else 0)

    @property
    def car_lanes(self) -> list[int]:
        """Lanes that cars may use."""
        return [i for i in range(self.lanes) if not (self.bus and self.bus[i])]


@dataclass(frozen=True)
class Doubt:
    """What was wrong with tags and how it was taken. lanes: as they would fit, by direction."""

    check: str  # as in roadnets.findings
    text: str
    lanes: dict[str, int] = field(default_factory=dict)


NOTHING: Final = Direction(0, 0.0, (), ())


@dataclass(frozen=True)
class WayRules:
    """What holds along a way, its nodes in the direction `forward`."""

    highway: str
    rank: int
    width: float  # m per lane
    forward: Direction
    backward: Direction
    both: int  # centre lanes: width only
    ring: bool
    name: str
    layer: str
    shift: float = 0.0  # m by which all lanes lie right of the line, seen along `forward`
    line: float | None = None  # lanes left of the line, where `placement` of a one-way says it
    transition: bool = False  # the lanes slide from where the street before has them to the next's
    ref: str = ""  # the number of the street, as "A 1"

    @property
    def one_way(self) -> bool:
        """Whether it is closed to cars one way."""
        return not (self.forward.cars and self.backward.cars)


def is_open(tags: Tags, private: bool = False) -> bool:
    """Whether cars may use a way (the most specific key decides)."""
    for key in ACCESS_KEYS:
        if key in tags:
            value = tags[key]
            return value not in CLOSED or (private and value == "private")
    return True


def level_of(tags: Tags) -> int:
    """The level of a way: its layer, else above the ground for bridges and below for tunnels."""
    text = tags.get("layer", "")
    if text.lstrip("-").isascii() and text.lstrip("-").isdigit() and len(text) < 4:
        return int(text)
    if tags.get("bridge", "no") != "no":
        return 1
    return -1 if tags.get("tunnel", "no") != "no" else 0


def closed_ways(tags: Tags) -> list[str]:
    """Which of "forward" and "backward" are closed to cars by tags of one direction alone."""
    found = []
    for direction in ("forward", "backward"):
        for key in ACCESS_KEYS:
            if f"{key}:{direction}" in tags:
                if tags[f"{key}:{direction}"] in CLOSED:
                    found.append(direction)
                break
            if key in tags:
                break
    return found


def only_for_visitors(tags: Tags, direction: str) -> bool:
    """Whether a direction of a way is open to those alone who start or end there."""
    for key in ACCESS_KEYS:
        said = tags.get(f"{key}:{direction}", tags.get(key))
        if said is not None:
            return said in VISITORS
    return False


def wanted(tags: Tags, service: str) -> bool:
    """Whether a way is a road for cars. service: "yes" or "no" for service ways."""
    kind = tags.get("highway", "")
    if kind not in CLASSES or tags.get("area") == "yes":
        return False
    return kind != "service" or service != "no"


_SWAPPED = {"forward": "backward", "backward": "forward", "left": "right", "right": "left"}


def turned_round(tags: Tags) -> Tags:
    """Tags of the same way with its nodes in reverse order."""
    return {":".join(_SWAPPED.get(part, part) for part in k.split(":")): v for k, v in tags.items()}


def direction_of(tags: Tags) -> tuple[bool, bool]:
    """Whether a way is one-way, and against the order of its nodes."""
    value = tags.get("oneway", "")
    if value in ("-1", "reverse"):
        return True, True
    if tags.get("junction") in ("roundabout", "circular"):
        return True, False
    if value in ("yes", "true", "1"):
        return True, False
    implied = tags.get("highway") in ("motorway", "motorway_link")
    return implied and value not in ("no", "reversible", "alternating"), False
