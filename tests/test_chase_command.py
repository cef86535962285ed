"""`rushhour chase`: what it prints, records and refuses; the example."""

import json
from typing import Any

import pytest
from example_runs import printed_by

import rushhour as rh
from rushhour.cli import main
from rushhour.games.opponents.chase import Chase
from rushhour.games.opponents.tape import read_tape
from rushhour.viewer import actions as do
from rushhour.viewer.outside import OUTSIDE, TARGET, outside_moment, outside_palette
from rushhour.viewer.recorded import RunSource
from rushhour.viewer.session import Session


@pytest.mark.slow
def test_a_recorded_chase_says_what_came_of_it_verifies_and_has_its_tape(tmp_path, capsys):
    streets, path = tmp_path / "streets.h5", tmp_path / "chase.h5"
    assert main(["generate", "grid", "--rows", "2", "--columns", "2", "-o", str(streets)]) == 0
    words = ["chase", str(streets), "--opponents", "3", "--vehicles", "20", "--duration", "12s",
             "--seed", "2"]  # fmt: skip
    capsys.readouterr()
    assert main([*words, "--record", str(path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in facts["cast"]] == [
        "target",
        *(f"opponent {k}" for k in (1, 2, 3)),
    ]
    assert facts["time_s"] == 12.0 and len(facts["distance_m"]) == 12
    assert all(abs(sum(row["states"].values()) - 1.0) < 0.01 for row in facts["cast"])
    assert facts["steer_ms"]["p50"] > 0.0
    assert main(["replay", str(path), "--verify"]) == 0
    tape = read_tape(path)
    assert len(tape) == 120 and tape.inputs[0].shape == (3, 4, 3)
    assert len(rh.open_run(path).bodies().set(5)) == 4
    capsys.readouterr()
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert facts["state_hash"][:16] in shown and "opponent 3" in shown


@pytest.mark.slow
def test_a_target_driven_by_keys_goes_where_they_say_and_its_tape_repeats_it(
    tmp_path, capsys, monkeypatch
):
    streets, path = tmp_path / "streets.h5", tmp_path / "chase.h5"
    assert main(["generate", "grid", "--rows", "2", "--columns", "2", "-o", str(streets)]) == 0
    seen: dict[str, Any] = {"speed": []}

    def watched(viewing: Session, kind: str | None) -> None:
        hand = viewing._target
        assert hand is not None and viewing.state.driving and viewing.state.clock.playing
        bodies = hand._chase.cast.bodies
        for keys, frames in (("up", 20), ("up left", 8), ("down", 15), ("up control", 5)):
            viewing.do(do.Hold(frozenset(keys.split())))
            for _ in range(frames):
                viewing.tick(0.1)
                scene = viewing.scene()
            seen["speed"].append(float(bodies.speed[0]))
        assert (scene.camera.x, scene.camera.y) == hand.place and scene.chased
        viewing.do(do.Pan(40.0, 0.0))
        assert not viewing.state.follow
        viewing.do(do.Follow())
        assert viewing.state.follow
        viewing.do(do.Drive())
        assert viewing.state.driving  # there is nobody to let go to
        for _ in range(60):  # its time ends, but a picture waits no longer than patience lasts
            viewing.do(do.Skip(1000.0))
            viewing.scene()
        seen["end"], seen["x"] = hand.time, hand._chase.state()["x"].copy()

    monkeypatch.setattr("rushhour.viewer.window.watch", watched)
    monkeypatch.setattr("rushhour.viewer.window_kinds.window_backend", lambda name: "glfw")
    words = ["chase", str(streets), "--opponents", "2", "--vehicles", "20", "--duration", "6s",
             "--seed", "4", "--target", "keys", "--record", str(path)]  # fmt: skip
    assert main(words) == 0
    assert "target" in capsys.readouterr().out
    assert seen["speed"][0] > 4.0 and seen["speed"][2] < 1.0
    assert seen["end"] == pytest.approx(6.1)
    assert main(["replay", str(path), "--verify"]) == 0
    tape = read_tape(path)
    assert len(tape) == 60
    assert (tape.inputs[5][:, 0, 0] == 1.0).all() and (tape.inputs[25][:, 0, 1] > 0.1).all()
    network = rh.load_network(streets)
    world = rh.World(network, rh.vehicles_on_road(network, 20, seed=2), dt=0.1, seed=2)
    world.step()
    again = Chase(world, opponents=2, tape=tape, seed=2)
    world.step(60)
    assert again.state()["x"].tobytes() == seen["x"].tobytes()
    session = Session(RunSource(path), 320, 240)
    session.do(do.Seek(5.0))
    legends = session.scene().panels
    assert session.source.chased and any(panel.name == "legend 1" for panel in legends)
    _, _, codes = outside_moment(session.source.outside(5.0), session.source.chased)
    colours = outside_palette()[codes % 256]
    assert [tuple(row) for row in colours.tolist()] == [TARGET, OUTSIDE, OUTSIDE]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere.h5"], "nowhere.h5"),
        (["nowhere.h5", "--record", "chase.csv"], "wanted a name that ends in .h5"),
        (["nowhere.h5", "--duration", "soon"], "--duration"),
        (["nowhere.h5", "--window", "qt"], "--window is for --target keys"),
    ],
)
def test_what_cannot_be_chased_is_one_line(words, told, capsys):
    assert main(["chase", *words]) == 2
    error = capsys.readouterr().err.strip()
    assert told in error and error.count("\n") == 0


@pytest.mark.slow
def test_the_example_ends_in_a_table_and_a_picture(tmp_path):
    picture = tmp_path / "chase.png"
    shown = printed_by("chase.py", "--seconds", 8, "--picture", picture)
    assert "opponent 4" in shown and picture.stat().st_size > 20_000
