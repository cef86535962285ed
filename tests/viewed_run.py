"""A small recorded run to look at, and what tests of drawing need."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.world import World
from rushhour.viewer.colouring import palette_of
from rushhour.viewer.moments import Moment
from rushhour.viewer.session import Session


def record(path: Path, steps: int = 240, vehicles: int = 60) -> Path:
    """Two minutes of a grid with signals, recorded every second."""
    network = generate("grid", rows=2, columns=2, control="signals")
    world = World(network, vehicles_on_road(network, vehicles, seed=1), dt=0.5, seed=1)
    with Recorder(path, world, 1.0) as recorder:
        world.observers.append(recorder)
        world.step(steps)
    return path


def panel_names(session: Session) -> set[str]:
    """Names of what lies over the picture."""
    return {panel.name for panel in session.scene().panels}


def bodies(
    places: list[tuple[float, float, float]], length: float = 5.0, width: float = 2.0
) -> Moment:
    """Vehicles of one size whose front bumpers are at x, y, heading."""
    at = np.array(places, np.float64).reshape(-1, 3)
    n = len(at)
    zeros = np.zeros(n)
    return Moment(
        0.0, np.arange(n, dtype=np.int32), at[:, 0].copy(), at[:, 1].copy(), at[:, 2].copy(), zeros,
        np.full(n, length), np.full(n, width), np.zeros(n, np.int32), np.zeros(n, np.int32), {},
    )  # fmt: skip


def needs_gl() -> Any:
    """An offscreen canvas; skips the test where there is no OpenGL, fails it in CI."""
    from rushhour.viewer.gl.context import offscreen_canvas

    try:
        return offscreen_canvas()
    except RunError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))


REDDISH = palette_of([(200, 10, 20), (200, 10, 20)])
