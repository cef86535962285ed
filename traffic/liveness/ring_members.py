"""Those who wait for each other, as rows: all that naming and freeing a ring asks of its members.

A row can be told to other processes. Each is made where its vehicle is stepped, and everybody comes from
the same rows to the same rings, in the same order.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import LANE_CHANGE, LEADER, Order, Vehicles
from rushhour.kernels.rerouting.stuck import full_exit
from rushhour.kernels.rerouting.wait_for_graph import lacks_room
from rushhour.roadnets.model import Network

MEMBER: Final = np.dtype(
    [
        ("number", np.int32),  # its id
        ("awaits", np.int32),  # id of whom it waits for
        ("lane", np.int32),
        ("s", np.float64),  # m
        ("since", np.int32),  # frame since which it stands
        ("reason", np.uint8),
        ("granted", np.int32),
        ("stamp", np.int64),
        ("next", np.int32),  # connector that it takes next; -1
        ("way", np.int32),  # connector at whose line it stands for want of room beyond; -1
        ("lacks_room", np.bool_),  # it waits for room
        ("may_choose", np.bool_),  # it stands at a line, and could go another way
        ("rear", np.float64),  # m, rear of the last on the exit without room before which it stands
        ("comes", np.float64),  # m, where its own would come to stand there; inf: there is room
    ]
)
Members = NDArray[Any]  # (n,) of MEMBER
Slots = NDArray[np.int32]


def no_members() -> Members:
    """Rows of nobody."""
    return np.zeros(0, MEMBER)


def members_of(
    network: Network, veh: Vehicles, order: Order, slots: Sequence[int], awaits: Sequence[int],
    stop_offset: float,
) -> Members:  # fmt: skip
    """The rows of those in some slots. awaits: ids of whom they wait for; stop_offset: m."""
    at = np.asarray(slots, np.int32)
    rows = np.zeros(at.size, MEMBER)
    rows["number"], rows["awaits"], rows["next"] = veh.id[at], awaits, veh.path[at, 0]
    for name in ("lane", "s", "reason", "granted", "stamp"):
        rows[name] = getattr(veh, name)[at]
    rows["since"] = veh.stands_since[at]
    rows["lacks_room"] = [lacks_room(veh, i) for i in slots]
    on_road = rows["lane"] < network.n_road_lanes
    changes = (rows["reason"] == LANE_CHANGE) & (veh.blocker[at] < 0) & (rows["next"] < 0)
    rows["may_choose"] = on_road & (rows["granted"] == 0) & (rows["lacks_room"] | changes)
    # Before a lane shorter than it is a head stands on the joint that leads there.
    joint = ~on_road
    joint[joint] = network.arrays.connectors.free[rows["lane"][joint] - network.n_road_lanes]
    rows["way"], rows["comes"] = -1, np.inf
    for row in np.flatnonzero(rows["lacks_room"] & (rows["granted"] == 0) & (on_road | joint)):
        i = int(at[row])
        way = int(veh.path[i, veh.line[i]])
        if way >= 0 and not _is_taken(network, order, way):
            rows["way"][row] = way
            rows["rear"][row], rows["comes"][row] = _place_beyond(
                network, veh, order, i, stop_offset
            )
    return rows


def _is_taken(network: Network, order: Order, k: int) -> bool:
    """Whether somebody is on connector k, be it with its rear: who was let go onto it before must
    leave it first, or the next would stand in the intersection behind it."""
    on = network.n_road_lanes + k
    return bool(order.start[on] < order.start[on + 1] or order.over[on] >= 0)


def _place_beyond(
    network: Network, veh: Vehicles, order: Order, i: int, stop_offset: float
) -> tuple[float, float]:
    """On the exit without room before which head i stands the rear of the last, and where its own would
    come to stand once the head there has left, m; inf where it finds room then."""
    net = network.arrays
    lane = full_exit(net, veh, order, i, stop_offset)
    on = order.slot[order.start[lane] : order.start[lane + 1]]
    if on.size < 2 or net.lanes.length[lane] < veh.length[i]:
        return 0.0, np.inf
    # The second comes to stand where the first stood, and so on, and who comes behind the last.
    rear = float(veh.s[on[-1]] - veh.length[on[-1]])
    rear += empty_before(network, veh, order, i, lane)
    return rear, rear + float(veh.length[on[0]] - veh.length[i])


def empty_before(network: Network, veh: Vehicles, order: Order, i: int, exit: int) -> float:
    """Metres of the lanes, each too short for head i, between its line and its exit; 0 where somebody is on
    one of them."""
    net = network.arrays
    metres = 0.0
    for k in veh.path[i, veh.line[i] :].tolist():
        lane = int(net.connectors.to_lane[k]) if k >= 0 else exit
        if lane == exit:
            return metres
        if order.start[lane] < order.start[lane + 1]:
            return 0.0
        metres += float(net.lanes.length[lane])
    return 0.0


def all_lack_room(members: Members) -> bool:
    """Whether all of a ring wait for room alone."""
    return bool((members["lacks_room"] | (members["reason"] == LEADER)).all())


def road_lanes(network: Network, lanes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Road lanes; of connectors those that they leave."""
    found, n = lanes.copy(), network.n_road_lanes
    inside = lanes >= n
    found[inside] = network.arrays.connectors.from_lane[lanes[inside] - n]
    return found


def rings_of(network: Network, members: Members) -> list[Members]:
    """The rings of which these are the members, each in the order in which they wait, from the first on its
    lowest lane on; those at lower lanes first."""
    place = {int(number): row for row, number in enumerate(members["number"])}
    follows = [place[int(number)] for number in members["awaits"]]
    rings, left = [], set(range(members.size))
    while left:
        ring = [left.pop()]
        while (row := follows[ring[-1]]) != ring[0]:
            left.remove(row)
            ring.append(row)
        first = min(range(len(ring)), key=lambda x: _rank(members[ring[x]]))
        rings.append(members[ring[first:] + ring[:first]])
    lowest = [int(road_lanes(network, ring["lane"][:1])[0]) for ring in rings]
    order = sorted(range(len(rings)), key=lambda x: (lowest[x], *_rank(rings[x][0])))
    return [rings[x] for x in order]


def _rank(member: Any) -> tuple[int, float, int]:
    """Those on lower lanes come first, and of these those who are farther on."""
    return int(member["lane"]), -float(member["s"]), int(member["number"])
