"""Frames that are decoded ahead: the same as those read when asked for, and before somebody waits for them."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from viewed_run import record

from rushhour.roadnets.errors import RunError
from rushhour.traffic.recording.run_file import RunFile
from rushhour.viewer import actions as do
from rushhour.viewer.recorded import RunSource
from rushhour.viewer.session import Session


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("ahead") / "run.h5", steps=120)


def decoders(run: RunFile, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool]]:
    """Which frames were decoded, and whether by the thread that asks."""
    told: list[tuple[int, bool]] = []
    read = run._frames.columns

    def noted(i: int) -> Any:
        told.append((i, threading.current_thread() is threading.main_thread()))
        return read(i)

    monkeypatch.setattr(run._frames, "columns", noted)
    return told


def test_frames_asked_for_ahead_are_those_of_the_file(path: Path) -> None:
    order = np.random.default_rng(4).permutation(60).tolist()
    with RunFile(path) as run, RunFile(path) as ahead:
        for i in order:
            ahead.read_ahead(i, i + 1, i + 2)  # beyond the last one there is nothing to read
            for k in (i, order[0]):
                one, other = run.frame(k), ahead.frame(k)
                assert (one.frame, one.time) == (other.frame, other.time)
                assert one.columns.keys() == other.columns.keys()
                for name, column in one.columns.items():
                    np.testing.assert_array_equal(column, other.columns[name], err_msg=name)


def test_who_plays_a_run_waits_for_no_frame_to_be_decoded(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = RunSource(path)
    told = decoders(source.run, monkeypatch)
    session = Session(source, 800, 600, window=True)
    session.do(do.Seek(5.2))
    session.scenes()
    session.do(do.Play())
    told.clear()
    for _ in range(100):  # 20 s, a frame a second
        session.tick(0.2)
        session.scenes()
        for future in list(source.run._ahead._kept.values()):
            future.result()  # a machine that has the time
    assert session.state.clock.time > 20.0
    mine = {i for i, by_who_asks in told if by_who_asks}
    assert len({i for i, _ in told}) >= 15
    assert mine <= {5, 6, 7}  # until it is known that somebody plays
    source.run.close()


def test_who_looks_here_and_there_has_nothing_decoded_ahead(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = RunSource(path)
    told = decoders(source.run, monkeypatch)
    for time in (50.5, 3.5, 30.0, 10.2):
        source.at(time)
    assert all(by_who_asks for _, by_who_asks in told)
    source.run.close()


def test_a_run_that_is_closed_or_damaged_says_so_though_frames_were_asked_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunFile(path)

    def damaged(i: int) -> Any:
        raise ValueError("no such block")

    monkeypatch.setattr(run._frames, "columns", damaged)
    run.read_ahead(3)
    with pytest.raises(RunError, match="frames is damaged"):
        run.frame(3)
    run.close()
    with pytest.raises(RunError, match="was closed"):
        run.frame(3)
