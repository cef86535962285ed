"""Files of fixes: what they overrule, what of them is refused, and that printed lines work."""

from pathlib import Path

import numpy as np
import pytest
from fix_files import STAGGER, STAGGER_WAYS, fixed, fixes_of, lanes, turns
from network_drafts import crossing
from osm_texts import CROSS, CROSS_WAYS, Nodes, street, write_osm
from soundness import assert_sound

from rushhour.kernels.core.network import ALL_WAY_STOP, NONE, SIGNAL, YIELD
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import Draft, DraftSignal
from rushhour.roadnets.drafts.fixes import fix_draft
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.findings import Finding
from rushhour.roadnets.fixes import fix_line, read_fixes
from rushhour.roadnets.osm.network import OsmOptions, read_osm_draft

pytest.importorskip("osmium")


# --- reading ----------------------------------------------------------------------------------


def test_a_line_that_is_printed_is_read_as_it_was_meant(tmp_path: Path) -> None:
    fixes = fixes_of(
        tmp_path,
        fix_line("speed", [27], 50),
        fix_line("lanes", [-27], "{ forward = 2, backward = 1 }"),
        fix_line("merge", [12, 3], True),
        fix_line("turns", ['"a"', "\\b"], '"ban"'),
    )
    assert [(f.kind, f.ids, f.value) for f in fixes.of("speed", "lanes", "merge", "turns")] == [
        ("speed", ("27",), 50),
        ("lanes", ("-27",), {"forward": 2, "backward": 1}),
        ("merge", ("3", "12"), True),
        ("turns", ('"a"', "\\b"), "ban"),
    ]
    assert fix_line("speed", ["a b"], 50) == fix_line("speed", ["a\n"], 50) == ""


BAD = {
    "no TOML": ("speed 50", "not TOML"),
    "twice": ('speed."1" = 50\nspeed."1" = 60', "not TOML (a fix is given twice: Cannot overwrite"),
    "twice with blanks": ('turns."1 2" = "ban"\nturns."1  2" = "allow"', "a fix stands twice"),
    "unknown kind": ('width."1" = 3', "unknown kind of fix 'width'; wanted merge, keep_apart"),
    "no table": ("speed = 50", 'speed: wanted lines as speed."ID" = 5 to 160 km/h'),
    "no speed": ('speed."1" = "fast"', "speed.\"1\": 'fast'; wanted 5 to 160 km/h"),
    "no number": ('speed."1" = nan', "wanted 5 to 160"),
    "too fast": ('speed."1" = 1e99', "wanted 5 to 160"),
    "huge": (f'lanes."1" = {"9" * 400}', "wanted 1 to 12"),
    "digits beyond reading": (f'lanes."1" = {"9" * 9000}', "not TOML"),
    "a truth": ('lanes."1" = true', "wanted 1 to 12"),
    "half a street": ('lanes."1" = { forward = 2 }', "wanted 1 to 12"),
    "no lanes": ('lanes."1" = { forward = 0, backward = 0 }', "wanted 1 to 12"),
    "one to merge": ('merge."1" = true', "1 ids; wanted 2 to 64, with blanks between"),
    "one twice": ('merge."1 1" = true', "1 ids; wanted 2 to 64"),
    "not merged": ('merge."1 2" = false', "'False'; wanted true"),
    "four ways": ('turns."1 2 3 4" = "ban"', "4 ids; wanted 2 to 3"),
    "no turn": ('turns."1 2 3" = "perhaps"', 'wanted "ban" or "allow"'),
    "no control": ('control."1" = "signal"', 'wanted "none" or "yield"'),
    "nested": ("close = { a = { b = true } }", "wanted true or false"),
    "deep": ("a = " + "[" * 5000, "not TOML"),
    "both": ('merge."1 2" = true\nkeep_apart."2 1 3" = true', 'contradicts merge."1 2"'),
    "closed and fast": ('speed."1" = 50\nclose."1" = true', 'contradicts speed."1"'),
    "lights and stop": ('control."1" = "stop"\nsignals."1" = true', 'contradicts control."1"'),
    "banned and led on": ('turns."1#0 2#0" = "ban"\nconnect."1#0 2#0" = [[0, 0]]', "contradicts turns"),
}  # fmt: skip


@pytest.mark.parametrize("name", list(BAD))
def test_bad_files_end_in_one_line(tmp_path: Path, name: str) -> None:
    text, said = BAD[name]
    with pytest.raises(NetworkError) as caught:
        fixes_of(tmp_path, text)
    assert said in str(caught.value) and "fixes.toml" in str(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


def test_a_file_of_many_fixes_is_read_in_no_time_and_one_of_too_many_refused(
    tmp_path: Path,
) -> None:
    lines = [f'keep_apart."{i} {i + 1}" = true' for i in range(0, 10_000, 2)]
    lines += [f'merge."{i} {i + 1}" = true' for i in range(1, 10_000, 2)]
    fixes = fixes_of(tmp_path, *lines)
    assert fixes.keep_apart([4, 5]) and not fixes.keep_apart([5, 6, 9])
    with pytest.raises(NetworkError, match="25000 fixes; wanted at most 20000"):
        fixes_of(tmp_path, *(f'speed."{i}" = 50' for i in range(25_000)))


def test_files_that_cannot_be_read_end_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b'# \xe9\nspeed."1" = 50')
    for name, said in (("latin.toml", "not UTF-8"), ("none.toml", "No such file"), ("", "read")):
        with pytest.raises(NetworkError, match=said):
            read_fixes(tmp_path / name)


def test_mutated_files_are_fixes_or_end_in_one_line(tmp_path: Path) -> None:
    text = b"""merge."1 2" = true\nlanes."10" = { forward = 2, backward = 1 }\nspeed."11" = 30
turns."10 1 11" = "ban"\ncontrol."1" = "all_way_stop"\nclose."11" = false"""
    where = write_osm(tmp_path, CROSS, CROSS_WAYS)
    rng = np.random.default_rng(3)
    path = tmp_path / "fixes.toml"
    for _ in range(300):
        data = bytearray(text)
        for at in rng.integers(0, len(data), int(rng.integers(1, 6))):
            data[at] = int(rng.choice(list(b'"\n={}. 0123456789abcdefz\xff')))
        path.write_bytes(data[: int(rng.integers(1, len(data) + 1))])
        try:
            assert_sound(finish(read_osm_draft(where, OsmOptions(fixes=read_fixes(path)))))
        except NetworkError as error:
            assert str(error).startswith(f"{path}: ") and "\n" not in str(error)


# --- OpenStreetMap ----------------------------------------------------------------------------


def control(draft: Draft, name: str) -> int:
    return next(i.control for i in draft.intersections if i.id == name)


def test_lanes_speeds_and_closures_overrule_the_tags(tmp_path: Path) -> None:
    where = write_osm(tmp_path, CROSS, [(10, [4, 1, 2], street(maxspeed="30")), CROSS_WAYS[1]])
    draft = fixed(tmp_path, where, 'lanes."10" = { forward = 3, backward = 1 }', 'speed."10" = 70')
    assert (lanes(draft)["10#0"], lanes(draft)["-10#0"], lanes(draft)["11#0"]) == (3, 1, 1)
    speeds = {lane.speed for r in draft.roads if "10#" in r.id for lane in r.lanes}
    assert list(speeds) == pytest.approx([70.0 / 3.6])
    assert draft.remarks[-1] == "fixes of fixes.toml worked in: 1 lanes, 1 speed"
    assert lanes(fixed(tmp_path, where, 'lanes."10" = { forward = 0, backward = 2 }')) == {
        "-10#0": 2, "-10#1": 2, "11#0": 1, "-11#0": 1, "11#1": 1, "-11#1": 1,
    }  # fmt: skip
    closed = fixed(tmp_path, where, 'close."11" = true')
    assert set(lanes(closed)) == {"10#1", "-10#0"}  # named by where they end
    private = [(10, [4, 1, 2], street()), (11, [3, 1, 5], street(access="private"))]
    opened = fixed(tmp_path, write_osm(tmp_path, CROSS, private), 'close."11" = false')
    assert "11#0" in lanes(opened)


def test_control_and_signals_overrule_the_tags(tmp_path: Path) -> None:
    plain = write_osm(tmp_path, CROSS, [(10, [4, 1, 2], street("primary")), CROSS_WAYS[1]])
    assert control(fixed(tmp_path, plain, 'signals."1" = true'), "1") == SIGNAL
    assert control(fixed(tmp_path, plain, 'control."1" = "none"'), "1") == NONE
    assert control(fixed(tmp_path, plain, 'control."1" = "all_way_stop"'), "1") == ALL_WAY_STOP
    stop = finish(fixed(tmp_path, plain, 'control."1" = "stop"'))
    links = stop.arrays.connectors
    roads = stop.arrays.lanes.road[links.from_lane[links.must_stop]]
    assert {stop.road_ids[road] for road in roads} == {"11#0", "-11#1"}  # the minor street
    lit = write_osm(tmp_path, CROSS, CROSS_WAYS, {1: {"highway": "traffic_signals"}})
    dark = fixed(tmp_path, lit, 'signals."1" = false')
    assert control(dark, "1") == YIELD and not dark.signals
    assert control(fixed(tmp_path, lit, 'control."1" = "all_way_stop"'), "1") == ALL_WAY_STOP


def test_turns_are_banned_and_allowed_over_a_node_and_between_roads(tmp_path: Path) -> None:
    ways = [(10, [4, 1], street()), (11, [1, 5], street()), (12, [1, 2], street()),
            (13, [3, 1], street())]  # fmt: skip
    members = [("way", "from", 10), ("node", "via", 1), ("way", "to", 12)]
    relations = [(1, members, {"type": "restriction", "restriction": "only_straight_on"})]
    plain = write_osm(tmp_path, CROSS, ways)
    assert ("10#0", "12#0") not in turns(fixed(tmp_path, plain, 'turns."10 1 12" = "ban"'))
    found = turns(fixed(tmp_path, plain, 'turns."10#0 12#0" = "ban"'))
    assert ("10#0", "12#0") not in found and ("10#0", "11#0") in found
    held = write_osm(tmp_path, CROSS, ways, None, relations)
    assert {b for a, b in turns(read_osm_draft(held)) if a == "10#0"} == {"12#0"}
    allowed = turns(fixed(tmp_path, held, 'turns."10 1 11" = "allow"'))
    assert {b for a, b in allowed if a == "10#0"} == {"11#0", "12#0"}
    joined = fixed(tmp_path, held, 'turns."10#0 11#0" = "allow"')
    finish(joined)
    assert {b for a, b in turns(joined) if a == "10#0"} == {"11#0", "12#0"}


# A street crosses two others 40 m apart, too far to be one intersection.
def test_nodes_are_merged_and_kept_apart(tmp_path: Path) -> None:
    where = write_osm(tmp_path, STAGGER, STAGGER_WAYS)
    assert len([i for i in read_osm_draft(where).intersections if i.id in "12"]) == 2
    merged = fixed(tmp_path, where, 'merge."1 2" = true')
    assert [i.id for i in merged.intersections if i.id in "12"] == ["1"]
    assert {b for a, b in turns(merged) if a == "11#0"} == {"-10#0", "10#2", "12#0"}
    where = write_osm(tmp_path, {**STAGGER, 1: (-45.0, 0.0), 2: (45.0, 0.0)}, STAGGER_WAYS)
    assert [
        i.id for i in fixed(tmp_path, where, 'merge."1 2" = true').intersections if i.id in "12"
    ] == ["1"]
    near = {**STAGGER, 1: (-4.0, 0.0), 2: (4.0, 0.0)}
    where = write_osm(tmp_path, near, STAGGER_WAYS)
    assert len([i for i in read_osm_draft(where).intersections if i.id in "12"]) == 1
    apart = fixed(tmp_path, where, 'keep_apart."1 2" = true')
    assert len([i for i in apart.intersections if i.id in "12"]) == 2
    assert not [one for one in apart.findings if one.check in ("L12", "L13")]


def test_gaps_are_closed_one_after_the_other(tmp_path: Path) -> None:
    """Three streets end within 3 m of each other and of none before; then they are a junction."""
    nodes = {**CROSS, 20: (600.0, 0.0), 21: (303.0, 0.0), 30: (300.0, 300.0), 31: (300.0, 3.0)}
    ways = [*CROSS_WAYS, (12, [20, 21], street()), (13, [30, 31], street())]
    where = write_osm(tmp_path, nodes, ways)
    assert "12#0" not in {b for a, b in turns(read_osm_draft(where)) if a == "10#1"}
    gaps = ('merge."2 21" = true', 'merge."21 31" = true', 'merge."2 31" = true')
    joined = fixed(tmp_path, where, *gaps)
    assert joined.remarks[-1] == "fixes of fixes.toml worked in: 3 merge"
    assert {b for a, b in turns(joined) if a == "10#1"} == {"-12#0", "-13#0"}


REFUSED = {
    'speed."99" = 50': "is no way of the map that cars use",
    'speed."way" = 50': "wanted ids of ways and nodes",
    'close."10" = false': "has no effect on this map",
    'close."99999999999999999999999" = true': "wanted ids of ways and nodes",
    'lanes."10#0" = 2': "wanted ids of ways and nodes",
    'merge."1 77" = true': "node 77 is not on a road",
    'merge."1 2" = true': "no street of up to 100 m joins them",
    'keep_apart."1 2" = true': "has no effect on this map",
    'signals."1" = false': "has no effect on this map",
    'control."1" = "yield"': "has no effect on this map",
    'control."1" = "stop"': "no street there is the minor one",
    'control."77" = "stop"': "node 77 is not on a road",
    'turns."10 1 99" = "ban"': "way 99 does not meet node 1",
    'turns."10 1 11" = "allow"': "has no effect on this map",
    'turns."10#0 99#0" = "ban"': "'99#0' is no road of the network",
    'turns."10#0 -10#0" = "ban"': "has no effect on this map",
    'turns."10#1 10#0" = "ban"': "the first road does not lead to the second",
}


@pytest.mark.parametrize("line", list(REFUSED))
def test_fixes_that_do_not_fit_the_map_end_in_one_line(tmp_path: Path, line: str) -> None:
    where = write_osm(tmp_path, CROSS, CROSS_WAYS)
    with pytest.raises(NetworkError) as caught:
        fixed(tmp_path, where, line)
    assert REFUSED[line] in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / 'fixes.toml'}: {line.split(' = ')[0]}: ")
    assert "\n" not in str(caught.value)


# --- what the report prints -------------------------------------------------------------------


def ring(n: int, radius: float) -> Nodes:
    angle = np.arange(n) * 2.0 * np.pi / n
    return {i: (radius * float(np.cos(a)), radius * float(np.sin(a))) for i, a in enumerate(angle)}


ROUND = {**ring(8, 25.0), 10: (300.0, 0.0), 14: (-300.0, 0.0)}
ROUND_WAYS = [(10, [10, 0], street()), (14, [14, 4], street())]
CHAIN: Nodes = {i: (9.0 * i, 0.0) for i in range(12)} | {
    100 + i: (9.0 * i, 300.0 if i % 2 else -300.0) for i in range(12)
}
CHAIN_WAYS = [(1, list(range(12)), street())] + [
    (10 + i, [i, 100 + i], street()) for i in range(12)
]
TIMED = [("way", "from", 10), ("node", "via", 1), ("way", "to", 12)]
MAPS = {
    "L03": (CROSS, [*CROSS_WAYS, (20, [4, 1], street("primary"))], {}, []),
    "L05": (
        {**CROSS, 20: (100.0, 80.0), 21: (100.0, 1.5), 22: (102.0, 0.0)},
        [(10, [4, 1, 22, 2], street()), CROSS_WAYS[1], (30, [20, 21], street())], {}, [],
    ),
    "L06 speed": (CROSS, [CROSS_WAYS[0], (11, [3, 1, 5], street(maxspeed="50; 40"))], {}, []),
    "L06 lanes": (CROSS, [CROSS_WAYS[0], (11, [3, 1, 5], street(lanes="many"))], {}, []),
    "L07": (
        CROSS, [CROSS_WAYS[0], (11, [3, 1, 5], street(turn__lanes__forward="left|through|right"))],
        {}, [],
    ),
    "L08 ring": (
        ROUND, [(1, [*range(8), 0], street(junction="roundabout", oneway="no")), *ROUND_WAYS],
        {}, [],
    ),
    "L08 reversible": (
        CROSS, [CROSS_WAYS[0], (11, [3, 1, 5], street(oneway="reversible"))], {}, [],
    ),
    "L09": (
        CROSS, [(10, [4, 1], street()), (12, [1, 2], street()), CROSS_WAYS[1]], {},
        [(1, TIMED, {"type": "restriction", "restriction": "no_straight_on", "day_on": "Su"})],
    ),
    "L10": (
        {**CROSS, 9: (-100.0, 0.0)}, [(10, [4, 9, 1, 2], street()), CROSS_WAYS[1]],
        {9: {"highway": "traffic_signals"}}, [],
    ),
    "L11": (CHAIN, CHAIN_WAYS, {}, []),
    "L12": (CHAIN, CHAIN_WAYS, {}, []),
    "L13": (
        {**CROSS, 9: (-100.0, 0.0), 8: (-104.0, 0.0)},
        [(10, [4, 8], street("primary")), (12, [8, 9, 1, 2], street()), CROSS_WAYS[1]],
        {9: {"highway": "traffic_signals"}}, [],
    ),
    "L15": (
        CROSS, [(10, [4, 1], street()), (11, [3, 1], street(oneway="yes")),
                (12, [2, 1], street(oneway="yes"))], {}, [],
    ),
}  # fmt: skip


def about(findings: list[Finding], name: str) -> list[Finding]:
    return [one for one in findings if one.check == name[:3] and one.fix]


@pytest.mark.parametrize("name", list(MAPS))
def test_a_printed_line_overrules_its_finding(tmp_path: Path, name: str) -> None:
    where = write_osm(tmp_path, *MAPS[name])
    before = read_osm_draft(where)
    finding = about(before.findings, name)[0]
    after = fixed(tmp_path, where, finding.fix)  # raises if the line has no effect
    assert finding.fix not in [one.fix for one in after.findings]
    finish(after)
    found = [(lanes(d), turns(d), [s.phases for s in d.signals]) for d in (before, after)]
    same = found[0] == found[1]
    assert same == (name in ("L06 speed", "L06 lanes"))  # the user says what was guessed


# --- networks that say everything themselves ----------------------------------------------------


def lit() -> Draft:
    draft = crossing(SIGNAL)
    draft.signals.append(DraftSignal("c", [(30.0, "G" * len(draft.connectors))]))
    for i, c in enumerate(draft.connectors):
        c.signal, c.link = "c", i
    return draft


def test_a_speed_that_a_network_has_already_is_a_fix_without_effect(tmp_path: Path) -> None:
    draft = lit()
    for lane in next(road for road in draft.roads if road.id == "in_n").lanes:
        lane.speed = 13.89  # as files of SUMO have 50 km/h
    for speed, idle in ((50, True), (51, False)):
        fixes = fixes_of(tmp_path, f'speed."in_n" = {speed}')
        fix_draft(draft, fixes)
        assert fixes.is_used(next(fixes.of())) != idle


def test_drafts_are_fixed_by_the_ids_of_roads_and_intersections(tmp_path: Path) -> None:
    draft = lit()
    fixes = fixes_of(
        tmp_path, 'signals."c" = false', 'speed."in_n" = 36', 'close."in_s" = true',
        'turns."in_e out_n" = "ban"',
    )  # fmt: skip
    fix_draft(draft, fixes)
    assert fixes.finish() == ["fixes of fixes.toml worked in: 1 signals, 1 speed, 1 close, 1 turns"]
    network = finish(draft)
    assert not network.signal_ids and "in_s" not in network.road_ids
    assert network.roads.speed[network.road_index["in_n"]] == pytest.approx(10.0)
    assert ("in_e", "out_n") not in turns(draft) and ("in_e", "out_w") in turns(draft)
    fix_draft(draft, fixes_of(tmp_path, 'turns."in_e out_n" = "allow"'))
    finish(draft)
    assert ("in_e", "out_n") in turns(draft)


def test_foes_and_yields_follow_their_connectors_when_one_is_dropped(tmp_path: Path) -> None:
    draft = crossing(YIELD)
    pairs = [(0, len(draft.connectors) - 1), (1, 2)]
    named = [
        tuple((draft.connectors[k].from_road, draft.connectors[k].to_road) for k in pair)
        for pair in pairs
    ]
    inter = next(i for i in draft.intersections if i.id == "c")
    inter.foes, inter.yields = list(pairs), list(pairs)
    first = draft.connectors[0]
    fix_draft(
        draft, fixes_of(tmp_path, fix_line("turns", [first.from_road, first.to_road], '"ban"'))
    )
    left = [
        tuple((draft.connectors[k].from_road, draft.connectors[k].to_road) for k in pair)
        for pair in inter.foes
    ]
    assert (
        left == [pair for pair in named if named[0][0] not in pair] and inter.yields == inter.foes
    )


DRAFT_REFUSED = {
    'merge."c n" = true': "merge is for OpenStreetMap only",
    'lanes."in_n" = 2': "lanes is for OpenStreetMap only",
    'signals."c" = true': "signals can be added to OpenStreetMap only",
    'close."in_n" = false': "roads can be opened in OpenStreetMap only",
    'close."x" = true': "is no road of the network",
    'control."x" = "yield"': "is no intersection of the network",
    'turns."in_n out_x" = "ban"': "'out_x' is no road of the network",
}


@pytest.mark.parametrize("line", list(DRAFT_REFUSED))
def test_fixes_that_do_not_fit_a_draft_end_in_one_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(NetworkError, match="fixes.toml: .*" + DRAFT_REFUSED[line]):
        fix_draft(lit(), fixes_of(tmp_path, line))
