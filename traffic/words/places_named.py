"""A place by the name that people read: a road, a lane, an intersection, or a movement within one.

A movement is called by its lanes, as "a_0 -> b_0"; a signal, "signal 9", by the intersection it is at; an
intersection also by streets that meet there, "Main St / Broadway". Ids may be followed by what tables add to
them: "17 (Main St)", "at 9, Main St / Broadway".
What is the id of nothing may be the name of a street: all its roads, or one where one is wanted.
"""

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import NetworkError, RunError
from rushhour.roadnets.id_hints import id_hint
from rushhour.roadnets.model import Network
from rushhour.roadnets.street_names import crossing_called, find_roads, name_hint, number_of

ROAD: Final = "road"
LANE: Final = "lane"
MOVEMENT: Final = "movement"
INTERSECTION: Final = "intersection"
ARROW: Final = " -> "
SIGNAL: Final = "signal "
BEFORE_IDS: Final = ("at ", "on ", "to ")  # where a cause is told


class Named(NamedTuple):
    """What a name is of: a road, a lane, a movement (number of its connector) or an intersection."""

    kind: str
    number: int


def place_named(network: Network, name: str, first: str = ROAD) -> Named | None:
    """What a name is of, of several things the first kind; None: of nothing."""
    for one in dict.fromkeys((name, _as_told(name))):
        found = {
            ROAD: number_of(network.road_index, one),
            LANE: number_of(network.lane_index, one),
            INTERSECTION: _intersection(network, one),
            MOVEMENT: _movement(network, one),
        }
        for kind in (first, *found):
            if found[kind] >= 0:
                return Named(kind, found[kind])
    return None


def _as_told(name: str) -> str:
    """The id in what causes tell of a place: "at 9, Main St / Broadway"."""
    for word in BEFORE_IDS:
        name = name.removeprefix(word)
    return name.partition(", ")[0]


def lanes_named(network: Network, name: str, first: str = ROAD) -> NDArray[np.int32]:
    """The lanes of a road or street, those that end at an intersection, a lane, or a movement's own.

    Lanes within intersections are numbered behind those of roads. Empty where a name is of nothing.
    """
    found = place_named(network, name, first)
    if found is None:
        return _lanes_of(network, roads_of_street(network, name))
    kind, number = found
    if kind == ROAD:
        return _lanes_of(network, np.array([number], np.int32))
    if kind == INTERSECTION:
        at = network.arrays.lanes.intersection[: network.n_road_lanes]
        return np.flatnonzero(at == number).astype(np.int32)
    return np.array([number + (network.n_road_lanes if kind == MOVEMENT else 0)], np.int32)


def road_named(network: Network, name: str) -> int:
    """The road of a name, also of a lane's; -1: none, or several."""
    found = place_named(network, name)
    if found is None:
        roads = roads_of_street(network, name)
        return int(roads[0]) if roads.size == 1 else -1
    if found.kind in (INTERSECTION, MOVEMENT):
        return -1
    return found.number if found.kind == ROAD else int(network.arrays.lanes.road[found.number])


def roads_of_street(network: Network, name: str) -> NDArray[np.int32]:
    """The roads of a street, or of a part of it, ascending; empty where nothing is called so."""
    try:
        return find_roads(network, name)
    except NetworkError:
        return np.zeros(0, np.int32)


def lanes_wanted(network: Network, name: str) -> NDArray[np.int32]:
    """The lanes of a place, as `lanes_named`. Raises NetworkError for a name of nothing."""
    if place_named(network, name) is None:
        return _lanes_of(network, find_roads(network, name))
    return lanes_named(network, name)


def lanes_of_run(network: Network, path: Path, name: str) -> NDArray[np.int32]:
    """`lanes_wanted` of the network of a run. Raises RunError for a name of nothing."""
    try:
        return lanes_wanted(network, name)
    except NetworkError as error:
        raise RunError(f"{path}: {error}") from None


def _lanes_of(network: Network, roads: NDArray[np.int32]) -> NDArray[np.int32]:
    """All lanes of some roads."""
    of_roads = np.isin(network.arrays.lanes.road[: network.n_road_lanes], roads)
    return np.flatnonzero(of_roads).astype(np.int32)


def lane_named(network: Network, name: str) -> int:
    """The lane of a name, also of a road's that has one lane; -1: none, or several."""
    found = lanes_named(network, name, LANE)
    return int(found[0]) if found.size == 1 and found[0] < network.n_road_lanes else -1


def place_hint(network: Network, name: str, wanted: str) -> str:
    """What to give in place of a name that is not of one road or lane (`wanted`)."""
    lanes = lanes_named(network, name)
    lanes = lanes[lanes < network.n_road_lanes]
    names = network.road_ids if wanted == ROAD else network.lane_ids
    numbers = network.arrays.lanes.road[lanes] if wanted == ROAD else lanes
    inside = list(dict.fromkeys(names[int(k)][:60] for k in numbers))
    if inside:
        found = place_named(network, name)
        kind = "street" if found is None else found.kind
        more = f" and {len(inside) - 8:,} more" if len(inside) > 8 else ""
        return f"it is of the {kind}; give one of its {wanted}s: {', '.join(inside[:8])}{more}"
    if wanted == ROAD:
        try:
            find_roads(network, name)
        except NetworkError as error:
            return str(error)
    return id_hint(name, names)


def want_place(network: Network, name: str, kind: str) -> Named:
    """What a name is of, which an option --KIND gave; of a street the road in its middle.

    Raises RunError if it is of nothing.
    """
    found = place_named(network, name, kind)
    if found is not None:
        return found
    roads = roads_of_street(network, name)
    if roads.size:
        return Named(ROAD, _in_the_middle(network, roads))
    ids = {LANE: network.lane_ids, INTERSECTION: network.intersection_ids}.get(kind)
    hint = name_hint(network, name) if ids is None else id_hint(name, ids)
    raise RunError(f"--{kind} {name[:60]!r}: {network.name} has no such {kind}; {hint}")


def _in_the_middle(network: Network, roads: NDArray[np.int32]) -> int:
    """Which of some roads lies nearest to the middle of all."""
    roads_of = network.arrays.roads
    lanes = roads_of.first_lane[roads] + roads_of.lane_count[roads] // 2
    lines = [network.lane_points(int(lane)) for lane in lanes]
    at = np.array([line[len(line) // 2] for line in lines])
    away = np.hypot(*(at - np.concatenate(lines).mean(axis=0)).T)
    return int(roads[np.argmin(away)])


def _intersection(network: Network, name: str) -> int:
    """By its own id, by that of its signal, or by streets that meet there."""
    found = number_of(network.intersection_index, name)
    if found >= 0:
        return found
    signal = name.removeprefix(SIGNAL)
    if signal not in network.signal_ids:
        return crossing_called(network, name)
    at = np.flatnonzero(network.arrays.connectors.signal == network.signal_ids.index(signal))
    return int(network.arrays.connectors.intersection[at[0]]) if at.size else -1


def _movement(network: Network, name: str) -> int:
    """A connector by its lanes."""
    begin, arrow, end = name.partition(ARROW)
    if not arrow or begin not in network.lane_index or end not in network.lane_index:
        return -1
    ways = network.arrays.connectors
    found = np.flatnonzero(
        (ways.from_lane == network.lane_index[begin]) & (ways.to_lane == network.lane_index[end])
    )
    return int(found[0]) if found.size else -1
