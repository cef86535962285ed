"""Run files that earlier versions wrote are read for ever."""

import gzip
import hashlib
from pathlib import Path

import h5py
import numpy as np
import pytest

from rushhour.cli import main
from rushhour.roadnets.errors import RunError
from rushhour.traffic.analysis.statistics import run_statistics
from rushhour.traffic.recording.frame_blocks import Encoder, Gathered
from rushhour.traffic.recording.frame_reader import FrameReader
from rushhour.traffic.recording.frame_taking import Rows
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.recording.verifying import verify
from rushhour.traffic.world import World

RECORDED = Path(__file__).parent / "recorded"


def unpacked(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(gzip.decompress((RECORDED / f"{name}.gz").read_bytes()))
    return path


@pytest.fixture
def version_1(tmp_path: Path) -> Path:
    """Three vehicles of recorded_world.FormulaWorld, every second of ten frames."""
    return unpacked(tmp_path, "version_1.h5")


@pytest.fixture
def version_2(tmp_path: Path) -> Path:
    """Three cars on a straight road for 20 s, the second one told to stop after 8 s."""
    return unpacked(tmp_path, "version_2.h5")


def test_a_run_of_format_version_1_is_read(version_1: Path) -> None:
    with RunFile(version_1) as run:
        assert run.complete and run.mode == "frames" and run.meta["dt"] == 0.25
        np.testing.assert_array_equal(run.frames, [0, 2, 4, 6, 8, 10])
        for i, number in enumerate(run.frames):
            frame = run.frame(i)
            np.testing.assert_array_equal(frame.id, np.arange(min(3, number)))
            np.testing.assert_allclose(frame.s, 7.0 * frame.id + 2.0 * number * 0.25)
        assert run.network().lane_ids and run.vehicle_names() == ("veh,0", "veh,1", "veh,2")
        assert len(run.table("trips")) == 0 and run.commands() == []
        assert run.at(101.0).frame == 4 and len(run.keyframes) == 0


def test_it_says_what_it_lacks(version_1: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RunError, match="holds no keyframes to resume from"):
        World.resume(version_1)
    with (
        RunFile(version_1) as run,
        pytest.raises(RunError, match="no hashes, as files of .* first"),
    ):
        verify(run)
    assert main(["replay", str(version_1)]) == 0
    assert "frames       6 every" in capsys.readouterr().out
    assert main(["replay", str(version_1), "--verify"]) == 2


def test_a_run_of_format_version_2_is_read(version_2: Path) -> None:
    with RunFile(version_2) as run:
        assert run.version == 2 and run.complete and run.mode == "both"
        np.testing.assert_array_equal(run.frames, np.arange(0, 84, 4))
        np.testing.assert_array_equal(run.times, 0.25 * run.frames)
        frame = run.at(10.5)
        assert frame.frame == 40 and frame.id.tolist() == [0, 1, 2]
        np.testing.assert_array_equal(
            frame.s, np.array([102.54768, 50.754425, 23.803352], np.float32)
        )
        np.testing.assert_array_equal(
            frame.speed, np.array([14.239972, 5.8314614, 8.896278], np.float32)
        )
        assert frame.lateral.tolist() == [0, 0, 0] and frame.lane.tolist() == [0, 0, 0]
        assert frame.reason.tolist() == [0, 14, 0]
        assert run.digests is not None and run.digests[2] == 5000264748872622245
        assert run.keyframes.index["frame"].tolist() == [0, 20, 40, 60, 80]
        assert run.keyframes.state_hash(1).startswith("0a54293b42f12f69256d640dd0ecbe07")
        assert [str(command) for command in run.commands()] == [
            "0:00:08 frame 32: stop(vehicle='car1', duration=3.0): done"
        ]


def test_a_run_of_format_version_2_goes_on_or_says_who_reads_it(version_2: Path) -> None:
    with RunFile(version_2) as run:
        frame, last = int(run.keyframes.index["frame"][2]), run.keyframes.state_hash(4)
        end = int(run.keyframes.index["frame"][4])
    try:
        world = World.resume(version_2, at=0.25 * frame)
    except RunError as error:  # a version whose state has other fields
        assert "another version of rushhour; resume with the one that wrote the file" in str(error)
        return
    world.step(end - frame)
    assert world.state_hash() == last


def test_what_is_no_number_in_a_damaged_file_is_refused_in_one_line(version_2: Path) -> None:
    for name, value in (("speed", np.nan), ("s", 1e9), ("speed", -np.inf)):
        with h5py.File(version_2, "r+") as file:
            good, row = file["frames"][name][:], int(file["frames/start"][12])
            file["frames"][name][:] = np.where(np.arange(good.size) == row, value, good)
        with RunFile(version_2) as run:
            with pytest.raises(
                RunError, match=f"/frames is damaged .{name} of a vehicle is no num"
            ):
                run_statistics(run)
            with pytest.raises(RunError, match=f"{name} of a vehicle is no number up to"):
                [run.trajectory(vehicle) for vehicle in range(3)]
        with h5py.File(version_2, "r+") as file:
            file["frames"][name][:] = good


@pytest.fixture
def version_3(tmp_path: Path) -> Path:
    """Sixty cars on a grid of 2 x 2 for 30 s, some with bodies that steer; one told to stop after 10 s."""
    return unpacked(tmp_path, "version_3.h5")


def test_a_run_of_format_version_3_is_read(version_3: Path) -> None:
    with RunFile(version_3) as run:
        assert run.version == 3 and run.complete and run.mode == "both"
        np.testing.assert_array_equal(run.frames, np.arange(0, 124, 4))
        frame = run.frame(20)
        assert frame.id.tolist() == [*range(17), *range(19, 60)]
        np.testing.assert_array_equal(
            frame.s[:4], np.array([10.894, 59.736, 53.212, 38.254], np.float32)
        )
        np.testing.assert_array_equal(
            frame.speed[:4], np.array([7.36, 0.0, 5.68, 8.96], np.float32)
        )
        assert frame.reason[:8].tolist() == [0, 2, 2, 7, 1, 2, 2, 0]
        assert np.count_nonzero(np.isfinite(frame.body_x)) == 8
        every = hashlib.sha256()
        for i in range(run.frames.size):
            for values in run.frame(i).columns.values():
                every.update(values.tobytes())
        assert every.hexdigest().startswith("e87fd85bb983678514036a16ddd2c552")
        assert (len(run.trajectory("3")), len(run.table("trips"))) == (30, 5)
        assert (len(run.events), len(run.signals)) == (109, 140)
        assert run.digests is not None and run.digests[2] == 17608171099689667553
        assert run.keyframes.index["frame"].tolist() == [0, 60, 120]
        assert run.keyframes.state_hash(1).startswith("ae6e5104a9df5a5ff7336f0e6883fd2b")
        assert [str(command) for command in run.commands()] == [
            "0:00:10 frame 40: stop(vehicle='3', duration=3.0): done"
        ]


def test_blocks_of_format_version_3_are_written_as_ever(version_3: Path) -> None:
    """What was read of a block is encoded to the very words that it was read from."""
    with RunFile(version_3) as run:
        reader, data = run._frames, run._file["frames/data"]
        assert isinstance(reader, FrameReader)
        groups = run._file["frames/groups"][:]
        for block in np.unique(reader.index["block"]).tolist():
            frames, start = reader._of_block(block)
            rows, _ = reader._decode(block, frames, start)
            gathered, one = Gathered(reader.coding, room=16), Rows(exact=False)
            for number, a, b in zip(reader.index["frame"][frames], start, start[1:], strict=False):
                one.clear()
                one.make_room(b - a)
                one.ends.append(b - a)
                one.rows[: b - a] = rows[a:b]
                gathered.add(int(number), one)
            words, found = Encoder(reader.coding).encode(gathered)
            wanted = groups[groups["block"] == block]
            first = int(wanted["start"].min(initial=data.shape[0]))  # of nobody there is nothing
            np.testing.assert_array_equal(words, data[first : first + words.size])
            for column, name in enumerate(("first", "last", "start", "words", "rows")):
                shift = first if name == "start" else 0
                np.testing.assert_array_equal(found[:, column] + shift, wanted[name])
