"""Two runs side by side: one camera, one clock, the same vehicle."""

import json
from pathlib import Path

import numpy as np
import pytest
from viewed_run import needs_gl, record

from rushhour.cli import main
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.generators.ring import straight
from rushhour.viewer import actions as do
from rushhour.viewer.colouring import difference_colours
from rushhour.viewer.loads import loads_of
from rushhour.viewer.moments import NetworkSource
from rushhour.viewer.pair import Pair
from rushhour.viewer.recorded import RunSource


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("pair")
    return record(folder / "a.h5", 120), record(folder / "b.h5", 80, vehicles=30)


@pytest.fixture
def pair(paths: tuple[Path, Path]) -> Pair:
    return Pair(RunSource(paths[0]), RunSource(paths[1]), 802, 300, window=True)


def test_both_show_the_same_place_and_time(pair: Pair):
    for action in (do.Zoom(3.0, 700.0, 40.0), do.Pan(30.0, 4.0), do.NextColour(), do.Skip(20.0)):
        pair.do(action)
        one, other = (session.state for session in pair.sessions)
        assert (one.camera, one.clock, one.colour) == (other.camera, other.clock, other.colour)
    (left, first), (right, second) = pair.scenes()
    assert (left, right) == (0, 402) and first.camera.width == second.camera.width == 400
    assert len(first.moment) > len(second.moment) > 0
    assert pair.state.clock.end == 60.0  # of the longer one


def test_a_pixel_of_the_right_one_means_the_same_place(pair: Pair):
    before = pair.state.camera.place(100.0, 50.0)
    pair.do(do.Zoom(2.0, 502.0, 50.0))
    assert pair.state.camera.place(100.0, 50.0) == pytest.approx(before)
    pair.do(do.Scrub(402.0 + 399.0))
    assert pair.state.clock.time == 60.0
    pair.do(do.Scrub(0.0))
    assert pair.state.clock.time == pair.state.clock.begin


def test_who_is_clicked_in_one_is_selected_in_both(pair: Pair):
    pair.do(do.Seek(20.0))
    moment = pair.sessions[1].moment()
    pair.do(do.Look(float(moment.x[4]), float(moment.y[4]), 0.05))
    pair.do(do.Click(602.0, 150.0))
    chosen = [session.state.selected for session in pair.sessions]
    names = {
        source.vehicle_name(who)
        for source, who in zip(pair.sources, chosen, strict=True)
        if who is not None
    }
    assert chosen[1] == moment.id[4] and len(names) == 1
    pair.do(do.Follow())
    pair.do(do.Skip(2.0))
    pair.scenes()
    (_, first), (_, second) = pair.scenes()
    row = second.moment.row(chosen[1])
    assert (second.camera.x, second.camera.y) == (second.moment.x[row], second.moment.y[row])
    assert first.camera == second.camera
    pair.do(do.Select(None))
    assert [session.state.selected for session in pair.sessions] == [None, None]


def test_lanes_tell_how_many_more_are_on_them_here(pair: Pair):
    length = np.full(3, 100.0)
    here, there = (
        loads_of(np.array(lanes, np.int32), np.zeros(len(lanes)), 3)
        for lanes in ([0] * 13 + [1], [1, 2, 2])
    )
    colours, legend = difference_colours(here, there, length)
    assert legend.title and (colours[:, 3] == 255).all()
    more, same, fewer = colours[:, :3].astype(int)
    assert more[0] > more[2] and fewer[2] > fewer[0] and abs(same[0] - same[2]) < 40
    pair.do(do.Seek(20.0))
    while pair.state.lanes != "difference":
        pair.do(do.NextLanes())
    (_, first), (_, second) = pair.scenes()
    assert first.lane_colours is not None and second.lane_colours is not None
    assert first.lane_colours.any() and (first.lane_colours != second.lane_colours).any()


def test_runs_on_other_networks_are_refused(paths: tuple[Path, Path]):
    with pytest.raises(RunError, match=r"straight: its network is not that of a\.h5"):
        Pair(RunSource(paths[0]), NetworkSource(straight(100.0)), 400, 300, window=False)


def test_a_shot_of_two_has_both(
    paths: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    needs_gl().close()
    words = ["view", *map(str, paths), "--shot", str(tmp_path / "a.png"), "--size", "402x200"]
    assert main([*words, "--at", "20s", "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)["vehicles"]
    assert counts[0] > counts[1] > 0
    assert main(["view", *map(str, paths), str(paths[0])]) == 2
    assert "3 files: wanted one, or two" in capsys.readouterr().err
