"""A world that is watched while it is simulated."""

from pathlib import Path

import numpy as np
import pytest
from viewed_run import needs_gl

from rushhour.cli import main
from rushhour.kernels.steering.lane_bodies import STEERED
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.storage import save
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World
from rushhour.viewer import actions as do
from rushhour.viewer.lights import states_at
from rushhour.viewer.live import LiveSource
from rushhour.viewer.recorded import RunSource
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


def test_quick_pictures_make_the_frames_of_a_world_between_them():
    world = small_world()
    session = Session(LiveSource(world), 320, 240, window=True)
    session.do(do.Play())
    for _ in range(100):
        session.tick(0.016)  # s; a frame has 0.5
        session.scene()
    assert world.frame == 3 and session.state.clock.time == pytest.approx(1.6)


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


def drivable() -> World:
    network = generate("grid", rows=2, columns=2, control="signals")
    parameters = Parameters({"steered.bodies": True})
    demand = vehicles_on_road(network, 40, seed=1)
    return World(network, demand, dt=0.1, seed=1, parameters=parameters)


def drive_for_a_while(session: Session) -> tuple[int, list[float]]:
    """Take over somebody who moves, turn, brake, go backwards, let go; its speeds."""
    session.do(do.Seek(3.0))
    moment = session.moment()
    who = int(moment.id[np.argmax(moment.speed)])
    session.do(do.Select(who))
    session.do(do.Drive())
    speeds = []
    for keys, seconds in (("up", 2.0), ("up left", 1.0), ("down", 5.0), ("", 1.0)):
        session.do(do.Hold(frozenset(keys.split())))
        session.do(do.Skip(seconds))
        session.scene()
        row = session.moment().row(who)
        speeds.append(float(session.moment().speed[row]))
    session.do(do.Drive())
    session.do(do.Skip(2.0))
    session.scene()
    return who, speeds


def test_a_vehicle_is_driven_by_the_arrows_and_the_log_repeats_it():
    world = drivable()
    session = Session(LiveSource(world), 320, 240, window=True)
    who, speeds = drive_for_a_while(session)
    assert speeds[0] > 3.0 and speeds[2] < 0.5
    assert not session.state.driving
    names = [command.name for command in world.commands]
    assert names[0] == names[-1] == "set_tier" and names.count("control") > 10
    bodies = world.steered_bodies
    assert bodies.tier[bodies.id == who].tolist() == [STEERED]
    undriven, again = drivable(), drivable()
    undriven.step(world.frame)
    again.repeat(world.commands)
    again.step(world.frame)
    assert again.state_hash() == world.state_hash() != undriven.state_hash()


def test_left_is_left_and_looking_elsewhere_lets_go():
    world = drivable()
    session = Session(LiveSource(world), 320, 240, window=True)
    session.do(do.Seek(3.0))
    moment = session.moment()
    who = int(moment.id[np.argmax(moment.speed)])
    session.do(do.Select(who))
    session.do(do.Drive())
    session.do(do.Hold(frozenset({"left"})))
    before = float(moment.heading[moment.row(who)])
    session.do(do.Skip(0.8))
    after = session.moment()
    assert 0.05 < (after.heading[after.row(who)] - before + np.pi) % (2 * np.pi) - np.pi < 2.0
    assert session.state.driving and session.state.follow and session.state.clock.playing
    session.do(do.Select(None))
    assert not session.state.driving
    session.do(do.Drive())
    assert session.note == "choose a vehicle first: click it"


def test_a_drive_that_was_recorded_is_verified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    save(small_world().network, tmp_path / "net.h5")
    run = tmp_path / "drive.h5"

    def watched(viewing: Session, kind: str | None) -> None:
        drive_for_a_while(viewing)

    monkeypatch.setattr("rushhour.viewer.window.watch", watched)
    assert main(["view", str(tmp_path / "net.h5"), "--live", "40", "--record", str(run)]) == 0
    assert main(["replay", str(run), "--verify"]) == 0
    capsys.readouterr()
    assert main(["view", str(run), "--record", "y.h5", "--shot", "x.png"]) == 2
    assert "--record is for --live" in capsys.readouterr().err
    session = Session(RunSource(run), 320, 240)
    session.do(do.Drive())
    assert session.note.startswith("only a live world can be driven in")
