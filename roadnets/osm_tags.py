"""What the tags of an OpenStreetMap way say: class, access, direction, lanes, turns.

Source: networks.md 1.1 - 1.4; the tag pages of the OpenStreetMap wiki.
"""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rushhour.roadnets.osm_speeds import KMH, limit

Tags = dict[str, str]


class Class(NamedTuple):
    """Defaults of a class of roads."""

    rank: int  # of two roads that meet, the higher goes first
    two_way: int  # lanes per direction
    one_way: int
    speed: float  # km/h
    width: float  # m per lane


CLASSES: Final[dict[str, Class]] = {
    "motorway": Class(14, 2, 2, 120, 3.6),
    "trunk": Class(13, 1, 2, 90, 3.5),
    "primary": Class(12, 1, 2, 50, 3.25),
    "secondary": Class(11, 1, 2, 50, 3.25),
    "tertiary": Class(10, 1, 1, 50, 3.0),
    "motorway_link": Class(9, 1, 1, 60, 3.5),
    "trunk_link": Class(8, 1, 1, 60, 3.5),
    "primary_link": Class(7, 1, 1, 50, 3.25),
    "secondary_link": Class(6, 1, 1, 50, 3.25),
    "tertiary_link": Class(5, 1, 1, 40, 3.25),
    "unclassified": Class(4, 1, 1, 50, 3.0),
    "road": Class(4, 1, 1, 50, 3.0),
    "residential": Class(3, 1, 1, 40, 2.9),
    "living_street": Class(2, 1, 1, 10, 2.9),
    "service": Class(1, 1, 1, 20, 2.75),
}
US_SPEED: Final = {"motorway": 105, "primary": 56, "secondary": 56}  # km/h
US_LANES: Final = ("trunk", "primary", "secondary")  # two per direction
SERVICE_SPEED: Final = {"parking_aisle": 10, "driveway": 15, "alley": 20}  # km/h
CENTRE_LANE: Final = ("US", "CA", "AU", "NZ")  # an odd lane is a turn lane in the middle
CLOSED: Final = ("no", "private", "agricultural", "forestry", "emergency", "military", "delivery")
ACCESS_KEYS: Final = ("motorcar", "motor_vehicle", "vehicle", "access")
MOST_LANES: Final = 12
TERTIARY: Final = 10  # rank

# A turn indication as letters: R, T, L, U; several may stand together.
INDICATIONS: Final = {
    "left": "L", "slight_left": "L", "sharp_left": "L", "through": "T", "right": "R",
    "slight_right": "R", "sharp_right": "R", "reverse": "U", "merge_to_left": "",
    "merge_to_right": "", "none": "", "": "",
}  # fmt: skip


class Direction(NamedTuple):
    """One direction of a way. Tuples have one entry per lane, from the kerb."""

    lanes: int  # 0: closed
    speed: float  # m/s
    turns: tuple[str, ...]  # letters that are indicated, "" none; () nothing is
    bus: tuple[bool, ...]  # for buses only; () none is


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

    @property
    def one_way(self) -> bool:
        """Whether it is closed one way."""
        return not (self.forward.lanes and self.backward.lanes)


def is_open(tags: Tags, private: bool = False) -> bool:
    """Whether cars may use a way (the most specific key decides)."""
    for key in ACCESS_KEYS:
        if key in tags:
            value = tags[key]
            return value not in CLOSED or (private and value == "private")
    return True


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


def _count(tags: Tags, key: str, notes: list[Doubt]) -> int | None:
    """A number of lanes; None where there is none that can be used."""
    text = tags.get(key)
    if text is None:
        return None
    parts = text.replace("-", ";").split(";")
    if all(p.strip().isascii() and p.strip().isdigit() and len(p.strip()) < 4 for p in parts):
        number = min(int(p) for p in parts)
        if 1 <= number <= MOST_LANES:
            if len(parts) > 1:
                notes.append(Doubt("L06", f'{key} "{text[:20]}" read as {number}'))
            return number
        if number == 0 and key != "lanes":
            return 0
    notes.append(Doubt("L06", f'{key} "{text[:20]}" not understood: default'))
    return None


def _lanes(
    tags: Tags, kind: Class, one_way: bool, country: str, notes: list[Doubt]
) -> tuple[int, int, int]:
    """Lanes forward, backward and in the middle."""
    total = _count(tags, "lanes", notes)
    highway = tags["highway"]
    if one_way:
        lanes = total or _count(tags, "lanes:forward", notes)
        default = 1 if tags.get("junction") in ("roundabout", "circular") else kind.one_way
        return lanes or default, 0, 0
    ahead, back = _count(tags, "lanes:forward", notes), _count(tags, "lanes:backward", notes)
    both = _count(tags, "lanes:both_ways", notes) or 0
    if ahead or back:
        rest = total or 0
        ahead = ahead or max(1, rest - (back or 0) - both)
        back = back or max(1, rest - ahead - both)
        return ahead, back, both
    if total is None:
        lanes = 2 if country == "US" and highway in US_LANES else kind.two_way
        return lanes, lanes, both
    rest = max(2, total - both)
    if rest % 2 and not both and country in CENTRE_LANE and kind.rank >= TERTIARY:
        return rest // 2, rest // 2, 1
    more_back = len(_listed(tags, "turn:lanes:backward")) > len(_listed(tags, "turn:lanes:forward"))
    return (rest // 2, rest - rest // 2, both) if more_back else (rest - rest // 2, rest // 2, both)


def _listed(tags: Tags, key: str) -> list[str]:
    """A list per lane as it is written, left to right; [] if the key is missing."""
    text = tags.get(key)
    return [] if text is None else [part.strip() for part in text.split("|")]


def _per_lane(tags: Tags, base: str, direction: str, one_way: bool) -> list[str]:
    """A list per lane of one direction, left to right."""
    found = _listed(tags, f"{base}:{direction}")
    return found if found or not one_way else _listed(tags, base)


def letters_of(entry: str) -> str:
    """Letters of one lane's indication, R before T before L before U."""
    found = {INDICATIONS.get(part.strip(), "") for part in entry.split(";")}
    return "".join(letter for letter in "RTLU" if letter in found)


def _turns(
    tags: Tags, direction: str, lanes: int, one_way: bool, notes: list[Doubt]
) -> tuple[tuple[str, ...], int]:
    """Letters per lane from the kerb, () if there are none to trust; and the number of lanes."""
    listed = _per_lane(tags, "turn:lanes", direction, one_way)
    if not listed:
        plain = tags.get(f"turn:{direction}", tags.get("turn", "") if one_way else "")
        return (((letters_of(plain),) * lanes) if letters_of(plain) else ()), lanes
    cycle = _per_lane(tags, "bicycle:lanes", direction, one_way)
    closed = _per_lane(tags, "vehicle:lanes", direction, one_way)
    for other, value in ((closed, "no"), (cycle, "designated")):
        if len(listed) != lanes and len(other) == len(listed):
            listed = [t for t, o in zip(listed, other, strict=True) if o != value]
    if one_way and lanes < len(listed) <= lanes + 2:
        lanes = len(listed)
    if len(listed) != lanes:
        text = f"{len(listed)} turn:lanes for {lanes} lanes; ignored"
        notes.append(Doubt("L07", text, {direction: len(listed)}))
        return (), lanes
    return tuple(letters_of(entry) for entry in reversed(listed)), lanes


def _bus(tags: Tags, direction: str, lanes: int, one_way: bool) -> tuple[bool, ...]:
    """Which lanes, from the kerb, are for buses only; () none."""
    only = [False] * lanes
    for base, values in (
        ("bus:lanes", ("designated",)), ("psv:lanes", ("designated",)),
        ("access:lanes", ("no",)), ("vehicle:lanes", ("no",)), ("motor_vehicle:lanes", ("no",)),
    ):  # fmt: skip
        listed = _per_lane(tags, base, direction, one_way)
        if len(listed) == lanes:
            for i, value in enumerate(reversed(listed)):
                only[i] = only[i] or value in values
    for base in ("lanes:psv", "lanes:bus"):
        text = tags.get(f"{base}:{direction}", tags.get(base, "") if one_way else "")
        if text.isascii() and text.isdigit() and len(text) < 3:
            for i in range(min(int(text), lanes)):
                only[i] = True
    if all(only):
        return ()  # a road for buses alone would be no road: better open than lost
    return tuple(only) if any(only) else ()


def _width(tags: Tags, kind: Class, lanes: int) -> float:
    """Width of a lane, m."""
    text = tags.get("width", "").strip().removesuffix("m").strip()
    try:
        each = float(text) / max(lanes, 1)
    except ValueError:
        return kind.width
    return each if 2.4 <= each <= 4.5 else kind.width


def rules_of(
    tags: Tags, country: str, speeds: dict[str, float], notes: list[Doubt]
) -> tuple[WayRules, bool]:
    """Rules of a drivable way, and whether its nodes are to be taken in reverse order.

    country: two letters, "" unknown. speeds: km/h by class, the user's defaults. notes: what was
    doubtful is appended.
    """
    one_way, reverse = direction_of(tags)
    if reverse:
        tags = turned_round(tags)
    highway = tags["highway"]
    kind = CLASSES[highway]
    ring = tags.get("junction") in ("roundabout", "circular")
    if ring and tags.get("oneway") == "no":
        text = "roundabout says oneway=no; taken as one-way"
        notes.append(Doubt("L08", text, {"forward": 1, "backward": 1}))
    if tags.get("oneway") in ("reversible", "alternating"):
        text = f"oneway={tags['oneway']}; taken as one lane each way"
        notes.append(Doubt("L08", text, {"forward": 1, "backward": 0}))
        ahead, back, both = 1, 1, 0
    else:
        ahead, back, both = _lanes(tags, kind, one_way, country, notes)
    kmh = float(US_SPEED.get(highway, kind.speed)) if country == "US" else float(kind.speed)
    if highway == "service":
        kmh = float(SERVICE_SPEED.get(tags.get("service", ""), kmh))
    kmh = speeds.get(highway, kmh)
    found: list[Direction] = []
    for name, lanes in (("forward", ahead), ("backward", back)):
        if not lanes:
            found.append(NOTHING)
            continue
        turns, lanes = _turns(tags, name, lanes, one_way, notes)
        speed, doubt = limit(tags, name, kmh * KMH)
        if doubt:
            notes.append(Doubt("L06", doubt))
        found.append(Direction(lanes, speed, turns, _bus(tags, name, lanes, one_way)))
    every = sum(d.lanes for d in found) + both
    width = 4.0 if ring else _width(tags, kind, every)
    layer = tags.get("layer", "0")
    rules = WayRules(
        highway, kind.rank, width, found[0], found[1], both, ring, tags.get("name", ""), layer
    )
    return rules, reverse
