"""Cars that race on a track (validation.md C2.11 - C2.13; seed-systems.md S2-13 - S2-16)."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from real_data import data_folder

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))

from steering_models import wavy_track

from rushhour.cli import main
from rushhour.kernels.racing.car_races import ahead_by, following_speed, node_speed, open_side
from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.racetracks import load_track, read_track, save_track
from rushhour.traffic.racing.car_race import MODELS, CarRace, RaceTape, lap_time, taught_track
from rushhour.traffic.racing.race_file import load_race

TRACKS = ("Hockenheim", "IMS", "Monza", "Norisring", "Shanghai", "Silverstone", "Spa", "Suzuka")


@pytest.fixture(scope="module")
def taught():
    """The wavy ring with the speeds of a lap, and the time of that lap."""
    return taught_track(wavy_track(80))


def test_node_speeds_are_those_of_a_driven_lap_and_are_kept_with_the_track(taught, tmp_path):
    track, lap = taught
    assert np.isfinite(track.line_speed).all() and track.line_speed.min() > 3.0
    assert lap_time(track) == pytest.approx(lap, rel=0.02)
    save_track(track, tmp_path / "track.h5")
    np.testing.assert_array_equal(load_track(tmp_path / "track.h5").line_speed, track.line_speed)
    x, y = 0.25 * track.line[0] + 0.75 * track.line[1]
    between = 0.25 * track.line_speed[0] + 0.75 * track.line_speed[1]
    assert node_speed(track, 0, x, y) == pytest.approx(between)


def test_by_gas_and_brake_alone_a_car_repeats_the_recorded_lap(taught):
    """Speeds at the nodes within 3 % in the mean, the lap within 2 %."""
    track, lap = taught
    again, replayed = taught_track(track, track.line_speed)
    assert replayed == pytest.approx(lap, rel=0.02)
    assert np.abs(again.line_speed / track.line_speed - 1.0).mean() <= 0.03


@pytest.mark.parametrize("difficulty", [0.8, 0.6])
def test_a_lap_takes_longer_as_the_difficulty_falls(taught, difficulty):
    laps = [
        CarRace(taught[0], 1, difficulty=d, spread=0.0).run(2).best_lap[0]
        for d in (1.0, difficulty)
    ]
    assert laps[1] == pytest.approx(laps[0] / difficulty, rel=0.03)


def test_the_gains_of_the_steering_fall_with_the_difficulty(taught):
    full, half = (CarRace(taught[0], 1, "pid", difficulty=d) for d in (1.0, 0.5))
    for name in ("kp", "ki", "kd"):
        assert getattr(half.steering, name)[0] == 0.5 * getattr(full.steering, name)[0] > 0.0


def test_the_side_is_the_wider_one():
    assert (
        open_side(1.0, 5.0) == -1.0 and open_side(-1.0, 5.0) == 1.0 and open_side(0.0, 5.0) == 1.0
    )


def test_who_follows_leaves_room_and_who_is_too_near_falls_back():
    assert following_speed(2.0, 20.0) == 20.0 and following_speed(9.0, 20.0) == 30.0
    assert following_speed(-4.0, 20.0) == 17.0 and following_speed(0.0, 1.0) == 0.0


def test_places_on_the_track_are_compared_over_the_line(taught):
    lap = float(taught[0].station[-1])
    assert ahead_by(taught[0], lap - 1.0, lap + 2.0) == pytest.approx(3.0)
    assert ahead_by(taught[0], 3.0 * lap + 5.0, 2.0) == pytest.approx(-3.0)


def two_cars(track, overtaking):
    """A car in front that is a fifth slower than the one behind it; 30 s and more."""
    race = CarRace(track, 2, paces=[0.75, 0.9], overtaking=overtaking)
    modes = []

    def note(race):
        modes.append(race.cars.target.copy())

    while race.time < 90.0:
        race.step(100)
        note(race)
    return race, np.array(modes)


def test_a_faster_car_passes_within_half_a_minute_and_goes_back_to_its_line():
    track, _ = taught_track(wavy_track(80, half_width=4.0))
    race, targets = two_cars(track, True)
    assert race.ranking() == [1, 0] and race.cars.passes.tolist() == [0, 1]
    began = int(np.argmax(targets[:, 1] == 0))
    over = began + int(np.argmax(targets[began:, 1] < 0))
    assert 0 < (over - began) / 60.0 < 30.0 and (targets[over:, 1] < 0).mean() > 0.8
    assert race.cars.side[1] == 0.0 and race.cars.lost.sum() == 0
    still, targets = two_cars(track, False)
    assert still.ranking() == [0, 1] and (targets < 0).all()
    assert ahead_by(track, still.cars.progress[1], still.cars.progress[0]) < 40.0


@pytest.mark.parametrize("model", MODELS)
def test_whatever_the_model_ten_cars_finish_and_are_ranked(taught, model):
    race = CarRace(taught[0], 10, model, difficulty=0.8, seed=2)
    done = race.run(1)
    assert np.isfinite(done.finish).all()
    assert (np.diff(done.finish[done.order]) >= 0.0).all()


def test_on_ice_a_car_has_the_grip_of_the_ground(taught):
    track = taught[0]._replace(grip=np.full(len(taught[0].grip), 0.5))
    race = CarRace(track, 1)
    race.step(1)
    assert race.types.grip[0] == 0.5 * race.cars.grip[0]
    race.bodies.x[0] += 500.0
    race.step(1)
    race.step(1)
    assert not race.cars.on[0] and race.types.grip[0] == 0.6 * race.cars.grip[0]


def test_who_is_stuck_is_put_back_and_counted(taught):
    race = CarRace(taught[0], 1)
    race.types.accel[:] = 0.0
    for _ in range(9 * 60):
        race.step(1)
    assert race.cars.lost[0] == 1


def test_two_cars_in_one_place_part_and_the_one_ahead_is_not_moved(taught):
    race = CarRace(taught[0], 2)
    race.bodies.x[1] = race.bodies.x[0] - 3.4 * np.cos(race.bodies.heading[0])
    race.bodies.y[1] = race.bodies.y[0] - 3.4 * np.sin(race.bodies.heading[0])
    free = CarRace(taught[0], 1)
    for _ in range(30):
        race.step(1)
        free.step(1)
    assert race.bodies.x[0] == free.bodies.x[0] and race.cars.contacts[1] >= 1
    apart = np.hypot(race.bodies.x[0] - race.bodies.x[1], race.bodies.y[0] - race.bodies.y[1])
    assert apart > 4.0


def test_a_race_is_recorded_and_drawn(taught, tmp_path, capsys):
    save_track(taught[0], tmp_path / "ring.h5")
    words = [
        "race",
        tmp_path / "ring.h5",
        "--cars",
        "4",
        "--laps",
        "1",
        "--record",
        tmp_path / "r.h5",
    ]
    assert main([str(word) for word in [*words, "--json"]]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert main([str(word) for word in words]) == 0
    table = capsys.readouterr().out.splitlines()
    assert [row["car"] for row in facts["cars"]] == [int(line.split()[1]) for line in table[3:7]]
    record = load_race(tmp_path / "r.h5")
    assert record.ranking == [row["car"] - 1 for row in facts["cars"]]
    assert np.diff(record.time).max() == pytest.approx(0.1)
    assert (
        main(["view", str(tmp_path / "r.h5"), "--shot", str(tmp_path / "r.png"), "--at", "20s"])
        == 0
    )
    assert (tmp_path / "r.png").stat().st_size > 1000


def test_a_tape_leaves_out_who_has_finished(taught):
    race = CarRace(taught[0], 3, spread=0.3, seed=4)
    tape = RaceTape(race)
    race.run(1, call=tape)
    record = tape.record(race, "ring")
    first = int(np.argmin(record.finish))
    assert np.isnan(record.x[record.time > record.finish[first] + 1.2, first]).all()
    assert np.isfinite(record.x[record.time < record.finish[first], first]).all()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"cars": 0}, "0 cars; wanted 1 to 2,000"),
        ({"cars": 500}, "cars on .* m; wanted"),
        ({"models": "fast"}, "model 'fast'; wanted one of aware"),
        ({"models": ["aware"]}, "1 models for 10 cars"),
        ({"difficulty": 1.5}, "difficulty 1.5; wanted 0.1 to 1"),
        ({"spread": 1.0}, "spread 1.0"),
        ({"paces": [1.0]}, "1 paces for 10 cars"),
    ],
)
def test_what_cannot_race_is_refused_in_a_line(taught, given, text):
    with pytest.raises(ParameterError, match=text):
        CarRace(taught[0], **given)
    with pytest.raises(ParameterError, match="has no speeds at its line"):
        CarRace(wavy_track(), 1)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "IMS" else pytest.mark.soak)
        for name in TRACKS
    ],
)
def test_on_a_real_track_ten_cars_finish_and_none_is_lost(name):
    track, _ = taught_track(read_track(data_folder("racetracks") / f"{name}.csv", line_every=2))
    done = CarRace(track, 10, seed=1).run(2)
    assert np.isfinite(done.finish).all() and done.lost.sum() == 0
