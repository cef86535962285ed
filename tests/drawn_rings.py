"""Drawn roundabouts with a full way out, and trips over them."""

from math import cos, radians, sin
from pathlib import Path

import numpy as np
from osm_texts import street, write_osm

from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType

CAR = VehicleType()


def uneven_ring(folder: Path, drawn: int) -> tuple[Network, DemandBuilder]:
    """A drawn roundabout of 1 to 3 lanes with 3 to 6 arms of 1 or 2, which lie unevenly, one slow way
    out for 30 to 90 % of 20 minutes of trips; in some every tenth is by a bus."""
    draw = np.random.default_rng(drawn)
    radius, lanes, arms = draw.uniform(10.0, 45.0), int(draw.integers(1, 4)), draw.integers(3, 7)
    gaps = draw.uniform(1.0, 4.0, arms)  # of the way round from arm to arm
    starts = 360.0 * (np.cumsum(gaps) - gaps) / gaps.sum()
    slow = {"maxspeed": str(draw.integers(7, 16))}
    circle = street("tertiary", junction="roundabout", lanes=str(lanes))
    nodes, ways, around = {}, [], []
    for k, (start, gap) in enumerate(zip(starts, 360.0 * gaps / gaps.sum(), strict=True)):
        bends = range(max(1, int(gap // 30.0)))
        for bend in bends:
            at = radians(start + gap * bend / len(bends))
            nodes[100 * k + bend + 1] = (radius * cos(at), radius * sin(at))
        nodes[100 * k + 99] = (420.0 * cos(radians(start)), 420.0 * sin(radians(start)))
        wide = street("tertiary", lanes=str(2 * draw.integers(1, 3)), **(slow if k == 0 else {}))
        ways.append((100 + k, [100 * k + 1, 100 * k + 99], wide))
        around.append([100 * k + bend + 1 for bend in bends])
    for k, part in enumerate(around):
        ways.append((200 + k, [*part, around[(k + 1) % arms][0]], circle))
    network, builder = load_network(write_osm(folder, nodes, ways)), DemandBuilder()
    road, bus = network.road_ids.index, VehicleType("bus", length=12.0)
    share, hourly, buses = draw.uniform(0.3, 0.9), draw.uniform(500.0, 1200.0), draw.random() < 0.5
    for arm in range(arms):
        for k, depart in enumerate(draw.uniform(0.0, 1200.0, round(hourly / 3.0)).tolist()):
            out = 0 if draw.random() < share else int(draw.integers(arms))
            kind = bus if buses and draw.random() < 0.1 else CAR
            if out != arm:
                ends = [road(f"-{100 + arm}#0"), road(f"{100 + out}#0")]
                builder.add(Trip(f"{arm}.{k}", depart, kind, ends, routed=False))
    return network, builder
