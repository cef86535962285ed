"""What holds along an OpenStreetMap way: its tags worked into lanes, speeds and turns by direction.

Source: networks.md 1.
"""

from collections.abc import Iterator
from typing import Final

from rushhour.roadnets.osm.ways.lane_tags import (
    NARROWEST,
    added_bus_lanes,
    bus_lanes,
    has_contraflow,
    lane_counts,
    lane_speeds,
    lane_turns,
    lane_width,
    line_shift,
)
from rushhour.roadnets.osm.ways.legal import KMH, legal_speed, limits_of
from rushhour.roadnets.osm.ways.speeds import limit
from rushhour.roadnets.osm.ways.tags import (
    ACCESS_KEYS,
    CLASSES,
    NOTHING,
    Class,
    Direction,
    Doubt,
    Tags,
    WayRules,
    closed_ways,
    direction_of,
    only_for_visitors,
    turned_round,
)

NARROW_SPEED: Final = 30.0 * KMH  # where one lane serves both directions
RING_WIDTH: Final = 4.0  # m, a lane of a roundabout


def rules_of(
    tags: Tags, place: str, speeds: dict[str, float], notes: list[Doubt], urban: bool = True
) -> tuple[WayRules, bool]:
    """Rules of a drivable way, and whether its nodes are to be taken in reverse order.

    place: ISO 3166, such as PT or US-OH, "" unknown. speeds: km/h by class, the user's defaults.
    notes: what was doubtful is appended. urban: it is in a built-up area.
    """
    one_way, reverse = direction_of(tags)
    if reverse:
        tags = turned_round(tags)
    notes += _unread(tags)
    closed = [] if one_way else closed_ways(tags)
    if closed == ["forward"]:
        tags, reverse = turned_round(tags), True
    highway = tags["highway"]
    kind = CLASSES[highway]
    ring = tags.get("junction") in ("roundabout", "circular")
    if ring and tags.get("oneway") == "no":
        text = "roundabout says oneway=no; taken as one-way"
        notes.append(Doubt("L08", text, {"forward": 1, "backward": 1}))
    ahead, back, both = _lanes_each_way(tags, kind, one_way, place[:2], notes)
    if len(closed) == 1:
        back = 0
    narrow = tags.get("lanes") == "1" and ahead > 0 and back > 0
    by_law = limits_of(place) or limits_of("")
    assert by_law is not None

    def default(lanes: int) -> float:
        if highway in speeds:
            return speeds[highway] * KMH
        return legal_speed(by_law, tags, urban, lanes, one_way)

    found: list[Direction] = []
    for name, lanes in (("forward", ahead), ("backward", back)):
        if not lanes:
            found.append(NOTHING)
            continue
        turns, lanes = lane_turns(tags, name, lanes, one_way, notes)
        bus = bus_lanes(tags, name, lanes, one_way)
        speed, doubt = limit(tags, name, default(lanes))
        if doubt:
            notes.append(Doubt("L06", doubt))
        each = tuple(lane_speeds(tags, name, lanes, one_way, speed))
        speed = min(speed, NARROW_SPEED) if narrow else speed
        way = Direction(lanes, speed, turns, bus, each, only_for_visitors(tags, name))
        found.append(_widened(way, added_bus_lanes(tags, name, one_way)))
    if one_way and not ring and has_contraflow(tags):
        found[1] = Direction(1, limit(tags, "backward", default(1))[0], (), (True,))
    every = sum(d.lanes for d in found) + both
    width = RING_WIDTH if ring else NARROWEST if narrow else lane_width(tags, kind, every)
    layer = tags.get("layer", "0")
    shift, line = line_shift(tags, found[0].lanes, found[1].lanes, both, width, one_way)
    rank = kind.rank - (found[0].visitors or found[1].visitors)
    rules = WayRules(
        highway, rank, width, found[0], found[1], both, ring, tags.get("name", ""), layer, shift,
        line, tags.get("placement") == "transition",
    )  # fmt: skip
    return rules, reverse


def _lanes_each_way(
    tags: Tags, kind: Class, one_way: bool, country: str, notes: list[Doubt]
) -> tuple[int, int, int]:
    """Lanes ahead, back, and for both; of a way whose direction changes with the time one each way."""
    if tags.get("oneway") in ("reversible", "alternating"):
        text = f"oneway={tags['oneway']}; taken as one lane each way"
        notes.append(Doubt("L08", text, {"forward": 1, "backward": 0}))
        return 1, 1, 0
    return lane_counts(tags, kind, one_way, country, notes)


def _widened(way: Direction, more: int) -> Direction:
    """A direction with more lanes along the kerb, for buses only."""
    if not more:
        return way
    return way._replace(
        lanes=way.lanes + more,
        turns=("",) * more + way.turns if way.turns else (),
        bus=(True,) * more + (way.bus or (False,) * way.lanes),
        speeds=(way.speed,) * more + way.speeds if way.speeds else (),
    )


def _unread(tags: Tags) -> Iterator[Doubt]:
    """What is said of a way under conditions, or for some vehicles, and is not read."""
    for key in sorted(tags):
        base, _, rest = key.partition(":")
        if rest.endswith("conditional") and base in ("maxspeed", "oneway", "lanes", *ACCESS_KEYS):
            yield Doubt("L28", f"{key} is not read")
        elif base == "hov" and rest.startswith("lanes") and "designated" in tags[key]:
            yield Doubt("L28", f"{key} is not read: open to every car")
