"""The elements of a SUMO network file, as read: nothing interpreted yet, places kept for messages.

Lanes of junctions (`function="internal"`) are kept apart: they are pieces of connectors.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

from rushhour.kernels.core.vehicles import MAX_LANES
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.reading.values import number, seconds, shape, whole
from rushhour.roadnets.reading.xml_files import elements
from rushhour.roadnets.zebras import Zebra

LONGEST_PHASE: Final = 1e6  # s
ZEBRA: Final = 4.0  # m, width of a crossing of pedestrians that does not say it

_WORLD = {"xmlns:xsi", "xsi:noNamespaceSchemaLocation", "version"}
# What is read of each element, with what may be left out without changing the traffic.
_READ: Final[dict[str, set[str]]] = {
    "net": _WORLD
    | {"lefthand", "junctionCornerDetail", "junctionLinkDetail", "limitTurnSpeed", "walkingareas",
       "checkLaneFoesAll", "checkLaneFoesRoundabout", "tlsIgnoreInternalJunctionJam", "avoidOverlap",
       "junctionHigherSpeed", "internalJunctionsVehicleWidth", "spreadType"},
    "location": {"netOffset", "convBoundary", "origBoundary", "projParameter"},
    "edge": {"id", "from", "to", "priority", "function", "name", "type", "shape", "spreadType",
             "bidi", "distance", "routingType", "crossingEdges", "length"},
    "lane": {"id", "index", "speed", "length", "width", "shape", "allow", "disallow",
             "outlineShape", "customShape", "type"},
    "junction": {"id", "type", "x", "y", "z", "incLanes", "intLanes", "shape", "rightOfWay",
                 "radius", "fringe", "customShape", "name"},
    "request": {"index", "response", "foes", "cont"},
    "connection": {"from", "to", "fromLane", "toLane", "via", "dir", "state", "tl", "linkIndex",
                   "pass", "keepClear", "uncontrolled", "allow", "disallow", "speed", "length",
                   "shape"},
    "tlLogic": {"id", "type", "programID", "offset"},
    "phase": {"duration", "state", "minDur", "maxDur", "name", "next"},
}  # fmt: skip
# Elements that are already worked into others, or say nothing about traffic.
_SILENT: Final = {"type", "restriction", "param", "roundabout", "prohibition", "net"}
_SIGNAL_FILES: Final = {"add", "additional", "additionals", "net", "tlLogics", "routes"}


@dataclass
class RawLane:
    """A lane as written."""

    id: str
    number: int
    attributes: dict[str, str]
    line: int


@dataclass
class RawEdge:
    """An edge as written, pedestrian ones left out."""

    id: str
    attributes: dict[str, str]
    line: int
    lanes: list[RawLane] = field(default_factory=list)
    ref: str = ""  # the number of its street, as netconvert writes it


@dataclass
class RawJunction:
    """A junction as written; requests: (response, foes) by index, bits to be read from the right."""

    id: str
    kind: str
    x: float
    y: float
    incoming: list[str]
    internal: list[str]
    line: int
    requests: dict[int, tuple[str, str]] = field(default_factory=dict)


@dataclass
class RawConnection:
    """A connection as written."""

    from_edge: str
    to_edge: str
    from_lane: int
    to_lane: int
    attributes: dict[str, str]
    line: int


@dataclass
class RawProgram:
    """A signal program as written."""

    id: str
    program: str
    kind: str
    offset: float
    where: str
    phases: list[tuple[float, str]] = field(default_factory=list)
    details: list[dict[str, str]] = field(default_factory=list)  # of phases: all attributes
    params: dict[str, str] = field(default_factory=dict)


@dataclass
class SumoFile:
    """Everything of a network file that matters."""

    path: Path
    remarks: Remarks
    left_hand: bool = False
    lateral_acceleration: float | None = None  # m/s^2 that its turns were made for
    offset: tuple[float, float] = (0.0, 0.0)
    projection: str = ""
    edges: dict[str, RawEdge] = field(default_factory=dict)
    zebras: list[Zebra] = field(default_factory=list)  # marked crossings
    inner_lanes: dict[str, RawLane] = field(default_factory=dict)  # of junctions, by id
    junctions: dict[str, RawJunction] = field(default_factory=dict)
    connections: list[RawConnection] = field(default_factory=list)  # between normal edges
    inner_vias: dict[tuple[str, int], str] = field(default_factory=dict)  # next piece of a chain
    programs: dict[str, RawProgram] = field(default_factory=dict)  # the last of each id

    def where(self, line: int, what: str) -> str:
        """Place of an element, for messages."""
        return f"{self.path}:{line}: {what}"


def _needed(attributes: dict[str, str], name: str, where: str) -> str:
    value = attributes.get(name)
    if value is None:
        raise NetworkError(f"{where}: has no {name!r}; add it or export the network again")
    return value


class _Reader:
    """Takes the elements of one file in turn."""

    def __init__(self, file: SumoFile) -> None:
        self.file = file
        self.edge: RawEdge | None = None
        self.inner = False  # inside an edge of a junction
        self.skipped = self.zebra = False  # inside an edge for pedestrians, a crossing
        self.junction: RawJunction | None = None
        self.program: RawProgram | None = None

    def start(self, tag: str, a: dict[str, str], line: int) -> None:
        """Take the start of an element."""
        if tag == "param" and self.program is not None:
            self.program.params[a.get("key", "")] = a.get("value", "")
        if tag == "param" and self.edge is not None and a.get("key") == "ref":
            self.edge.ref = self.edge.ref or a.get("value", "")
        known = _READ.get(tag)
        if known is None:
            if tag not in _SILENT:
                self.file.remarks.add(f"element <{tag}> ignored", check="L28")
            return
        if not a.keys() <= known:
            for name in sorted(a.keys() - known):
                self.file.remarks.add(f"attribute {name!r} of <{tag}> ignored", check="L28")
        if tag == "edge":
            self._start_edge(a, line)
        elif tag == "lane":
            self._lane(a, line)
        elif tag == "junction":
            self._start_junction(a, line)
        elif tag == "request":
            self._request(a, line)
        elif tag == "connection":
            self._connection(a, line)
        elif tag == "tlLogic":
            self._start_program(a, line)
        elif tag == "phase":
            self._phase(a, line)
        elif tag == "location":
            self._location(a, line)

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        if tag == "edge":
            self.edge, self.inner, self.skipped, self.zebra = None, False, False, False
        elif tag == "junction":
            self.junction = None
        elif tag == "tlLogic":
            self.program = None

    def _start_edge(self, a: dict[str, str], line: int) -> None:
        file, function = self.file, a.get("function", "normal")
        edge = RawEdge(_needed(a, "id", file.where(line, "edge")), a, line)
        self.zebra = function == "crossing"
        if function in ("crossing", "walkingarea"):
            file.remarks.add(
                "crossings of pedestrians are drawn only"
                if self.zebra
                else "walking areas left out"
            )
            self.skipped = True
            return
        self.inner = function == "internal"
        self.edge = edge
        if self.inner:
            return
        if function not in ("normal", "connector"):
            file.remarks.add(f"edges of unknown function {function!r} taken as roads", edge.id)
        elif function == "connector":
            file.remarks.add("connector edges taken as roads", edge.id)
        if edge.id in file.edges:
            raise NetworkError(
                f"{file.where(line, f'edge {edge.id!r}')} is given twice; give each its own id"
            )
        file.edges[edge.id] = edge

    def _lane(self, a: dict[str, str], line: int) -> None:
        if self.edge is None:
            if self.zebra:
                self._mark_zebra(a, line)
            elif not self.skipped:
                raise NetworkError(
                    f"{self.file.where(line, 'lane')} outside of an edge; put it inside one"
                )
            return
        where = self.file.where(line, f"lane of edge {self.edge.id!r}")
        most = MAX_LANES
        index = whole(_needed(a, "index", where), where, "index", 0, most - 1)
        lane = RawLane(a.get("id", f"{self.edge.id}_{index}"), index, a, line)
        if self.inner:
            self.file.inner_lanes[lane.id] = lane
            return
        if any(other.number == index for other in self.edge.lanes):
            raise NetworkError(f"{where}: index {index} is given twice; number lanes from 0")
        self.edge.lanes.append(lane)

    def _mark_zebra(self, a: dict[str, str], line: int) -> None:
        """A crossing of pedestrians, straight piece by piece."""
        where = self.file.where(line, "lane of a crossing")
        width = number(a.get("width", f"{ZEBRA}"), where, "width", 0.1, 100.0)
        line_of = shape(a.get("shape", ""), where).tolist()
        self.file.zebras += [(*p, *q, width) for p, q in pairwise(line_of)]

    def _start_junction(self, a: dict[str, str], line: int) -> None:
        file = self.file
        name = _needed(a, "id", file.where(line, "junction"))
        where, kind = file.where(line, f"junction {name!r}"), a.get("type", "priority")
        self.junction = RawJunction(
            name, kind, 0.0, 0.0, a.get("incLanes", "").split(), a.get("intLanes", "").split(), line
        )
        if kind == "internal":
            return
        self.junction.x = number(_needed(a, "x", where), where, "x", -1e8, 1e8)
        self.junction.y = number(_needed(a, "y", where), where, "y", -1e8, 1e8)
        if name in file.junctions:
            raise NetworkError(f"{where} is given twice; give each its own id")
        file.junctions[name] = self.junction

    def _request(self, a: dict[str, str], line: int) -> None:
        if self.junction is None:
            raise NetworkError(
                f"{self.file.where(line, 'request')} outside of a junction; put it inside one"
            )
        where = self.file.where(line, f"request of junction {self.junction.id!r}")
        index = whole(_needed(a, "index", where), where, "index", 0, 1_000_000)
        bits = a.get("response", ""), a.get("foes", "")
        for text in bits:
            if text.strip("01"):
                raise NetworkError(f"{where}: bits {text[:40]!r}; give a row of 0 and 1")
        self.junction.requests[index] = bits

    def _connection(self, a: dict[str, str], line: int) -> None:
        file = self.file
        where = file.where(line, "connection")
        start = _needed(a, "from", where)
        from_lane = whole(_needed(a, "fromLane", where), where, "fromLane", 0, 1_000_000)
        if start.startswith(":"):
            if "via" in a:
                file.inner_vias.setdefault((start, from_lane), a["via"])
            return
        end = _needed(a, "to", where)
        if end.startswith(":"):
            file.remarks.add("connections onto walking areas left out")
            return
        to_lane = whole(_needed(a, "toLane", where), where, "toLane", 0, 1_000_000)
        file.connections.append(RawConnection(start, end, from_lane, to_lane, a, line))

    def _start_program(self, a: dict[str, str], line: int) -> None:
        name = _needed(a, "id", self.file.where(line, "tlLogic"))
        where = self.file.where(line, f"signal {name!r}")
        offset = a.get("offset", "0")
        self.program = RawProgram(
            name,
            a.get("programID", "0"),
            a.get("type", "static"),
            0.0 if offset == "begin" else seconds(offset, where, "offset", -1e9, 1e9),
            f"{where} program {a.get('programID', '0')!r}",
        )
        self.file.programs[name] = self.program

    def _phase(self, a: dict[str, str], line: int) -> None:
        if self.program is None:
            raise NetworkError(
                f"{self.file.where(line, 'phase')} outside of a tlLogic; put it inside one"
            )
        where = self.file.where(line, f"signal {self.program.id!r}")
        duration = _needed(a, "duration", where)
        self.program.phases.append(
            (
                seconds(duration, where, "phase duration", 0.001, LONGEST_PHASE),
                _needed(a, "state", where),
            )
        )
        self.program.details.append(a)

    def _location(self, a: dict[str, str], line: int) -> None:
        where = self.file.where(line, "location")
        x, _, y = a.get("netOffset", "0,0").partition(",")
        self.file.offset = (
            number(x, where, "netOffset", -1e9, 1e9),
            number(y, where, "netOffset", -1e9, 1e9),
        )
        projection = a.get("projParameter", "!")
        self.file.projection = "" if projection in ("!", "-", ".") else projection


def read_elements(path: Path) -> SumoFile:
    """Read a network file.

    Raises NetworkError when it is not a SUMO network or holds a value that cannot be meant;
    RushhourError when it is not sound XML.
    """
    file = SumoFile(path, Remarks())
    reader = _Reader(file)
    stream = elements(path)
    _, root, attributes, line = next(stream)
    if root != "net":
        raise NetworkError(
            f"{path}:{line}: <{root[:40]}> is not a SUMO network; give a .net.xml file"
        )
    reader.start(root, attributes, line)
    file.left_hand = attributes.get("lefthand", "false").lower() in ("true", "1", "yes", "on", "x")
    if limit := attributes.get("limitTurnSpeed"):
        given = number(limit, f"{path}:{line}: net", "limitTurnSpeed", -1.0, 100.0)
        file.lateral_acceleration = given if given > 0.0 else None
    for event, tag, attributes, line in stream:
        if event == "start":
            reader.start(tag, attributes, line)
        else:
            reader.end(tag)
    return file


def read_programs(path: Path, remarks: Remarks) -> list[RawProgram]:
    """Read the signal programs of an additional file; its other elements are passed over.

    Raises NetworkError for a file of another kind or a value that cannot be meant.
    """
    file = SumoFile(path, remarks)
    reader = _Reader(file)
    found: list[RawProgram] = []
    stream = elements(path)
    _, root, _, line = next(stream)
    if root not in _SIGNAL_FILES:
        raise NetworkError(
            f"{path}:{line}: <{root[:40]}> holds no signal programs; give an additional file"
        )
    for event, tag, attributes, line in stream:
        if event == "end":
            reader.end(tag)
        elif tag in ("tlLogic", "phase", "param"):
            reader.start(tag, attributes, line)
            if tag == "tlLogic" and reader.program is not None:
                found.append(reader.program)
        elif tag in ("WAUT", "wautSwitch", "wautJunction", "timedEvent"):
            remarks.add(f"element <{tag}> ignored", check="L28")
    return found
