"""How far two runs are from each other by road and interval, on tables made by hand."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))

from road_distance import distances, measured, most, pairs_of, shares, speed_share
from roads import ALLOWED, held_against, hour_on, same_trips, unmatched
from sumo_roads import edge_rows

BASE = {
    "road": ["a", "a", "b"],
    "begin": [0.0, 300.0, 0.0],
    "vehicle_seconds": [300.0, 100.0, 600.0],
    "distance": [3000.0, 1000.0, 3000.0],
    "density": [10.0, 4.0, 20.0],
}
LENGTHS = {"a": 300.0, "b": 100.0, "short": 5.0}  # m
# One road's distance over 200 s of the fronts: 10 m/s on 50 m, one edge that nobody passes.
EDGES = """<meandata><interval begin="600.00" end="800.00" id="roads">
<edge id="a" sampledSeconds="220" traveltime="5" distance="2000" departed="3" teleported="2"/>
<edge id="b" sampledSeconds="90" distance="0"/>
<edge id="a walkway" sampledSeconds="9" distance="9"/>
</interval></meandata>"""


def run_with(**columns):
    network = {"a": ["north", 100.0, [["b", 7]]], "b": ["south", 100.0, []]}
    return {"roads": {**BASE, **columns}, "network": network}


def far(*runs):
    pairs = pairs_of(runs)
    length = np.array([LENGTHS[road] for road, _ in pairs])
    return distances(*(measured(run, pairs) for run in runs), length)


def test_a_run_is_at_distance_nought_from_itself_in_any_order_of_rows() -> None:
    turned = {name: column[::-1] for name, column in BASE.items()}
    found = far(BASE, turned)
    for figure in found.values():
        assert figure == {"distance": 0.0, "mean_difference": 0.0, "pairs": 3}
    pairs = pairs_of([BASE])
    assert speed_share(measured(BASE, pairs), measured(turned, pairs)) == 1.0


def test_distances_are_those_reckoned_by_hand() -> None:
    # a at 0: 10 against 13 m/s with 300 s, b: 5 against 5 with 600 s, a at 300: 10 and 10, 100 s.
    found = far({**BASE, "distance": [3900.0, 1000.0, 3000.0], "density": [13.0, 4.0, 16.0]}, BASE)
    assert found["speed"]["distance"] == pytest.approx(np.sqrt(300.0 * 9.0 / 1000.0))
    assert found["speed"]["mean_difference"] == pytest.approx(300.0 * 3.0 / 1000.0)
    assert found["density"]["distance"] == pytest.approx(np.sqrt((9.0 + 16.0) / 3.0))
    assert found["density"]["mean_difference"] == pytest.approx((3.0 - 4.0) / 3.0)
    by_length = found["density_by_length"]
    assert by_length["distance"] == pytest.approx(np.sqrt((300.0 * 9.0 + 100.0 * 16.0) / 700.0))
    assert by_length["mean_difference"] == pytest.approx((300.0 * 3.0 - 100.0 * 4.0) / 700.0)


def test_a_road_shorter_than_a_car_has_no_density_of_its_own() -> None:
    roads = ["a", "a", "short"]
    found = far({**BASE, "road": roads, "density": [10.0, 5.0, 3000.0]}, {**BASE, "road": roads})
    assert found["density"]["pairs"] == 2
    assert found["density"]["distance"] == pytest.approx(np.sqrt(1.0 / 2.0))
    assert found["density_by_length"]["pairs"] == 3


def test_a_road_with_hardly_anybody_counts_for_density_but_not_for_speed() -> None:
    seconds = [300.0, 59.0, 600.0]
    found = far({**BASE, "vehicle_seconds": seconds, "distance": [3000.0, 9.0, 3000.0]}, BASE)
    assert found["speed"]["pairs"] == 2
    assert found["speed"]["distance"] == 0.0
    less = {name: column[:2] for name, column in BASE.items()}
    assert far(less, BASE)["density"]["distance"] == pytest.approx(np.sqrt(400.0 / 3.0))


def test_most_of_a_distance_is_at_the_road_that_differs() -> None:
    pairs = pairs_of([BASE])
    other = {**BASE, "density": [11.0, 4.0, 23.0]}
    length = np.full(3, 100.0)
    found = shares(measured(other, pairs), measured(BASE, pairs), length)
    assert found["density"].sum() == pytest.approx(1.0)
    assert found["speed"].sum() == 0.0
    named = most(found["density"], [road for road, _ in pairs], 2)
    assert named == [("b", pytest.approx(0.9)), ("a", pytest.approx(0.1))]


def test_a_run_beyond_twice_the_spread_of_sumo_names_the_intersection() -> None:
    peers = [run_with(), run_with(density=[11.0, 4.0, 20.0], distance=[3300.0, 1000.0, 3000.0])]
    ours = run_with(density=[10.0, 4.0, 23.0], distance=[3300.0, 1000.0, 3000.0])
    found = held_against(peers, [ours], LENGTHS)
    assert found["ratios"][0]["speed"] == pytest.approx(1.0)
    assert found["ratios"][0]["density"] == pytest.approx(3.0)
    assert found["ratios"][0]["density"] > ALLOWED
    assert list(found["differs"][0]) == ["density"]  # by length only 1.7
    told = found["differs"][0]["density"]
    assert told["pairs"][0]["road"] == "b"
    assert told["pairs"][0]["density"] == [23.0, 20.0]
    assert told["intersections"][0]["intersection"] == "south"
    assert told["intersections"][0]["share"] == pytest.approx(1.0)


def test_the_first_hour_on_a_road_is_all_that_was_driven_there_in_it() -> None:
    rows = {**BASE, "begin": [0.0, 3600.0, 0.0]}
    speed, density, flow = hour_on(rows, "a", length=300.0)
    assert (speed, density, flow) == pytest.approx((10.0, 300.0 / 3600.0 / 0.3, 10.0))


def test_roads_and_trips_without_a_partner_are_counted() -> None:
    roads = unmatched({"a": 90.0, "c": 5.0, "rail": 9.0}, run_with()["network"], ["a", "c"])
    assert roads == {
        "matched": 1, "sumo_only": ["c", "rail"], "sumo_only_used": ["c"], "ours_only": ["b"],
        "other_length": ["a"], "short": [],
    }  # fmt: skip
    theirs = {"x": [1.0, "a"], "y": [2.0, "a"], "z": [3.0, "b"]}
    ours = {"x": [1.0, "a"], "y": [2.5, "b"]}
    assert same_trips(theirs, ours) == {
        "sumo": 3, "rushhour": 2, "same_id": 2, "same_time": 1, "same_road": 1
    }  # fmt: skip


def test_edge_data_are_read_by_fronts_and_over_the_whole_interval(tmp_path: Path) -> None:
    path = tmp_path / "roads.xml"
    path.write_text(EDGES)
    rows = edge_rows(path, {"a": 50.0, "b": 100.0}, interval=300.0)
    assert rows == {
        "road": ["a", "b"], "begin": [600.0, 600.0],
        "vehicle_seconds": [200.0, 90.0],  # 220 s with the rears; 2,000 m at 10 m/s
        "distance": [2000.0, 0.0],
        "density": pytest.approx([200.0 / 300.0 / 0.05, 90.0 / 300.0 / 0.1]),
        "teleported": [2, 0],
    }  # fmt: skip
