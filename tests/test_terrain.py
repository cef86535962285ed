"""Heights from elevation models: planes whose slope is known, bridges over valleys, what is capped."""

from pathlib import Path

import gmns_texts
import graph_texts
import numpy as np
import osm_texts
import pytest
import sumo_texts
from rasterio.transform import from_origin
from terrain_files import write_slope

import rushhour as rh
from rushhour.cli import main
from rushhour.cli.network_facts import network_facts
from rushhour.roadnets.drafts.steepness import Lines, held
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.importing import import_network
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import save

# Around 15 E on the equator; UTM zone 33 has its middle there: 500,000 m and the map's 0 m.
UTM, ORIGIN = "EPSG:32633", (15.0, 0.0)
GRID = from_origin(500_000.0 - 1000.0, 1000.0, 10.0, 10.0)  # 10 m pixels, 2 km by 2 km


@pytest.fixture(autouse=True)
def own_coordinate_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who imports `sumo` before, as other tests in the process do, leaves its table of coordinate
    systems in the environment, which rasterio cannot read."""
    monkeypatch.delenv("PROJ_LIB", raising=False)
    monkeypatch.delenv("PROJ_DATA", raising=False)


def plane(x, y):
    return 100.0 + 0.05 * (x - 500_000.0) - 0.02 * y


def map_of(tmp_path: Path, ways=osm_texts.CROSS_WAYS, nodes=osm_texts.CROSS, **more) -> Path:
    return osm_texts.write_osm(tmp_path, nodes, ways, origin=ORIGIN, **more)


def model(tmp_path: Path, height=plane, **more) -> Path:
    return write_slope(tmp_path / "dem.tif", UTM, GRID, (200, 200), height, **more)


def on_the_plane(network: Network, rise: float = 0.05, fall: float = 0.02) -> float:
    """Largest distance of a point from the plane, m; the scale of UTM is 0.9996 there."""
    x, y = (network.points + network.origin).T
    return float(np.abs(network.height - (100.0 + rise * x - fall * y)).max())


def test_roads_and_connectors_lie_on_the_plane_of_the_model(tmp_path: Path):
    network = import_network(map_of(tmp_path), dem=model(tmp_path))
    assert on_the_plane(network) < 0.2  # 0.04 % of 300 m, and corners cut by connectors
    grades = {
        name: network.lanes.rise[k] / network.lanes.length[k]
        for k, name in enumerate(network.lane_ids)
    }
    assert grades["10#0_0"] == pytest.approx(0.05, rel=0.01)
    assert grades["-11#0_0"] == pytest.approx(-grades["11#0_0"], rel=0.01)
    assert network_facts(network)["steepest_percent"] == pytest.approx(5.4, abs=0.5)
    out = tmp_path / "map.h5"
    assert (
        main(["import", str(map_of(tmp_path)), "--dem", str(tmp_path / "dem.tif"), "-o", str(out)])
        == 0
    )
    np.testing.assert_array_equal(rh.load_network(out).height, network.height)


@pytest.mark.parametrize("crs", ["EPSG:4326", "EPSG:3857"])
def test_a_model_of_another_coordinate_system_gives_the_same_heights(tmp_path: Path, crs: str):
    degree = 111_319.49
    unit = 1.0 if crs == "EPSG:3857" else degree
    west, north = 15.0 * degree - 1000.0, 1000.0
    grid = from_origin(west / unit, north / unit, 10.0 / unit, 10.0 / unit)
    path = write_slope(
        tmp_path / "dem.tif", crs, grid, (200, 200),
        lambda x, y: 100.0 + 0.05 * (x * unit - 15.0 * degree) - 0.02 * y * unit,
    )  # fmt: skip
    assert on_the_plane(import_network(map_of(tmp_path), dem=path)) < 0.2


def test_heights_in_feet_with_a_scale_are_metres(tmp_path: Path):
    path = model(tmp_path, lambda x, y: plane(x, y) / 0.3048 / 0.1)
    import rasterio

    with rasterio.open(path, "r+") as file:
        file.units, file.scales = ("ft",), (0.1,)
    assert on_the_plane(import_network(map_of(tmp_path), dem=path)) < 0.2


def test_left_hand_traffic_has_the_same_ground(tmp_path: Path):
    ways = [(n, nodes, {**tags, "driving_side": "left"}) for n, nodes, tags in osm_texts.CROSS_WAYS]
    network = import_network(map_of(tmp_path, ways), dem=model(tmp_path))
    assert network.left_hand and on_the_plane(network) < 0.2


VALLEY = {
    1: (-400.0, 0.0),
    2: (-60.0, 0.0),
    3: (60.0, 0.0),
    4: (400.0, 0.0),
    5: (-400.0, 300.0),
    6: (400.0, 300.0),
}


def valley(x, y):
    """Level at 100 m with a gorge of 40 m between -50 and 50 m."""
    return np.where(np.abs(x - 500_000.0) < 50.0, 60.0, 100.0)


@pytest.mark.parametrize("kind", [{"bridge": "yes"}, {"tunnel": "yes"}, {"bridge": "viaduct"}])
def test_bridges_and_tunnels_rise_evenly_between_their_ends(tmp_path: Path, kind: dict[str, str]):
    def ways(tags):
        ends = [(21, [5, 1], osm_texts.street()), (22, [4, 6], osm_texts.street())]
        return [(10, [1, 2], osm_texts.street()), (11, [2, 3], osm_texts.street(**tags)),
                (12, [3, 4], osm_texts.street()), *ends]  # fmt: skip

    ground = model(tmp_path, valley)
    over = import_network(map_of(tmp_path, ways(kind), VALLEY), dem=ground)
    assert not over.is_hilly  # 100 m everywhere
    through = import_network(map_of(tmp_path, ways({}), VALLEY), dem=ground)
    assert through.is_hilly and network_facts(through)["height_m"][0] < 100.0 - 5.0


def test_holes_in_the_model_are_bridged_and_counted(tmp_path: Path):
    path = model(tmp_path, holes=lambda x, y: np.hypot(x - 500_100.0, y) < 40.0)
    network = import_network(map_of(tmp_path), dem=path)
    assert on_the_plane(network) < 0.55  # beside a hole only some of four pixels count
    assert any("does not cover" in line for line in network.remarks)


def test_nothing_is_steeper_than_thirty_percent_and_the_lint_counts_it(tmp_path: Path):
    network = import_network(
        map_of(tmp_path), dem=model(tmp_path, lambda x, y: 0.9 * (x - 500_000.0) % 400.0)
    )
    assert np.abs(network.grades).max() <= 0.3 * (1.0 + 1e-4)
    (found,) = [one for one in network.findings if "held at" in one.message]
    assert found.check == "L31" and "would rise by more than 30%" in found.message
    fine = import_network(map_of(tmp_path), dem=model(tmp_path))
    assert not [one for one in fine.findings if "held at" in one.message]


def test_heights_of_gmns_nodes_are_held_as_well(tmp_path: Path):
    nodes = "node_id,x_coord,y_coord,z_coord\na,1000,500,0\nb,1300,500,900\nc,1600,500,0\nd,1300,300,0\n"
    network = import_network(gmns_texts.written(tmp_path / "g", nodes))
    assert np.abs(network.grades).max() <= 0.3 * (1.0 + 1e-4)


def lines_of(sizes: list[int], joined: list[tuple[int, int]]) -> Lines:
    """Lines of so many points one after the other; joined: the end of the first to the start of the second."""
    last = np.cumsum(sizes) - 1
    first = last - np.array(sizes) + 1
    pairs = np.array(joined, np.int64).reshape(-1, 2)
    return Lines(first, last, pairs, np.stack((last[pairs[:, 0]], first[pairs[:, 1]]), axis=1))


def test_what_is_not_steep_is_held_at_its_own_height_and_the_rest_moves_both_ways():
    flat, cliff = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 0.0, 10.0, 10.0])
    one, step, steep = lines_of([4], []), np.full(4, 3.0), np.zeros(1, np.int64)
    np.testing.assert_array_equal(held(flat, one, step, 1.0, steep), flat)
    # Bounds: lower 0, 0, 3, 6 and upper 4, 7, 10, 10.
    np.testing.assert_allclose(held(cliff, one, step, 1.0, steep), [2.0, 3.5, 6.5, 8.0])


@pytest.mark.parametrize("seed", range(6))
def test_bounds_that_spread_from_steep_lines_are_those_of_all_points_at_once(seed: int):
    """Against the bounds by shortest ways from every point to every other."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 6, 25).tolist()
    joined = [(int(a), int(b)) for a, b in rng.integers(0, 25, (40, 2)) if a != b]
    lines = lines_of(sizes, joined)
    n = sum(sizes)
    step = rng.uniform(0.5, 20.0, n)
    height = rng.choice([0.0, 0.0, 0.0, 4.0], n) * rng.uniform(0.0, 1.0, n)
    for a, b in lines.joints.tolist():  # lines join at one height
        height[b] = height[a]
    away = np.full((n, n), np.inf)
    np.fill_diagonal(away, 0.0)
    for first, last in zip(lines.first, lines.last, strict=True):
        for p in range(first, last):
            away[p, p + 1] = away[p + 1, p] = 0.3 * step[p]
    for a, b in lines.joints.tolist():
        away[a, b] = away[b, a] = 0.0
    for k in range(n):
        away = np.minimum(away, away[:, k : k + 1] + away[k])
    upper, lower = (height + away).min(axis=1), (height - away).max(axis=1)
    inner = np.concatenate([np.arange(a, b) for a, b in zip(lines.first, lines.last, strict=True)])
    over = inner[np.abs(height[inner + 1] - height[inner]) > 0.3 * step[inner]]
    apart = lines.joined[np.abs(np.subtract(*height[lines.joints].T)) > 0.0].ravel()
    steep = np.unique(np.concatenate((np.searchsorted(lines.first, over, side="right") - 1, apart)))
    assert 0 < steep.size < 25
    found = held(height, lines, step, 0.3, steep)
    np.testing.assert_allclose(found, (upper + lower) / 2.0, atol=1e-4)


def test_graphs_and_sumo_networks_get_heights_too(tmp_path: Path):
    path = map_of(tmp_path)
    graph = graph_texts.FORMS["graphml"](graph_texts.graph_of(path), tmp_path / "g")
    assert on_the_plane(import_network(graph, dem=model(tmp_path))) < 0.2
    text = sumo_texts.crossing()
    old = '<location netOffset="10.00,-20.00" projParameter="!"/>'
    new = old.replace("10.00,-20.00", "-500000.00,0.00").replace(
        '"!"', '"+proj=utm +zone=33 +ellps=WGS84 +datum=WGS84 +units=m +no_defs"'
    )
    (tmp_path / "a.net.xml").write_text(gmns_texts.replaced(text, old, new))
    network = import_network(tmp_path / "a.net.xml", dem=model(tmp_path))
    assert network.is_hilly and max(abs(network.grades)) < 0.08
    (tmp_path / "b.net.xml").write_text(text)
    with pytest.raises(NetworkError, match="the map has no projection"):
        import_network(tmp_path / "b.net.xml", dem=tmp_path / "dem.tif")


def far(tmp_path: Path) -> Path:
    grid = from_origin(900_000.0, 1000.0, 10.0, 10.0)
    return write_slope(tmp_path / "far.tif", UTM, grid, (20, 20), plane)


def without_crs(tmp_path: Path) -> Path:
    return write_slope(tmp_path / "no.tif", None, GRID, (200, 200), plane)


def text(tmp_path: Path) -> Path:
    (tmp_path / "t.tif").write_text("II*\0 no")
    return tmp_path / "t.tif"


def empty(tmp_path: Path) -> Path:
    return model(tmp_path, holes=lambda x, y: x > 0.0)


WRONG = {
    "reaches from 900000": far, "has no coordinate system": without_crs, "not read as an elevation model": text,
    "has no height anywhere": empty, "none.tif: not read": lambda p: p / "none.tif",
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_a_file_that_is_no_model_of_the_map_is_refused_in_one_line(tmp_path: Path, message: str):
    with pytest.raises(NetworkError, match=message) as caught:
        import_network(map_of(tmp_path), dem=WRONG[message](tmp_path))
    assert "\n" not in str(caught.value)


def test_a_model_for_a_network_that_is_finished_is_refused(tmp_path: Path):
    save(import_network(map_of(tmp_path)), tmp_path / "a.h5")
    with pytest.raises(NetworkError, match="--dem is for maps"):
        import_network(tmp_path / "a.h5", dem=model(tmp_path))
