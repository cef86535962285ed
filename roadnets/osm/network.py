"""OpenStreetMap: from a file to the draft of a lane network, rule by rule (networks.md 1 - 5)."""

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np

from rushhour.roadnets.drafts.draft import Draft
from rushhour.roadnets.drafts.fixes import fix_roads
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.fixes import Fixes
from rushhour.roadnets.graphs.streets import read_graph_map
from rushhour.roadnets.graphs.tables import is_graph
from rushhour.roadnets.osm.areas import read_areas
from rushhour.roadnets.osm.built_up import BuiltUp, built_up
from rushhour.roadnets.osm.centre_lanes import open_turn_lanes
from rushhour.roadnets.osm.country import Country, country_of
from rushhour.roadnets.osm.cramped import join_cramped
from rushhour.roadnets.osm.drafting import Drafter
from rushhour.roadnets.osm.entries import attach_service, set_service_aside
from rushhour.roadnets.osm.fixes import fix_merges, fix_signals, fix_tags, fix_turns, renumbers
from rushhour.roadnets.osm.links import Streets, streets_of
from rushhour.roadnets.osm.merging import Merged, merge
from rushhour.roadnets.osm.movements import turns_of, usable
from rushhour.roadnets.osm.naming import Called, called, is_overtaken, meeting
from rushhour.roadnets.osm.ramps import open_acceleration_lanes
from rushhour.roadnets.osm.report import Kept, limit_remarks, open_ways_of, report
from rushhour.roadnets.osm.restrictions import Bans, bans_of
from rushhour.roadnets.osm.rings import close_rings, narrow_rings, widen_rings
from rushhour.roadnets.osm.service import connecting
from rushhour.roadnets.osm.short_streets import join_short_streets
from rushhour.roadnets.osm.sides import left_hand, mirror, mirror_back
from rushhour.roadnets.osm.signs import Signs, signs_of, split_at
from rushhour.roadnets.osm.slips import slips_of
from rushhour.roadnets.osm.transitions import (
    lay_carriageways_apart,
    lay_transitions,
    part_carriageways,
    part_ramps,
)
from rushhour.roadnets.osm.ways.area import Area, Box, read_polygon
from rushhour.roadnets.osm.ways.legal import place_of
from rushhour.roadnets.osm.ways.reading import OsmMap, read_osm
from rushhour.roadnets.reading.remarks import Remarks

__all__ = ["OsmOptions", "OsmPlan", "plan_osm", "read_osm_draft"]


@dataclass(frozen=True)
class OsmOptions:
    """How a map is read. speeds: km/h by class of road, instead of the defaults."""

    service: str = (
        "connected"  # service ways: "yes", "no" or "connected", only those that lead through
    )
    country: str = ""  # ISO 3166, such as PT or US-OH; "": by what the map says and where it is
    private: bool = False  # private streets are open
    box: Box | None = None  # only what lies within
    speeds: dict[str, float] = field(default_factory=dict)
    polygon: Path | None = None  # a file; only what lies within
    fixes: Fixes | None = None  # what overrules the map


@dataclass(frozen=True)
class OsmPlan:
    """What a map says, before anything is drawn: its streets, and which nodes cross as one."""

    osm: OsmMap
    streets: Streets
    signs: Signs
    merged: Merged
    bans: Bans
    country: Country
    urban: dict[int, BuiltUp]  # of ways, by id
    left: bool  # the map is mirrored until it is drawn
    sides: Remarks  # on which side of the road one drives


def plan_osm(path: Path, options: OsmOptions, before: Called | None = None) -> OsmPlan:
    """Read a map and find its streets, signs and intersections.

    before: what is called how without fixes.
    Raises NetworkError for what is no map or has no road that is open.
    """
    area = None
    if options.box or options.polygon:
        polygon = read_polygon(options.polygon) if options.polygon else None
        area = Area(options.box, polygon)
    osm = (read_graph_map if is_graph(path) else read_osm)(path, options.service, area)
    fixes = options.fixes or Fixes()
    fix_tags(osm, fixes, options.private)
    if options.service == "connected":
        osm.ways = connecting(osm.ways, options.private)
    sides = Remarks()
    left = left_hand(osm, sides)
    if options.country:
        country = Country(place_of(options.country), "as given")
    else:
        country = country_of(osm, left)
    urban = built_up(osm)
    if left:
        mirror(osm)
    widen_rings(osm, country.code, options.private)
    made = None if before is None else before.made
    streets = streets_of(osm, country.place, options.speeds, options.private, urban, made)
    if not streets.links:
        raise NetworkError(f"{path}: no road is open to cars; see --private")
    streets.fixes = fixes
    close_rings(streets)
    service = set_service_aside(streets)
    open_turn_lanes(streets)
    open_acceleration_lanes(streets)
    signs = signs_of(osm, streets)
    split_at(streets, signs)
    streets.slips = slips_of(streets)
    together = {
        n for n, tags in osm.node_tags.items() if tags.get("junction") in ("yes", "intersection")
    }
    merged = merge(streets, signs.signals, together)
    fix_merges(streets, merged, fixes, later=bool(service))
    join_short_streets(streets, merged, signs)
    attach_service(streets, merged, signs, service)
    if service:
        fix_merges(streets, merged, fixes)
        join_short_streets(streets, merged, signs, service=True)
    bans = bans_of(osm.restrictions, streets)
    fix_turns(streets, bans, fixes)
    join_cramped(streets, merged, signs, bans)
    narrow_rings(streets, merged)
    fix_signals(signs, merged, fixes)
    lay_transitions(streets)
    lay_carriageways_apart(streets, merged)
    part_carriageways(streets)
    part_ramps(streets)
    return OsmPlan(osm, streets, signs, merged, bans, country, urban, left, sides)


def _without_fixes(path: Path, options: OsmOptions) -> Called | None:
    """What is called how without fixes that may cut ways otherwise; None where there are none."""
    fixes = options.fixes
    if fixes is None or not any(map(renumbers, fixes.of())):
        return None
    try:
        plan = plan_osm(path, replace(options, fixes=None))
    except NetworkError:  # as of a map that only fixes open
        return None
    before = called(plan.streets, plan.merged)
    fixes.ends_before = before.driven
    return before


def read_osm_draft(path: Path, options: OsmOptions | None = None) -> Draft:
    """Read a .osm, .osm.gz or .osm.pbf file, or a street graph of osmnx.

    Raises NetworkError for what is no map, or has no road that can be reached and left.
    """
    options = options or OsmOptions()
    before = _without_fixes(path, options)
    plan = plan_osm(path, options, before)
    streets, merged, signs, fixes = plan.streets, plan.merged, plan.signs, plan.streets.fixes
    turns = turns_of(streets, merged, plan.bans)
    used, core = usable(turns)
    if not used:
        raise NetworkError(f"{path}: no road can be both reached and left; give a larger map")
    drafter = Drafter(streets, merged, signs, turns, used, plan.country.code, before)
    draft = drafter.draft(plan.osm.name)
    ways = open_ways_of(plan.osm, streets)
    report(plan.osm, streets, merged, signs, Kept(set(turns.follow), used, core), ways)
    limits = limit_remarks(ways, plan.country, plan.urban, options.speeds)
    fix_roads(draft, fixes, {str(node): str(home) for node, home in merged.member.items()})
    now = cache(lambda: meeting(streets, merged, drafter.names))
    told = fixes.finish(lambda fix: before is not None and is_overtaken(fix, before, now()))
    draft.findings = fixes.standing(plan.sides.findings() + streets.remarks.findings())
    if plan.left:
        mirror_back(draft)
    draft.projection = plan.osm.projection
    if draft.projection and not is_graph(path):
        lines = np.concatenate([lane.shape for road in draft.roads for lane in road.lanes])
        box = (*lines.min(axis=0).tolist(), *lines.max(axis=0).tolist())
        draft.areas, said = read_areas(path, draft.projection, box)
        limits += [said] if said else []
    draft.remarks = limits + streets.remarks.lines() + told
    return draft
