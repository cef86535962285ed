"""Whose is what: the parts of all ranks, what each sees of the others', and what it is told of it."""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.routing.way_ahead import SIGHT as PLANNED_TO
from rushhour.roadnets.facts import Part
from rushhour.roadnets.model import Network
from rushhour.traffic.ranks.messages import told_by_all
from rushhour.traffic.ranks.parts import distances, divide, facts, groups_of, owners

if TYPE_CHECKING:
    from rushhour.traffic.sim.sim import Sim

SIGHT: Final = 3  # times what a driver sees: those who decide before it see as far themselves
LEAST_HALO: Final = 300.0  # m
SEES: Final = 8.0  # s of the fastest road that a driver sees ahead, and braking beside
BRAKING: Final = 3.0  # m/s^2
COMPARED_TO: Final = 30.0  # m beyond the own part
Places = NDArray[np.int64]


class Kept(NamedTuple):
    """Of what a rank remembers from frame to frame the numbers of what somebody is told."""

    exits: Places  # road lanes, for what is promised on them
    lanes: Places  # road lanes, for what is asked of those on them
    connectors: Places
    groups: Places
    roads: Places  # rows of the roads of several lanes
    near: NDArray[np.bool_]  # (n_lanes,), of signals and detectors those there
    rank: int  # whose they are


class Neighbour(NamedTuple):
    """Another rank that sees this one's part, or whose part this one sees."""

    rank: int
    near: NDArray[np.bool_]  # (n_lanes,) lanes whose vehicles it steps: its own, and its halo
    near_road: NDArray[np.bool_]  # (n_roads,)
    sent: Kept
    got: Kept
    loads_sent: Places  # lanes beyond its halo on which this rank's vehicles may be
    loads_got: Places


class Division(Part):
    """The part of this rank, and its neighbours. halo: m; None: as far as drivers see."""

    def __init__(self, sim: "Sim", comm: Any, halo: float | None) -> None:
        network, rank = sim.network, int(comm.rank)
        group = comm.bcast(  # every rank comes to the same; so that nothing hangs on it
            divide(network, sim.demand, comm.size) if rank == 0 else None
        )
        self.network = network
        self.several = sim.awake.several
        self.who = owners(network, group)
        self.facts = facts(network, self.who, comm.size)
        self.own = self.who.lane == rank
        self.halo = width_of_halo(network) if halo is None else halo
        self.near = distances(network, self.own, self.halo) < np.inf
        # Drivers choose among connectors by the loads of lanes so far ahead.
        wide = distances(network, self.near, PLANNED_TO) < np.inf
        self.loads = np.flatnonzero(wide & ~self.near)
        # On others' lanes, m from the start, up to where copies are compared with what owners send.
        self.compared = np.zeros(network.n_lanes)
        n, arrays = network.n_road_lanes, network.arrays
        self.compared[:n][self.who.exit == rank] = COMPARED_TO
        self.compared[n:][self.own[arrays.connectors.to_lane]] = np.inf
        self.compared[self.own] = 0.0
        whole = (np.uint64(1) << arrays.roads.lane_count.astype(np.uint64)) - np.uint64(1)
        self.foreign = np.where(self.who.road == rank, np.uint64(0), whole)
        self.roads_of = [np.flatnonzero(self.who.road == r) for r in range(comm.size)]
        self.all = self.kept(rank, np.ones(network.n_lanes, np.bool_))
        self.all_of = [self.kept(r, self.all.near) for r in range(comm.size)]
        self.neighbours = self._neighbours(comm)

    def _neighbours(self, comm: Any) -> list[Neighbour]:
        seen = told_by_all(comm, np.flatnonzero(self.near))
        planned = told_by_all(comm, self.loads)
        found, n = [], self.network.n_lanes
        roads, road = self.network.arrays.roads.first_lane, self.who.lane
        for r in range(comm.size):
            if r == comm.rank:
                continue
            near, loads = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
            near[seen[r]] = True
            loads[planned[r]] = True
            mine = np.zeros(n, np.bool_)
            mine[self.loads] = True
            sent, got = self.kept(comm.rank, near), self.kept(r, self.near)
            loads_sent = np.flatnonzero(loads & self.near)
            loads_got = np.flatnonzero(mine & near)
            ties = (sent.exits, sent.connectors, got.exits, got.connectors, loads_sent, loads_got)
            if (
                any(each.size for each in ties)
                or (near & self.own).any()
                or self.near[road == r].any()
            ):
                found.append(Neighbour(r, near, near[roads], sent, got, loads_sent, loads_got))
        return found

    def kept(self, rank: int, near: NDArray[np.bool_]) -> Kept:
        """What a rank remembers there."""
        net, n, who = self.network.arrays, self.network.n_road_lanes, self.who
        group_of = groups_of(net)
        group = np.zeros(who.group.size, np.bool_)
        group[group_of[net.connectors.intersection[near[n:]]]] = True
        road = near[net.roads.first_lane[self.several]]
        mine = who.lane == rank
        return Kept(
            exits=np.flatnonzero((who.exit == rank) & near[:n]),
            lanes=np.flatnonzero(mine[:n] & near[:n]),
            connectors=np.flatnonzero(mine[n:] & near[n:]),
            groups=np.flatnonzero((who.group == rank) & group),
            roads=np.flatnonzero((who.road[self.several] == rank) & road),
            near=near,
            rank=rank,
        )  # fmt: skip


def width_of_halo(network: Network) -> float:
    """How far beyond its part a rank must step copies, m."""
    fastest = float(network.arrays.lanes.speed.max(initial=0.0))
    seen = SEES * fastest + fastest * fastest / (2.0 * BRAKING)
    return max(LEAST_HALO, SIGHT * seen)
