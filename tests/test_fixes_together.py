"""Fixes beside others and beside what a map says: names that stay, what is left out, what has no effect."""

from pathlib import Path

import numpy as np
import pytest
from fix_files import STAGGER, STAGGER_WAYS, fixed, fixes_of, lanes, turns
from osm_texts import CROSS, CROSS_WAYS, street, write_osm

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.osm.network import OsmOptions, read_osm_draft
from rushhour.roadnets.reading.remarks import Difference

pytest.importorskip("osmium")


def test_fixes_without_effect_are_named_at_once(tmp_path: Path) -> None:
    where = write_osm(tmp_path, CROSS, CROSS_WAYS)
    idle = ('close."10" = false', 'keep_apart."1 2" = true', 'signals."1" = false')
    with pytest.raises(
        NetworkError, match=r'close."10": has no effect .*; nor have keep_apart."1 2", signals."1"$'
    ):
        fixed(tmp_path, where, *idle, 'speed."10" = 70')


# What other fixes do to the roads of way 10, which leads from 3 over 1 and 2 to 4.
ANEW = {
    "merge": 'merge."1 2" = true',
    "close": 'close."11" = true',
    "speed": 'speed."10" = 30',
    "lanes": 'lanes."10" = { forward = 2, backward = 2 }',
    "signals": 'signals."2" = true',
}


@pytest.mark.parametrize("name", list(ANEW))
def test_roads_keep_their_names_beside_other_fixes(tmp_path: Path, name: str) -> None:
    where = write_osm(tmp_path, STAGGER, STAGGER_WAYS)
    before, after = read_osm_draft(where), fixed(tmp_path, where, ANEW[name])
    first = {road.id: road.lanes[0].shape[-1] for road in before.roads}
    last = {road.id: road.lanes[0].shape[-1] for road in after.roads if road.id in first}
    assert {"10#2", "-10#0", "12#0"} <= set(last)
    for road, place in last.items():
        assert np.hypot(*(place - first[road])) < 25.0  # the stop line before an intersection moves
    shut = fixed(tmp_path, where, ANEW[name], 'turns."-12#0 10#2" = "ban"')
    assert turns(after) - turns(shut) == {("-12#0", "10#2")}


def test_roads_that_fixes_cut_otherwise_keep_the_name_of_the_one_that_ended_there(
    tmp_path: Path,
) -> None:
    where = write_osm(tmp_path, CROSS, [(10, [4, 1, 2], street()), (11, [3, 1], street())])
    cut = fixed(tmp_path, where, 'close."11" = true')
    assert {(road.id, road.to_intersection) for road in cut.roads} == {
        ("10#1", "2"),
        ("-10#0", "4"),
    }
    ways = [(10, [4, 1], street()), (11, [1, 2], street()), (12, [5, 3], street())]
    where = write_osm(tmp_path, CROSS, ways)
    assert set(lanes(read_osm_draft(where))) == {"10#0", "-10#0", "12#0", "-12#0"}
    wide = lanes(fixed(tmp_path, where, 'lanes."11" = 4'))
    assert {"10#0": 2, "-10#0": 1}.items() <= wide.items() and len(wide) == 6


def test_a_map_that_only_fixes_open_is_read(tmp_path: Path) -> None:
    where = write_osm(tmp_path, CROSS, [(10, [4, 1, 2], street(access="private"))])
    assert set(lanes(fixed(tmp_path, where, 'close."10" = false'))) == {"10#0", "-10#0"}


# Lines about a road that a merge of nodes 1 and 2 takes away.
TAKEN = (
    'stop_line."10#1" = 4', 'control."10#1" = "stop"', 'turns."10#1 10#2" = "ban"',
    'connect."10#0 10#1" = [[0, 0]]',
)  # fmt: skip


@pytest.mark.parametrize("line", TAKEN)
def test_fixes_of_roads_that_other_fixes_take_away_are_left_out_and_told(
    tmp_path: Path, line: str
) -> None:
    where = write_osm(tmp_path, STAGGER, STAGGER_WAYS)
    alone = read_osm_draft(where, OsmOptions(fixes=fixes_of(tmp_path, 'merge."1 2" = true')))
    draft = fixed(tmp_path, where, 'merge."1 2" = true', line)
    told = f"a fix is left out, as others have changed the place: {line.partition(' = ')[0]}: '10#1' ended at node 2"
    assert [one for one in draft.remarks if isinstance(one, Difference) and one.startswith(told)]
    assert turns(draft) == turns(alone) and lanes(draft) == lanes(alone)
    with pytest.raises(NetworkError, match=r"10#9.* is no (road|intersection) of the network"):
        fixed(tmp_path, where, 'merge."1 2" = true', line.replace("10#1", "10#9"))


def test_fixes_that_others_have_done_are_left_out_and_idle_ones_elsewhere_are_not(
    tmp_path: Path,
) -> None:
    nodes = {**STAGGER, 1: (-20.0, 0.0), 2: (20.0, 0.0), 6: (20.0, -40.0), 7: (20.0, -300.0)}
    ways = [*STAGGER_WAYS[:2], (12, [2, 6, 7], street()), (13, [6, 4], street())]
    where = write_osm(tmp_path, nodes, ways)
    three = ('merge."1 2" = true', 'merge."2 6" = true', 'merge."1 6" = true')
    assert "worked in: 2 merge" in (told := fixed(tmp_path, where, *three).remarks)[-2]
    assert told[-1].endswith('merge."1 6": has no effect beside the others')
    with pytest.raises(NetworkError, match=r'signals."3": has no effect on this map'):
        fixed(tmp_path, where, three[0], 'signals."3" = false')


# Tags of way 11 of a cross, and a fix that says no more.
SAID = {
    "lanes": (street(lanes="2"), 'lanes."11" = 2'),
    "lanes each way": (street(lanes="2"), 'lanes."11" = { forward = 1, backward = 1 }'),
    "speed": (street(maxspeed="50"), 'speed."11" = 50'),
    "speed with its unit": (street(maxspeed="50 km/h"), 'speed."11" = 50.0'),
}


@pytest.mark.parametrize("name", list(SAID))
def test_lanes_and_speeds_that_a_map_says_already_are_fixes_without_effect(
    tmp_path: Path, name: str
) -> None:
    tags, line = SAID[name]
    where = write_osm(tmp_path, CROSS, [CROSS_WAYS[0], (11, [3, 1, 5], tags)])
    with pytest.raises(NetworkError, match=r'"11": has no effect on this map'):
        fixed(tmp_path, where, line)
    guessed = write_osm(tmp_path, CROSS, [CROSS_WAYS[0], (11, [3, 1, 5], street())])
    assert fixed(tmp_path, guessed, line).remarks[-1].startswith("fixes of fixes.toml worked in")
