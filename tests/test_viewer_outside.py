"""Bodies from outside are on the map, of a recording and live."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from viewed_run import needs_gl

from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.world import World
from rushhour.viewer import actions as do
from rushhour.viewer.live import LiveSource
from rushhour.viewer.outside import OUTSIDE, outside_moment
from rushhour.viewer.recorded import RunSource
from rushhour.viewer.session import Session
from rushhour.viewer.shots import picture_for
from rushhour.viewer.silhouettes import CLASSES


def test_bodies_from_outside_are_drawn_where_they_were_in_every_frame(tmp_path: Path):
    needs_gl().close()
    network = generate("grid", rows=2, columns=2, control="signals")
    world = World(network, vehicles_on_road(network, 5, seed=1), dt=0.5, seed=1)
    live = LiveSource(world)
    with Recorder(tmp_path / "run.h5", world, 1.0) as recorder:
        world.observers.append(recorder)
        world.step(4)
        world.bodies.set([7], 40.0, 30.0, np.pi / 2, length=8.0, width=2.0)
        world.step(6)
        assert live.outside(5.0)["id"].tolist() == [7]
        world.bodies.set([7, 8], [50.0, 60.0], 30.0, 0.0, length=8.0, width=2.0)
        world.step(6)
    source = RunSource(tmp_path / "run.h5")
    there = {time: source.outside(time)["x"].tolist() for time in (1.0, 2.0, 4.5, 5.0, 7.9)}
    assert there == {1.0: [], 2.0: [40.0], 4.5: [40.0], 5.0: [50.0, 60.0], 7.9: [50.0, 60.0]}
    sizes, body, code = outside_moment(source.outside(3.0), chased=False)
    np.testing.assert_allclose(sizes[code >> 11], [(8.0, 2.0, CLASSES.index("body"))])
    np.testing.assert_allclose((body.x[0], body.y[0]), (40.0, 34.0), atol=1e-9)  # its front
    session = Session(source, 400, 300)
    session.do(do.Seek(6.0))
    session.do(do.Look(50.0, 30.0, 0.2))
    assert "legend 1" in {panel.name for panel in session.scene().panels}
    picture = picture_for(session)
    image = picture.image(session.scenes()).astype(float)
    drawn = np.abs(image - OUTSIDE).max(axis=2) < 75  # a body has lighter parts
    picture.close()
    rows, columns = np.nonzero(drawn[120:180, 160:225]) + np.array([[120], [160]])  # of the first
    found = (rows.min(), rows.max() + 1, columns.min(), columns.max() + 1)
    assert np.abs(np.array(found) - (145, 155, 180, 220)).max() <= 1


def test_from_afar_bodies_are_no_smaller_than_vehicles_and_those_of_a_chase_larger(tmp_path: Path):
    needs_gl().close()
    world = World(generate("grid", rows=2, columns=2), dt=0.5, seed=1)
    world.bodies.set([0, 1], [40.0, 90.0], 30.0, 0.0, length=4.5, width=1.8)
    world.step(2)
    seen = []
    for chased in (False, True):
        session = Session(LiveSource(world, chased=chased), 400, 300)
        session.do(do.Look(65.0, 30.0, 1.5))  # m a pixel: a body of 3 x 1.2 pixels
        picture = picture_for(session)
        image = picture.image(session.scenes()).astype(int)
        picture.close()
        if not chased:
            picture = picture_for(session)
            bare = replace(session.scene(), outside=None)
            ground = picture.image(((0, bare),)).astype(int)
            picture.close()
        near = np.abs(image - ground).max(axis=2) > 12
        rows, columns = np.nonzero(near[100:200, 205:230])  # about the second
        seen.append((np.ptp(columns) + 1, np.ptp(rows) + 1))
    (long, wide), (longer, wider) = seen
    assert long >= 7 and wide >= 4 and longer >= 12 and wider >= 7
