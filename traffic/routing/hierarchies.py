"""Contraction hierarchies of road graphs: where they pay, building them, searching on them."""

from typing import Any, Final

import numba
import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.routing.astar import RoadGraph
from rushhour.kernels.routing.contraction import (
    Hierarchy,
    Links,
    Meeting,
    Ordering,
    climb_all,
    contract,
    link_turns,
    weigh_nodes,
)
from rushhour.roadnets.model import Network
from rushhour.traffic.routing.road_graph import road_graph

FEWEST_NODES: Final = 4000  # open ones; below, a search looks at so few that nothing is gained
FEWEST_PAIRS: Final = 1000  # building costs as much as that many searches, or fewer
SPARE: Final = 2  # shortcuts by turn that there is room for at first
AT_ONCE: Final = 4096  # nodes contracted between two looks at the progress bar
NEAR: Final = 4096  # entries of the heap of a search for witnesses


def hierarchy_if_it_pays(network: Network, permission: int, pairs: int) -> Hierarchy | None:
    """The hierarchy of a class's road graph where so many pairs are worth one, None where not.

    Decided by counts alone, and not by whether it was built before: where several ways are equally
    cheap it may take another than A*, and a run must not depend on what was done before it.
    """
    graph = road_graph(network, permission)
    nodes = np.count_nonzero(np.isfinite(graph.cost[graph.road_of]))
    if nodes < FEWEST_NODES or pairs < FEWEST_PAIRS:
        return None
    key = ("hierarchy", permission)
    if key not in network.derived:
        network.derived[key] = build_hierarchy(graph)
    known: Hierarchy = network.derived[key]
    return known


def build_hierarchy(graph: RoadGraph) -> Hierarchy:
    """Contract all nodes of a graph; a bar on stderr says how far it is."""
    from tqdm.auto import tqdm

    k = graph.road_of.size
    links = _links(graph)
    work = _ordering(k)
    with tqdm(
        total=k, desc="ordering roads", unit=" roads", delay=1.0, leave=False, disable=None
    ) as bar:
        weigh_nodes(links, work)
        while work.left[0] > 0:
            if not contract(links, work, AT_ONCE):
                links = _with_room(links)
            bar.update(k - int(work.left[0]) - bar.n)
    return _hierarchy(graph, links, work.place)


def _links(graph: RoadGraph) -> Links:
    """The graph's turns as links."""
    k, room = graph.road_of.size, (1 + SPARE) * graph.out.size + 1
    source, target, first, second, next_out, next_in = np.zeros((6, room), np.int32)
    out, into = np.full((2, k), -1, np.int32)
    links = Links(
        source, target, np.zeros(room), first, second, next_out, next_in, out, into,
        np.zeros(1, np.int32),
    )  # fmt: skip
    link_turns(graph, links)
    return links


def _with_room(links: Links) -> Links:
    """The same links with room for twice as many."""
    size = links.source.size

    def longer(old: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate((old, np.zeros(size, old.dtype)))

    return links._replace(
        source=longer(links.source), target=longer(links.target), cost=longer(links.cost),
        first=longer(links.first), second=longer(links.second),
        next_out=longer(links.next_out), next_in=longer(links.next_in),
    )  # fmt: skip


def _ordering(k: int) -> Ordering:
    return Ordering(
        place=np.full(k, -1, np.int32),
        gone=np.zeros(k, np.int32),
        heap_key=np.zeros(k + 1),
        heap_node=np.zeros(k + 1, np.int32),
        left=np.zeros(1, np.int32),
        cost=np.zeros(k),
        seen=np.zeros(k, np.int64),
        stamp=np.zeros(1, np.int64),
        near_key=np.zeros(NEAR),
        near_node=np.zeros(NEAR, np.int32),
    )


def _hierarchy(graph: RoadGraph, links: Links, place: NDArray[np.int32]) -> Hierarchy:
    """What a search needs of contracted nodes and their links."""
    k, n, used = place.size, graph.cost.size, int(links.used[0])
    source, target = place[links.source[:used]], place[links.target[:used]]
    rises = target < source
    low, high = np.where(rises, source, target), np.where(rises, target, source)
    side = np.where(rises, 0, 1)
    by_place = np.lexsort((high, low, side)).astype(np.int32)
    running = np.searchsorted((side * np.int64(k) + low)[by_place], np.arange(2 * k + 1))
    by_road = np.argsort(graph.road_of, kind="stable")
    return Hierarchy(
        place=place,
        goal_start=np.searchsorted(graph.road_of[by_road], np.arange(n + 1)).astype(np.int32),
        goal_place=place[by_road],
        arc_start=np.stack((running[: k + 1], running[k:])).astype(np.int32),
        arc_end=high[by_place].astype(np.int32),
        arc_cost=links.cost[:used][by_place],
        arc_link=by_place,
        first=links.first[:used].copy(),
        second=links.second[:used].copy(),
    )


class Stairs:
    """Working arrays for searches on a hierarchy, one chunk per thread; called for each batch."""

    def __init__(self, graph: RoadGraph, hierarchy: Hierarchy, pairs: int) -> None:
        self.graph, self.hierarchy = graph, hierarchy
        chunks, k = max(1, min(numba.get_num_threads(), pairs)), hierarchy.place.size
        entries = hierarchy.arc_end.size + k
        self.stamp = 1  # larger than any that the arrays hold
        self.room = Meeting(
            cost=np.zeros((chunks, 2, k)),
            seen=np.zeros((chunks, 2, k), np.int64),
            arc=np.zeros((chunks, 2, k), np.int32),
            came=np.zeros((chunks, 2, k), np.int32),
            heap_key=np.zeros((chunks, 2, entries)),
            heap_node=np.zeros((chunks, 2, entries), np.int32),
            stack=np.zeros((chunks, 2 * k + 2), np.int32),
            looked_at=np.zeros(chunks, np.int32),
        )

    def search(
        self,
        starts: NDArray[np.int32],
        goals: NDArray[np.int32],
        ways: NDArray[np.int32],
        length: NDArray[np.int32],
        cost: NDArray[np.float64],
        closed: NDArray[np.int32],
    ) -> None:
        """Write the ways of a batch; see `climb_all`."""
        climb_all(
            self.graph, self.hierarchy, self.room, self.stamp, starts, goals, ways, length, cost,
            closed,
        )  # fmt: skip
        self.stamp += starts.size
