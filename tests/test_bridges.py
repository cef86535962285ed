"""Bridges and tunnels of maps: kept at import, drawn over what they lead over, wherever a map is drawn."""

from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest
from browsers import Opened, chromium, map_images
from osm_texts import Nodes, street, write_osm
from PIL import Image

from rushhour.cli import main
from rushhour.kernels.core.network import GREEN, OFF
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.gate import parts_of
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import load, save
from rushhour.traffic.recording.run_file import RunFile
from rushhour.viewer.covered import BEFORE
from rushhour.viewer.lights import lights_of
from rushhour.viewer.pictures import picture
from rushhour.viewer.storeys import levels_at, node_levels, vehicle_levels
from rushhour.viewer.street_labels import StreetLabels, street_lines
from rushhour.viewer.themes import DARK, DAY

pytest.importorskip("osmium")

# A street from west to east and, without a node in common, one from south to north over it, in three ways; their ends meet.
PLACES: Nodes = {
    1: (-300.0, 0.0), 2: (300.0, 0.0), 3: (10.0, -300.0), 4: (10.0, -60.0), 5: (10.0, 40.0), 6: (10.0, 300.0),
}  # fmt: skip
SCALE = 0.08  # m a pixel
SIZE = (960, 600)


def crossed(folder: Path, below: dict[str, str], above: dict[str, str], kinds=("residential",) * 2) -> Network:  # fmt: skip
    """That map. below, above: tags of the street from west to east, and of the middle of the other."""
    ways = [(10, [1, 2], street(kinds[0]) | below), (11, [3, 4], street(kinds[1])),
            (12, [4, 5], street(kinds[1]) | above), (13, [5, 6], street(kinds[1])), (14, [2, 6], street("tertiary"))]  # fmt: skip
    return load_network(write_osm(folder, PLACES, ways))


def place(network: Network, road: int, share: float) -> np.ndarray:
    """A place on the first lane of a road, m."""
    lane = int(network.arrays.roads.first_lane[road])
    part = slice(network.point_start[lane], network.point_start[lane + 1])
    at = share * network.arrays.lanes.length[lane]
    return np.array([np.interp(at, network.station[part], network.points[part, k]) for k in (0, 1)])


@pytest.mark.parametrize(
    ("tags", "level"),
    [
        ({"bridge": "yes"}, 1),
        ({"bridge": "viaduct", "layer": "3"}, 3),
        ({"tunnel": "yes"}, -1),
        ({"tunnel": "yes", "layer": "-2"}, -2),
        ({"layer": "1"}, 1),
        ({"layer": "-99", "tunnel": "yes"}, -20),
    ],
)
def test_the_stretch_of_a_bridge_is_kept_with_its_level(tmp_path, tags, level) -> None:
    network = crossed(tmp_path, {}, tags)
    found = network.levels
    assert len(found.road) == 2  # a direction each
    assert len({network.road_ids[k].lstrip("-") for k in found.road.tolist()}) == 1
    assert found.level.tolist() == [level, level]
    for road, begin, end, _ in zip(*found, strict=True):
        ends = sorted(place(network, int(road), share)[1] for share in (begin, end))
        np.testing.assert_allclose(np.array(ends) + network.origin[1], [-60.0, 40.0], atol=0.5)


def test_levels_change_nothing_of_the_traffic(tmp_path: Path) -> None:
    flat, bridge = crossed(tmp_path, {}, {}), crossed(tmp_path, {}, {"layer": "2"})
    assert not flat.levels.road.size
    assert bridge.levels.road.size
    mine = parts_of(bridge)
    for part, arrays in parts_of(flat).items():
        for name, array in arrays.items() if part != "levels" else ():
            np.testing.assert_array_equal(array, mine[part][name], err_msg=f"{part}/{name}")


def test_a_file_without_levels_lies_on_the_ground(tmp_path: Path) -> None:
    network = crossed(tmp_path, {}, {"bridge": "yes"})
    save(network, tmp_path / "n.h5")
    with h5py.File(tmp_path / "n.h5", "r+") as file:
        del file["network/levels"]
    assert not load(tmp_path / "n.h5").levels.road.size


@pytest.mark.parametrize(
    ("name", "value"),
    [("road", 99), ("begin", -0.5), ("begin", 0.999), ("end", 2.0), ("level", 21)],
)
def test_levels_that_cannot_be_are_refused(tmp_path: Path, name: str, value: float) -> None:
    save(crossed(tmp_path, {}, {"bridge": "yes"}), tmp_path / "n.h5")
    with h5py.File(tmp_path / "n.h5", "r+") as file:
        file[f"network/levels/{name}"][0] = value
    with pytest.raises(NetworkError, match="levels/"):
        load(tmp_path / "n.h5")


def test_an_intersection_lies_where_all_its_roads_do(tmp_path: Path) -> None:
    nodes = {1: (0.0, 0.0), 2: (200.0, 0.0), 3: (0.0, 200.0), 4: (-200.0, 0.0), 5: (0.0, -200.0)}
    levels = {}
    for side in ({"bridge": "yes"}, {}):
        ways = [(k, [1, k], street(bridge="yes")) for k in (2, 3, 4)] + [
            (5, [1, 5], street() | side)
        ]
        network = load_network(write_osm(tmp_path, nodes, ways))
        middle = network.intersection_ids.index("1")
        levels[len(side)] = int(node_levels(network)[middle])
        ways_in = (
            np.flatnonzero(network.arrays.connectors.intersection == middle) + network.n_road_lanes
        )
        assert set(levels_at(network, ways_in, 0.0 * ways_in).tolist()) == {levels[len(side)]}
    assert levels == {1: 1, 0: 0}


@pytest.mark.parametrize(
    ("below", "above", "kinds"),
    [
        ({}, {"bridge": "yes"}, ("primary", "residential")),
        ({}, {"bridge": "yes"}, ("residential", "primary")),
        ({"tunnel": "yes"}, {}, ("primary", "residential")),
    ],
)
def test_a_bridge_covers_the_road_below_in_pictures_the_window_and_pages(
    tmp_path: Path, below: dict[str, str], above: dict[str, str], kinds: tuple[str, str]
) -> None:
    network = crossed(tmp_path, below, above, kinds)
    images = map_images(network, np.array((10.0, 0.0)) - network.origin, SCALE, tmp_path)
    wide = float(network.arrays.lanes.width[0])
    for name, image in images.items():
        row = image[SIZE[1] // 2].astype(int)  # along the middle line of the road below
        across = image[:, SIZE[0] // 2].astype(int)  # along that of the bridge
        deck = np.arange(SIZE[0] // 2 - round(0.7 * wide / SCALE), SIZE[0] // 2 + round(0.7 * wide / SCALE))  # fmt: skip
        off = np.abs(deck - SIZE[0] // 2) > 4  # its own middle line
        shades = {tuple(colour) for colour in row[deck[off]].tolist()}
        assert len(shades) == 1, name  # nothing of the road below
        assert shades <= set(DAY.roads), name
        marks = np.abs(across[SIZE[1] // 2 - 60 : SIZE[1] // 2 + 60] - DAY.marks).max(axis=1)
        assert (marks <= 60).all(), name  # its middle line goes on


@pytest.mark.parametrize(("below", "above"), [({}, {"bridge": "yes"}), ({"tunnel": "yes"}, {})])
def test_a_vehicle_below_a_bridge_is_hidden_and_one_on_it_is_seen_in_pictures_the_window_and_pages(
    tmp_path: Path, below: dict[str, str], above: dict[str, str]
) -> None:
    scale, moments = 0.2, 6  # m a pixel; that are looked at
    network = crossed(tmp_path, below, above)
    path, run, page, shot = (tmp_path / name for name in ("n.h5", "r.h5", "r.html", "s.png"))
    save(network, path)
    assert main(["run", str(path), "--vehicles", "60", "--duration", "60s", "--dt", "0.25", "--record-every", "0.25s", "--record", str(run), "--seed", "2"]) == 0  # fmt: skip
    assert main(["share", str(run), "-o", str(page), "--theme", "day"]) == 0
    x, y = np.array((10.0, -10.0)) - network.origin
    half = 0.5 * scale * np.array(SIZE)
    box = (x - half[0], y - half[1], x + half[0], y + half[1])
    hidden, seen = 0, 0
    with RunFile(run) as file, chromium() as browser:
        opened = Opened(browser, page.as_uri())
        opened.drawn(f"rushhour.lookAt({x} - rushhour.facts.origin[0], {y} - rushhour.facts.origin[1], {scale})")  # fmt: skip
        cases = list(looked_at(file, network))
        cases = [one for one in cases if one[3]][:moments] + [one for one in cases if not one[3]][-moments:]  # fmt: skip
        for time, px, py, under in cases:
            look = ["--at", f"{time}s", f"--centre={x},{y}", "--zoom", str(scale)]
            look += ["--size", "960x600", "--theme", "day", "--no-names"]
            assert main(["view", str(run), "--shot", str(shot), *look]) == 0
            opened.drawn(f"rushhour.seek({time})")
            window = np.asarray(Image.open(shot).convert("RGB"))
            column, row = round((px - x) / scale) + SIZE[0] // 2, round((y - py) / scale) + SIZE[1] // 2  # fmt: skip
            picture(run, time, size=SIZE, box=box).save(shot)
            images = {
                "window": window,
                "page": opened.pixels(),
                "picture": np.asarray(Image.open(shot).convert("RGB")),
            }
            for name, image in images.items():
                roads = (DARK if name == "picture" else DAY).roads
                road = tuple(image[row, column].tolist()) in roads
                assert road == under, (name, time, px, py)
            hidden, seen = hidden + under, seen + (not under)
        assert opened.told == []
    assert hidden >= 3
    assert seen >= 5


def test_a_vehicle_that_has_long_left_the_lane_of_its_last_frame_is_covered_by_nothing(
    tmp_path: Path,
) -> None:
    network = crossed(tmp_path, {}, {"bridge": "yes"})
    x, y = np.array((10.0, 0.0)) - network.origin
    lower = next(k for k in range(network.n_road_lanes) if abs(np.ptp(network.lane_points(k)[:, 1])) < 1.0)  # fmt: skip
    upper = next(k for k in range(network.n_road_lanes) if k // 2 != lower // 2 and network.lane_points(k)[:, 1].min() < y - 200.0)  # fmt: skip
    lanes = np.array([lower, upper, lower], np.int32)
    ys = y - np.array([0.0, 0.0, 40.0])  # the last is on the bridge by now
    pose = np.column_stack((np.full(3, x), ys, np.zeros(3)))
    box = np.array([x - 100.0, y - 100.0, x + 100.0, y + 100.0])
    assert vehicle_levels(network, lanes, pose, np.full(3, 5.0), box).tolist() == [0, 1, 1]


@pytest.mark.parametrize("x", [14.0, 18.0, 22.0, 30.0])
def test_the_light_of_a_lane_that_ends_below_a_bridge_is_not_seen(tmp_path: Path, x: float) -> None:
    """Signals stand at (x, 0), the bridge leads over x = 10."""
    places = PLACES | {7: (x, 0.0), 8: (x, -200.0)}
    ways = [(10, [1, 7, 2], street()), (11, [3, 4], street()), (12, [4, 5], street(bridge="yes")),
            (13, [5, 6], street()), (14, [2, 6], street("tertiary")), (15, [7, 8], street())]  # fmt: skip
    network = load_network(write_osm(tmp_path, places, ways, {7: {"highway": "traffic_signals"}}))
    states = np.where(network.arrays.connectors.signal >= 0, GREEN, OFF).astype(np.uint8)
    shown, _ = lights_of(network, states)
    lit = np.unique(network.arrays.connectors.from_lane[states == GREEN])
    ends = {int(k): network.lane_points(k)[-1] + network.origin for k in lit.tolist()}
    west = next(k for k, (at, _) in ends.items() if at < x - 2.0 and abs(ends[k][1]) < 4.0)
    half = float(network.arrays.lanes.width[west])  # of two lanes
    below = abs(ends[west][0] - BEFORE - 10.0) < half
    assert set(lit.tolist()) - set(shown.tolist()) == ({west} if below else set())


@pytest.mark.parametrize(("below", "above"), [({}, {"bridge": "yes"}), ({"tunnel": "yes"}, {})])
def test_no_name_lies_below_another_road(
    tmp_path: Path, below: dict[str, str], above: dict[str, str]
) -> None:
    """The middle of the street below, where its name would be, is 10 m beside the bridge."""
    scale = 0.5
    network = crossed(tmp_path, {"name": "Lower Street"} | below, above)
    (line,) = (one for one in street_lines(network) if one.text == "Lower Street")
    x, y = np.array((10.0, 0.0)) - network.origin
    wide = 2.0 * float(network.arrays.lanes.width[0])
    assert 0.5 * wide < np.ptp(line.covered) + 3.0 < wide + 6.0
    box = (x - 240.0, y - 150.0, x + 240.0, y + 150.0)
    labels = StreetLabels(network).within(box, scale)
    letters = labels.at[labels.name == labels.texts.index("Lower Street")]
    run, page = tmp_path / "r.h5", tmp_path / "r.html"
    save(network, tmp_path / "n.h5")
    assert main(["run", str(tmp_path / "n.h5"), "--vehicles", "1", "--duration", "2s", "--record", str(run)]) == 0  # fmt: skip
    assert main(["share", str(run), "-o", str(page)]) == 0
    with chromium() as browser:
        opened = Opened(browser, page.as_uri())
        opened.drawn(f"rushhour.lookAt({x} - rushhour.facts.origin[0], {y} - rushhour.facts.origin[1], {scale})")  # fmt: skip
        found = opened.get("rushhour.labels.placed.filter((one) => one.line.text === 'Lower Street').map((one) => one.places)")  # fmt: skip
        origin = opened.get("rushhour.facts.origin")
    assert len(found) == 1
    for places in (letters, np.array(found[0]) + origin):
        across = places[:, 0] - x
        assert len(places) > 3
        assert (across > 0.5 * wide - 2.0).all() or (across < 2.0 - 0.5 * wide).all()


def looked_at(file: RunFile, network: Network) -> Iterator[tuple[float, float, float, bool]]:
    """Moments and places, m, of the middles of vehicles wholly below the other road, or on that: whether they are below."""
    x0, y0 = network.origin
    for time in file.times.tolist():
        at = file.positions(time)
        middle = np.column_stack((at.x, at.y)) - 2.5 * np.column_stack((np.cos(at.heading), np.sin(at.heading)))  # fmt: skip
        middle += (x0, y0)
        upper = (np.abs(np.sin(at.heading)) > 0.99) & (np.abs(middle[:, 0] - 10.0) < 4.0)
        for k, (mx, my) in enumerate(middle.tolist()):
            if upper[k] and -66.0 < my < 46.0:
                yield time, mx - x0, my - y0, False
            elif (
                not (upper & (np.abs(middle[:, 1] - my) < 6.0)).any()
                and abs(my) < 4.0
                and 1.0 < abs(mx - 10.0) < 2.2
                and not upper[k]
            ):
                yield time, mx - x0, my - y0, True
