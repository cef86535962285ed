"""Checks of where bodies are: gaps within lanes, conflict zones, and who stands too long.

A body reaches from its front bumper back over the lanes that it came from; whatever lies within is
occupied. On connectors this tells who is inside the zone where two movements conflict.
Source: validation.md E1, E8.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.checking.survey import (
    CLOSE_GAP,
    CLOSEST,
    CONFLICT_ZONE_SHARED,
    MERGES_SHARED,
    OVERLAP,
    STANDS_INSIDE,
    STANDS_WITHOUT_END,
    STANDSTILL,
    STUCK,
    VALUE,
    Findings,
    Survey,
    note_extreme,
    note_row,
)
from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import RED, NetworkArrays
from rushhour.kernels.core.vehicles import (
    BEHIND,
    BODY,
    HAZARD,
    IDM,
    LEADER,
    NOTHING,
    RED_LIGHT,
    Types,
    Vehicles,
)

CLOSE_SHARE = 0.5  # of the standstill gap, which drivers who follow by IDM always keep


class Bodies(NamedTuple):
    """Bodies on connectors, chained by connector, and the rears that hang over lane ends."""

    first: NDArray[np.int32]  # (n_connectors,) last body added; -1 none
    then: NDArray[np.int32]  # (bodies,) the one added before it; -1
    row: NDArray[np.int32]  # (bodies,)
    rear: NDArray[np.float64]  # (bodies,) m along the connector, negative before it
    front: NDArray[np.float64]  # (bodies,) m, beyond its length after it
    hanging: NDArray[np.int32]  # (n_lanes,) row of the rearmost body over the lane's end; -1
    hanging_rear: NDArray[np.float64]  # (n_lanes,) m along the lane


@kernel
def place_body(
    net: NetworkArrays, veh: Vehicles, now: Survey, before: Survey, found: Findings, bodies: Bodies,
    r: int, used: int, frame: int,
) -> int:  # fmt: skip
    """Add row r to every connector that its body is on; returns how many bodies there are."""
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    here = now.lane[r]
    i = now.slot[r]
    rear = now.s[r] - now.length[r]
    for b in range(BEHIND + 1):
        if here >= n_road_lanes:
            k = here - n_road_lanes
            if used < bodies.row.shape[0]:
                bodies.row[used] = r
                bodies.rear[used] = rear
                bodies.front[used] = rear + now.length[r]
                bodies.then[used] = bodies.first[k]
                bodies.first[k] = used
            used += 1
        if b > 0:
            j = bodies.hanging[here]
            if j >= 0:  # both reach over the end of this lane
                note_row(found, now, before, OVERLAP, frame, r, int(now.id[j]), 0.0, 0.0)
            if j < 0 or rear < bodies.hanging_rear[here]:
                bodies.hanging[here] = r
                bodies.hanging_rear[here] = rear
        if rear >= 0.0 or b == BEHIND:
            break
        back = veh.behind[i, b]
        if back < 0 or back >= net.lanes.length.shape[0]:
            break
        rear += net.lanes.length[back]
        here = back
    return used


@kernel
def beside(types: Types, veh: Vehicles, now: Survey, r: int, q: int) -> bool:
    """Whether two rows of one lane are side by side: one of them passes the other."""
    i, j = now.slot[r], now.slot[q]
    if veh.around[i] == 0 and veh.around[j] == 0:
        return False
    widths = types.width[veh.type[i]] + types.width[veh.type[j]]
    return bool(abs(veh.lateral[i] - veh.lateral[j]) > 0.5 * widths)


@kernel
def check_oncoming(
    net: NetworkArrays, types: Types, veh: Vehicles, now: Survey, before: Survey, found: Findings,
    opposite: NDArray[np.int32], frame: int,
) -> None:  # fmt: skip
    """Check that nobody who passes touches somebody on the lane in the other direction.

    opposite: (n_road_lanes,) that lane; -1.
    """
    for r in range(now.start[opposite.shape[0]]):
        i = now.slot[r]
        if veh.around[i] == 0 or opposite[now.lane[r]] < 0:
            continue
        lane, other = now.lane[r], opposite[now.lane[r]]
        apart = 0.5 * (net.lanes.width[lane] + net.lanes.width[other])
        scale = net.lanes.length[lane] / net.lanes.length[other]
        for q in range(now.start[other], now.start[other + 1]):
            j = now.slot[q]
            front = net.lanes.length[lane] - now.s[q] * scale
            if front > now.s[r] or front + now.length[q] < now.s[r] - now.length[r]:
                continue
            room = apart - abs(veh.lateral[i]) - abs(veh.lateral[j])
            room -= 0.5 * (types.width[veh.type[i]] + types.width[veh.type[j]])
            if room < 0.0:
                note_row(found, now, before, OVERLAP, frame, r, int(now.id[q]), room, 0.0)


@kernel
def check_gaps(
    net: NetworkArrays, types: Types, veh: Vehicles, now: Survey, before: Survey, found: Findings,
    bodies: Bodies, frame: int,
) -> int:  # fmt: skip
    """Check every gap within a lane; returns the number of bodies on connectors.

    Writes bodies; those beyond its capacity are left out.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    bodies.first[:] = -1
    bodies.hanging[:] = -1
    used = 0
    for r in range(now.start[now.start.shape[0] - 1]):
        if now.lane[r] >= n_road_lanes or now.s[r] < now.length[r]:
            used = place_body(net, veh, now, before, found, bodies, r, used, frame)
    for r in range(now.start[now.start.shape[0] - 1]):
        lane = now.lane[r]
        if r > now.start[lane]:
            ahead = r - 1
            while ahead >= now.start[lane] and beside(types, veh, now, r, ahead):
                ahead -= 1
            if ahead < now.start[lane]:
                continue
            gap = now.s[ahead] - now.length[ahead] - now.s[r]
        elif bodies.hanging[lane] >= 0:
            ahead = int(bodies.hanging[lane])
            gap = bodies.hanging_rear[lane] - now.s[r]
        else:
            continue
        if -gap > found.extreme[CLOSEST, VALUE]:
            note_extreme(found, veh, now, CLOSEST, frame, r, -gap)
        t = veh.type[now.slot[r]]
        close = CLOSE_SHARE * types.min_gap[t]
        if gap <= 0.0:
            note_row(found, now, before, OVERLAP, frame, r, int(now.id[ahead]), gap, 0.0)
        elif gap <= close and types.model[t] == IDM:
            note_row(found, now, before, CLOSE_GAP, frame, r, int(now.id[ahead]), gap, close)
    return used


@kernel
def are_apart(
    net: NetworkArrays, now: Survey, bodies: Bodies, e: int, f: int, k: int, o: int
) -> bool:
    """Whether bodies e and f, on connectors k and o, follow each other into one lane."""
    if net.connectors.to_lane[k] != net.connectors.to_lane[o]:
        return False
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    a = bodies.front[e] - net.lanes.length[n_road_lanes + k]
    b = bodies.front[f] - net.lanes.length[n_road_lanes + o]
    if a > b:
        return bool(a - now.length[bodies.row[e]] > b)
    return bool(b - now.length[bodies.row[f]] > a)


@kernel
def note_shared(
    net: NetworkArrays, now: Survey, before: Survey, found: Findings, bodies: Bodies, e: int, f: int,
    c: int, frame: int,
) -> None:  # fmt: skip
    """Note that bodies e and f share the zone of conflict c, about the one that came later."""
    x = net.conflicts
    e_in, f_in = bodies.front[e] - x.here_in[c], bodies.front[f] - x.there_in[c]
    e_rest, f_rest = x.here_out[c] - bodies.rear[e], x.there_out[c] - bodies.rear[f]
    r, q = int(bodies.row[e]), int(bodies.row[f])
    if e_in <= f_in:
        note_row(found, now, before, CONFLICT_ZONE_SHARED, frame, r, int(now.id[q]), e_in, f_rest)
    else:
        note_row(found, now, before, CONFLICT_ZONE_SHARED, frame, q, int(now.id[r]), f_in, e_rest)


@kernel
def check_zones(
    net: NetworkArrays, now: Survey, before: Survey, found: Findings, bodies: Bodies,
    light: NDArray[np.uint8], frame: int, dt: float, patience: int,
) -> None:  # fmt: skip
    """Check that no two bodies are in the zone of two conflicting connectors at once.

    Two that merge into one lane may follow each other within the zone, but not overlap. Notes also
    who has stood for `patience` frames in the way of a movement to another lane. Whose own light is not
    red may wait there for those that have green with it, but not in their way.
    """
    for k in range(bodies.first.shape[0]):
        e = bodies.first[k]
        while e >= 0:
            r = int(bodies.row[e])
            inside = False
            may_wait = net.connectors.signal[k] >= 0 and light[k] != RED
            for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
                if bodies.front[e] <= net.conflicts.here_in[c]:
                    continue
                if bodies.rear[e] >= net.conflicts.here_out[c]:
                    continue
                o = net.conflicts.other[c]
                if net.connectors.to_lane[o] != net.connectors.to_lane[k]:
                    inside = inside or not may_wait or light[o] != RED
                if o < k:
                    continue
                f = bodies.first[o]
                while f >= 0:
                    q = bodies.row[f]
                    if (
                        q != r
                        and bodies.front[f] > net.conflicts.there_in[c]
                        and bodies.rear[f] < net.conflicts.there_out[c]
                    ):
                        if are_apart(net, now, bodies, e, f, k, o):
                            found.tally[MERGES_SHARED] += 1
                        else:
                            note_shared(net, now, before, found, bodies, e, f, c, frame)
                    f = bodies.then[f]
            if inside and now.standing[r] == patience:
                note_row(found, now, before, STANDS_INSIDE, frame, r, k, patience * dt, 0.0)
            e = bodies.then[e]


@kernel
def waits_at_head(veh: Vehicles, i: int) -> bool:
    """Whether a vehicle that stands is the first to wait, and for something that others could end."""
    reason = veh.reason[i]
    if veh.told[i] != NOTHING or reason == LEADER or reason == HAZARD or reason == BODY:
        return False
    return reason != RED_LIGHT or veh.full_since[i] >= 0


@kernel
def check_standing(
    veh: Vehicles, now: Survey, before: Survey, found: Findings, frame: int, dt: float,
    patience: int, least: int,
) -> None:  # fmt: skip
    """Note who has stood still for `patience` frames, stops of its trip apart, and who has for `least`
    though no leader, red light, command or body from outside holds it."""
    for r in range(now.start[now.start.shape[0] - 1]):
        if now.standing[r] == 0:
            continue
        if now.standing[r] * dt > found.extreme[STANDSTILL, VALUE]:
            note_extreme(found, veh, now, STANDSTILL, frame, r, now.standing[r] * dt)
        i = now.slot[r]
        if now.standing[r] == least and waits_at_head(veh, i):
            note_row(
                found, now, before, STANDS_WITHOUT_END, frame, r, int(veh.blocker[i]),
                float(veh.reason[i]), least * dt,
            )  # fmt: skip
        if now.standing[r] == patience:
            note_row(
                found, now, before, STUCK, frame, r, int(veh.blocker[now.slot[r]]),
                float(veh.reason[now.slot[r]]), patience * dt,
            )  # fmt: skip
