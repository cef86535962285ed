"""Ways over roads for tests: drawn at random, banned, priced."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from rushhour.roadnets.banned import Banned


def with_banned(network, ways):
    """The network with these sequences of roads banned too."""
    sizes = np.cumsum([0, *map(len, ways)]).astype(np.int32)
    roads = np.array([road for way in ways for road in way], np.int32)
    return replace(network, banned=Banned(sizes, roads), derived={})


def drawn_ways(graph, draw, count: int, longest: int = 5) -> list[tuple[int, ...]]:
    """Random walks over connected roads; many share beginnings or run into each other."""
    found: list[tuple[int, ...]] = []
    while len(found) < count:
        size = int(draw.integers(3, longest + 1))
        grow = bool(found) and draw.random() < 0.5  # from within another one
        other = found[int(draw.integers(len(found)))] if grow else ()
        way = list(other[int(draw.integers(1, 3)) :]) or [int(draw.integers(graph.cost.size))]
        while len(way) < size:
            after = graph.out[graph.out_start[way[-1]] : graph.out_start[way[-1] + 1]]
            if not after.size:
                break
            way.append(int(draw.choice(after)))
        if len(way) >= size:
            found.append(tuple(way[:size]))
    return found


def price(graph, way) -> float:
    """Cost of a way without its first road; fails where it is not connected. graph: without states."""
    total = 0.0
    for a, b in pairwise(way):
        (e,) = (e for e in range(graph.out_start[a], graph.out_start[a + 1]) if graph.out[e] == b)
        total += graph.turn_cost[e] + graph.cost[b]
    return total
