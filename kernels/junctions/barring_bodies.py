"""Nobody enters an intersection in which a body from outside is on its way, or will be by then."""

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.obstacles import CLEARANCE, STILL, any_bodies, in_way
from rushhour.kernels.core.vehicles import Grants, Types, Vehicles
from rushhour.kernels.following.car_following import travel_time
from rushhour.kernels.following.desired_speed import aimed_speed

MARGIN = 1.0  # s between a vehicle and a body that crosses its way


@kernel
def bars_connector(
    net: NetworkArrays, veh: Vehicles, types: Types, grants: Grants, i: int, k: int, d: float,
    v0: float, reaction: float,
) -> bool:  # fmt: skip
    """The same on connector k alone, d m before i's front (negative: i is on it); v0: its speed, m/s."""
    o = grants.obstacles
    t, v = veh.type[i], veh.speed[i]
    half = 0.5 * types.width[t] + CLEARANCE
    e = o.first[net.lanes.out_start.shape[0] - 1 + k]
    while e >= 0:
        over = d + o.front[e] + veh.length[i]
        if over > 0.0 and in_way(o, e, -half, half):
            if not o.comes[e]:
                if o.speed[e] < STILL:
                    return True
            else:
                there = reaction + travel_time(max(0.0, d + o.rear[e]), v, types.accel[t], v0)
                gone = reaction + travel_time(over, v, types.accel[t], v0)
                if there < o.leaves[e] + MARGIN and o.enters[e] < gone + MARGIN:
                    return True
        e = o.then[e]
    return False


@kernel
def bars_way(
    net: NetworkArrays, veh: Vehicles, types: Types, grants: Grants, i: int, line: int, n: int,
    d: float, reaction: float,
) -> bool:  # fmt: skip
    """Whether a body is in the way of i on the connectors path[line:n], the first of them d m ahead,
    or comes at a time when i, which starts after `reaction` s, would be there.

    One that drives on along the connector is followed.
    """
    if not any_bodies(grants.obstacles):
        return False
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    v0 = aimed_speed(net, veh, types, i, veh.lane[i])
    for q in range(line, n):
        k = veh.path[i, q]
        if bars_connector(net, veh, types, grants, i, k, d, v0, reaction):
            return True
        d += net.lanes.length[n_road_lanes + k] + net.lanes.length[net.connectors.to_lane[k]]
    return False
