"""What tags of ways say, by hand-made ways: speeds, lanes, turns, access, direction."""

import pytest
from osm_texts import street

from rushhour.roadnets.osm.ways.lane_tags import lane_counts, lane_turns, letters_of
from rushhour.roadnets.osm.ways.legal import KMH, MPH
from rushhour.roadnets.osm.ways.rules import rules_of
from rushhour.roadnets.osm.ways.speeds import limit, read_speed
from rushhour.roadnets.osm.ways.tags import CLASSES, Doubt, direction_of, is_open, wanted

SPEEDS = {
    "50": 50 * KMH, "50 km/h": 50 * KMH, "30mph": 30 * MPH, "30 mph": 30 * MPH, "none": 130 * KMH,
    "walk": 10 * KMH, "DE:urban": 50 * KMH, "AT:rural": 100 * KMH, "DE:zone:30": 30 * KMH,
    "DE:zone30": 30 * KMH, "zone:30": 30 * KMH, "50; 40": 50 * KMH, "10 knots": 18.52 * KMH,
    "US:urban": 30 * MPH, "US-OH:urban": 25 * MPH, "GB:nsl_dual": 70 * MPH, "IT:30": 30 * KMH,
}  # fmt: skip


@pytest.mark.parametrize("text", list(SPEEDS))
def test_speed_limits_are_read_as_written(text):
    assert read_speed(text) == pytest.approx(SPEEDS[text], rel=1e-3)


@pytest.mark.parametrize("text", ["", "fast", "50 furlongs", "-5", "1e9", "12345678", "XX:urban"])
def test_what_is_no_speed_limit_is_none(text):
    assert read_speed(text) is None


def test_limits_of_one_direction_win_and_absurd_ones_are_clamped():
    tags = {"maxspeed": "50", "maxspeed:backward": "30"}
    assert limit(tags, "forward", 1.0) == (50 * KMH, "")
    assert limit(tags, "backward", 1.0) == (30 * KMH, "")
    speed, doubt = limit({"maxspeed": "400"}, "forward", 1.0)
    assert speed == 160 * KMH
    assert "160" in doubt
    assert limit({"source:maxspeed": "DE:rural"}, "forward", 1.0)[0] == 100 * KMH


def read(country: str = "", kind: str = "primary", **tags: str):
    notes: list[Doubt] = []
    rules, reverse = rules_of(street(kind, **tags), country, {}, notes)
    return rules, reverse, notes


LANES = {
    "nothing said": ({}, (1, 1, 0)),
    "four": ({"lanes": "4"}, (2, 2, 0)),
    "three": ({"lanes": "3"}, (2, 1, 0)),
    "three, more turns back": (
        {"lanes": "3", "turn__lanes__backward": "left|through"}, (1, 2, 0)
    ),
    "one": ({"lanes": "1"}, (1, 1, 0)),
    "by direction": ({"lanes__forward": "3", "lanes__backward": "1"}, (3, 1, 0)),
    "one of them missing": ({"lanes": "5", "lanes__forward": "3"}, (3, 2, 0)),
    "centre lane": ({"lanes": "5", "lanes__both_ways": "1"}, (2, 2, 1)),
    "one-way": ({"lanes": "3", "oneway": "yes"}, (3, 0, 0)),
    "one-way, nothing said": ({"oneway": "yes"}, (2, 0, 0)),
    "a list": ({"lanes": "2;3"}, (1, 1, 0)),
    "nonsense": ({"lanes": "many"}, (1, 1, 0)),
    "too many": ({"lanes": "99"}, (1, 1, 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", list(LANES))
def test_lanes_are_counted_by_direction(name):
    tags, wanted_lanes = LANES[name]
    rules, _, _ = read(**tags)
    assert (rules.forward.lanes, rules.backward.lanes, rules.both) == wanted_lanes


def test_an_odd_lane_in_america_is_a_turn_lane_in_the_middle():
    rules, _, _ = read("US", lanes="5")
    assert (rules.forward.lanes, rules.backward.lanes, rules.both) == (2, 2, 1)


def test_turn_lanes_are_listed_from_the_left_and_kept_from_the_kerb():
    rules, _, notes = read(oneway="yes", lanes="3", turn__lanes="left|through|through;right")
    assert rules.forward.turns == ("RT", "T", "L")
    assert notes == []


def test_turn_lanes_that_do_not_fit_are_dropped_or_widen_a_one_way():
    rules, _, notes = read(lanes="2", turn__lanes__forward="left|through|right")
    assert rules.forward.turns == ()
    assert notes == [Doubt("L07", "3 turn:lanes for 1 lanes; ignored", {"forward": 3})]
    rules, _, _ = read(oneway="yes", lanes="2", turn__lanes="left|through|right")
    assert rules.forward.lanes == 3
    assert rules.forward.turns == ("R", "T", "L")
    rules, _, _ = read(
        oneway="yes", lanes="2", turn__lanes="left||right", bicycle__lanes="no|designated|no"
    )
    assert rules.forward.turns == ("R", "L")


def test_letters_of_an_indication():
    assert letters_of("slight_left;through") == "TL"
    assert letters_of("reverse;left") == "LU"
    assert letters_of("none") == letters_of("") == ""
    assert letters_of("merge_to_left") == "E"
    assert letters_of("through;merge_to_left") == "T"


def test_a_way_against_its_nodes_swaps_its_directions():
    rules, reverse, _ = read(oneway="-1", lanes="2", maxspeed__forward="30",
                             turn__lanes__backward="left|through")  # fmt: skip
    assert reverse
    assert rules.forward.turns == ("T", "L")
    assert rules.forward.speed == pytest.approx(50 * KMH)  # of the class: 30 is the other way's


def test_bus_lanes_stay_in_the_cross_section():
    rules, _, _ = read(oneway="yes", lanes="3", bus__lanes="||designated")
    assert rules.forward.bus == (True, False, False)
    rules, _, _ = read(oneway="yes", lanes="3", lanes__psv="1")
    assert rules.forward.bus == (True, False, False)
    rules, _, _ = read(oneway="yes", lanes="1", lanes__psv="1")
    assert rules.forward.bus == ()


def test_the_most_specific_access_decides():
    assert not is_open(street(access="no"))
    assert is_open(street(access="no", motor_vehicle="yes"))
    assert is_open(street(access="private", motorcar="destination"))
    assert not is_open(street(vehicle="no"))
    assert is_open(street(access="private"), private=True)


def test_roads_for_cars_and_one_ways():
    assert wanted(street("service"), "yes")
    assert not wanted(street("service"), "no")
    assert not wanted(street("footway"), "yes")
    assert not wanted(street(area="yes"), "yes")
    assert direction_of(street("motorway")) == (True, False)
    assert direction_of(street("motorway", oneway="no")) == (False, False)
    assert direction_of(street("primary_link")) == (False, False)
    assert direction_of(street(junction="roundabout", oneway="no")) == (True, False)


def test_closures_of_one_direction_make_a_one_way():
    rules, reverse, _ = read(motor_vehicle__backward="no", lanes="2")
    assert (rules.forward.lanes, rules.backward.lanes, reverse) == (1, 0, False)
    rules, reverse, _ = read(access__forward="no", maxspeed__backward="30", lanes="2")
    assert (rules.forward.lanes, rules.backward.lanes, reverse) == (1, 0, True)
    assert rules.forward.speed == pytest.approx(30 * KMH)
    rules, _, _ = read(access__backward="no", motorcar="yes")
    assert rules.backward.lanes == 1


def test_streets_for_visitors_rank_below_their_class():
    assert read(access="destination")[0].rank == read()[0].rank - 1
    assert read(access="destination", motor_vehicle="yes")[0].rank == read()[0].rank


def test_one_lane_for_both_directions_is_narrow_and_slow():
    rules, _, _ = read(lanes="1", maxspeed="70")
    assert rules.forward.speed == rules.backward.speed == pytest.approx(30 * KMH)
    assert rules.width == 2.4
    assert read(lanes="1", oneway="yes", maxspeed="70")[0].forward.speed == pytest.approx(70 * KMH)


WIDTHS = {"7 m": 3.5, "7": 3.5, "24'": 3.6576, "24 ft": 3.6576, "23'6\"": 3.5814, "12": 3.25,
          "2": 3.25, "wide": 3.25, "": 3.25, "1e9": 3.25, "-7": 3.25, "nan": 3.25}  # fmt: skip


@pytest.mark.parametrize("text", list(WIDTHS))
def test_widths_are_shared_by_the_lanes_where_that_makes_lanes(text):
    assert read(lanes="2", width=text)[0].width == pytest.approx(WIDTHS[text])


def test_limits_of_lanes_are_kept_from_the_kerb():
    rules, _, _ = read(oneway="yes", lanes="3", maxspeed="80", maxspeed__lanes="100|80|walk")
    assert rules.forward.speeds == pytest.approx((10 * KMH, 80 * KMH, 100 * KMH))
    assert read(oneway="yes", lanes="3", maxspeed__lanes="100|80")[0].forward.speeds == ()
    assert read(oneway="yes", lanes="2", maxspeed__lanes="80|80")[0].forward.speeds == ()


def test_the_national_limit_is_britains():
    assert read(maxspeed="national")[0].forward.speed == pytest.approx(60 * MPH, rel=1e-3)
    dual = read(maxspeed="national", oneway="yes")[0]
    assert dual.forward.speed == pytest.approx(70 * MPH, rel=1e-3)


def test_bus_lanes_beside_the_lanes_are_added_along_the_kerb():
    rules, _, _ = read(oneway="yes", lanes="2", busway="lane", turn__lanes="left|through")
    assert rules.forward.bus == (True, False, False)
    assert rules.forward.turns == ("", "T", "L")
    rules, _, _ = read(lanes="2", busway__right="lane")
    assert (rules.forward.lanes, rules.backward.lanes) == (2, 1)
    assert read(lanes="2", busway__left="lane")[0].backward.lanes == 2


# The way's line from the left edge of the lanes, in lanes of 3.25 m, and what is said of it.
PLACEMENTS = {
    "one-way, right of the first": ({"placement": "right_of:1"}, (3, 0), 1.0),
    "one-way, left of the first": ({"placement": "left_of:1"}, (3, 0), 0.0),
    "one-way, middle of the second": ({"placement": "middle_of:2"}, (3, 0), 1.5),
    "from the right, as in a mirror": ({"placement": "left_of:-1"}, (3, 0), 2.0),
    "two-way, between the directions": ({"placement__forward": "left_of:1"}, (2, 1), 1.0),
    "two-way, said backward": ({"placement__backward": "right_of:1"}, (1, 2), 1.0),
    "a lane there is not": ({"placement": "left_of:5"}, (3, 0), 1.5),
    "nonsense": ({"placement": "here"}, (3, 0), 1.5),
}  # fmt: skip


@pytest.mark.parametrize("name", list(PLACEMENTS))
def test_lanes_lie_where_placement_says(name):
    said, (ahead, back), line = PLACEMENTS[name]
    tags = {"lanes__forward": str(ahead), "lanes__backward": str(back)}
    if not back:
        tags = {"oneway": "yes", "lanes": str(ahead)}
    rules, _, _ = read(**tags, **said)
    left_edge = -(ahead + back) * 3.25 / 2.0 + rules.shift  # m right of the line
    assert left_edge == pytest.approx(-line * 3.25)


def test_what_holds_under_conditions_is_named():
    _, _, notes = read(maxspeed__conditional="30 @ (22:00-06:00)", hov__lanes="designated|yes")
    assert [note.check for note in notes] == ["L28", "L28"]
    assert "maxspeed:conditional" in notes[1].text


@pytest.mark.parametrize(
    ("country", "kind", "lanes", "counts"),
    [
        ("US", "primary", "3", (1, 1, 1)), ("US", "tertiary", "5", (2, 2, 1)),
        ("US", "unclassified", "3", (2, 1, 0)), ("US", "residential", "3", (2, 1, 0)),
        ("AU", "secondary", "3", (1, 1, 1)), ("DE", "primary", "3", (2, 1, 0)),
        ("US", "primary", "4", (2, 2, 0)), ("US", "primary", "1", (1, 1, 0)),
    ],
)  # fmt: skip
def test_an_odd_lane_is_in_the_middle_on_larger_streets_of_some_countries(
    country: str, kind: str, lanes: str, counts: tuple[int, int, int]
) -> None:
    assert (
        lane_counts({"highway": kind, "lanes": lanes}, CLASSES[kind], False, country, []) == counts
    )


@pytest.mark.parametrize(
    ("listed", "one_way", "lanes"),
    [
        (1, True, None), (2, True, 2), (3, True, 3), (4, True, 4), (5, True, None),
        (3, False, None), (2, False, 2),
    ],
)  # fmt: skip
def test_turn_lanes_may_tell_up_to_two_lanes_more_of_a_one_way_street(
    listed: int, one_way: bool, lanes: int | None
) -> None:
    """Of two lanes tagged; None: they are not trusted, and a doubt is noted."""
    key = "turn:lanes" if one_way else "turn:lanes:forward"
    notes: list[Doubt] = []
    turns, n = lane_turns({key: "|".join(["through"] * listed)}, "forward", 2, one_way, notes)
    assert (turns, n) == ((("T",) * lanes, lanes) if lanes else ((), 2))
    assert len(notes) == (0 if lanes else 1)


@pytest.mark.parametrize(
    ("kind", "one_way", "mph"),
    [
        ("residential", False, 30), ("residential", True, 30), ("living_street", False, 30),
        ("primary", False, 60), ("unclassified", False, 60), ("primary", True, 70),
        ("motorway", False, 70), ("motorway_link", True, 70),
    ],
)  # fmt: skip
def test_the_national_limit_of_britain_is_that_of_the_kind_of_road(
    kind: str, one_way: bool, mph: int
) -> None:
    tags = {"highway": kind, "maxspeed": "national", "oneway": "yes" if one_way else "no"}
    found, doubt = limit(tags, "forward", 1.0)
    assert found == pytest.approx(mph * MPH, rel=1e-3) and doubt == ""
