"""Movements around the island of a roundabout that is one intersection.

A small roundabout is one intersection (osm.merging), and so is one that fixes or lights make one. Its
movements still lead around the island: onto the ring, along it and off it.
"""

from collections.abc import Mapping
from math import acos, atan2, ceil, cos, pi, radians, sin
from typing import Final, NamedTuple

import numpy as np

from rushhour.roadnets.drafts.shapes import smooth_curves
from rushhour.roadnets.geometry.meeting_lines import farthest_crossings
from rushhour.roadnets.geometry.street_lines import Line
from rushhour.roadnets.osm.bending import OVER, body_of, lines_of
from rushhour.roadnets.osm.links import Road, Streets
from rushhour.roadnets.osm.merging import Merged

SMALLEST: Final = 5.0  # m, radius of the ring's line; tighter ones are driven over
ROUND: Final = 1.4  # times as far from the middle one place of a ring may lie as another
STEP: Final = radians(12.0)  # between points of a way on a ring
LEAST: Final = radians(5.0)  # of a ring that a way follows
NEXT: Final = radians(50.0)  # between arms, within which a way leads by the ring
KEPT_OFF: Final = 3.0  # m from the middle of an island that all movements keep off
BESIDE: Final = 0.3  # m over the line of the ring that are beside the island
JOIN: Final = 0.8  # of the angle to where a straight line would touch the ring
SOONER: Final = (0.6, 0.4, 0.2)  # of it, where a way would lead over the end of another street

Movement = tuple[Road, int, Road, int]  # from a lane of a road to one of another


class Island(NamedTuple):
    """What a ring lies around: its middle and the radius of its line, m."""

    x: float
    y: float
    radius: float


def islands_of(streets: Streets, merged: Merged) -> dict[int, Island]:
    """The islands of intersections that are whole rings, by the node that names each."""
    rings: dict[int, list[int]] = {}
    parted: set[int] = set()  # of which a part is a road
    for i, link in enumerate(streets.links):
        if link.rules.ring:
            home = merged.home(link.a)
            rings.setdefault(home, []).append(i)
            if i not in merged.inner:
                parted |= {home, merged.home(link.b)}
    found: dict[int, Island] = {}
    for home, links in rings.items():
        if home in parted:
            continue
        nodes = [node for i in links for node in streets.links[i].nodes[1:]]
        at = np.array([streets.xy[node] for node in nodes])
        x, y = (float(one) for one in (at.min(axis=0) + at.max(axis=0)) / 2.0)
        away = np.hypot(*(at - (x, y)).T)
        radius = float(away.min())
        if radius >= SMALLEST and float(away.max()) <= ROUND * radius:
            found[home] = Island(x, y, radius)
    return found


def ways_around(
    island: Island, movements: Mapping[Movement, tuple[Line, Line]]
) -> dict[Movement, Line]:
    """Movements of an intersection, each from a lane to a lane, that lead around its island.

    None of them where another leads over the island, as beside streets that end within the ring.
    """
    found: dict[Movement, Line] = {}
    for key, (before, behind) in movements.items():
        way = way_around(island, before, behind)
        if way is not None:
            found[key] = way
        elif _off(island, _plain(before, behind)) < KEPT_OFF:
            return {}
    _keep_off_streets(island, movements, found)
    return found


def _keep_off_streets(
    island: Island, movements: Mapping[Movement, tuple[Line, Line]], ways: dict[Movement, Line]
) -> None:
    """Let ways that lead over the end of another street join the ring sooner and leave it later."""
    ends: dict[tuple[Road, int, bool], Line] = {}
    for (before, a, behind, b), (leave, join) in movements.items():
        ends[before, a, True] = body_of(leave, True)
        ends[behind, b, False] = body_of(join, False)
    over = _over(ways, ends)
    for share in SOONER:
        for key in over:
            sooner = way_around(island, *movements[key], share)
            if sooner is not None:
                ways[key] = sooner
        over = _over({key: ways[key] for key in over}, ends)


def _over(ways: dict[Movement, Line], ends: dict[tuple[Road, int, bool], Line]) -> list[Movement]:
    """Ways that lead over a street that they neither come from nor lead to."""
    pairs = [
        (i, j)
        for i, (before, _, behind, _) in enumerate(ways)
        for j, (road, _, _) in enumerate(ends)
        if road not in (before, behind)
    ]
    if not pairs:
        return []
    i, j = np.array(pairs, np.int64).T
    reach = farthest_crossings(lines_of(list(ways.values())), lines_of(list(ends.values())), i, j)
    keys = list(ways)
    return [keys[k] for k in sorted(set(i[reach > OVER].tolist()))]


def _plain(before: Line, behind: Line) -> Line:
    """The way of a movement that knows of no island."""
    u, v = before[-1] - before[-2], behind[1] - behind[0]
    ends = (before[-1], u / np.hypot(*u), behind[0], v / np.hypot(*v))
    points, _ = smooth_curves(np.concatenate(ends)[None])
    return points


def _off(island: Island, way: Line) -> float:
    """How near a way comes to the middle of an island, m."""
    return float(np.hypot(*(way - (island.x, island.y)).T).min())


def way_around(island: Island, before: Line, behind: Line, share: float = JOIN) -> Line | None:
    """A movement from the end of a lane to the start of another around an island, counter-clockwise.

    share: of the angles to where straight lines from both would touch the ring, that it leads off it.
    None where it leads by the island, or its lanes end on the ring.
    """
    middle = np.array([island.x, island.y])
    start, end = before[-1] - middle, behind[0] - middle
    far = np.hypot(*start), np.hypot(*end)
    if min(far) < island.radius + 0.5:
        return None
    u, v = before[-1] - before[-2], behind[1] - behind[0]
    u, v = u / np.hypot(*u), v / np.hypot(*v)
    whole = (atan2(end[1], end[0]) - atan2(start[1], start[0])) % (2.0 * pi)
    if whole < NEXT or whole < pi and _off(island, _plain(before, behind)) > island.radius - BESIDE:
        return None
    on, off = (share * acos(island.radius / away) for away in far)
    if whole < on + off + LEAST:  # the next arm: past the ring at one place
        on, off = (one * max(whole - LEAST, 0.5 * whole) / (on + off) for one in (on, off))
    first = atan2(start[1], start[0]) + on
    sweep = whole - on - off
    steps = max(1, ceil(sweep / STEP))
    angles = first + np.linspace(0.0, sweep, steps + 1)
    ring = middle + island.radius * np.column_stack((np.cos(angles), np.sin(angles)))
    along = [np.array([-sin(a), cos(a)]) for a in (angles[0], angles[-1])]
    pieces = np.array([
        np.concatenate((before[-1], u, ring[0], along[0])),
        np.concatenate((ring[-1], along[1], behind[0], v)),
    ])  # fmt: skip
    points, begin = smooth_curves(pieces)
    way: Line = np.vstack((points[: begin[1]], ring[1:-1], points[begin[1] :]))
    return way
