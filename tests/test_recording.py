"""The run file: what was recorded is read back, also after a kill or a full disk."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from recorded_world import FormulaWorld
from several_threads import printed_by_threads

from rushhour.kernels.compiling.jit import config
from rushhour.roadnets.errors import RunError, RushhourError
from rushhour.roadnets.storage import save
from rushhour.traffic.analysis.statistics import run_statistics
from rushhour.traffic.recording import frame_reader
from rushhour.traffic.recording.frame_fields import FIELDS
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.recording.unclosed_file import open_for_reading

TESTS = Path(__file__).parent


def recorded(path: Path, frames: int = 40, every: float = 0.5) -> FormulaWorld:
    world = FormulaWorld()
    with Recorder(path, world, every, mode="frames") as recorder:  # type: ignore[arg-type]
        world.observers.append(recorder)
        world.step(frames)
    return world


def test_a_recorded_frame_is_the_frame_sorted_by_vehicle(tmp_path: Path) -> None:
    recorded(tmp_path / "run.h5")
    with RunFile(tmp_path / "run.h5") as run:
        np.testing.assert_array_equal(run.frames, np.arange(0, 41, 2))
        np.testing.assert_array_equal(run.times, 100.0 + 0.25 * run.frames)
        for i, number in enumerate(run.frames):
            frame = run.frame(i)
            np.testing.assert_array_equal(frame.id, np.arange(min(5, number)))
            np.testing.assert_allclose(frame.s, 7.0 * frame.id + 2.0 * number * 0.25, atol=0.02)
            np.testing.assert_allclose(frame.lateral, 0.1 * frame.id, atol=0.02)
            np.testing.assert_array_equal(frame.reason, frame.id % 3)
        assert run.complete


def test_the_frame_at_a_time_is_the_last_one_recorded_until_then(tmp_path: Path) -> None:
    recorded(tmp_path / "run.h5")
    with RunFile(tmp_path / "run.h5") as run:
        at = {t: run.at(t).frame for t in (0.0, 100.0, 100.49, 100.5, 109.99, 110.0, 999.0)}
        assert at == {0.0: 0, 100.0: 0, 100.49: 0, 100.5: 2, 109.99: 38, 110.0: 40, 999.0: 40}
        assert run.frame(-1).frame == 40
        with pytest.raises(RunError, match="no recorded frame 21; it holds 21"):
            run.frame(21)


def test_the_file_says_what_the_run_was(tmp_path: Path) -> None:
    world = recorded(tmp_path / "run.h5")
    with RunFile(tmp_path / "run.h5") as run:
        assert run.meta["seed"] == 3 and run.meta["dt"] == 0.25 and run.meta["begin"] == 100.0
        assert run.parameters["car.time_gap"] == "1.2"
        assert len(run.parameters) == len(world.parameters)
        network = run.network()
        np.testing.assert_array_equal(network.points, world.network.points)
        assert network.lane_ids == world.network.lane_ids
        np.testing.assert_array_equal(run.vehicles("length"), np.full(5, 12.0, np.float32))
    with h5py.File(tmp_path / "run.h5") as file:
        assert file["frames"].attrs["fields"].tolist() == list(FIELDS)
        assert file["frames/index"].attrs["unit"] == "time s"
        assert file["vehicles/name"].asstr()[2] == "veh,2"


def test_many_flushes_give_the_same_rows_as_one(tmp_path: Path) -> None:
    recorded(tmp_path / "one.h5")
    world = FormulaWorld()
    with Recorder(tmp_path / "many.h5", world, 0.5, mode="frames") as recorder:  # type: ignore[arg-type]
        for _ in range(40):
            world.step()
            recorder.observe()
            recorder.flush()
    with RunFile(tmp_path / "one.h5") as one, RunFile(tmp_path / "many.h5") as many:
        np.testing.assert_array_equal(one.frames, many.frames)
        for i in range(one.frames.size):
            for name in FIELDS:
                a, b = getattr(one.frame(i), name), getattr(many.frame(i), name)
                np.testing.assert_allclose(a, b, atol=0.04)


def test_more_rows_than_a_chunk_holds_are_read_as_they_were(tmp_path: Path) -> None:
    world = FormulaWorld(n=40_000)
    world.sim.frame = 40_000
    with Recorder(tmp_path / "run.h5", world, 0.25, mode="frames") as recorder:  # type: ignore[arg-type]
        world.observers.append(recorder)
        world.step(2)
        recorder.flush()
        world.step(1)
    with RunFile(tmp_path / "run.h5") as run:
        assert run.frames.tolist() == [40_000, 40_001, 40_002, 40_003]
        for i in range(4):
            frame = run.frame(i)
            np.testing.assert_array_equal(frame.id, np.arange(40_000))
            want = 7.0 * frame.id + 0.5 * frame.frame
            np.testing.assert_allclose(frame.s, want, atol=0.02)
            np.testing.assert_array_equal(frame.reason, frame.id % 3)


def test_frames_are_the_same_in_any_order_and_by_any_number_of_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = FormulaWorld(n=3000)
    world.sim.frame = 3000
    # The made-up world has only what a recorder asks for.
    with Recorder(tmp_path / "run.h5", world, 0.25, mode="frames") as recorder:  # type: ignore[arg-type]
        for _ in range(12):
            recorder.record()
            world.step()
    order = [5, 4, 3, 9, 10, 11, 0, 11, 1, 2, 2, 7]
    for threads in (1, 3):
        monkeypatch.setattr(frame_reader, "cores", lambda n=threads: n)
        monkeypatch.setattr(frame_reader, "ROWS_OF_A_THREAD", 100)
        for first in range(0, len(order), 2):  # of a file that was just opened, too
            with RunFile(tmp_path / "run.h5") as run:
                for i in order[first:]:
                    frame = run.frame(i)
                    np.testing.assert_array_equal(frame.id, np.arange(3000))
                    np.testing.assert_allclose(
                        frame.s, 7.0 * frame.id + 0.5 * (3000 + i), atol=0.02
                    )


KILLED = """
import sys
from recorded_world import FormulaWorld
from rushhour.traffic.recording import recorder as recording
recording.FLUSH_SECONDS = 0.0
world = FormulaWorld(n=2000)
world.sim.frame = 2000
recorder = recording.Recorder(sys.argv[1], world, 0.25, mode="frames")
world.observers.append(recorder)
while True:
    world.step()
    if sys.argv[2] == "0":
        recorder.flush()
    print(world.frame, flush=True)
"""


# late: blocks of a frame that may be on their way
@pytest.mark.parametrize(("after", "late"), [(5, 0), (57, 0), (5, 3), (20, 3)])
def test_a_killed_run_opens_with_every_flushed_frame(tmp_path: Path, after: int, late: int) -> None:
    path = tmp_path / "run.h5"
    environment = os.environ | {"PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}"}
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path), str(late)],
        stdout=subprocess.PIPE,
        env=environment,
    )
    assert process.stdout is not None
    seen = 0
    for _ in range(after):
        seen = int(process.stdout.readline())
    time.sleep(0.003 * (after % 5))
    process.send_signal(signal.SIGKILL)
    process.wait()
    with RunFile(path) as run:
        assert not run.complete
        assert run.frames[-1] >= seen - late
        np.testing.assert_array_equal(run.frames, np.arange(2000, run.frames[-1] + 1))
        for i in range(run.frames.size):
            frame = run.frame(i)
            np.testing.assert_array_equal(frame.id, np.arange(2000))
            want = 7.0 * frame.id + 0.5 * frame.frame
            np.testing.assert_allclose(frame.s, want, atol=0.02)
    recorded(path)  # and it may be replaced
    with RunFile(path) as run:
        assert run.complete


def test_a_run_is_readable_while_it_goes_on(tmp_path: Path) -> None:
    world = FormulaWorld()
    recorder = Recorder(tmp_path / "run.h5", world, 0.25, mode="frames")  # type: ignore[arg-type]
    world.observers.append(recorder)
    world.step(10)
    recorder.flush()
    code = "import sys; from rushhour.traffic.recording.run_file import RunFile; " \
           "print(RunFile(sys.argv[1]).frames.size)"  # fmt: skip
    shown = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "run.h5")],
        capture_output=True, text=True, check=True, cwd=TESTS.parent,
    )  # fmt: skip
    recorder.close()
    assert shown.stdout.strip() == "11"


def test_what_is_written_between_opening_and_reading_is_no_damage(tmp_path: Path) -> None:
    """The reader finds its way to it in the file, behind the end that there was."""
    world = FormulaWorld(n=100)
    world.sim.frame = 100
    with Recorder(tmp_path / "run.h5", world, 0.25, mode="frames") as recorder:  # type: ignore[arg-type]
        world.observers.append(recorder)
        world.step(5)
        recorder.flush()
        with open_for_reading(tmp_path / "run.h5") as file:
            world.step(5)
            recorder.flush()
            assert file["frames/index"]["frame"].tolist() == list(range(100, 111))
            assert file["frames/data"][:].any()


FULL = """
import resource, signal, sys
from recorded_world import FormulaWorld
from rushhour.roadnets.errors import RunError
from rushhour.traffic.recording import recorder as recording
recording.FLUSH_ROWS = 20_000
world = FormulaWorld(n=2000)
world.sim.frame = 2000
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    with recording.Recorder(sys.argv[1], world, 0.25, mode="frames") as recorder:
        world.observers.append(recorder)
        world.step(3000)
except RunError as error:
    print(error)
"""


@pytest.mark.parametrize("room", [400_000, 90_000, 20_000, 3_000])  # at some frame, or before
def test_a_full_disk_is_one_line(tmp_path: Path, room: int) -> None:
    environment = os.environ | {"PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}"}
    shown = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "run.h5"), str(room)],
        check=False, capture_output=True, text=True, env=environment, timeout=120,
    )  # fmt: skip
    assert "run.h5 cannot be written: File too large; check" in shown.stdout, shown.stderr
    assert len(shown.stdout.strip().splitlines()) == 1
    if room == 400_000:  # else h5py itself tells more, as it frees what was laid out
        assert "Traceback" not in shown.stderr


def test_only_run_files_are_replaced(tmp_path: Path) -> None:
    world = FormulaWorld()
    save(world.network, tmp_path / "city.h5")
    (tmp_path / "notes.txt").write_text("mine")
    for name in ("city.h5", "notes.txt"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(RunError, match=f"{name} exists and is not a run file"):
            Recorder(tmp_path / name, world, mode="frames")  # type: ignore[arg-type]
        assert (tmp_path / name).read_bytes() == before
    with pytest.raises(RunError, match="is not a file"):
        Recorder(tmp_path, world)  # type: ignore[arg-type]
    with pytest.raises(RunError, match="cannot be written: No such file or directory"):
        Recorder(tmp_path / "no" / "run.h5", world)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["city.h5", "notes.txt", "none.h5", "empty.h5"])
def test_what_is_no_run_file_is_refused(tmp_path: Path, name: str) -> None:
    save(FormulaWorld().network, tmp_path / "city.h5")
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "empty.h5").write_bytes(b"")
    with pytest.raises(RunError, match="(is not a run file|does not exist).*rushhour run --record"):
        RunFile(tmp_path / name)


def test_a_damaged_run_file_is_refused_or_read_as_far_as_it_is_sound(tmp_path: Path) -> None:
    whole = tmp_path / "run.h5"
    recorded(whole)
    data = bytearray(whole.read_bytes())
    random = np.random.default_rng(1)
    for _ in range(60):
        broken = data.copy()
        for place in random.integers(0, len(data), 8):
            broken[place] ^= int(random.integers(1, 256))
        path = tmp_path / "broken.h5"
        path.write_bytes(broken[: int(random.integers(len(data) // 2, len(data) + 1))])
        try:
            with RunFile(path) as run:
                for i in range(run.frames.size):
                    run.frame(i)
        except RushhourError as error:
            assert "\n" not in str(error)


def test_commands_that_cannot_be_read_are_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    recorded(path)
    with h5py.File(path, "r+") as file:
        del file["commands/text"]
    with RunFile(path) as run, pytest.raises(RunError, match="/commands is damaged"):
        run.vehicle_names()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_frames_are_read_as_far_as_their_times_ascend(tmp_path: Path, bad: float) -> None:
    path = tmp_path / "run.h5"
    recorded(path)
    with h5py.File(path, "r+") as file:
        index = file["frames/index"][:]
        index["time"][7] = bad
        file["frames/index"][...] = index
    with RunFile(path) as run:
        assert run.frames.size == 7 and np.isfinite(run_statistics(run)["vehicle_hours"])


def test_rows_that_point_outside_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    recorded(path)
    with h5py.File(path, "r+", libver="latest") as file:
        index = file["frames/index"][:]
        index["count"][7] = 1 << 60
        file["frames/index"][:] = index
    with RunFile(path) as run:
        assert run.frames.size == 7


@pytest.mark.soak
@pytest.mark.skipif(config.DISABLE_JIT, reason="plain Python has one thread")
def test_the_file_is_the_same_for_any_number_of_threads(tmp_path: Path) -> None:
    one, two, four = printed_by_threads("hashed_recording.py", str(tmp_path))
    assert "frames data (" in one and one == two == four
