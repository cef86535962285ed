"""A world that is watched while it is simulated."""

from pathlib import Path

import numpy as np
import pytest
from viewed_run import needs_gl

from rushhour.cli import main
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.storage import save
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.world import World
from rushhour.viewer import actions as do
from rushhour.viewer.lights import states_at
from rushhour.viewer.live import LiveSource
from rushhour.viewer.session import Session


def small_world() -> World:
    network = generate("grid", rows=2, columns=2, control="signals")
    return World(network, vehicles_on_road(network, 40, seed=1), dt=0.5, seed=1)


def test_a_watched_world_has_the_bits_of_one_that_nobody_watched():
    alone, watched = small_world(), small_world()
    alone.step(60)
    session = Session(LiveSource(watched), 320, 240, window=True)
    session.do(do.Play())
    session.do(do.NextColour())
    for _ in range(30):
        session.tick(1.0)
        scene = session.scene()
        session.do(do.Select(int(scene.moment.id[0])))
    assert watched.frame == 60 and scene.moment.time == session.state.clock.time == 30.0
    assert watched.state_hash() == alone.state_hash()


def test_a_moment_is_the_world_as_it_stands_and_never_goes_back():
    world = small_world()
    session = Session(LiveSource(world), 320, 240)
    session.do(do.Seek(20.0))
    moment = session.moment()
    table = world.vehicles
    order = np.argsort(table.id)
    np.testing.assert_array_equal(moment.columns["s"], table.s[order])
    np.testing.assert_array_equal(moment.speed, table.speed[order])
    np.testing.assert_array_equal(
        session.source.lights(20.0), states_at(world.network, world.time - world.dt)
    )
    waits = session.source.waiting(moment)
    assert waits is not None and waits.max() > 2.0 and (moment.speed[waits > 0.5] < 0.1).all()
    session.do(do.Show("costs"))
    assert "costs 0" in {panel.name for panel in session.scene().panels}
    session.do(do.Seek(5.0))
    assert session.moment() is moment and session.state.clock.time == 20.0


def test_a_picture_does_not_wait_longer_than_its_patience():
    session = Session(LiveSource(small_world(), patience=0.0), 320, 240)
    session.do(do.Seek(1000.0))
    assert session.moment().time == 0.5  # one frame a picture
    assert session.state.clock.time == 0.5


def test_the_command_simulates_up_to_the_time_of_a_shot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    needs_gl().close()
    save(small_world().network, tmp_path / "net.h5")
    words = ["view", str(tmp_path / "net.h5"), "--size", "320x240", "--at", "5s"]
    for name in ("a.png", "b.png"):
        assert main([*words, "--live", "30", "--shot", str(tmp_path / name)]) == 0
        assert "30 vehicles" in capsys.readouterr().out
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    for wrong, said in ((["--live", "0"], "--live 0: wanted"), (["--seed", "3"], "--seed is for")):
        assert main([*words, *wrong, "--shot", str(tmp_path / "c.png")]) == 2
        assert said in capsys.readouterr().err
