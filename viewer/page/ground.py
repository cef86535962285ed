"""What stays: lanes, intersections, markings, streets and signals of a network, or a race's ground."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.model import Network
from rushhour.roadnets.surroundings import Surroundings
from rushhour.viewer.camera import Box
from rushhour.viewer.grades import bus_lanes, lane_grades, node_grades
from rushhour.viewer.lights import LIGHT_COLOURS, lights_of
from rushhour.viewer.moments import Source
from rushhour.viewer.page.blocks import signs, steps
from rushhour.viewer.race_source import RaceSource
from rushhour.viewer.road_sums import RoadSums
from rushhour.viewer.shapes import stop_kinds, zebra_bars
from rushhour.viewer.storeys import node_levels
from rushhour.viewer.street_labels import StreetLine, street_lines
from rushhour.viewer.street_layers import Streets, layer_called, layer_names, shares
from rushhour.viewer.surfaces import Surfaces, surfaces

PLACE: Final = 0.02  # m
MARGIN: Final = 200.0  # m around a box, of what lies beside roads
NO_SHARE: Final = 255  # of a road on which nothing was driven
DARK: Final = 5  # state of a lane whose signal shows nothing
Arrays = dict[str, NDArray[Any]]


def lines(
    points: NDArray[np.float64], counts: NDArray[np.int64], origin: NDArray[np.float64], name: str
) -> Arrays:
    """Lines of so many points each, (sum of counts, 2) m, from an origin."""
    places = np.rint((points - origin) / PLACE).astype(np.int64)
    starts = (np.cumsum(counts) - counts)[counts > 0]
    return {
        **signs(counts, f"{name}_n"),
        **steps(places[:, 0], f"{name}_x", starts),
        **steps(places[:, 1], f"{name}_y", starts),
    }


def network_arrays(
    network: Network, origin: NDArray[np.float64], box: Box | None
) -> tuple[Arrays, dict[str, Any]]:
    """A network as arrays and facts; of what lies outside a box only numbers and names."""
    net = network.arrays
    counts = np.diff(network.point_start).astype(np.int64)
    owner = np.repeat(np.arange(counts.size), counts)
    kept = np.ones(counts.size, bool) if box is None else _touching(network, owner, box)
    arrays = lines(network.points[kept[owner]], np.where(kept, counts, 0), origin, "lane")
    lanes, ways, nodes = net.lanes, net.connectors, net.intersections
    arrays |= {
        "lane_width": lanes.width.astype(np.float32),
        "lane_limit": lanes.speed.astype(np.float32),
        "road_lane": net.roads.first_lane.astype(np.int32),
        "road_lanes": net.roads.lane_count.astype(np.int32),
        "road_from": net.roads.from_intersection.astype(np.int32),
        "road_to": net.roads.to_intersection.astype(np.int32),
        "way_from": ways.from_lane.astype(np.int32),
        "way_to": ways.to_lane.astype(np.int32),
        "way_at": ways.intersection.astype(np.int32),
        "way_turn": ways.turn.astype(np.uint8),
        "way_signal": ways.signal.astype(np.int32),
        "node_x": (nodes.x - origin[0]).astype(np.float32),
        "node_y": (nodes.y - origin[1]).astype(np.float32),
        "node_control": nodes.control.astype(np.uint8),
        "lane_grade": lane_grades(network),
        "node_grade": node_grades(network),
        "lane_bus": bus_lanes(network).astype(np.uint8),
        "lane_stop": stop_kinds(network).astype(np.uint8),
        "level_road": network.levels.road,
        "level_begin": network.levels.begin,
        "level_end": network.levels.end,
        "level_of": network.levels.level.astype(np.int32),
        "node_level": node_levels(network).astype(np.int32),
    }
    arrays |= _surfaces(surfaces(network), origin, box)
    bars = zebra_bars(network).reshape(-1, 2)
    arrays |= lines(bars, np.full(len(bars) // 4, 4, np.int64), origin, "zebra")
    arrays |= _areas(network.surroundings, origin, box)
    streets = street_lines(network)
    if box is not None:
        streets = [line for line in streets if _meets(line.points, box)]
    arrays |= _streets(streets, origin)
    facts = {
        "roads": list(network.road_ids),
        "streets": [line.text for line in streets],
        "ranks": [round(line.rank, 1) for line in streets],
        "nodes": list(network.intersection_ids),
        "signals": list(network.signal_ids),
        "left_hand": network.left_hand,
        "lanes": network.n_road_lanes,
    }
    if network.road_names:
        names = dict.fromkeys(network.road_names)
        number = {name: k for k, name in enumerate(names)}
        facts["names"] = list(names)
        arrays["road_name"] = np.array([number[name] for name in network.road_names], np.int32)
    return arrays, facts


def _streets(streets: list[StreetLine], origin: NDArray[np.float64]) -> Arrays:
    """Lines of streets, along which their names are written, and where they lie below other roads."""
    points = np.concatenate([line.points for line in streets]) if streets else np.zeros((0, 2))
    covered = np.concatenate([np.zeros(0), *(line.covered for line in streets)])
    return {
        **lines(
            points, np.array([len(line.points) for line in streets], np.int64), origin, "street"
        ),
        "street_covers": np.array([line.covered.size for line in streets], np.int32),
        "street_covered": covered.astype(np.float32),
    }


def _surfaces(found: Surfaces, origin: NDArray[np.float64], box: Box | None) -> Arrays:
    """The surfaces of crossings, as far as a box holds them, with a margin. round_at: the crossing of each ring."""
    rings = filled(found.points, found.start, found.corner, origin, box, "round")
    return {**rings[0], "round_at": found.node[rings[1]].astype(np.int32)}


def _areas(around: Surroundings, origin: NDArray[np.float64], box: Box | None) -> Arrays:
    """What lies around the roads, as far as its triangles meet a box, with a margin. ring_kind: of each ring."""
    points = np.column_stack((around.x, around.y)).astype(np.float64)
    corner = around.corner.reshape(-1, 3)
    rings = filled(points, around.start, corner, origin, box, "ring")
    return {**rings[0], "ring_kind": around.kind[rings[1]]}


def filled(
    points: NDArray[np.float64], start: NDArray[np.integer], corner: NDArray[np.integer],
    origin: NDArray[np.float64], box: Box | None, name: str,
) -> tuple[Arrays, NDArray[np.bool_]]:  # fmt: skip
    """Rings of places, from start on, of the triangles that meet a box, with a margin; and which rings those are.

    NAME_corner: places of all rings, three of each triangle.
    """
    counts = np.diff(start).astype(np.int64)
    if box is not None and corner.size:
        low, high = points[corner].min(axis=1), points[corner].max(axis=1)
        seen = (high >= np.array(box[:2]) - MARGIN) & (low <= np.array(box[2:]) + MARGIN)
        corner = corner[seen.all(axis=1)]
    used = np.zeros(len(points), bool)
    used[corner] = True
    ring = np.repeat(np.arange(counts.size), counts)
    counts = np.bincount(ring[used], minlength=counts.size).astype(np.int64)
    number = np.cumsum(used) - 1
    arrays = {
        **lines(points[used], counts[counts > 0], origin, name),
        **signs(np.diff(number[corner.reshape(-1)], prepend=0), f"{name}_corner"),
    }
    return arrays, counts > 0


def _touching(network: Network, owner: NDArray[np.int64], box: Box) -> NDArray[np.bool_]:
    """Which lanes come into a box, with all of the roads and intersections that do."""
    x, y = network.points.T
    inside = (x >= box[0]) & (x <= box[2]) & (y >= box[1]) & (y <= box[3])
    kept = np.zeros(network.n_lanes, bool)
    kept[owner[inside]] = True
    road = network.arrays.lanes.road
    some = np.unique(road[kept])
    kept |= np.isin(road, some[some >= 0])
    node = network.arrays.lanes.intersection[network.n_road_lanes :]
    inner = kept[network.n_road_lanes :]
    kept[network.n_road_lanes :] |= np.isin(node, np.unique(node[inner]))
    return kept


def _meets(points: NDArray[np.float64], box: Box) -> bool:
    """Whether the rectangle around points meets a box."""
    low, high = points.min(axis=0), points.max(axis=0)
    return bool(high[0] >= box[0] and high[1] >= box[1] and low[0] <= box[2] and low[1] <= box[3])


def light_arrays(source: Source, times: NDArray[np.float64]) -> Arrays:
    """What the signals at the ends of lanes show, looked at at times, s: its changes.

    light_lane: lanes with signals; light_n: changes of each; light_at: numbers of times;
    light_state: from then on, a row of LIGHT_COLOURS, or DARK.
    """
    network = source.network
    rank = {tuple(colour): k for k, colour in reversed(list(enumerate(LIGHT_COLOURS.tolist())))}
    lanes = np.unique(network.arrays.connectors.from_lane[network.arrays.connectors.signal >= 0])
    looks = np.full((times.size, lanes.size), DARK, np.uint8)
    before: NDArray[np.uint8] | None = None
    for k, time in enumerate(times.tolist()):
        states = source.lights(time)
        if before is not None and np.array_equal(states, before):
            looks[k] = looks[k - 1]
            continue
        before = states
        lit, colours = lights_of(network, states)
        at = np.searchsorted(lanes, lit)
        found = [rank[tuple(colour)] for colour in colours.tolist()]
        known = (at < lanes.size) & (lanes[np.minimum(at, max(0, lanes.size - 1))] == lit)
        looks[k, at[known]] = np.array(found, np.uint8)[known]
    changed = np.ones_like(looks, bool)
    changed[1:] = looks[1:] != looks[:-1]
    lane, at = np.nonzero(changed.T)
    count = np.bincount(lane, minlength=lanes.size)
    starts = np.cumsum(count) - count
    return {
        "light_lane": lanes.astype(np.int32),
        "light_time": times.astype(np.float64),
        **signs(count, "light_n"),
        **steps(at, "light_at", starts[count > 0]),
        "light_state": looks.T[lane, at],
    }


def layer_arrays(
    network: Network, sums: RoadSums, other: RoadSums | None, other_name: str
) -> tuple[Arrays, list[dict[str, Any]]]:
    """Layers of streets by interval, and how they are told; other: of the run compared with, and what it is called.

    layer_time: edges of the intervals; layer_NAME: a row of each interval, of each road 0 to NO_SHARE - 1 along
    the layer's scale, or NO_SHARE.
    """
    streets = Streets(network)
    arrays: Arrays = {"layer_time": sums.edges.astype(np.float64)}
    told = []
    for name in layer_names(other is not None):
        rows = [
            shares(name, streets, sums.at(i), None if other is None else other.at(i))
            for i in range(sums.edges.size - 1)
        ]
        steps_of = np.nan_to_num((NO_SHARE - 1) * np.array(rows), nan=NO_SHARE)
        arrays[f"layer_{name}"] = np.rint(steps_of).astype(np.uint8)
        layer = layer_called(name, other_name)
        told.append(
            {
                "name": name, "title": layer.title, "low": layer.low, "high": layer.high,
                "scale": layer.scale, "letters": layer.letters,
            }
        )  # fmt: skip
    return arrays, told


def race_arrays(source: RaceSource, origin: NDArray[np.float64]) -> tuple[Arrays, dict[str, Any]]:
    """The ground of a race: both edges of a track, or the cells of a course."""
    ground = source.record.ground
    if "left" in ground:
        return {
            "track_left": (ground["left"] - origin).astype(np.float32),
            "track_right": (ground["right"] - origin).astype(np.float32),
        }, {}
    cost = ground["cost"]
    arrays: Arrays = {
        "course_cost": cost.astype(np.uint8),
        "course_corner": (ground["corner"] - origin).astype(np.float32),
    }
    if "line" in ground:
        arrays["course_line"] = (ground["line"] - origin).astype(np.float32)
    return arrays, {"cell": float(ground["cell"]), "rows": cost.shape[0], "columns": cost.shape[1]}
