"""What a network holds, as tables: one for roads, lanes and intersections, columns of numpy arrays.

Rows stand in the order of the network's indices, so row i of a table is road, lane or
intersection i everywhere else. Ids and names are arrays of str (dtype object). All are read-only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.facts import rows_line

if TYPE_CHECKING:
    from rushhour.roadnets.model import Network

CONTROL_NAMES: Final = ("none", "signal", "all_way_stop", "stop", "yield")  # by control code

Names = NDArray[np.object_]
Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Table:
    """Columns of equal length."""

    def __repr__(self) -> str:
        return rows_line(type(self).__name__, len(self), self.columns)

    def __len__(self) -> int:
        return int(getattr(self, fields(self)[0].name).size)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns by name, in order."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame of its own.

        Raises NetworkError if pandas is not installed.
        """
        return as_frame(self.columns)


def as_frame(columns: Mapping[str, NDArray[Any]]) -> Any:
    """A pandas.DataFrame with copies of columns. Raises NetworkError if pandas is not installed."""
    try:
        import pandas
    except ImportError:
        raise NetworkError(
            "to_pandas: wanted the package pandas; pip install 'rushhour[data]'"
        ) from None
    return pandas.DataFrame({name: column.copy() for name, column in columns.items()})


@dataclass(frozen=True, repr=False)
class RoadTable(Table):
    """One row per road, each column (n_roads,)."""

    id: Names
    name: Names  # of its street, "" where it has none
    ref: Names  # its street's number
    from_intersection: Names  # id
    to_intersection: Names  # id
    lanes: Ints  # how many
    length: Floats  # m, mean of its lanes
    speed: Floats  # m/s, the highest limit of its lanes
    priority: Ints
    exits: Ints  # roads that can follow
    ends_only: NDArray[np.bool_]  # only for those who start or end their trip there


@dataclass(frozen=True, repr=False)
class LaneTable(Table):
    """One row per road lane, each column (n_road_lanes,)."""

    id: Names
    road: Names  # id
    number: Ints  # from the kerb, 0 first
    length: Floats  # m
    speed: Floats  # m/s, the posted limit
    width: Floats  # m
    permissions: NDArray[np.uint32]  # bit mask of roadnets.classes
    exits: Ints  # connectors that leave it
    rise: Floats  # m, from its start to its end


@dataclass(frozen=True, repr=False)
class IntersectionTable(Table):
    """One row per intersection, each column (n_intersections,)."""

    id: Names
    control: Names  # one of CONTROL_NAMES
    x: Floats  # m
    y: Floats  # m
    roads_in: Ints
    roads_out: Ints
    movements: Ints  # connectors


AnyTable = TypeVar("AnyTable", bound=Table)


def _names(ids: tuple[str, ...]) -> Names:
    column = np.empty(len(ids), object)
    column[:] = ids
    return column


def _sealed(table: AnyTable) -> AnyTable:
    """The table, its columns read-only."""
    for column in table.columns.values():
        column.flags.writeable = False
    return table


def _named(ids: tuple[str, ...], index: Ints) -> Names:
    """Ids of places, "" for -1."""
    return np.append(_names(ids), "")[index]


def _called(network: "Network", which: Ints) -> Names:
    """What each road is called, by Streets."""
    none = np.full(network.n_roads, -1, np.int32)
    return _named(network.street_names, which if which.size else none)


def road_table(network: "Network") -> RoadTable:
    """The table of a network's roads."""
    roads, nodes = network.arrays.roads, network.intersection_ids
    return _sealed(
        RoadTable(
            id=_names(network.road_ids),
            name=_called(network, network.streets.name),
            ref=_called(network, network.streets.ref),
            from_intersection=_named(nodes, roads.from_intersection),
            to_intersection=_named(nodes, roads.to_intersection),
            lanes=roads.lane_count.copy(),
            length=roads.length.copy(),
            speed=roads.speed.copy(),
            priority=roads.priority.copy(),
            exits=np.diff(roads.out_start),
            ends_only=roads.ends_only.copy(),
        )
    )


def lane_table(network: "Network") -> LaneTable:
    """The table of a network's road lanes."""
    lanes, n = network.arrays.lanes, network.n_road_lanes
    return _sealed(
        LaneTable(
            id=_names(network.lane_ids),
            road=_named(network.road_ids, lanes.road[:n]),
            number=lanes.number[:n].copy(),
            length=lanes.length[:n].copy(),
            speed=lanes.speed[:n].copy(),
            width=lanes.width[:n].copy(),
            permissions=lanes.permissions[:n].copy(),
            exits=np.diff(lanes.out_start),
            rise=_rises(network, n),
        )
    )


def _rises(network: "Network", lanes: int) -> Floats:
    """How much higher each road lane ends than it starts, m."""
    if not network.is_hilly:
        return np.zeros(lanes)
    start = network.point_start[: lanes + 1]
    return np.asarray(network.height[start[1:] - 1] - network.height[start[:-1]])


def intersection_table(network: "Network") -> IntersectionTable:
    """The table of a network's intersections."""
    nodes, roads = network.arrays.intersections, network.arrays.roads
    n = len(network.intersection_ids)

    def count(ends: Ints) -> Ints:
        return np.bincount(ends[ends >= 0], minlength=n).astype(np.int32)

    return _sealed(
        IntersectionTable(
            id=_names(network.intersection_ids),
            control=_names(tuple(CONTROL_NAMES[code] for code in nodes.control.tolist())),
            x=nodes.x.copy(),
            y=nodes.y.copy(),
            roads_in=count(roads.to_intersection),
            roads_out=count(roads.from_intersection),
            movements=np.diff(nodes.connector_start),
        )
    )
