"""Axes of cost plots and time-space diagrams are those of what is drawn."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_profiles import given
from viewed_run import record

from rushhour.traffic.recording.run_file import RunFile
from rushhour.viewer import plots, plots_of_costs, plots_of_runs
from rushhour.viewer.space_time import SPAN, passed_on


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The axes of figures, in place of their files."""
    found: list[Any] = []
    for module in (plots, plots_of_costs, plots_of_runs):
        monkeypatch.setattr(module, "save_figure", lambda figure, path: found.append(figure.axes))
    return found


COSTS = {
    "all alike": ([2.0] * 100, None, (2.0, 2.4)),
    "two that compiled": ([5000.0, 3000.0] + [2.0] * 998, None, (2.0, 2.5)),
    "a line nearby": ([2.0] * 100, 4.0, (4.0, 4.5)),
    "a line far above": ([2.0] * 100, 1000.0, (2.0, 2.4)),
    "a single frame": ([2.0], None, (2.0, 2.4)),
    "a tenth that is dear": ([2.0] * 90 + [20.0] * 10, None, (20.0, 24.0)),
}


@pytest.mark.parametrize("case", COSTS)
def test_the_top_of_a_cost_plot_is_what_frames_cost(case: str, drawn: list[Any]):
    ms, line, (least, most) = COSTS[case]
    made = given(ms, np.zeros(len(ms)))
    plots_of_costs.save_profile(Path("x.png"), made, None if line is None else line / 1e3)
    (axes,) = drawn[0]
    assert least <= axes.get_ylim()[1] <= most
    assert axes.get_xlim() == (0.0, len(ms))
    assert ("beyond the top, up to 5e+03 ms" in axes.get_xlabel()) == (case == "two that compiled")
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert [text for text in legend if "above this" in text] == (
        ["budget, 1000 ms, above this"] if case == "a line far above" else []
    )


@pytest.fixture(scope="module")
def run_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("axes") / "run.h5", steps=60)  # 30 s


@pytest.mark.parametrize("times", [[178.1, 177.5], [0.4], [300.0, 200.0, 190.0]])
def test_the_iterations_of_an_assignment_are_whole_and_below_the_top(
    times: list[float], drawn: list[Any]
):
    rows = [SimpleNamespace(number=k, gap=0.004, mean_time=time) for k, time in enumerate(times)]
    plots_of_runs.save_gaps(Path("x.png"), rows, "town")
    low, high = drawn[0][1].get_ylim()
    assert low == 0.0 and max(times) < 0.97 * high
    for axes in drawn[0]:
        assert (axes.get_xticks() % 1.0 == 0.0).all()


def test_each_of_many_queues_is_told_apart_over_whole_intervals(drawn: list[Any]):
    edges, window = np.arange(4) * 900.0, SimpleNamespace(network=SimpleNamespace(name="town"))
    lines = {f"road{k}": np.array([1.0, 5.0 + k, 3.0, 3.0]) for k in range(14)}
    plots_of_runs._draw_queues(
        Path("x.png"), window, edges, lines, "longest queue in the interval, m", "steps-post"
    )
    (axes,) = drawn[0]
    assert axes.get_xlim() == (0.0, 2700.0)
    looks = {(line.get_color(), line.get_linestyle()) for line in axes.lines}
    assert len(looks) == len(axes.lines) == plots_of_runs.MOST_QUEUES
    assert {line.get_drawstyle() for line in axes.lines} == {"steps-post"}


@pytest.mark.parametrize(
    ("values", "ends"),
    [([1.0, -10.0], "neither"), ([11.0, 0.0], "max"), ([0.0, -11.0], "min"), ([11.0, -11.0], "both")],
)  # fmt: skip
def test_a_bar_of_colours_says_at_which_ends_there_is_more(values: list[float], ends: str):
    assert plots.beyond(np.array(values), 10.0) == ends


def test_costs_of_a_run_begin_where_it_does_and_end_with_it(run_path: Path, drawn: list[Any]):
    with RunFile(run_path) as run:
        plots_of_runs.save_costs(Path("x.png"), plots.Window(run))
        plots_of_runs.save_costs(Path("x.png"), plots.Window(run, begin=30.0))
        time = run.costs.time
    (axes,), (last,) = drawn
    assert axes.get_xlim() == (0.0, time[-1]) == (0.0, 30.0)
    assert last.get_xlim() == (29.0, 30.0)  # one interval, as wide as it was


def test_a_time_space_diagram_shows_when_and_where_vehicles_were(run_path: Path, drawn: list[Any]):
    with RunFile(run_path) as run:
        network, lanes = run.network(), run.network().arrays.lanes
        frames = [run.frame(k) for k in range(run.frames.size)]
        for road in range(network.n_roads):
            rows = [(frame.time, s) for frame in frames
                    for s in frame.s[lanes.road[frame.lane] == road].tolist()]  # fmt: skip
            drawn.clear()
            plots.save_time_space(Path("x.png"), plots.Window(run), [network.road_ids[road]])
            axes, length = drawn[0][0], float(network.arrays.roads.length[road])
            if not rows:
                assert axes.get_xlim() == (0.0, 30.0) and axes.get_ylim() == (0.0, length)
                continue
            time, place = np.array(rows).T
            first, last = axes.get_xlim()
            assert first == time.min() and last == max(time.max(), first + 1.0)
            low, high = axes.get_ylim()
            spare = 0.021 * max(np.ptp(place), 1.0)
            assert max(0.0, place.min() - spare) <= low <= place.min()
            assert place.max() <= high + 1e-6 and high <= max(place.max() + spare, low + 1.0)
            drawn.clear()
            name = network.road_ids[road]
            plots.save_time_space(Path("x.png"), plots.Window(run, 3.0, 8.0), [name])
            assert drawn[0][0].get_xlim() == (3.0, 8.0)  # as it was asked for


def test_a_lane_s_diagram_is_no_longer_than_the_run(run_path: Path):
    from rushhour.viewer.recorded import RunSource

    source = RunSource(run_path)
    passed = passed_on(source, 0, 10.0)
    assert (passed.begin, passed.end) == (0.0, 30.0) and SPAN > 30.0
