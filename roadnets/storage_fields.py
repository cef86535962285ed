"""What a stored network consists of: every array with type, unit, size and what it may hold."""

from math import inf
from typing import Final, NamedTuple

import numpy as np

from rushhour.kernels.core.vehicles import MAX_LANES
from rushhour.roadnets.build import FASTEST, WIDEST
from rushhour.roadnets.drafts.index import HIGHEST_PRIORITY
from rushhour.roadnets.drafts.shapes import LONGEST
from rushhour.roadnets.levels import MOST_LEVEL
from rushhour.roadnets.reading.values import FARTHEST
from rushhour.roadnets.signals.programs import LATEST
from rushhour.roadnets.signals.programs import LONGEST as LONGEST_PHASE


class Field(NamedTuple):
    """One array of the file.

    size names a count of `storage`, or is "" for a pool whose size its offsets give. holds is
    "finite", "positive" or "any" (no nan), "code N" (0 .. N), "index COUNT" (0 .. count-1), "none
    or COUNT" (-1 too), or "offsets POOL" (from 0, never falling, to the size of that pool). most:
    the largest value of a number, either way.
    """

    dtype: type[np.generic]
    unit: str
    size: str
    holds: str
    most: float = inf


F8: Final = np.float64
I4: Final = np.int32

FIELDS: Final[dict[str, dict[str, Field]]] = {
    "lanes": {
        "length": Field(F8, "m", "lanes", "positive", LONGEST),
        "speed": Field(F8, "m/s", "lanes", "positive", FASTEST),
        "width": Field(F8, "m", "lanes", "positive", WIDEST),
        "permissions": Field(np.uint32, "bit mask of vehicle classes", "lanes", "any"),
        "road": Field(I4, "road, -1 a connector", "lanes", "none or roads"),
        "number": Field(I4, "from the kerb, -1 a connector", "lanes", "none or lanes"),
        "intersection": Field(I4, "intersection", "lanes", "none or intersections"),
        "out_start": Field(I4, "connector", "road_lanes+1", "offsets connectors"),
        "in_start": Field(I4, "place in in_connector", "road_lanes+1", "offsets connectors"),
        "in_connector": Field(I4, "connector", "connectors", "index connectors"),
        "profile_start": Field(I4, "place in profile", "lanes+1", "offsets lanes/profile"),
        "profile": Field(F8, "m/s", "", "positive", FASTEST),
        "entry_speed": Field(F8, "m/s, inf if straight", "lanes", "any"),
    },
    "connectors": {
        "from_lane": Field(I4, "road lane", "connectors", "index road_lanes"),
        "to_lane": Field(I4, "road lane", "connectors", "index road_lanes"),
        "intersection": Field(I4, "intersection", "connectors", "index intersections"),
        "turn": Field(np.int8, "0 straight, 1 left, 2 right, 3 U-turn", "connectors", "code 3"),
        "signal": Field(I4, "program, -1 none", "connectors", "none or signals"),
        "link": Field(I4, "letter of the program, -1 none", "connectors", "any"),
        "rank": Field(I4, "movements it yields to", "connectors", "any"),
        "must_stop": Field(np.bool_, "", "connectors", "any"),
        "free": Field(np.bool_, "", "connectors", "any"),
        "conflict_start": Field(I4, "conflict", "connectors+1", "offsets conflicts/other"),
    },
    "conflicts": {
        "other": Field(I4, "connector", "", "index connectors"),
        "here_in": Field(F8, "m", "conflicts", "finite", LONGEST),
        "here_out": Field(F8, "m", "conflicts", "finite", LONGEST),
        "there_in": Field(F8, "m", "conflicts", "finite", LONGEST),
        "there_out": Field(F8, "m", "conflicts", "finite", LONGEST),
        "yields": Field(np.bool_, "", "conflicts", "any"),
    },
    "intersections": {
        "control": Field(
            np.uint8, "0 none, 1 signal, 2 all-way stop, 3 stop, 4 yield", "intersections", "code 4"
        ),
        "x": Field(F8, "m", "intersections", "finite", FARTHEST),
        "y": Field(F8, "m", "intersections", "finite", FARTHEST),
        "lane_start": Field(I4, "place in lane", "intersections+1", "offsets road_lanes"),
        "lane": Field(I4, "road lane", "road_lanes", "index road_lanes"),
        "connector_start": Field(I4, "place in connector", "intersections+1", "offsets connectors"),
        "connector": Field(I4, "connector", "connectors", "index connectors"),
        "group_start": Field(I4, "place in group", "", "offsets intersections"),
        "group": Field(I4, "intersection", "intersections", "index intersections"),
    },
    "roads": {
        "first_lane": Field(I4, "road lane", "roads", "index road_lanes"),
        "lane_count": Field(I4, "", "roads", "positive", MAX_LANES),
        "from_intersection": Field(I4, "intersection", "roads", "none or intersections"),
        "to_intersection": Field(I4, "intersection", "roads", "none or intersections"),
        "length": Field(F8, "m", "roads", "positive", LONGEST),
        "speed": Field(F8, "m/s", "roads", "positive", FASTEST),
        "priority": Field(I4, "larger is more important", "roads", "any", HIGHEST_PRIORITY),
        "out_start": Field(I4, "place in out", "roads+1", "offsets roads/out"),
        "out": Field(I4, "road", "", "index roads"),
        "ends_only": Field(np.bool_, "", "roads", "any"),
    },
    "signals": {
        "phase_start": Field(I4, "place in phase_end", "signals+1", "offsets signals/phase_end"),
        "phase_end": Field(F8, "s", "", "positive", LATEST),
        "cycle": Field(F8, "s", "signals", "positive", LATEST),
        "offset": Field(F8, "s", "signals", "finite", LATEST),
        "links": Field(I4, "letters per state", "signals", "any"),
        "state_start": Field(I4, "place in state", "signals+1", "offsets signals/state"),
        "state": Field(
            np.uint8, "0 off, 1 red, 2 yellow, 3 green, 4 green yield, 5 stop then go", "", "code 5"
        ),
    },
    "actuation": {
        "control": Field(np.uint8, "0 fixed times, 1 actuated", "signals", "code 1"),
        "least": Field(F8, "s, 0 by the clock", "phases", "finite", LONGEST_PHASE),
        "most": Field(F8, "s, 0 by the clock", "phases", "finite", LONGEST_PHASE),
        "next_start": Field(I4, "place in next", "phases+1", "offsets actuation/next"),
        "next": Field(I4, "phase of the program", "", "index phases"),
        "watch_start": Field(I4, "place in watch", "phases+1", "offsets actuation/watch"),
        "watch": Field(I4, "detector", "", "index detectors"),
        "lane": Field(I4, "lane of a detector", "detectors", "index lanes"),
        "place": Field(F8, "m", "detectors", "finite", LONGEST),
        "gap": Field(F8, "s", "detectors", "positive", LONGEST_PHASE),
    },
    "zones": {
        "origin_start": Field(I4, "place in origin", "zones+1", "offsets zones/origin"),
        "origin": Field(I4, "intersection", "", "index intersections"),
        "destination_start": Field(
            I4, "place in destination", "zones+1", "offsets zones/destination"
        ),
        "destination": Field(I4, "intersection", "", "index intersections"),
    },
    "banned": {
        "start": Field(I4, "place in road", "", "offsets banned/road"),
        "road": Field(I4, "road", "", "index roads"),
    },
    "zebras": {
        "x0": Field(F8, "m", "zebras", "finite", FARTHEST),
        "y0": Field(F8, "m", "zebras", "finite", FARTHEST),
        "x1": Field(F8, "m", "zebras", "finite", FARTHEST),
        "y1": Field(F8, "m", "zebras", "finite", FARTHEST),
        "width": Field(F8, "m", "zebras", "positive", WIDEST),
    },
    "surroundings": {
        "kind": Field(np.uint8, "0 green, 1 water, 2 building", "rings", "code 2"),
        "start": Field(I4, "place in x", "rings+1", "offsets surroundings/x"),
        "x": Field(np.float32, "m", "places", "finite", FARTHEST),
        "y": Field(np.float32, "m", "places", "finite", FARTHEST),
        "corner": Field(I4, "place in x, three of each triangle", "", "index places"),
    },
    "levels": {
        "road": Field(I4, "road", "stretches", "index roads"),
        "begin": Field(F8, "share of the road's length", "stretches", "finite", 1.0),
        "end": Field(F8, "share of the road's length", "stretches", "finite", 1.0),
        "level": Field(np.int8, "above the ground", "stretches", "any", MOST_LEVEL),
    },
    "streets": {
        "name": Field(I4, "place in street_names, -1 none", "", "none or street_names"),
        "ref": Field(I4, "place in street_names, -1 none", "", "none or street_names"),
    },
    "shapes": {
        "points": Field(F8, "m, east and north of the origin", "", "finite", FARTHEST),
        "point_start": Field(I4, "place in points", "lanes+1", "offsets shapes/points"),
        "station": Field(F8, "m", "points", "finite", LONGEST),
        "declared_length": Field(F8, "m", "road_lanes", "positive"),
        "height": Field(F8, "m, of each point; of none where all is level", "", "finite", FARTHEST),
    },
}
NAMES: Final = {
    "road_ids": "roads",
    "lane_ids": "road_lanes",
    "intersection_ids": "intersections",
    "signal_ids": "signals",
    "zone_ids": "zones",
    "street_names": "",
    "notes": "",
}
