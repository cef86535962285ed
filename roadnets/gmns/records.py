"""Nodes and links of a GMNS folder, typed; what is not used is remarked once per column or file.

A *centroid* is the node that stands for a zone; a *zone connector* is a link between a centroid and
a road node: no road, it says where the zone's trips start and end. Source: the General Modeling
Network Specification (github.com/zephyr-data-specs/GMNS) and networks.md section 7.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.classes import CAR
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.gmns.lanes import MOST_LANES, LaneTables, read_lanes
from rushhour.roadnets.gmns.uses import for_cars
from rushhour.roadnets.graphs.records import values_of
from rushhour.roadnets.osm.ways.speeds import read_speed
from rushhour.roadnets.plans.street_plan import Control
from rushhour.roadnets.reading.csv_tables import (
    CsvTable,
    blank,
    optional_table,
    read_table,
    refuse_doubles,
    table_path,
)
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.reading.values import FARTHEST, LONGEST_SHAPE, number

LANES: Final = 1  # where a link gives none
SPEED: Final = 13.9  # m/s, where a link gives none
LONGEST_LINK: Final = 1e7  # in whatever unit
FASTEST: Final = 1000.0  # in whatever unit
CONNECTOR_TYPE: Final = "99"
NO_ZONE: Final = ("", "0", "-1")
CONTROLS: Final[dict[str, Control]] = {
    "signal": "signals", "signals": "signals", "signalized": "signals", "traffic_signal": "signals",
    "traffic_signals": "signals", "stop": "two_way_stop", "2_stop": "two_way_stop",
    "two_way_stop": "two_way_stop", "4_stop": "all_way_stop", "all_way_stop": "all_way_stop",
    "allway_stop": "all_way_stop", "yield": "yield",
    # NeXTA's and DTALite's own: input_node_control_type.csv.
    "2": "yield", "yield_sign": "yield", "3": "two_way_stop", "2way_stop_sign": "two_way_stop",
    "4": "all_way_stop", "4way_stop_sign": "all_way_stop", "5": "signals", "pretimed_signal": "signals",
    "6": "signals", "actuated_signal": "signals", "7": "yield", "roundabout": "yield",
}  # fmt: skip
NO_CONTROL: Final = (
    "", "none", "no_control", "uncontrolled", "unknown_control", "0", "1", "nan", "null",
)  # fmt: skip
UNUSED_FILES: Final = (
    "location", "link_tod", "lane_tod", "segment_tod", "segment_lane_tod", "movement_tod",
    "signal_detector", "time_set_definitions", "use_group", "curb_seg",
)  # fmt: skip
# Names of columns as shapefiles cut them off.
CUT_OFF: Final = ("from_node_", "facility_t", "allowed_us")
_NODE_COLUMNS: Final = {
    "node_id", "x_coord", "y_coord", "z_coord", "zone_id", "node_type", "ctrl_type", "control_type", "control_type_name",
    "name",
}  # fmt: skip
_LINK_COLUMNS: Final = {
    "link_id", "from_node_id", "to_node_id", "directed", "dir_flag", "length", "facility_type",
    "link_type", "link_type_name", "free_speed", "lanes", "geometry", "geometry_id", "allowed_uses", "name",
    *CUT_OFF,
}  # fmt: skip
Geometry = tuple[str, str]  # WKT, and its place for messages
_LINE: Final = re.compile(
    r"(?:LINESTRING(?:\s+(?:Z|M|ZM))?\s*\(([^()]*)\)"
    r"|MULTILINESTRING(?:\s+(?:Z|M|ZM))?\s*\(\s*\(([^()]*)\)\s*\))",
    re.IGNORECASE,
)


@dataclass
class Node:
    """A row of node.csv; x, y, z as given."""

    id: str
    x: float
    y: float
    zone: str  # "" for none
    centroid: bool
    control: Control | None
    where: str
    z: float | None = None  # height


@dataclass
class Link:
    """A row of link.csv; length, speed and line as given. unit: m/s of one of the speed's, where the
    row says it itself."""

    id: str
    start: str
    end: str
    two_way: bool
    length: float | None
    speed: float | None
    lanes: int
    connector: bool
    line: NDArray[np.float64] | None
    name: str
    where: str
    unit: float | None = None


@dataclass
class GmnsTables:
    """What a folder says. units: of config.csv, by lower-case column."""

    nodes: dict[str, Node]
    links: list[Link]
    units: dict[str, str]
    remarks: Remarks
    lanes: LaneTables
    closed: set[str]  # ids of links that are left out


def read_records(folder: Path) -> GmnsTables:
    """Read node.csv, link.csv, config.csv, geometry.csv and the tables of lanes of a folder.

    Raises NetworkError, one line with file and line, for tables that cannot be read, ids given
    twice, links between unknown nodes, coordinates and numbers that cannot be meant.
    """
    remarks = Remarks()
    paths = {name: table_path(folder, name) for name in ("node", "link", "config")}
    for name in ("node", "link"):
        if paths[name] is None:
            raise NetworkError(f"{folder}: has no {name}.csv; a GMNS folder has node and link.csv")
    assert paths["node"] is not None and paths["link"] is not None
    nodes = _nodes(read_table(paths["node"]), remarks)
    lines = _geometries(optional_table(folder, "geometry"), remarks)
    lanes = read_lanes(folder, remarks)
    links, closed = _links(read_table(paths["link"]), nodes, lines, lanes, remarks)
    known = {link.id for link in links} | closed
    for owner, rows in lanes.lanes.items():
        if owner not in known:
            raise NetworkError(
                f"{folder}: lane.csv: {len(rows)} lanes of link {owner[:40]!r}, which is not in "
                "link.csv; add it or drop them"
            )
    for owner, segments in lanes.segments.items():
        if owner not in known:
            raise NetworkError(
                f"{segments[0].where}: unknown link {owner[:40]!r}; add it to link.csv or drop it"
            )
    units: dict[str, str] = {}
    if paths["config"] is not None:
        config = read_table(paths["config"])
        units = {name: values[0].lower() for name, values in config.columns.items() if values}
    for name in UNUSED_FILES:
        if table_path(folder, name) is not None:
            remarks.add("tables of the folder that are not used", f"{name}.csv")
    return GmnsTables(nodes, links, units, remarks, lanes, closed)


def _nodes(table: CsvTable, remarks: Remarks) -> dict[str, Node]:
    ids = table.needed("node_id")
    xs, ys = table.needed("x_coord"), table.needed("y_coord")
    empty = [""] * len(table)
    zones = table.column("zone_id") or empty
    kinds = table.column("node_type") or empty
    controls = [
        next((text for text in row if _key(text) not in NO_CONTROL), "")
        for row in zip(
            *(table.texts(name) for name in ("ctrl_type", "control_type_name", "control_type")),
            strict=True,
        )
    ]
    zs = table.column("z_coord") or empty
    nodes: dict[str, Node] = {}
    for row, name in enumerate(ids):
        where = f"{table.where(row)}: node {name[:40]!r}"
        if not name:
            raise NetworkError(f"{where}: has no node_id; give each node its own")
        if name in nodes:
            raise NetworkError(f"{where}: is given twice; give each node its own node_id")
        nodes[name] = Node(
            name,
            number(xs[row], where, "x_coord", -FARTHEST, FARTHEST),
            number(ys[row], where, "y_coord", -FARTHEST, FARTHEST),
            "" if zones[row] in NO_ZONE else zones[row],
            "centroid" in kinds[row].lower(),
            _control(controls[row], name, remarks),
            where,
            number(zs[row], where, "z_coord", -FARTHEST, FARTHEST) if zs[row] else None,
        )
    table.remark_unused(_NODE_COLUMNS, remarks)
    return nodes


def _control(text: str, node: str, remarks: Remarks) -> Control | None:
    key = _key(text)
    if key not in CONTROLS and key not in NO_CONTROL:
        remarks.add("controls of nodes not known, priority rules taken", f"{node} {text}")
    return CONTROLS.get(key)


def _key(text: str) -> str:
    """A control as CONTROLS has it; codes without the .0 of a column of floats."""
    key = re.sub(r"[\s-]+", "_", text.strip().lower())
    return key.removesuffix(".0")


def _geometries(table: CsvTable | None, remarks: Remarks) -> dict[str, Geometry]:
    """Lines of geometry.csv by id; those that are no line are refused where a link names them."""
    if table is None:
        return {}
    refuse_doubles(table, "geometry_id")
    names, lines = table.needed("geometry_id"), table.needed("geometry")
    table.remark_unused({"geometry_id", "geometry"}, remarks)
    return {
        name: (lines[row], f"{table.where(row)}: geometry {name[:40]!r}")
        for row, name in enumerate(names)
    }


def _links(
    table: CsvTable,
    nodes: dict[str, Node],
    lines: dict[str, Geometry],
    lanes: LaneTables,
    remarks: Remarks,
) -> tuple[list[Link], set[str]]:
    """The links that are roads or zone connectors, and the ids of others."""
    ends = table.needed("from_node_id", "from_node_"), table.needed("to_node_id")
    ids = _names(table, ends, remarks)
    names = ("name", "length", "free_speed", "lanes", "geometry", "geometry_id")
    texts = {name: table.texts(name) for name in names}
    uses = table.texts("allowed_uses", "allowed_us")
    directed, flag = table.column("directed"), table.column("dir_flag")
    kinds = (
        table.texts("link_type"), table.texts("link_type_name"),
        table.texts("facility_type", "facility_t"),
    )  # fmt: skip
    closed: set[str] = set()
    links: list[Link] = []
    for row, name in enumerate(ids):
        where = f"{table.where(row)}: link {name[:40]!r}"
        start, end = ends[0][row], ends[1][row]
        for node in (start, end):
            if node not in nodes:
                raise NetworkError(
                    f"{where}: unknown node {node[:40]!r}; add it to node.csv or drop the link"
                )
        kind = tuple(column[row].lower() for column in kinds)
        connector = CONNECTOR_TYPE in kind or any("connector" in k for k in kind)
        touches = nodes[start].centroid != nodes[end].centroid
        if touches and not connector:
            remarks.add("links at a centroid that are not typed so taken for zone connectors", name)
        open_ = for_cars(uses[row])
        if name in lanes.lanes:
            open_ &= any(lane.permissions & CAR for lane in lanes.lanes[name])
        if not connector and not touches and not open_:
            remarks.add("links closed to cars left out", name)
            closed.add(name)
            continue
        line = _own_line(texts["geometry"][row], texts["geometry_id"][row], lines, where)
        if line is not None and flag is not None and flag[row] in ("-1", "-1.0"):
            line = line[::-1]
        if directed is None and flag is None:
            remarks.add(
                "links taken as one-way, as link.csv has no column directed or dir_flag", name
            )
        speed, unit = _speed(texts["free_speed"][row], where)
        links.append(
            Link(
                name, start, end,
                _two_way(directed[row] if directed else flag[row] if flag else "1", where),
                _optional(texts["length"][row], where, "length", LONGEST_LINK), speed,
                len(lanes.trunk(name)) or _lane_count(texts["lanes"][row], name, remarks),
                connector or touches, line, texts["name"][row], where, unit,
            )
        )  # fmt: skip
    table.remark_unused(_LINK_COLUMNS, remarks)
    return links, closed


def _names(table: CsvTable, ends: tuple[list[str], list[str]], remarks: Remarks) -> list[str]:
    """An id of its own for each link. Of two rows of one id that lead there and back the second is
    the way back, named as that of an undirected link; others are named after their nodes, as are
    those without an id."""
    given = table.column("link_id") or [""] * len(table)
    known = set(given)
    first: dict[str, tuple[str, str]] = {}
    names: list[str] = []
    for name, *pair in zip(given, *ends, strict=True):
        start, end = pair
        back = f"-{name}"
        if name and name not in first:
            first[name] = start, end
        elif name and first[name] == (end, start) and back not in known:
            remarks.add("links of one id there and back, the way back named with a minus", name)
            name = back
        else:
            kind = "links whose id others have" if name else "links without an id"
            name = f"{start}-{end}"
            copies = 1
            while name in known:
                copies += 1
                name = f"{start}-{end}.{copies}"
            remarks.add(f"{kind}, named after their nodes", name)
        known.add(name)
        names.append(name)
    return names


def _speed(text: str, where: str) -> tuple[float | None, float | None]:
    """A free speed, and m/s of one where the text has a unit; None for none."""
    if blank(text):
        return None, None
    several = values_of(text)
    read = [one for value in several if (one := read_speed(value)) is not None]
    if read and (len(several) > 1 or text[-1:].isalpha()):  # of ways joined by osmnx: the slowest
        return min(read), 1.0
    return _optional(text, where, "free_speed", FASTEST), None


def _two_way(text: str, where: str) -> bool:
    """Whether a link is open both ways: `directed` false or `dir_flag` 0."""
    key = text.lower()
    if key in ("1", "-1", "true", "t", "yes", "", "1.0", "-1.0"):
        return False
    if key in ("0", "false", "f", "no", "0.0"):
        return True
    raise NetworkError(f"{where}: directed {text[:40]!r}; give 1 (one way) or 0 (both ways)")


def _optional(text: str, where: str, what: str, most: float) -> float | None:
    """A number above 0; None for an empty one and for 0."""
    if blank(text):
        return None
    return number(text, where, what, 0.0, most) or None


def _lane_count(text: str, link: str, remarks: Remarks) -> int:
    """Lanes of one direction (L06: what cannot be meant is taken as one)."""
    try:
        lanes = min((float(one) for one in values_of(text)), default=0.0)
    except ValueError:
        lanes = 0.0
    taken = int(lanes) if 1.0 <= lanes <= MOST_LANES else LANES
    if taken != lanes:
        remarks.find(
            "L06", f"link {link!r}: lanes {text!r:.20}, taken as {taken}", [f"link {link}"]
        )
    return taken


def _own_line(
    text: str, geometry: str, lines: dict[str, Geometry], where: str
) -> NDArray[np.float64] | None:
    """Points of a link: those that it gives itself, else those of the geometry that it names."""
    if blank(text) and not blank(geometry):
        if geometry not in lines:
            raise NetworkError(
                f"{where}: unknown geometry_id {geometry[:40]!r}; add it to geometry.csv or drop it"
            )
        text, where = lines[geometry]
    return _line(text, where)


def _line(text: str, where: str) -> NDArray[np.float64] | None:
    """Points of a WKT line string, (p, 2) as given; None without one."""
    if blank(text):
        return None
    found = _LINE.fullmatch(text.strip())
    if found is None:
        raise NetworkError(f"{where}: geometry {text[:40]!r}; give LINESTRING (x y, x y) or none")
    points = [point.split() for point in (found[1] or found[2] or "").split(",")]
    if not 2 <= len(points) <= LONGEST_SHAPE or any(len(p) not in (2, 3, 4) for p in points):
        raise NetworkError(f"{where}: geometry {text[:40]!r}; give 2 or more points x y")
    return np.array(
        [[number(v, where, "geometry", -FARTHEST, FARTHEST) for v in p[:2]] for p in points]
    )
