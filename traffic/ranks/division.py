"""Whose is what: the parts of all ranks, what each sees of the others', and what it is told of it."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.halos import Sight
from rushhour.kernels.core.order import BLOCK
from rushhour.kernels.core.vehicles import PATH
from rushhour.kernels.routing.way_ahead import SIGHT as PLANNED_TO
from rushhour.roadnets.facts import Part
from rushhour.roadnets.model import Network
from rushhour.traffic.ranks.messages import told_by_all
from rushhour.traffic.ranks.parts import distances, divide, facts, groups_of, owners
from rushhour.traffic.ranks.sight import groups_to_run, sight

if TYPE_CHECKING:
    from rushhour.traffic.sim.sim import Sim

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
    sight: Sight  # what it sees
    near_road: NDArray[np.bool_]  # (n_roads,) it sees some of it
    sent: Kept
    got: Kept
    loads_sent: Places  # lanes that it does not see all of, on which this rank's vehicles may be
    loads_got: Places
    asks_sent: (
        Places  # road lanes that it comes to without a line, on which somebody may ask to be let in
    )
    asks_got: Places


class Division(Part):
    """The part of this rank, and its neighbours. now: see `divide`. parts: of a `Domain`."""

    def __init__(
        self, sim: "Sim", comm: Any, now: Places | None = None, parts: Places | None = None
    ) -> None:
        network, rank = sim.network, int(comm.rank)
        group = parts
        if group is None:
            group = comm.bcast(  # every rank comes to the same; so that nothing hangs on it
                divide(network, sim.demand, comm.size, now) if rank == 0 else None
            )
        self.network = network
        self.several = sim.awake.several
        self.who = owners(network, group)
        self.facts = facts(network, self.who, comm.size)
        self.own = self.who.lane == rank
        self.own_roads = (self.who.road == rank)[self.several]
        self.runs = groups_to_run(sim, self.own, self.who.group == rank)
        self.sight = sight(sim, self.own, self.runs, groups_of(network.arrays))
        self.near = np.isinf(self.sight.start)  # lanes that are seen whole
        self.near_road = roads_seen(network, self.sight)
        here = self.own | some_of(self.sight)  # lanes on which anybody may be
        opposite = sim.grants.opposite[here[: network.n_road_lanes]]
        here[opposite[opposite >= 0]] = True
        self.blocks = blocks_of(here)
        # Drivers choose among connectors by the loads of lanes so far ahead.
        wide = distances(network, self.near, PLANNED_TO) < np.inf
        self.loads = np.flatnonzero(wide & ~self.near)
        whole = (np.uint64(1) << network.arrays.roads.lane_count.astype(np.uint64)) - np.uint64(1)
        self.foreign = np.where(self.who.road == rank, np.uint64(0), whole)
        self.roads_of = by_rank(self.who.road, comm.size)
        self.all_of = self._all_kept(comm.size)
        self.neighbours = self._neighbours(comm)
        self.border = np.zeros(
            network.n_lanes, np.bool_
        )  # lanes on which a neighbour sees somebody
        for each in self.neighbours:
            self.border |= some_of(each.sight)
            self.border[each.loads_sent] = True

    def _neighbours(self, comm: Any) -> list[Neighbour]:
        some = np.flatnonzero(some_of(self.sight))
        lanes = told_by_all(comm, some)
        metres = told_by_all(comm, np.stack([each[some] for each in self.sight], axis=1))
        planned = told_by_all(comm, self.loads)
        found, n = [], self.network.n_lanes
        road = self.who.lane
        comes_here = comes_to(self.network, self.own)
        near_of = [at[np.isinf(far[:, 0])] for at, far in zip(lanes, metres, strict=True)]
        for r in self._tied(comm, lanes, near_of, planned):
            theirs = Sight(*(np.zeros(n) for _ in Sight._fields))
            for each, values in zip(theirs, metres[r].T, strict=True):
                each[lanes[r]] = values
            near, loads = np.isinf(theirs.start), np.zeros(n, np.bool_)
            loads[planned[r]] = True
            mine = np.zeros(n, np.bool_)
            mine[self.loads] = True
            asks_sent = np.flatnonzero(self.own & comes_to(self.network, road == r))
            asks_got = np.flatnonzero((road == r) & comes_here)
            sent, got = self.kept(comm.rank, near), self.kept(r, self.near)
            loads_sent = np.flatnonzero(loads & self.near)
            loads_got = np.flatnonzero(mine & near)
            near_road = roads_seen(self.network, theirs)
            found.append(
                Neighbour(
                    r, theirs, near_road, sent, got, loads_sent, loads_got, asks_sent, asks_got
                )
            )
        return found

    def _tied(
        self, comm: Any, lanes: list[Places], near_of: list[Places], planned: list[Places]
    ) -> list[int]:
        """The ranks that are told something by this one, or tell it, by what each sees, sees whole, and has
        loads of: lists of lanes, so that there may be many ranks and lanes."""
        n, who, rank = self.network.n_road_lanes, self.who, comm.rank
        tied = np.zeros(comm.size, np.bool_)
        tied[who.exit[self.near[:n]]] = True
        tied[who.lane[self.near | some_of(self.sight)]] = True
        loads = np.zeros(self.network.n_lanes, np.bool_)
        loads[self.loads] = True
        mine = self.own | loads
        mine[:n] |= who.exit == rank
        for r in range(comm.size):
            tied[r] |= (
                self.own[lanes[r]].any() or mine[near_of[r]].any() or self.near[planned[r]].any()
            )
        tied[rank] = False
        return [int(r) for r in np.flatnonzero(tied)]

    def _all_kept(self, ranks: int) -> list[Kept]:
        """What each rank remembers anywhere."""
        net, n, who = self.network.arrays, self.network.n_road_lanes, self.who
        there = np.zeros(who.group.size, np.bool_)
        there[groups_of(net)[net.connectors.intersection]] = True
        near = np.ones(self.network.n_lanes, np.bool_)
        of_rank = zip(
            by_rank(who.exit, ranks), by_rank(who.lane[:n], ranks), by_rank(who.lane[n:], ranks),
            by_rank(np.where(there, who.group, ranks), ranks), by_rank(who.road[self.several], ranks),
            strict=True,
        )  # fmt: skip
        return [Kept(*places, near, r) for r, places in enumerate(of_rank)]

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


def blocks_of(lanes: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The blocks in which some lanes are, (n,), ascending."""
    return np.unique(np.flatnonzero(lanes) // BLOCK).astype(np.int32)


def by_rank(owner: Places, ranks: int) -> list[Places]:
    """The places of each rank, ascending; owner: the rank of each place, others than these of none."""
    order = np.argsort(owner, kind="stable")
    ends = np.searchsorted(owner[order], np.arange(ranks + 1))
    return [order[a:b] for a, b in pairwise(ends)]


def comes_to(network: Network, lanes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The road lanes that are come to from some lanes without a line on the way, (n_lanes,)."""
    net, n = network.arrays, network.n_road_lanes
    free = net.connectors.free
    fro, to = net.connectors.from_lane[free], net.connectors.to_lane[free]
    here, found = lanes.copy(), np.zeros(network.n_lanes, np.bool_)
    found[to[lanes[n:][free]]] = True
    for _ in range(PATH):
        found[to[here[fro]]] = True
        here |= found
    return found


def roads_seen(network: Network, sight: Sight) -> NDArray[np.bool_]:
    """The roads of which anything is seen, (n_roads,)."""
    found = np.zeros(network.n_roads, np.bool_)
    there = np.flatnonzero(some_of(sight)[: network.n_road_lanes])
    found[network.arrays.lanes.road[there]] = True
    return found


def some_of(sight: Sight) -> NDArray[np.bool_]:
    """The lanes of which anything is seen, (n_lanes,)."""
    return (sight.start > 0.0) | (sight.end > 0.0) | (sight.first > 0.0)
