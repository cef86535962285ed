"""The figures that the benchmarks print, against hand-made inputs."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from real_data import data_folder

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))

import cut_map
import cut_maps
import junction_sheets
import overlaps
import steered_city
from maps import maps_of
from peers import ratios
from recording_seek import DrawnWorld
from scenarios import SCENARIOS, scenario_files
from sumo_trips import totals_of, trip_means
from windows import window

from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.storage import save
from rushhour.traffic.profiling.text_tables import table
from rushhour.traffic.recording.run_file import RunFile

TRIPS = """<tripinfos>
<tripinfo id="a" depart="10.0" arrival="110.0" duration="100.0" departDelay="4.0"
 routeLength="1000.0" waitingTime="20.0"/>
<tripinfo id="b" depart="30.0" arrival="80.0" duration="50.0" departDelay="0.0"
 routeLength="800.0" waitingTime="0.0"/>
</tripinfos>"""

TOTALS = """<statistics><vehicles loaded="9" inserted="8" running="2" waiting="1"/>
<teleports total="3" jam="3" yield="0" wrongLane="0"/></statistics>"""


def test_trip_means_are_those_of_a_table_written_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "tripinfo.xml"
    path.write_text(TRIPS)
    means = trip_means(path)
    assert means["arrived"] == 2
    assert means["mean_travel_time_s"] == 75.0
    assert means["mean_departure_delay_s"] == 2.0
    assert means["mean_sum_s"] == 77.0
    assert means["mean_waiting_time_s"] == 10.0
    assert means["mean_speed_mps"] == 1800.0 / 150.0
    assert means["last_arrival_s"] == 110.0
    assert means["simulated_s"] == 104.0


def test_unfinished_are_those_still_running_or_waiting(tmp_path: Path) -> None:
    path = tmp_path / "statistics.xml"
    path.write_text(TOTALS)
    assert totals_of(path) == {"teleports": 3, "unfinished": 3}


def test_a_window_weighs_the_mean_speed_by_vehicles() -> None:
    samples = iter([(100, 1000.0), (300, 600.0)])
    figures = window(lambda: 50, lambda: next(samples), blocks=2, block_s=10.0)
    assert figures["mean_on_road"] == 200.0
    assert figures["mean_speed_mps"] == 4.0
    assert figures["vehicle_updates"] == 100
    assert figures["simulated_s"] == 20.0
    assert figures["best_real_time_factor"] >= figures["real_time_factor"] > 0.0


def test_ratios_are_ours_over_theirs() -> None:
    peer = {"real_time_factor": 5.0, "vehicle_updates_per_s": 1e5, "mean_on_road": 20.0}
    peer["mean_speed_mps"] = 8.0
    ours = {name: 3.0 * value for name, value in peer.items()} | {"step_s": 0.5}
    assert ratios(peer, ours) == {name: 3.0 for name in peer} | {"step_s": 0.5}


def test_columns_of_a_table_line_up() -> None:
    lines = table(["what", "n", "s"], [["a", 12_345, 0.5], ["longer", 1, 1234.5]])
    assert lines == ["what         n      s", "a       12,345    0.5", "longer       1  1,234"]


@pytest.mark.parametrize("name", [name for name, of in SCENARIOS.items() if not of.made])
def test_the_files_of_a_scenario_are_in_the_data_folder(name: str) -> None:
    base = data_folder("sumo_grids").parent
    files = scenario_files(SCENARIOS[name], base)
    for path in (files["network"], *files["demand"], *files["programs"]):
        assert Path(path).is_file(), path


def test_every_map_of_the_data_folder_is_measured() -> None:
    base = data_folder("sumo_grids").parent
    folders = {path.parent.name for path in base.glob("*/*") if path.suffix != ".md"}
    found = maps_of(base, [])
    assert {name.partition("/")[0] for name in found} == folders - {
        "racetracks", "trajectories_platoon"
    }  # fmt: skip
    assert set(maps_of(base, ["porto", "lima"])) == {
        "gmns_lima", "osm_porto/porto_portugal.osm.gz", "osm_porto/porto_portugal.osm.pbf"
    }  # fmt: skip


def test_the_depth_of_two_outlines_is_the_least_way_apart() -> None:
    one = np.array([0.0, 0.0, 0.0, 4.0, 2.0])
    beside = np.array([1.0, 1.7, 0.0, 4.0, 2.0])
    across = np.array([2.5, 0.0, 0.5 * np.pi, 4.0, 2.0])
    assert overlaps.depth(one, beside) == pytest.approx(0.3)
    assert overlaps.depth(one, across) == pytest.approx(0.5)
    assert overlaps.depth(one, beside + [0.0, 0.4, 0.0, 0.0, 0.0]) == pytest.approx(-0.1)
    found = overlaps.touching(np.stack((one, beside, across + [90.0, 0.0, 0.0, 0.0, 0.0])))
    assert [(a, b) for a, b, _ in found] == [(0, 1)]


def test_a_body_is_outside_its_intersection_by_as_much_as_its_farthest_corner() -> None:
    square = steered_city.hull(np.array([(0.0, 0), (20, 0), (20, 20), (0, 20), (10, 10), (10, 0)]))
    assert len(square) == 4
    inside, across = [10.0, 10.0, 0.3, 4.0, 2.0], [10.0, 0.5, 0.5 * np.pi, 4.0, 2.0]
    corners = steered_city.corners
    assert steered_city.beyond(corners(np.array(inside)), square) < -6.0
    assert steered_city.beyond(corners(np.array(across)), square) == pytest.approx(1.5)
    assert steered_city.beyond(corners(np.array(across))[:2], square) == pytest.approx(-2.5)


def test_the_made_up_run_of_benchmarks_is_recorded_and_read_as_any(tmp_path: Path) -> None:
    world = DrawnWorld(50)
    world.record(tmp_path / "run.h5", 4, 2)
    with RunFile(tmp_path / "run.h5") as run:
        assert run.times.tolist() == [0.0, 1.0, 2.0, 3.0]
        np.testing.assert_array_equal(run.frame(3).id, np.arange(50))
        np.testing.assert_allclose(run.frame(3).s, world.sim.veh.s, atol=0.02)


def test_windows_of_maps_are_what_their_seed_says_and_lie_on_roads(tmp_path: Path) -> None:
    pytest.importorskip("osmium")
    krems = data_folder("osm_krems").parent
    seeds = range(40)
    every = [cut_maps.drawn(seed, krems, ("osm_krems/krems.osm.gz",)) for seed in seeds]
    assert every == [cut_maps.drawn(seed, krems, ("osm_krems/krems.osm.gz",)) for seed in seeds]
    places = np.array(cut_maps.road_places(krems / "osm_krems/krems.osm.gz"))
    for one in every:
        west, south, east, north = one["box"]
        assert all(1000.0 <= m <= 3000.0 for m in one["size"])
        assert (north - south) * 111_200.0 == pytest.approx(one["size"][1], rel=0.002)
        inside = (places >= (west, south)).all(axis=1) & (places <= (east, north)).all(axis=1)
        assert inside.any()
    assert len({tuple(one["box"]) for one in every}) == 40


def test_roads_hold_a_car_every_seven_and_a_half_metres_of_lane() -> None:
    network = generate("grid", rows=2, columns=2, lanes=2)
    lengths = network.arrays.lanes.length[: network.n_road_lanes]
    assert cut_map.held_by(network) == sum(int(length // 7.5) for length in lengths)


def test_the_largest_junctions_are_those_with_most_ways_over_them() -> None:
    network = generate("grid", rows=3, columns=3, lanes=1)
    (first, *others) = junction_sheets.largest(network, 9, "lanes")
    counts = np.bincount(network.arrays.connectors.intersection)
    assert counts[first.number] == counts.max()
    assert [counts[one.number] for one in (first, *others)] == sorted(counts, reverse=True)[:9]


def test_versions_are_stepped_in_turns_and_told_against_the_first(tmp_path: Path) -> None:
    here = Path(__file__).resolve().parents[1]
    save(generate("grid", rows=2, columns=2), tmp_path / "grid.h5")
    words = [sys.executable, str(here / "bench" / "versions.py"), str(here), str(here)]
    asked = ["--network", str(tmp_path / "grid.h5"), "--warm-up", "1"]
    few = ["--trips", "600", "--frames", "2", "--rounds", "2"]
    done = subprocess.run([*words, *asked, *few], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert lines[0] == lines[1] and lines[0].endswith(" on the road")
    name = here.name[:20]
    told = [line for line in lines if line.startswith(name)]
    assert [line.split()[1] for line in told] == ["p10", "p50"] * 2
    assert [line.endswith("of the first") for line in told] == [False, False, True, True]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere", "--trips", "5"], "nowhere: no version of rushhour"),
        ([".."], "no traffic; give --demand FILE or --trips N"),
    ],
)
def test_versions_that_cannot_be_compared_are_refused(words: list[str], told: str) -> None:
    bench = Path(__file__).resolve().parents[1] / "bench"
    done = subprocess.run(
        [sys.executable, "versions.py", *words, "--network", "grid.h5"],
        capture_output=True, text=True, check=False, cwd=bench,
    )  # fmt: skip
    assert done.returncode == 2
    assert told in done.stderr
