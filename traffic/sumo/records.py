"""What SUMO demand files contain, before it is fitted to a network.

One pass over each file collects definitions (types, routes, stops, zones) and records of vehicles.
A vehicle may refer to what another file defines, so `sumo.demand` resolves names afterwards.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.reading.values import number
from rushhour.roadnets.reading.xml_files import Element, elements
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.demand.scaling import MOST_SCALE
from rushhour.traffic.sumo.asked import (
    check_attributes,
    check_element,
    check_param,
    is_refused_element,
    want_ignored,
)
from rushhour.traffic.sumo.vehicle_types import TYPE_ATTRIBUTES, read_type

Attributes = dict[str, str]
Definition = TypeVar("Definition")
Shares = list[tuple[str, float]]  # names and weights of any scale
VEHICLES: Final = ("vehicle", "trip", "flow")
DEEPEST_INCLUDE: Final = 8
LONGEST_NAME: Final = 255  # characters of a file's name
# Read apart, when a run is planned.
_PLANNED: Final = {
    "rerouter": "of a <rerouter> `rushhour run` reads what it closes, and when",
    "variableSpeedSign": "of a <variableSpeedSign> `rushhour run` reads its limits, and when",
}
# Left to traffic.sumo.detectors, which measures the first two kinds.
LOOPS: Final = ("inductionLoop", "e1Detector", "instantInductionLoop")
AREAS: Final = ("laneAreaDetector", "e2Detector")
DETECTORS: Final = (*LOOPS, *AREAS, "entryExitDetector", "e3Detector", "routeProbe")
_QUIET: Final = ("tlLogic", "phase", "location")
_READ_APART: Final = ("tlLogic", *_PLANNED, *DETECTORS)
_OWN_WEIGHT: Final = -1.0  # in a list without probabilities: that of the entry's definition

_DRIVE: Final = {
    "id", "type", "route", "departLane", "departPos", "departSpeed", "departEdge", "arrivalPos",
    "arrivalEdge",
}  # fmt: skip
_WAY: Final = {"from", "to", "via", "fromTaz", "toTaz"}
_KNOWN: Final[dict[str, set[str]]] = {
    "vehicle": _DRIVE | _WAY | {"depart"},
    "trip": _DRIVE | _WAY | {"depart"},
    "flow": _DRIVE | _WAY | {
        "begin", "end", "number", "period", "vehsPerHour", "perHour", "probability",
    },
    "vType": {*TYPE_ATTRIBUTES, "probability", "refId", "scale"},
    "vTypeDistribution": {"id", "vTypes", "probabilities"},
    "route": {"id", "edges", "repeat", "cycleTime", "probability", "refId"},
    "routeDistribution": {"id", "routes", "probabilities", "last"},
    "stop": {"busStop", "lane", "startPos", "endPos", "duration", "until", "parking"},
    "busStop": {"id", "lane", "startPos", "endPos"},
    "taz": {"id", "edges"},
    "tazSource": {"id", "weight"},
    "tazSink": {"id", "weight"},
    "include": {"href"},
}  # fmt: skip


class StopRecord(NamedTuple):
    """A stop element."""

    attributes: Attributes
    where: str  # place and name, for messages


@dataclass(slots=True)
class RouteRecord:
    """A route element with its stops."""

    attributes: Attributes
    where: str
    stops: list[StopRecord] = field(default_factory=list)


@dataclass(slots=True)
class Record:
    """A vehicle, trip or flow element with what is nested in it."""

    tag: str
    attributes: Attributes
    file: str
    line: int
    route: RouteRecord | None = None
    stops: list[StopRecord] = field(default_factory=list)

    @property
    def where(self) -> str:
        """Place and name, for messages."""
        return f"{self.file}:{self.line}: {self.tag} {self.attributes.get('id', '')[:60]!r}"


@dataclass
class Records:
    """Everything that a set of files defines."""

    types: dict[str, VehicleType] = field(default_factory=dict)
    type_shares: dict[str, Shares] = field(default_factory=dict)
    routes: dict[str, RouteRecord] = field(default_factory=dict)
    route_shares: dict[str, Shares] = field(default_factory=dict)
    bus_stops: dict[str, Attributes] = field(default_factory=dict)
    sources: dict[str, Shares] = field(default_factory=dict)  # edges of a zone
    sinks: dict[str, Shares] = field(default_factory=dict)
    vehicles: list[Record] = field(default_factory=list)
    weights: dict[tuple[str, str], float] = field(default_factory=dict)  # (tag, id): probability
    scales: dict[str, float] = field(default_factory=dict)  # of types whose traffic is scaled
    ignored: tuple[str, ...] = ()  # names of `asked` that are let be
    remarks: Remarks = field(default_factory=Remarks)


def additional_elements(path: Path) -> Iterator[Element]:
    """What an additional file holds besides vehicles; of a <routes> file what stands before the first.

    What comes behind it there would be missed, so `read_records` refuses that.
    """
    routes = False
    for element in elements(path):
        routes = routes or element[1] == "routes"
        if element[1] in VEHICLES and routes:
            return
        yield element


def read_records(paths: list[Path], ignored: Collection[str] = ()) -> Records:
    """Read demand files. Raises DemandError (or what reading XML raises) for a bad one, and for
    elements that would change the traffic and are not followed, unless they are ignored."""
    records = Records(ignored=tuple(ignored))
    for path in paths:
        _Reader(path, path.parent, records, 0).read()
    for tag, table in (("vType", records.type_shares), ("route", records.route_shares)):
        for name, shares in table.items():
            table[name] = [
                (entry, weight if weight >= 0.0 else records.weights.get((tag, entry), 1.0))
                for entry, weight in shares
            ]
            if not sum(weight for _, weight in table[name]) > 0.0:
                raise DemandError(
                    f"distribution {name[:60]!r} of {tag}s: nothing to choose from; "
                    "give it entries with a probability > 0"
                )
    return records


class _Reader:
    """One pass over one file."""

    def __init__(self, path: Path, folder: Path, records: Records, depth: int) -> None:
        self.path = path
        self.folder = folder  # of the file that the user named; nothing outside is included
        self.records = records
        self.remarks = records.remarks
        self.depth = depth
        self.starts: dict[str, Callable[[Iterator[Element], Attributes, int], object]] = {
            "vType": self._type,
            "vTypeDistribution": self._type_distribution,
            "route": self._route,
            "routeDistribution": self._route_distribution,
            "busStop": self._bus_stop,
            "taz": self._zone,
            "include": self._include,
        }

    def read(self) -> None:
        stream = elements(self.path)
        vehicles = False
        _, root, _, line = next(stream)
        if root not in ("routes", "additional", "additionals", "add"):
            raise DemandError(
                f"{self.path}:{line}: starts with <{root[:40]}>; wanted <routes> or <additional>, "
                "as in .rou.xml, .trips.xml and .add.xml files"
            )
        for event, tag, attributes, line in stream:
            if event == "end":
                continue
            if tag in VEHICLES:
                vehicles = True
                self._vehicle(stream, tag, attributes, line)
            elif tag in self.starts:
                self._name_unknown(tag, attributes, line)
                self.starts[tag](stream, attributes, line)
            else:
                if tag in _READ_APART:
                    self._want_found(tag, line, behind=vehicles and root == "routes")
                for _ in self._children(stream):
                    pass
                if tag == "param":
                    self._param(attributes, line)
                elif is_refused_element(tag):
                    self._refuse(tag, line)
                elif tag in _PLANNED:
                    self.remarks.add(_PLANNED[tag])
                elif tag in DETECTORS:
                    self.remarks.add(f"<{tag}> is left to `rushhour run --measure`")
                elif tag not in _QUIET:
                    known = (*VEHICLES, *self.starts, *_READ_APART)
                    check_element(tag, known, f"{self.path}:{line}", self.remarks)

    def _children(self, stream: Iterator[Element]) -> Iterator[tuple[int, str, Attributes, int]]:
        """Elements inside the one that has just started, with their depth from 1."""
        depth = 1
        for event, tag, attributes, line in stream:
            if event == "start":
                yield depth, tag, attributes, line
                depth += 1
            else:
                depth -= 1
                if depth == 0:
                    return

    def _name_unknown(self, tag: str, attributes: Attributes, line: int) -> None:
        known = _KNOWN[tag]
        if not attributes.keys() <= known:
            place, ignored = self._where(line, tag, attributes), self.records.ignored
            check_attributes(tag, attributes, known, place, ignored, self.remarks)

    def _want_found(self, tag: str, line: int, behind: bool) -> None:
        """Refuse what is read apart where that is not looked for."""
        if self.depth or behind:
            where = "in a file that another includes" if self.depth else "behind vehicles"
            raise DemandError(
                f"{self.path}:{line}: <{tag}> stands {where}, where it would be missed; move it into a "
                "file of its own, and give that to --demand"
            )

    def _param(self, attributes: Attributes, line: int) -> None:
        check_param(attributes, f"{self.path}:{line}", self.records.ignored, self.remarks)

    def _refuse(self, tag: str, line: int) -> None:
        """Refuse an element that is not followed."""
        what, place = f"<{tag[:40]}>", f"{self.path}:{line}"
        want_ignored(tag, what, place, self.records.ignored, self.remarks)

    def _where(self, line: int, tag: str, attributes: Attributes) -> str:
        return f"{self.path}:{line}: {tag} {attributes.get('id', '')[:60]!r}"

    def _needed(self, attributes: Attributes, name: str, where: str) -> str:
        if name not in attributes:
            raise DemandError(f"{where}: has no {name!r}; give one")
        return attributes[name]

    def _define(self, table: dict[str, Definition], name: str, value: Definition, tag: str) -> None:
        if name in table:
            self.remarks.add(f"<{tag}> given more than once, the last is taken", name)
        table[name] = value

    def _include(self, stream: Iterator[Element], attributes: Attributes, line: int) -> None:
        where = f"{self.path}:{line}: include"
        name = self._needed(attributes, "href", where)
        if not (0 < len(name) <= LONGEST_NAME and name.isprintable()):
            raise DemandError(f"{where}: href {name[:40]!r} is no name of a file; correct it")
        path = self.path.parent / name
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise DemandError(
                f"{where}: {name[:60]!r} lies outside of the folder of the demand "
                "file; give it to --demand instead"
            )
        if self.depth >= DEEPEST_INCLUDE:
            raise DemandError(f"{where}: more than {DEEPEST_INCLUDE} files deep; break the circle")
        _Reader(path, self.folder, self.records, self.depth + 1).read()

    def _bus_stop(self, stream: Iterator[Element], attributes: Attributes, line: int) -> None:
        where = self._where(line, "busStop", attributes)
        name = self._needed(attributes, "id", where)
        self._needed(attributes, "lane", where)
        self._define(self.records.bus_stops, name, attributes, "busStop")

    def _zone(self, stream: Iterator[Element], attributes: Attributes, line: int) -> None:
        where = self._where(line, "taz", attributes)
        name = self._needed(attributes, "id", where)
        everywhere: Shares = [(edge, 1.0) for edge in attributes.get("edges", "").split()]
        sources, sinks = list(everywhere), list(everywhere)
        for _, tag, inner, inner_line in self._children(stream):
            if tag in ("tazSource", "tazSink"):
                self._name_unknown(tag, inner, inner_line)
                place = self._where(inner_line, tag, inner)
                weight = number(inner.get("weight", "1"), place, "weight", 0.0, 1e9)
                pair = (self._needed(inner, "id", place), weight)
                (sources if tag == "tazSource" else sinks).append(pair)
        self.records.sources[name], self.records.sinks[name] = sources, sinks

    # --- types and routes ------------------------------------------------------------------

    def _weight(self, attributes: Attributes, where: str) -> float:
        return number(attributes.get("probability", "1"), where, "probability", 0.0, 1e9)

    def _listed(self, attributes: Attributes, what: str, where: str) -> Shares:
        names = attributes.get(what, "").split()
        if "probabilities" not in attributes:
            return [(name, _OWN_WEIGHT) for name in names]
        weights = attributes["probabilities"].split()
        if len(weights) != len(names):
            raise DemandError(
                f"{where}: {len(names)} {what} and {len(weights)} probabilities; give one to each"
            )
        return [
            (name, number(weight, where, "probability", 0.0, 1e9))
            for name, weight in zip(names, weights, strict=True)
        ]

    def _type(self, stream: Iterator[Element], attributes: Attributes, line: int) -> str:
        where = self._where(line, "vType", attributes)
        name = self._needed(attributes, "id", where)
        kind = read_type(attributes, where, self.remarks, self.records.ignored)
        self._define(self.records.types, name, kind, "vType")
        self.records.weights["vType", name] = self._weight(attributes, where)
        if "scale" in attributes:
            factor = number(attributes["scale"], where, "scale", 0.0, MOST_SCALE)
            self.records.scales[name] = factor
        return name

    def _type_distribution(
        self, stream: Iterator[Element], attributes: Attributes, line: int
    ) -> None:
        where = self._where(line, "vTypeDistribution", attributes)
        shares = self._listed(attributes, "vTypes", where)
        for _, tag, inner, inner_line in self._children(stream):
            if tag == "vType":
                self._name_unknown(tag, inner, inner_line)
                name = inner.get("refId") or self._type(stream, inner, inner_line)
                shares.append((name, self._weight(inner, where)))
        own = self._needed(attributes, "id", where)
        self._define(self.records.type_shares, own, shares, "vTypeDistribution")

    def _new_route(self, attributes: Attributes, where: str) -> RouteRecord:
        self._needed(attributes, "edges", where)
        return RouteRecord(attributes, where)

    def _stop(self, attributes: Attributes, line: int, owner: str) -> StopRecord:
        self._name_unknown("stop", attributes, line)
        return StopRecord(attributes, f"{self.path}:{line}: stop of {owner}")

    def _route(self, stream: Iterator[Element], attributes: Attributes, line: int) -> None:
        where = self._where(line, "route", attributes)
        name = self._needed(attributes, "id", where)
        route = self._new_route(attributes, where)
        for _, tag, inner, inner_line in self._children(stream):
            if tag == "stop":
                route.stops.append(self._stop(inner, inner_line, f"route {name[:60]!r}"))
        self._define(self.records.routes, name, route, "route")
        self.records.weights["route", name] = self._weight(attributes, where)

    def _route_distribution(
        self, stream: Iterator[Element], attributes: Attributes, line: int
    ) -> None:
        where = self._where(line, "routeDistribution", attributes)
        shares = self._listed(attributes, "routes", where)
        own = self._needed(attributes, "id", where)
        route: RouteRecord | None = None
        for _, tag, inner, inner_line in self._children(stream):
            if tag == "route":
                self._name_unknown(tag, inner, inner_line)
                name = inner.get("refId")
                if name is None:
                    name = inner.get("id") or f"{own}!{len(shares)}"
                    route = self._new_route(inner, self._where(inner_line, tag, inner))
                    self.records.routes[name] = route
                shares.append((name, self._weight(inner, where)))
            elif tag == "stop" and route is not None:
                route.stops.append(self._stop(inner, inner_line, f"routeDistribution {own[:60]!r}"))
        self._define(self.records.route_shares, own, shares, "routeDistribution")

    def _vehicle(
        self, stream: Iterator[Element], tag: str, attributes: Attributes, line: int
    ) -> None:
        self._name_unknown(tag, attributes, line)
        record = Record(tag, attributes, str(self.path), line)
        if not attributes.get("id"):
            raise DemandError(f"{record.where}: has no id; give it one")
        alternatives: Shares = []
        for depth, inner_tag, inner, inner_line in self._children(stream):
            if inner_tag == "route":
                where = f"{self.path}:{inner_line}: route of {tag} {attributes['id'][:60]!r}"
                if depth == 1:
                    self._name_unknown("route", inner, inner_line)
                record.route = self._new_route(inner, where)
                if depth > 1:  # one of a distribution
                    name = f"{attributes['id']}!{len(alternatives)}"
                    self.records.routes[name] = record.route
                    alternatives.append((name, self._weight(inner, where)))
            elif inner_tag == "stop":
                stop = self._stop(inner, inner_line, f"{tag} {attributes['id'][:60]!r}")
                owner = record.route if alternatives and record.route else record
                owner.stops.append(stop)
            elif inner_tag == "param":
                self._param(inner, inner_line)
            elif is_refused_element(inner_tag):
                self._refuse(inner_tag, inner_line)
            elif inner_tag != "routeDistribution":
                self.remarks.add(f"<{inner_tag[:40]}> of a {tag} is not read")
        if alternatives:
            record.route, record.attributes["route"] = None, f"{attributes['id']}!"
            self.records.route_shares[f"{attributes['id']}!"] = alternatives
        self.records.vehicles.append(record)
