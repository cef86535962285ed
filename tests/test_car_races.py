"""Cars that race on a track (validation.md C2.11 - C2.13; seed-systems.md S2-13 - S2-16)."""

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from real_data import data_folder

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))

from steering_models import wavy_track

from rushhour.cli import main
from rushhour.games.racing.car_race import MODELS, CarRace, RaceTape, lap_time, taught_track
from rushhour.games.racing.race_file import load_race
from rushhour.games.racing.racing_line import (
    CARS,
    Car,
    with_racing_line,
)
from rushhour.kernels.racing.car_races import eased_blend, find_all_cars, node_speed, way_point
from rushhour.kernels.racing.race_state import ahead_by, mixed
from rushhour.kernels.racing.watching_cars import (
    beside_way,
    following_speed,
    open_side,
    watch_all_cars,
)
from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.racetracks import load_track, read_track, save_track

TRACKS = ("Hockenheim", "IMS", "Monza", "Norisring", "Shanghai", "Silverstone", "Spa", "Suzuka")


@pytest.fixture(scope="module")
def taught():
    """The wavy ring with its racing line and the speeds of a lap, and the time of that lap."""
    return taught_track(with_racing_line(wavy_track(80), CARS["gt"])[0])


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


def test_a_car_alone_keeps_to_its_plan_and_its_tail_behind_it(taught):
    """Who braked and turned at once as hard as it could slid, and lost a second in a bend."""
    track, lap = taught
    plan = lap_time(with_racing_line(wavy_track(80), CARS["gt"])[0])
    race = CarRace(track, 1)
    slip = []
    race.run(2, call=lambda race: slip.append(abs(race.bodies.slip[0])))
    assert lap <= 1.02 * plan and race.cars.best_lap[0] <= 1.01 * lap
    assert max(slip) < 1.0


@pytest.mark.parametrize("cars", [2, 10])
def test_paces_differ_by_up_to_the_spread_and_the_fastest_drives_the_taught_speeds(taught, cars):
    paces = [CarRace(taught[0], cars, seed=seed, spread=0.1).cars.pace for seed in range(1, 6)]
    for pace in paces:
        assert pace.max() == 1.0 and pace.min() >= 0.9
        assert np.unique(pace).size == cars
    assert len({float(pace.min()) for pace in paces}) == 5


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


def test_the_side_is_the_inside_of_the_bend_else_the_wider_one_if_there_is_room():
    assert open_side(1.0, 5.0, 0.0, 4.0) == -1.0 and open_side(-1.0, 5.0, 0.0, 4.0) == 1.0
    assert open_side(0.5, 5.0, 1.0, 4.0) == 1.0 and open_side(0.5, 5.0, -1.0, 4.0) == -1.0
    assert open_side(2.0, 5.0, 1.0, 4.0) == -1.0  # no room inside
    assert open_side(0.0, 3.0, 1.0, 4.0) == 0.0


def test_who_follows_leaves_room_and_who_is_too_near_falls_back():
    stand = 2.5 + 0.15 * 20.0
    assert following_speed(stand, 20.0, 0.7) == 20.0
    assert following_speed(stand + 0.7, 20.0, 0.7) == pytest.approx(21.0, abs=0.8)
    assert following_speed(stand + 70.0, 20.0, 0.7) == pytest.approx(math.sqrt(400.0 + 16.0 * 70.0))
    assert following_speed(-4.0, 20.0, 0.7) == 17.0 and following_speed(0.0, 1.0, 0.7) == 0.0


def place_at(race, stations):
    """Put cars on the racing line, so many m from the start line."""
    track, n = race.track, len(race.track.left)
    for k, station in enumerate(stations):
        at = int(np.searchsorted(track.station, station, side="right")) - 1
        x, y = way_point(track, race.lines, at, 0.0)
        px, py = way_point(track, race.lines, (at + 1) % n, 0.0)
        race.bodies.x[k], race.bodies.y[k] = x, y
        race.bodies.heading[k] = math.atan2(py - y, px - x)
        race.cars.place[k], race.cars.lap[k], race.cars.blend[k] = at, 0, 0.0
    find_all_cars(track, race.cars, race.bodies)


def test_who_is_ahead_is_in_the_way_where_the_line_leads_through_it():
    """Not where both are as far from the middle: a line goes from edge to edge."""
    track, _ = taught_track(with_racing_line(wavy_track(80, half_width=7.0), CARS["gt"])[0])
    race = CarRace(track, 2, spread=0.0)
    share, nodes = race.lines.share[1], 20
    k = int(np.argmax(np.abs(share - np.roll(share, nodes))))
    far = 14.0 * abs(share[k] - share[k - nodes])
    assert far > 4.0
    race.cars.place[:], race.cars.half[:], race.cars.blend[:] = (k - nodes, k), 7.0, 0.0
    race.cars.aside[:] = 14.0 * share[[k - nodes, k]] - 7.0
    assert beside_way(race.lines, race.cars, 0, 1, 40.0, 4.5) == pytest.approx(0.0, abs=1e-9)
    assert abs(beside_way(race.lines, race.cars, 0, 1, 4.0, 4.5)) == pytest.approx(far)


def test_a_car_is_held_by_all_who_are_in_its_way_not_by_the_nearest_alone(taught):
    race = CarRace(taught[0], 3, spread=0.0)
    place_at(race, [0.0, 14.0, 30.0])
    race.bodies.speed[:] = (20.0, 20.0, 0.0)
    watch_all_cars(race.track, race.lines, race.cars, race.types, race.bodies, 1.0 / 60.0)
    beyond = race.cars.limit[0]
    race.cars.done[2] = True
    watch_all_cars(race.track, race.lines, race.cars, race.types, race.bodies, 1.0 / 60.0)
    assert beyond < race.cars.limit[0] - 1.0 and math.isfinite(race.cars.limit[0])


def test_who_is_too_fast_for_a_side_line_slows_down_before_it_goes_there(taught):
    race = CarRace(taught[0], 1, spread=0.0)
    place_at(race, [0.0])
    race.cars.wish[0] = 1.0
    there = mixed(race.lines.speed, race.cars.place[0], 0.02)
    args = (race.track, race.lines, race.cars, 0)
    assert eased_blend(*args, there + 2.0, 14.0, 1.0 / 60.0) == 0.0
    assert 0.0 < eased_blend(*args, there - 2.0, 14.0, 1.0 / 60.0) < 0.02
    race.cars.blend[0], race.cars.wish[0] = 0.5, 0.0
    assert eased_blend(*args, there + 9.0, 14.0, 1.0 / 60.0) < 0.5


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("IMS", "Norisring"), marks=pytest.mark.slow),
        pytest.param(("IMS", "Norisring", "Silverstone", "Spa", "Suzuka"), marks=pytest.mark.soak),
    ],
)
def test_on_real_tracks_passes_are_twice_as_many_as_contacts_and_few_leave_the_track(names):
    """Seeds that were not looked at while this was built."""
    passes, contacts, off, driven = 0, 0, 0.0, 0.0
    for name in names:
        track, _ = with_racing_line(
            read_track(data_folder("racetracks") / f"{name}.csv"), CARS["gt"]
        )
        track, _ = taught_track(track)
        for seed in (51, 52, 53):
            done = CarRace(track, 10, seed=seed).run(2)
            assert np.isfinite(done.finish).all()
            passes, contacts = passes + done.passes.sum(), contacts + done.contacts.sum()
            off, driven = off + done.off.sum(), driven + done.finish.sum()
    assert passes >= 20 and passes >= 2 * contacts
    assert off < 0.006 * driven


def test_places_on_the_track_are_compared_over_the_line(taught):
    lap = float(taught[0].station[-1])
    assert ahead_by(taught[0], lap - 1.0, lap + 2.0) == pytest.approx(3.0)
    assert ahead_by(taught[0], 3.0 * lap + 5.0, 2.0) == pytest.approx(-3.0)


def three_cars(track, overtaking):
    """Two in the first row that are slower than the one behind them; 90 s."""
    race = CarRace(track, 3, paces=[0.75, 0.72, 0.9], overtaking=overtaking)
    modes = []
    while race.time < 90.0:
        race.step(100)
        modes.append(race.cars.target.copy())
    return race, np.array(modes)


def test_a_faster_car_passes_within_half_a_minute_and_goes_back_to_its_line():
    track, _ = taught_track(with_racing_line(wavy_track(80, half_width=5.0), CARS["gt"])[0])
    race, targets = three_cars(track, True)
    assert race.ranking()[0] == 2 and race.cars.passes[2] >= 1
    assert race.cars.passes[:2].sum() == 0
    began = int(np.argmax(targets[:, 2] >= 0))
    over = began + int(np.argmax(targets[began:, 2] < 0))
    assert 0 < (over - began) / 60.0 < 30.0 and (targets[over:, 2] < 0).mean() > 0.5
    assert race.cars.blend[2] == 0.0 and race.cars.lost.sum() == 0
    still, targets = three_cars(track, False)
    assert still.ranking()[0] != 2 and (targets < 0).all()


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
    assert race.types.grip[0] == pytest.approx(0.5 * race.cars.grip[0], rel=1e-3)
    race.bodies.x[0] += 500.0
    race.step(1)
    race.step(1)
    assert not race.cars.on[0] and race.types.grip[0] == pytest.approx(
        0.6 * race.cars.grip[0], rel=1e-3
    )


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
        ({"models": "fast"}, "model 'fast'; wanted one of preview, aware"),
        ({"models": ["aware"]}, "1 models for 10 cars"),
        ({"difficulty": 1.5}, "difficulty 1.5; wanted 0.1 to 1"),
        ({"spread": 1.0}, "spread 1.0"),
        ({"paces": [1.0]}, "1 paces for 10 cars"),
        ({"personalities": "wild"}, "personality 'wild'; wanted one of even"),
        ({"rubber": 0.9}, "rubber 0.9; wanted 0 to 0.5"),
        ({"car": Car(grip=0.0)}, "car: grip of 0.0; wanted 0.1 to 1000"),
    ],
)
def test_what_cannot_race_is_refused_in_a_line(taught, given, text):
    with pytest.raises(ParameterError, match=text):
        CarRace(taught[0], **given)
    with pytest.raises(ParameterError, match="has no speeds at its line"):
        CarRace(wavy_track(), 1)


def test_a_rubber_band_holds_who_leads_and_nobody_else():
    track, _ = taught_track(wavy_track(80))
    gaps = []
    for rubber in (0.0, 0.4):
        done = CarRace(track, 2, paces=[1.0, 0.8], rubber=rubber).run(3)
        gaps.append(float(done.finish[1] - done.finish[0]))
    assert 0.0 < gaps[1] < 0.7 * gaps[0]


def test_personalities_differ_in_how_they_follow_and_pass():
    race = CarRace(wavy_track(80)._replace(line_speed=np.full(80, 20.0)), 3,
                   personalities=["bold", "calm", "moody"])  # fmt: skip
    assert race.cars.headway[0] < race.cars.headway[1]
    assert race.cars.nerve[0] < race.cars.nerve[1]
    assert race.cars.mood[2] > race.cars.mood[1] > 0.0


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=pytest.mark.slow if name in ("IMS", "Norisring") else pytest.mark.soak
        )
        for name in TRACKS
    ],
)
def test_on_a_real_track_ten_cars_finish_and_none_is_lost(name):
    track, _ = with_racing_line(read_track(data_folder("racetracks") / f"{name}.csv"), CARS["gt"])
    done = CarRace(taught_track(track)[0], 10, seed=1).run(2)
    assert np.isfinite(done.finish).all() and done.lost.sum() == 0
