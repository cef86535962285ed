"""Which panels, buttons and help lie over the picture of a run, where, and what they say."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from viewed_run import panel_names

from rushhour.traffic.stepping.costs import PHASES
from rushhour.viewer import actions as do
from rushhour.viewer.panels import Timeline, time_labels, timeline_image
from rushhour.viewer.recorded import RunSource
from rushhour.viewer.run_costs import RunCosts
from rushhour.viewer.session import Session
from rushhour.viewer.themes import DARK


def test_help_costs_and_timeline_are_panels(session: Session):
    assert "timeline" in panel_names(session) and "help" not in panel_names(session)
    session.do(do.Show("help"))
    session.do(do.Show("costs"))
    session.tell({"all": 3.0})
    assert {"help", "costs 0", "costs 1"} <= panel_names(session)
    quiet = Session(session.source, 800, 600)
    assert "timeline" not in panel_names(quiet)


def test_who_knows_no_keys_clicks_buttons(session: Session):
    """Each does what its word says; one that is clicked is not looked through at the map below."""

    def click(name: str) -> None:
        panel = next(one for one in session.scene().panels if one.name == f"button {name}")
        session.do(do.Click(panel.x + 0.5 * panel.width, panel.y + 0.5 * panel.height))

    click("play")
    assert session.state.clock.playing
    click("stop")
    click("faster")
    click("faster")
    click("slower")
    assert not session.state.clock.playing and session.state.clock.rate == 2.0
    click("help")
    assert session.state.help
    click("colour")
    assert session.state.colour != "speed"
    session.do(do.Look(0.0, 0.0, 0.1))
    click("all")
    assert session.state.camera.scale > 0.1 and session.state.selected is None
    click("find")
    assert session.state.finding == ""


@pytest.mark.parametrize("size", [(1280, 800), (800, 600), (400, 600), (2560, 1440)])
def test_buttons_lie_within_the_picture_beside_other_panels(viewed: Path, size: tuple[int, int]):
    session = Session(RunSource(viewed), *size, window=True)
    panels = session.scene().panels
    shown = [one for one in panels if one.name.startswith("button ")]
    assert len(shown) >= (1 if size[0] < 500 else 5)
    boxes = [(p.x, p.y, p.x + p.width, p.y + p.height, p in shown) for p in panels]
    for i, (x0, y0, x1, y1, button) in enumerate(boxes):
        if not button:
            continue
        assert 0 <= x0 and x1 <= size[0] and 0 <= y0
        for a0, b0, a1, b1, _ in boxes[:i]:
            assert x1 <= a0 or a1 <= x0 or y1 <= b0 or b1 <= y0
    quiet = Session(RunSource(viewed), *size)
    assert not [one for one in quiet.scene().panels if one.name.startswith("button ")]


def test_the_timeline_says_round_times() -> None:
    assert time_labels(0.0, 119.5, 8) == [
        (15.0 * k, f"0:{k // 4:02d}:{15 * k % 60:02d}") for k in range(8)
    ]
    assert [t for t, _ in time_labels(25_190.0, 28_801.0, 6)] == [900.0 * k for k in range(28, 33)]
    assert time_labels(5.0, 5.0, 6) == [] and len(time_labels(0.0, 1e7, 6)) <= 7
    timeline = Timeline(0.5, (), (), (), "", 0.0, 120.0)
    bare = timeline_image(Timeline(0.5, (), (), (), ""), 600, 1)
    changed = (timeline_image(timeline, 600, 1) != bare).any(axis=(0, 2))
    assert changed[295:300].any() and not changed[100:110].any()  # 1:00 in the middle
    for begin, said in ((0.1, True), (3.5, False)):  # no round times; with room for it, and without
        late = Timeline(0.5, (), (), (), "", begin, 30.0 + begin)
        changed = (timeline_image(late, 600, 1) != bare).any(axis=(0, 2))
        assert changed[:10].any() == said


def test_the_timeline_shows_how_many_were_to_depart_when(session: Session):
    source = session.source
    assert isinstance(source, RunSource)
    depart = source.run.vehicles("depart")
    begin, end = float(source.times[0]), float(source.times[-1])
    due = source.due(begin, end, 4)
    count = [
        int(((depart >= begin + k * (end - begin) / 4) & (depart < begin + (k + 1) * (end - begin) / 4)).sum())
        for k in range(4)
    ]  # fmt: skip
    assert max(count[:3]) > 0 and max(due) == 1.0
    assert [share * max(count) for share in due[:3]] == pytest.approx(count[:3], abs=1.0)
    bare = timeline_image(Timeline(0.5, (0.5, 1.0), (), (), ""), 400, 1)
    lined = timeline_image(Timeline(0.5, (0.5, 1.0), due, (), ""), 400, 1)
    blue = (lined == (*DARK.accent, 255)).all(axis=2)
    assert blue.any(axis=0).sum() > 390 and not (bare == (*DARK.accent, 255)).all(axis=2).any()


def test_the_help_is_within_the_picture(viewed: Path):
    for size in ((1280, 800), (800, 600), (2560, 1440)):
        session = Session(RunSource(viewed), *size, window=True)
        session.do(do.Show("help"))
        shown = next(panel for panel in session.scene().panels if panel.name == "help")
        assert shown.y >= 0 and shown.y + shown.height <= size[1]
        assert shown.x >= 0 and shown.x + shown.width <= size[0]


@pytest.mark.parametrize("size", [(1280, 800), (800, 600), (640, 480), (2560, 1440)])
def test_the_help_cuts_off_no_legend_and_no_inspector(viewed: Path, size: tuple[int, int]) -> None:
    """They are whole, or left out until it is closed."""
    session = Session(RunSource(viewed), *size, window=True)
    session.do(do.Seek(30.0))
    session.do(do.Select(int(session.moment().id[0])))
    before = {panel.name: panel for panel in session.scene().panels}
    assert {"legend 0", "inspector"} <= before.keys()
    session.do(do.Show("help"))
    shown = {panel.name: panel for panel in session.scene().panels}
    told = shown.pop("help")
    for name, one in before.items():
        beside = one.x + one.width <= told.x or told.x + told.width <= one.x
        above = one.y + one.height <= told.y or told.y + told.height <= one.y
        if not name.startswith("button") and name not in ("title", "timeline"):
            assert (name in shown) == (beside or above)
    session.do(do.Show("help"))
    assert {panel.name for panel in session.scene().panels} == before.keys()


def test_costs_have_bars_though_some_frames_waited_for_the_machine():
    table = {name: np.full(200, 0.1) for name in PHASES}
    table["frames"], table["time"] = np.ones(200), np.arange(200) + 1.0
    for name in PHASES:
        table[name][150:] = 40.0  # a quarter of them
    run = SimpleNamespace(costs=SimpleNamespace(columns=table), meta={"dt": 0.25})
    costs = RunCosts(run)  # type: ignore[arg-type]
    for time, share in ((10.0, 0.25), (180.0, 1.0)):
        (bars,) = costs.at(time)
        assert min(1.0, bars.rows[-1][1] / bars.budget) == pytest.approx(share)
