"""Fixes of a draft: of networks that say everything themselves, and of roads of any network.

Ids are those of roads and intersections; see roadnets.fixes.
"""

from collections.abc import Mapping

import numpy as np

from rushhour.kernels.core.network import ALL_WAY_STOP, NONE, SIGNAL, STOP, YIELD
from rushhour.roadnets.drafts.draft import Draft, DraftConnector, DraftIntersection, DraftRoad
from rushhour.roadnets.drafts.fixed_lanes import (
    fix_lanes,
    fix_stop_lines,
    keep_connectors,
    two_roads,
    unlit_end,
)
from rushhour.roadnets.drafts.fixed_plans import fix_plans
from rushhour.roadnets.fixes import ENTRY_CONTROLS, Fix, Fixes
from rushhour.roadnets.geometry.angles import wrapped
from rushhour.roadnets.geometry.street_lines import Line

CONTROL = {"none": NONE, "yield": YIELD, "stop": STOP, "all_way_stop": ALL_WAY_STOP}
SAME_SPEED = 0.005  # m/s, as files round
STRAIGHT_ON = np.radians(30.0)  # turns of less lead on


def fix_draft(draft: Draft, fixes: Fixes) -> None:
    """Work all fixes into the draft of a network that is no OpenStreetMap.

    Raises NetworkError for kinds that only OpenStreetMap has, and for ids that do not exist.
    """
    for fix in fixes.of("merge", "keep_apart", "junction", "lanes"):
        raise fixes.refused(fix, f"{fix.kind} is for OpenStreetMap only; drop the line")
    roads = {road.id: road for road in draft.roads}
    for fix in fixes.of("speed", "close"):
        if fix.ids[0] not in roads:
            raise fixes.no_road(fix, fix.ids[0])
    for fix in fixes.of("speed"):
        speed = float(fix.value) / 3.6
        lanes = roads[fix.ids[0]].lanes
        if any(abs(lane.speed - speed) > SAME_SPEED for lane in lanes):
            fixes.use(fix)
        for lane in lanes:
            lane.speed = speed
    _close(draft, fixes)
    places = _Intersections(draft, {})
    for fix in fixes.of("signals"):
        inter = places.find(fixes, fix)
        if fix.value:
            raise fixes.refused(fix, "signals can be added to OpenStreetMap only; drop the line")
        if inter.control == SIGNAL:
            places.set_control(inter, YIELD)
            fixes.use(fix)
    places.drop_signals()
    fix_roads(draft, fixes, {})


def fix_roads(draft: Draft, fixes: Fixes, home: Mapping[str, str]) -> None:
    """Work fixes of control, of turns, lanes and stop lines of roads, and of plans into a draft.

    home: the intersection of a source id, where it has another name.
    """
    if any(fixes.of("control")):
        _fix_controls(fixes, _Intersections(draft, home))
    _fix_turns(draft, fixes)
    fix_lanes(draft, fixes)
    fix_stop_lines(draft, fixes)
    fix_plans(draft, fixes, home)


def _fix_controls(fixes: Fixes, places: "_Intersections") -> None:
    for fix in fixes.of("control"):
        with fixes.attempt(fix):
            _fix_control(fixes, fix, places)
    places.drop_signals()


def _fix_control(fixes: Fixes, fix: Fix, places: "_Intersections") -> None:
    if places.home.get(fix.ids[0], fix.ids[0]) not in places.by_id and fix.ids[0] in places.end:
        _fix_entry(fixes, fix, places)
        return
    inter = places.find(fixes, fix)
    if fix.value not in CONTROL:
        raise fixes.refused(fix, f"{fix.value!r} is for roads; wanted {', '.join(CONTROL)}")
    control = CONTROL[fix.value]
    if inter.control == control:
        return
    if control == STOP and len(places.ranks.get(inter.id, ())) < 2:
        raise fixes.refused(fix, 'no street there is the minor one; use "all_way_stop"')
    places.set_control(inter, control)
    fixes.use(fix)


def _fix_entry(fixes: Fixes, fix: Fix, places: "_Intersections") -> None:
    """Give one road a sign where it ends: stop, yield, or priority before all others there."""
    if fix.value not in ENTRY_CONTROLS:
        raise fixes.refused(
            fix, f"{fix.value!r} is for intersections; wanted {', '.join(ENTRY_CONTROLS)}"
        )
    inter = places.by_id[places.end[fix.ids[0]]]
    every = places.movements.get(inter.id, [])
    own = [c for c in every if c.from_road == fix.ids[0]]
    others = [c for c in every if c.from_road != fix.ids[0]]
    if inter.control == SIGNAL:
        raise fixes.refused(fix, "has lights at its end; take them off first")
    if not own or not others:
        raise fixes.refused(fix, "meets no other road at its end; drop the line")
    before = [(c.must_stop, places.rank(c)) for c in every]
    ranks = [places.rank(c) for c in others]
    if inter.control == ALL_WAY_STOP:
        for c in every:
            c.must_stop = True
    for c in own:
        c.must_stop = fix.value == "stop"
        c.priority = max(ranks) + 1 if fix.value == "priority" else min(ranks) - 1
    stops = any(c.must_stop for c in every)
    wanted = STOP if stops else YIELD
    if inter.control == wanted and before == [(c.must_stop, places.rank(c)) for c in every]:
        return
    inter.control, inter.yields = wanted, None
    fixes.use(fix)


class _Intersections:
    """The intersections of a draft by id, and what arrives at each."""

    def __init__(self, draft: Draft, home: Mapping[str, str]) -> None:
        self.draft = draft
        self.home = home
        self.by_id = {inter.id: inter for inter in draft.intersections}
        self.end = {road.id: road.to_intersection for road in draft.roads}
        self.priority = {road.id: road.priority for road in draft.roads}
        self.movements: dict[str, list[DraftConnector]] = {}
        for c in draft.connectors:
            self.movements.setdefault(self.end[c.from_road], []).append(c)
        self.ranks: dict[str, set[int]] = {}
        for road in draft.roads:
            self.ranks.setdefault(road.to_intersection, set()).add(road.priority)

    def rank(self, c: DraftConnector) -> int:
        """The priority of a movement."""
        return self.priority[c.from_road] if c.priority is None else c.priority

    def find(self, fixes: Fixes, fix: Fix) -> DraftIntersection:
        """The intersection that a fix names. Raises NetworkError if there is none."""
        inter = self.by_id.get(self.home.get(fix.ids[0], fix.ids[0]))
        if inter is None and fix.ids[0] in fixes.ends_before:
            raise fixes.no_road(fix, fix.ids[0])
        if inter is None:
            raise fixes.refused(fix, "is no intersection of the network; correct or drop the line")
        return inter

    def set_control(self, inter: DraftIntersection, control: int) -> None:
        """Give an intersection another control; who yields follows from priorities and turns."""
        for c in self.movements.get(inter.id, ()):
            c.signal, c.link, c.must_stop = None, -1, False
        inter.control, inter.yields = control, None

    def drop_signals(self) -> None:
        """Leave out programs that no movement has any more."""
        used = {c.signal for c in self.draft.connectors}
        self.draft.signals = [signal for signal in self.draft.signals if signal.id in used]


def _close(draft: Draft, fixes: Fixes) -> None:
    closed = set()
    for fix in fixes.of("close"):
        if not fix.value:
            raise fixes.refused(fix, "roads can be opened in OpenStreetMap only; drop the line")
        closed.add(fix.ids[0])
        fixes.use(fix)
    if not closed:
        return
    draft.roads = [road for road in draft.roads if road.id not in closed]
    draft.banned = [way for way in draft.banned if closed.isdisjoint(way)]
    keep_connectors(
        draft, [c.from_road not in closed and c.to_road not in closed for c in draft.connectors]
    )


def _fix_turns(draft: Draft, fixes: Fixes) -> None:
    turns = [fix for fix in fixes.of("turns") if len(fix.ids) == 2]
    if not turns:
        return
    roads = {road.id: road for road in draft.roads}
    pairs = {(c.from_road, c.to_road) for c in draft.connectors}
    banned = set()
    for fix in turns:
        with fixes.attempt(fix):
            a, b = two_roads(roads, fixes, fix)
            if (fix.ids in pairs) == (fix.value == "allow"):
                continue
            if fix.value == "ban":
                banned.add(fix.ids)
            else:
                _allow(draft, fixes, fix, a, b)
            fixes.use(fix)
    if banned:
        keep_connectors(draft, [(c.from_road, c.to_road) not in banned for c in draft.connectors])


def _allow(draft: Draft, fixes: Fixes, fix: Fix, a: DraftRoad, b: DraftRoad) -> None:
    """Connect two roads: lane to lane straight on, else from and to the lane on that side."""
    inter = unlit_end(draft, fixes, fix, a)
    angle = _heading(b.lanes[0].shape[:2]) - _heading(a.lanes[0].shape[-2:])
    angle = wrapped(angle)
    most = min(len(a.lanes), len(b.lanes))
    pairs = [(i, i) for i in range(most)]
    if abs(angle) > STRAIGHT_ON:
        kerb = (angle < 0.0) != draft.left_hand
        pairs = [(0, 0) if kerb else (len(a.lanes) - 1, len(b.lanes) - 1)]
    draft.connectors += [DraftConnector(a.id, i, b.id, j) for i, j in pairs]
    inter.yields = None
    if inter.control == NONE:
        inter.control = YIELD


def _heading(points: Line) -> float:
    dx, dy = points[1] - points[0]
    return float(np.arctan2(dy, dx))
