"""Probes of rows S3-1, S3-2 and S3-4 to S3-9 of docs/seed-systems.md: navmesh, lanes and ways of maps.

The maps are Krems and windows of OpenStreetMap extracts cut by seed. `seed_systems.py` calls them.
"""

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from chase_roads import window
from numpy.typing import NDArray

import rushhour as rh
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.model import Network
from rushhour.traffic.routing.road_graph import road_graph
from rushhour.traffic.routing.routes import find_ways, route_trips

Seen = tuple[bool, str]


@cache
def map_of(seed: int, data: Path) -> Network:
    """The window of a seed of bench/chase_roads.py."""
    return window(seed, data)


def navmesh_probe(data: Path) -> Seen:
    """The ground of windows 9300 (Krems) and 9301 (Columbus): triangles, their union, chains of segments."""
    import shapely

    cells = pairs = wrong = broken = roads = 0
    twice, along = 0.0, []
    for seed in (9300, 9301):
        network = map_of(seed, data)
        mesh = rh.chase.build_navmesh(network)
        c = mesh.cells
        corner = np.stack((c.x, c.y), axis=-1)
        a, e = np.nonzero(c.neighbour >= 0)
        other = c.neighbour[a, e]
        back = c.neighbour[other] == a[:, None]
        f = back.argmax(axis=1)
        wrong += int((~back.any(axis=1)).sum())
        wrong += int((corner[a, e] != corner[other, (f + 1) % 3]).any(axis=1).sum())
        pairs, cells = pairs + len(a), cells + len(mesh)
        shapes = shapely.polygons(corner)
        twice = max(twice, float(shapely.area(shapes).sum() / shapely.union_all(shapes).area - 1.0))
        wrong += int((~np.isin(c.kind, [0, 1, 2])).sum())
        adjacent: dict[int, set[int]] = {}
        for p, q in mesh.adjacent().tolist():
            adjacent.setdefault(p, set()).add(q)
            adjacent.setdefault(q, set()).add(p)
        for road in range(network.n_roads):
            mine = np.flatnonzero((mesh.kind == 0) & (mesh.owner == road))
            if mine.size == 0:
                continue
            roads += 1
            broken += int(not _is_chain(mesh, mine, adjacent))
            first = int(network.arrays.roads.first_lane[road])
            line = shapely.LineString(network.lane_points(first)[:, :2])
            if line.length < 20.0:
                continue
            at = shapely.get_coordinates(
                shapely.line_interpolate_point(line, np.linspace(5, line.length - 5, 40))
            )
            found = mesh.cell_at(*at.T)
            own = (
                (found >= 0)
                & (mesh.owner[mesh.face[found]] == road)
                & (mesh.kind[mesh.face[found]] == 0)
            )
            along.append((own.mean(), (np.diff(mesh.segment[mesh.face[found[own]]]) >= 0).all()))
    own, forward = np.array(along, float).T
    ok = wrong == 0 and twice < 1e-4 and own.mean() > 0.9 and forward.mean() > 0.98 and broken == 0
    return bool(ok), (
        f"{cells:,} triangles, {wrong} of {pairs:,} edges wrong, ground counted twice {max(twice, 0.0):.4%}; of {roads} roads "
        f"{broken} are no chain of adjacent segments (the road across them between, where roads cross), {own.mean():.0%} of their lanes lie on their own polygons, {forward.mean():.1%} go on from "
        "each segment to the next"
    )


def _is_chain(
    mesh: rh.chase.Navmesh, mine: NDArray[np.intp], adjacent: dict[int, set[int]]
) -> bool:
    """Whether faces of a road are adjacent one to the next, or by the ground of a road across them."""
    faces = set(mine.tolist())
    seen, todo = {int(mine[0])}, [int(mine[0])]
    while todo:
        face = todo.pop()
        for other in adjacent.get(face, ()):
            near, across, beyond = set(), {other}, {other}
            for _ in range(3):  # both directions of a road, and its intersection, may lie between
                near |= across & faces
                across = {
                    k for f in across - faces if mesh.kind[f] != 2 for k in adjacent.get(f, ())
                } - beyond
                beyond |= across
            for k in (near | (across & faces)) - seen:
                seen.add(k)
                todo.append(k)
    left = [k for k in faces - seen if mesh.polygon[k].area > 1.0]
    numbers = set(mesh.segment[mine].tolist())
    return not left and numbers == set(range(len(numbers)))


def connectors_probe(data: Path) -> Seen:
    """Windows 9300 - 9302 (Krems, Columbus, Porto): where lanes branch, ends of connectors, and how they bend."""
    off, elsewhere, branches, count = 0.0, 0, 0, 0
    kinks: list[float] = []
    for seed in (9300, 9301, 9302):
        n = map_of(seed, data)
        c, lanes, roads = n.arrays.connectors, n.arrays.lanes, n.arrays.roads
        for k in range(n.n_connectors):
            shape = n.lane_points(n.n_road_lanes + k)[:, :2]
            a, b = (n.lane_points(int(lane))[:, :2] for lane in (c.from_lane[k], c.to_lane[k]))
            off = max(
                off, float(np.hypot(*(shape[0] - a[-1]))), float(np.hypot(*(shape[-1] - b[0])))
            )
            here = int(c.intersection[k])
            elsewhere += int(roads.to_intersection[lanes.road[c.from_lane[k]]] != here)
            elsewhere += int(roads.from_intersection[lanes.road[c.to_lane[k]]] != here)
            d = [
                v[np.hypot(*v.T) > 1e-6]
                for v in (np.diff(a, axis=0), np.diff(shape, axis=0), np.diff(b, axis=0))
            ]
            way = np.vstack((d[0][-1:], d[1], d[2][:1]))
            turn = np.degrees(np.abs(np.diff(np.unwrap(np.arctan2(way[:, 1], way[:, 0])))))
            kinks.append(float(turn.max(initial=0.0)))
            count += 1
        branches += int((np.diff(lanes.out_start) > 1).sum())
    kink = np.quantile(kinks, (0.5, 0.99))
    return off < 0.011 and elsewhere == 0 and branches > 100 and kink[1] < 20.0, (
        f"{count} connectors end within {off:.3f} m of their lanes, {elsewhere} not at the intersection of their roads; {branches} "
        f"lanes branch, there only; sharpest bend from point to point {kink[0]:.0f} degrees in the middle, 99 of 100 below {kink[1]:.0f}"
    )


def routes_probe(data: Path) -> Seen:
    """300 pairs in window 9302 (Porto), plain, with dear and closed roads, and varied: costs by scipy's Dijkstra."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import dijkstra

    network, rng = map_of(9302, data), np.random.default_rng(9306)
    graph = road_graph(network, CLASS_BIT["passenger"])
    n = graph.cost.size
    usable = np.flatnonzero(np.isfinite(graph.cost[: network.n_roads])).astype(np.int32)
    a, b = rng.choice(usable, 300), rng.choice(usable, 300)
    source = np.repeat(np.arange(n), np.diff(graph.out_start))
    worst, closed, saved = 0.0, 0, []
    for dear in (False, True):
        factor = np.ones(n)
        if dear:
            factor = rng.uniform(1.0, 4.0, n)
            factor[rng.choice(n, n // 20, replace=False)] = np.inf
        price = graph.turn_cost + graph.cost[graph.out] * factor[graph.out]
        good = np.isfinite(price)
        ends = (source[good], graph.out[good])
        brute = dijkstra(
            coo_matrix((np.maximum(price[good], 1e-12), ends), (n, n)).tocsr(), indices=a
        )
        wanted = brute[np.arange(300), b]
        found = find_ways(graph, a, b, multipliers=factor if dear else None)
        same = np.isfinite(wanted) == np.isfinite(found.cost)
        both = np.isfinite(wanted) & np.isfinite(found.cost)
        worst = max(
            worst, float(np.abs(found.cost[both] - wanted[both]).max()), float((~same).sum())
        )
        if dear:
            closed = sum(
                int(np.isinf(factor[found.roads[p + 1 : q]]).sum())
                for p, q in pairwise(found.start)
            )
        else:
            blind = find_ways(graph, a, b, estimate=False)
            saved.append(found.closed.sum() / blind.closed.sum())
            plain = found.cost
    ways = [route_trips(network, a, b, randomness=0.4, seed=s) for s in (9308, 9308, 9309)]
    again = bool(np.array_equal(ways[0].roads, ways[1].roads))
    other = sum(
        not np.array_equal(ways[0].roads[p:q], ways[2].roads[r:s])
        for (p, q), (r, s) in zip(pairwise(ways[0].start), pairwise(ways[2].start), strict=True)
    )
    both = np.isfinite(plain) & (plain > 0)
    longer = float((ways[0].cost[both] / plain[both]).max())
    return worst < 1e-6 and closed == 0 and saved[
        0
    ] <= 1.0 and again and other > 20 and longer <= 1.4 + 1e-9, (
        f"costs off by {worst:.0e} s at most, {closed} closed roads driven, roads looked at {saved[0]:.0%} of Dijkstra's; the same "
        f"seed the same ways, another seed {other} of 300 others, at most {longer:.2f} times as dear"
    )


PROBES: Final[dict[Callable[[Path], Seen], tuple[str, ...]]] = {
    navmesh_probe: ("S3-1", "S3-2"),
    connectors_probe: ("S3-4", "S3-9"),
    routes_probe: ("S3-5", "S3-6", "S3-7", "S3-8"),
}
