"""Changes of lane without a scratch: who pulls out keeps behind the one ahead, who follows lets it out.

A change of lane takes effect on the lane at once: from then on the leader of the new lane counts.
But the body has yet to get round the rear of its old leader, and its own rear is in the way of those
who come behind on the old lane.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import Order, Types, Vehicles
from rushhour.kernels.following.lane_gaps import place_behind, place_beside
from rushhour.kernels.lanes.lane_choice import behind_leader
from rushhour.kernels.steering.lane_bodies import Steered

CLEAR: Final = 0.2  # m between the sides of two bodies from which they pass each other
ALONGSIDE: Final = 1.0  # m by which a front is beyond a rear when it is too late to stay behind it
CLOSEST: Final = 0.1  # m, least gap to brake for


@kernel
def pull_out_limit(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, st: Steered, i: int
) -> float:
    """Acceleration, m/s^2, with which i stays behind its leader on the lane it comes from; or inf.

    For who changes lane. Reads nobody's place aside but its own, which others write meanwhile.
    """
    lane = veh.lane[i]
    aside = veh.lateral[i] + st.astray[i]
    if lane >= net.lanes.out_start.shape[0] - 1 or aside == 0.0:
        return math.inf
    old = lane + (1 if aside > 0.0 else -1)
    road = net.lanes.road[lane]
    first = net.roads.first_lane[road]
    if not first <= old < first + net.roads.lane_count[road]:
        return math.inf
    s = place_beside(net, lane, old, veh.s[i])
    p = place_behind(veh, order, old, s) - 1
    if p < order.start[old]:
        return math.inf
    j = order.slot[p]
    apart = 0.5 * (net.lanes.width[lane] + net.lanes.width[old]) - abs(aside)
    if apart > 0.5 * (types.width[veh.type[i]] + types.width[veh.type[j]]) + CLEAR:
        return math.inf
    gap = veh.s[j] - veh.length[j] - s
    if gap < -ALONGSIDE:
        return math.inf
    kept = behind_leader(net, veh, types, i, old, max(CLOSEST, gap), veh.speed[j])
    return max(-types.emergency[veh.type[i]], kept)


@kernel
def lanes_entered(
    veh: Vehicles, rules: Rules, frame: int, dt: float, entered: NDArray[np.bool_]
) -> None:
    """Mark the lanes to which somebody on them has changed of late. Writes entered, (n_lanes,)."""
    entered[:] = False
    for i in range(veh.lane.shape[0]):
        if veh.lane[i] >= 0 and (frame - veh.change_frame[i]) * dt <= rules.lane_change_time:
            entered[veh.lane[i]] = True


@kernel(forceinline=True)
def let_out_limit(
    net: NetworkArrays, veh: Vehicles, types: Types, order: Order, rules: Rules,
    entered: NDArray[np.bool_], i: int, frame: int, dt: float,
) -> float:  # fmt: skip
    """Acceleration, m/s^2, with which i stays behind who has just left its lane to a side; or inf.

    entered: `lanes_entered`. Of others' places aside it reads the sign alone.
    """
    lane = veh.lane[i]
    if lane >= net.lanes.out_start.shape[0] - 1:
        return math.inf
    road = net.lanes.road[lane]
    first = net.roads.first_lane[road]
    found = math.inf
    for side in (-1, 1):
        other = lane + side
        if not first <= other < first + net.roads.lane_count[road] or not entered[other]:
            continue
        s = place_beside(net, lane, other, veh.s[i])
        p = place_behind(veh, order, other, s) - 1
        if p < order.start[other]:
            continue
        j = order.slot[p]
        if (frame - veh.change_frame[j]) * dt > rules.lane_change_time:
            continue
        # Not between the two lanes, or going round somebody; else nobody changes that sign meanwhile.
        if veh.swerve[j] != 0.0 or veh.lateral[j] * side >= 0.0:
            continue
        gap = veh.s[j] - veh.length[j] - s
        if gap < -ALONGSIDE:
            continue
        kept = behind_leader(net, veh, types, i, lane, max(CLOSEST, gap), veh.speed[j])
        found = min(found, max(-types.emergency[veh.type[i]], kept))
    return found
