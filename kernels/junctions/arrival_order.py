"""In which order candidates for a grant are considered, and who may go before whom."""

from math import inf

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import ALL_WAY_STOP, NONE, SIGNAL, NetworkArrays
from rushhour.kernels.core.vehicles import CONFLICT, EXIT_FULL, YIELDS, Grants, Vehicles
from rushhour.kernels.junctions.conflict_zones import gives_way_to, in_conflict

IMPATIENT = 180.0  # s at the line after which a driver takes the smallest gap and any place
ZIP_AFTER = 10.0  # s at the line after which others of the same rank let a driver in


@kernel
def time_at_line(veh: Vehicles, i: int, frame: int, dt: float) -> float:
    """Seconds since i first stood at its line; 0 before."""
    return (frame - veh.arrived[i]) * dt if veh.arrived[i] >= 0 else 0.0


@kernel
def waits_longer(veh: Vehicles, j: int, i: int) -> bool:
    """Whether j stood at its line before i did (ties by lane)."""
    if veh.arrived[j] < 0:
        return False
    if veh.arrived[i] < 0 or veh.arrived[j] < veh.arrived[i]:
        return True
    return veh.arrived[j] == veh.arrived[i] and veh.lane[j] < veh.lane[i]


@kernel
def goes_before(net: NetworkArrays, veh: Vehicles, all_way: bool, i: int, j: int) -> bool:
    """Order in which candidates are considered: arrival at an all-way stop, else rank.

    Before the rank come those who stand before a full exit, by how long they stand: each place there
    goes to one of them.
    """
    if all_way:
        if veh.arrived[i] != veh.arrived[j]:
            return veh.arrived[i] < veh.arrived[j]
    else:
        if (veh.full_since[i] >= 0) != (veh.full_since[j] >= 0):
            return veh.full_since[i] >= 0
        if veh.full_since[i] >= 0 and veh.arrived[i] != veh.arrived[j]:
            return waits_longer(veh, i, j)
        ri = net.connectors.rank[veh.path[i, veh.line[i]]]
        rj = net.connectors.rank[veh.path[j, veh.line[j]]]
        if ri != rj:
            return ri < rj
    return veh.lane[i] < veh.lane[j]


@kernel
def kept_by_stream(net: NetworkArrays, veh: Vehicles, grants: Grants, j: int, k: int) -> bool:
    """Whether head j lets a stream pass that never yields, is not on connector k, and leads elsewhere.

    Where nobody has the right of way, whoever is inside is such a stream. Who crosses j's way meanwhile
    takes little from it. On the lane that j leads to, as on a ring, it would take j's place.
    """
    if veh.refused[j] != CONFLICT:
        return False
    o = veh.path[j, veh.line[j]]
    if net.connectors.to_lane[o] == net.connectors.to_lane[k]:
        return False
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    ruled = net.intersections.control[net.connectors.intersection[o]] != NONE
    for c in range(net.connectors.conflict_start[o], net.connectors.conflict_start[o + 1]):
        other = net.conflicts.other[c]
        if other == k or grants.tail[other] >= net.conflicts.there_out[c]:
            continue
        if not ruled:
            return True
        if net.conflicts.yields[c] and net.connectors.rank[other] == 0:
            last = grants.tail_slot[other]
            past = grants.tail[other] >= 0.0  # it has come to another line, or will
            if veh.lane[last] < n_road_lanes and (past or veh.arrived[last] < 0):
                return True  # and more are coming: the last comes without having stood
    return False


@kernel
def turns_given(veh: Vehicles, j: int, frame: int, dt: float) -> int:
    """How often head j, while it lets a stream pass, may have been passed out of turn by now.

    Once each ZIP_AFTER: on full streets of one rank, where heads keep each other, all would.
    """
    return int(time_at_line(veh, j, frame, dt) / ZIP_AFTER)


@kernel
def my_turn(
    net: NetworkArrays, veh: Vehicles, grants: Grants, first: int, count: int, i: int, limit: int,
    literal: bool, all_way: bool, frame: int, dt: float,
) -> bool:  # fmt: skip
    """Whether all who have waited longer, conflict and could go let i pass once more.

    literal: everybody who has waited longer goes first, whatever the movement. Else each is passed
    `limit` times.
    """
    k = veh.path[i, veh.line[i]]
    for x in range(first, first + count):
        j = grants.candidate[x]
        if j < 0 or j == i or veh.granted[j] > 0 or veh.refused[j] == EXIT_FULL:
            continue
        if not waits_longer(veh, j, i):
            continue
        if literal:
            return False
        if not in_conflict(net, k, veh.path[j, veh.line[j]]):
            continue
        kept = not all_way and kept_by_stream(net, veh, grants, j, k)
        if veh.overtaken[j] >= (turns_given(veh, j, frame, dt) if kept else limit):
            return False
    return True


@kernel
def who_starves(
    net: NetworkArrays, veh: Vehicles, grants: Grants, first: int, count: int, i: int,
    control: int, frame: int, dt: float,
) -> int:  # fmt: skip
    """Slot of a head that has stood for long, and for longer than i, and needs what i asks for; -1.

    A stream that never breaks, each granted its way long before it comes, would keep it for ever.
    One that goes first by rule keeps it for IMPATIENT, another for ZIP_AFTER: there both take turns. At a
    light only those take turns of whom neither goes first by rule.
    """
    k = veh.path[i, veh.line[i]]
    for x in range(first, first + count):
        j = grants.candidate[x]
        if j < 0 or j == i or veh.granted[j] > 0 or time_at_line(veh, j, frame, dt) < ZIP_AFTER:
            continue
        if veh.refused[j] != CONFLICT and veh.refused[j] != YIELDS:
            continue
        if not waits_longer(veh, j, i):
            continue
        o = veh.path[j, veh.line[j]]
        for c in range(net.connectors.conflict_start[o], net.connectors.conflict_start[o + 1]):
            if net.conflicts.other[c] == k:
                by_rule = control == ALL_WAY_STOP or net.conflicts.yields[c]
                if control == SIGNAL and (by_rule or gives_way_to(net, k, o)):
                    continue
                if time_at_line(veh, j, frame, dt) >= IMPATIENT:
                    return int(j)
                passed = veh.overtaken[j] < turns_given(veh, j, frame, dt)
                if not by_rule and not (passed and kept_by_stream(net, veh, grants, j, k)):
                    return int(j)
    return -1


@kernel
def count_overtaken(
    net: NetworkArrays, veh: Vehicles, grants: Grants, first: int, count: int, i: int
) -> None:
    """Count i's grant for those who have waited longer and conflict with it."""
    k = veh.path[i, veh.line[i]]
    for x in range(first, first + count):
        j = grants.candidate[x]
        if j < 0 or j == i or veh.granted[j] > 0 or veh.refused[j] == EXIT_FULL:
            continue
        if waits_longer(veh, j, i) and in_conflict(net, k, veh.path[j, veh.line[j]]):
            veh.overtaken[j] += 1


@kernel
def nobody_inside(net: NetworkArrays, grants: Grants, x: int) -> bool:
    """Whether no connector of an intersection is held."""
    inter = net.intersections
    for c in range(inter.connector_start[x], inter.connector_start[x + 1]):
        k = inter.connector[c]
        if grants.tail[k] < inf:
            return False
    return True
