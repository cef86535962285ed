"""What the tags of an OpenStreetMap way say of its lanes: how many, where they lead, how wide.

Lists per lane run from left to right as seen when driving; lanes here count from the kerb.
Source: networks.md 1.3, 1.4, 3.1.
"""

import re
from typing import Final

from rushhour.roadnets.osm.ways.speeds import clamped, read_speed
from rushhour.roadnets.osm.ways.tags import Class, Doubt, Tags

US_LANES: Final = ("trunk", "primary", "secondary")  # two per direction
CENTRE_LANE: Final = ("US", "CA", "AU", "NZ")  # an odd lane is a turn lane in the middle
MOST_LANES: Final = 12
TERTIARY: Final = 10  # rank
NARROWEST, WIDEST = 2.4, 4.5  # m, a lane; other widths are not meant so
FOOT, INCH = 0.3048, 0.0254  # m
_LENGTH = re.compile(
    r"^(?P<number>\d{1,4}(?:\.\d{1,6})?)\s*(?:m|(?P<feet>ft|'|feet)\s*(?:(?P<inches>\d{1,2})\"?)?)?$"
)
_PLACEMENT = re.compile(r"^(?P<side>left_of|right_of|middle_of):(?P<lane>-?\d{1,2})$")

# A turn indication as letters: R, T, L, U, several may stand together; E: the lane ends.
INDICATIONS: Final = {
    "left": "L", "slight_left": "L", "sharp_left": "L", "through": "T", "right": "R",
    "slight_right": "R", "sharp_right": "R", "reverse": "U", "merge_to_left": "E",
    "merge_to_right": "E", "none": "", "": "",
}  # fmt: skip


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


def lane_counts(
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
    """Letters of one lane's indication, R before T before L before U; E if the lane just ends."""
    found = {INDICATIONS.get(part.strip(), "") for part in entry.split(";")}
    return "".join(letter for letter in "RTLU" if letter in found) or ("E" if "E" in found else "")


def lane_turns(
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
    turns = tuple(letters_of(entry) for entry in reversed(listed))
    return (() if set(turns) == {"E"} else turns), lanes


def bus_lanes(tags: Tags, direction: str, lanes: int, one_way: bool) -> tuple[bool, ...]:
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


def added_bus_lanes(tags: Tags, direction: str, one_way: bool) -> int:
    """Bus lanes along the kerb of one direction that `lanes` does not count (busway=lane)."""
    side = "left" if direction == "backward" else "right"
    keys = ["busway", f"busway:{side}", "busway:both"]
    keys += ["busway:left"] if one_way and direction == "forward" else []
    return int(any(tags.get(key) == "lane" for key in keys))


def has_contraflow(tags: Tags) -> bool:
    """Whether a one-way has a bus lane against it (busway=opposite_lane), at that direction's kerb."""
    keys = ("busway", "busway:left", "busway:right", "busway:both")
    return any(tags.get(key) == "opposite_lane" for key in keys)


def lane_speeds(tags: Tags, direction: str, lanes: int, one_way: bool, limit: float) -> list[float]:
    """Limits of the lanes of one direction from the kerb, m/s; [] if they do not differ.

    limit: m/s, where a lane has none of its own.
    """
    listed = _per_lane(tags, "maxspeed:lanes", direction, one_way)
    if len(listed) != lanes:
        return []
    found = [read_speed(text) for text in reversed(listed)]
    speeds = [limit if speed is None else clamped(speed) for speed in found]
    return speeds if len(set(speeds)) > 1 else []


def metres(text: str) -> float | None:
    """A length as tags give it: 3, 3.5 m, 12', 12'6", 12 ft; None if it is none.

    >>> metres("10 ft")
    3.048
    """
    match = _LENGTH.match(text.strip().lower())
    if match is None:
        return None
    unit = FOOT if match["feet"] else 1.0
    return float(match["number"]) * unit + float(match["inches"] or 0.0) * INCH


def lane_width(tags: Tags, kind: Class, lanes: int) -> float:
    """Width of a lane, m."""
    whole = metres(tags.get("width", ""))
    each = 0.0 if whole is None else whole / max(lanes, 1)
    return each if NARROWEST <= each <= WIDEST else kind.width


def line_shift(
    tags: Tags, ahead: int, back: int, both: int, width: float, one_way: bool
) -> tuple[float, float | None]:
    """How far right of where they would be the lanes lie, m, by `placement`.

    And how many lanes lie left of the line, if that is said of a one-way in no mirror. placement tells at which
    lane, counted from the left, the way's line is drawn; a number below 0 counts from the right
    (maps read in a mirror). Without it the line is the middle of all lanes.
    """
    middle = (ahead + back + both) * width / 2.0
    for key, lanes, sign in (
        ("placement:forward", ahead, 1.0), ("placement:backward", back, -1.0),
        ("placement", ahead if one_way else 0, 1.0),
    ):  # fmt: skip
        match = _PLACEMENT.match(tags.get(key, ""))
        if match is None or not 1 <= abs(int(match["lane"])) <= lanes:
            continue
        lane = int(match["lane"])
        left = lane - 1 if lane > 0 else lanes + lane
        line = left + {"left_of": 0.0, "middle_of": 0.5, "right_of": 1.0}[match["side"]]
        return sign * (
            (lanes - line) * width - middle
        ), line if one_way and not back and lane > 0 else None
    return 0.0, None
