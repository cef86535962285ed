"""Turn restrictions of hand-made maps: the movements that are left, and what is said of the rest."""

from pathlib import Path

import pytest
from osm_texts import CROSS, CROSS_WAYS, street, turns, write_osm

from rushhour.roadnets.build import finish
from rushhour.roadnets.osm.network import read_osm_draft

pytest.importorskip("osmium")

ARMS = [(10, [4, 1], street()), (11, [1, 5], street()), (12, [1, 2], street()),
        (13, [3, 1], street())]  # west, south, east, north of node 1  # fmt: skip


def restriction(rule: str, *members: tuple[str, int], **tags: str):
    """A relation; members are roles with their way, or node for a via."""
    parts = [("node" if role == "node" else "way", "via" if role in ("node", "way") else role, ref)
             for role, ref in members]  # fmt: skip
    found = {"type": "restriction", **tags}
    return (1, parts, {**found, "restriction": rule} if rule else found)


def read(tmp_path: Path, nodes, ways, relation):
    draft = read_osm_draft(write_osm(tmp_path, nodes, ways, None, [relation]))
    notes = [one.message for one in draft.findings if one.check == "L09"]
    return turns(finish(draft)), notes


def exits(pairs: set[tuple[str, str]], entry: str) -> set[str]:
    return {b for a, b in pairs if a == entry}


def test_no_entry_holds_for_every_way_it_comes_from(tmp_path: Path):
    rule = restriction("no_entry", ("from", 10), ("from", 12), ("node", 1), ("to", 11))
    pairs, _ = read(tmp_path, CROSS, ARMS, rule)
    assert exits(pairs, "10#0") == {"12#0", "-13#0"}
    assert exits(pairs, "-12#0") == {"-10#0", "-13#0"}
    assert "11#0" in exits(pairs, "13#0")


def test_no_exit_holds_for_every_way_it_leads_to(tmp_path: Path):
    rule = restriction("no_exit", ("from", 10), ("node", 1), ("to", 11), ("to", 12))
    pairs, _ = read(tmp_path, CROSS, ARMS, rule)
    assert exits(pairs, "10#0") == {"-13#0"}
    assert len(exits(pairs, "13#0")) == 3


def test_a_way_that_runs_through_its_via_is_held_for_both_directions(tmp_path: Path):
    ways = [(10, [4, 1, 2], street()), (11, [1, 5], street()), (13, [3, 1], street())]
    rule = restriction("no_left_turn", ("from", 10), ("node", 1), ("to", 13))
    pairs, notes = read(tmp_path, CROSS, ways, rule)
    assert exits(pairs, "10#0") == {"10#1", "11#0"}
    assert exits(pairs, "-10#1") == {"-10#0", "11#0"}
    assert any("runs through node 1" in line for line in notes)


@pytest.mark.parametrize("banned", [False, True])
def test_reverse_in_turn_lanes_allows_the_turn_back_unless_it_is_forbidden(
    tmp_path: Path, banned: bool
):
    """The way runs on behind the node: forbidding the turn back leaves straight on alone."""
    tags = street("primary", lanes="4", turn__lanes__forward="reverse;left|through;right")
    ways = [(10, [4, 1, 2], tags), CROSS_WAYS[1]]
    via = 1 if banned else 3
    rule = restriction("no_u_turn", ("from", 10), ("node", via), ("to", 10))
    pairs, _ = read(tmp_path, CROSS, ways, rule)
    back = set() if banned else {"-10#0"}
    assert exits(pairs, "10#0") == {"10#1", "11#1", "-11#0"} | back
    assert exits(pairs, "-10#1") == {"-10#0", "11#1", "-11#0"}


def test_a_restriction_for_cars_alone_holds(tmp_path: Path):
    members = (("from", 10), ("node", 1), ("to", 12))
    rule = restriction("", *members, **{"restriction:motorcar": "no_straight_on"})
    pairs, notes = read(tmp_path, CROSS, ARMS, rule)
    assert exits(pairs, "10#0") == {"11#0", "-13#0"}
    assert notes == []


DUAL = {1: (0.0, 6.0), 2: (0.0, -6.0), 3: (-300.0, 6.0), 4: (300.0, 6.0),
        5: (-300.0, -6.0), 6: (300.0, -6.0), 7: (0.0, 300.0), 8: (0.0, -300.0)}  # fmt: skip
MAIN = street("primary", oneway="yes", lanes="2")
DUAL_WAYS = [(10, [4, 1, 3], MAIN), (11, [5, 2, 6], MAIN), (12, [7, 1], street()),
             (13, [1, 2], street()), (14, [2, 8], street())]  # fmt: skip


@pytest.mark.parametrize(("rule", "to"), [("no_left_turn", 10), ("only_straight_on", 12)])
def test_a_via_way_within_an_intersection_bans_the_movement_over_it(tmp_path: Path, rule, to):
    relation = restriction(rule, ("from", 14), ("way", 13), ("to", to))
    pairs, notes = read(tmp_path, DUAL, DUAL_WAYS, relation)
    assert exits(pairs, "-14#0") == {"11#1", "-12#0"}
    assert exits(pairs, "11#0") == {"11#1", "14#0", "-12#0"}  # over the same way, from elsewhere
    assert notes == []


SQUARE = {1: (0.0, 0.0), 2: (100.0, 0.0), 3: (-300.0, 0.0), 4: (0.0, 300.0), 5: (100.0, 300.0),
          6: (400.0, 0.0), 7: (100.0, -300.0)}  # fmt: skip


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_via_way_between_intersections_is_banned_behind_where_it_has_one_entry(
    tmp_path: Path, elsewhere: bool
):
    north = street() if elsewhere else street(oneway="yes")
    ways = [(10, [3, 1], street()), (11, [1, 4], north), (12, [1, 2], street()),
            (13, [2, 5], street()), (14, [2, 6], street()), (15, [7, 2], street())]  # fmt: skip
    relation = restriction("no_left_turn", ("from", 10), ("way", 12), ("to", 13))
    pairs, notes = read(tmp_path, SQUARE, ways, relation)
    assert exits(pairs, "12#0") == {"14#0", "-15#0"} | ({"13#0"} if elsewhere else set())
    assert "13#0" in exits(pairs, "15#0")
    assert notes == []


UNUSED = {
    "for buses": (restriction("", ("from", 10), ("node", 1), ("to", 12),
                              **{"restriction:bus": "no_straight_on"}), "not for cars"),
    "conditional": (restriction("", ("from", 10), ("node", 1), ("to", 12),
                                **{"restriction:conditional": "no_straight_on @ (Su)"}),
                    "under conditions"),
    "by day": (restriction("no_straight_on", ("from", 10), ("node", 1), ("to", 12), day_on="Su"),
               "at some times"),
    "for all but cars": (restriction("no_straight_on", ("from", 10), ("node", 1), ("to", 12),
                                     **{"except": "bicycle; motorcar"}), ""),
    "member missing": (restriction("no_straight_on", ("from", 10), ("node", 1), ("to", 99)),
                       "no road of the map"),
    "no via": (restriction("no_straight_on", ("from", 10), ("to", 12)), "no road of the map"),
    "via elsewhere": (restriction("no_straight_on", ("from", 10), ("node", 5), ("to", 12)),
                      "way 10 does not end at node 5"),
    "via way elsewhere": (restriction("no_straight_on", ("from", 10), ("way", 77), ("to", 12)),
                          "do not follow each other"),
    "on red": (restriction("no_straight_on_on_red", ("from", 10), ("node", 1), ("to", 12)), ""),
    "unknown": (restriction("perhaps", ("from", 10), ("node", 1), ("to", 12)), "unknown"),
}  # fmt: skip


@pytest.mark.parametrize("name", list(UNUSED))
def test_what_does_not_hold_for_cars_at_all_times_takes_nothing_away(tmp_path: Path, name):
    relation, said = UNUSED[name]
    pairs, notes = read(tmp_path, CROSS, ARMS, relation)
    assert exits(pairs, "10#0") == {"11#0", "12#0", "-13#0"}
    assert (said in " ".join(notes)) if said else notes == []
