"""Fixes of a draft: of networks that say everything themselves, and of roads of any network.

Ids are those of roads and intersections; see roadnets.fixes.
"""

from collections.abc import Mapping

import numpy as np

from rushhour.kernels.network import ALL_WAY_STOP, NONE, SIGNAL, STOP, YIELD
from rushhour.roadnets.draft import Draft, DraftConnector, DraftIntersection, DraftRoad
from rushhour.roadnets.fixes import Fix, Fixes
from rushhour.roadnets.street_lines import Line

CONTROL = {"none": NONE, "yield": YIELD, "stop": STOP, "all_way_stop": ALL_WAY_STOP}
STRAIGHT_ON = np.radians(30.0)  # turns of less lead on


def fix_draft(draft: Draft, fixes: Fixes) -> None:
    """Work all fixes into the draft of a network that is no OpenStreetMap.

    Raises NetworkError for kinds that only OpenStreetMap has, and for ids that do not exist.
    """
    for fix in fixes.of("merge", "keep_apart", "lanes"):
        raise fixes.refused(fix, f"{fix.kind} is for OpenStreetMap only; drop the line")
    roads = {road.id: road for road in draft.roads}
    for fix in fixes.of("speed", "close"):
        if fix.ids[0] not in roads:
            raise fixes.refused(fix, "is no road of the network; correct or drop the line")
    for fix in fixes.of("speed"):
        speed = float(fix.value) / 3.6
        lanes = roads[fix.ids[0]].lanes
        if any(abs(lane.speed - speed) > 1e-9 for lane in lanes):
            fixes.use(fix)
        for lane in lanes:
            lane.speed = speed
    _close(draft, fixes)
    for fix in fixes.of("signals"):
        inter = _intersection(draft, fixes, fix, {})
        if fix.value:
            raise fixes.refused(fix, "signals can be added to OpenStreetMap only; drop the line")
        if inter.control == SIGNAL:
            _set_control(draft, inter, YIELD)
            fixes.use(fix)
    fix_roads(draft, fixes, {})


def fix_roads(draft: Draft, fixes: Fixes, home: Mapping[str, str]) -> None:
    """Work fixes of control, and of turns between two roads, into a draft.

    home: the intersection of a source id, where it has another name.
    """
    for fix in fixes.of("control"):
        inter = _intersection(draft, fixes, fix, home)
        control = CONTROL[fix.value]
        if inter.control == control:
            continue
        if control == STOP and not _has_minor(draft, inter):
            raise fixes.refused(fix, 'no street there is the minor one; use "all_way_stop"')
        _set_control(draft, inter, control)
        fixes.use(fix)
    _fix_turns(draft, fixes)


def _intersection(
    draft: Draft, fixes: Fixes, fix: Fix, home: Mapping[str, str]
) -> DraftIntersection:
    name = home.get(fix.ids[0], fix.ids[0])
    for inter in draft.intersections:
        if inter.id == name:
            return inter
    raise fixes.refused(fix, "is no intersection of the network; correct or drop the line")


def _at(draft: Draft, inter: DraftIntersection) -> list[DraftConnector]:
    """The movements of an intersection."""
    arriving = {road.id for road in draft.roads if road.to_intersection == inter.id}
    return [c for c in draft.connectors if c.from_road in arriving]


def _has_minor(draft: Draft, inter: DraftIntersection) -> bool:
    ranks = {road.priority for road in draft.roads if road.to_intersection == inter.id}
    return len(ranks) > 1


def _set_control(draft: Draft, inter: DraftIntersection, control: int) -> None:
    """Give an intersection another control; who yields follows from priorities and turns."""
    for c in _at(draft, inter):
        c.signal, c.link, c.must_stop = None, -1, False
    inter.control, inter.yields = control, None
    used = {c.signal for c in draft.connectors}
    draft.signals = [signal for signal in draft.signals if signal.id in used]


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
    _keep(draft, [c.from_road not in closed and c.to_road not in closed for c in draft.connectors])


def _keep(draft: Draft, kept: list[bool]) -> None:
    """Drop connectors, and what intersections say of them."""
    place: dict[int, int] = {}
    for old, keep in enumerate(kept):
        if keep:
            place[old] = len(place)
    draft.connectors = [c for c, keep in zip(draft.connectors, kept, strict=True) if keep]
    for inter in draft.intersections:
        inter.foes = [(place[i], place[j]) for i, j in inter.foes if i in place and j in place]
        if inter.yields is not None:
            inter.yields = [
                (place[i], place[j]) for i, j in inter.yields if i in place and j in place
            ]


def _fix_turns(draft: Draft, fixes: Fixes) -> None:
    turns = [fix for fix in fixes.of("turns") if not fixes.is_used(fix)]
    if not turns:
        return
    roads = {road.id: road for road in draft.roads}
    banned = set()
    for fix in turns:
        if len(fix.ids) != 2:
            continue
        for name in fix.ids:
            if name not in roads:
                raise fixes.refused(fix, f"{name[:40]!r} is no road of the network; correct it")
        a, b = (roads[name] for name in fix.ids)
        if a.to_intersection != b.from_intersection:
            raise fixes.refused(fix, "the first road does not lead to the second; correct the ids")
        exists = any((c.from_road, c.to_road) == fix.ids for c in draft.connectors)
        if exists == (fix.value == "allow"):
            continue
        fixes.use(fix)
        if fix.value == "ban":
            banned.add(fix.ids)
        else:
            _allow(draft, fixes, fix, a, b)
    if banned:
        _keep(draft, [(c.from_road, c.to_road) not in banned for c in draft.connectors])


def _allow(draft: Draft, fixes: Fixes, fix: Fix, a: DraftRoad, b: DraftRoad) -> None:
    """Connect two roads: lane to lane straight on, else from and to the lane on that side."""
    inter = next(i for i in draft.intersections if i.id == a.to_intersection)
    if inter.control == SIGNAL:
        raise fixes.refused(fix, "has no signal there; take the lights off it first")
    angle = _heading(b.lanes[0].shape[:2]) - _heading(a.lanes[0].shape[-2:])
    angle = (angle + np.pi) % (2.0 * np.pi) - np.pi
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
