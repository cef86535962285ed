"""Run files that earlier versions wrote are read for ever."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from rushhour.cli import main
from rushhour.roadnets.errors import RunError
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.recording.verifying import verify
from rushhour.traffic.world import World

RECORDED = Path(__file__).parent / "recorded"


@pytest.fixture
def version_1(tmp_path: Path) -> Path:
    """Three vehicles of recorded_world.FormulaWorld, every second of ten frames."""
    path = tmp_path / "version_1.h5"
    path.write_bytes(gzip.decompress((RECORDED / "version_1.h5.gz").read_bytes()))
    return path


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
    assert "frames               6" in capsys.readouterr().out
    assert main(["replay", str(version_1), "--verify"]) == 2
