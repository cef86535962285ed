"""Polygons of lanes, markings and what lies around, in metres."""

from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import LEFT, RIGHT, STRAIGHT
from rushhour.roadnets.model import Network
from rushhour.roadnets.surroundings import BUILDING, GREEN, WATER
from rushhour.viewer.storeys import levels_at, stretches
from rushhour.viewer.themes import Colour, Theme

Quads = NDArray[np.float64]  # (n, 4, 2), m
DASH: Final = 3.0  # m of a dash between two lanes
DASH_PERIOD: Final = 9.0  # m
MARK_WIDTH: Final = 0.15  # m
STOP_LINE: Final = 0.45  # m
TOOTH: Final = 0.9  # m of a yield line for each of its teeth
TOOTH_LONG: Final = 0.6  # m
LINE: Final = 0.45  # of a lane's width, that lines at its end reach to either side
ARROW: Final = 9.5  # m before the end of a lane where its arrow begins
LEAST_ARROWED: Final = 18.0  # m, of a lane
# Parts of arrows: whatever may be done, straight on, to the left (to the right: mirrored). Places are m
# onwards from where the arrow begins, and m to the left.
STEM: Final = (((0.0, 0.09), (2.2, 0.09), (2.2, -0.09), (0.0, -0.09)),)
ONWARDS: Final = (
    ((2.2, 0.09), (2.9, 0.09), (2.9, -0.09), (2.2, -0.09)),
    ((2.7, 0.38), (4.1, 0.0), (4.1, 0.0), (2.7, -0.38)),
)
ASIDE: Final = (
    ((2.02, 0.0), (2.02, 0.6), (2.2, 0.6), (2.2, 0.0)),
    ((1.6, 0.55), (2.11, 1.3), (2.11, 1.3), (2.62, 0.55)),
)
BUILDINGS_FROM: Final = 0.25  # pixels per m from which on buildings are drawn
SAME_PLACE: Final = 0.01  # m
BAR: Final = 0.5  # m of a bar of a zebra, and between two
STOPS: Final = 1
YIELDS: Final = 2


@dataclass(frozen=True)
class Strips:
    """Lanes cut into segments: segment i runs from a[i] to b[i] and belongs to lane[i]."""

    a: NDArray[np.float64]  # (n, 2) m
    b: NDArray[np.float64]  # (n, 2)
    side_a: NDArray[np.float64]  # (n, 2) unit vector to the left, mitred, at a
    side_b: NDArray[np.float64]  # (n, 2) the same at b
    at: NDArray[np.float64]  # (n,) m, station of a
    length: NDArray[np.float64]  # (n,) m
    lane: NDArray[np.int32]  # (n,)
    level: NDArray[np.int64]  # (n,) over or under the ground

    def of(self, some: NDArray[np.bool_] | NDArray[np.intp]) -> "Strips":
        """Some of them."""
        return Strips(*(getattr(self, one.name)[some] for one in fields(self)))

    def quads(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> Quads:
        """The strip of each segment between two offsets to the left of its line, each (n,)."""
        return np.stack(
            (
                self.a + self.side_a * left[:, None],
                self.b + self.side_b * left[:, None],
                self.b + self.side_b * right[:, None],
                self.a + self.side_a * right[:, None],
            ),
            axis=1,
        )


def strips_of(network: Network, coarse: bool = False) -> Strips:
    """Every lane of a network, connectors included, as strips; coarse: connectors as chords."""
    counts = np.diff(network.point_start)
    owner = np.repeat(np.arange(counts.size, dtype=np.int32), counts)
    points, station = network.points, network.station
    if coarse:
        kept = owner < network.n_road_lanes
        kept[network.point_start[:-1]] = True
        kept[network.point_start[1:] - 1] = True
        points, station, owner = points[kept], station[kept], owner[kept]
    elif network.levels.road.size:
        points, station, owner = _cut_at_levels(network, points, station, owner)
    inside = owner[1:] == owner[:-1]
    along = points[1:] - points[:-1]
    length = np.hypot(along[:, 0], along[:, 1])
    unit = along / np.maximum(length, 1e-9)[:, None]
    left = np.column_stack((-unit[:, 1], unit[:, 0]))
    before = np.zeros_like(points)
    after = np.zeros_like(points)
    after[:-1][inside] = left[inside]
    before[1:][inside] = left[inside]
    middle = before + after
    size = np.maximum(np.hypot(middle[:, 0], middle[:, 1]), 1e-9)
    middle /= size[:, None]
    one = np.where(np.any(after != 0.0, axis=1)[:, None], after, before)
    stretch = 1.0 / np.maximum(np.sum(middle * one, axis=1), 0.6)
    side = middle * stretch[:, None]
    return Strips(
        points[:-1][inside],
        points[1:][inside],
        side[:-1][inside],
        side[1:][inside],
        station[:-1][inside],
        length[inside],
        owner[1:][inside],
        levels_at(network, owner[1:][inside], station[:-1][inside] + 0.5 * length[inside]),
    )


def _cut_at_levels(
    network: Network,
    points: NDArray[np.float64],
    station: NDArray[np.float64],
    owner: NDArray[np.int32],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]:
    """Lines of lanes with places more where they come to another level."""
    some = stretches(network)
    lane, at = np.tile(some.lane, 2), np.concatenate((some.begin, some.end))
    # One line through all lanes, on which each has a part of its own.
    base = np.concatenate(([0.0], np.cumsum(network.arrays.lanes.length + 1.0)))
    there, along = base[owner] + station, base[lane] + at
    near = np.minimum(
        along - there[np.searchsorted(there, along, "right") - 1],
        there[np.minimum(np.searchsorted(there, along), there.size - 1)] - along,
    )
    along, first = np.unique(along[near > SAME_PLACE], return_index=True)
    lane = lane[near > SAME_PLACE][first]
    place = np.searchsorted(there, along)
    more = np.column_stack([np.interp(along, there, points[:, k]) for k in (0, 1)])
    return (
        np.insert(points, place, more, axis=0), np.insert(station, place, along - base[lane]),
        np.insert(owner, place, lane.astype(np.int32)),
    )  # fmt: skip


def lane_marks(network: Network, strips: Strips) -> Quads:
    """Dashes between lanes of one road and a thin line left of its innermost lane."""
    lanes = network.arrays.lanes
    roads = network.arrays.roads
    on_road = np.flatnonzero(strips.lane < network.n_road_lanes)
    lane = strips.lane[on_road]
    road = lanes.road[lane]
    inner = lane == roads.first_lane[road] + roads.lane_count[road] - 1
    edge = 0.5 * lanes.width[strips.lane]
    whole = strips.quads(edge + 0.5 * MARK_WIDTH, edge - 0.5 * MARK_WIDTH)
    between = on_road[~inner]
    at, length = strips.at[between], strips.length[between]
    first = np.ceil((at - DASH) / DASH_PERIOD) * DASH_PERIOD
    count = np.maximum(np.ceil((at + length - first) / DASH_PERIOD), 0.0).astype(np.intp)
    which = np.repeat(np.arange(between.size), count)
    number = np.arange(which.size) - np.repeat(np.cumsum(count) - count, count)
    along = first[which] + DASH_PERIOD * number - at[which]
    t0 = np.clip(along / length[which], 0.0, 1.0)[:, None]
    t1 = np.clip((along + DASH) / length[which], 0.0, 1.0)[:, None]
    q = whole[between[which]]
    left, right = q[:, 1] - q[:, 0], q[:, 2] - q[:, 3]
    dashes = (q[:, 0] + left * t0, q[:, 0] + left * t1, q[:, 3] + right * t1, q[:, 3] + right * t0)
    return np.concatenate((whole[on_road[inner]], np.stack(dashes, axis=1)))


def around(
    network: Network, theme: Theme, pixels_per_metre: float
) -> list[tuple[Colour, NDArray[np.float64]]]:
    """What lies around the roads, in the order in which it is drawn: triangles (k, 3, 2), m, and their colour."""
    colours = {GREEN: theme.green, WATER: theme.water, BUILDING: theme.building}
    if pixels_per_metre < BUILDINGS_FROM:
        del colours[BUILDING]
    return [(colour, network.surroundings.triangles(kind)) for kind, colour in colours.items()]


def zebra_bars(network: Network) -> Quads:
    """Bars of marked crossings of pedestrians, each along the road."""
    x0, y0, x1, y1, width = network.zebras
    a, b = np.column_stack((x0, y0)), np.column_stack((x1, y1))
    length = np.hypot(*(b - a).T)
    across = (b - a) / length[:, None]
    count = np.maximum(np.floor((length + BAR) / (2.0 * BAR)), 1.0).astype(np.intp)
    which = np.repeat(np.arange(count.size), count)
    number = np.arange(which.size) - np.repeat(np.cumsum(count) - count, count)
    first = 0.5 * (length - (2 * count - 1) * BAR)  # as much is left at either end
    side = across[which]
    corner = a[which] + side * (first[which] + 2.0 * BAR * number)[:, None]
    along = 0.5 * width[which, None] * np.column_stack((-side[:, 1], side[:, 0]))
    far = corner + BAR * side
    return np.stack((corner - along, corner + along, far + along, far - along), axis=1)


def stop_lines(network: Network, level: int | None = None) -> Quads:
    """A bar across the end of every lane that must stop or has a signal; of those that yield whatever
    they do, teeth that point at who comes. level: of the ends of lanes, None: any.
    """
    kinds = np.where(_end_at(network, level), stop_kinds(network), 0)
    lanes = np.flatnonzero(kinds == YIELDS)
    edge = LINE * network.arrays.lanes.width[lanes]
    count = np.maximum(2, np.rint(2.0 * edge / TOOTH).astype(np.intp))
    which = np.repeat(np.arange(lanes.size), count)
    number = np.arange(which.size) - np.repeat(np.cumsum(count) - count, count)
    wide = (2.0 * edge / count)[which]
    left = edge[which] - wide * number
    at = np.zeros((which.size, 4, 2))
    at[:, 0, 1], at[:, 3, 1] = left - 0.1 * wide, left - 0.9 * wide
    at[:, 1:3] = np.stack((np.full(which.size, TOOTH_LONG), left - 0.5 * wide), axis=1)[:, None]
    teeth = _before_ends(network, lanes[which], at)
    return np.concatenate((end_bars(network, np.flatnonzero(kinds == STOPS), STOP_LINE), teeth))


def lane_arrows(network: Network, level: int | None = None) -> Quads:
    """What may be done from a lane, painted before its end, where its road has several lanes. level: as of `stop_lines`."""
    lanes, ways, n = network.arrays.lanes, network.arrays.connectors, network.n_road_lanes
    wanted = network.arrays.roads.lane_count[lanes.road[:n]] > 1
    wanted &= (lanes.length[:n] >= LEAST_ARROWED) & _end_at(network, level)
    may = [np.bincount(ways.from_lane[ways.turn == k], minlength=n)[:n] > 0 for k in range(3)]
    parts: list[tuple[NDArray[np.bool_], tuple[tuple[float, float], ...]]]
    parts = [(may[0] | may[1] | may[2], one) for one in STEM]
    parts += [(may[STRAIGHT], one) for one in ONWARDS]
    for turn, side in ((LEFT, 1.0), (RIGHT, -1.0)):
        parts += [(may[turn], tuple((at, side * left) for at, left in one)) for one in ASIDE]
    quads = []
    for who, shape in parts:
        seen = np.flatnonzero(wanted & who)
        before = np.array((ARROW, 0.0)) + np.array((-1.0, 1.0)) * np.array(shape)
        quads.append(_before_ends(network, seen, np.tile(before, (seen.size, 1, 1))))
    return np.concatenate(quads)


def _end_at(network: Network, level: int | None) -> NDArray[np.bool_]:
    """Which lanes of roads end at a level; None: all."""
    if level is None:
        return np.ones(network.n_road_lanes, bool)
    lanes = np.arange(network.n_road_lanes)
    return np.asarray(levels_at(network, lanes, network.arrays.lanes.length[: lanes.size]) == level)


def paint_facts() -> dict[str, Any]:
    """What is painted on lanes, for a page: as `stop_lines` and `lane_arrows` have it."""
    return {
        "line": LINE, "stop": STOP_LINE, "tooth": TOOTH, "tooth_long": TOOTH_LONG,
        "arrow": ARROW, "least": LEAST_ARROWED, "stem": STEM, "onwards": ONWARDS, "aside": ASIDE,
        "straight": STRAIGHT, "left": LEFT, "right": RIGHT,
    }  # fmt: skip


def _before_ends(
    network: Network, lane: NDArray[np.intp], at: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Places (n, k, 2), m: so far before the ends of lanes (n,), and so far to the left."""
    last = network.point_start[lane + 1] - 1
    end = network.points[last]
    along = end - network.points[last - 1]
    along /= np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-9)[:, None]
    left = np.column_stack((-along[:, 1], along[:, 0]))
    return np.asarray(
        end[:, None] - at[..., :1] * along[:, None] + at[..., 1:] * left[:, None], np.float64
    )


def stop_kinds(network: Network) -> NDArray[np.int64]:
    """By road lane: STOPS at a sign or signal, YIELDS whatever it does, or 0."""
    connectors = network.arrays.connectors
    n = network.n_road_lanes
    told = (connectors.signal >= 0) | connectors.must_stop
    stops = np.bincount(connectors.from_lane[told], minlength=n) > 0
    first = np.bincount(connectors.from_lane[connectors.rank == 0], minlength=n) > 0
    leaves = np.bincount(connectors.from_lane, minlength=n) > 0
    return np.where(stops, STOPS, np.where(leaves & ~first, YIELDS, 0))


def end_bars(network: Network, lane: NDArray[np.intp], thick: float) -> Quads:
    """Bars across the ends of lanes, thick metres along them."""
    width = network.arrays.lanes.width[lane]
    last = network.point_start[lane + 1] - 1
    end, before = network.points[last], network.points[last - 1]
    along = end - before
    along /= np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-9)[:, None]
    across = np.column_stack((-along[:, 1], along[:, 0])) * (LINE * width)[:, None]
    back = end - along * thick
    return np.stack((end + across, end - across, back - across, back + across), axis=1)
