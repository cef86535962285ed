"""What a rank sees of the others' parts: whom its own vehicles look at within one frame.

A rank runs its own grant groups and those that look at lanes of its own. What these read, and what its
own drivers read, is where others were as the frame began, and, of what other groups decide in the frame,
what is sent in its middle (see `exchange`). So a rank need not see whom those look at that it sees.
"""

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.halos import Sight
from rushhour.kernels.core.network import JOINTS, LONGEST_VEHICLE
from rushhour.kernels.core.vehicles import PATH
from rushhour.kernels.following.lane_gaps import EASE
from rushhour.kernels.junctions.queue_ends import JOINTS_BACK
from rushhour.kernels.signals.max_pressure import SHORT
from rushhour.kernels.trips.start_places import FOLLOWER_BRAKING

if TYPE_CHECKING:
    from rushhour.traffic.sim.sim import Sim

DEVIATIONS: Final = 6.0  # from the mean of drivers' speeds by the limit: nobody drives as fast
LONGEST_GAP: Final = 20.0  # s: no driver looks further back along a stream to be let in
SPARE: Final = 25.0  # m
Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


def groups_to_run(sim: "Sim", own: Mask, own_groups: Mask) -> Mask:
    """The grant groups that a rank runs: its own, and those that look at its own lanes."""
    run = own_groups.copy()
    run[_of_watched(sim, own)] = True
    return run


def sight(sim: "Sim", own: Mask, run: Mask, group_of: NDArray[np.int64]) -> Sight:
    """What a rank with these lanes, that runs these groups, must see."""
    net, n = sim.network.arrays, sim.network.n_road_lanes
    joints = np.flatnonzero(net.connectors.free)
    fro, to = net.connectors.from_lane, net.connectors.to_lane
    inside = run[group_of[net.connectors.intersection]]
    lanes, groups = _watch(sim)
    approach = own.copy()  # lanes whose end somebody looks at from here
    approach[lanes[run[groups]]] = True
    approach[n:][inside] = True
    _whole_roads(sim, approach)
    seen = approach.copy()
    seen[to[inside]] = True
    _add_rings(sim, seen, np.flatnonzero(inside), own)
    _whole_roads(sim, seen)
    # On over joints: room there counts, and who sets off behind them.
    _follow(sim, seen, joints, fro, to, PATH)
    # Back over joints: who was let onto a road by the room beyond it.
    back = approach.copy()
    _follow(sim, back, joints, to, fro, JOINTS_BACK)
    seen |= back
    _add_detectors(sim, seen, own)
    _add_queues(sim, seen, inside)
    _whole_roads(sim, seen)
    seen[n:] |= seen[fro] | approach[to]
    fast = fastest(sim)
    # Who departs or changes lane looks back for the first on each way to there.
    braking = min(FOLLOWER_BRAKING, 0.5 * sim.rules.safe_braking)
    to_start = fast * fast / (2.0 * braking) + fast * (sim.dt + EASE) + SPARE
    none = np.zeros(fast.size)
    first = to_start - _metres(sim, own, none, float(to_start.max()), fro, to)
    longest = max(LONGEST_VEHICLE, float(sim.types.length.max(initial=0.0))) + 2.0
    start = longest - _metres(sim, seen, none, longest, to, fro)
    start[seen] = np.inf
    end = _streams(sim, inside, fast)
    return Sight(*(np.maximum(metres, 0.0) for metres in (start, end, first)))


def fastest(sim: "Sim") -> Floats:
    """Speed of the fastest that drive on each lane, (n_lanes,)."""
    types = sim.types
    most = np.minimum(types.factor_max, types.factor_mean + DEVIATIONS * types.factor_dev)
    factor = np.where(types.factor_dev > 0.0, most, types.factor_mean).max(initial=1.0)
    limit = np.maximum(sim.network.arrays.lanes.speed, 1.0)
    found: Floats = np.minimum(factor * limit, max(1.0, float(types.max_speed.max(initial=1.0))))
    return found


def _streams(sim: "Sim", inside: Mask, fast: Floats) -> Floats:
    """Metres from the end of each lane within which somebody comes to a line at which drivers on some
    connectors yield, (n_lanes,): on the lane before that one, as far as they look back."""
    net, n = sim.network.arrays, sim.network.n_road_lanes
    fro, to, length = net.connectors.from_lane, net.connectors.to_lane, net.lanes.length
    start = net.connectors.conflict_start
    yields = net.conflicts.yields & np.repeat(inside, np.diff(start))
    stream = np.zeros(sim.network.n_lanes, np.bool_)
    stream[fro[net.conflicts.other[yields]]] = True
    into = np.flatnonzero(stream[to])
    longest = max(LONGEST_GAP, float(sim.grants.critical_gap.max(initial=0.0)))
    end = np.zeros(fast.size)
    np.maximum.at(
        end, fro[into], longest * fast[fro[into]] + SPARE - length[to[into]] - length[n + into]
    )
    return end


def _watch(sim: "Sim") -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Lanes and the groups that look at who is on them."""
    awake = sim.awake
    start = awake.watch_start
    return np.repeat(np.arange(start.size - 1), np.diff(start)), awake.watch


def _of_watched(sim: "Sim", own: Mask) -> NDArray[np.int32]:
    lanes, groups = _watch(sim)
    return groups[own[lanes]]


def _whole_roads(sim: "Sim", seen: Mask) -> None:
    """See all lanes of the roads of which one is seen."""
    n = sim.network.n_road_lanes
    road_of = sim.network.arrays.lanes.road[:n]
    some = np.zeros(sim.network.n_roads, np.bool_)
    some[road_of[seen[:n]]] = True
    seen[:n] |= some[road_of]


def _follow(sim: "Sim", seen: Mask, along: NDArray[np.int64], fro: Any, to: Any, most: int) -> None:
    """See on along some connectors, so many in a row; with all lanes of the roads that they lead to."""
    n = sim.network.n_road_lanes
    for _ in range(most):
        there = along[seen[fro[along]]]
        new = there[~(seen[n + there] & seen[to[there]])]
        if not new.size:
            return
        seen[n + new] = True
        seen[to[new]] = True
        _whole_roads(sim, seen)


def _add_rings(sim: "Sim", seen: Mask, connectors: NDArray[np.int64], own: Mask) -> None:
    """See all of the small roundabouts that some connectors enter, or on which one changes lane here, and
    the roads by which one leaves; of the latter who has a grant to enter, too."""
    net, n, grants = sim.network.arrays, sim.network.n_road_lanes, sim.grants
    fro, to = net.connectors.from_lane, net.connectors.to_lane
    round_it = np.flatnonzero(grants.on_ring[fro] & grants.on_ring[to])
    ring = np.zeros(sim.network.n_lanes, np.bool_)
    beside = net.roads.lane_count[net.lanes.road[:n]] > 1
    ring[:n] = own[:n] & grants.on_ring[:n] & beside
    _follow(sim, ring, round_it, fro, to, sim.network.n_lanes)
    entries = np.flatnonzero(grants.ring_entry)
    seen[fro[entries[ring[to[entries]]]]] = True
    ring[to[connectors[grants.ring_entry[connectors]]]] = True
    if not ring.any():
        return
    _whole_roads(sim, ring)
    _follow(sim, ring, round_it, fro, to, sim.network.n_lanes)
    ring[n:] |= ring[fro] | ring[to]
    leaving = np.flatnonzero(ring[fro])
    out = ring.copy()
    out[to[leaving]] = True
    for _ in range(PATH):  # up to a lane on which one can stand
        short = np.flatnonzero(out[fro] & (net.lanes.length[fro] < 2.0 * LONGEST_VEHICLE))
        before = out.sum()
        out[n + short] = True
        out[to[short]] = True
        if out.sum() == before:
            break
    seen |= out


def _add_detectors(sim: "Sim", seen: Mask, own: Mask) -> None:
    """See the lanes on which detectors of own signals lie."""
    act, net, n = sim.actuation, sim.network.arrays, sim.network.n_road_lanes
    signal = net.connectors.signal
    mine = np.zeros(net.signals.cycle.size, np.bool_)
    mine[signal[own[n:] & (signal >= 0)]] = True
    phase = np.repeat(mine, np.diff(net.signals.phase_start))
    seen[act.lane[act.watch[np.repeat(phase, np.diff(act.watch_start))]]] = True


def _add_queues(sim: "Sim", seen: Mask, inside: Mask) -> None:
    """See the lanes before those that are too short for the queue before a signal."""
    net = sim.network.arrays
    fro, to = net.connectors.from_lane, net.connectors.to_lane
    at = np.zeros(sim.network.n_lanes, np.bool_)
    at[fro[inside & (net.connectors.signal >= 0)]] = True
    for _ in range(JOINTS + 1):
        short = at[to] & (net.lanes.length[to] < SHORT)
        at[fro[short]] = True
    seen |= at


def _metres(sim: "Sim", lanes: Mask, begin: Floats, most: float, fro: Any, to: Any) -> Floats:
    """Metres from the end of each lane on to where some lanes begin, (n_lanes,), and by how much more
    each of these begins with; inf beyond `most`, and for these lanes themselves.

    fro, to: lanes of the connectors; changed round, it is from the start of each back to where some end.
    """
    n, length = sim.network.n_road_lanes, sim.network.arrays.lanes.length
    far = np.full(sim.network.n_lanes, np.inf)
    while True:
        before = far.copy()
        far[n:] = np.minimum(far[n:], np.where(lanes, begin, far + length)[to])
        np.minimum.at(far, fro, np.where(lanes[n:], begin[n:], far[n:] + length[n:]))
        far[far > most] = np.inf
        if (far == before).all():
            far[lanes] = np.inf
            return far
