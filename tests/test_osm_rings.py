"""Lanes of roundabouts that do not say how many they have, by the streets that lead in."""

from dataclasses import replace
from math import atan2, cos, hypot, radians, sin
from typing import Final

import numpy as np
import pytest
from checked_runs import checked
from osm_texts import street, write_osm

import rushhour as rh
from rushhour.roadnets.components import reached
from rushhour.roadnets.importing import import_network
from rushhour.roadnets.lint.junctions import bends_of, junction_findings, wandering
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.osm.rings import HOLDS_A_CAR, widen_rings
from rushhour.roadnets.osm.ways.reading import OsmMap, OsmWay
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType

RING = street("tertiary", junction="roundabout")
CASES = {
    "a two-way street": ({"lanes": "4"}, [1, 2], None),
    "a one-way that leads in": ({"oneway": "yes", "lanes": "2"}, [1, 2], "2"),
    "one by default, of a primary road": ({"oneway": "yes"}, [1, 2], "2"),
    "drawn against its direction": ({"oneway": "-1", "lanes": "2"}, [2, 1], "2"),
    "a one-way that leads out": ({"oneway": "yes", "lanes": "2"}, [2, 1], None),
    "of one lane": ({"oneway": "yes", "lanes": "1"}, [1, 2], None),
    "closed": ({"oneway": "yes", "lanes": "2", "access": "no"}, [1, 2], None),
    "elsewhere": ({"oneway": "yes", "lanes": "2"}, [1, 9], None),
}


@pytest.mark.parametrize("name", list(CASES))
def test_a_ring_has_two_lanes_where_a_street_of_two_leads_in(name: str):
    tags, nodes, lanes = CASES[name]
    ways = [OsmWay(1, [2, 3, 4], RING), OsmWay(2, [4, 5, 2], RING),
            OsmWay(3, nodes, street("primary", **tags))]  # fmt: skip
    osm = OsmMap("ring", ways, {n: (float(n), 0.0) for n in range(10)}, {}, [], "")
    widen_rings(osm, "", False)
    assert [way.tags.get("lanes") for way in osm.ways[:2]] == [lanes, lanes]
    assert "lanes" not in RING


def test_what_a_part_of_a_ring_says_holds_for_all_of_it():
    ways = [OsmWay(1, [2, 3, 4], RING), OsmWay(2, [4, 5, 2], {**RING, "lanes": "1"}),
            OsmWay(3, [1, 2], street("primary", oneway="yes", lanes="3"))]  # fmt: skip
    osm = OsmMap("ring", ways, {n: (float(n), 0.0) for n in range(10)}, {}, [], "")
    widen_rings(osm, "", False)
    assert "lanes" not in ways[0].tags


@pytest.mark.parametrize(
    ("radius", "drawn", "lanes"),
    [(9.0, 2, 1), (25.0, 2, 2), (45.0, 6, 6), (25.0, 6, 6), (18.0, 6, 5), (16.0, 6, 3)],
)
def test_a_ring_has_as_many_of_its_lanes_as_hold_cars(tmp_path, radius, drawn: int, lanes: int):
    nodes, ring, ways = {}, [], []
    for k in range(4):
        at = radians(90.0 * k)
        nodes[k + 1] = (radius * cos(at), radius * sin(at))
        nodes[k + 11] = ((radius + 300.0) * cos(at), (radius + 300.0) * sin(at))
        half = radians(90.0 * k + 45.0)
        nodes[k + 21] = (radius * cos(half), radius * sin(half))
        ring += [k + 1, k + 21]
        ways.append((100 + k, [k + 1, k + 11], street("tertiary")))
    ways.append((1, [*ring, ring[0]], street("tertiary", junction="roundabout", lanes=str(drawn))))
    network = load_network(write_osm(tmp_path, nodes, ways))
    roads = network.arrays.roads
    on_ring = [k for k, name in enumerate(network.road_ids) if name.startswith("1#")]
    assert len(on_ring) == 4
    assert set(roads.lane_count[on_ring].tolist()) == {lanes}
    inner = roads.first_lane[on_ring] + lanes - 1
    assert network.arrays.lanes.length[inner].min() > HOLDS_A_CAR


def tight_ring(folder, radius: float, arms: int = 4, clockwise: bool = False):
    """A roundabout whose arms lie close to each other; around 0, 0."""
    nodes, ring, ways = {}, [], []
    for k in range(arms):
        at, half = (radians(360.0 / arms * (k + share)) for share in (0.0, 0.5))
        nodes[k + 1] = (radius * cos(at), radius * sin(at))
        nodes[k + 11] = ((radius + 300.0) * cos(at), (radius + 300.0) * sin(at))
        nodes[k + 21] = (radius * cos(half), radius * sin(half))
        ring += [k + 1, k + 21]
        ways.append((100 + k, [k + 1, k + 11], street("tertiary")))
    ring = [*ring, ring[0]]
    side = {"driving_side": "left"} if clockwise else {}
    ways = [(way, line, {**tags, **side}) for way, line, tags in ways]
    tags = street("tertiary", junction="roundabout")
    ways.append((1, ring[::-1] if clockwise else ring, tags))
    return import_network(write_osm(folder, nodes, ways))


@pytest.mark.parametrize("clockwise", [False, True])
@pytest.mark.parametrize(("radius", "arms"), [(6.0, 3), (6.0, 4), (6.9, 4), (6.9, 5)])
def test_movements_of_a_ring_that_is_one_intersection_lead_around_its_island(
    tmp_path, radius: float, arms: int, clockwise: bool
):
    network = tight_ring(tmp_path, radius, arms, clockwise)
    assert network.n_roads == 2 * arms
    assert network.left_hand == clockwise
    sense = -1.0 if clockwise else 1.0
    around = 0
    middle = network.points[: network.point_start[network.n_road_lanes]].mean(axis=0)
    for k in range(network.n_road_lanes, network.n_lanes):
        if np.hypot(*(network.lane_points(k) - middle).T).max() > 2.5 * radius + 10.0:
            continue  # a turn back at the end of an arm
        x, y = (network.lane_points(k) - middle).T
        turned = np.diff(np.unwrap(np.arctan2(y, x))) * sense
        assert np.hypot(x, y).min() > radius - 0.3
        if turned.sum() > radians(100.0):
            around += 1
            assert turned.min() > -1e-6
    assert around >= arms * (arms - 2)
    assert {one.check for one in junction_findings(network)} & {"L32", "L33"} == set()


@pytest.mark.parametrize("radius", [8.2, 9.0, 14.0])
@pytest.mark.parametrize("arms", [3, 4, 5, 6])
def test_the_arms_of_a_ring_wider_than_14_m_meet_it_one_by_one(tmp_path, radius: float, arms: int):
    """Several were one intersection: with six on 28 m, one could not drive on round the ring from it."""
    network = tight_ring(tmp_path, radius, arms)
    on_ring = [name for name in network.road_ids if name.startswith("1#")]
    assert len(on_ring) == arms
    lengths = network.arrays.lanes.length[network.n_road_lanes :]
    assert lengths.min() > 2.0 and lengths.max() < 25.0
    assert junction_findings(network) == []
    net, follow = network.arrays, {road: [] for road in range(network.n_roads)}
    ends = net.lanes.road[net.connectors.from_lane], net.lanes.road[net.connectors.to_lane]
    for road, after in zip(*(end.tolist() for end in ends), strict=True):
        follow[road].append(after)
    out = {network.road_ids.index(f"{100 + arm}#0") for arm in range(arms)}
    for arm in range(arms):
        assert out <= reached([network.road_ids.index(f"-{100 + arm}#0")], follow)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arms", "radius", "hourly"),
    [(4, 6.9, 1400), (4, 9.0, 2000), (5, 9.0, 2000), (6, 9.0, 1700), (6, 14.0, 2000)],
)
def test_a_tight_ring_carries_what_its_arms_bring_without_a_violation(
    tmp_path, arms: int, radius: float, hourly: int
):
    """As one intersection, rings of six arms passed 800 to 1,220 an hour; SUMO's pass 2,600."""
    network = tight_ring(tmp_path, radius, arms)
    road, draw, builder = network.road_ids.index, np.random.default_rng(7), DemandBuilder()
    for arm in range(arms):
        for k, depart in enumerate(draw.uniform(0.0, 900.0, 225).tolist()):
            out = (arm + int(draw.integers(1, arms))) % arms
            ends = [road(f"-{100 + arm}#0"), road(f"{100 + out}#0")]
            builder.add(Trip(f"{arm}.{k}", depart, VehicleType(), ends, routed=False))
    world = rh.World(network, builder.build(), dt=0.25, seed=1)
    checker = checked(world)
    world.run("5min")
    before = len(world.trips)
    world.run("10min")
    assert not any(checker.violations.values())
    assert 6 * (len(world.trips) - before) > hourly


def test_a_long_bus_passes_a_ring_of_which_it_takes_all_places(tmp_path):
    """One is kept free from others, and would have been from a bus for which three are just enough."""
    network = tight_ring(tmp_path, 8.0, 3)
    road, builder = network.road_ids.index, DemandBuilder()
    ends = [road("-100#0"), road("101#0")]
    builder.add(Trip("bus", 0.0, VehicleType(length=18.0), ends, routed=False))
    world = rh.World(network, builder.build(), dt=0.25, seed=1)
    world.run("3min")
    assert len(world.trips) == 1 and world.trips.longest_standstill.max() < 10.0


def test_ways_that_swing_round_where_no_island_is_are_found(tmp_path):
    """The same ways, and one that leads over the middle: nothing keeps drivers off it."""
    network = tight_ring(tmp_path, 6.9)
    bends = bends_of(network)
    assert bends.wandering.any() and not wandering(network, bends).any()
    points, n = network.points.copy(), network.n_road_lanes
    short = n + int(np.flatnonzero(~bends.wandering & (bends.length > 10.0))[0])
    first, last = network.point_start[short : short + 2]
    middle = points[: network.point_start[n]].mean(axis=0)
    points[(first + last) // 2] = middle
    assert wandering(replace(network, points=points), bends).any()


# A ring of 22 m, m from its middle, and what meets it (Porto 441802805): on both sides pairs of one-ways
# of 8 m between their stop lines, and behind each the two-way street that leads on.
SHORT_ARMS: Final = {
    "37680683": [(10.2, -4.2), (27.0, -0.2)], "151728936": [(27.0, -0.2), (10.2, 4.1)],
    "37680712": [(4.3, 10.1), (4.2, 19.0), (5.6, 231.8)],
    "37681208": [(-4.3, -10.1), (-4.1, -20.4), (-8.3, -480.5)],
    "37681209": [(-0.5, -480.4), (3.3, -20.6), (4.0, -10.2)],
    "61599383": [(-1.8, 230.0), (-3.5, 19.1), (-4.1, 10.2)],
    "151729349": [(-24.6, 1.0), (-17.3, -3.2), (-10.2, -4.1)],
    "151729359": [(-10.1, 4.3), (-16.3, 3.8), (-24.6, 1.0)],
}  # fmt: skip
BESIDE: Final = {
    "37844585": [(-10.2, -4.1), (-15.7, -9.6), (-16.7, -16.1), (-17.2, -70.6)],
    "61742510": [(10.2, -4.2), (19.1, -10.1), (19.9, -20.0), (17.5, -331.5)],
    "37680676": [(-241.2, 1.5), (-85.4, -0.1), (-24.6, 1.0)],
    "151728935": [(208.5, -1.2), (27.0, -0.2)],
}


@pytest.mark.parametrize("turned", [0.0, 100.0, 200.0])
def test_ways_around_an_island_lead_past_the_short_street_beside_their_own(tmp_path, turned: float):
    """They led over the ends of the short one-ways, 0.7 and 0.9 m from their stop lines (L33)."""
    circle = [(11.0 * cos(a), 11.0 * sin(a)) for a in np.radians(np.arange(22.5, 382.5, 45.0))]
    on_ring = [at for line in (*SHORT_ARMS.values(), *BESIDE.values()) for at in line
               if hypot(*at) < 12.0]  # fmt: skip
    ring = sorted({*on_ring, *circle}, key=lambda at: atan2(at[1], at[0]))
    number = {at: k for k, at in enumerate(dict.fromkeys(
        at for line in (ring, *SHORT_ARMS.values(), *BESIDE.values()) for at in line), 1)}  # fmt: skip
    c, s = cos(radians(turned)), sin(radians(turned))
    nodes = {k: (c * x - s * y, s * x + c * y) for (x, y), k in number.items()}
    ways = [(1, [number[at] for at in (*ring, ring[0])],
             street("secondary", junction="roundabout", lanes="2"))]  # fmt: skip
    for lines, tags in ((SHORT_ARMS, {"oneway": "yes"}), (BESIDE, {})):
        ways += [(int(way), [number[at] for at in line],
                  street("secondary" if "3768" in way else "residential", **tags))
                 for way, line in lines.items()]  # fmt: skip
    network = import_network(write_osm(tmp_path, nodes, ways))
    assert np.sum(network.arrays.roads.length < 11.0) >= 4  # they stay streets of their own
    assert [one.message for one in junction_findings(network) if one.check in ("L32", "L33")] == []
