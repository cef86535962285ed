"""A small hand-made CityFlow road network and flows, as the objects that JSON files hold."""

import json
from pathlib import Path
from typing import Any

# Two real intersections 200 m apart: a with four arms and lights, b with three and none.
PLACES = {
    "w": (-100, 0), "n": (0, 100), "s": (0, -100), "a": (0, 0), "b": (200, 0), "e": (300, 0),
    "m": (200, 100),
}  # fmt: skip
WIDTH = {"a": 10, "b": 20}  # m
ARMS = {"a": "wnbs", "b": "ame"}
LANES = [{"width": 3, "maxSpeed": 12.5}, {"width": 4, "maxSpeed": 10}]  # inner, outer
# (entry, exit): type and the two lane indices, counted from the inner lane.
TURNS = {
    **{pair: "go_straight" for pair in ("wb", "bw", "ns", "sn", "ae", "ea")},
    **{pair: "turn_left" for pair in ("wn", "sw", "bs", "nb", "am", "me")},
    **{pair: "turn_right" for pair in ("ws", "sb", "bn", "nw", "ma", "em")},
}
LINKS = {
    "a": ["wb", "wn", "ws", "bw", "bs", "bn", "ns", "nb", "nw", "sn", "sw", "sb"],
    "b": ["ae", "am", "ea", "em", "ma", "me"],
}
ALWAYS = ["ws", "bn", "nw", "sb"]
PHASES = [  # of a: seconds, open movements
    (30, ["wb", "bw", "wn", "bs", *ALWAYS]),  # left turns against oncoming traffic
    (20, ["ns", "sn", *ALWAYS]),
    (8, ["nb", "sw", *ALWAYS]),
    (5, ALWAYS),
]
CAR = {
    "length": 5.0, "width": 2.0, "maxPosAcc": 2.0, "maxNegAcc": 4.5, "usualPosAcc": 2.0,
    "usualNegAcc": 4.5, "minGap": 2.5, "maxSpeed": 11.111, "headwayTime": 2,
}  # fmt: skip


def point(x: float, y: float) -> dict[str, float]:
    return {"x": x, "y": y}


def road_link(at: str, pair: str) -> dict[str, Any]:
    """A movement over one lane link: turns keep their side, straight ones both lanes."""
    kind = TURNS[pair]
    lanes = {"go_straight": (0, 1), "turn_left": (0,), "turn_right": (1,)}[kind]
    return {
        "type": kind,
        "startRoad": f"{pair[0]}-{at}",
        "endRoad": f"{at}-{pair[1]}",
        "laneLinks": [{"startLaneIndex": i, "endLaneIndex": i, "points": []} for i in lanes],
    }


def intersection(name: str) -> dict[str, Any]:
    """An intersection with its road links and lights."""
    table: dict[str, Any] = {"id": name, "point": point(*PLACES[name]), "virtual": True}
    if name in WIDTH:
        phases = [(30, LINKS["b"])] if name == "b" else PHASES
        table |= {
            "virtual": False,
            "width": WIDTH[name],
            "roads": [f"{arm}-{name}" for arm in ARMS[name]]
            + [f"{name}-{arm}" for arm in ARMS[name]],
            "roadLinks": [road_link(name, pair) for pair in LINKS[name]],
            "trafficLight": {
                "lightphases": [
                    {"time": time, "availableRoadLinks": [LINKS[name].index(p) for p in pairs]}
                    for time, pairs in phases
                ]
            },
        }
    return table


def town() -> dict[str, Any]:
    """The whole network."""
    pairs = dict.fromkeys(
        (p, q) for a, arms in ARMS.items() for b in arms for p, q in ((a, b), (b, a))
    )
    return {
        "intersections": [intersection(name) for name in PLACES],
        "roads": [
            {
                "id": f"{p}-{q}",
                "startIntersection": p,
                "endIntersection": q,
                "points": [point(*PLACES[p]), point(*PLACES[q])],
                "lanes": [dict(lane) for lane in LANES],
            }
            for p, q in pairs
        ],
    }


def flow(*route: str, **changes: Any) -> dict[str, Any]:
    """A flow of cars, one at 0 s unless told otherwise."""
    base = {"vehicle": dict(CAR), "route": list(route), "interval": 1.0, "startTime": 0}
    return {**base, "endTime": 0, **changes}


def written(folder: Path, content: object, name: str = "town.json") -> Path:
    """The file of an object."""
    path = folder / name
    path.write_text(json.dumps(content))
    return path
