"""Finishing a network: from what a source says to the arrays that kernels read.

`finish` numbers lanes and connectors, shapes connectors, finds conflicts and who yields, lays
curve-speed profiles and ties intersections into grant groups.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import (
    ALL_WAY_STOP,
    GROUP_LENGTH,
    LEFT,
    PROFILE_STEP,
    RIGHT,
    STOP,
    STRAIGHT,
    U_TURN,
    Conflicts,
    Connectors,
    Intersections,
    Lanes,
    NetworkArrays,
    Roads,
)
from rushhour.kernels.following.curve_speed import lay_profiles
from rushhour.roadnets.banned import packed_ways
from rushhour.roadnets.drafts.conflicts import assert_symmetric, find_conflicts
from rushhour.roadnets.drafts.draft import Draft
from rushhour.roadnets.drafts.groups import joined_intersections
from rushhour.roadnets.drafts.heights import point_heights
from rushhour.roadnets.drafts.index import DraftIndex, connector_name, index_draft
from rushhour.roadnets.drafts.numbering import numbered_by_place
from rushhour.roadnets.drafts.precedence import find_yields
from rushhour.roadnets.drafts.shapes import (
    Shapes,
    connector_shapes,
    end_headings,
    joined,
    lane_shapes,
)
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.findings import moved
from rushhour.roadnets.geometry.angles import wrapped
from rushhour.roadnets.levels import packed_levels
from rushhour.roadnets.model import Network, Zones
from rushhour.roadnets.signals.actuation import lay_detectors
from rushhour.roadnets.signals.programs import pack_signals
from rushhour.roadnets.street_names import packed_streets
from rushhour.roadnets.surroundings import packed_areas
from rushhour.roadnets.zebras import packed_zebras

LATERAL_ACCELERATION = 3.5  # m/s^2, comfortable in a bend
THROUGH = math.radians(30.0)  # a movement that turns less goes straight on
U_TURN_FROM = math.radians(135.0)  # back to where one came from
FASTEST = 100.0  # m/s
WIDEST = 100.0  # m, a lane


def _starts(keys: NDArray[np.integer[Any]], n: int) -> NDArray[np.int32]:
    """Where each of n keys begins in ascending `keys`, (n+1,)."""
    return np.searchsorted(keys, np.arange(n + 1)).astype(np.int32)


def _turns(
    draft: Draft, index: DraftIndex, first: NDArray[np.float64], last: NDArray[np.float64]
) -> NDArray[np.int8]:
    """Turn of every connector: the source's, else by the angle between its lanes."""
    angle = wrapped(first[index.to_lane] - last[index.from_lane])
    a, b = index.lane_road[index.from_lane], index.lane_road[index.to_lane]
    back = index.road_from[a] == index.road_to[b]
    turn = np.where(angle > 0.0, LEFT, RIGHT).astype(np.int8)
    turn[np.abs(angle) <= THROUGH] = STRAIGHT
    turn[back & (np.abs(angle) > U_TURN_FROM)] = U_TURN
    for k, c in enumerate(index.connectors):
        given = c.turn
        if given is not None:
            if not STRAIGHT <= given <= U_TURN:
                raise NetworkError(
                    f"{connector_name(c)}: turn {given}; use one of "
                    "kernels.core.network or leave it out"
                )
            turn[k] = given
    return turn


def _must_stop(
    draft: Draft, index: DraftIndex, intersection: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Who has a stop sign: as drafted, all at an all-way stop, else the roads of least priority."""
    marked = np.array([c.must_stop for c in index.connectors], bool)
    control = np.array([i.control for i in draft.intersections], np.uint8)[intersection]
    marked |= control == ALL_WAY_STOP
    priority = np.array([r.priority for r in draft.roads])[index.lane_road[index.from_lane]]
    silent = np.ones(len(draft.intersections), bool)
    silent[intersection[marked]] = False
    most = np.full(len(draft.intersections), np.iinfo(np.int64).min)
    np.maximum.at(most, intersection, priority)
    minor = (control == STOP) & silent[intersection] & (priority < most[intersection])
    return np.asarray(marked | minor)


def _checked_speeds(draft: Draft, index: DraftIndex) -> NDArray[np.float64]:
    """Limits of lanes, then connectors, m/s."""
    lanes = [lane for r in draft.roads for lane in r.lanes]
    for lane in lanes:
        if not 0.0 < lane.speed <= FASTEST:
            raise NetworkError(
                f"lane {lane.id!r}: speed {lane.speed} m/s; give more than 0, at most {FASTEST:.0f}"
            )
        if not 0.0 < lane.width <= WIDEST:
            raise NetworkError(
                f"lane {lane.id!r}: width {lane.width:g} m; give more than 0, at most {WIDEST:g}"
            )
    speed = np.array([lane.speed for lane in lanes])
    across = np.minimum(speed[index.from_lane], speed[index.to_lane])
    for k, c in enumerate(index.connectors):
        given = c.speed
        if given is not None:
            if not 0.0 < given <= FASTEST:
                raise NetworkError(
                    f"{connector_name(c)}: speed {given} m/s; "
                    f"give more than 0, at most {FASTEST:.0f}, or leave it out"
                )
            across[k] = given
    return np.concatenate([speed, across])


def _lanes(
    draft: Draft, index: DraftIndex, shapes: Shapes, lateral: float, own_limits: bool
) -> Lanes:
    n, m = len(index.lane_road), len(index.sequence)
    lanes = [lane for r in draft.roads for lane in r.lanes]
    none = np.full(m, -1, np.int32)
    length, speed = shapes.length, _checked_speeds(draft, index)
    width = np.array([lane.width for lane in lanes])
    mask = np.array([lane.permissions & 0xFFFFFFFF for lane in lanes], np.uint32)
    own = np.array([c.permissions & 0xFFFFFFFF for c in index.connectors])
    across = own.astype(np.uint32) & mask[index.from_lane] & mask[index.to_lane]
    ends_at = index.road_to[index.lane_road]
    by_target = np.argsort(index.to_lane, kind="stable").astype(np.int32)
    samples = np.ceil(length / PROFILE_STEP).astype(np.int64) + 1
    bent = np.diff(shapes.start) > 2
    profile = np.empty(int(samples[bent].sum()))
    profile_start, entry = np.empty(n + m + 1, np.int32), np.empty(n + m)
    bends_for = speed
    if not own_limits:  # what a file says of its lanes and connectors holds: no bend is worth less
        said = [c.speed is not None for c in index.connectors]
        on_roads = np.full(n, not draft.bends_bind)
        bends_for = np.where(np.concatenate([on_roads, said]), 0.0, speed)
    used = lay_profiles(
        shapes.points, shapes.station, shapes.start, length, bends_for, lateral,
        profile_start, profile, entry, np.empty((2, int(samples.max()))),
    )  # fmt: skip
    return Lanes(
        length=length,
        speed=speed,
        width=np.concatenate([width, np.minimum(width[index.from_lane], width[index.to_lane])]),
        permissions=np.concatenate([mask, across]),
        road=np.concatenate([index.lane_road, none]),
        number=np.concatenate(
            [np.arange(n, dtype=np.int32) - index.first_lane[index.lane_road], none]
        ),
        intersection=np.concatenate([ends_at, ends_at[index.from_lane]]),
        out_start=_starts(index.from_lane, n),
        in_start=_starts(index.to_lane[by_target], n),
        in_connector=by_target,
        profile_start=profile_start,
        profile=profile[:used].copy(),
        entry_speed=entry,
    )


def _crossings(
    draft: Draft, index: DraftIndex, lanes: Lanes, intersections: Intersections, shapes: Shapes,
    road_shapes: Shapes,
) -> tuple[Connectors, Conflicts]:  # fmt: skip
    """The connectors: how they turn, where two of them meet, and who yields there."""
    first, last = end_headings(road_shapes)
    m, at = len(index.sequence), lanes.intersection[len(index.lane_road) :]
    turn, must_stop = _turns(draft, index, first, last), _must_stop(draft, index, at)
    pairs = find_conflicts(
        draft, index, shapes, intersections.connector_start, intersections.connector
    )
    assert_symmetric(pairs, m)
    yields = find_yields(draft, index, pairs, at, turn, must_stop, last)
    signal = np.array([index.signal.get(c.signal or "", -1) for c in index.connectors], np.int32)
    signalled = zip(signal.tolist(), index.connectors, strict=True)
    link = [c.link if program >= 0 else -1 for program, c in signalled]
    conflict_start = _starts(pairs.here, m)
    connectors = Connectors(
        from_lane=index.from_lane,
        to_lane=index.to_lane,
        intersection=at.copy(),
        turn=turn,
        signal=signal,
        link=np.array(link, np.int32),
        rank=np.bincount(pairs.here[yields], minlength=m).astype(np.int32),
        must_stop=must_stop,
        free=(np.diff(conflict_start) == 0) & (signal < 0) & ~must_stop,
        conflict_start=conflict_start,
    )
    zone = [np.ascontiguousarray(pairs.zone[:, i]) for i in range(4)]
    return connectors, Conflicts(pairs.other, zone[0], zone[1], zone[2], zone[3], yields)


def _roads(draft: Draft, index: DraftIndex, lanes: Lanes) -> Roads:
    n = len(draft.roads)
    before = index.lane_road[index.from_lane].astype(np.int64)
    before, behind = np.divmod(np.unique(before * n + index.lane_road[index.to_lane]), n)
    n_lanes = len(index.lane_road)
    return Roads(
        first_lane=index.first_lane,
        lane_count=index.lane_count,
        from_intersection=index.road_from,
        to_intersection=index.road_to,
        length=np.add.reduceat(lanes.length[:n_lanes], index.first_lane) / index.lane_count,
        speed=np.maximum.reduceat(lanes.speed[:n_lanes], index.first_lane),
        priority=np.array([r.priority for r in draft.roads], np.int32),
        out_start=_starts(before, n),
        out=behind.astype(np.int32),
        ends_only=np.array([r.ends_only for r in draft.roads], np.bool_),
    )


def _intersections(
    draft: Draft, index: DraftIndex, lanes: Lanes, shift: tuple[float, float]
) -> Intersections:
    n, n_lanes = len(draft.intersections), len(index.lane_road)
    at = lanes.intersection[:n_lanes]
    lane = np.argsort(at, kind="stable").astype(np.int32)
    connector_at = lanes.intersection[n_lanes:]
    connector = np.argsort(connector_at, kind="stable").astype(np.int32)
    short = np.unique(index.lane_road[lanes.length[:n_lanes] < GROUP_LENGTH])
    group_start, group = joined_intersections(n, index.road_from[short], index.road_to[short])
    return Intersections(
        control=np.array([i.control for i in draft.intersections], np.uint8),
        x=np.array([i.x for i in draft.intersections], np.float64) - shift[0],
        y=np.array([i.y for i in draft.intersections], np.float64) - shift[1],
        lane_start=_starts(at[lane], n),
        lane=lane,
        connector_start=_starts(connector_at[connector], n),
        connector=connector,
        group_start=group_start,
        group=group,
    )


def _zones(draft: Draft, index: DraftIndex) -> Zones:
    pools = []
    for names in ([z.origins for z in draft.zones], [z.destinations for z in draft.zones]):
        pooled = [index.intersection[name] for zone in names for name in zone]
        sizes = [len(zone) for zone in names]
        pools += [np.cumsum([0, *sizes]).astype(np.int32), np.array(pooled, np.int32)]
    return Zones(*pools)


def _declared_lengths(draft: Draft, shapes: Shapes) -> NDArray[np.float64]:
    """How long the source says that each lane is, m; that of its shape where it says nothing."""
    lanes = [lane for r in draft.roads for lane in r.lanes]
    said = zip(lanes, shapes.length.tolist(), strict=True)
    return np.array(
        [lane.declared_length if lane.declared_length > 0.0 else length for lane, length in said],
        np.float64,
    )


def seal(network: Network) -> Network:
    """Make every array of a network read-only."""
    for group in network.arrays:
        for array in group:
            array.flags.writeable = False
    for array in (network.points, network.point_start, network.station, network.declared_length):
        array.flags.writeable = False
    network.height.flags.writeable = False
    for array in (
        *network.zones, *network.banned, *network.actuation, *network.zebras, *network.streets,
        *network.levels,
    ):  # fmt: skip
        array.flags.writeable = False
    for column in network.surroundings:
        column.flags.writeable = False
    return network


def finish(draft: Draft, lateral_acceleration: float | None = None) -> Network:
    """Turn a draft into a network.

    lateral_acceleration: m/s^2 that drivers accept in bends, those of connectors whose speed the
    source gives included; None: what the source gives, or LATERAL_ACCELERATION, and connectors are
    driven at the source's speeds, and roads where their bends do not bind in the source.
    Raises NetworkError for names that are unknown or given twice, numbers out of range, shapes
    without extent.
    """
    own_limits = lateral_acceleration is not None
    if lateral_acceleration is None:
        lateral_acceleration = draft.lateral_acceleration or LATERAL_ACCELERATION
    if not 0.0 < lateral_acceleration < math.inf:
        raise NetworkError(
            f"lateral acceleration {lateral_acceleration}; give a positive number of m/s^2"
        )
    draft = numbered_by_place(draft)
    index = index_draft(draft)
    signals = pack_signals(draft.signals)
    road_shapes, shift = lane_shapes(draft)
    shapes, road_shapes, across = joined(road_shapes, connector_shapes(index, road_shapes, shift))
    lanes = _lanes(draft, index, shapes, lateral_acceleration, own_limits)
    intersections = _intersections(draft, index, lanes, shift)
    connectors, conflicts = _crossings(draft, index, lanes, intersections, shapes, road_shapes)
    roads = _roads(draft, index, lanes)
    arrays = NetworkArrays(lanes, connectors, conflicts, intersections, roads, signals)
    height, steep = point_heights(draft, index, road_shapes, across, shift)
    lane_ids = tuple(lane.id for r in draft.roads for lane in r.lanes)
    plans = [signal.actuation for signal in draft.signals]
    street_names, streets = packed_streets(draft.roads)
    return seal(
        Network(
            name=draft.name,
            source=draft.source,
            arrays=arrays,
            actuation=lay_detectors(arrays, plans, {name: i for i, name in enumerate(lane_ids)}),
            points=shapes.points,
            point_start=shapes.start,
            station=shapes.station,
            road_ids=tuple(r.id for r in draft.roads),
            lane_ids=lane_ids,
            intersection_ids=tuple(i.id for i in draft.intersections),
            signal_ids=tuple(s.id for s in draft.signals),
            declared_length=_declared_lengths(draft, road_shapes),
            left_hand=draft.left_hand,
            projection=draft.projection,
            origin=(draft.origin[0] + shift[0], draft.origin[1] + shift[1]),
            notes=(*draft.remarks, *index.remarks),
            findings=(*moved(draft.findings, -shift[0], -shift[1]), *steep),
            zone_ids=tuple(zone.id for zone in draft.zones),
            zones=_zones(draft, index),
            zebras=packed_zebras(draft.zebras, (float(shift[0]), float(shift[1]))),
            surroundings=packed_areas(draft.areas, (float(shift[0]), float(shift[1]))),
            banned=packed_ways(draft.banned, index.road, index.road_from, index.road_to),
            height=height,
            levels=packed_levels(draft.roads),
            street_names=street_names,
            streets=streets,
        )
    )
