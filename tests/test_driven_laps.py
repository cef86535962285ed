"""Node speeds out of a drive: what a player pressed becomes what opponents drive by.

Tracks: Hockenheim and an oval; Norisring was looked at while this was made.
"""

import itertools
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from driven_drives import slow_drive
from real_data import data_folder

from rushhour.cli import main
from rushhour.games.racing.car_race import CarRace, taught_track
from rushhour.games.racing.driven_lap import DrivenLap, read_drive, repeated, save_drive
from rushhour.games.racing.racing_line import CARS, with_racing_line
from rushhour.kernels.steering.tracks import Track
from rushhour.roadnets.errors import ParameterError, RunError
from rushhour.roadnets.racetracks import build_track, load_track, read_track
from rushhour.viewer import actions as do
from rushhour.viewer.gamepad import pressed_gamepad


def oval() -> Track:
    angle = np.linspace(0.0, 2.0 * np.pi, 80, endpoint=False)
    ring = np.column_stack((1.5 * np.cos(angle), np.sin(angle)))
    return with_racing_line(build_track(80.0 * ring, 92.0 * ring), CARS["gt"])[0]


@pytest.mark.slow
def test_opponents_drive_as_fast_as_the_player_did_place_by_place():
    """The player brakes late and hard in the first half of the lap and dawdles in the second."""
    track, _ = with_racing_line(
        read_track(data_folder("racetracks") / "Hockenheim.csv"), CARS["gt"]
    )
    best, _ = taught_track(track)
    lap, whole = DrivenLap(track), float(track.station[-1])
    while not lap.done:
        at = float(lap.race.cars.progress[0]) % whole
        share = 0.9 if at < 0.5 * whole else 0.6
        ahead = (at + 0.3 * lap.speed) / whole * best.line_station[-1]
        wanted = share * np.interp(
            ahead, best.line_station[:-1], best.line_speed, period=best.line_station[-1]
        )
        lap.step(0.5 * (float(wanted) - lap.speed))
    taught, time = lap.taught()
    assert lap.race.cars.off[0] == 0.0
    half = len(track.line) // 2
    fast, slow = (
        (taught.line_speed / best.line_speed)[50 : half - 50],
        (taught.line_speed / best.line_speed)[half + 50 : -50],
    )
    assert np.median(fast) > 1.3 * np.median(slow)
    driven = CarRace(taught, 1, spread=0.0).run(laps=2)
    assert driven.best_lap[0] == pytest.approx(time, rel=0.03)


def test_a_drive_out_of_its_file_gives_the_same_speeds_to_the_bit(tmp_path):
    track, path = oval(), tmp_path / "drive.h5"
    lap = DrivenLap(track)
    rng = np.random.default_rng(5)
    while not lap.done:
        lap.step(float(0.6 * rng.normal() + 0.4 * (14.0 - lap.speed)))
    save_drive(lap, path)
    again = repeated(track, read_drive(path, track))
    assert again.done and again.race.state_hash() == lap.race.state_hash()
    np.testing.assert_array_equal(again.taught()[0].line_speed, lap.taught()[0].line_speed)


def test_the_speed_at_a_node_is_that_with_which_the_car_passed_it():
    lap = DrivenLap(oval())
    whole, ways, speeds = float(lap.track.station[-1]), [], []
    while not lap.done:
        lap.step(float(np.clip(12.0 + 4.0 * np.sin(lap.race.time) - lap.speed, -1, 1)))
        if lap.race.cars.progress[0] > whole:
            bodies = lap.race.bodies
            ways.append((float(bodies.x[0]), float(bodies.y[0])))
            speeds.append(lap.speed)
    taught, _ = lap.taught()
    apart = np.hypot(*(np.array(ways)[None] - taught.line[:, None]).transpose(2, 0, 1))
    nearest = np.array(speeds)[apart.argmin(axis=1)]
    inner = slice(3, len(nearest) - 3)
    assert np.abs(taught.line_speed - nearest)[inner].max() < 0.35
    assert nearest.max() > 1.3 * nearest.min()


def test_where_nobody_drove_the_speeds_of_another_hold():
    track = oval()
    best, _ = taught_track(track)
    lap = DrivenLap(track)
    with pytest.raises(ParameterError, match="0.00 laps are driven; wanted 2"):
        lap.taught()
    while lap.laps < 0.4:
        lap.step(0.2 if lap.speed < 6.0 else 0.0)
    speed = lap.taught(best)[0].line_speed
    n = len(speed)
    assert speed[: int(0.3 * n)].max() < 7.0
    np.testing.assert_array_equal(speed[int(0.5 * n) :], best.line_speed[int(0.5 * n) :])


@pytest.mark.slow
def test_a_drive_in_the_window_is_raced_against_and_kept(tmp_path, capsys, monkeypatch):
    from rushhour.viewer.session import Session

    angle = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False)
    rows = [f"{90 * np.cos(a):.3f},{60 * np.sin(a):.3f},6,6" for a in angle]
    csv, kept, drive = tmp_path / "t.csv", tmp_path / "k.h5", tmp_path / "d.h5"
    csv.write_text("\n".join(rows))
    seen: dict[str, Any] = {}

    def watched(viewing: Session, kind: str | None) -> None:
        hand: Any = viewing._target
        for tick in itertools.count():
            if hand.lap.done:
                break
            viewing.do(do.Hold(frozenset({"up"} if hand.lap.speed < 10.0 else ())))
            viewing.tick(0.05)
            viewing.moment()  # what makes the lap come to this tick; a whole scene is dearer
            if tick % 10 == 0:
                viewing.scene()
        seen["told"], seen["speed"] = hand.told, hand.lap.taught()[0].line_speed.copy()

    monkeypatch.setattr("rushhour.viewer.window.watch", watched)
    monkeypatch.setattr("rushhour.viewer.window_kinds.window_backend", lambda name: "glfw")
    words = ["race", str(csv), "--cars", "2", "--laps", "1"]
    assert (
        main([*words, "--drive", "keys", "--save-drive", str(drive), "--save-track", str(kept)])
        == 0
    )
    assert seen["told"] == "both laps are driven; Q ends"
    np.testing.assert_array_equal(load_track(kept).line_speed, seen["speed"])
    assert 8.5 < np.median(seen["speed"]) < 10.5
    first = capsys.readouterr().out
    assert main([*words, "--drive", str(drive)]) == 0
    again = capsys.readouterr().out
    assert first.split("state")[1].split()[0] == again.split("state")[1].split()[0]


def test_what_is_no_drive_of_this_track_is_refused(tmp_path, capsys):
    csv, drive = tmp_path / "t.csv", tmp_path / "d.h5"
    angle = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False)
    for name, size in (("t.csv", 1.0), ("u.csv", 1.5)):
        rows = [f"{90 * size * np.cos(a):.3f},{60 * size * np.sin(a):.3f},6,6" for a in angle]
        (tmp_path / name).write_text("\n".join(rows))
    slow_drive(csv, drive)
    assert main(["race", str(tmp_path / "u.csv"), "--drive", str(drive)]) == 2
    assert "take its own track" in capsys.readouterr().err
    with pytest.raises(RunError, match="no drive"):
        read_drive(_other(tmp_path), oval())
    assert main(["race", str(csv), "--save-drive", str(tmp_path / "e.h5")]) == 2
    assert "add --drive keys" in capsys.readouterr().err
    assert main(["race", str(csv), "--window", "glfw"]) == 2
    assert "--window is for --drive keys" in capsys.readouterr().err


def _other(folder: Any) -> Any:
    import h5py

    with h5py.File(folder / "other.h5", "w") as file:
        file["x"] = [1.0]
    return folder / "other.h5"


def test_a_gamepad_is_read_as_gas_less_brake_and_stick(monkeypatch):
    pad = SimpleNamespace(axes=[0.25, 0.0, 0.0, 0.0, -1.0, 0.5], buttons=[1])
    fake = SimpleNamespace(
        JOYSTICK_1=0, GAMEPAD_AXIS_LEFT_X=0, GAMEPAD_AXIS_LEFT_TRIGGER=4,
        GAMEPAD_AXIS_RIGHT_TRIGGER=5, GAMEPAD_BUTTON_A=0, GLFWError=RuntimeError,
        joystick_is_gamepad=lambda k: True, get_gamepad_state=lambda k: pad,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "glfw", fake)
    assert pressed_gamepad() == (0.75, -0.25, True)
    fake.joystick_is_gamepad = lambda k: False
    assert pressed_gamepad() is None
