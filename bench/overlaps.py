"""Bodies that overlap on the plane: pairs of vehicles whose outlines share a point, by where they are.

python bench/overlaps.py NETWORK --demand FILE [...] [--steered 0 1] [--minutes 20] [--every 5]

The checks of a run go by lane and place; this looks at the outlines that are drawn, in the LANE tier
and with everybody steered, by the same measure. A pair counts once, by where it was seen first:
changing: side by side, one of them less than CHANGE seconds behind a change of lane; beside: side by
side, without; own: on the same lane or one behind the other; fork: out of one lane by two connectors;
merge: into one lane by two; crossing: otherwise inside an intersection; elsewhere: the rest.
"""

import argparse
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from worlds import opened_world

from rushhour.traffic.world import World

CHANGE = 12.0  # s after a change of lane
DEEP = 0.01  # m that two outlines must share to count; less is what rounding draws
CELL = 20.0  # m, longer than any body


def depth(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """How far two outlines (x, y of the middle, heading, length, width) reach into each other, m.

    The least distance by which one must be moved to be clear of the other; negative: they are clear.
    """
    least = np.inf
    for box in (one, other):
        for angle in (box[2], box[2] + 0.5 * np.pi):
            axis = np.array([np.cos(angle), np.sin(angle)])
            reach = 0.0
            for x in (one, other):
                turn = x[2] - angle
                reach += 0.5 * (x[3] * abs(np.cos(turn)) + x[4] * abs(np.sin(turn)))
            least = min(least, reach - abs(float(axis @ (one[:2] - other[:2]))))
    return float(least)


def touching(outlines: NDArray[np.float64]) -> list[tuple[int, int, float]]:
    """Rows of (n, 5) outlines that overlap by more than DEEP, in pairs, and by how much (m)."""
    cells: dict[tuple[int, int], list[int]] = {}
    for row, (i, j) in enumerate(np.floor(outlines[:, :2] / CELL).astype(int).tolist()):
        cells.setdefault((i, j), []).append(row)
    found = []
    for (i, j), rows in cells.items():
        near = [
            b for di in (-1, 0, 1) for dj in (-1, 0, 1) for b in cells.get((i + di, j + dj), ())
        ]
        for a in rows:
            others = np.array([b for b in near if b > a], int)
            apart = np.hypot(*(outlines[others, :2] - outlines[a, :2]).T)
            for b in others[apart < 0.5 * (outlines[others, 3] + outlines[a, 3]) + 3.0].tolist():
                deep = depth(outlines[a], outlines[b])
                if deep > DEEP:
                    found.append((a, b, deep))
    return found


def relation(world: World, i: int, j: int) -> str:
    """Where two vehicles (slots) are to each other; see the module."""
    net, veh = world.network.arrays, world.sim.veh
    n = world.network.n_road_lanes
    a, b = int(veh.lane[i]), int(veh.lane[j])
    ways = [{int(veh.lane[k]), *(int(x) for x in veh.behind[k, :2] if x >= 0)} for k in (i, j)]
    if a == b or a in ways[1] or b in ways[0]:
        return "own"
    if a < n and b < n and net.lanes.road[a] == net.lanes.road[b]:
        recent = world.frame - max(veh.change_frame[i], veh.change_frame[j])
        return "changing" if recent * world.dt < CHANGE else "beside"
    if a >= n and b >= n:
        ends = net.connectors
        if ends.from_lane[a - n] == ends.from_lane[b - n]:
            return "fork"
        return "merge" if ends.to_lane[a - n] == ends.to_lane[b - n] else "crossing"
    return "elsewhere"


def outlines_of(world: World) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Slots of everybody on the road, and their outlines (n, 5)."""
    poses, veh = world.poses(), world.sim.veh
    slots = np.flatnonzero(veh.lane >= 0)
    row = np.full(len(world.demand), -1)
    row[poses.id[poses.id >= 0]] = np.flatnonzero(poses.id >= 0)
    rows = row[veh.id[slots]]
    columns = (poses.x, poses.y, poses.heading, poses.length, poses.width)
    return slots, np.column_stack([column[rows] for column in columns])


@dataclass
class Pair:
    """Two vehicles that overlapped: since when (s), where they were to each other, how deep (m)."""

    relation: str
    deepest: float
    told: str


def overlaps(world: World, seconds: float, every: float) -> dict[str, Any]:
    """Pairs that overlapped at some time, counted by relation; looked at every so many seconds."""
    pairs: dict[tuple[int, int], Pair] = {}
    looks = seen = 0
    frames = max(1, round(every / world.dt))
    while world.time - world.begin < seconds and not world.done:
        world.step(frames)
        looks += 1
        slots, outlines = outlines_of(world)
        for a, b, deep in touching(outlines):
            seen += 1
            i, j = int(slots[a]), int(slots[b])
            low, high = sorted((int(world.sim.veh.id[i]), int(world.sim.veh.id[j])))
            pair = pairs.setdefault((low, high), Pair(relation(world, i, j), 0.0, ""))
            if deep > pair.deepest:
                told = [
                    f"{_told(world, k)} heading {outlines[r, 2]:.2f}" for k, r in ((i, a), (j, b))
                ]
                pair.deepest, pair.told = (
                    deep,
                    f"{deep:.2f} m at {world.time:.0f} s: {'; '.join(told)}",
                )
    order = sorted(pairs.values(), key=lambda pair: -pair.deepest)
    return {
        "looks": looks, "vehicles": world.departed, "pairs": len(pairs), "seen": seen,
        "by_relation": dict(Counter(pair.relation for pair in order)),
        "deeper_than_0.3_m": dict(Counter(pair.relation for pair in order if pair.deepest > 0.3)),
        "deepest": [f"{pair.relation}: {pair.told}" for pair in order[:60]],
        "deepest_changing": [pair.told for pair in order if pair.relation in ("changing", "beside")][:60],
    }  # fmt: skip


def _told(world: World, i: int) -> str:
    veh = world.sim.veh
    since = (world.frame - veh.change_frame[i]) * world.dt
    return (
        f"{world.demand.ids[int(veh.id[i])]} lane {veh.lane[i]} s {veh.s[i]:.1f} v {veh.speed[i]:.1f} "
        f"length {veh.length[i]:.1f} lateral {veh.lateral[i]:.2f} changed {min(since, 999):.1f} s ago"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("network", type=Path)
    parser.add_argument("--demand", type=Path, nargs="+", required=True)
    parser.add_argument("--programs", type=Path, nargs="*", default=[], help="of signals, SUMO's")
    parser.add_argument("--steered", type=float, nargs="+", default=[0.0, 1.0], help="shares")
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--every", type=float, default=5.0, help="s between two looks")
    parser.add_argument("--dt", type=float, default=1.0 / 30.0)
    given = parser.parse_args()
    for share in given.steered:
        world, _ = opened_world(
            {
                "network": given.network, "programs": given.programs, "demand": given.demand, "dt": given.dt,
                "seed": 0, "parameters": {"steered.share": share} if share else {},
            }
        )  # fmt: skip
        figures = overlaps(world, 60.0 * given.minutes, given.every)
        print(json.dumps({"steered": share, **figures}, indent=1), flush=True)


if __name__ == "__main__":
    main()
