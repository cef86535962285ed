"""What drivers meet as one junction is one intersection: of hand-made maps, and counted on real ones."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from osm_texts import CROSS, CROSS_WAYS, Nodes, street, write_osm
from real_data import data_folder

from rushhour.kernels.core.network import SIGNAL
from rushhour.roadnets.geometry.outlines import distances
from rushhour.roadnets.importing import import_network
from rushhour.roadnets.lint.junctions import bends_of, junction_findings, stop_places
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.roadnets.osm.network import OsmOptions
from rushhour.roadnets.osm.ways import reading

pytest.importorskip("osmium")

LIT = {"highway": "traffic_signals"}
ON_FOOT = {"highway": "crossing", "crossing": "traffic_signals"}
ALL = OsmOptions(service="yes")
REAL: Final = {
    "krems": "osm_krems/krems.osm.gz",
    "luxembourg": "sumo_luxembourg/luxembourg_main_roads.osm.gz",
    "columbus": "osm_columbus/columbus.osm.gz",
    "porto": "osm_porto/porto_portugal.osm.pbf",
}
LARGE: Final = ("columbus", "porto")  # of which CI looks at the middle


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.soak] if n in LARGE else []) for n in REAL]
)
def test_junctions_of_real_maps_have_none_of_the_faults_that_are_known(name: str):
    path = data_folder(REAL[name].split("/")[0]) / REAL[name].split("/")[1]
    found = Counter(one.check for one in junction_findings(import_network(path)))
    assert found == {}


HOME: Final = 230011793
# Streets around a node of a map, m from it: where they lead on near it is not where they lead to.
KINKED: Final = {
    "a junction where a street swings aside": (  # Columbus 230011793
        [(-6.6, -90.2), (-0.3, 2.9), (0.0, 0.0)], [(0.0, 0.0), (2.9, 53.3)], [(0.0, 0.0), (87.0, -4.8)],
    ),
    "a junction where two streets come round": (  # Porto 687994513
        [(-34.8, 89.9), (-11.7, 36.3), (-0.3, 15.4), (4.0, 4.7), (0.0, 0.0)],
        [(-73.8, 32.1), (-51.1, 30.3), (-34.0, 24.2), (-15.2, 11.8), (-4.5, 3.1), (0.0, 0.0)],
        [(0.0, 0.0), (11.2, -21.0), (32.0, -38.0)],
    ),
    "a hook": (  # Porto 474553713
        [(0.0, 0.0), (-0.8, 3.6), (24.1, 11.6), (36.8, 14.9)],
        [(-45.1, -10.8), (-20.1, -9.7), (-17.5, -5.7), (0.0, 0.0)],
    ),
}  # fmt: skip


def around_home(lines: list, kinds: list) -> tuple[Nodes, list]:
    """Nodes and ways of lines that meet in (0, 0), which is HOME."""
    nodes: Nodes = {}
    ways = []
    for k, line in enumerate(lines):
        own = [HOME if np.hypot(*xy) == 0.0 else 100 * k + i for i, xy in enumerate(line)]
        nodes |= dict(zip(own, line, strict=True))
        ways.append((10 + k, own, kinds[k]))
    return nodes, ways


@pytest.mark.parametrize("turned", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("name", KINKED)
def test_stop_lines_fit_streets_that_bend_at_their_node(tmp_path: Path, name: str, turned: float):
    """Whether a junction is plain was told from where its streets lead to 10 m and more away: turns
    led over stop lines (L33) or swung round by 230 - 275 degrees (L32)."""
    spin = np.array([[np.cos(turned), np.sin(turned)], [-np.sin(turned), np.cos(turned)]])
    lines = [[tuple(np.array(xy) @ spin) for xy in line] for line in KINKED[name]]
    kinds = [street(kind) for kind in ("residential", "service", "residential")]
    network = import_network(write_osm(tmp_path, *around_home(lines, kinds)), ALL)
    assert network.n_connectors >= 2 * len(KINKED[name]) - 2
    assert junction_findings(network) == []


def test_a_ramp_that_comes_in_beside_a_motorway_leaves_the_mouth_below_100_m(tmp_path: Path):
    """Columbus 229622688: four lanes and a ramp of 8 degrees, the road beyond begins 23 m behind them."""
    lines = [
        [(153.9, 163.7), (110.6, 111.3), (84.7, 81.3), (52.7, 46.1), (0.0, 0.0)],
        [(0.0, 0.0), (-16.1, -14.1), (-38.4, -30.8), (-145.8, -111.3), (-533.6, -387.4)],
        [(541.1, 465.3), (237.4, 359.8), (147.5, 194.2), (109.5, 127.5), (57.2, 64.7), (52.6, 59.4),
         (41.5, 46.1), (0.0, 0.0)],
    ]  # fmt: skip
    kinds = [street("motorway", lanes=n, maxspeed="65 mph") for n in "45"]
    kinds.append(street("motorway_link"))
    nodes, ways = around_home(lines, kinds)
    network = import_network(write_osm(tmp_path, nodes, ways), OsmOptions(country="US"))
    (at,) = (i for i in stop_places(network) if highest(network, i) == {"10", "11", "12"})
    along = distances(stop_places(network)[at], stop_places(network)[at]).max()
    assert 50.0 < along < 100.0
    assert "L37" not in {one.check for one in junction_findings(network)}


# Windows of Porto with roads too short for stop lines clear of what leads past them, and its middle.
CRAMPED: Final = {
    "a road from a group of lights to itself": (-8.63147, 40.98993, -8.62759, 40.99294),
    "a ramp that joins behind an added lane": (-8.59823, 41.18032, -8.58870, 41.18752),
    "a triangle of three junctions": (-8.62640, 41.01556, -8.62252, 41.01857),
    "a ramp whose other end needs no room": (-8.65084, 41.23956, -8.64693, 41.24257),
    "an entry beside a roundabout": (-8.43555, 41.19481, -8.43161, 41.19780),
    "the middle of the city": (-8.64, 41.14, -8.59, 41.17),
}


@pytest.fixture(scope="module")
def read_once() -> Iterator[None]:
    """Porto is read once for all its windows; other files, which tests write anew, as ever."""
    read = reading._read
    kept = cache(read)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            reading,
            "_read",
            lambda of, path, how: (kept if "porto" in path.name else read)(of, path, how),
        )
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize("name", CRAMPED)
def test_no_stop_line_lies_where_others_drive_though_streets_are_short(name: str):
    path = data_folder("osm_porto") / "porto_portugal.osm.pbf"
    network = import_network(path, OsmOptions(box=CRAMPED[name]))
    assert network.n_connectors > 20
    assert [one.message for one in junction_findings(network)] == []


@pytest.mark.slow
def test_junctions_in_the_middle_of_columbus_have_none_of_the_faults_that_are_known():
    path = data_folder("osm_columbus") / "columbus.osm.gz"
    network = import_network(path, OsmOptions(box=(-83.02, 39.94, -82.97, 39.98)))
    assert network.n_connectors > 2000
    assert [one.message for one in junction_findings(network)] == []


def highest(network: Network, intersection: int) -> set[str]:
    """Ways whose roads end or begin at an intersection."""
    roads = network.arrays.roads
    here = (roads.from_intersection == intersection) | (roads.to_intersection == intersection)
    return {network.road_ids[r].lstrip("-").split("#")[0] for r in np.flatnonzero(here)}


def alleys(apart: float, lit: bool) -> tuple[Nodes, list, dict]:
    """A street across others with driveways and an alley on both sides every few metres."""
    nodes, ways = dict(CROSS), []
    line = [4]
    for k in range(-8, 9):
        if k == 0:
            line.append(1)
            continue
        nodes |= {100 + k: (k * apart, 0.0), 200 + k: (k * apart, (40.0, -40.0)[k % 2])}
        line.append(100 + k)
        ways.append((300 + k, [100 + k, 200 + k], street("service", service="driveway")))
    nodes |= {50: (30.0, 40.0), 51: (-30.0, 40.0)}
    ways += [(10, [*line, 2], street("primary")), CROSS_WAYS[1],
             (400, [51, *(200 + k for k in (-8, -6, -4, -2, 2, 4, 6, 8)), 50], street("service")),
             (401, [1, 50], street("service"))]  # fmt: skip
    return nodes, ways, {1: LIT} if lit else {}


@pytest.mark.parametrize("lit", [False, True])
@pytest.mark.parametrize("apart", [4.0, 8.0, 12.0, 20.0])
def test_driveways_never_join_junctions_and_are_never_arms_of_a_signal(tmp_path, apart, lit):
    network = import_network(write_osm(tmp_path, *alleys(apart, lit)), ALL)
    nodes = network.arrays.intersections
    service = {str(way) for way in (*range(292, 309), 400, 401)}
    at_lights = np.flatnonzero(nodes.control == SIGNAL)
    assert at_lights.size == lit
    assert all(highest(network, int(i)) == {"10", "11"} for i in at_lights)
    for i, places in stop_places(network).items():
        if highest(network, i) & service:  # an entry or a corner of a yard
            assert np.hypot(*np.ptp(places, axis=0)) < 45.0
    found = [one for one in junction_findings(network) if one.check != "L33"]
    assert [one for one in found if {"road 10", "road 11"} & {s[:7] for s in one.source}] == []
    lengths = {
        network.road_ids[r]: length for r, length in enumerate(network.arrays.roads.length)
        if network.road_ids[r].lstrip("-").split("#")[0] in ("10", "11")
    }  # fmt: skip
    assert min(lengths.values()) >= 7.5


def test_a_driveway_meets_its_street_where_it_is(tmp_path: Path):
    nodes = {**CROSS, 9: (120.0, 0.0), 8: (120.0, 60.0)}
    ways = [(10, [4, 1, 9, 2], street()), CROSS_WAYS[1], (12, [9, 8], street("service"))]
    network = import_network(write_osm(tmp_path, nodes, ways), ALL)
    places = stop_places(network)
    at = next(i for i in places if highest(network, i) == {"10", "12"})
    assert network.arrays.intersections.x[at] == pytest.approx(120.0, abs=0.1)
    assert np.abs(places[at] - (120.0, 0.0)).max() < 12.0


def test_dead_ends_of_service_ways_are_turned_at_without_a_loop(tmp_path: Path):
    nodes = {**CROSS, 9: (120.0, 0.0), 8: (120.0, 60.0)}
    for kind, reach in (("service", 62.0), ("residential", 45.0)):
        ways = [(10, [4, 1, 9, 2], street()), CROSS_WAYS[1], (12, [9, 8], street(kind))]
        network = import_network(write_osm(tmp_path, nodes, ways), ALL)
        last = network.lane_points(network.lane_index["12#0_0"])[-1]
        assert last[1] == pytest.approx(reach, abs=3.0)


def exit_with_a_crossing(away: float) -> tuple[Nodes, list, dict]:
    """Two one-ways that cross at lights, and lights for people on foot behind them."""
    nodes = {**CROSS, 9: (away, 0.0)}
    ways = [(10, [4, 1, 9, 2], street(oneway="yes")), (11, [3, 1, 5], street(oneway="yes"))]
    return nodes, ways, {1: LIT, 9: ON_FOOT}


@pytest.mark.parametrize(("away", "names"), [(10.0, {"1"}), (35.0, {"1"}), (80.0, {"1", "9"})])
def test_lights_on_the_exits_of_a_junction_are_its_own(tmp_path: Path, away: float, names):
    network = load_network(write_osm(tmp_path, *exit_with_a_crossing(away)))
    assert set(network.signal_ids) == names


def test_lights_nearby_keep_step_whatever_lies_between(tmp_path: Path):
    """Two junctions of a boulevard and lights on foot on a way beside them, which no road joins."""
    nodes = {**CROSS, 20: (300.0, 45.0), 21: (-300.0, 45.0), 22: (0.0, 45.0),
             30: (300.0, 75.0), 31: (-300.0, 75.0), 32: (15.0, 75.0)}  # fmt: skip
    ways = [*CROSS_WAYS, (12, [21, 22, 20], street("primary", lanes="6")),
            (13, [31, 32, 30], street(oneway="yes"))]  # fmt: skip
    nodes[3] = (0.0, 45.0)
    ways = [(10, [4, 1, 2], street()), (11, [22, 1, 5], street()), *ways[2:]]
    network = load_network(write_osm(tmp_path, nodes, ways, {1: LIT, 22: LIT, 32: ON_FOOT}))
    assert set(network.signal_ids) == {"1", "22", "32"}
    cycles = network.arrays.signals.cycle
    assert np.ptp(cycles) < 0.05
    assert {one.check for one in junction_findings(network)} & {"L34", "L35"} == set()


def test_the_stop_line_lies_behind_what_leads_past_it(tmp_path: Path):
    """A street that joins another at a flat angle ends where the other's traffic does not drive."""
    nodes = {1: (0.0, 0.0), 2: (300.0, 0.0), 4: (-300.0, 0.0), 6: (-290.0, 70.0), 7: (-40.0, 4.0),
             8: (60.0, 200.0)}  # fmt: skip
    ways = [(10, [4, 1, 2], street("primary", lanes="4")), (12, [6, 7, 1, 8], street())]
    network = import_network(write_osm(tmp_path, nodes, ways))
    assert {one.check for one in junction_findings(network)} <= {"L34"}
    bends = bends_of(network)
    assert not bends.wandering.any()
