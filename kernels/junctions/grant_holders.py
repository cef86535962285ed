"""Who holds the connectors: noted anew in every frame, before anybody asks for a grant."""

from math import inf

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import HELD, HELD_INSIDE, NEVER, PATH, Grants, Order, Vehicles
from rushhour.kernels.junctions.permissive_places import waits_on
from rushhour.kernels.junctions.waking import Awake

FRAMES_NOTED = (
    2  # what is noted of a lane is forgotten in one frame, as the frame before's in the next
)
SWAP_ROOM = 14.0  # m left free before the line by a vehicle that must change to the left
CAR_ROOM = 7.5  # m of these that a car at the line of the next lane needs to change to this one


@kernel
def note_tail(
    net: NetworkArrays, grants: Grants, veh: Vehicles, k: int, rear: float, i: int
) -> None:
    """Take i for the last holder of connector k if its rear is the last one so far."""
    if rear < grants.tail[k] or (
        rear == grants.tail[k] and veh.id[i] < veh.id[grants.tail_slot[k]]
    ):
        grants.tail[k] = rear
        grants.tail_slot[k] = i
        x = net.connectors.intersection[k]
        grants.held[x] = max(grants.held[x], HELD)


@kernel
def note_waiter(net: NetworkArrays, grants: Grants, k: int, i: int) -> None:
    """Note that i waits inside on connector k, or comes to do so."""
    grants.waiter[k] = i
    grants.held[net.connectors.intersection[k]] = HELD_INSIDE


@kernel
def has_grant(veh: Vehicles, j: int, k: int) -> bool:
    """Whether j has a grant. k: the connector that it takes next if its line is of the group that asks.

    Another group may be about to give it one, or to take it: of who goes elsewhere, what was so as the
    frame began.
    """
    return bool(veh.granted[j] > 0 if veh.path[j, 0] == k else veh.had_grant[j])


@kernel
def behind_line(net: NetworkArrays, veh: Vehicles, j: int) -> int:
    """The connector that j takes next, if it needs a grant for that; -1: its line lies beyond joints."""
    k = veh.path[j, 0]
    return -1 if k < 0 or net.connectors.free[k] else int(k)


@kernel
def to_path(net: NetworkArrays, veh: Vehicles, i: int) -> float:
    """Metres from i's front to the start of path[0]."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = veh.lane[i]
    d = net.lanes.length[lane] - veh.s[i]
    if lane >= n_road_lanes:
        d += net.lanes.length[net.connectors.to_lane[lane - n_road_lanes]]
    return d


@kernel
def to_line(net: NetworkArrays, veh: Vehicles, i: int, d: float) -> float:
    """Metres from i's front to its line, which may lie beyond joints. d: `to_path`, the way to the first."""
    for q in range(veh.line[i]):
        joint = veh.path[i, q]
        d += net.lanes.length[net.lanes.out_start.shape[0] - 1 + joint]
        d += net.lanes.length[net.connectors.to_lane[joint]]
    return d


@kernel
def swap_room(net: NetworkArrays, lane: int, body: float, gap: float) -> float:
    """Metres left free at the end of a lane by one who must leave it to the left.

    body: its length, gap: what it keeps before the line, m. Its rear stays on the lane, and comes
    to lie on the one beside, which may be shorter in a bend.
    """
    length = net.lanes.length[lane]
    road = net.lanes.road[lane]
    if lane + 1 < net.roads.first_lane[road] + net.roads.lane_count[road]:
        body *= max(1.0, length / net.lanes.length[lane + 1])
    return max(0.0, min(SWAP_ROOM, max(0.4 * length, CAR_ROOM), length - body - gap))


@kernel
def must_change(veh: Vehicles, i: int, entered: int, n: int) -> bool:
    """Whether the lane beyond the first n connectors of i's path does not lead it on.

    entered: 1 if i is on a connector, else 0: its leg counts from the road before.
    """
    if veh.leg[i] < 0 or n >= PATH or veh.path[i, n] >= 0:
        return False
    return veh.leg[i] + entered + n + 1 < veh.route_end[i]


@kernel
def reserve(
    net: NetworkArrays, veh: Vehicles, grants: Grants, rules: Rules, i: int, lane: int,
    entered: int, n: int,
) -> None:  # fmt: skip
    """Keep room for i on a lane, which it will leave by path[n], or beside which it must change."""
    k = veh.path[i, n] if n < PATH else -1
    if grants.reserved[lane] > 0.0 and grants.onward[lane] != k:
        k = -1
    grants.onward[lane] = k
    grants.noted[lane] = FRAMES_NOTED
    grants.reserved[lane] += veh.length[i] + rules.queue_gap
    if must_change(veh, i, entered, n):
        kept = swap_room(net, lane, veh.length[i], rules.queue_gap)
        grants.kept[lane] = max(grants.kept[lane], kept)


@kernel
def wish(veh: Vehicles, grants: Grants, rules: Rules, i: int, lane: int) -> None:
    """Note that i lacks nothing but room on a lane: room that comes is kept for it."""
    need = veh.length[i] + rules.queue_gap
    grants.wished[lane] += need
    grants.noted[lane] = FRAMES_NOTED
    if 0 <= veh.arrived[i] < grants.wished_since[lane]:
        grants.wished_since[lane] = veh.arrived[i]
        grants.wished_first[lane] = need


@kernel
def note_holder(net: NetworkArrays, veh: Vehicles, grants: Grants, rules: Rules, i: int) -> None:
    """Note vehicle i on every connector it holds, and the room it will take on its exit."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    lane = veh.lane[i]
    rear = veh.s[i] - veh.length[i]
    base = net.lanes.length[lane]
    exit_lane, beyond = -1, 0
    waits = False
    if lane >= n_road_lanes:
        k = lane - n_road_lanes
        exit_lane = net.connectors.to_lane[k]
        base += net.lanes.length[exit_lane]
        if net.connectors.free[k]:
            exit_lane = -1
        elif waits_on(veh, grants, i, k):
            waits = True
            note_waiter(net, grants, k, i)
        else:
            note_tail(net, grants, veh, k, rear, i)
    for q in range(veh.granted[i]):
        k = veh.path[i, q]
        to = net.connectors.to_lane[k]
        if not net.connectors.free[k]:
            if waits_on(veh, grants, i, k):
                waits = True
                note_waiter(net, grants, k, i)
            else:
                note_tail(net, grants, veh, k, rear - base, i)
            if exit_lane >= 0:
                grants.crossed[exit_lane] = True
                grants.noted[exit_lane] = FRAMES_NOTED
            exit_lane, beyond = to, q + 1
        base += net.lanes.length[n_road_lanes + k] + net.lanes.length[to]
    if exit_lane >= 0 and not waits:  # who waits inside asks for room when it goes
        entered = 1 if lane >= n_road_lanes else 0
        reserve(net, veh, grants, rules, i, exit_lane, entered, beyond)


@kernel(forceinline=True)
def forget_group(net: NetworkArrays, grants: Grants, awake: Awake, group: int) -> None:
    """Forget last frame's holders of a group's connectors, and what was kept behind them."""
    inter = net.intersections
    for g in range(inter.group_start[group], inter.group_start[group + 1]):
        x = inter.group[g]
        if grants.held[x] == 0:
            continue
        grants.held[x] = 0
        for c in range(inter.connector_start[x], inter.connector_start[x + 1]):
            k = inter.connector[c]
            grants.tail[k] = inf
            grants.tail_slot[k] = -1
            grants.waiter[k] = -1
    for e in range(awake.exit_start[group], awake.exit_start[group + 1]):
        lane = awake.exit[e]
        if grants.noted[lane] == 0:
            continue
        grants.noted[lane] -= 1
        grants.reserved[lane] = 0.0
        grants.kept[lane] = 0.0
        grants.crossed[lane] = False
        grants.wished[lane] = 0.0
        grants.eldest_since[lane] = grants.wished_since[lane]
        grants.eldest[lane] = grants.wished_first[lane]
        grants.wished_since[lane] = NEVER
        grants.wished_first[lane] = 0.0


@kernel(forceinline=True)
def note_inside(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, rules: Rules, awake: Awake,
    x: int, frame: int,
) -> None:  # fmt: skip
    """Note the vehicles on the connectors of x, and those just beyond whose rear is still there."""
    if awake.inside[x] != frame:
        return
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    inter = net.intersections
    for c in range(inter.connector_start[x], inter.connector_start[x + 1]):
        if awake.used[c] != frame:
            continue
        k = inter.connector[c]
        lane = n_road_lanes + k
        if net.connectors.free[k]:
            continue  # noted from the line that it leads to
        for p in range(order.start[lane], order.start[lane + 1]):
            note_holder(net, veh, grants, rules, order.slot[p])
        # The vehicle whose rear hangs over the connector's end (its front is further on).
        if order.over[lane] >= 0:
            note_tail(net, grants, veh, k, order.over_rear[lane], order.over[lane])
