"""Lanes of GMNS links: lane.csv, and lanes added or dropped on a part of a link (segment.csv).

lane_num ascends from the left: 1 is the leftmost through lane, pockets left of it are negative. A
*segment* is a part of a link between two distances from one of its nodes; segment_lane.csv says
which lanes it adds, else they are counted. Source: the specification, tables lane, segment and
segment_lane.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rushhour.roadnets.classes import ROAD_VEHICLES
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.gmns.uses import classes_of
from rushhour.roadnets.plans.stretches import StreetLane, Stretch
from rushhour.roadnets.reading.csv_tables import CsvTable, blank, optional_table, refuse_doubles
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.reading.values import number, whole

WIDTH: Final = 3.2  # m, of a lane that gives none
NARROWEST, WIDEST = 2.0, 8.0  # m, widths beyond are taken as these
MOST_LANES: Final = 12  # of one direction
MOST_SEGMENTS: Final = 100  # of a link
LARGEST_NUMBER: Final = 10  # of a lane, either way (the specification)
LONGEST: Final = 1e7  # in whatever unit
FASTEST: Final = 1000.0  # in whatever unit
AT_NODE: Final = 20.0  # m from a node, within which a segment reaches to it


@dataclass(frozen=True)
class Lane:
    """A row of lane.csv or segment_lane.csv; width in short lengths, None without one."""

    number: int
    permissions: int  # 0: not for road vehicles
    width: float | None


@dataclass
class Segment:
    """A row of segment.csv with its lanes, distances in short lengths."""

    id: str
    link: str
    node: str  # from which the distances count
    start: float
    end: float
    left: int  # lanes added
    right: int
    speed: float | None
    where: str
    lanes: list[Lane] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)  # numbers of lanes of the link


@dataclass
class LaneTables:
    """What a folder says of lanes, by link."""

    lanes: dict[str, list[Lane]] = field(default_factory=dict)
    segments: dict[str, list[Segment]] = field(default_factory=dict)

    def trunk(self, link: str) -> list[Lane]:
        """The lanes of a link for road vehicles that lane.csv gives, from the left."""
        given = [lane for lane in self.lanes.get(link, ()) if lane.permissions]
        return sorted(given, key=lambda lane: lane.number)

    def others(self, link: str) -> set[int]:
        """Numbers of lanes of a link that are not for road vehicles."""
        rows = list(self.lanes.get(link, ()))
        for segment in self.segments.get(link, ()):
            rows += segment.lanes
        return {lane.number for lane in rows if not lane.permissions}


def read_lanes(folder: Path, remarks: Remarks) -> LaneTables:
    """Read lane.csv, segment.csv and segment_lane.csv, as far as they are there.

    Raises NetworkError for lanes without link or number, given twice or of numbers out of range,
    and for lanes of segments that do not exist.
    """
    found = LaneTables()
    ids: dict[str, tuple[str, int]] = {}
    table = optional_table(folder, "lane")
    if table is not None:
        _read_lane_table(table, found, ids, remarks)
    table = optional_table(folder, "segment")
    segments = _read_segments(table, remarks) if table is not None else {}
    table = optional_table(folder, "segment_lane")
    if table is not None:
        _read_segment_lanes(table, segments, ids, remarks)
    for segment in segments.values():
        found.segments.setdefault(segment.link, []).append(segment)
    return found


def _read_lane_table(
    table: CsvTable, found: LaneTables, ids: dict[str, tuple[str, int]], remarks: Remarks
) -> None:
    links, numbers = table.needed("link_id"), table.needed("lane_num")
    names = table.texts("lane_id")
    for row, link in enumerate(links):
        where = f"{table.where(row)}: lane of link {link[:40]!r}"
        lane = _lane(table, row, numbers[row], where)
        if lane.number == 0:
            raise NetworkError(f"{where}: lane_num 0; lanes count from 1, left pockets from -1")
        if any(lane.number == other.number for other in found.lanes.get(link, ())):
            raise NetworkError(f"{where}: lane_num {lane.number} is given twice; drop one")
        found.lanes.setdefault(link, []).append(lane)
        if names[row]:
            ids[names[row]] = link, lane.number
    _remark_lanes(table, remarks, {"lane_id", "link_id"})


def _lane(table: CsvTable, row: int, number_text: str, where: str) -> Lane:
    uses, width = table.texts("allowed_uses")[row], table.texts("width")[row]
    return Lane(
        whole(number_text, where, "lane_num", -LARGEST_NUMBER, LARGEST_NUMBER),
        classes_of("" if blank(uses) else uses),
        None if blank(width) else number(width, where, "width", 0.0, LONGEST) or None,
    )


def _remark_lanes(table: CsvTable, remarks: Remarks, used: Collection[str]) -> None:
    for name in ("l_barrier", "r_barrier"):
        barred = [text for text in table.texts(name) if not blank(text) and text != "none"]
        remarks.add(
            "barriers between lanes not used",
            f"{table.name} {name}",
            count=len(barred),
            differs=True,
        )
    known = {"lane_num", "allowed_uses", "width", "l_barrier", "r_barrier", *used}
    table.remark_unused(known, remarks)


def _read_segments(table: CsvTable, remarks: Remarks) -> dict[str, Segment]:
    ids, links = table.needed("segment_id"), table.needed("link_id")
    nodes, starts, ends = (table.needed(name) for name in ("ref_node_id", "start_lr", "end_lr"))
    added = table.texts("l_lanes_added"), table.texts("r_lanes_added")
    speeds = table.texts("free_speed")
    refuse_doubles(table, "segment_id")
    found: dict[str, Segment] = {}
    for row, name in enumerate(ids):
        where = f"{table.where(row)}: segment {name[:40]!r}"
        left, right = (
            0 if blank(texts[row]) else whole(
                texts[row], where, f"{side}_lanes_added", -MOST_LANES, MOST_LANES
            )
            for side, texts in zip("lr", added, strict=True)
        )  # fmt: skip
        speed = None
        if not blank(speeds[row]):
            speed = number(speeds[row], where, "free_speed", 0.0, FASTEST) or None
        found[name] = Segment(
            name,
            links[row],
            nodes[row],
            number(starts[row], where, "start_lr", -LONGEST, LONGEST),
            number(ends[row], where, "end_lr", -LONGEST, LONGEST),
            left,
            right,
            speed,
            where,
        )
    table.remark_unused(
        {"segment_id", "link_id", "ref_node_id", "start_lr", "end_lr", "l_lanes_added",
         "r_lanes_added", "free_speed"}, remarks,
    )  # fmt: skip
    return found


def _read_segment_lanes(
    table: CsvTable, segments: dict[str, Segment], ids: dict[str, tuple[str, int]], remarks: Remarks
) -> None:
    owners, numbers = table.needed("segment_id"), table.needed("lane_num")
    parents = table.texts("parent_lane_id")
    for row, owner in enumerate(owners):
        where = f"{table.where(row)}: lane of segment {owner[:40]!r}"
        segment = segments.get(owner)
        if segment is None:
            raise NetworkError(f"{where}: no such segment; add it to segment.csv or drop the lane")
        lane = _lane(table, row, numbers[row], where)
        parent = ids.get(parents[row])
        if not blank(parents[row]) and parent is None:
            raise NetworkError(
                f"{where}: unknown parent_lane_id {parents[row][:40]!r}; add it to lane.csv"
            )
        if any(lane.number == other.number for other in segment.lanes):
            raise NetworkError(f"{where}: lane_num {lane.number} is given twice; drop one")
        if lane.number:
            segment.lanes.append(lane)
        elif parent is None:
            raise NetworkError(f"{where}: lane_num 0 drops its parent lane; give parent_lane_id")
        else:
            segment.dropped.append(parent[1])
    _remark_lanes(table, remarks, {"segment_lane_id", "segment_id", "parent_lane_id"})


# --- stretches --------------------------------------------------------------------------------


@dataclass(frozen=True)
class LinkShape:
    """A link as lanes are laid on it. to_metres: of one short length; speed: m/s of one unit."""

    id: str
    ends: tuple[str, str]  # nodes
    length: float  # m, drawn
    lanes: int  # of link.csv
    speed: float  # m/s
    to_metres: float
    speed_unit: float
    fastest: float  # m/s


def stretches_of(tables: LaneTables, link: LinkShape, remarks: Remarks) -> list[Stretch] | None:
    """The stretches of a link; None if it has nothing but the lanes that link.csv counts.

    Segments add lanes to those of the link, each by its number. Raises NetworkError for a segment
    that counts from a node which is no end of its link, and for more than MOST_LANES lanes.
    """
    if link.id not in tables.lanes and link.id not in tables.segments:
        return None
    segments = tables.segments.get(link.id, [])
    if len(segments) > MOST_SEGMENTS:
        raise NetworkError(
            f"{segments[-1].where}: more than {MOST_SEGMENTS} segments of link {link.id[:40]!r}; "
            "drop some"
        )
    trunk = tables.trunk(link.id) or [
        Lane(k + 1, ROAD_VEHICLES, None) for k in range(link.lanes)
    ]  # fmt: skip
    placed = [
        (segment, *place)
        for segment in segments
        if (place := _place(segment, link, remarks)) is not None
    ]
    bounds = sorted({0.0, *(at for _, *ends in placed for at in ends if 0.0 <= at < link.length)})
    found: list[Stretch] = []
    for start in bounds:
        here = [segment for segment, first, last in placed if first <= start < last]
        lanes = {lane.number: lane for lane in trunk}
        for segment in here:
            _change(lanes, segment, trunk, remarks)
        if not lanes:
            lanes = {trunk[0].number: trunk[0]}
            text = f"link {link.id!r}: its segments drop every lane; one kept"
            remarks.find("L06", text, [f"link {link.id}"])
        if len(lanes) > MOST_LANES:
            raise NetworkError(
                f"{here[-1].where}: {len(lanes)} lanes on link {link.id[:40]!r}; a link has at "
                f"most {MOST_LANES} lanes, correct lanes_added"
            )
        row = tuple(_drawn(lanes[n], link.to_metres) for n in sorted(lanes, reverse=True))
        told = [segment for segment in here if segment.speed is not None]
        speed = link.speed
        if told:  # a segment within another prevails
            inner = min(told, key=lambda segment: abs(segment.end - segment.start))
            speed = min((inner.speed or 0.0) * link.speed_unit, link.fastest)
        if not found or (found[-1].lanes, found[-1].speed) != (row, speed):
            found.append(Stretch(start, row, speed))
    return found


def _drawn(lane: Lane, to_metres: float) -> StreetLane:
    width = WIDTH if lane.width is None else min(WIDEST, max(NARROWEST, lane.width * to_metres))
    return StreetLane(lane.number, width, lane.permissions)


def _place(segment: Segment, link: LinkShape, remarks: Remarks) -> tuple[float, float] | None:
    """Where a segment starts and ends along its link, m; None if it lies beside it."""
    if segment.node not in link.ends:
        raise NetworkError(
            f"{segment.where}: ref_node_id {segment.node[:40]!r} is no end of link "
            f"{link.id[:40]!r}; give one of its nodes"
        )
    start, end = segment.start * link.to_metres, segment.end * link.to_metres
    if segment.node != link.ends[0]:
        start, end = link.length - end, link.length - start
    if not (start < end and start < link.length and end > 0.0):
        text = f"segment {segment.id!r}: from {start:.0f} to {end:.0f} m of the {link.length:.0f} m"
        remarks.find("L06", f"{text} of link {link.id!r}; not used", [f"link {link.id}"])
        return None
    if start < AT_NODE:
        start = 0.0
    if end > link.length - AT_NODE:
        end = link.length
    return start, end


def _change(lanes: dict[int, Lane], segment: Segment, trunk: list[Lane], remarks: Remarks) -> None:
    """Add to the lanes of a link those of a segment, and take away what it drops."""
    known = {lane.number for lane in trunk}
    added = [lane for lane in segment.lanes if lane.permissions and lane.number not in known]
    left = sum(lane.number < min(known) for lane in added)
    counts = max(0, segment.left), max(0, segment.right)
    if added and (left, len(added) - left) != counts:
        remarks.add("segments whose lanes are not those they count, lanes taken", segment.id)
    if not added:
        first, last = min(known), max(known)
        below = [n for n in range(first - 1, first - 2 - counts[0], -1) if n][: counts[0]]
        above = [n for n in range(last + 1, last + 2 + counts[1]) if n][: counts[1]]
        added = [Lane(n, ROAD_VEHICLES, None) for n in (*below, *above)]
    for number_ in (
        *segment.dropped,
        *sorted(known)[: max(0, -segment.left)],
        *sorted(known, reverse=True)[: max(0, -segment.right)],
    ):
        lanes.pop(number_, None)
    lanes.update((lane.number, lane) for lane in added)
