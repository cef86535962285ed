"""Maps of OpenStreetMap: hand-made ones against what was drawn, real ones against their counts."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from osm_texts import CROSS, CROSS_WAYS, control, osm_text, street, turns, write_osm
from real_data import data_folder

from rushhour.cli import main
from rushhour.kernels.core.network import ALL_WAY_STOP, NONE, SIGNAL, STOP, YIELD
from rushhour.roadnets.build import finish
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.fixes import read_fixes
from rushhour.roadnets.importing import import_network
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.osm.network import read_osm_draft

pytest.importorskip("osmium")


def test_a_crossing_has_every_movement_and_its_lanes_lie_right_of_the_line(tmp_path: Path):
    network = load_network(write_osm(tmp_path, CROSS, CROSS_WAYS))
    assert network.n_roads == 8
    from_west = {b for a, b in turns(network) if a == "10#0"}
    assert from_west == {"10#1", "11#1", "-11#0"}
    lane = network.lane_points(network.lane_index["10#0_0"])
    assert lane[:, 1] == pytest.approx(-1.45, abs=1e-3)  # half a lane of 2.9 m to the right
    assert lane[-1, 0] == pytest.approx(-(1.45 * 2 + 3.0), abs=0.01)  # kerb radius 3 m
    assert control(network, "1") == YIELD
    assert network.projection.startswith("+proj=tmerc")


def test_dead_ends_within_the_map_turn_back_and_those_at_its_border_are_gates(tmp_path: Path):
    nodes = {**CROSS, 6: (100.0, 0.0), 7: (100.0, 80.0)}
    ways = [(10, [4, 1, 6, 2], street()), CROSS_WAYS[1], (12, [6, 7], street())]
    network = load_network(write_osm(tmp_path, nodes, ways))
    assert ("12#0", "-12#0") in turns(network)
    assert not {a for a, _ in turns(network)} & {"10#2", "-10#0"}


@pytest.mark.parametrize(
    ("at", "expected"), [((-20.0, 0.0), "1"), ((-100.0, 0.0), "9")], ids=["near", "mid-block"]
)
def test_a_signal_before_a_junction_is_the_junctions(tmp_path: Path, at, expected):
    nodes = {**CROSS, 9: at}
    ways = [(10, [4, 9, 1, 2], street(oneway="yes")), CROSS_WAYS[1]]
    tags = {9: {"highway": "traffic_signals"}}
    network = load_network(write_osm(tmp_path, nodes, ways, tags))
    assert network.signal_ids == (expected,)
    assert control(network, expected) == SIGNAL


def test_a_ramp_meter_is_no_signal_of_the_junction_behind_it(tmp_path: Path):
    nodes = {**CROSS, 9: (-20.0, 0.0)}
    ways = [(10, [4, 9, 1, 2], street(oneway="yes")), CROSS_WAYS[1]]
    tags = {9: {"highway": "traffic_signals", "traffic_signals": "ramp_meter"}}
    network = load_network(write_osm(tmp_path, nodes, ways, tags))
    assert network.signal_ids == ("9",)
    assert control(network, "1") == YIELD


@pytest.mark.parametrize(("apart", "owner"), [(False, "6"), (True, "1")])
def test_the_direction_of_a_signal_counts_where_one_way_owns_it(tmp_path: Path, apart, owner):
    """Between two junctions, nearer to the first; where two ways meet the nearer junction counts."""
    nodes = {**CROSS, 9: (12.0, 0.0), 6: (40.0, 0.0), 7: (40.0, 200.0)}
    ways = [(10, [4, 1], street()), (12, [1, 9, 6, 2], street()), CROSS_WAYS[1],
            (13, [6, 7], street())]  # fmt: skip
    if apart:
        ways[1:2] = [(12, [1, 9], street()), (14, [9, 6, 2], street())]
    tags = {9: {"highway": "traffic_signals", "traffic_signals:direction": "forward"}}
    assert load_network(write_osm(tmp_path, nodes, ways, tags)).signal_ids == (owner,)


def test_stop_signs_stop_their_entry_or_all(tmp_path: Path):
    nodes = {**CROSS, 8: (0.0, 10.0), 9: (0.0, -10.0)}
    ways = [(10, [4, 1, 2], street("tertiary")), (11, [3, 8, 1, 9, 5], street())]
    tags = {8: {"highway": "stop"}, 9: {"highway": "stop"}}
    network = load_network(write_osm(tmp_path, nodes, ways, tags))
    stops = network.arrays.connectors.must_stop
    roads = network.arrays.lanes.road[network.arrays.connectors.from_lane[stops]]
    assert control(network, "1") == STOP
    assert {network.road_ids[r] for r in roads} == {"11#0", "-11#1"}
    all_way = write_osm(tmp_path, CROSS, CROSS_WAYS, {1: {"highway": "stop", "stop": "all"}})
    assert control(load_network(all_way), "1") == ALL_WAY_STOP


@pytest.mark.parametrize(
    ("rule", "to", "left"),
    [
        ("no_left_turn", 13, {"11#0", "12#0"}),
        ("only_straight_on", 12, {"12#0"}),
        ("no_entry", 99, {"11#0", "12#0", "-13#0"}),  # of a way that is not there
    ],
)
def test_restrictions_take_movements_away(tmp_path: Path, rule, to, left):
    ways = [(10, [4, 1], street()), (11, [1, 5], street()), (12, [1, 2], street()),
            (13, [3, 1], street())]  # fmt: skip
    members = [("way", "from", 10), ("node", "via", 1), ("way", "to", to)]
    relations = [(1, members, {"type": "restriction", "restriction": rule})]
    network = load_network(write_osm(tmp_path, CROSS, ways, None, relations))
    assert {b for a, b in turns(network) if a == "10#0"} == left


def test_a_dual_carriageway_and_its_crossing_are_one_intersection(tmp_path: Path):
    nodes = {1: (0.0, 6.0), 2: (0.0, -6.0), 3: (-300.0, 6.0), 4: (300.0, 6.0),
             5: (-300.0, -6.0), 6: (300.0, -6.0), 7: (0.0, 300.0), 8: (0.0, -300.0)}  # fmt: skip
    main = street("primary", oneway="yes", lanes="2")
    ways = [(10, [4, 1, 3], main), (11, [5, 2, 6], main), (12, [7, 1, 2, 8], street())]
    network = load_network(
        write_osm(tmp_path, nodes, ways, {1: {"highway": "traffic_signals"},
                                          2: {"highway": "traffic_signals"}})
    )  # fmt: skip
    assert network.signal_ids == ("1",)
    assert "2" not in network.intersection_ids
    assert {b for a, b in turns(network) if a == "12#0"} == {"10#1", "11#1", "12#1"}
    assert {b for a, b in turns(network) if a == "11#0"} == {"11#1", "12#1", "-12#0"}


@pytest.mark.parametrize("lit", [True, False])
def test_a_way_to_turn_back_between_carriageways_is_a_crossing_where_both_ends_have_lights(
    tmp_path: Path, lit: bool
):
    nodes = {1: (0.0, 9.0), 2: (0.0, -9.0), 3: (-300.0, 9.0), 4: (300.0, 9.0),
             5: (-300.0, -9.0), 6: (300.0, -9.0)}  # fmt: skip
    main = street("primary", oneway="yes", lanes="2")
    ways = [(10, [4, 1, 3], main), (11, [5, 2, 6], main),
            (12, [1, 2], street("primary_link", oneway="yes"))]  # fmt: skip
    light = {"highway": "traffic_signals"}
    network = load_network(write_osm(tmp_path, nodes, ways, {1: light, 2: light} if lit else {}))
    assert network.signal_ids == (("1",) if lit else ())
    assert ("2" in network.intersection_ids) != lit
    if lit:
        back = {("10#0", "11#1")}
        assert turns(network) == {("10#0", "10#1"), ("11#0", "11#1")} | back


def test_one_intersection_is_not_made_of_a_whole_district(tmp_path: Path):
    """Single linkage would join this chain of 30 nodes, 9 m apart, into one."""
    n = 30
    nodes = {i: (9.0 * i, 0.0) for i in range(n)}
    nodes |= {100 + i: (9.0 * i, 200.0) for i in range(n)}
    ways = [(1, list(range(n)), street())]
    ways += [(10 + i, [i, 100 + i], street()) for i in range(n)]
    draft = read_osm_draft(write_osm(tmp_path, nodes, ways))
    crossings = [i for i in draft.intersections if int(i.id) < 100]
    assert 261.0 / 60.0 < len(crossings) < n  # none wider than 60 m


def test_roundabouts_have_priority(tmp_path: Path):
    angle = np.arange(8) * np.pi / 4
    nodes = {i: (25.0 * float(np.cos(a)), 25.0 * float(np.sin(a))) for i, a in enumerate(angle)}
    nodes |= {10 + i: (12.0 * nodes[i][0], 12.0 * nodes[i][1]) for i in (0, 2, 4, 6)}
    ring = (1, [*range(8), 0], street("tertiary", junction="roundabout"))
    ways = [ring] + [(10 + i, [10 + i, i], street("primary")) for i in (0, 2, 4, 6)]
    network = load_network(write_osm(tmp_path, nodes, ways))
    rings = [i for i, name in enumerate(network.road_ids) if name.startswith("1#")]
    assert len(rings) == 4
    conflicts, links = network.arrays.conflicts, network.arrays.connectors
    road = network.arrays.lanes.road
    seen = 0
    for k in range(links.from_lane.size):
        for c in range(links.conflict_start[k], links.conflict_start[k + 1]):
            other = conflicts.other[c]
            on_ring = road[links.from_lane[k]] in rings
            if on_ring != (road[links.from_lane[other]] in rings):
                assert bool(conflicts.yields[c]) == (not on_ring)
                seen += 1
    assert seen >= 8


def test_on_a_roundabout_of_two_lanes_the_inner_one_goes_on_and_is_entered(tmp_path: Path):
    """Between two exits there is no room to change lane: who enters must be able to go round."""
    angle = np.arange(8) * np.pi / 4
    nodes = {i: (25.0 * float(np.cos(a)), 25.0 * float(np.sin(a))) for i, a in enumerate(angle)}
    nodes |= {10 + i: (12.0 * nodes[i][0], 12.0 * nodes[i][1]) for i in (0, 2, 4, 6)}
    ring = (1, [*range(8), 0], street("tertiary", junction="roundabout", lanes="2"))
    ways = [ring] + [(10 + i, [10 + i, i], street("primary")) for i in (0, 2, 4, 6)]
    network = load_network(write_osm(tmp_path, nodes, ways))
    lanes, links = network.arrays.lanes, network.arrays.connectors
    leads: dict[tuple[str, int], set[tuple[str, int]]] = {}
    for a, b in zip(links.from_lane, links.to_lane, strict=True):
        ends = [(network.road_ids[lanes.road[end]].split("#")[0], int(lanes.number[end]))
                for end in (a, b)]  # fmt: skip
        leads.setdefault(ends[0], set()).add(ends[1])
    for arm in (10, 12, 14, 16):
        assert {("1", 0), ("1", 1)} <= leads[str(arm), 0]
    assert ("1", 0) in leads["1", 0]  # the kerb lane: off, or on
    assert leads["1", 1] == {("1", 1)}


def test_ways_are_cut_where_nodes_are_missing_and_negative_ids_are_legal(tmp_path: Path):
    nodes = {-1: (0.0, 0.0), -2: (300.0, 0.0), -3: (0.0, 300.0), -4: (-300.0, 0.0)}
    ways = [(-10, [-4, -1, -2], street()), (-11, [-3, -1], street()),
            (-12, [-2, -99, -3], street())]  # fmt: skip
    draft = read_osm_draft(write_osm(tmp_path, nodes, ways))
    assert {road.id.lstrip("-").split("#")[0] for road in draft.roads} == {"10", "11"}
    (found,) = (one for one in draft.findings if one.check == "L01")
    assert found.message == "way -12: 1 of its nodes are not in the file; left out"


def test_what_is_changed_along_a_street_is_a_joint_without_control(tmp_path: Path):
    nodes = {**CROSS, 6: (150.0, 0.0)}
    ways = [(10, [4, 1, 6], street()), (12, [6, 2], street("primary")), CROSS_WAYS[1]]
    network = load_network(write_osm(tmp_path, nodes, ways))
    assert control(network, "6") == NONE
    assert ("10#1", "12#0") in turns(network)
    assert ("10#1", "-10#1") not in turns(network)


def test_the_same_map_in_another_order_is_the_same_network(tmp_path: Path):
    a = read_osm_draft(write_osm(tmp_path, CROSS, CROSS_WAYS))
    b = read_osm_draft(write_osm(tmp_path, dict(reversed(CROSS.items())), CROSS_WAYS[::-1]))
    assert [road.id for road in a.roads] == [road.id for road in b.roads]
    assert [(c.from_road, c.to_road) for c in a.connectors] == [
        (c.from_road, c.to_road) for c in b.connectors
    ]


def test_every_lane_of_a_real_map_leads_on_unless_it_ends_at_a_gate():
    network = finish(read_osm_draft(data_folder("osm_krems") / "krems.osm.gz"))
    lanes, inter = network.arrays.lanes, network.arrays.intersections
    out = np.diff(lanes.out_start[: network.n_road_lanes + 1])
    for lane in np.flatnonzero(out == 0):
        x = lanes.intersection[lane]
        assert inter.connector_start[x] == inter.connector_start[x + 1] or (
            network.arrays.roads.lane_count[lanes.road[lane]] > 1
        )


BAD = {
    "truncated gzip": lambda text: gzip.compress(text.encode())[:-30],
    "not XML": lambda text: b"this is no map",
    "cut in the middle": lambda text: text.encode()[: len(text) // 2],
    "no road": lambda text: text.replace("residential", "footway").encode(),
    "beyond the earth": lambda text: text.replace('lat="0.0', 'lat="89.9').encode(),
    "entities": lambda text: b'<!DOCTYPE osm [<!ENTITY a "b">]>' + text.encode(),
    "empty": lambda text: b"",
}


@pytest.mark.parametrize("name", list(BAD))
def test_bad_maps_end_in_one_line(tmp_path: Path, name):
    path = tmp_path / ("map.osm.gz" if "gzip" in name else "map.osm")
    path.write_bytes(BAD[name](osm_text(CROSS, CROSS_WAYS)))
    with pytest.raises(NetworkError) as caught:
        load_network(path)
    assert "\n" not in str(caught.value)
    assert path.name in str(caught.value)


def with_rings(clockwise: bool) -> tuple[dict, list]:
    """The crossing, three lanes from the west, and three roundabouts off its northern arm."""
    nodes, ways = dict(CROSS), [
        (10, [4, 1], street("primary", oneway="yes", lanes="3",
                            turn__lanes="left|through|right")),
        (12, [1, 2], street("primary")), CROSS_WAYS[1],
    ]  # fmt: skip
    angle = np.arange(8) * np.pi / 4 * (-1.0 if clockwise else 1.0)
    for ring in range(3):
        x, y = 20.0, 150.0 + 200.0 * ring
        first = 100 * (ring + 1)
        for i, a in enumerate(angle):
            nodes[first + i] = (x + 20.0 * float(np.cos(a)), y + 20.0 * float(np.sin(a)))
        ways.append((first, [*(first + i for i in range(8)), first],
                     street(junction="roundabout")))  # fmt: skip
        ways.append((first + 1, [3 if ring == 0 else first - 100, first], street()))
    return nodes, ways


@pytest.mark.parametrize("clockwise", [False, True], ids=["right", "left"])
def test_roundabouts_tell_the_side_of_the_road_and_lanes_keep_to_it(tmp_path: Path, clockwise):
    network = load_network(write_osm(tmp_path, *with_rings(clockwise)))
    assert network.left_hand == clockwise
    side = 1.0 if clockwise else -1.0
    south = network.lane_points(network.lane_index["11#1_0"])  # from the crossing to the south
    assert (np.sign(south[:, 0]) == side).all()
    lanes, links = network.arrays.lanes, network.arrays.connectors
    leads = {
        int(lanes.number[a]): network.road_ids[lanes.road[b]].lstrip("-")
        for a, b in zip(links.from_lane, links.to_lane, strict=True)
        if network.road_ids[lanes.road[a]] == "10#0"
    }
    kerb, inner = ("11#0", "11#1") if clockwise else ("11#1", "11#0")  # north, south
    assert leads == {0: kerb, 1: "12#0", 2: inner}
    kerb_lane, inner_lane = (
        network.lane_points(network.lane_index[f"10#0_{k}"])[0] for k in (0, 2)
    )
    assert np.sign(kerb_lane[1] - inner_lane[1]) == side


def imported(tmp_path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
    path = write_osm(tmp_path, CROSS, CROSS_WAYS)
    code = main(["import", str(path), "-o", str(tmp_path / "map.h5"), "--json", *options])
    out = capsys.readouterr()
    return code, out.out + out.err


def test_options_of_import_are_obeyed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    facts = json.loads(imported(tmp_path, capsys)[1])
    assert facts["roads"] == 8
    west = "--bbox=-0.01,-0.0001,-0.001,0.0001"
    assert json.loads(imported(tmp_path, capsys, west)[1])["roads"] == 2
    imported(tmp_path, capsys, "--default-speed", "residential=30")
    speed = load_network(tmp_path / "map.h5").roads.speed
    assert speed == pytest.approx(30.0 / 3.6)
    american = json.loads(imported(tmp_path, capsys, "--country", "us")[1])
    assert american["control"]["all_way_stop"] == 1


@pytest.mark.parametrize(
    "options",
    [["--bbox=1,2"], ["--bbox=5,0,4,1"], ["--default-speed", "road=fast"],
     ["--default-speed", "canal=30"], ["--country", "Portugal"]],
    ids=["half a box", "turned round", "no speed", "no class", "no code"],
)  # fmt: skip
def test_bad_options_of_import_end_in_one_line(tmp_path: Path, capsys, options):
    code, text = imported(tmp_path, capsys, *options)
    assert code == 2
    assert len(text.strip().splitlines()) == 1
    assert "wanted" in text


def test_way_10_and_way_minus_10_are_two_streets_of_one_map(tmp_path: Path):
    """10 against its line is called as -10 along its own: their pieces are numbered together."""
    nodes = {**CROSS, -1: (0.0, 900.0), -2: (300.0, 900.0), -4: (-300.0, 900.0), -5: (0.0, 600.0)}
    ways = [*CROSS_WAYS, (-10, [-4, -1, -2], street(maxspeed="30")), (-11, [-1, -5, 3], street())]
    network = load_network(write_osm(tmp_path, nodes, ways))
    assert len(set(network.road_ids)) == len(network.road_ids)
    own = {name for name in network.road_ids if name.lstrip("-").startswith("10#")}
    assert own == {"-10#0", "--10#0", "-10#1", "--10#1", "10#2", "-10#2", "10#3", "-10#3"}
    slow = network.arrays.lanes.speed < 30.5 / 3.6
    lanes = network.arrays.lanes.road[: network.n_road_lanes]
    assert {network.road_ids[lanes[lane]] for lane in np.flatnonzero(slow[: lanes.size])} == {
        "-10#0", "--10#0", "-10#1", "--10#1"
    }  # fmt: skip
    path = tmp_path / "fixes.toml"
    path.write_text('speed."-10" = 20\nclose."10" = true\n')
    fixed = import_network(write_osm(tmp_path, nodes, ways), fixes=read_fixes(path))
    assert {name for name in fixed.road_ids if name.lstrip("-").startswith("10#")} == {
        "-10#0", "--10#0", "-10#1", "--10#1"
    }  # fmt: skip


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("relation", [False, True])
def test_areas_with_houses_count_whatever_the_sign_of_their_ids(tmp_path: Path, sign, relation):
    corners = [(-400.0, -100.0), (400.0, -100.0), (400.0, 100.0), (-400.0, 100.0)]
    nodes = {sign * k: place for k, place in CROSS.items()}
    nodes |= {sign * (20 + k): corner for k, corner in enumerate(corners)}
    around = [sign * ref for ref in (20, 21, 22, 23, 20)]
    houses = {"landuse": "residential"}
    ways = [(sign * 10, [sign * k for k in (4, 1, 2)], street("tertiary")),
            (sign * 30, around, {} if relation else houses)]  # fmt: skip
    of_it = [(sign * 40, [("way", "outer", sign * 30)], {**houses, "type": "multipolygon"})]
    path = write_osm(tmp_path, nodes, ways, {}, of_it if relation else [])
    network = load_network(path)
    assert network.arrays.lanes.speed[0] == pytest.approx(50.0 / 3.6)
