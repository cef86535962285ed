"""Places on roads that lie below another road: below bridges, and in tunnels below the streets above."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from rushhour.roadnets.model import Network
from rushhour.viewer.shapes import strips_of
from rushhour.viewer.storeys import Ints, found_once, levels_at, levels_of

BEFORE: Final = 0.5  # m before the end of a lane, where the light of its signal is drawn


class _Decks(NamedTuple):
    """Stretches of lanes that may lie over others."""

    tree: Any  # of shapely, of their outlines
    level: Ints


@found_once
def _decks(network: Network) -> _Decks:
    import shapely

    strips = strips_of(network)
    over, below = strips.level > 0, strips.level < 0
    if below.any():  # streets on the ground cover tunnels
        half = 0.5 * (strips.length + network.arrays.lanes.width[strips.lane])
        middle = 0.5 * (strips.a + strips.b)
        away, _ = cKDTree(middle[below]).query(middle)
        over |= ~below & (away <= half + half[below].max())  # may cross one
    chosen = strips.of(over)
    half = 0.5 * network.arrays.lanes.width[chosen.lane]
    return _Decks(shapely.STRtree(shapely.polygons(chosen.quads(half, -half))), chosen.level)


def covered(network: Network, places: NDArray[np.float64], level: ArrayLike) -> NDArray[np.bool_]:
    """Which places (n, 2), m, at levels (n,), lie below a lane at a higher one."""
    import shapely

    found = np.zeros(len(places), bool)
    if levels_of(network) == (None,):
        return found
    decks = _decks(network)
    place, deck = decks.tree.query(shapely.points(places), "intersects")
    found[place[decks.level[deck] > np.asarray(level)[place]]] = True
    return found


@found_once
def covered_ends(network: Network) -> NDArray[np.bool_]:
    """Which lanes of roads end below another road, (n_road_lanes,)."""
    lanes = np.arange(network.n_road_lanes)
    last = network.point_start[lanes + 1] - 1
    end = network.points[last]
    step = end - network.points[last - 1]
    step /= np.maximum(np.hypot(step[:, 0], step[:, 1]), 1e-9)[:, None]
    level = levels_at(network, lanes, network.arrays.lanes.length[lanes])
    return covered(network, end - BEFORE * step, level)
