"""Departure headways of an all-way stop against the Highway Capacity Manual (validation D11)."""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import SPEED_MAX
from rushhour.traffic.routing.routes import route_demand
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))

from crossings import alike

OPPOSITE = {"E": "W", "W": "E", "N": "S", "S": "N"}
BESIDE = {"E": "NS", "W": "NS", "N": "EW", "S": "EW"}
BASE = (3.9, 4.7, 5.8, 7.0, 9.6)  # s, by the conflicting legs that are occupied; one lane each
WARM = 300.0  # s
# HCM example 1, a T without a southern leg: veh/h by the leg they come from, and their turns.
EXAMPLE = {"W": 350.0 / 0.95, "E": 400.0 / 0.95, "N": 150.0 / 0.95}
TURNS = {
    "W": {"N": 1 / 7, "E": 6 / 7}, "E": {"W": 0.75, "N": 0.25}, "N": {"E": 2 / 3, "W": 1 / 3},
}  # fmt: skip
LEFTS = {"W": 1 / 7, "E": 0.0, "N": 2 / 3}
RIGHTS = {"W": 0.0, "E": 0.25, "N": 1 / 3}


def manual(flows, lefts=None, rights=None, heavy=0.0):
    """Departure headways (s) by leg, the fixed point of HCM 7, ch. 21, without its correlation term."""
    lefts, rights = lefts or {}, rights or {}
    headway = {leg: 4.0 for leg in flows}
    for _ in range(200):
        x = {leg: flows[leg] * headway[leg] / 3600.0 for leg in flows}
        for leg in flows:
            o = x.get(OPPOSITE[leg], 0.0)
            a, b = (x.get(other, 0.0) for other in BESIDE[leg])
            one, both = a * (1.0 - b) + b * (1.0 - a), a * b
            none = (1.0 - a) * (1.0 - b)
            shares = (
                (1.0 - o) * none, o * none, (1.0 - o) * one, o * one + (1.0 - o) * both, o * both,
            )  # fmt: skip
            change = 0.2 * lefts.get(leg, 0.0) - 0.6 * rights.get(leg, 0.0) + 1.7 * heavy
            headway[leg] = sum(p * (h + change) for p, h in zip(shares, BASE, strict=True))
    return headway


class Lines:
    """When each car first stood at its line, who stood or crept before that, when it crossed."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.stood: dict[int, float] = {}
        self.crossed: dict[int, float] = {}
        self.queued: set[int] = set()
        roads = world.network.arrays.roads
        first = world.demand.roads[world.demand.route_start[:-1]]
        self.entry = roads.first_lane[first]

    def observe(self) -> None:
        """Look at the frame just done."""
        table, lanes = self.world.vehicles, self.world.network.arrays.lanes
        trip, lane, s, v = table.trip, table.lane, table.s, table.speed
        before = lane == self.entry[trip]
        to_line = lanes.length[lane] - s
        for t in trip[before & (v < 0.1) & (to_line <= 2.0)].tolist():
            self.stood.setdefault(t, self.world.time)
        self.queued.update(trip[before & (v < 1.0) & (to_line > 5.0)].tolist())
        inside = np.flatnonzero(lane >= self.world.network.n_road_lanes)
        for k in inside.tolist():
            past = s[k] / max(v[k], 1.0)
            self.crossed.setdefault(int(trip[k]), self.world.time - past)


def headways(network, flows, turns, kind, heavy: float = 0.0, hours: float = 1.0):
    """Departure headways by leg, s: standing at the line plus moving up to it out of a queue.

    That is what a leg with a queue would show, measured on all who stand and all who move up, so that
    it does not count only the moments in which there is one.
    """
    end = WARM + 3600.0 * hours
    draw = np.random.default_rng(3)
    truck = Parameters().vehicle_type("truck")
    builder = DemandBuilder()
    for leg, flow in flows.items():
        n = round(flow * end / 3600.0)
        exits = draw.choice(list(turns[leg]), n, p=list(turns[leg].values()))
        for at, to in zip(np.sort(draw.uniform(0.0, end, n)), exits, strict=True):
            ends = [network.road_index[f"{leg}-X"], network.road_index[f"X-{to}"]]
            builder.add(
                Trip(
                    f"{leg}{at}", float(at), truck if draw.random() < heavy else kind, ends,
                    routed=False, depart_speed_kind=SPEED_MAX,
                )
            )  # fmt: skip
    demand = route_demand(network, builder.build())
    world = World(network, demand, dt=0.25, seed=1, begin=0.0)
    lines = Lines(world)
    world.observers.append(lines)
    world.step(round(end / world.dt))
    found = {}
    for leg in flows:
        lane = network.arrays.roads.first_lane[network.road_index[f"{leg}-X"]]
        trips = [t for t, at in lines.crossed.items() if lines.entry[t] == lane and at > WARM]
        trips.sort(key=lines.crossed.__getitem__)
        assert lines.stood.keys() >= set(trips)  # everybody stops
        stand = np.mean([lines.crossed[t] - lines.stood[t] for t in trips])
        pairs = [(a, b) for a, b in pairwise(trips) if b in lines.queued]
        found[leg] = float(stand + np.mean([lines.stood[b] - lines.crossed[a] for a, b in pairs]))
    return found


def test_the_manuals_headways_are_those_of_its_example():
    """D11, of the formula: 200 veh/h a leg, and example 1 within 0.05 s."""
    assert manual(dict.fromkeys("ENWS", 200.0))["E"] == pytest.approx(5.28, abs=0.01)
    found = manual(EXAMPLE, LEFTS, RIGHTS, heavy=0.02)
    assert found == pytest.approx({"W": 4.97, "E": 4.74, "N": 5.70}, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("accel", "off"), [(2.5, 0.20), pytest.param(3.5, 0.15, marks=pytest.mark.soak)]
)
def test_four_legs_depart_at_the_manuals_headway(accel, off):
    """D11: 200 veh/h a leg. 15 % with cars that move up briskly; 20 % with ours (docs/validation.md)."""
    network = generate("cross", control="all_way_stop", length=300.0)
    through = {leg: {OPPOSITE[leg]: 1.0} for leg in "ENWS"}
    found = headways(
        network, dict.fromkeys("ENWS", 200.0), through, alike(accel=accel, decel=accel)
    )
    assert np.mean(list(found.values())) == pytest.approx(5.28, rel=off)


@pytest.mark.slow
def test_the_legs_of_the_manuals_example_depart_in_its_order_and_later():
    """D11: example 1, a T; 15, 25 and 40 % and not 15 on all legs (docs/validation.md)."""
    network = generate("cross", control="all_way_stop", length=300.0, arms="ENW", entries="ENW")
    found = headways(network, EXAMPLE, TURNS, alike(), heavy=0.02)
    assert found["W"] == pytest.approx(4.97, rel=0.15)
    assert found["E"] == pytest.approx(4.74, rel=0.25)
    assert found["N"] == pytest.approx(5.70, rel=0.40)
    assert found["N"] > max(found["W"], found["E"])
