"""Places on roads that lie below another road: below bridges, and in tunnels below the streets above."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    half = 0.5 * network.arrays.lanes.width[strips.lane]
    outlines = shapely.polygons(strips.quads(half, -half))
    over, below = strips.level > 0, strips.level < 0
    if below.any():  # streets on the ground cover tunnels
        ground = np.flatnonzero(~over & ~below)
        crossing, _ = shapely.STRtree(outlines[below]).query(outlines[ground], "intersects")
        over[ground[np.unique(crossing)]] = True
    return _Decks(shapely.STRtree(outlines[over]), strips.level[over])


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
