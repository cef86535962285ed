"""What one vehicle has ahead of it on its way: lanes, and who drives there."""

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from rushhour.kernels.core.vehicles import PATH

if TYPE_CHECKING:
    from rushhour.traffic.world import World


def way_ahead(world: "World", slot: int, reach: float) -> list[int]:
    """Lanes of the way of the vehicle in a slot, its own first, over `reach` m as far as planned."""
    arrays, n, veh = world.network.arrays, world.network.n_road_lanes, world.sim.veh
    lane = int(veh.lane[slot])
    lanes, far = [lane], float(arrays.lanes.length[lane] - veh.s[slot])
    if lane >= n:
        lanes.append(int(arrays.connectors.to_lane[lane - n]))
        far += float(arrays.lanes.length[lanes[-1]])
    for place in range(PATH):
        k = int(veh.path[slot, place])
        if k < 0 or far > reach:
            break
        lanes += [n + k, int(arrays.connectors.to_lane[k])]
        far += float(arrays.lanes.length[lanes[-2:]].sum())
    return lanes


def leader(world: "World", slot: int, lanes: list[int], reach: float) -> tuple[int, float]:
    """Slot of the next vehicle on some lanes ahead, and the gap to it, m; (-1, inf) nobody.

    lanes: as of `way_ahead`.
    """
    veh, lengths = world.sim.veh, world.network.arrays.lanes.length
    start = -float(veh.s[slot])
    for place, lane in enumerate(lanes):
        here = np.flatnonzero(veh.lane == lane)
        if place == 0:
            here = here[veh.s[here] > veh.s[slot]]
        if here.size:
            i = int(here[np.argmin(veh.s[here])])
            gap = start + float(veh.s[i] - veh.length[i])
            return (i, max(gap, 0.0)) if gap < reach else (-1, inf)
        start += float(lengths[lane])
    return -1, inf
