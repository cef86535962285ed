"""CityFlow road networks (roadnet.json) as drafts.

Roads run from the middle of an intersection to the middle of the next; a real intersection's
`width` is cut off them. Lane 0 is the innermost there and has the highest number here. *Virtual*
intersections are the border: roads end there uncut, and nothing leads on.
Source: CityFlow's roadnet.cpp and its documentation of the format; networks.md 7.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from rushhour.kernels.core.network import LEFT, NONE, RIGHT, SIGNAL, STRAIGHT, YIELD
from rushhour.kernels.core.vehicles import MAX_LANES
from rushhour.roadnets.cityflow.config import read_config
from rushhour.roadnets.cityflow.signals import RANKS, Movements, crossings, giving_way, letters_of
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
    DraftSignal,
)
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.findings import WARNING
from rushhour.roadnets.fixes import fix_line
from rushhour.roadnets.geometry.street_lines import Line, line_length, part, side_line
from rushhour.roadnets.reading.json_files import Item, read_json
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.reading.values import FARTHEST

WIDEST_LANE: Final = 100.0  # m
WIDEST_INTERSECTION: Final = 1000.0  # m cut off a road
HIGHEST_SPEED: Final = 1e6  # m/s that a file may say
FASTEST: Final = 100.0  # m/s, limits above are taken as this
MOST_CUT: Final = 0.45  # share of a road that each end may lose
SAME_PLACE: Final = 1e-6  # m
MOST_POINTS: Final = 10_000  # of a road or a path
MOST_LINKS: Final = 1024  # lane links of one intersection
MOST_PHASES: Final = 1000
MOST_PAIRS: Final = 10_000_000  # of lane links that give way, in all
LONGEST_PHASE: Final = 1e6  # s

_TURNS: Final = {"go_straight": STRAIGHT, "turn_left": LEFT, "turn_right": RIGHT}


@dataclass(frozen=True)
class _Corner:
    """An intersection as the file has it. cut: m off the roads that touch it."""

    item: Item
    id: str
    x: float
    y: float
    virtual: bool
    cut: float


@dataclass(frozen=True)
class _RoadLink:
    """All paths from one road to another at an intersection."""

    turn: int | None
    start: str
    end: str
    paths: list[DraftConnector]


def _corner(item: Item) -> _Corner:
    point, virtual = item.item("point"), item.flag("virtual")
    return _Corner(
        item,
        item.text("id"),
        point.number("x", -FARTHEST, FARTHEST),
        point.number("y", -FARTHEST, FARTHEST),
        virtual,
        0.0 if virtual else item.number("width", 0.0, WIDEST_INTERSECTION),
    )


def _without_repeats(line: Line) -> Line:
    """The line without points on top of the one before."""
    steps = np.hypot(*np.diff(line, axis=0).T)
    kept: Line = line[np.concatenate(([True], steps > SAME_PLACE))]
    return kept


class _Drafting:
    """Turns the objects of one file into a draft."""

    def __init__(self, file: Item, draft: Draft) -> None:
        self.file = file
        self.draft = draft
        self.remarks = Remarks()
        self.corners: dict[str, _Corner] = {}
        self.roads: dict[str, DraftRoad] = {}
        self.number: dict[str, int] = {}  # of each road
        self.pairs = 0

    def add_corners(self) -> None:
        """Read what every intersection is, before the roads that it cuts."""
        for item in self.file.items("intersections"):
            corner = _corner(item)
            if corner.id in self.corners:
                raise NetworkError(f"{item.where}: id {corner.id!r} is given twice; change one")
            self.corners[corner.id] = corner

    def add_roads(self) -> None:
        """Draft every road with its lanes."""
        for item in self.file.items("roads"):
            road = self._road(item)
            if road.id in self.roads:
                raise NetworkError(f"{item.where}: id {road.id!r} is given twice; change one")
            self.number[road.id] = len(self.roads)
            self.roads[road.id] = road
        if not self.roads:
            raise NetworkError(f"{self.file.where}: has no roads; give at least one")
        self.draft.roads += self.roads.values()

    def _road(self, item: Item) -> DraftRoad:
        name = item.text("id")
        first, last = self._end(item, "startIntersection"), self._end(item, "endIntersection")
        line = _without_repeats(item.points("points", 2, MOST_POINTS))
        if len(line) < 2:
            raise NetworkError(
                f"{item.where}: all its points lie in one place; give it two different points"
            )
        line = self._cut(name, line, first.cut, last.cut)
        entries = list(item.items("lanes"))
        if not 1 <= len(entries) <= MAX_LANES:
            raise NetworkError(f"{item.where}: {len(entries)} lanes; give it 1 to {MAX_LANES}")
        lanes: list[DraftLane] = []
        inner = 0.0  # m from the line to the lane's inner border
        for i, entry in enumerate(entries):
            width = entry.number("width", 0.01, WIDEST_LANE)
            speed = entry.number("maxSpeed", 1e-6, HIGHEST_SPEED)
            if speed > FASTEST:
                self.remarks.find(
                    "L06",
                    f"road {name!r}: speed {speed:g} m/s, lowered to {FASTEST:g}",
                    [f"road {name}"],
                    line[0],
                )
            shape = side_line(line, inner + 0.5 * width)
            number = len(entries) - 1 - i
            lanes.append(DraftLane(f"{name}_{number}", shape, min(speed, FASTEST), width))
            inner += width
        return DraftRoad(name, first.id, last.id, lanes[::-1])

    def _end(self, item: Item, key: str) -> _Corner:
        name = item.text(key)
        if name not in self.corners:
            raise NetworkError(
                f"{item.where}: {key} {name!r} is no intersection of the file; "
                "add it or drop the road"
            )
        return self.corners[name]

    def _cut(self, road: str, line: Line, start: float, end: float) -> Line:
        """The road's line without what lies in its intersections."""
        length = line_length(line)
        most = MOST_CUT * length
        if max(start, end) > most:
            self.remarks.add("roads cut by less than the width of their intersections", road)
        return part(line, min(start, most), length - min(end, most))

    def connect(self) -> None:
        """Draft the connectors, the control and the lights of every intersection."""
        for corner in self.corners.values():
            links = [] if corner.virtual else self._road_links(corner)
            phases = [] if corner.virtual else self._phases(corner, len(links))
            if corner.virtual and "roadLinks" in corner.item:
                ignored = len(corner.item.entries("roadLinks"))
                self.remarks.add(
                    "road links of virtual intersections left out", corner.id, ignored, differs=True
                )
            self.draft.intersections.append(self._controlled(corner, links, phases))

    def _road_links(self, corner: _Corner) -> list[_RoadLink]:
        links: list[_RoadLink] = []
        count = 0
        for item in corner.item.items("roadLinks"):
            kind = item.text("type")
            if kind not in _TURNS:
                self.remarks.add("road links of unknown type, turn taken from the drawing", kind)
            start, end = self._road_at(item, "startRoad"), self._road_at(item, "endRoad")
            if start.to_intersection != corner.id or end.from_intersection != corner.id:
                raise NetworkError(
                    f"{item.where}: road {start.id!r} does not end or road {end.id!r} does not "
                    f"start at {corner.id!r}; join roads that meet there or drop the link"
                )
            turn = _TURNS.get(kind)
            paths = [self._path(path, start, end, turn) for path in item.items("laneLinks")]
            count += len(paths) + 1
            if count > MOST_LINKS:
                raise NetworkError(
                    f"{corner.item.where}: more than {MOST_LINKS} lane links; "
                    "split it into several intersections"
                )
            links.append(_RoadLink(turn, start.id, end.id, paths))
        return links

    def _road_at(self, item: Item, key: str) -> DraftRoad:
        name = item.text(key)
        if name not in self.roads:
            raise NetworkError(f"{item.where}: {key} {name!r} is no road of the file; add it")
        return self.roads[name]

    def _path(
        self, item: Item, start: DraftRoad, end: DraftRoad, turn: int | None
    ) -> DraftConnector:
        here = item.whole("startLaneIndex", 0, len(start.lanes) - 1)
        there = item.whole("endLaneIndex", 0, len(end.lanes) - 1)
        points = item.points("points", 0, MOST_POINTS) if "points" in item else np.empty((0, 2))
        return DraftConnector(
            start.id,
            len(start.lanes) - 1 - here,
            end.id,
            len(end.lanes) - 1 - there,
            points if len(points) > 1 else None,
            turn=turn,
        )

    def _phases(self, corner: _Corner, links: int) -> list[tuple[float, list[int]]]:
        """Seconds and open road links of every phase."""
        if "trafficLight" not in corner.item:
            return []
        phases: list[tuple[float, list[int]]] = []
        light = corner.item.item("trafficLight")
        for item in light.items("lightphases"):
            time = item.number("time", 0.0, LONGEST_PHASE)
            opened = item.wholes("availableRoadLinks", 0, links - 1)
            if time == 0.0:
                self.remarks.add("phases of 0 s left out", corner.id)
                continue
            phases.append((time, opened))
            if len(phases) > MOST_PHASES:
                raise NetworkError(
                    f"{light.where}: more than {MOST_PHASES} phases; give the light fewer"
                )
        return phases

    def _controlled(
        self, corner: _Corner, links: list[_RoadLink], phases: list[tuple[float, list[int]]]
    ) -> DraftIntersection:
        """Draft the connectors and the light of an intersection, and who gives way there."""
        opened = np.ones((1, len(links)), np.bool_)
        if phases:
            opened = np.zeros((len(phases), len(links)), np.bool_)
            for p, (_, numbers) in enumerate(phases):
                opened[p, numbers] = True
        used = []
        for k, link in enumerate(links):
            if not opened[:, k].any():
                name = f"{link.start} to {link.end}"
                self.remarks.add("road links that no phase opens left out", name)
            elif link.paths:
                used.append(k)
        links, opened = [links[k] for k in used], opened[:, used]
        movements = self._movements(links)
        meets = crossings(movements)
        node = DraftIntersection(corner.id, corner.x, corner.y, NONE)
        signal: DraftSignal | None = None
        if len(phases) > 1 and links:
            states, doubtful = letters_of(opened, movements, meets)
            times = [time for time, _ in phases]
            signal = DraftSignal(corner.id, list(zip(times, states, strict=True)))
            self.draft.signals.append(signal)
            if doubtful:
                self.remarks.find(
                    "L19",
                    f"intersection {corner.id!r}: {doubtful} pairs of equal road links cross in one "
                    "phase; who comes first goes first",
                    [f"intersection {corner.id}"],
                    (corner.x, corner.y),
                    fix_line("signals", [corner.id], False),
                    WARNING,
                )
            node.control = SIGNAL
        elif meets.any():
            node.control = YIELD
        members: list[range] = []
        for number, link in enumerate(links):
            first = len(self.draft.connectors)
            for path in link.paths:
                if signal is not None:
                    path.signal, path.link = signal.id, number
                self.draft.connectors.append(path)
            members.append(range(first, len(self.draft.connectors)))
        node.yields = [
            (i, j)
            for a, b in giving_way(movements, meets, signal)
            for i in members[a]
            for j in members[b]
        ]
        self.pairs += len(node.yields)
        if self.pairs > MOST_PAIRS:
            raise NetworkError(
                f"{corner.item.where}: more than {MOST_PAIRS} pairs of lane links give way; "
                "cut the map smaller"
            )
        return node

    def _movements(self, links: list[_RoadLink]) -> Movements:
        start, end = np.zeros((len(links), 2)), np.zeros((len(links), 2))
        for k, link in enumerate(links):
            entry, exit_ = self.roads[link.start].lanes, self.roads[link.end].lanes
            start[k] = np.mean([entry[p.from_lane].shape[-1] for p in link.paths], axis=0)
            end[k] = np.mean([exit_[p.to_lane].shape[0] for p in link.paths], axis=0)
        return Movements(
            rank=np.array([RANKS[link.turn] for link in links], np.int64),
            entry=np.array([self.number[link.start] for link in links], np.int64),
            exit=np.array([self.number[link.end] for link in links], np.int64),
            start=start,
            end=end,
        )


def read_network_draft(path: Path) -> Draft:
    """Read a CityFlow road network as a draft for `roadnets.build.finish`.

    path: a roadnet (.json, also gzipped), or a config.json that names one.
    Raises NetworkError, one line with its place, for what is not JSON, not a road network, names
    what does not exist, or holds a value that cannot be meant.
    """
    config = read_config(path)
    if config is not None:
        path = config.roadnet_file
    content = read_json(path)
    if isinstance(content, list):
        raise NetworkError(
            f"{path}: a list, as flows of CityFlow are; give a road network here and the flows "
            "with --demand"
        )
    file = Item(content, path)
    if "intersections" not in file or "roads" not in file:
        raise NetworkError(
            f"{path}: has no 'intersections' and 'roads'; give a CityFlow road network or config"
        )
    name = path.name.removesuffix(".gz").removesuffix(".json")
    draft = Draft(name, f"CityFlow road network {path.name}", bends_bind=False)
    drafting = _Drafting(file, draft)
    drafting.add_corners()
    drafting.add_roads()
    drafting.connect()
    draft.remarks, draft.findings = drafting.remarks.lines(), drafting.remarks.findings()
    return draft
