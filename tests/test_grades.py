"""Maps have an order: main streets wider and of another tone than side streets, fast roads above all."""

from pathlib import Path

import numpy as np
import pytest
from viewed_run import needs_gl

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import save
from rushhour.viewer.grades import FAST, MAIN, SIDE, lane_grades, node_grades, road_grades
from rushhour.viewer.raster import draw_network, draw_vehicles
from rushhour.viewer.themes import DAY


def town() -> Network:
    """Side streets of 50 km/h, a high street of two lanes, a motorway, a lane of 30 km/h; 3 km each way."""
    builder = rh.NetworkBuilder("town")
    for k in range(6):
        builder.add_street([(500.0 * k, -1500.0), (500.0 * k, -200.0)], id=f"side{k}", speed=13.9)
    builder.add_street([(-200.0, 0.0), (3000.0, 0.0)], id="high", forward=2, backward=2, speed=13.9)
    builder.add_street(
        [(-200.0, 500.0), (3000.0, 500.0)], id="motorway", forward=2, backward=2, speed=36.0
    )
    builder.add_street(
        [(-200.0, 1000.0), (3000.0, 1000.0)], id="lane", forward=2, backward=2, speed=8.3
    )
    builder.add_street([(-200.0, 1500.0), (3000.0, 1500.0)], id="rural", speed=19.4)
    return builder.build()


def test_roads_rank_by_limit_lanes_and_what_they_are_beside_others() -> None:
    network = town()
    grades = dict(zip(network.road_ids, road_grades(network).tolist(), strict=True))
    told = {name.rstrip("0123456789-").split("_")[0]: grade for name, grade in grades.items()}
    assert told["side"] == SIDE and told["high"] == MAIN and told["motorway"] == FAST
    assert told["lane"] == SIDE and told["rural"] == MAIN


def test_both_directions_of_a_street_and_what_meets_rank_alike() -> None:
    network = rh.generate("grid", rows=3, columns=3, lanes=2)
    assert set(lane_grades(network).tolist()) == {MAIN}
    builder = rh.NetworkBuilder()
    builder.add_road([(0, 0), (300, 0)], id="there", lanes=2, speed=13.9)
    builder.add_road([(300, 0), (0, 0)], id="back", lanes=1, speed=13.9)
    builder.add_road([(300, 0), (600, 0)], id="on", lanes=1, speed=13.9)
    lopsided = builder.build()
    grades = dict(zip(lopsided.road_ids, road_grades(lopsided).tolist(), strict=True))
    assert grades == {"there": MAIN, "back": MAIN, "on": SIDE}
    assert node_grades(lopsided).max() == MAIN


def test_short_pieces_on_which_only_lanes_change_rank_with_their_road() -> None:
    """Between a crossing and the lanes that begin behind it, as SUMO's maps have them."""
    builder = rh.NetworkBuilder()
    for name, x0, x1, lanes in (
        ("comes", -300.0, 0.0, 2), ("exit", 0.0, 20.0, 1), ("wide", 20.0, 400.0, 2),
        ("narrow", 400.0, 700.0, 1), ("far", 700.0, 1000.0, 1),
    ):  # fmt: skip
        builder.add_road([(x0, 0), (x1, 0)], id=name, lanes=lanes, speed=13.9)
    builder.add_road([(0, -300), (0, 0)], id="side", speed=13.9)
    builder.add_road([(0, 0), (0, 300)], id="out", speed=13.9)
    network = builder.build()
    grades = dict(zip(network.road_ids, road_grades(network).tolist(), strict=True))
    assert grades["exit"] == grades["wide"] == grades["comes"] == MAIN
    assert {grades[name] for name in ("narrow", "far", "side", "out")} == {SIDE}


def across(image: np.ndarray, row_of: float, tone: tuple[int, int, int]) -> int:
    """Pixels of a tone in a column that crosses a street, around a row."""
    column = image[round(row_of) - 12 : round(row_of) + 13, 400].astype(int)
    return int((np.abs(column - tone).max(axis=1) <= 12).sum())


@pytest.mark.parametrize("by", ["processor", "graphics card"])
def test_from_afar_main_streets_are_wider_and_of_another_tone(tmp_path: Path, by: str) -> None:
    network, box = town(), (-600.0, -1800.0, 3400.0, 1800.0)
    if by == "processor":
        image = draw_network(network, (800, 720), box, DAY).image()
    else:
        matplotlib = pytest.importorskip("matplotlib.image")
        needs_gl().close()
        save(network, tmp_path / "a.h5")
        words = ["--size", "800x720", "--zoom", "5", "--centre", "1400,0", "--theme", "day"]
        out = tmp_path / "a.png"
        assert main(["view", str(tmp_path / "a.h5"), *words, "--shot", str(out)]) == 0
        image = np.round(255.0 * matplotlib.imread(out)[..., :3])
    row = {y: 360.0 - y / 5.0 for y in (0.0, 500.0, 1000.0, 1500.0)}
    high, motorway, lane = (across(image, row[y], DAY.roads[k]) for y, k in ((0, MAIN), (500, FAST), (1000, SIDE)))  # fmt: skip
    assert motorway > high > lane >= 1
    assert across(image, row[0.0], DAY.roads[SIDE]) == 0


def test_small_vehicles_have_a_front() -> None:
    """At 1 pixel a metre whoever drives east is narrower in the east."""
    raster = draw_network(town(), (400, 300), (-200.0, -150.0, 200.0, 150.0))
    red = np.array([[235, 64, 52]], np.uint8)
    front = np.array([[3.0, 60.0, 0.0]])
    draw_vehicles(raster, town(), [-1], [0.0], 0.0, 12.0, 8.0, red, front)
    ink = (np.abs(raster.canvas.astype(int) - red[0]) <= 30).all(axis=-1)
    columns = np.flatnonzero(ink.any(axis=0))
    high = ink[:, columns].sum(axis=0)
    third = len(high) // 3
    assert third >= 3
    assert high[-third:].max() < 0.5 * high.max()
    assert (np.diff(high[2 * third :]) <= 0).all()
