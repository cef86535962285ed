"""A SUMO grid with signals as CityFlow's files: the same roads, lanes, turns, phases and trips.

What CityFlow cannot say is lost: a driver turns left through gaps in every phase that lets it, yellow
is red for all, and a vehicle enters at the start of its first road.
"""

import json
from math import hypot
from pathlib import Path
from statistics import mean
from typing import Any, Final

from fleets import trips_of

TURNS: Final = {"s": "go_straight", "l": "turn_left", "r": "turn_right"}
CAR: Final = {  # the defaults of SUMO's passenger cars
    "length": 5.0, "width": 1.8, "maxPosAcc": 2.6, "maxNegAcc": 9.0, "usualPosAcc": 2.6,
    "usualNegAcc": 4.5, "minGap": 2.5, "maxSpeed": 55.55, "headwayTime": 1.0,
}  # fmt: skip


def write_cityflow(network: Path, routes: Path, folder: Path, lane_changes: bool) -> Path:
    """Write roadnet.json, flow.json and config.json into a folder; the path of the last."""
    import sumolib  # type: ignore[import-not-found, import-untyped, unused-ignore]

    net = sumolib.net.readNet(str(network), withPrograms=True)
    roads = [_road(edge) for edge in net.getEdges()]
    nodes = [_intersection(net, node) for node in net.getNodes()]
    flows = [
        {
            "vehicle": CAR, "route": trip.roads, "interval": 1.0,
            "startTime": int(trip.depart), "endTime": int(trip.depart),
        }
        for trip in trips_of(routes)
    ]  # fmt: skip
    config = {
        "interval": 1.0, "seed": 0, "dir": f"{folder}/", "roadnetFile": "roadnet.json",
        "flowFile": "flow.json", "rlTrafficLight": False, "laneChange": lane_changes,
        "saveReplay": False,
    }  # fmt: skip
    (folder / "roadnet.json").write_text(json.dumps({"intersections": nodes, "roads": roads}))
    (folder / "flow.json").write_text(json.dumps(flows))
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    return path


def _road(edge: Any) -> dict[str, Any]:
    ends = edge.getFromNode(), edge.getToNode()
    return {
        "id": edge.getID(),
        "startIntersection": ends[0].getID(),
        "endIntersection": ends[1].getID(),
        "points": [_point(node) for node in ends],
        "lanes": [{"width": 3.2, "maxSpeed": lane.getSpeed()} for lane in edge.getLanes()],
    }


def _intersection(net: Any, node: Any) -> dict[str, Any]:
    links: dict[tuple[str, str], dict[str, Any]] = {}
    signals: dict[tuple[str, str], list[int]] = {}
    for turn in node.getConnections():
        begin, end = turn.getFrom(), turn.getTo()
        pair = begin.getID(), end.getID()
        link = links.setdefault(pair, {
            "type": TURNS[turn.getDirection()], "startRoad": pair[0], "endRoad": pair[1],
            "laneLinks": [],
        })  # fmt: skip
        link["laneLinks"].append({  # CityFlow counts lanes from the middle of the road
            "startLaneIndex": begin.getLaneNumber() - 1 - turn.getFromLane().getIndex(),
            "endLaneIndex": end.getLaneNumber() - 1 - turn.getToLane().getIndex(),
            "points": [],
        })  # fmt: skip
        signals.setdefault(pair, []).append(turn.getTLLinkIndex())
    programs = list(net.getTLS(node.getID()).getPrograms().values())
    phases = [
        {
            "time": phase.duration,
            "availableRoadLinks": [
                k
                for k, of in enumerate(signals.values())
                if any(phase.state[i] in "gG" for i in of)
            ],
        }
        for phase in programs[0].getPhases()
    ]
    roads = [*node.getIncoming(), *node.getOutgoing()]
    return {
        "id": node.getID(), "point": _point(node), "virtual": False,
        "width": mean(_room(edge) for edge in roads),
        "roads": [edge.getID() for edge in roads],
        "roadLinks": list(links.values()),
        "trafficLight": {"lightphases": phases},
    }  # fmt: skip


def _room(edge: Any) -> float:
    """How far a road ends before the middle of its intersections, m."""
    (x0, y0), (x1, y1) = (node.getCoord() for node in (edge.getFromNode(), edge.getToNode()))
    return 0.5 * max(0.0, hypot(x1 - x0, y1 - y0) - float(edge.getLength()))


def _point(node: Any) -> dict[str, float]:
    x, y = node.getCoord()
    return {"x": x, "y": y}
