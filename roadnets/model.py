"""The finished network: immutable arrays, with the names of the source kept beside them."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import SIGNAL, Actuation, NetworkArrays
from rushhour.kernels.core.reprs import fields_shown
from rushhour.roadnets.banned import Banned, Way, by_first_road, none_banned
from rushhour.roadnets.facts import Shown
from rushhour.roadnets.findings import Finding, short_lines
from rushhour.roadnets.levels import Levels, packed_levels
from rushhour.roadnets.nearest import RoadPlace, nearest_road
from rushhour.roadnets.street_names import (
    MEET,
    StreetIndex,
    Streets,
    called,
    find_roads,
    no_streets,
)
from rushhour.roadnets.surroundings import Surroundings, packed_areas
from rushhour.roadnets.tables import (
    IntersectionTable,
    LaneTable,
    RoadTable,
    intersection_table,
    lane_table,
    road_table,
)
from rushhour.roadnets.zebras import Zebras, packed_zebras

STREETS_SHOWN = 2  # that an intersection is called by


class Zones(NamedTuple):
    """Zones of demand: where their trips start and end. z zones, pooled intersections.

    The trips of zone i start on roads that leave origin[origin_start[i]:origin_start[i+1]].
    """

    origin_start: NDArray[np.int32]  # (z+1,) into origin
    origin: NDArray[np.int32]  # intersection
    destination_start: NDArray[np.int32]  # (z+1,) into destination
    destination: NDArray[np.int32]  # intersection

    def __repr__(self) -> str:
        return fields_shown(self)


def no_zones() -> Zones:
    """Zones of a network that has none."""
    start, none = np.zeros(1, np.int32), np.zeros(0, np.int32)
    return Zones(start, none, start.copy(), none.copy())


def level() -> NDArray[np.float64]:
    """Heights of a network of which none are known."""
    none = np.zeros(0)
    none.flags.writeable = False
    return none


@dataclass(frozen=True, repr=False)
class Network(Shown):
    """A lane network. Arrays are read-only; indices are places in them.

    points: (p, 2) float64, m, shapes of all lanes end to end; lane l has
    points[point_start[l]:point_start[l+1]]; station: (p,) m along the lane at each point. height:
    (p,) m of each point, or (0,) where the source says nothing of heights: all is level.
    """

    name: str
    source: str
    arrays: NetworkArrays
    actuation: Actuation  # how signal programs react
    points: NDArray[np.float64]
    point_start: NDArray[np.int32]
    station: NDArray[np.float64]
    road_ids: tuple[str, ...]
    lane_ids: tuple[str, ...]  # road lanes only
    intersection_ids: tuple[str, ...]
    signal_ids: tuple[str, ...]
    declared_length: NDArray[np.float64]  # (n_road_lanes,) m, the source's own lane lengths
    left_hand: bool = False
    projection: str = ""
    origin: tuple[float, float] = (0.0, 0.0)
    notes: tuple[str, ...] = ()  # what was skipped or taken on reading, in plain words
    findings: tuple[Finding, ...] = ()  # what was mended, doubted or counted
    zone_ids: tuple[str, ...] = ()
    zones: Zones = field(default_factory=no_zones)
    banned: Banned = field(default_factory=none_banned)  # roads not to drive one after the other
    zebras: Zebras = field(default_factory=lambda: packed_zebras(()))  # marked crossings
    surroundings: Surroundings = field(default_factory=packed_areas)  # drawn below the roads
    height: NDArray[np.float64] = field(default_factory=level)
    levels: Levels = field(default_factory=packed_levels)  # bridges and tunnels
    street_names: tuple[str, ...] = ()  # names and numbers of streets, each once
    streets: Streets = field(default_factory=no_streets)  # which of them each road has
    # What others derive from the network once and keep with it, by a key of their own.
    derived: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def n_roads(self) -> int:
        """Number of roads."""
        return len(self.road_ids)

    @property
    def n_road_lanes(self) -> int:
        """Number of road lanes; connectors come after them."""
        return len(self.lane_ids)

    @property
    def n_connectors(self) -> int:
        """Number of connectors."""
        return int(self.arrays.connectors.from_lane.size)

    @property
    def n_lanes(self) -> int:
        """Road lanes and connectors."""
        return self.n_road_lanes + self.n_connectors

    @property
    def is_hilly(self) -> bool:
        """Whether heights are known; else all is level."""
        return bool(self.height.size)

    @cached_property
    def grades(self) -> NDArray[np.float64]:
        """Rise per metre behind each point, (p - 1,); 0 from the end of a lane to the next lane."""
        if not self.is_hilly:
            return np.zeros(max(0, len(self.points) - 1))
        rise, step = np.diff(self.height), np.diff(self.station)
        on = step > 0.0
        np.divide(rise, step, out=rise, where=on)
        rise[~on] = 0.0
        rise[self.point_start[1:-1] - 1] = 0.0
        return rise

    def height_at(self, lane: int, s: float) -> float:
        """Height of a lane (or connector), m, at s m from its start; 0 in a level network.

        >>> network.height_at(3, 20.0)
        0.0
        """
        part = slice(self.point_start[lane], self.point_start[lane + 1])
        return float(np.interp(s, self.station[part], self.height[part])) if self.is_hilly else 0.0

    def _shown(self) -> tuple[str, dict[str, object]]:
        lanes, kinds = self.arrays.lanes, self.arrays.intersections.control
        facts: dict[str, object] = {
            "source": self.source,
            "roads": self.n_roads,
            "lanes": f"{self.n_road_lanes:,}, {lanes.length[: self.n_road_lanes].sum() / 1e3:,.1f} km",
            "intersections": f"{len(self.intersection_ids):,}, {int((kinds == SIGNAL).sum()):,} signals",
            "remarks": len(self.remarks),
        }
        return f"Network {self.name}", facts

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """Notes and findings as lines, of each check at most five and one that counts the others."""
        return (*self.notes, *short_lines(self.findings))

    @cached_property
    def road_index(self) -> dict[str, int]:
        """Place of each road by its source id."""
        return {name: i for i, name in enumerate(self.road_ids)}

    @cached_property
    def lane_index(self) -> dict[str, int]:
        """Place of each road lane by its source id."""
        return {name: i for i, name in enumerate(self.lane_ids)}

    @cached_property
    def intersection_index(self) -> dict[str, int]:
        """Place of each intersection by its source id."""
        return {name: i for i, name in enumerate(self.intersection_ids)}

    @cached_property
    def street_index(self) -> StreetIndex:
        """Roads by the names and numbers of their streets."""
        return StreetIndex(self)

    @cached_property
    def road_names(self) -> tuple[str, ...]:
        """What each road is called; () where none has a name."""
        if not self.streets.name.size:
            return ()
        name, ref = self.streets
        called = (*self.street_names, "")
        return tuple(called[i] for i in np.where(name >= 0, name, ref).tolist())

    def road_name(self, road: int) -> str:
        """What a road is called: the name of its street, else its number; "" if it has neither."""
        return self.road_names[road] if self.road_names else ""

    def road_label(self, road: int) -> str:
        """A road for people: its id, and what it is called in brackets."""
        return called(self.road_ids[road], self.road_name(road))

    def road_quoted(self, road: int) -> str:
        """A road in messages: its id in quotes, and what it is called in brackets."""
        return called(f"{self.road_ids[road][:60]!r}", self.road_name(road))

    def lane_street(self, lane: int) -> str:
        """What a lane's road is called; of a connector that to which it leads."""
        n = self.n_road_lanes
        end = lane if lane < n else int(self.arrays.connectors.to_lane[lane - n])
        return self.road_name(int(self.arrays.lanes.road[end]))

    def intersection_name(self, intersection: int) -> str:
        """The main streets that meet there, as "Main St / Broadway"; "" where none has a name."""
        net = self.arrays.roads
        there = (net.from_intersection == intersection) | (net.to_intersection == intersection)
        roads = np.flatnonzero(there) if self.road_names else np.zeros(0, np.intp)
        rank = net.priority[roads] + 1e-3 * net.speed[roads] * net.lane_count[roads]
        roads = roads[np.argsort(-rank, kind="stable")].tolist()
        names = dict.fromkeys(self.road_name(road).partition(";")[0] for road in roads)
        names.pop("", None)
        return MEET.join(list(names)[:STREETS_SHOWN])

    def find_roads(self, text: str) -> NDArray[np.int32]:
        """Roads of an id, a street's name or number, or a part of a street; ascending.

        An id comes first, then a name as it is written, then one that differs by case and accents
        alone. "Main St: A St - B St" is what lies of a street between two that it meets.
        Raises NetworkError for what is none of these, naming what may have been meant.

        >>> network.roads.id[network.find_roads("main")].tolist()
        ['main']
        """
        return find_roads(self, text)

    @cached_property
    def banned_from(self) -> dict[int, list[Way]]:
        """Banned sequences of roads by their first road."""
        return by_first_road(self.banned)

    def lane_points(self, lane: int) -> NDArray[np.float64]:
        """Centre line of a lane, shape (k, 2), m."""
        return self.points[self.point_start[lane] : self.point_start[lane + 1]]

    @cached_property
    def roads(self) -> RoadTable:
        """All roads as a table, row i for road i."""
        return road_table(self)

    @cached_property
    def lanes(self) -> LaneTable:
        """All road lanes as a table."""
        return lane_table(self)

    @cached_property
    def intersections(self) -> IntersectionTable:
        """All intersections as a table."""
        return intersection_table(self)

    def nearest_road(
        self,
        x: float | None = None,
        y: float | None = None,
        *,
        lon: float | None = None,
        lat: float | None = None,
        vehicle_class: str | None = None,
    ) -> RoadPlace:
        """The road whose nearest lane passes closest to a place, of equals the first.

        x, y: m; or lon, lat: degrees (WGS 84), for networks with a projection.
        vehicle_class: only lanes open to that class, as "passenger".
        Raises NetworkError for other places, and if lon, lat cannot be turned into metres.

        >>> network.nearest_road(12.0, 3.5).road
        'main'
        """
        return nearest_road(self, x, y, lon, lat, vehicle_class)
