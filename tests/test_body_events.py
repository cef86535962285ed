"""Who comes off its lane, is back on it, reverses or is set on it, as events of the run file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_driven import BODIES, CAR
from test_steered import bend, crowd, steered

from rushhour.cli import main
from rushhour.traffic.analysis.whom_to_ask import why
from rushhour.traffic.recording.body_happenings import BODY_KINDS
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.world import World


def pushed(path: Path, turned: float, aside: float) -> tuple[World, dict[str, list[float]]]:
    """A recorded steered car that is pushed off its lane after 8 s; its events by kind, s."""
    world = steered(bend(), ("one", ["way"], CAR))
    with Recorder(path, world, 1.0) as recorder:
        world.observers.append(recorder)
        world.step(240)
        bodies, heading = world.steering.bodies, float(world.steering.bodies.heading[0])
        bodies.x[0] -= aside * np.sin(heading)
        bodies.y[0] += aside * np.cos(heading)
        bodies.heading[0] += turned
        world.step(600)
    with RunFile(path) as run:
        events = run.events
    found = {kind: events.time[events.kind == kind].tolist() for kind in BODY_KINDS}
    return world, found


def counted(world: World) -> dict[str, int]:
    told = world.steered()
    return {kind: told[kind] for kind in BODY_KINDS}


@pytest.mark.parametrize(("aside", "turned"), [(2.5, 0.3), (-3.0, 2.8)], ids=["aside", "round"])
def test_every_event_of_a_body_that_is_counted_is_in_the_file_in_its_frame(
    tmp_path: Path, aside: float, turned: float
) -> None:
    world, found = pushed(tmp_path / "run.h5", turned, aside)
    assert {kind: len(times) for kind, times in found.items()} == counted(world)
    assert found["back_on_lane"][0] > found["off_lane"][0] + 0.5
    if turned < 1.0:
        assert found["off_lane"] == [pytest.approx(240 / 30, abs=1e-6)]
        return
    helped = found["reversed"][0]
    with RunFile(tmp_path / "run.h5") as run:
        told = why(run, helped + 2.0, "one")[0].waits[0].body
    assert told.startswith(("reversed at", "was set on its lane", "is off its lane since"))


def test_who_is_asked_why_it_waits_tells_that_it_is_off_its_lane(
    tmp_path: Path, capsys: Any
) -> None:
    path = tmp_path / "run.h5"
    _, found = pushed(path, 0.3, 2.5)
    off, back = found["off_lane"][0], found["back_on_lane"][0]
    with RunFile(path) as run:
        assert why(run, off + 1.0, "one")[0].waits[0].body.startswith("is off its lane since ")
        assert why(run, back + 1.5, "one")[0].waits[0].body == ""
    assert main(["why", str(path), "--vehicle", "one", "--at", f"{off + 1.0}s"]) == 0
    assert "one is off its lane since 0:00:08" in capsys.readouterr().out


def test_who_left_its_lane_by_hand_is_told_until_it_slides_back_in_the_lane_tier(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.h5"
    world = steered(bend(radius=80.0), ("car0", ["way"], CAR), **BODIES)
    world.step(150)
    world.set_tier("car0", "driven")
    with Recorder(path, world, 1.0) as recorder:
        world.observers.append(recorder)
        world.controls.throttle[0], world.controls.steer[0] = 0.3, 0.3
        world.step(120)
        world.set_tier("car0", "lane")
        world.step(30)
    with RunFile(path) as run:
        end = float(run.times[-1])
        assert run.events.kind.tolist().count("off_lane") == 1 == world.steered()["off_lane"]
        assert why(run, end - 1.0, "car0")[0].waits[0].body.startswith("is off its lane since ")
        assert why(run, end, "car0")[0].waits[0].body == ""


def test_a_crowd_that_keeps_to_its_lanes_has_no_such_events(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    world = crowd()
    with Recorder(path, world, 1.0) as recorder:
        world.observers.append(recorder)
        world.step(120)
    with RunFile(path) as run:
        assert not np.isin(run.events.kind.astype(str), BODY_KINDS).any()
