"""A city with its own demand, everybody steered: violations, travel times, and how bodies keep to their lanes.

python bench/steered_city.py [--data DIR] [--scenario acosta] [--steered 0 0.1 1] [--minutes 90] [--json FILE]

Runs the scenario once for each share, from the first departure until everybody has arrived (or so
many minutes), with the checker of `rushhour run --check`. Every third of a second it looks at all
bodies that steer:
  beside their lane   on a road's lane, the front further from its middle than (lane width - vehicle
                      width) / 2, not in a change of lane and not passing somebody
  outside             on a connector, a corner of the outline outside its intersection: the convex
                      hull of the mouths of its lanes (the last and first MOUTH m) and of its
                      connectors; corners of a rear that is still further back are not looked at,
                      nor bodies in a change of lane; by whether the body steers or is towed
and every five seconds at the outlines of everybody (`overlaps.py`).
"""

import argparse
import json
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from overlaps import CHANGE, DEEP, outlines_of, relation, touching
from scenarios import DATA_HELP, SCENARIOS, data_base, scenario_files
from world_trips import trip_means
from worlds import opened_world

from rushhour.traffic.checker import Checker
from rushhour.traffic.world import World

LOOK = 1.0 / 3.0  # s between two looks at the bodies
LOOK_PAIRS = 5.0  # s between two looks at pairs
MOUTH = 15.0  # m of a lane beyond its line that belong to the intersection
LONGEST = 6 * 3600.0  # s, after which a run is given up


def hull(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Corners of the convex hull of (n, 2) points, counter-clockwise (monotone chain)."""
    order = points[np.lexsort((points[:, 1], points[:, 0]))]

    def half(rows: NDArray[np.float64]) -> list[Any]:
        found: list[Any] = []
        for p in rows:
            while len(found) > 1:
                (ax, ay), (bx, by) = found[-2], found[-1]
                if (bx - ax) * (p[1] - ay) - (by - ay) * (p[0] - ax) > 0.0:
                    break
                found.pop()
            found.append(p)
        return found[:-1]

    return np.array(half(order) + half(order[::-1]))


def edges_of_lane(world: World, lane: int, first: float, last: float) -> NDArray[np.float64]:
    """Points on both edges of a lane between two places, m from its start."""
    network = world.network
    a, b = network.point_start[lane], network.point_start[lane + 1]
    points, station = network.points[a:b], network.station[a:b]
    s = np.unique(np.clip(np.append(station, (first, last)), first, last))
    at = np.column_stack([np.interp(s, station, points[:, c]) for c in (0, 1)])
    way = np.gradient(at, axis=0) if len(at) > 1 else np.diff(points[:2], axis=0)
    way /= np.maximum(1e-9, np.hypot(way[:, 0], way[:, 1]))[:, None]
    across = 0.5 * network.arrays.lanes.width[lane] * np.column_stack([-way[:, 1], way[:, 0]])
    return np.concatenate([at + across, at - across])


def intersection_hulls(world: World) -> list[NDArray[np.float64]]:
    """The convex hull of every intersection's mouths and connectors; empty where it has none."""
    network = world.network
    net, n = network.arrays, network.n_road_lanes
    points: list[list[NDArray[np.float64]]] = [[] for _ in network.intersection_ids]
    for k in range(network.n_connectors):
        at = points[net.connectors.intersection[k]]
        before, after = int(net.connectors.from_lane[k]), int(net.connectors.to_lane[k])
        length = float(net.lanes.length[before])
        at.append(edges_of_lane(world, n + k, 0.0, float(net.lanes.length[n + k])))
        at.append(edges_of_lane(world, before, max(0.0, length - MOUTH), length))
        at.append(edges_of_lane(world, after, 0.0, min(MOUTH, float(net.lanes.length[after]))))
    return [hull(np.concatenate(found)) if found else np.zeros((0, 2)) for found in points]


def corners(outline: NDArray[np.float64]) -> NDArray[np.float64]:
    """Corners of an outline (x, y of the middle, heading, length, width), the front ones first."""
    x, y, heading, length, width = outline
    ahead = 0.5 * length * np.array([np.cos(heading), np.sin(heading)])
    left = 0.5 * width * np.array([-np.sin(heading), np.cos(heading)])
    return np.array([x, y]) + np.stack([ahead + left, ahead - left, -ahead - left, left - ahead])


def beyond(corner: NDArray[np.float64], shape: NDArray[np.float64]) -> float:
    """How far the farthest of some points is outside a convex shape, m; negative: all inside."""
    side = np.roll(shape, -1, axis=0) - shape
    side /= np.maximum(1e-9, np.hypot(side[:, 0], side[:, 1]))[:, None]
    apart = corner[:, None] - shape[None]
    return float((apart[..., 0] * side[:, 1] - apart[..., 1] * side[:, 0]).max())


class Watch:
    """What was seen of the bodies of a world so far."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.hulls = intersection_hulls(world)
        self.places = self.beside = self.crossing = 0
        self.outside = {"steers": 0, "towed": 0}
        self.deepest_outside = {"steers": 0.0, "towed": 0.0}
        self.farthest_beside = 0.0
        self.who_beside: set[int] = set()
        self.who_outside: set[int] = set()
        self.pairs: dict[tuple[int, int], tuple[str, float]] = {}

    def look(self) -> None:
        """Look at all bodies that steer."""
        world = self.world
        veh, st, net = world.sim.veh, world.steering.state, world.network.arrays
        n = world.network.n_road_lanes
        slots = np.flatnonzero((veh.lane[: st.tier.size] >= 0) & (st.tier > 0))
        lane = veh.lane[slots]
        width = np.array([kind.width for kind in world.demand.types])[veh.type[slots]]
        changed = (world.frame - veh.change_frame[slots]) * world.dt < CHANGE
        free = (
            (lane < n) & ~changed & (veh.around[slots] == 0) & (np.abs(veh.lateral[slots]) < 0.01)
        )
        aside = np.abs(veh.lateral[slots] + st.astray[slots])
        bad = free & (aside > 0.5 * (net.lanes.width[lane] - width) + 1e-9)
        self.places += int(free.sum())
        self.beside += int(bad.sum())
        self.who_beside.update(veh.id[slots[bad]].tolist())
        self.farthest_beside = max(self.farthest_beside, float(np.max(aside[free], initial=0.0)))
        inside = slots[(lane >= n) & ~changed]
        self.crossing += inside.size
        if not inside.size:
            return
        everybody, outlines = outlines_of(world)
        row = {int(slot): r for r, slot in enumerate(everybody)}
        for i in inside.tolist():
            at = int(net.connectors.intersection[veh.lane[i] - n])
            rear = veh.s[i] - outlines[row[i], 3]
            mouth = min(MOUTH, float(net.lanes.length[net.connectors.from_lane[veh.lane[i] - n]]))
            seen = corners(outlines[row[i]])[: 4 if rear >= -mouth else 2]
            over = beyond(seen, self.hulls[at])
            if over > DEEP:
                how = "towed" if st.towed[i] else "steers"
                self.outside[how] += 1
                self.who_outside.add(int(veh.id[i]))
                self.deepest_outside[how] = max(self.deepest_outside[how], over)

    def look_at_pairs(self) -> None:
        """Look at the outlines of everybody, for pairs that overlap."""
        slots, outlines = outlines_of(self.world)
        for a, b, deep in touching(outlines):
            i, j = int(slots[a]), int(slots[b])
            one, other = sorted((int(self.world.sim.veh.id[i]), int(self.world.sim.veh.id[j])))
            what, deepest = self.pairs.get((one, other), (relation(self.world, i, j), 0.0))
            self.pairs[one, other] = what, max(deep, deepest)


def steered_city(name: str, share: float, minutes: float, base: Path) -> dict[str, Any]:
    """One run; see module."""
    task = {**scenario_files(SCENARIOS[name], base), "dt": 1.0 / 30.0, "seed": 0}
    task["parameters"] = {"steered.share": share} if share else {}
    world, _ = opened_world(task)
    checker, watch = Checker(world), Watch(world)
    world.observers.append(checker)
    frames, pairs_every = max(1, round(LOOK / world.dt)), round(LOOK_PAIRS / LOOK)
    start, looks = perf_counter(), 0
    while not world.done and world.time - world.begin < min(LONGEST, 60.0 * minutes):
        world.step(frames)
        watch.look()
        looks += 1
        if looks % pairs_every == 0:
            watch.look_at_pairs()
    by_relation: dict[str, list[float]] = {}
    for what, deep in watch.pairs.values():
        by_relation.setdefault(what, []).append(deep)
    return {
        "scenario": name, "steered": share, **trip_means(world), "violations": checker.violations,
        "wall_s": perf_counter() - start, "simulated_s": world.time - world.begin,
        "vehicle_updates": world.vehicle_updates, "counts": world.counts(), "bodies": world.steered(),
        "places_on_lanes": watch.places, "beside_their_lane": watch.beside,
        "vehicles_beside": len(watch.who_beside), "farthest_beside_m": watch.farthest_beside,
        "places_on_connectors": watch.crossing, "outside": watch.outside,
        "vehicles_outside": len(watch.who_outside), "farthest_outside_m": watch.deepest_outside,
        "pairs": len(watch.pairs), "deeper_than_0.3_m": sum(d > 0.3 for _, d in watch.pairs.values()),
        "pairs_by_relation": {what: len(found) for what, found in sorted(by_relation.items())},
        "deep_by_relation": {
            what: sum(d > 0.3 for d in found) for what, found in sorted(by_relation.items())
        },
    }  # fmt: skip


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, help=DATA_HELP)
    parser.add_argument("--scenario", default="acosta", choices=sorted(SCENARIOS))
    parser.add_argument("--steered", type=float, nargs="+", default=[0.0, 0.1, 1.0], help="shares")
    parser.add_argument("--minutes", type=float, default=360.0, help="simulated, at most")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the same as data")
    given = parser.parse_args()
    rows = []
    for share in given.steered:
        rows.append(steered_city(given.scenario, share, given.minutes, data_base(given.data)))
        print(json.dumps(rows[-1], indent=1), flush=True)
        lane = next((row for row in rows if not row["steered"]), None)
        if lane is not None and share:
            more = rows[-1]["mean_travel_time_s"] / lane["mean_travel_time_s"] - 1.0
            print(f"mean travel time against the LANE tier: {100.0 * more:+.1f} %", flush=True)
        if given.json:
            given.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
