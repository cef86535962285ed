"""A place by the name that people read: a road, a lane, an intersection, or a movement within one.

A movement is called by its lanes, as "a_0 -> b_0"; a signal, "signal 9", by the intersection it is at.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.model import Network
from rushhour.traffic.recording.id_hints import id_hint

ROAD: Final = "road"
LANE: Final = "lane"
MOVEMENT: Final = "movement"
INTERSECTION: Final = "intersection"
ARROW: Final = " -> "
SIGNAL: Final = "signal "


class Named(NamedTuple):
    """What a name is of: a road, a lane, a movement (number of its connector) or an intersection."""

    kind: str
    number: int


def place_named(network: Network, name: str, first: str = ROAD) -> Named | None:
    """What a name is of, of several things the first kind; None: of nothing."""
    found = {
        ROAD: network.road_index.get(name, -1),
        LANE: network.lane_index.get(name, -1),
        INTERSECTION: _intersection(network, name),
        MOVEMENT: _movement(network, name),
    }
    for kind in (first, *found):
        if found[kind] >= 0:
            return Named(kind, found[kind])
    return None


def lanes_named(network: Network, name: str, first: str = ROAD) -> NDArray[np.int32]:
    """The lanes of a road, those that end at an intersection, a lane, or a movement's own.

    Lanes within intersections are numbered behind those of roads. Empty where a name is of nothing.
    """
    found = place_named(network, name, first)
    if found is None:
        return np.zeros(0, np.int32)
    kind, number = found
    if kind == ROAD:
        begin = int(network.arrays.roads.first_lane[number])
        return np.arange(begin, begin + network.arrays.roads.lane_count[number], dtype=np.int32)
    if kind == INTERSECTION:
        at = network.arrays.lanes.intersection[: network.n_road_lanes]
        return np.flatnonzero(at == number).astype(np.int32)
    return np.array([number + (network.n_road_lanes if kind == MOVEMENT else 0)], np.int32)


def road_named(network: Network, name: str) -> int:
    """The road of a name, also of a lane's; -1: none, or several."""
    found = place_named(network, name)
    if found is None or found.kind in (INTERSECTION, MOVEMENT):
        return -1
    return found.number if found.kind == ROAD else int(network.arrays.lanes.road[found.number])


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
        kind = INTERSECTION if found is None else found.kind
        return f"it is of the {kind}; give one of its {wanted}s: {', '.join(inside[:8])}"
    return id_hint(name, names)


def want_place(network: Network, name: str, kind: str) -> Named:
    """What a name is of, which an option --KIND gave. Raises RunError if it is of nothing."""
    found = place_named(network, name, kind)
    if found is None:
        names = {LANE: network.lane_ids, INTERSECTION: network.intersection_ids}
        hint = id_hint(name, names.get(kind, network.road_ids))
        raise RunError(f"--{kind} {name[:60]!r}: {network.name} has no such {kind}; {hint}")
    return found


def _intersection(network: Network, name: str) -> int:
    """By its own id, or by that of its signal."""
    if name in network.intersection_ids:
        return network.intersection_ids.index(name)
    signal = name.removeprefix(SIGNAL)
    if signal not in network.signal_ids:
        return -1
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
