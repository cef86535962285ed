"""Every check of imported maps on a hand-made map or network: found where it is so, else not."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from network_drafts import chain, crossing, line
from osm_texts import CROSS, CROSS_WAYS, Nodes, street, write_osm

from rushhour.kernels.core.network import SIGNAL, YIELD
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import Draft, DraftConnector, DraftSignal
from rushhour.roadnets.findings import (
    CHECKS,
    Finding,
    finding,
    moved,
    packed,
    short_lines,
    unpacked,
)
from rushhour.roadnets.lint.checks import findings as lint
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.osm.crossings import close_pairs
from rushhour.roadnets.osm.network import read_osm_draft
from rushhour.roadnets.osm.ways.tags import level_of

pytest.importorskip("osmium")


def of(found: Sequence[Finding], check: str) -> list[Finding]:
    return [one for one in found if one.check == check]


def read(tmp_path: Path, check: str, nodes: Nodes, ways: list, *more: object) -> list[Finding]:
    """Findings of a check on reading an OpenStreetMap."""
    return of(read_osm_draft(write_osm(tmp_path, nodes, ways, *more)).findings, check)


# --- OpenStreetMap ----------------------------------------------------------------------------

APART: Nodes = {**CROSS, 20: (100.0, 50.0), 21: (100.0, -50.0)}
ACROSS = (30, [20, 21], street())


@pytest.mark.parametrize(
    ("tags", "found"),
    [({}, True), ({"layer": "1"}, False), ({"bridge": "yes"}, False), ({"tunnel": "yes"}, False),
     ({"bridge": "no"}, True), ({"access": "no"}, False)],
    ids=["plain", "layer", "bridge", "tunnel", "no bridge", "closed"],
)  # fmt: skip
def test_ways_that_cross_on_one_level_without_a_node_are_found(
    tmp_path: Path, tags: dict[str, str], found: bool
) -> None:
    ways = [*CROSS_WAYS, (30, [20, 21], street(**tags))]
    crossings = read(tmp_path, "L04", APART, ways)
    assert len(crossings) == found
    if found:
        assert crossings[0].source == ("way 10", "way 30")
        assert crossings[0].place == pytest.approx((100.0, 0.0), abs=0.5)
    shared = [(10, [4, 1, 22, 2], street()), CROSS_WAYS[1], (30, [20, 22, 21], street())]
    assert not read(tmp_path, "L04", {**APART, 22: (100.0, 0.0)}, shared)


@pytest.mark.parametrize(("gap", "found"), [(1.4, True), (2.6, False)])
def test_a_dead_end_just_short_of_a_way_is_found(tmp_path: Path, gap: float, found: bool) -> None:
    nodes = {**CROSS, 20: (100.0, 80.0), 21: (100.0, gap)}
    near = read(tmp_path, "L05", nodes, [*CROSS_WAYS, (30, [20, 21], street())])
    assert len(near) == found
    if found:
        assert near[0].source == ("node 21", "way 10") and "1.4 m from way 10" in near[0].message


def test_a_dead_end_that_a_street_joins_to_the_way_is_no_gap(tmp_path: Path) -> None:
    nodes = {**CROSS, 20: (100.0, 80.0), 21: (100.0, 1.4), 22: (100.0, 0.0)}
    ways = [(10, [4, 1, 22, 2], street()), CROSS_WAYS[1], (30, [20, 21], street())]
    assert len(read(tmp_path, "L05", nodes, ways)) == 1
    assert not read(tmp_path, "L05", nodes, [*ways[:2], (30, [20, 22, 21], street())])


def test_close_pairs_are_those_whose_boxes_meet() -> None:
    rng = np.random.default_rng(2)
    a = rng.uniform(-200.0, 200.0, (150, 2))
    b = a + rng.normal(scale=rng.choice([1.0, 60.0], (150, 1)), size=(150, 2))
    low, high = np.minimum(a, b) - 1.0, np.maximum(a, b) + 1.0
    meet = (low[:, None] <= high[None]).all(axis=2)
    wanted = {(i, j) for i, j in np.argwhere(meet & meet.T).tolist() if i < j}
    i, j = close_pairs(a, b, 2.0, lambda i, j: np.ones(i.size, bool))
    found = set(zip(i.tolist(), j.tolist(), strict=True))
    assert found <= wanted and (i < j).all()
    # Pairs that share no cell are not looked at, and none of those touch.
    assert all(_apart(a[i], b[i], a[j], b[j]) > 2.0 for i, j in wanted - found)


def _apart(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> float:
    """Least distance of points along two segments, from below within 0.2 m."""
    t = np.linspace(0.0, 1.0, 400)[:, None]
    first, second = a + t * (b - a), c + t * (d - c)
    return float(np.hypot(*(first[:, None] - second[None]).transpose(2, 0, 1)).min()) + 1.0


def test_levels_are_read_from_layers_bridges_and_tunnels() -> None:
    assert level_of({"layer": "-2", "bridge": "yes"}) == -2
    assert level_of({"layer": "high", "bridge": "viaduct"}) == 1
    assert (level_of({"tunnel": "yes"}), level_of({"tunnel": "no"}), level_of({})) == (-1, 0, 0)


def test_ways_without_extent_are_counted_and_missing_nodes_named(tmp_path: Path) -> None:
    ways = [*CROSS_WAYS, (40, [2], street()), (41, [2, 98, 3, 5], street())]
    findings = read_osm_draft(write_osm(tmp_path, CROSS, ways)).findings
    assert [one.source for one in of(findings, "L02")] == [("way 40",)]
    (lost,) = of(findings, "L01")
    assert lost.message == "way 41: 1 of its nodes are not in the file; 1 piece of it kept"


def test_signals_far_from_junctions_are_named_with_their_place(tmp_path: Path) -> None:
    nodes = {**CROSS, 9: (-100.0, 0.0)}
    ways = [(10, [4, 9, 1, 2], street()), CROSS_WAYS[1]]
    (signal,) = read(tmp_path, "L10", nodes, ways, {9: {"highway": "traffic_signals"}})
    assert signal.place == pytest.approx((-100.0, 0.0), abs=0.5) and signal.severity == "I"


def test_pieces_that_cannot_be_left_are_named_with_their_length(tmp_path: Path) -> None:
    """A street into a one-way loop that nothing leads out of."""
    nodes = {**CROSS, 20: (300.0, 1200.0), 21: (1500.0, 1200.0), 22: (300.0, 2800.0)}
    block = [(12, [3, 4], street()), (13, [5, 2], street()), (14, [2, 3], street())]
    trap = [(30, [2, 20], street(oneway="yes")), (31, [20, 21, 22, 20], street(oneway="yes"))]
    whole, piece = read(tmp_path, "L21", nodes, [*CROSS_WAYS, *block, *trap])
    assert "can be reached and left" in whole.message
    assert (piece.severity, piece.source) == ("W", ("way 30", "way 31"))
    km = float(piece.message.split("(")[1].split()[0])
    assert km == pytest.approx((1200 + 1200 + 2000 + 1600) / 1000, rel=0.01)


def test_places_of_a_map_with_left_hand_traffic_are_where_they_are(tmp_path: Path) -> None:
    tags = {"driving_side": "left"}
    nodes = {**CROSS, 9: (-50.0, 120.0), 20: (-50.0, 2.4), 21: (-50.0, 1.2)}
    ways = [(10, [4, 1, 2], street(**tags)), (11, [3, 1, 5], street(**tags)),
            (30, [9, 20, 21], street(**tags))]  # fmt: skip
    draft = read_osm_draft(write_osm(tmp_path, nodes, ways))
    (near,) = of(draft.findings, "L05")
    assert draft.left_hand and near.place == pytest.approx((-50.0, 1.2), abs=0.1)


def test_the_share_of_defaults_is_that_of_the_length(tmp_path: Path) -> None:
    ways = [(10, [4, 1, 2], street(maxspeed="50", lanes="2")), (11, [3, 1], street(lanes="2"))]
    (limits,) = read(tmp_path, "L26", CROSS, ways)
    assert limits.message == "33 % of the km have no maxspeed: limit by law"


def test_a_doubtful_vote_on_the_driving_side_is_found(tmp_path: Path) -> None:
    nodes, ways = dict(CROSS), list(CROSS_WAYS)
    for ring in range(4):
        angle = np.arange(6) * np.pi / 3 * (-1.0 if ring == 0 else 1.0)
        first = 100 * (ring + 1)
        for i, a in enumerate(angle):
            nodes[first + i] = (
                200.0 * ring + 20.0 * float(np.cos(a)),
                400.0 + 20.0 * float(np.sin(a)),
            )
        ways.append((first, [*range(first, first + 6), first], street(junction="roundabout")))
        ways.append((first + 1, [3 if ring == 0 else first - 100, first], street()))
    (vote,) = read(tmp_path, "L27", nodes, ways)
    assert "1 of 4" in vote.message


def test_made_up_programs_never_let_crossing_movements_go_together(tmp_path: Path) -> None:
    """Two junctions 25 m apart with lights are one intersection; its swept paths decide."""
    nodes: Nodes = {
        1: (-12.0, 0.0), 2: (12.0, 0.0), 3: (-300.0, 0.0), 4: (300.0, 0.0), 5: (-40.0, 300.0),
        6: (60.0, -300.0), 7: (60.0, 300.0), 8: (-60.0, -300.0),
    }  # fmt: skip
    ways = [(10, [3, 1, 2, 4], street("primary", lanes="4")), (11, [5, 1, 8], street("primary")),
            (12, [7, 2, 6], street("primary"))]  # fmt: skip
    lit = {1: {"highway": "traffic_signals"}, 2: {"highway": "traffic_signals"}}
    network = load_network(write_osm(tmp_path, nodes, ways, lit))
    assert network.signal_ids == ("1",)
    assert [one.severity for one in of(network.findings, "L19")] == ["W"]  # it has been mended
    assert not of(lint(network), "L19") and not of(lint(network), "L20")


# --- any network ------------------------------------------------------------------------------


def test_roads_without_room_and_with_little_room_are_told_apart() -> None:
    for length, check in ((5.0, "L13"), (12.0, "L14"), (20.0, "")):
        draft = chain(line(0, 100), line(100, 100 + length), line(100 + length, 300))
        for inter in draft.intersections[1:3]:
            inter.control = YIELD
        found = [one for one in lint(finish(draft)) if one.check in ("L13", "L14")]
        assert [one.check for one in found] == ([check] if check else [])
    draft = chain(line(0, 100), line(100, 112), line(112, 300))
    assert not of(lint(finish(draft)), "L14")  # joints are no controls


def ring(length: float) -> Draft:
    """Four one-lane roads round a square, with an entry and an exit."""
    at = np.array([(0, 0), (length, 0), (length, length), (0, length), (0, 0)], float)
    shapes = [at[i : i + 2] for i in range(4)]
    draft = chain(*shapes, np.array([(0.0, 0.0), (-100.0, 0.0)]))
    draft.roads[3].to_intersection = "j0"
    draft.roads[4].from_intersection = "j0"
    draft.connectors.append(DraftConnector("r3", 0, "r0", 0))
    return draft


def test_a_ring_of_roads_without_room_is_found() -> None:
    (found,) = of(lint(finish(ring(6.0))), "L22")
    assert set(found.source) == {"road r0", "road r1", "road r2", "road r3"}
    assert "ring of 24 m that 4 cars can lock" in found.message
    assert not of(lint(finish(ring(9.0))), "L22")


def test_a_sharp_corner_of_a_road_is_found_once() -> None:
    bent = np.array([(0.0, 0.0), (100.0, 0.0), (20.0, 30.0)])
    (found,) = of(lint(finish(chain(bent))), "L23")
    assert found.place is not None and "a corner of 159 degrees" in found.message
    assert not of(lint(finish(chain(np.array([(0, 0), (90, 0), (90, 90)], float)))), "L23")


def test_dead_ends_are_counted_and_lost_roads_measured() -> None:
    draft = chain(line(0, 100), line(100, 0))
    draft.roads[1].to_intersection = "j0"
    (dead,) = of(lint(finish(draft)), "L24")
    assert dead.message == "1 dead end where vehicles turn back"
    lost = chain(line(0, 900), line(900, 1000), line(1000, 900))
    lost.roads[0].to_intersection = "j9"
    lost.intersections.append(replace(lost.intersections[0], id="j9", x=900.0))
    lost.connectors = [DraftConnector("r1", 0, "r2", 0)]
    lost.roads[2].to_intersection = "j1"
    lost.connectors.append(DraftConnector("r2", 0, "r1", 0))
    (found,) = of(lint(finish(lost)), "L21")  # r1 and r2 turn round and round
    assert found.message.startswith("0.20 of 1.10 km") or found.message.startswith("0.90 of")


def program(*phases: tuple[float, str]) -> list[str]:
    """What is doubted in a program of the crossing: the movements from e and w, then n and s."""
    draft = crossing(SIGNAL)
    draft.signals.append(DraftSignal("c", [(t, letters) for t, letters in phases]))
    for c in draft.connectors:
        c.signal, c.link = "c", int(c.from_road[-1] in "ns")
    return [one.message for one in of(lint(finish(draft)), "L20")]


def test_times_of_programs_that_nobody_can_drive_by_are_found() -> None:
    sound = [(30.0, "gr"), (3.0, "yr"), (2.0, "rr"), (30.0, "rg"), (3.0, "ry"), (2.0, "rr")]
    assert program(*sound) == []
    assert program((30.0, "gr"), (2.0, "yr"), *sound[2:]) == [
        "program 'c': 2 s of yellow after a green"
    ]
    assert program((30.0, "gr"), (30.0, "rg")) == ["program 'c': 0 s of yellow after a green"]
    assert program((3.0, "gr"), *sound[1:]) == ["program 'c': a green of 3 s"]
    assert program((130.0, "gr"), *sound[1:3], (50.0, "rg"), *sound[4:]) == [
        "program 'c': a cycle of 190 s"
    ]
    assert program((60.0, "gg")) == []


def test_greens_of_a_file_that_cross_are_doubted_and_ours_are_errors() -> None:
    draft = crossing(SIGNAL)
    draft.signals.append(DraftSignal("c", [(30.0, "G" * len(draft.connectors))]))
    for i, c in enumerate(draft.connectors):
        c.signal, c.link = "c", i
    (ours,) = of(lint(finish(draft)), "L19")
    draft.source = "SUMO network town.net.xml"
    (theirs,) = of(lint(finish(draft)), "L19")
    assert (ours.severity, theirs.severity) == ("E", "W")
    assert ours.fix == 'signals."c" = false'


def test_roads_that_part_at_a_small_angle_are_noted_and_others_doubted() -> None:
    def fork(turned: bool) -> Finding:
        draft = chain(line(0, 100), line(100, 200), np.array([(100.0, 0.0), (200.0, 9.0)]))
        draft.roads[2].from_intersection, draft.roads[1].to_intersection = "j1", "j9"
        draft.intersections.append(replace(draft.intersections[0], id="j9", x=200.0))
        draft.connectors = []
        if turned:
            road = draft.roads[2]
            road.lanes[0].shape = road.lanes[0].shape[::-1]
            road.from_intersection, road.to_intersection = "j3", "j1"
        (found,) = of(lint(finish(draft)), "L17")
        return found

    assert fork(False).severity == "I" and fork(True).severity == "W"
    assert "'r1' and 'r2' overlap (5 degrees)" in fork(False).message


# --- findings ---------------------------------------------------------------------------------


def test_findings_survive_packing_and_are_one_line_each() -> None:
    found = [
        finding("L06", "lanes \n\u00fc" + "x" * 500, ["way\n5"], (1.25, -3.0), 'speed."5" = 50'),
        finding("L21", "no place", severity="E"),
    ]
    assert unpacked(packed(found)) == tuple(found)
    assert all(line.isprintable() and len(line) < 260 for line in short_lines(found))
    assert [one.place for one in moved(found, 1.0, 2.0)] == [(2.25, -1.0), None]
    assert found[0].severity == CHECKS["L06"][0] == "W" and found[1].severity == "E"


def test_of_a_check_five_lines_are_shown_the_gravest_first() -> None:
    found = [finding("L13", f"road {i}", severity="I" if i else "E") for i in range(8)][::-1]
    lines = short_lines(found)
    assert lines[0] == "L13 road 0" and lines[5:] == ["L13 3 more of this kind"]
