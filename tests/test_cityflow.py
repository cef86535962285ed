"""CityFlow road networks: a hand-made one against hand computation, Hangzhou against its file."""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cityflow_texts import ALWAYS, LINKS, PHASES, PLACES, TURNS, point, town, written
from real_data import data_folder

from rushhour.kernels.core.network import LEFT, NONE, RIGHT, SIGNAL, STRAIGHT, YIELD
from rushhour.roadnets.build import finish
from rushhour.roadnets.cityflow.config import read_config
from rushhour.roadnets.cityflow.network import read_network_draft
from rushhour.roadnets.drafts.draft import Draft, DraftLane
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network

HANGZHOU = "cityflow_hangzhou_4x4"


def drafted(folder: Path, content: dict[str, Any] | None = None) -> Draft:
    return read_network_draft(written(folder, town() if content is None else content))


def lane_of(draft: Draft, name: str) -> DraftLane:
    return next(lane for road in draft.roads for lane in road.lanes if lane.id == name)


def part_of(content: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    return next(part for part in content[kind] if part["id"] == name)


# --- geometry ---------------------------------------------------------------------------------


def test_lanes_lie_right_of_the_line_and_are_numbered_from_the_kerb(tmp_path: Path) -> None:
    draft = drafted(tmp_path)
    # w-a runs east along y = 0; its inner lane is 3 m wide, its outer 4 m; a cuts 10 m, w nothing.
    kerb, inner = lane_of(draft, "w-a_0"), lane_of(draft, "w-a_1")
    np.testing.assert_allclose(inner.shape, [(-100.0, -1.5), (-10.0, -1.5)])
    np.testing.assert_allclose(kerb.shape, [(-100.0, -5.0), (-10.0, -5.0)])
    assert (kerb.width, kerb.speed, inner.width, inner.speed) == (4.0, 10.0, 3.0, 12.5)
    # n-a runs south along x = 0: its right is west.
    np.testing.assert_allclose(lane_of(draft, "n-a_0").shape, [(-5.0, 100.0), (-5.0, 10.0)])


def test_each_end_is_cut_by_the_width_of_its_own_intersection(tmp_path: Path) -> None:
    draft = drafted(tmp_path)
    np.testing.assert_allclose(lane_of(draft, "a-b_1").shape, [(10.0, -1.5), (180.0, -1.5)])
    np.testing.assert_allclose(lane_of(draft, "b-a_1").shape, [(180.0, 1.5), (10.0, 1.5)])
    np.testing.assert_allclose(lane_of(draft, "e-b_1").shape, [(300.0, 1.5), (220.0, 1.5)])
    assert draft.remarks == []


def test_lanes_of_a_bent_road_keep_their_distance_from_its_line(tmp_path: Path) -> None:
    content = town()
    # 100 m west of a, the road comes from the south and turns right by 90 degrees.
    part_of(content, "roads", "w-a")["points"] = [point(-100, -80), point(-100, 0), point(0, 0)]
    lane = lane_of(drafted(tmp_path, content), "w-a_0").shape
    np.testing.assert_allclose(lane, [(-95.0, -80.0), (-95.0, -5.0), (-10.0, -5.0)], atol=1e-9)


def test_lanes_inside_a_tight_bend_never_run_backwards(tmp_path: Path) -> None:
    content = town()
    turn = np.linspace(np.pi, np.pi / 2, 19)  # to the right with a radius of 4 m
    arc = [point(-46 + 4 * np.cos(t), -4 + 4 * np.sin(t)) for t in turn]
    part_of(content, "roads", "w-a")["points"] = [point(-50, -80), *arc, point(0, 0)]
    draft = drafted(tmp_path, content)
    for name, offset in (("w-a_1", 1.5), ("w-a_0", 5.0)):
        shape = lane_of(draft, name).shape
        assert (np.diff(shape, axis=0).sum(axis=1) > 0.0).all()  # north-east, as the road
        np.testing.assert_allclose(shape[[0, -1]], [(-50 + offset, -80), (-10, -offset)])


def test_a_road_shorter_than_its_intersections_keeps_a_tenth(tmp_path: Path) -> None:
    content = town()
    for name in ("a", "b"):
        part_of(content, "intersections", name)["width"] = 150
    draft = drafted(tmp_path, content)
    np.testing.assert_allclose(lane_of(draft, "a-b_1").shape[:, 0], [90.0, 110.0])
    assert any("cut by less than the width" in remark for remark in draft.remarks)


def test_given_points_are_the_shape_of_a_connector(tmp_path: Path) -> None:
    content = town()
    link = part_of(content, "intersections", "a")["roadLinks"][LINKS["a"].index("wb")]
    drawn = [(-10.0, -1.5), (0.0, -1.0), (10.0, -1.5)]
    link["laneLinks"][0]["points"] = [point(*p) for p in drawn]
    link["laneLinks"][1]["points"] = [point(0, 0)]  # one point draws nothing
    network = finish(drafted(tmp_path, content))
    np.testing.assert_allclose(
        network.lane_points(network.n_road_lanes + path_of(network, "a", "wb", 1)), drawn
    )
    straight = network.lane_points(network.n_road_lanes + path_of(network, "a", "wb", 0))
    np.testing.assert_allclose(straight[:, 1], -5.0)


# --- control ----------------------------------------------------------------------------------


def path_of(network: Network, at: str, pair: str, lane: int | None = None) -> int:
    """The connector of a movement; lane: from the kerb, by default where the movement has one."""
    lane = lane if lane is not None else (0 if TURNS[pair] == "turn_right" else 1)
    c = network.arrays.connectors
    first = network.lane_index[f"{pair[0]}-{at}_{lane}"]
    last = network.lane_index[f"{at}-{pair[1]}_{lane}"]
    return int(np.flatnonzero((c.from_lane == first) & (c.to_lane == last))[0])


def letter(draft: Draft, phase: int, pair: str) -> str:
    signal = draft.signals[0]
    link = next(
        c.link for c in draft.connectors if (c.from_road, c.to_road) == (f"{pair[0]}-a", f"a-{pair[1]}")
    )  # fmt: skip
    return signal.phases[phase][1][link]


def test_phases_open_their_links_and_insert_no_yellow(tmp_path: Path) -> None:
    draft = drafted(tmp_path)
    assert [s.id for s in draft.signals] == ["a"]
    assert [time for time, _ in draft.signals[0].phases] == [30.0, 20.0, 8.0, 5.0]
    for phase, (_, opened) in enumerate(PHASES):
        for pair in LINKS["a"]:
            assert (letter(draft, phase, pair) != "r") == (pair in opened)


def test_links_that_are_always_open_and_left_turns_against_traffic_yield(tmp_path: Path) -> None:
    draft = drafted(tmp_path)
    for phase in range(4):
        for pair in ALWAYS:
            assert letter(draft, phase, pair) == "g"
    assert [letter(draft, 0, pair) for pair in ("wb", "bw", "wn", "bs")] == ["G", "G", "g", "g"]
    assert [letter(draft, 1, pair) for pair in ("ns", "sn")] == ["G", "G"]
    assert [letter(draft, 2, pair) for pair in ("nb", "sw")] == ["G", "G"]  # nothing against them


def gives_way(network: Network, k: int, other: int) -> bool:
    """Whether connectors conflict and the first must yield."""
    net = network.arrays
    found = range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1])
    return any(net.conflicts.other[c] == other and net.conflicts.yields[c] for c in found)


@pytest.mark.parametrize(
    ("at", "minor", "major"),
    [
        ("a", "wn", "bw"),  # left against oncoming traffic
        ("a", "ws", "ns"),  # right into the exit of a straight stream
        ("a", "sb", "nb"),  # right into the exit of a left turn; the lanes differ
        ("b", "am", "ea"),
        ("b", "em", "am"),
        ("b", "ma", "ea"),
        ("b", "me", "ae"),
    ],
)
def test_straight_goes_before_left_and_left_before_right(
    tmp_path: Path, at: str, minor: str, major: str
) -> None:
    network = finish(drafted(tmp_path))
    net = network.arrays.connectors
    for lane in (0, 1) if TURNS[major] == "go_straight" else (None,):
        k, other = path_of(network, at, minor), path_of(network, at, major, lane)
        there = net.conflict_start[k], net.conflict_start[k + 1]
        if other in network.arrays.conflicts.other[there[0] : there[1]]:
            assert gives_way(network, k, other)
        assert not gives_way(network, other, k)


def test_at_least_one_path_of_each_crossing_pair_gives_way(tmp_path: Path) -> None:
    network = finish(drafted(tmp_path))
    assert gives_way(network, path_of(network, "b", "am"), path_of(network, "b", "ea", 0))
    assert gives_way(network, path_of(network, "b", "me"), path_of(network, "b", "ae", 1))
    assert gives_way(network, path_of(network, "b", "ma"), path_of(network, "b", "ea", 0))
    assert gives_way(network, path_of(network, "a", "wn"), path_of(network, "a", "bw", 0))
    assert gives_way(network, path_of(network, "a", "ws"), path_of(network, "a", "ns", 0))


def test_nobody_gives_way_to_a_movement_of_the_same_type(tmp_path: Path) -> None:
    network = finish(drafted(tmp_path))
    for first, second in (("am", "me"), ("ae", "ea")):
        k, other = path_of(network, "b", first), path_of(network, "b", second)
        assert not gives_way(network, k, other)
        assert not gives_way(network, other, k)


def test_a_light_of_one_phase_is_no_light(tmp_path: Path) -> None:
    network = finish(drafted(tmp_path))
    control = dict(
        zip(network.intersection_ids, network.arrays.intersections.control.tolist(), strict=True)
    )
    assert control == {**dict.fromkeys(PLACES, NONE), "a": SIGNAL, "b": YIELD}
    assert (network.arrays.connectors.signal >= 0).sum() == 16  # of a: 4 straight by 2, 8 turns


def test_intersections_without_lights_have_the_same_rules_as_with_one_phase(tmp_path: Path) -> None:
    content = town()
    plain = drafted(tmp_path, content).intersections
    del part_of(content, "intersections", "b")["trafficLight"]
    assert drafted(tmp_path, content).intersections == plain


def test_a_joint_of_two_roads_needs_no_rules(tmp_path: Path) -> None:
    content = town()
    b = part_of(content, "intersections", "b")
    b["roadLinks"] = [link for link in b["roadLinks"] if link["type"] == "go_straight"]
    b["trafficLight"] = {"lightphases": []}
    network = finish(drafted(tmp_path, content))
    at = network.arrays.intersections
    assert at.control[network.intersection_ids.index("b")] == NONE
    c = network.arrays.connectors
    assert c.free[[path_of(network, "b", "ae"), path_of(network, "b", "ea", 0)]].all()


def test_turns_are_those_of_the_file(tmp_path: Path) -> None:
    network = finish(drafted(tmp_path))
    code = {"go_straight": STRAIGHT, "turn_left": LEFT, "turn_right": RIGHT}
    for at, pairs in LINKS.items():
        for pair in pairs:
            k = path_of(network, at, pair)
            assert network.arrays.connectors.turn[k] == code[TURNS[pair]]


def test_links_that_no_phase_opens_are_left_out_and_named(tmp_path: Path) -> None:
    content = town()
    for phase in part_of(content, "intersections", "a")["trafficLight"]["lightphases"]:
        shut = LINKS["a"].index("wn")
        phase["availableRoadLinks"] = [k for k in phase["availableRoadLinks"] if k != shut]
    draft = drafted(tmp_path, content)
    assert draft.remarks == ["road links that no phase opens left out: 1 (w-a to a-n)"]
    assert not any((c.from_road, c.to_road) == ("w-a", "a-n") for c in draft.connectors)
    assert [letter(draft, 0, pair) for pair in ("wb", "bs", "ws")] == ["G", "g", "g"]
    finish(draft)


def test_a_straight_stream_that_is_always_open_keeps_its_priority(tmp_path: Path) -> None:
    content = town()
    b = part_of(content, "intersections", "b")  # only what turns across has phases
    index = LINKS["b"].index
    through = [index("ae"), index("ea")]
    b["trafficLight"]["lightphases"] = [
        {"time": 20, "availableRoadLinks": [*through, index("am"), index("em")]},
        {"time": 20, "availableRoadLinks": [*through, index("me"), index("ma")]},
    ]
    draft = drafted(tmp_path, content)
    states = [state for _, state in next(s for s in draft.signals if s.id == "b").phases]
    assert states == ["GgGgrr", "GrGrgg"]  # in the order of LINKS


def test_crossing_streams_of_one_type_in_one_phase_are_doubted(tmp_path: Path) -> None:
    content = town()
    phases = part_of(content, "intersections", "a")["trafficLight"]["lightphases"]
    phases[1]["availableRoadLinks"].append(LINKS["a"].index("wb"))
    (found,) = drafted(tmp_path, content).findings
    assert (found.check, found.source, found.fix) == (
        "L19", ("intersection a",), 'signals."a" = false',
    )  # fmt: skip
    assert "2 pairs of equal road links cross in one phase" in found.message


def test_movements_of_unknown_type_are_turned_by_their_drawing(tmp_path: Path) -> None:
    content = town()
    link = part_of(content, "intersections", "a")["roadLinks"][LINKS["a"].index("wn")]
    link["type"] = "turn_somehow"
    draft = drafted(tmp_path, content)
    assert draft.remarks == [
        "road links of unknown type, turn taken from the drawing: 1 (turn_somehow)"
    ]
    network = finish(draft)
    assert network.arrays.connectors.turn[path_of(network, "a", "wn")] == LEFT


# --- files ------------------------------------------------------------------------------------


def test_a_network_is_recognised_zipped_and_by_its_config(tmp_path: Path) -> None:
    ids = load_network(written(tmp_path, town())).road_ids
    (tmp_path / "packed.json.gz").write_bytes(gzip.compress(json.dumps(town()).encode()))
    assert load_network(tmp_path / "packed.json.gz").road_ids == ids
    config = {"interval": 1.0, "seed": 0, "dir": "data/", "roadnetFile": "town.json"}
    (tmp_path / "data").mkdir()
    written(tmp_path / "data", town())
    network = load_network(written(tmp_path, config, "config.json"))
    assert (network.name, network.road_ids) == ("town", ids)


def test_files_of_a_config_are_found_in_dir_beside_it_or_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, own = tmp_path / "work", tmp_path / "own"
    for folder in (work / "data", own / "data"):
        folder.mkdir(parents=True)
    monkeypatch.chdir(work)
    content = {"dir": "data/", "roadnetFile": "town.json", "flowFile": "flow.json", "seed": 3}
    path = written(own, content, "config.json")
    with pytest.raises(NetworkError, match=r"config.json: roadnetFile 'town.json' is no file in"):
        read_config(path)
    written(work / "data", [], "flow.json")
    for folder in (work / "data", own, own / "data"):  # each is preferred to those before
        written(folder, town())
        config = read_config(path)
        assert config is not None
        assert config.roadnet_file.resolve() == folder / "town.json"
    assert config.flow_file is not None
    assert config.flow_file.resolve() == work / "data" / "flow.json"
    assert (config.ignored, config.seed) == ((), 3)


# --- Hangzhou ---------------------------------------------------------------------------------


@cache
def hangzhou() -> tuple[dict[str, Any], Draft]:
    path = data_folder(HANGZHOU) / "roadnet_4_4.json.gz"
    return json.loads(gzip.decompress(path.read_bytes())), read_network_draft(path)


def test_hangzhou_has_what_its_description_counts() -> None:
    raw, draft = hangzhou()
    assert len(draft.intersections) == 32
    assert len(draft.roads) == 80
    assert sum(len(road.lanes) for road in draft.roads) == 240
    assert sum(len(i["roadLinks"]) for i in raw["intersections"]) == 192
    assert len({(c.from_road, c.to_road) for c in draft.connectors}) == 192
    assert len(draft.connectors) == 576
    assert [len(signal.phases) for signal in draft.signals] == [9] * 16
    assert draft.remarks == []
    network = finish(draft)
    # 168.0 lane-km from centre to centre, less 15 m at each of 128 ends of three lanes.
    n = network.n_road_lanes
    assert network.arrays.lanes.length[:n].sum() == pytest.approx(168_000 - 128 * 3 * 15)


def test_given_paths_of_hangzhou_already_meet_the_lanes() -> None:
    _, draft = hangzhou()
    roads = {road.id: road for road in draft.roads}
    for c in draft.connectors:
        assert c.shape is not None
        ends = roads[c.from_road].lanes[c.from_lane], roads[c.to_road].lanes[c.to_lane]
        np.testing.assert_allclose(c.shape[0], ends[0].shape[-1], atol=1e-6)
        np.testing.assert_allclose(c.shape[-1], ends[1].shape[0], atol=1e-6)


def test_lights_of_hangzhou_open_what_the_file_says_and_only_right_turns_yield() -> None:
    raw, draft = hangzhou()
    real = {i["id"]: i for i in raw["intersections"] if not i["virtual"]}
    assert {signal.id for signal in draft.signals} == set(real)
    for signal in draft.signals:
        links = real[signal.id]["roadLinks"]
        for (time, state), phase in zip(
            signal.phases, real[signal.id]["trafficLight"]["lightphases"], strict=True
        ):
            assert time == phase["time"]
            wanted = ["r"] * len(links)
            for k in phase["availableRoadLinks"]:
                wanted[k] = "g" if links[k]["type"] == "turn_right" else "G"
            assert state == "".join(wanted)
