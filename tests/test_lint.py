"""What looks wrong in a network is found, what is right is not."""

import numpy as np
import pytest
from sketches import arms

import rushhour as rh
from rushhour.roadnets.geometry.outlines import convex_hull


def test_a_sound_crossing_has_no_findings() -> None:
    for control in ("none", "yield", "stop", "all_way_stop", "signals", "roundabout"):
        assert arms(control).build().remarks == ()


def finding(builder: rh.NetworkBuilder, code: str) -> list[str]:
    lines = [line for line in builder.build().remarks if line.startswith(code)]
    assert all("\n" not in line for line in lines)
    return lines


def test_roads_that_end_inside_the_network_are_found_and_those_at_the_border_not() -> None:
    builder = arms()
    builder.add_road([(40, 30), (40, 60)], id="lost")
    lines = finding(builder, "L1")
    assert [line[:15] for line in lines] == ["L15 road 'lost'", "L16 road 'lost'"]


def test_lanes_without_exit_or_entry_are_found() -> None:
    builder = rh.NetworkBuilder()
    builder.add_road([(0, 0), (100, 0)], 2, id="a")
    builder.add_road([(100, 0), (200, 0)], 2, id="b")
    assert builder.build().remarks == ()
    builder.connect("a", "b", lanes=[(0, 1)])
    assert builder.build().remarks[:2] == (
        "L15 lane 'a_1': no exit; vehicles must leave it before its end",
        "L16 lane 'b_0': no entry; only lane changes lead onto it",
    )


def test_tight_connectors_are_found_with_their_radius() -> None:
    """A turn back between two lanes d apart is a half circle of radius d / 2 at best."""
    builder = arms()
    assert not finding(builder, "L18")
    builder.connect("-e", "e")
    assert finding(builder, "L18") == ["L18 1 turn of 1 to 4.5 m radius: a car swings out"]
    narrow = rh.NetworkBuilder()
    narrow.add_street([(0, 0), (150, 0)], width=1.6, id="e")
    narrow.add_intersection(0, 0, id="c")
    narrow.connect("-e", "e")
    (line,) = finding(narrow, "L18")
    assert line.startswith("L18 intersection 'c': 1 turn tighter than 1 m, the tightest from")
    assert "lane '-e_0' to 'e_0' with 0.8 m" in line


def test_legs_on_top_of_each_other_are_found() -> None:
    builder = arms()
    builder.add_street([(0, 0), (150, 12)], id="beside")
    (line, *_) = finding(builder, "L17")
    assert "intersection 'c'" in line and "beside" in line and "(5 degrees)" in line
    apart = arms()
    apart.add_street([(0, 0), (110, 110)], id="diagonal")
    assert not finding(apart, "L17")


def test_an_intersection_that_no_road_reaches_is_found() -> None:
    builder = arms()
    builder.add_intersection(70.0, 60.0, control="signals", id="alone")
    assert finding(builder, "L10") == [
        "L10 intersection 'alone': no road comes near it; correct its place"
    ]


def test_a_road_through_an_intersection_without_an_end_there_is_found() -> None:
    builder = arms(names="ns")
    builder.add_road([(-150, 0), (150, 0)], id="through")
    assert finding(builder, "L04") == [
        "L04 road 'through' passes intersection 'c' without an end there; draw it as two"
    ]


def test_many_findings_of_a_kind_are_counted() -> None:
    builder = rh.NetworkBuilder()
    for i in range(9):
        builder.add_road([(0, 20 * i), (5, 20 * i)])
    lines = finding(builder, "L13")
    assert len(lines) == 6 and lines[-1] == "L13 4 more of this kind"


def test_the_hull_holds_every_point_and_has_no_corner_too_many() -> None:
    rng = np.random.default_rng(1)
    points = rng.normal(size=(4000, 2))
    hull = convex_hull(points)
    spatial = pytest.importorskip("scipy.spatial")
    wanted = points[spatial.ConvexHull(points).vertices]
    assert {tuple(p) for p in hull} == {tuple(p) for p in wanted}
