"""What is known of one vehicle at a moment, in lines; its way ahead, and whom it waits for."""

from textwrap import wrap
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import LEADER, REASONS
from rushhour.kernels.geometry.pose import lane_pose
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.model import Network
from rushhour.traffic.words.durations import clock
from rushhour.viewer.colouring import TIERS
from rushhour.viewer.moments import Moment, Source
from rushhour.viewer.panels import ACCENT, FAINT, Line, line, pair
from rushhour.viewer.standing import waited_words

if TYPE_CHECKING:
    from rushhour.viewer.recorded import RunSource

NAME: Final = 10  # letters of the column of names
LONGEST_CHAIN: Final = 60  # vehicles drawn one behind the other
WIDEST: Final = 46  # letters of a line
LIGHTS: Final = ((1, "brake"), (2, "left"), (4, "right"))


def lane_name(source: Source, lane: int) -> str:
    """A road lane's id; of a connector those that it joins."""
    network = source.network
    if lane < network.n_road_lanes:
        return network.lane_ids[lane]
    connectors, k = network.arrays.connectors, lane - network.n_road_lanes
    ends = (int(connectors.from_lane[k]), int(connectors.to_lane[k]))
    return " -> ".join(network.lane_ids[end] for end in ends)


def vehicle_lines(
    source: Source, moment: Moment, vehicle: int, waited: float | None, cause: tuple[str, ...]
) -> tuple[Line, ...]:
    """The inspector of a vehicle. waited: s that it has stood; cause: lines of its chain of waiting."""
    name = source.vehicle_name(vehicle)
    row = moment.row(vehicle)
    if row < 0:
        return (line(cut(name), ACCENT), line(f"not on the road at {clock(moment.time)}", FAINT))
    columns = moment.columns
    lines = [line(cut(name), ACCENT)]

    def tell(what: str, value: str) -> None:
        lines.append(pair(what, cut(value, WIDEST - NAME), NAME))

    tell("type", source.types[int(moment.type[row])])
    tell("size", f"{moment.length[row]:.1f} x {moment.width[row]:.1f} m")
    if "lane" in columns:
        lane = int(columns["lane"][row])
        lanes = source.network.arrays.lanes
        tell("lane", lane_name(source, lane))
        street = source.network.lane_street(lane)
        if street:
            tell("street", street)
        tell("at", f"{columns['s'][row]:.1f} of {lanes.length[lane]:.1f} m")
        limit = float(lanes.speed[lane])
        tell("speed", f"{3.6 * moment.speed[row]:.1f} km/h, limit {3.6 * limit:.0f}")
    else:  # of a race
        tell("speed", f"{3.6 * moment.speed[row]:.1f} km/h")
    if "accel" in columns:
        tell("gains", f"{columns['accel'][row]:+.2f} m/s2")
    if "lateral" in columns and abs(float(columns["lateral"][row])) > 0.01:
        tell("aside", f"{columns['lateral'][row]:+.2f} m")
    if "signals" in columns:
        lit = [text for bit, text in LIGHTS if int(columns["signals"][row]) & bit]
        tell("lights", ", ".join(lit) or "none")
    if "tier" in columns:
        tell("simulated", TIERS[min(int(columns["tier"][row]), len(TIERS) - 1)])
    if "reason" in columns:
        tell(
            "reason", REASONS[min(int(columns["reason"][row]), len(REASONS) - 1)].replace("_", " ")
        )
    blocker = int(columns["blocker"][row]) if "blocker" in columns else -1
    if blocker >= 0:
        follows = int(columns["reason"][row]) == LEADER if "reason" in columns else False
        tell("follows" if follows else "waits for", source.vehicle_name(blocker))
    if waited:
        tell("stands", waited_words(waited))
    for text in cause:
        lines += [line(part, FAINT) for part in wrap(text, WIDEST, subsequent_indent="  ")]
    return tuple(lines)


def cut(text: str, most: int = WIDEST) -> str:
    """A text of at most so many letters."""
    return text if len(text) <= most else text[: most - 2] + ".."


def chain_rows(moment: Moment, row: int) -> list[int]:
    """Rows of a vehicle, whom it waits for, whom that one waits for, and so on."""
    rows = [row]
    blocker = moment.columns.get("blocker")
    if blocker is None:
        return rows
    while len(rows) < LONGEST_CHAIN:
        after = moment.row(int(blocker[rows[-1]]))
        if after < 0:
            break
        rows.append(after)
        if after in rows[:-1]:  # a ring
            break
    return rows


def way_ahead(source: "RunSource", moment: Moment, vehicle: int) -> NDArray[np.float64]:
    """Places (k, 2), m, along the lanes that a vehicle drives on from now to the end of the run."""
    way = source.trajectory(vehicle)
    ahead = way.lane[np.searchsorted(way.time, moment.time - 1e-6) :]
    row = moment.row(vehicle)
    if row < 0 or not ahead.size:
        return np.zeros((0, 2))
    network = source.network
    at = way.s[way.lane.size - ahead.size :]
    first = np.flatnonzero(np.concatenate(([True], ahead[1:] != ahead[:-1])))
    lanes = ahead[first].tolist()
    parts = [np.array([[moment.x[row], moment.y[row]]])]
    since = (
        float(moment.columns["s"][row]) if lanes[0] == int(moment.columns["lane"][row]) else -1.0
    )
    for k, lane in enumerate(lanes):
        last = k + 1 == len(lanes)
        # Who moves over is on the lane beside from there, not from its start.
        over = not last and _beside(network, lane, lanes[k + 1])
        until = np.inf
        if over or (k and last):
            until = float(at[-1] if last else at[first[k + 1] - 1])
        start, end = network.point_start[lane : lane + 2]
        station = network.station[start:end]
        parts.append(network.points[start:end][(station > since) & (station <= until)])
        since = -1.0
        if over:
            lane, since = lanes[k + 1], float(at[first[k + 1]])
            start, end = network.point_start[lane : lane + 2]
            parts.append(
                np.array([lane_pose(network.points, network.station, start, end, since)[:2]])
            )
        elif not last:
            parts += _joint(network, lane, lanes[k + 1])
    return np.concatenate(parts)


def _beside(network: Network, one: int, other: int) -> bool:
    """Whether two lanes are of one road."""
    road = network.arrays.lanes.road
    return max(one, other) < network.n_road_lanes and bool(road[one] == road[other])


def _joint(network: Network, before: int, lane: int) -> list[NDArray[np.float64]]:
    """Points of the connector from a lane to another, where no frame was recorded on that."""
    if before >= network.n_road_lanes or lane >= network.n_road_lanes:
        return []
    lanes, connectors = network.arrays.lanes, network.arrays.connectors
    ways = range(int(lanes.out_start[before]), int(lanes.out_start[before + 1]))
    return [
        network.lane_points(network.n_road_lanes + k) for k in ways if connectors.to_lane[k] == lane
    ]


def cause_lines(source: "RunSource", moment: Moment, vehicle: int) -> tuple[str, ...]:
    """The chain of waiting up to its cause, in words; empty where nothing tells."""
    from rushhour.traffic.analysis.whom_to_ask import scene_at

    try:
        scene = scene_at(source.run, moment.time)
        row = scene.row(vehicle)
        return tuple(scene.chain(row).lines()) if row >= 0 else ()
    except RunError:
        return ()
