"""Tables of a network agree with its arrays; the nearest road is the one brute force finds."""

import builtins
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from network_drafts import chain, crossing, line

import rushhour as rh
from rushhour.kernels.core.network import ALL_WAY_STOP
from rushhour.roadnets.build import finish
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.model import Network
from rushhour.roadnets.nearest import road_finder

UTM = "+proj=utm +zone=32 +datum=WGS84 +units=m +no_defs"


@pytest.fixture(scope="module")
def town() -> Network:
    return rh.generate("town", seed=2)


def test_the_tables_say_what_the_arrays_say(town: Network) -> None:
    arrays, n = town.arrays, town.n_road_lanes
    roads, lanes, nodes = town.roads, town.lanes, town.intersections
    assert (len(roads), len(lanes), len(nodes)) == (town.n_roads, n, len(town.intersection_ids))
    assert tuple(roads.id) == town.road_ids and tuple(lanes.id) == town.lane_ids
    for row in range(0, len(roads), 7):
        assert roads.from_intersection[row] == nodes.id[arrays.roads.from_intersection[row]]
        mine = lanes.road == roads.id[row]
        assert mine.sum() == roads.lanes[row]
        assert lanes.length[mine].mean() == pytest.approx(roads.length[row], rel=1e-12)
        assert lanes.speed[mine].max() == roads.speed[row]
        assert list(lanes.number[mine]) == list(range(roads.lanes[row]))
    assert roads.exits.sum() == arrays.roads.out.size
    assert lanes.exits.sum() == nodes.movements.sum() == town.n_connectors
    assert nodes.roads_in.sum() == nodes.roads_out.sum() == town.n_roads


def test_a_crossing_has_the_table_of_its_drawing() -> None:
    network = finish(crossing(ALL_WAY_STOP))
    middle = list(network.intersections.id).index("c")
    row = {name: column[middle] for name, column in network.intersections.columns.items()}
    assert row == {
        "id": "c", "control": "all_way_stop", "x": 0.0, "y": 0.0,
        "roads_in": 4, "roads_out": 4, "movements": 12,
    }  # fmt: skip
    roads = network.roads
    assert set(roads.length) == {90.0} and set(roads.speed) == {13.9}
    ends = {name: (a, b) for name, a, b in zip(roads.id, roads.from_intersection,
                                               roads.to_intersection, strict=True)}  # fmt: skip
    assert ends["in_e"] == ("e", "c") and ends["out_n"] == ("c", "n")


def test_tables_are_read_only_and_leave_the_network_alone(town: Network) -> None:
    for table in (town.roads, town.lanes, town.intersections):
        for column in table.columns.values():
            with pytest.raises(ValueError, match="read-only"):
                column[0] = column[1]
    assert town.roads is town.roads


def test_a_pandas_frame_holds_the_table_and_belongs_to_its_user(town: Network) -> None:
    pandas = pytest.importorskip("pandas")
    for table in (town.roads, town.lanes, town.intersections):
        frame = table.to_pandas()
        assert isinstance(frame, pandas.DataFrame) and list(frame) == list(table.columns)
        for name, column in table.columns.items():
            np.testing.assert_array_equal(frame[name].to_numpy(), column)
    frame = town.roads.to_pandas()
    frame["length"] = 0.0
    assert (town.roads.length > 0.0).all()


@pytest.mark.parametrize(
    ("package", "ask"),
    [
        ("pandas", lambda network: network.roads.to_pandas()),
        ("pyproj", lambda network: network.nearest_road(lon=9.0, lat=48.0)),
    ],
)
def test_an_error_names_the_package_that_is_missing(
    package: str, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = crossing()
    draft.projection = UTM
    real = builtins.__import__

    def without(name: str, *more: Any, **others: Any) -> Any:
        if name.split(".")[0] == package:
            raise ImportError(name)
        return real(name, *more, **others)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(NetworkError, match=rf"{package}.*pip install 'rushhour\[data\]'"):
        ask(finish(draft))


# --- the nearest road --------------------------------------------------------------------------


def brute_force(network: Network, x: float, y: float, permission: int) -> tuple[int, float]:
    """Nearest lane and its distance, segment by segment."""
    best = (-1, np.inf)
    for lane in range(network.n_road_lanes):
        if not network.arrays.lanes.permissions[lane] & np.uint32(permission):
            continue
        points = network.lane_points(lane)
        for (ax, ay), (bx, by) in pairwise(points):
            along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / (
                (bx - ax) ** 2 + (by - ay) ** 2
            )
            along = min(1.0, max(0.0, along))
            d = np.hypot(x - ax - along * (bx - ax), y - ay - along * (by - ay))
            if d < best[1] - 1e-9:
                best = (lane, float(d))
    return best


def test_the_nearest_road_is_the_one_that_brute_force_finds(town: Network) -> None:
    rng = np.random.default_rng(5)
    low, high = town.points.min(axis=0) - 300.0, town.points.max(axis=0) + 300.0
    for x, y in rng.uniform(low, high, (40, 2)):
        place = town.nearest_road(x, y)
        lane, distance = brute_force(town, x, y, CLASS_BIT["passenger"])
        assert place.distance == pytest.approx(distance, abs=1e-6)
        assert place.lane == lane or place.distance == pytest.approx(distance, abs=1e-9)
        points, station = town.lane_points(place.lane), town.station[town.point_start[place.lane] :]
        at = [np.interp(place.s, station[: len(points)], points[:, k]) for k in (0, 1)]
        assert np.hypot(at[0] - x, at[1] - y) == pytest.approx(place.distance, abs=1e-6)
        assert town.road_ids[place.road_index] == place.road
        assert place.road_index == town.arrays.lanes.road[place.lane]


def test_many_places_at_once_are_found_as_one_by_one(town: Network) -> None:
    places = np.random.default_rng(6).uniform(-500.0, 1500.0, (300, 2))
    finder = road_finder(town)
    together = finder.nearest(places[:, 0], places[:, 1])
    for i in range(0, 300, 13):
        alone = finder.nearest(places[i : i + 1, 0], places[i : i + 1, 1])
        assert alone.lane[0] == together.lane[i] and alone.distance[0] == together.distance[i]
    near = finder.nearest(places[:, 0], places[:, 1], within=60.0)
    assert ((near.lane >= 0) == (together.distance <= 60.0)).all()
    assert np.isinf(near.distance[near.lane < 0]).all()


def test_the_side_of_the_street_decides_between_its_two_roads() -> None:
    network = finish(crossing())
    assert network.nearest_road(50.0, 4.0).road == "in_e"  # right-hand traffic, westbound
    assert network.nearest_road(50.0, -4.0).road == "out_e"
    place = network.nearest_road(50.0, 4.0)
    assert (place.s, place.distance) == (pytest.approx(50.0), pytest.approx(4.0 - 1.6))


def test_only_roads_open_to_the_class_are_found() -> None:
    draft = chain(line(0.0, 100.0), line(101.0, 200.0))
    draft.roads[0].lanes[0].permissions = CLASS_BIT["bus"]
    network = finish(draft)
    assert network.nearest_road(50.0, 1.0).road == "r0"
    assert network.nearest_road(50.0, 1.0, vehicle_class="bus").road == "r0"
    assert network.nearest_road(50.0, 1.0, vehicle_class="passenger").road == "r1"
    with pytest.raises(NetworkError, match="no road for class tram"):
        draft.roads[1].lanes[0].permissions = CLASS_BIT["passenger"]
        finish(draft).nearest_road(50.0, 1.0, vehicle_class="tram")


def test_far_away_places_are_found_too(town: Network) -> None:
    x, y = town.points.max(axis=0)
    for far in (1e5, 1e9, 1e15):
        place = town.nearest_road(x + far, y)
        assert place.distance == pytest.approx(far, rel=0.05)


def northing(lat: float) -> float:
    """UTM northing on a zone's middle meridian: 0.9996 of the arc from the equator (Snyder 3-21)."""
    a, e2 = 6_378_137.0, 0.006694379990141316
    p = np.radians(lat)
    return 0.9996 * a * (
        (1 - e2 / 4 - 3 * e2**2 / 64 - 5 * e2**3 / 256) * p
        - (3 * e2 / 8 + 3 * e2**2 / 32 + 45 * e2**3 / 1024) * np.sin(2 * p)
        + (15 * e2**2 / 256 + 45 * e2**3 / 1024) * np.sin(4 * p)
        - (35 * e2**3 / 3072) * np.sin(6 * p)
    )  # fmt: skip


def test_longitude_and_latitude_are_put_onto_the_map() -> None:
    pytest.importorskip("pyproj")
    draft = crossing()
    draft.projection, draft.origin = UTM, (499_950.0, northing(47.851) - 3.0)
    place = finish(draft).nearest_road(lon=9.0, lat=47.851)  # (50, 3) on the map
    assert place.road == "in_e"
    assert place.s == pytest.approx(50.0, abs=0.01)
    assert place.distance == pytest.approx(3.0 - 1.6, abs=0.01)


BAD_PLACES: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "wanted either x and y, or lon= and lat="),
    "half": ({"x": 1.0}, "wanted either"),
    "both": ({"x": 1.0, "y": 2.0, "lon": 3.0, "lat": 4.0}, "wanted either"),
    "nan": ({"x": np.nan, "y": 2.0}, "wanted a place on the map"),
    "infinite": ({"x": 1.0, "y": np.inf}, "wanted a place on the map"),
    "text": ({"x": "here", "y": 2.0}, "'here'.*wanted two numbers"),
    "class": ({"x": 1.0, "y": 2.0, "vehicle_class": "cars"}, "vehicle class 'cars'"),
    "no projection": ({"lon": 9.0, "lat": 48.0}, "crossing: has no projection"),
}


@pytest.mark.parametrize("kind", BAD_PLACES)
def test_a_place_that_cannot_be_meant_is_refused_in_one_line(kind: str) -> None:
    place, pattern = BAD_PLACES[kind]
    with pytest.raises(NetworkError, match=pattern) as caught:
        finish(crossing()).nearest_road(**place)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("projection", "lon", "lat", "pattern"),
    [("+proj=nonsense", 9.0, 48.0, "not known to PROJ"), (UTM, 9.0, 123.0, "on the map"),
     (UTM, np.nan, 48.0, "on the map")],
)  # fmt: skip
def test_degrees_that_cannot_be_projected_are_refused(
    projection: str, lon: float, lat: float, pattern: str
) -> None:
    pytest.importorskip("pyproj")
    draft = crossing()
    draft.projection = projection
    with pytest.raises(NetworkError, match=pattern):
        finish(draft).nearest_road(lon=lon, lat=lat)
