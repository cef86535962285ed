"""SUMO's ids for what has none here: ways through junctions, signal programs; and its metres.

A way through a junction is one lane here; SUMO makes it of pieces. It gets the id of the first.
Metres along a lane are SUMO's, of the length that the file declares.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rushhour.roadnets.model import Network
from rushhour.roadnets.reading.xml_files import elements
from rushhour.traffic.sumo.config import additional_kinds

Point = tuple[float, float]
_NET = (".net.xml", ".net.xml.gz")


class Program(NamedTuple):
    """A signal's program in a file: its id, and the letters of its phases."""

    id: str
    states: list[str]


class Names:
    """Ids and metres of SUMO for a network. lanes: ids of all lanes, ways through junctions behind.

    edges: the edge id of each lane. programs: id of the program that a file gives each signal, and
    the states of its phases in the letters of the file.
    """

    def __init__(self, network: Network, net_file: Path, more: Sequence[Path]) -> None:
        self.network = network
        vias, self.programs = _ways(net_file), dict[str, Program]()
        if net_file.name.lower().endswith(_NET):
            self.programs.update(_programs(net_file))
        for path in more:  # the last one runs
            if "tlLogic" in additional_kinds(path):
                self.programs.update(_programs(path))
        n, links = network.n_road_lanes, network.arrays.connectors
        ids = list(network.lane_ids)
        edges = [network.road_ids[road] for road in network.arrays.lanes.road[:n].tolist()]
        pairs = zip(links.from_lane.tolist(), links.to_lane.tolist(), strict=True)
        for k, (start, end) in enumerate(pairs):
            junction = network.intersection_ids[links.intersection[k]]
            via = vias.get((ids[start], ids[end]), f":{junction}_w{k}_0")
            ids.append(via)
            edges.append(via.rpartition("_")[0])
        self.lanes, self.edges = tuple(ids), tuple(edges)
        self.lane_number = {name: i for i, name in reversed(list(enumerate(self.lanes)))}
        self.lanes_of: dict[str, list[int]] = {}
        for lane, edge in enumerate(self.edges):
            self.lanes_of.setdefault(edge, []).append(lane)
        length = network.arrays.lanes.length
        self.length = length.copy()
        self.length[:n] = network.declared_length
        self._scale = self.length / np.maximum(length, 1e-6)

    def to_file(self, lane: int, s: float) -> float:
        """SUMO's metres of a place s m along a lane."""
        return float(s * self._scale[lane])

    def from_file(self, lane: int, pos: float) -> float:
        """Metres along a lane of SUMO's position, negative ones from its end."""
        pos = pos + float(self.length[lane]) if pos < 0.0 else pos
        return float(pos / self._scale[lane])

    def index(self, lane: int) -> int:
        """SUMO's index of a lane of its edge."""
        return int(self.lanes[lane].rpartition("_")[2])

    def point(self, lane: int, s: float) -> Point:
        """x, y of a place s m along a lane."""
        network = self.network
        first, end = (int(place) for place in network.point_start[lane : lane + 2])
        station, points = network.station[first:end], network.points[first:end]
        return float(np.interp(s, station, points[:, 0])), float(
            np.interp(s, station, points[:, 1])
        )

    def shape(self, lane: int) -> tuple[Point, ...]:
        """The points of a lane."""
        return tuple((x, y) for x, y in self.network.lane_points(lane).tolist())


def _ways(path: Path) -> dict[tuple[str, str], str]:
    """First pieces of ways by the lanes that they join, of a .net.xml."""
    vias: dict[tuple[str, str], str] = {}
    if not path.name.lower().endswith(_NET):
        return vias
    for event, tag, a, _ in elements(path):
        if event == "start" and tag == "connection" and "via" in a:
            start = f"{a.get('from', '')}_{a.get('fromLane', '')}"
            vias[start, f"{a.get('to', '')}_{a.get('toLane', '')}"] = a["via"]
    return vias


def _programs(path: Path) -> dict[str, Program]:
    """The programs of a file, by signal; the last one of a signal."""
    found: dict[str, Program] = {}
    states: list[str] = []
    for event, tag, a, _ in elements(path):
        if event == "start" and tag == "tlLogic":
            states = []
            found[a.get("id", "")] = Program(a.get("programID", "0"), states)
        elif event == "start" and tag == "phase":
            states.append(a.get("state", ""))
    return found
