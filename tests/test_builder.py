"""Networks drawn by hand: lanes where they were drawn, movements and right of way by the rules."""

import json

import numpy as np
import pytest
from checked_runs import checked
from sketches import ARMS, KERB, WIDTH, arms, movements, turns

import rushhour as rh
from rushhour.kernels.core.network import (
    ALL_WAY_STOP,
    LEFT,
    NONE,
    RIGHT,
    SIGNAL,
    STOP,
    STRAIGHT,
    U_TURN,
    YIELD,
)
from rushhour.roadnets.by_hand.sketch import CONTROLS
from rushhour.roadnets.classes import CLASS_BIT, ROAD_VEHICLES
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import load, save


def lane_line(network: Network, name: str) -> np.ndarray:
    return network.lane_points(network.lane_index[name])


# --- lanes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("offset", "places"), [("centre", (-3.0, 0.0, 3.0)), ("right", (-7.5, -4.5, -1.5))]
)
def test_lanes_lie_astride_a_line_or_to_its_right_the_first_at_the_kerb(
    offset: str, places: tuple[float, ...]
) -> None:
    builder = rh.NetworkBuilder()
    builder.add_road([(0, 0), (80, 0)], 3, 20.0, width=3.0, id="r", offset=offset)  # type: ignore[arg-type]
    network = builder.build()
    for k, y in enumerate(places):
        np.testing.assert_allclose(lane_line(network, f"r_{k}"), [(0, y), (80, y)], atol=1e-9)
    assert set(network.lanes.speed) == {20.0} and set(network.lanes.width) == {3.0}


def test_a_street_has_a_road_each_way_to_the_right_of_its_line() -> None:
    builder = rh.NetworkBuilder()
    assert builder.add_street([(0, 0), (100, 0)], 2, 1, id="main") == ("main", "-main")
    network = builder.build()
    wanted = {"main_0": -1.5 * WIDTH, "main_1": -0.5 * WIDTH, "-main_0": 0.5 * WIDTH}
    assert set(network.lane_ids) == set(wanted)
    for name, y in wanted.items():
        ends = [(0, y), (100, y)] if name[0] == "m" else [(100, y), (0, y)]
        np.testing.assert_allclose(lane_line(network, name), ends, atol=1e-9)


def test_roads_are_cut_where_the_kerbs_of_a_crossing_begin() -> None:
    """Two half widths of one lane at 90 degrees: the other's half width and the kerb's radius."""
    network = arms().build()
    setback = WIDTH + KERB
    np.testing.assert_allclose(network.roads.length, 150.0 - setback, atol=1e-9)
    np.testing.assert_allclose(
        lane_line(network, "-e_0"), [(150.0, 1.6), (setback, 1.6)], atol=1e-9
    )


def test_roads_that_end_outside_are_never_moved() -> None:
    builder = rh.NetworkBuilder()
    lines = {}
    for name, (x, y) in ARMS.items():
        lines[name] = np.array([(120.0 * x, 120.0 * y), (20.0 * x, 20.0 * y)])
        builder.add_road(lines[name], id=f"in_{name}", offset="right")
        builder.add_road(lines[name][::-1], id=f"out_{name}", offset="right")
    builder.add_intersection(0.0, 0.0)
    network = builder.build()
    assert network.n_connectors == 12
    for name, line in lines.items():
        x, y = ARMS[name]
        right = np.array([-y, x]) * WIDTH / 2.0  # of one who drives in
        np.testing.assert_allclose(lane_line(network, f"in_{name}_0"), line + right, atol=1e-9)


def test_roads_that_overshoot_are_cut_at_the_same_stop_line() -> None:
    builder = rh.NetworkBuilder()
    for name, (x, y) in ARMS.items():
        over = 12.0 if name in "en" else 0.0  # beyond the middle
        builder.add_street([(-over * x, -over * y), (150 * x, 150 * y)], id=name)
    builder.add_intersection(0.0, 0.0)
    network = builder.build()
    np.testing.assert_allclose(network.roads.length, 150.0 - WIDTH - KERB, atol=1e-6)


def test_a_road_keeps_more_than_half_of_itself_between_two_crossings() -> None:
    builder = rh.NetworkBuilder()
    builder.add_street([(0, 0), (10, 0)], id="short")
    for x, name in ((0, "a"), (10, "b")):
        builder.add_street([(x, 0), (x, 100)], id=f"{name}n")
        builder.add_street([(x, 0), (x, -100)], id=f"{name}s")
        builder.add_intersection(x, 0, id=name, reach=4.0)
    network = builder.build()
    assert network.roads.length[network.road_index["short"]] == pytest.approx(1.0)
    assert any(line.startswith("L13 road 'short' (1.0 m)") for line in network.remarks)


def test_ends_join_the_nearest_intersection_in_reach_unless_they_are_tied() -> None:
    builder = rh.NetworkBuilder()
    builder.add_intersection(0, 0, id="a")
    builder.add_intersection(40, 0, id="b")
    builder.add_road([(-100, 0), (18, 0)], id="near a")
    builder.add_road([(-100, 50), (24, 0)], id="near b")
    builder.add_road([(-100, -50), (18, 0)], end="b", id="tied")
    builder.add_road([(20, 20), (20, 100)], start="a", id="out")
    builder.add_road([(-100, 90), (18, 90)], id="free")
    table = builder.build().roads
    ends = dict(zip(table.id, table.to_intersection, strict=True))
    assert ends == {"near a": "a", "near b": "b", "tied": "b", "out": "out:end", "free": "free:end"}
    assert table.from_intersection[3] == "a"


@pytest.mark.parametrize("tied", [{}, {"start": "a"}])
def test_of_a_short_road_within_reach_the_nearer_end_or_the_tied_one_joins(tied) -> None:
    for line, joins in (([(4, 0), (24, 0)], "start"), ([(24, 0), (4, 0)], "end")):
        builder = rh.NetworkBuilder()
        builder.add_intersection(0, 0, id="a")
        builder.add_road(line, id="r", **tied)
        table = builder.build().roads
        ends = {"start": table.from_intersection[0], "end": table.to_intersection[0]}
        joins = "start" if tied else joins
        assert ends[joins] == "a"
        assert list(ends.values()).count("a") == 1


def test_a_spline_of_an_engine_keeps_its_bends_and_loses_its_heights() -> None:
    t = np.linspace(0.0, np.pi / 2.0, 60)
    spline = np.column_stack((100.0 * np.cos(t), 100.0 * np.sin(t), np.linspace(0.0, 8.0, 60)))
    builder = rh.NetworkBuilder()
    builder.add_road(spline, id="bend", offset="right")
    network = builder.build()
    radius = np.hypot(*lane_line(network, "bend_0").T)
    np.testing.assert_allclose(radius, 100.0 + WIDTH / 2.0, atol=0.01)
    assert network.roads.length[0] == pytest.approx((100.0 + WIDTH / 2.0) * np.pi / 2.0, rel=1e-3)


def test_a_closed_line_is_a_track_on_which_vehicles_go_round() -> None:
    t = np.linspace(0.0, 2.0 * np.pi, 200)
    builder = rh.NetworkBuilder("track")
    builder.add_road(100.0 * np.column_stack((np.cos(t), np.sin(t))), 2, id="track")
    network = builder.build()
    assert network.remarks == () and network.n_connectors == 2
    around = network.arrays.lanes.length[:2] + network.arrays.lanes.length[2:]
    radius = np.array([100.0 + WIDTH / 2.0, 100.0 - WIDTH / 2.0])  # kerb outside: it runs left
    np.testing.assert_allclose(around, 2.0 * np.pi * radius, rtol=2e-3)
    # In a frame of 0.1 s nobody drives over the whole joint, 2 m, and so the checker sees who did.
    world = rh.World(network, rh.vehicles_on_road(network, 20, seed=1), dt=0.1, seed=1)
    checker = checked(world)
    world.step(1000)
    assert world.active == 20 and not sum(checker.report().values())


def test_permissions_are_masks_or_names() -> None:
    builder = rh.NetworkBuilder()
    builder.add_road([(0, 0), (50, 0)], id="all")
    builder.add_road([(0, 9), (50, 9)], id="bus", permissions="bus")
    builder.add_road([(0, 18), (50, 18)], id="two", permissions=("bus", "taxi"))
    mask = builder.build().lanes.permissions
    assert mask.tolist() == [
        ROAD_VEHICLES, CLASS_BIT["bus"], CLASS_BIT["bus"] | CLASS_BIT["taxi"],
    ]  # fmt: skip


# --- movements ----------------------------------------------------------------------------------


def test_a_crossing_has_every_movement_but_turns_back() -> None:
    wanted = {}
    order = "enws"  # counter-clockwise
    for i, a in enumerate(order):
        for step, turn in ((1, RIGHT), (2, STRAIGHT), (3, LEFT)):
            wanted[f"-{a}", order[(i + step) % 4]] = turn
    assert turns(arms().build()) == wanted


def test_with_two_lanes_the_kerb_lane_turns_right_and_the_inner_one_left() -> None:
    pairs = set(movements(arms(forward=2, backward=2).build()))
    from_east = {(a, b) for a, b in pairs if a.startswith("-e")}
    assert from_east == {
        ("-e_0", "n_0"), ("-e_0", "w_0"), ("-e_1", "w_1"), ("-e_1", "s_1"),
    }  # fmt: skip


def test_the_stem_of_a_t_turns_both_ways_and_the_bar_goes_on() -> None:
    assert turns(arms(names="ews").build()) == {
        ("-s", "e"): RIGHT, ("-s", "w"): LEFT, ("-e", "w"): STRAIGHT, ("-e", "s"): LEFT,
        ("-w", "e"): STRAIGHT, ("-w", "s"): RIGHT,
    }  # fmt: skip


def test_movements_may_be_forbidden_and_allowed_again() -> None:
    builder = arms()
    every = set(turns(builder.build()))
    builder.forbid("-s", "w")
    builder.forbid("-n", "s")
    assert set(turns(builder.build())) == every - {("-s", "w"), ("-n", "s")}
    builder.connect("-n", "s")
    assert set(turns(builder.build())) == every - {("-s", "w")}


def test_a_turn_back_and_single_lanes_are_connected_by_hand() -> None:
    builder = arms(forward=2, backward=2)
    builder.connect("-e", "e")
    builder.connect("-w", "e", lanes=[(0, 1), (1, 1)])
    network = builder.build()
    pairs = movements(network)
    assert ("-e_1", "e_1") in pairs
    assert network.arrays.connectors.turn[pairs["-e_1", "e_1"]] == U_TURN
    assert {(a, b) for a, b in pairs if a[:2] == "-w" and b[0] == "e"} == {
        ("-w_0", "e_1"), ("-w_1", "e_1"),
    }  # fmt: skip
    assert ("-e_0", "w_0") in pairs  # by rule, as before


def test_roads_whose_ends_meet_are_joined_lane_by_lane() -> None:
    builder = rh.NetworkBuilder()
    builder.add_road([(0, 0), (100, 0)], 2, id="a")
    builder.add_road([(100.4, 0), (200, 30)], 2, id="b")
    builder.add_road([(200, 30), (300, 30)], 1, id="c")
    network = builder.build()
    assert set(movements(network)) == {
        ("a_0", "b_0"), ("a_1", "b_1"), ("b_0", "c_0"), ("b_1", "c_0"),
    }  # fmt: skip
    assert set(network.intersections.control) == {"none"}


def test_where_more_roads_meet_without_an_intersection_they_give_way() -> None:
    builder = rh.NetworkBuilder()
    for name, (x, y) in ARMS.items():
        builder.add_street([(0, 0), (150 * x, 150 * y)], id=name)
    network = builder.build()
    assert sorted(network.intersections.control) == ["none"] * 4 + ["yield"]
    assert network.n_connectors == 12


# --- who goes first -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("control", "code"),
    [("none", NONE), ("yield", YIELD), ("stop", STOP), ("all_way_stop", ALL_WAY_STOP),
     ("signals", SIGNAL)],
)  # fmt: skip
def test_right_of_way_follows_control_and_priority(control: str, code: int) -> None:
    network = arms(control).build()
    arrays = network.arrays
    node = list(network.intersections.id).index("c")
    assert arrays.intersections.control[node] == code
    pairs, links = movements(network), arrays.connectors
    minor, major = pairs["-s_0", "n_0"], pairs["-e_0", "w_0"]
    assert yields(network, minor, major) == (control in ("yield", "stop"))
    assert not yields(network, major, minor)
    left = pairs["-e_0", "s_0"]
    assert yields(network, left, pairs["-w_0", "e_0"]) == (control in ("yield", "stop", "signals"))
    assert bool(links.must_stop[minor]) == (control in ("stop", "all_way_stop"))
    assert bool(links.must_stop[major]) == (control == "all_way_stop")
    assert (links.signal >= 0).all() == (control == "signals")


def yields(network: Network, k: int, other: int) -> bool:
    start, conflicts = network.arrays.connectors.conflict_start, network.arrays.conflicts
    for c in range(start[k], start[k + 1]):
        if conflicts.other[c] == other:
            return bool(conflicts.yields[c])
    return False


# --- driving ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("control", "lanes"),
    [(control, lanes) for control in CONTROLS for lanes in (1, 2)
     if control != "roundabout" or lanes == 1],  # a ring has one lane
)  # fmt: skip
def test_traffic_on_a_crossing_drawn_by_hand_breaks_no_rule(control: str, lanes: int) -> None:
    network = arms(control, lanes, lanes).build()
    world = rh.World(network, rh.random_trips(network, 80, "4min", seed=2), dt=0.25, seed=1)
    checker = checked(world)
    while not world.done and world.time < 900.0:
        world.step()
    assert world.arrived == 80
    assert {name: count for name, count in checker.report().items() if count} == {}


def test_building_again_gives_the_same_network_and_more_can_be_added() -> None:
    builder = arms("signals")
    first, second = builder.build(), builder.build()
    for a, b in zip(first.arrays, second.arrays, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)
    builder.add_street([(150, 0), (300, 0)], id="more")
    assert builder.build().n_roads == first.n_roads + 2


def test_a_network_drawn_by_hand_is_saved_and_loaded(tmp_path) -> None:
    network = arms("signals").build()
    save(network, tmp_path / "net.h5")
    again = load(tmp_path / "net.h5")
    assert again.road_ids == network.road_ids and again.remarks == network.remarks
    np.testing.assert_array_equal(again.points, network.points)


def test_coordinates_of_an_engine_far_from_the_origin_are_kept() -> None:
    here, there = arms().build(), rh.NetworkBuilder()
    x0, y0 = 3_500_000.0, 5_400_000.0
    for name, (x, y) in ARMS.items():
        there.add_street([(x0, y0), (x0 + 150 * x, y0 + 150 * y)], id=name, priority=abs(x))
    there.add_intersection(x0, y0, id="c")
    far = there.build()
    shift = np.array(far.origin)
    np.testing.assert_allclose(far.points + shift, here.points + (x0, y0), atol=1e-6)
    assert json.loads(json.dumps(far.remarks)) == []
