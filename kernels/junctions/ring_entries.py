"""Entering a roundabout: nobody does whom the ring cannot carry to its exit.

The pieces of a small ring hold a car or two, and whoever stands on one of them stands in the way of all
who come round: a ring whose pieces are all taken never moves again, be its exits free. So an entry
leaves room on the ring, and asks for room on the road by which one leaves, less what those need who are
on the ring and leave by it, too. Who is on the ring goes first.
"""

from math import inf

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import ALL_WAY_STOP, GROUP_LENGTH, SIGNAL, NetworkArrays
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import PATH, Grants, Order, Vehicles
from rushhour.kernels.junctions.critical_gaps import RING_ROADS, is_ring
from rushhour.kernels.junctions.ring_exits import entry_within, exit_of, room_to_leave
from rushhour.kernels.junctions.ring_places import (
    A_CAR,
    is_tight,
    lane_numbered,
    length_of,
    metres_for_exit,
    next_on_ring,
    places_of,
    places_on,
    taken_on,
    waited_for,
)


@kernel
def yields_to_ring(net: NetworkArrays, on_ring: NDArray[np.bool_], k: int) -> bool:
    """Whether connector k gives way to somebody who comes round a ring."""
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        if net.conflicts.yields[c] and on_ring[net.connectors.from_lane[net.conflicts.other[c]]]:
            return True
    return False


@kernel
def find_ring_entries(
    net: NetworkArrays, one_way: NDArray[np.bool_], way: NDArray[np.int64],
    on_ring: NDArray[np.bool_], entry: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Write which road lanes are of a roundabout, and which connectors enter a small one without lights.

    Streets in a circle into which somebody goes first are none: room that one who enters leaves free on
    it is taken by those, and it would never go.

    one_way: by road. way: scratch, (RING_ROADS, 3).
    """
    for road in range(net.roads.lane_count.shape[0]):
        first = net.roads.first_lane[road]
        on_ring[first : first + net.roads.lane_count[road]] = is_ring(net, one_way, road, True, way)
    for k in range(entry.shape[0]):
        to = net.connectors.to_lane[k]
        control = net.intersections.control[net.connectors.intersection[k]]
        entry[k] = (
            on_ring[to]
            and not on_ring[net.connectors.from_lane[k]]
            and control != SIGNAL
            and control != ALL_WAY_STOP
            and is_tight(net, on_ring, net.lanes.road[to])
            and yields_to_ring(net, on_ring, k)
        )


@kernel
def ring_carries(
    net: NetworkArrays, veh: Vehicles, order: Order, grants: Grants, rules: Rules, i: int, n: int,
    frame: int, dt: float,
) -> bool:  # fmt: skip
    """Whether i, that asks at its line for its first n connectors, enters no small roundabout by them, or
    one that carries it to its exit.

    Reads where others are and where they go. Grants only as far as the ring is of one group with i's
    line, over short pieces on from it or back: others change meanwhile.
    """
    first = entry_within(veh, grants.ring_entry, i, n)
    if first < 0:
        return True
    on_ring, gap = grants.on_ring, rules.queue_gap
    # Who is let go with others who wait in a circle finds its room when those ahead have gone, too.
    turned = grants.waived[veh.path[i, veh.line[i]]] >= frame
    onto = net.connectors.to_lane[veh.path[i, first]]
    q, exit = exit_of(net, veh, order, on_ring, i, first, gap)
    room = inf
    if not turned:
        room = room_to_leave(net, veh, order, on_ring, gap, i, q, exit) - veh.length[i]
    # Whether it leaves from the lane by which it enters.
    at_once = not on_ring[exit] and q == first + 1 < PATH
    mine = places_of(veh, i, gap)
    around, places, others, leaving, most, kept, kept_out = 0.0, 0.0, 0.0, 0.0, mine, 0.0, 0.0
    somebody_stands = False
    apart, behind = False, 0.0  # beyond a long piece; who comes to enter since the last of those
    here = road = net.lanes.road[onto]
    for _ in range(RING_ROADS):
        outer, own = net.roads.first_lane[here], lane_numbered(net, here, net.lanes.number[onto])
        for ring_lane in range(outer, outer + net.roads.lane_count[here]):
            room -= metres_for_exit(net, veh, order, on_ring, ring_lane, exit, gap)
            coming, kept_there, out = waited_for(
                net, veh, order, grants, rules, i, ring_lane, exit, frame, dt
            )
            kept_out = max(kept_out, out)
            if ring_lane != own:
                if kept_there == inf:
                    kept = inf
                continue
            kept = max(kept, kept_there)
            if apart:
                behind += coming
            else:
                others += coming
        there, leave, longest, stands, all_leave = taken_on(net, veh, order, on_ring, own, gap)
        others += there
        leaving += leave
        if here == road and at_once and all_leave:
            leaving += mine
        places += places_on(net, own)
        around += length_of(net, on_ring, own)
        most = max(most, longest)
        somebody_stands = somebody_stands or stands
        if grants.claimed[own] > 0.0:
            kept = max(kept, 1.0)  # for who stands beside it and must change to it
        if net.roads.length[here] >= GROUP_LENGTH:
            apart, behind = True, 0.0
        here = next_on_ring(net, on_ring, here)
        if here == road or here < 0:
            break
    others += behind
    # Places stay free, or nobody can move once all of them want to go on round the ring. But an empty
    # ring takes anybody: a bus may need all that it has.
    spare = min(places, np.floor(around / A_CAR)) - most
    if not somebody_stands:
        spare += leaving
    if turned:
        kept = 0.0
    return room >= kept_out and (others + kept <= 0.0 or others + mine + kept <= spare)
