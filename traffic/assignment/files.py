"""Routes as files: for `--demand` of any command (.h5), and for SUMO (.rou.xml)."""

import json
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import DemandError, RunError
from rushhour.roadnets.json_text import json_text
from rushhour.roadnets.model import Network
from rushhour.roadnets.writing import written
from rushhour.traffic.assignment.equilibrium import Assignment, Iteration
from rushhour.traffic.assignment.timed_ways import Sums
from rushhour.traffic.demand import model
from rushhour.traffic.demand.model import Demand, VehicleType
from rushhour.traffic.recording.demand_file import load_demand, save_demand

NEXT: Final = "next"
COLUMNS: Final = ("number", "gap", "mean_time", "total_delay", "unfinished", "switched", "cpu", "cpu_routing")  # fmt: skip


def save_assignment(path: Path, found: Assignment) -> None:
    """Write the ways, and what it takes to go on, into a demand file. Raises RunError if it cannot be."""
    more: dict[str, NDArray[Any]] = {
        f"assignment/{name}": np.array([getattr(one, name) for one in found.iterations], np.float64)
        for name in COLUMNS
    }
    if found.sums is not None:
        more |= {f"assignment/{name}": getattr(found.sums, name) for name in Sums._fields}
    text = json_text(found.settings).encode()
    more["assignment/settings"] = np.frombuffer(text, np.uint8)
    more["assignment/next_start"] = found.next.route_start
    more["assignment/next_roads"] = found.next.roads
    save_demand(path, found.demand, more)


def load_assignment(path: Path, network: Network) -> Assignment:
    """What `save_assignment` wrote. Raises RunError for another file, and for one of another network."""
    from dataclasses import replace

    names = [f"assignment/{name}" for name in (*COLUMNS, *Sums._fields, "next_start", "next_roads")]
    demand, more = load_demand(path, network, [*names, "assignment/settings"])
    settings = _settings(path, more.pop("assignment/settings", None))
    if len(more) < len(names):
        raise RunError(f"{path}: holds no assignment to go on with; leave out --resume")
    columns = [more[f"assignment/{name}"].tolist() for name in COLUMNS]
    iterations = [
        Iteration(int(n), gap, mean, delay, int(left), int(switched), cpu, routing)
        for n, gap, mean, delay, left, switched, cpu, routing in zip(*columns, strict=True)
    ]
    start = more["assignment/next_start"].astype(np.int64)
    roads = more["assignment/next_roads"].astype(np.int32)
    sound = start.size == len(demand) + 1 and start[0] == 0 and start[-1] == roads.size
    if (
        not sound
        or not ((roads >= 0) & (roads < network.n_roads)).all()
        or (np.diff(start) < 1).any()
    ):
        raise RunError(f"{path}: /assignment is damaged; leave out --resume")
    choice = np.zeros(roads.size, np.uint8)
    after = replace(demand, route_start=start, roads=roads, route_choice=choice)
    sums = Sums(*(more[f"assignment/{name}"].astype(np.float64) for name in Sums._fields))
    if any(one.ndim != 2 or one.shape != (len(sums.spent), network.n_roads) for one in sums):
        raise RunError(f"{path}: /assignment is damaged; leave out --resume")
    return Assignment(demand, after, sums, iterations, settings)


def _settings(path: Path, text: NDArray[Any] | None) -> dict[str, str]:
    """The settings of an assignment, by option; none of a file of a version that did not write them."""
    if text is None:
        return {}
    try:
        found = json.loads(text.astype(np.uint8).tobytes())
        return {str(name): str(value) for name, value in found.items()}
    except (ValueError, AttributeError):
        raise RunError(f"{path}: /assignment is damaged; leave out --resume") from None


LANES: Final = {
    model.LANE_FIRST: "first", model.LANE_BEST: "best", model.LANE_FREE: "free",
    model.LANE_RANDOM: "random", model.LANE_ALLOWED: "allowed",
}  # fmt: skip
POSITIONS: Final = {
    model.POS_BASE: "base", model.POS_RANDOM: "random", model.POS_FREE: "free",
    model.POS_RANDOM_FREE: "random_free", model.POS_LAST: "last",
}  # fmt: skip
SPEEDS: Final = {
    model.SPEED_MAX: "max", model.SPEED_DESIRED: "desired", model.SPEED_LIMIT: "speedLimit",
    model.SPEED_RANDOM: "random", model.SPEED_LAST: "last", model.SPEED_AVERAGE: "avg",
}  # fmt: skip


def write_sumo_routes(path: Path, network: Network, demand: Demand, ways: bool = True) -> None:
    """Write trips as SUMO's vehicles with their ways; without `ways`, as trips from road to road.

    Raises DemandError for trips with stops, which it does not write; RunError if it cannot be written.
    """
    if demand.stop_lane.size:
        raise DemandError(f"{path}: stops are not written for SUMO; leave trips with stops out")
    ids = [quoteattr(name) for name in network.road_ids]
    kinds = [quoteattr(kind.name) for kind in demand.types]
    start, roads = demand.route_start.tolist(), demand.roads.tolist()
    names = [name[1:-1] for name in ids]
    with written(path) as file:

        def put(line: str) -> None:
            file.write((line + "\n").encode())

        put("<routes>")
        for kind in demand.types:
            put(f"    <vType {_type(kind)}/>")
        for i, name in enumerate(demand.ids):
            way = roads[start[i] : start[i + 1]]
            head = f"id={quoteattr(name)} type={kinds[demand.type[i]]} {_departure(demand, i)}"
            if ways:
                edges = " ".join(names[road] for road in way)
                put(f'    <vehicle {head}><route edges="{edges}"/></vehicle>')
            else:
                put(f"    <trip {head} from={ids[way[0]]} to={ids[way[-1]]}/>")
        put("</routes>")


def _type(kind: VehicleType) -> str:
    facts: dict[str, Any] = {
        "id": kind.name, "vClass": kind.vehicle_class, "length": kind.length, "width": kind.width,
        "minGap": kind.min_gap, "accel": kind.accel, "decel": kind.decel,
        "emergencyDecel": kind.emergency_decel, "tau": kind.time_gap, "maxSpeed": kind.max_speed,
        "speedFactor": f"normc({kind.speed_factor:g},{kind.speed_dev:g},{kind.speed_factor_min:g},{kind.speed_factor_max:g})",
    }  # fmt: skip
    if kind.model == "idm":
        facts["carFollowModel"] = "IDM"
    else:
        facts["sigma"] = kind.sigma
    return " ".join(
        f"{name}={quoteattr(value if isinstance(value, str) else f'{value:g}')}"
        for name, value in facts.items()
    )


def _departure(demand: Demand, i: int) -> str:
    lane, kind = int(demand.depart_lane[i]), int(demand.depart_pos_kind[i])
    pos = POSITIONS.get(kind, f"{demand.depart_pos[i]:.2f}")
    speed = SPEEDS.get(int(demand.depart_speed_kind[i]), f"{demand.depart_speed[i]:.2f}")
    return (
        f'depart="{demand.depart[i]:.2f}" departLane="{LANES.get(lane, str(lane))}" '
        f'departPos="{pos}" departSpeed="{speed}"'
    )
