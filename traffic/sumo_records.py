"""What SUMO demand files contain, before it is fitted to a network.

One pass over each file collects definitions (types, routes, stops) and records of vehicles; a
vehicle may refer to what another file defines, so `sumo_demand` resolves the names afterwards.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.remarks import Remarks
from rushhour.roadnets.sumo_values import number
from rushhour.roadnets.xml_reading import elements
from rushhour.traffic.demand import VehicleType
from rushhour.traffic.sumo_types import read_type

Attributes = dict[str, str]
VEHICLES: Final = ("vehicle", "trip", "flow")
# Changes what the traffic does, so its absence is worth a remark of its own.
_STEERING: Final = ("rerouter", "variableSpeedSign", "calibrator", "closingReroute")
_QUIET: Final = ("routes", "additional", "add", "param", "tlLogic", "phase", "location")


@dataclass
class Record:
    """A vehicle, trip or flow element with what is nested in it."""

    tag: str
    attributes: Attributes
    file: str
    line: int
    route: Attributes | None = None  # a nested route
    stops: list[Attributes] = field(default_factory=list)

    @property
    def where(self) -> str:
        """Place and name, for messages."""
        return f"{self.file}:{self.line}: {self.tag} {self.attributes.get('id', '')!r}"


@dataclass
class Records:
    """Everything that a set of files defines."""

    types: dict[str, VehicleType] = field(default_factory=dict)
    type_shares: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    routes: dict[str, Attributes] = field(default_factory=dict)
    route_stops: dict[str, list[Attributes]] = field(default_factory=dict)
    route_shares: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    bus_stops: dict[str, Attributes] = field(default_factory=dict)
    vehicles: list[Record] = field(default_factory=list)
    remarks: Remarks = field(default_factory=Remarks)


def read_records(paths: list[Path]) -> Records:
    """Read demand files. Raises DemandError (or what reading XML raises) for a bad one."""
    records = Records()
    for path in paths:
        _Reader(path, records).read()
    return records


class _Reader:
    """One pass over one file."""

    def __init__(self, path: Path, records: Records) -> None:
        self.path = path
        self.name = path.name
        self.records = records
        self.anonymous = 0

    def read(self) -> None:
        stream = elements(self.path)
        root = next(stream, None)
        if root is None or root[1] not in ("routes", "additional", "add"):
            tag = "nothing" if root is None else f"<{root[1][:40]}>"
            raise DemandError(
                f"{self.name}: starts with {tag}; wanted <routes> or <additional> (SUMO demand)"
            )
        for event, tag, attributes, line in stream:
            if event == "end":
                continue
            if tag in VEHICLES:
                self._vehicle(stream, tag, attributes, line)
            elif tag == "vType":
                self._type(attributes, line)
            elif tag == "vTypeDistribution":
                self._type_distribution(stream, attributes, line)
            elif tag == "route":
                self._route(stream, attributes, line)
            elif tag == "routeDistribution":
                self._route_distribution(stream, attributes, line)
            elif tag == "busStop":
                self.records.bus_stops[attributes.get("id", "")] = attributes
            elif tag in _STEERING:
                self._skip(stream, tag)
                self.records.remarks.add(f"<{tag}> is not read, so results differ from SUMO's")
            elif tag not in _QUIET:
                self._skip(stream, tag)
                self.records.remarks.add(f"<{tag}> is not read")

    def _skip(self, stream: Iterator[Any], tag: str) -> None:
        depth = 1
        while depth:
            event, _, _, _ = next(stream)
            depth += 1 if event == "start" else -1

    def _children(self, stream: Iterator[Any]) -> Iterator[tuple[str, Attributes, int]]:
        """Direct and deeper children of the element that has just started, until it ends."""
        depth = 1
        for event, tag, attributes, line in stream:
            depth += 1 if event == "start" else -1
            if depth == 0:
                return
            if event == "start":
                yield tag, attributes, line

    def _where(self, line: int, tag: str, attributes: Attributes) -> str:
        return f"{self.name}:{line}: {tag} {attributes.get('id', '')[:60]!r}"

    def _type(self, attributes: Attributes, line: int) -> VehicleType:
        where = self._where(line, "vType", attributes)
        kind = read_type(attributes, where, self.records.remarks)
        self.records.types[kind.name] = kind
        return kind

    def _weight(self, attributes: Attributes, where: str) -> float:
        return number(attributes.get("probability", "1"), where, "probability", 0.0, 1e9)

    def _type_distribution(self, stream: Iterator[Any], attributes: Attributes, line: int) -> None:
        shares: list[tuple[str, float]] = []
        where = self._where(line, "vTypeDistribution", attributes)
        if "vTypes" in attributes:
            shares.extend(self._listed(attributes, "vTypes", where))
        for tag, inner, inner_line in self._children(stream):
            if tag == "vType":
                kind = self._type(inner, inner_line)
                shares.append((kind.name, self._weight(inner, where)))
        self.records.type_shares[attributes.get("id", "")] = self._checked(shares, where)

    def _listed(self, attributes: Attributes, what: str, where: str) -> list[tuple[str, float]]:
        names = attributes[what].split()
        weights = attributes.get("probabilities", "").split() or ["1"] * len(names)
        if len(weights) != len(names):
            raise DemandError(f"{where}: {len(names)} {what} and {len(weights)} probabilities")
        return [
            (name, number(weight, where, "probability", 0.0, 1e9))
            for name, weight in zip(names, weights, strict=True)
        ]

    def _checked(self, shares: list[tuple[str, float]], where: str) -> list[tuple[str, float]]:
        if not shares or sum(weight for _, weight in shares) <= 0.0:
            raise DemandError(f"{where}: nothing to choose from; give entries with probability > 0")
        return shares

    def _route(self, stream: Iterator[Any], attributes: Attributes, line: int) -> str:
        name = attributes.get("id")
        if not name:
            self.anonymous += 1
            name = f"{self.name}!{self.anonymous}"
        if "edges" not in attributes:
            where = self._where(line, "route", attributes)
            raise DemandError(f"{where}: has no edges; give their ids")
        self.records.routes[name] = attributes
        stops = [inner for tag, inner, _ in self._children(stream) if tag == "stop"]
        if stops:
            self.records.route_stops[name] = stops
        return name

    def _route_distribution(self, stream: Iterator[Any], attributes: Attributes, line: int) -> None:
        shares: list[tuple[str, float]] = []
        where = self._where(line, "routeDistribution", attributes)
        if "routes" in attributes:
            shares.extend(self._listed(attributes, "routes", where))
        for tag, inner, inner_line in self._children(stream):
            if tag != "route":
                continue
            if "refId" in inner:
                shares.append((inner["refId"], self._weight(inner, where)))
                continue
            name = inner.get("id") or f"{self.name}!{inner_line}!{len(shares)}"
            if "edges" not in inner:
                raise DemandError(f"{where}: a route has no edges; give their ids")
            self.records.routes[name] = inner
            shares.append((name, self._weight(inner, where)))
        self.records.route_shares[attributes.get("id", "")] = self._checked(shares, where)

    def _vehicle(self, stream: Iterator[Any], tag: str, attributes: Attributes, line: int) -> None:
        record = Record(tag, attributes, self.name, line)
        if "id" not in attributes:
            raise DemandError(f"{record.where}: has no id; give it one")
        for inner_tag, inner, inner_line in self._children(stream):
            if inner_tag == "route":
                if "edges" not in inner:
                    raise DemandError(f"{self.name}:{inner_line}: route without edges in "
                                      f"{tag} {attributes['id']!r}")  # fmt: skip
                record.route = inner
            elif inner_tag == "stop":
                record.stops.append(inner)
        self.records.vehicles.append(record)
