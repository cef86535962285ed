"""How far a grant leads: over the connectors up to the first lane with room, or through that as well.

Source: right-of-way.md sections 1 and 2.
"""

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import GROUP_LENGTH, RED, YELLOW, NetworkArrays
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import NEVER, PATH, Grants, Order, Vehicles
from rushhour.kernels.following.halting import somebody_halts_inside
from rushhour.kernels.junctions.exit_room import chain_length, has_room

PLATOON_ENDS = (
    30.0  # s that somebody waits for a place on a short lane while others flow through it
)


@kernel
def all_go_on(veh: Vehicles, order: Order, lane: int) -> bool:
    """Whether everybody on a lane has a grant that leads beyond it, and nobody stands in its end."""
    for p in range(order.start[lane], order.start[lane + 1]):
        if veh.granted[order.slot[p]] == 0:
            return False
    j = order.over[lane]
    return j < 0 or veh.had_grant[j] or veh.speed[j] >= 0.5


@kernel
def through(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, i: int, n: int
) -> int:  # fmt: skip
    """Entries of i's path up to the line after the n-th, if all between the two lines go on; else 0.

    The two lines must belong to one group: no lane between them is longer than couples two.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    q = n
    while True:
        lane = net.connectors.to_lane[veh.path[i, q - 1]]
        if q >= PATH or veh.path[i, q] < 0 or net.lanes.length[lane] >= GROUP_LENGTH:
            return 0
        if grants.reserved[lane] > 0.0 or not all_go_on(veh, order, lane):
            return 0
        if grants.claimed[lane] > 0.0:
            return 0  # somebody must change to it, who could not then
        k = veh.path[i, q]
        q += 1
        if not net.connectors.free[k]:
            return 0 if net.connectors.must_stop[k] else q  # each stops there
        if not all_go_on(veh, order, n_road_lanes + k):
            return 0


@kernel
def nobody_between(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, i: int, n: int
) -> bool:
    """Whether nobody will wait on the lanes between the first n connectors of candidate i's path.

    A long vehicle is granted several lines at once; a short one may stop between them.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    for q in range(veh.line[i], n - 1):
        lane = net.connectors.to_lane[veh.path[i, q]]
        k = veh.path[i, q + 1]
        if grants.reserved[lane] > 0.0 or not all_go_on(veh, order, lane):
            return False
        if net.connectors.free[k] and not all_go_on(veh, order, n_road_lanes + k):
            return False
    return True


@kernel
def all_green(net: NetworkArrays, veh: Vehicles, grants: Grants, i: int, m: int, n: int) -> bool:
    """Whether no light on entries m to n of i's path shows red or yellow."""
    for q in range(m, n):
        k = veh.path[i, q]
        if net.connectors.signal[k] >= 0 and (grants.light[k] == RED or grants.light[k] == YELLOW):
            return False
    return True


@kernel
def chain_with_room(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, rules: Rules, i: int,
    frame: int, dt: float,
) -> int:  # fmt: skip
    """Entries of path to grant candidate i together, ending at a lane with room; minus if none.

    Where the first lane that could hold the vehicle has no room, but all on it go on, the chain is
    led through it: a platoon flows through a short lane between two lines as through none, unless
    somebody has waited long for a place on it. Only lanes within the group count, so nobody else
    decides on them at the same time.
    """
    n, alone = chain_length(net, veh, i, rules.stop_offset)
    least = n
    first = veh.path[i, veh.line[i]]
    if grants.waived[first] >= frame and grants.tail[first] >= 0.0:
        return n  # not behind somebody who was let go so
    if not nobody_between(net, veh, order, grants, i, n):
        return -least
    if alone:  # longer than all lanes ahead: it stands between two lines, its rear inside
        return n if has_room(net, veh, order, grants, rules, i, n, dt) else -least
    if somebody_halts_inside(net, veh, order, i, veh.line[i], n):
        return -least
    while not has_room(net, veh, order, grants, rules, i, n, dt):
        lane = net.connectors.to_lane[veh.path[i, n - 1]]
        since = min(grants.eldest_since[lane], grants.claimed_since[lane])
        if since < veh.arrived[i] or (veh.arrived[i] < 0 and since < NEVER):
            if (frame - since) * dt >= PLATOON_ENDS:
                return -least
        m, n = n, through(net, veh, order, grants, i, n)
        if n == 0 or not all_green(net, veh, grants, i, m, n):
            return -least  # it can stop before that line, so its light counts whatever came before
    return n
