"""Measuring goes on in resumed runs: the tables are those of the run that was never cut."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from test_measured_runs import NAMES, measured_world

from rushhour.cli import main
from rushhour.roadnets.errors import RunError
from rushhour.traffic.measures.detectors import Loop
from rushhour.traffic.measures.measuring import Measures
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.world import World

FRAMES = 360
LOOPS = [Loop("slow", 2, 30.0, interval=45.0), Loop("quick", 3, -15.0, interval=7.5)]


def recorded(path: Path, frames: int, first: bool = True) -> None:
    """A measured run; first: the recorder looks before the measures do, as in the documents' example."""
    world, measures = measured_world()
    with Recorder(path, world, 1.0, measures, keyframe_every=17.0) as recorder:
        world.observers += [recorder, measures] if first else [measures, recorder]
        world.step(frames)


def went_on(path: Path, at: float | None, to: Path, frames: int) -> Measures:
    """A run that is resumed, measured on and recorded."""
    world = World.resume(path, at, measures=True)
    (measures,) = world.observers
    with Recorder(to, world, 1.0, measures, keyframe_every=17.0) as recorder:
        world.observers.append(recorder)
        world.step(frames - world.frame)
    return measures


def assert_same_tables(a: Path, b: Path) -> None:
    with RunFile(a) as one, RunFile(b) as other:
        for name in NAMES:
            wanted, found = one.table(name).columns, other.table(name).columns
            assert len(wanted["section" if name == "passages" else "begin"]) > 0, name
            for column, values in wanted.items():
                np.testing.assert_array_equal(found[column], values, err_msg=f"{name} {column}")


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "straight.h5"
    recorded(path, FRAMES)
    return path


@pytest.mark.parametrize("at", [None, 34.0, 59.25])
def test_a_resumed_run_has_the_tables_of_the_straight_one(
    straight: Path, tmp_path: Path, at: float | None
) -> None:
    recorded(tmp_path / "cut.h5", 250, first=at is None)
    went_on(tmp_path / "cut.h5", at, tmp_path / "rest.h5", FRAMES)
    assert_same_tables(straight, tmp_path / "rest.h5")


def test_loops_keep_their_own_intervals(tmp_path: Path) -> None:
    def measured() -> tuple[World, Measures]:
        world, _ = measured_world()
        return world, Measures(world, 20.0, roads=False, loops=LOOPS)

    world, measures = measured()
    world.observers.append(measures)
    world.step(300)
    cut, again = measured()
    with Recorder(tmp_path / "cut.h5", cut, 1.0, again, mode="keyframes") as recorder:
        cut.observers += [recorder, again]
        cut.step(120)
    found = went_on(tmp_path / "cut.h5", None, tmp_path / "rest.h5", 300)
    measures.finish()
    assert found.kept == ("loops",) and np.unique(np.diff(measures.loops.begin)).size > 1
    for column, values in measures.loops.columns.items():
        np.testing.assert_array_equal(found.loops.columns[column], values, err_msg=column)


def test_on_the_command_line_measures_go_on_unless_others_are_asked_for(
    straight: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rest, anew = str(tmp_path / "rest.h5"), str(tmp_path / "anew.h5")
    with RunFile(straight) as run:
        at, end = float(run.times[40]), float(run.times[-1])
    on = [
        "run",
        "--resume",
        str(straight),
        "--at",
        f"{at}s",
        "--duration",
        f"{end - at}s",
        "--record",
    ]
    assert main([*on, rest]) == 0
    assert_same_tables(straight, tmp_path / "rest.h5")
    assert main([*on, anew, "--measure", "10s"]) == 0
    with RunFile(anew) as run:
        assert float(run.table("roads").begin.min()) == at
        assert run.group("measures/loops") is None
    capsys.readouterr()


def test_what_measures_remember_is_checked(straight: Path, tmp_path: Path) -> None:
    damages = (
        ("measured_vehicles", "road", 10**6), ("measured_vehicles", "vehicle", -1),
        ("measured_loops", "slot", 10**6), ("measured_loops", "frames", 0),
        ("measured_numbers", "value", -5), ("measured_inside", "section", 9),
    )  # fmt: skip
    for table, column, value in damages:
        path = tmp_path / "bad.h5"
        path.write_bytes(straight.read_bytes())
        with h5py.File(path, "r+") as file:
            data = file["keyframes"][table]
            rows = data[:]
            rows[column] = value
            data[...] = rows
        with pytest.raises(RunError, match="measure"):
            World.resume(path, measures=True)
        World.resume(path)  # the state is sound


def test_measures_are_reckoned_with_where_a_file_may_have_so_much(tmp_path: Path) -> None:
    """They are written to the end, whatever else fits."""
    world, _ = measured_world()
    measures = Measures(world, 1.0, queues=True)
    chosen = {"mode": "frames", "until": 90.0, "most": 600_000}
    Recorder(tmp_path / "run.h5", world, **chosen).close()  # type: ignore[arg-type]
    with pytest.raises(RunError, match="measures and one frame may take .* allow more"):
        Recorder(tmp_path / "run.h5", world, measures=measures, **chosen)  # type: ignore[arg-type]
    each = world.network.n_roads + len(measures.detectors["queues"]["name"])
    assert measures.rows_within(360) == 92 * each
