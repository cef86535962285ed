"""The ends of streets at intersections: how far they are cut back, and the lanes between.

Source: networks.md 3.1 - 3.4.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from math import atan2, cos, pi, radians, sin, tan
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.geometry.lane_lines import draw_lanes, most_beside
from rushhour.roadnets.geometry.street_lines import Line, line_length, part, point_at, stations
from rushhour.roadnets.osm.links import Link, Streets
from rushhour.roadnets.osm.merging import Merged
from rushhour.roadnets.osm.movements import heading_from, turn_angle
from rushhour.roadnets.osm.signs import length_of

LEAST: Final = 1.0  # m from a node to a stop line
MOST: Final = 30.0  # m
SHARP: Final = radians(30.0)  # streets at a smaller angle run side by side
FLAT: Final = radians(150.0)  # no corner between streets at a larger one
CORNER: Final = radians(130.0)  # two streets at a smaller angle meet at a corner, not in a bend
TAPER: Final = 200.0  # m at most along which roads come to lie as far apart as their lines
STAYS: Final = (0.0, 0.0)  # slide of lanes that do not
LOOP: Final = 13.0  # m cut from a dead end for the turn back
KERB: Final = {3: 3.0, 2: 3.0, 1: 2.0}  # m, radius of the kerb by rank; others 4


@dataclass(slots=True)
class End:
    """One end of a link."""

    link: int
    start: bool
    heading: float  # rad, away from the intersection
    half: float  # m, half the width of its lanes
    rank: int
    setback: float = LEAST
    aside: bool = False  # beside the line of its street, as one of the carriageways of another


def half_width(link: Link) -> float:
    """Half the width of all lanes of a street, m."""
    rules = link.rules
    return 0.5 * (rules.forward.lanes + rules.backward.lanes + rules.both) * rules.width


def lane_offset(link: Link, forward: bool, lane: int) -> float:
    """Metres from the way's line to the middle of a lane (from the kerb), to the right of it."""
    shift = link.rules.shift if forward else -link.rules.shift
    return half_width(link) - (lane + 0.5) * link.rules.width + shift


def offset_at(link: Link, forward: bool, lane: int, end: bool) -> float:
    """`lane_offset` where the road ends, or where it starts, of lanes that slide too."""
    slide = link.slide[end == forward]
    return lane_offset(link, forward, lane) + (slide if forward else -slide)


def ends_of(
    streets: Streets,
    merged: Merged,
    loops: set[tuple[int, bool]],
    around: dict[int, list[tuple[int, bool]]],
) -> dict[tuple[int, bool], End]:
    """Every end of every link, with its setback. loops: ends where one turns back; around: link ends by
    node."""
    found: dict[tuple[int, bool], End] = {}
    set_ends(streets, merged, loops, around, around, found)
    return found


def set_ends(
    streets: Streets,
    merged: Merged,
    loops: set[tuple[int, bool]],
    around: dict[int, list[tuple[int, bool]]],
    nodes: Iterable[int],
    found: dict[tuple[int, bool], End],
) -> None:
    """Put the ends of links at some nodes into `found`. around: link ends by node."""
    joints = []
    for node in nodes:
        here = []
        for index, start in around[node]:
            link = streets.links[index]
            heading, rank = heading_from(streets, link, start), link.rules.rank
            aside = link.slide[not start] != 0.0 and not link.rules.transition
            end = End(index, start, heading, half_width(link), rank, LEAST, aside)
            here.append(end)
            found[index, start] = end
        if len(here) > 1:
            _set_back(here, node in merged.member)
            if len(here) == 2 and node in merged.member:
                joints.append(node)
        elif (here[0].link, here[0].start) in loops:
            here[0].setback = LOOP
        else:
            here[0].setback = 0.0
    for node in joints:
        _push_out(streets, merged, around[node], found)


def _push_out(
    streets: Streets,
    merged: Merged,
    joint: list[tuple[int, bool]],
    ends: dict[tuple[int, bool], End],
) -> None:
    """Where an inner link ends at a joint, the street beyond takes what the link is too short for."""
    for (index, start), other in (joint, joint[::-1]):
        if index in merged.inner and (index, not start) in ends:
            rest = ends[index, not start].setback - length_of(streets, streets.links[index])
            ends[other].setback = max(ends[other].setback, rest)


def _set_back(around: list[End], merged: bool) -> None:
    """Place the stop lines of a node's streets so that neighbouring kerbs clear each other."""
    if len(around) == 2 and not merged:
        bend = abs(turn_angle(*sorted(end.heading for end in around)))
        if not SHARP <= bend <= CORNER:
            return
    around.sort(key=lambda end: (end.heading, end.link, end.start))
    for end, following in zip(around, around[1:] + around[:1], strict=True):
        t = (following.heading - end.heading) % (2.0 * pi)
        if t >= FLAT or (end.aside and following.aside):
            continue
        if t < SHARP:
            narrow = min(end, following, key=lambda e: (e.half, e.rank, e.link))
            apart = (end.half + following.half) / max(2.0 * tan(t / 2.0), 0.1)
            narrow.setback = max(narrow.setback, min(MOST, apart))
            continue
        a, b = end.half, following.half
        kerb = KERB.get(min(end.rank, following.rank), 4.0) / tan(t / 2.0)
        end.setback = max(end.setback, min(MOST, (b + a * cos(t)) / sin(t) + kerb))
        following.setback = max(following.setback, min(MOST, (a + b * cos(t)) / sin(t) + kerb))


def street_line(streets: Streets, link: Link) -> Line:
    """The line of a link; where its lanes slide aside, the line that they keep their distance from."""
    line: Line = np.array([streets.xy[node] for node in link.nodes])
    if link.slide == STAYS:
        return line
    at = stations(line)
    slide = np.array([[0.0, at[-1]], link.slide])
    if not link.rules.transition and at[-1] > TAPER:
        reach = min(TAPER, 0.5 * at[-1])
        slide = np.array(
            [[0.0, reach, at[-1] - reach, at[-1]], [link.slide[0], 0.0, 0.0, link.slide[1]]]
        )
        line = np.array([point_at(line, s) for s in np.union1d(at, slide[0])])
        at = np.union1d(at, slide[0])
    step = np.diff(line, axis=0)
    along = np.concatenate((step[:1], step[:-1] + step[1:], step[-1:]))
    aside = np.interp(at, *slide) / np.maximum(np.hypot(*along.T), 1e-9)
    line += aside[:, None] * np.stack((along[:, 1], -along[:, 0]), axis=1)
    return line


def stop_line(line: Line, setback: float, other: float) -> tuple[Line, float]:
    """Where a line stops that is cut back at its end, and its direction there, rad.

    other: m by which it is cut back at its start.
    """
    length = line_length(line)
    end = part(line, 0.0, length - min(setback, most_beside(length, other)))[-2:]
    return end[1], atan2(end[1, 1] - end[0, 1], end[1, 0] - end[0, 0])


def draw(
    streets: Streets,
    ends: dict[tuple[int, bool], End],
    roads: list[tuple[int, bool]],
    lanes: list[int],
) -> tuple[Line, NDArray[np.int64]]:
    """Lines of all lanes of roads (link, forward), road after road, from the kerb; points, where each begins.

    lanes: how many each road has.
    """
    links = sorted({index for index, _ in roads})
    place = {index: i for i, index in enumerate(links)}
    slid = {
        i: street_line(streets, streets.links[i]) for i in links if streets.links[i].slide != STAYS
    }
    places = (
        slid[i].tolist() if i in slid else map(streets.xy.__getitem__, streets.links[i].nodes)
        for i in links
    )  # fmt: skip
    points = np.fromiter(chain.from_iterable(chain.from_iterable(places)), float).reshape(-1, 2)
    sizes = [len(slid[i] if i in slid else streets.links[i].nodes) for i in links]
    start = np.concatenate(([0], np.cumsum(sizes)))
    cut = np.array([(ends[i, True].setback, ends[i, False].setback) for i in links])
    counts = np.array(lanes)
    street = np.repeat([place[index] for index, _ in roads], counts)
    offset = [lane_offset(streets.links[i], ahead, k) for (i, ahead), n in zip(roads, lanes, strict=True)
              for k in range(n)]  # fmt: skip
    out = np.empty((int((start[street + 1] - start[street] + 2).sum()), 2))
    out_start = np.zeros(street.size + 1, np.int64)
    draw_lanes(
        points, start, cut, street, np.repeat([not forward for _, forward in roads], counts),
        np.array(offset), out, out_start,
    )  # fmt: skip
    return out[: out_start[-1]], out_start
