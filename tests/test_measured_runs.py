"""Measured runs: the same on any number of threads, in the run file, exported, and in the summary."""

import csv
import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from several_threads import printed_by_threads

from rushhour.cli import main
from rushhour.roadnets.errors import RunError, RushhourError
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.storage import save
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.measures.detectors import Loop, Section
from rushhour.traffic.measures.measuring import Measures
from rushhour.traffic.measures.tables import TABLES
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.world import World

NAMES = ("roads", "loops", "sections", "passages", "queues")


def measured_world() -> tuple[World, Measures]:
    network = generate("grid", rows=2, columns=2)
    world = World(network, random_trips(network, 120, over=60.0, seed=3), dt=0.25, seed=4)
    loops = [Loop(name, name, -20.0) for name in network.lane_ids[:6]]
    sections = [Section("across", 0, 9), Section("one", 3, 3)]
    return world, Measures(world, 20.0, loops=loops, sections=sections, queues=True)


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, World, Measures]:
    """A recorded run of 90 s, measured in intervals of 20 s."""
    path = tmp_path_factory.mktemp("runs") / "run.h5"
    world, measures = measured_world()
    with Recorder(path, world, 1.0, measures) as recorder:
        world.observers += [measures, recorder]
        world.step(360)
    return path, world, measures


@pytest.mark.soak
def test_tables_are_the_same_for_any_number_of_threads() -> None:
    assert len(set(printed_by_threads("hashed_measures.py"))) == 1


def test_the_run_file_holds_the_tables_of_the_world(run_file: tuple[Path, World, Measures]) -> None:
    path, _, measures = run_file
    assert set(NAMES) == set(TABLES)
    with RunFile(path) as run:
        for name in NAMES:
            ours, theirs = measures.table(name), run.table(name)
            assert len(theirs) > 0, name
            assert list(ours.columns) == list(theirs.columns)
            for column, values in ours.columns.items():
                np.testing.assert_array_equal(theirs.columns[column], values, err_msg=column)
        ends = np.unique(run.table("roads").end)
    edges = [20.0, 40.0, 60.0, 80.0, measures.world.begin + 90.0]
    np.testing.assert_allclose(ends, edges, atol=0.125)  # the nearest frames


def test_the_run_file_holds_the_finished_trips(run_file: tuple[Path, World, Measures]) -> None:
    path, world, _ = run_file
    with RunFile(path) as run:
        trips = run.table("trips")
    assert len(trips) == world.arrived > 10
    assert trips.trip.tolist() == [world.demand.ids[i] for i in world.trips.trip]
    np.testing.assert_array_equal(trips.arrived_s, world.trips.arrived)
    np.testing.assert_array_equal(trips.distance_m, world.trips.distance)
    assert set(trips.vehicle_type) == {kind.name for kind in world.demand.types}


def test_units_and_meanings_stand_beside_the_columns(
    run_file: tuple[Path, World, Measures],
) -> None:
    with h5py.File(run_file[0]) as file:
        assert file["measures"].attrs["interval"] == 20.0
        for name in NAMES:
            for column, (kind, unit, what) in TABLES[name].items():
                data = file["measures"][name][column]
                assert (data.dtype, data.attrs["unit"], data.attrs["description"]) == (
                    np.dtype(kind), unit, what,
                )  # fmt: skip
        assert file["measures/loops/detectors/pos"].attrs["unit"] == "m"


def test_a_run_that_was_killed_keeps_the_intervals_that_were_over(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    world, measures = measured_world()
    recorder = Recorder(path, world, 1.0, measures)
    world.observers += [measures, recorder]
    world.step(200)
    recorder.flush()
    with RunFile(path) as run:
        assert not run.complete
        assert set(np.round(run.table("roads").end)) == {20.0, 40.0}
        assert len(run.table("trips")) == world.arrived
    recorder.close()


def test_a_run_without_measures_says_how_to_have_them(tmp_path: Path) -> None:
    world, _ = measured_world()
    with Recorder(tmp_path / "run.h5", world) as recorder:
        world.observers.append(recorder)
        world.step(40)
    with RunFile(tmp_path / "run.h5") as run:
        assert len(run.table("trips")) == world.arrived
        with pytest.raises(RunError, match="holds no loops; run it with --measure"):
            run.table("loops")
        with pytest.raises(RunError, match="no table 'lanes'; wanted one of trips, roads"):
            run.table("lanes")


def test_damaged_tables_are_refused_in_one_line(
    run_file: tuple[Path, World, Measures], tmp_path: Path
) -> None:
    whole = run_file[0].read_bytes()
    path = tmp_path / "broken.h5"
    path.write_bytes(whole)
    with h5py.File(path, "r+", libver="latest") as file:
        del file["measures/roads/speed"]
        file["measures/loops/loop"][0] = 1 << 30
        file["measures/queues/detectors/lane"][0] = -(1 << 30)
        del file["trips/trip"]
        file["trips/trip"] = np.zeros(3)
        file["measures/sections/begin"].resize((1 << 40,))
    with RunFile(path) as run:
        for name in ("roads", "loops", "queues", "trips", "sections"):
            with pytest.raises(RunError, match=rf"{name} is damaged .*; record it again"):
                run.table(name)
    random = np.random.default_rng(5)
    for _ in range(12):
        broken = bytearray(whole)
        for place in random.integers(0, len(whole), 8):
            broken[place] ^= int(random.integers(1, 256))
        path.write_bytes(broken)
        for name in ("trips", *NAMES):
            try:
                with RunFile(path) as run:
                    run.table(name).write(tmp_path / "x.csv")
            except RushhourError as error:
                assert "\n" not in str(error)


# --- the command line ----------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(generate("grid", rows=2, columns=2), tmp_path / "grid.h5")
    return tmp_path


RUN = ["run", "grid.h5", "--trips", "60", "--over", "1min", "--duration", "90s", "--seed", "2"]


def test_a_measured_run_is_exported_and_summed_up(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network = generate("grid", rows=2, columns=2)
    lane, road, node = network.lane_ids[0], network.road_ids[0], network.intersection_ids[0]
    asked = ["--measure", "30s", "--loop", lane, "10", "--section", road, road, "--queue", node]
    assert main([*RUN, *asked, "--record", "run.h5", "--output", "out", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    totals = summary["measures"]
    assert totals["interval_s"] == 30.0
    assert totals["loops"]["measured"] == totals["sections"]["measured"] == 1
    for name in ("trips", "roads", "loops", "sections", "queues"):
        assert main(["export", "run.h5", "--table", name, "--to", f"{name}.csv"]) == 0
        assert main(["export", "run.h5", "--table", name, "--to", f"{name}.parquet"]) == 0
        rows = list(csv.DictReader((here / f"{name}.csv").open(newline="")))
        assert rows, name
        import pandas

        frame = pandas.read_parquet(here / f"{name}.parquet")
        assert list(frame.columns) == list(rows[0]) and len(frame) == len(rows)
        if name != "trips":
            assert (here / "out" / f"{name}.csv").read_text() == (here / f"{name}.csv").read_text()
    roads = pandas.read_parquet(here / "roads.parquet")
    assert totals["roads"]["vehicle_hours"] == pytest.approx(
        roads.vehicle_seconds.sum() / 3600.0, abs=1e-3
    )
    assert totals["loops"]["passed"] == pandas.read_csv(here / "loops.csv")["count"].sum()
    capsys.readouterr()
    assert main([*RUN, *asked]) == 0
    assert (
        f"every 30 s by the clock; {totals['roads']['measured']} roads" in capsys.readouterr().out
    )


def test_a_scenario_file_says_what_is_measured(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network = generate("grid", rows=2, columns=2)
    (here / "scenario.toml").write_text(
        'network = "grid.h5"\n[demand]\ntrips = 60\nover = "1min"\n[times]\nduration = "1min"\n'
        f'[measures]\ninterval = "20s"\nloops = [["{network.lane_ids[0]}", -10.0]]\n'
        f'sections = [["{network.road_ids[0]}", "{network.road_ids[3]}"]]\nqueues = "all"\n'
    )
    assert main(["run", "scenario.toml", "--json"]) == 0
    totals = json.loads(capsys.readouterr().out)["measures"]
    assert totals["interval_s"] == 20.0
    assert totals["queues"]["measured"] > 8
    assert totals["loops"]["measured"] == totals["sections"]["measured"] == 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--loop", "x", "10"], "loops, sections and queues want measure"),
        (["--measure", "30s", "--loop", "x", "10"], "the network has no lane 'x'"),
        (["--measure", "30s", "--loop", "x", "far"], "--loop: 'far' is no number"),
        (["--measure", "30s", "--queue", "x"], "queue 'x': is the id of no lane"),
        (["--measure", "30s", "--section", "x", "y"], "the network has no road 'x'"),
        (["--measure", "soon"], "--measure 'soon': wanted a time"),
        (["--measure", "0.1s"], "measure 0.1 s: wanted at least dt"),
    ],
)
def test_measures_that_cannot_be_meant_are_refused(
    here: Path, capsys: pytest.CaptureFixture[str], more: list[str], message: str
) -> None:
    assert main([*RUN, *more]) == 2
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("interval = true", "measures.interval = True: wanted a time"),
        ('interval = "1min"\nloops = [["a"]]', "measures.loops = .*wanted a list such as"),
        ('interval = "1min"\nsections = "a"', "measures.sections = 'a': wanted a list such as"),
        ('interval = "1min"\nqueues = [1]', "measures.queues = .1.: wanted a list of ids"),
        ("every = 3", r"\[measures\] every is not known"),
    ],
)
def test_measures_of_a_scenario_file_that_cannot_be_meant_are_refused(
    here: Path, section: str, message: str
) -> None:
    from rushhour.traffic.scenarios.scenario import read_scenario

    (here / "scenario.toml").write_text(f'network = "grid.h5"\n[measures]\n{section}\n')
    with pytest.raises(RunError, match=message):
        read_scenario(here / "scenario.toml")


def test_an_export_to_an_unknown_kind_of_file_is_refused(
    run_file: tuple[Path, World, Measures], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for target, message in (
        (tmp_path / "x.txt", "wanted a name that ends in .csv, .csv.gz or .parquet"),
        (tmp_path / "no" / "x.csv", "cannot be written (No such file or directory)"),
    ):
        assert main(["export", str(run_file[0]), "--table", "roads", "--to", str(target)]) == 2
        assert message in capsys.readouterr().err
    assert main(["export", str(run_file[0]), "--table", "x", "--to", "x.csv"]) == 2
    assert main(["export", "none.h5", "--table", "roads", "--to", "x.csv"]) == 2
