"""Environments for reinforcement learning keep the rules of gymnasium and PettingZoo."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from example_runs import printed_by
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test

import rushhour as rh
from rushhour import rl
from rushhour.kernels.measuring.lane_loads import LaneLoads, read_loads
from rushhour.roadnets.errors import ParameterError
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.learning.junctions import REWARDS, SEEN

ROOT = Path(__file__).resolve().parents[1]
GRID = rh.generate("grid", rows=2, columns=2)
TRIPS = rh.random_trips(GRID, 120, "1min", seed=1)


def one(**more: object) -> rl.SignalEnv:
    return rl.SignalEnv(GRID, TRIPS, seconds=60, **more)


def test_one_signal_is_an_environment_of_gymnasium() -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*infinity.*")
        check_env(one(observation=SEEN), skip_render_check=True)


def test_many_signals_are_an_environment_of_pettingzoo() -> None:
    parallel_api_test(rl.SignalsEnv(GRID, TRIPS, seconds=60, observation=SEEN), num_cycles=20)


def test_driving_is_an_environment_of_gymnasium() -> None:
    check_env(rl.DrivingEnv(GRID, TRIPS, seconds=2), skip_render_check=True)


@pytest.mark.parametrize("reward", REWARDS)
def test_an_episode_is_a_function_of_seed_and_actions(reward: str) -> None:
    episodes = []
    for seed in (3, 3, 4):
        env = one(reward=reward, observation=SEEN)
        rows = [env.reset(seed=seed)[0]]
        for k in range(12):
            seen, paid, ended, late, _ = env.step(k // 4 % 2)
            rows.append(np.append(seen, paid))
            assert env.observation_space.contains(seen)
        assert late and not ended
        episodes.append((b"".join(map(np.ndarray.tobytes, rows)), env.world.state_hash()))
    assert episodes[0] == episodes[1] != episodes[2]


def test_what_is_seen_and_paid_is_what_is_on_the_lanes() -> None:
    env = one(observation=("queue", "density"), reward="queue")
    env.reset(seed=1)
    for _ in range(8):
        seen, paid, *_, info = env.step(0)
    world, junction = env.world, env._core.junctions[0]
    table = world.vehicles
    for place, lane in enumerate(junction.lanes):
        here = table.lane == lane
        holds = max(1.0, float(world.network.arrays.lanes.length[lane]) / 7.5)
        stands = int((here & (table.speed < 0.1)).sum())
        assert seen[place] == pytest.approx(stands / holds)
        assert seen[junction.lanes.size + place] == pytest.approx(min(1.0, here.sum() / holds))
    queue = int((np.isin(table.lane, junction.lanes) & (table.speed < 0.1)).sum())
    assert queue > 0 and paid == -queue == -info["queue"] and info["waiting_s"] > 0.0


def test_lost_time_and_waiting_are_read_by_lane() -> None:
    world = rh.World(GRID, TRIPS, seed=1)
    world.step(200)
    n = GRID.n_lanes
    now = LaneLoads(*(np.full(n, 7, np.int64) for _ in range(4)))
    read_loads(GRID.arrays.lanes, world.sim.veh, now, world.frame)
    table = world.vehicles
    assert now.vehicles.sum() == len(table)
    lost = np.maximum(0.0, 1.0 - table.speed / GRID.arrays.lanes.speed[table.lane])
    assert now.lost.sum() == pytest.approx(lost.sum() * 1e6, abs=len(table))
    stood = np.where(
        (table.speed < 0.1) & (table.stands_since >= 0), world.frame - table.stands_since, 0
    )
    assert now.waiting.sum() == stood.sum() > 0


def test_a_green_lasts_its_least_time_and_changes_through_yellow() -> None:
    env = one(every=1.0, min_green=6.0, yellow=2.0, all_red=1.0)
    env.reset(seed=1)
    signals, number = env.world.signals, env._core.numbers[0]
    shown = []
    for k in range(40):
        env.step(k % 2)  # wants to change every second
        shown.append(signals.state(number))
    greens = {signals.phases(number)[p][0] for p in signals.greens(number)}
    runs = re.findall(r"g+", "".join("g" if state in greens else "-" for state in shown))
    assert all(len(run) >= 6 for run in runs[:-1]) and 3 <= len(runs) <= 5
    assert any("y" in state for state in shown)


def test_environments_stand_side_by_side() -> None:
    envs = rl.side_by_side(one, 3)
    alone = one()
    first = alone.reset(seed=6)[0]
    seen, _ = envs.reset(seed=[5, 6, 7])
    np.testing.assert_array_equal(seen[1], first)
    for k in range(3):
        seen, *_ = envs.step(np.array([0, k % 2, 1]))
        np.testing.assert_array_equal(seen[1], alone.step(k % 2)[0])


@pytest.mark.slow
def test_environments_stand_side_by_side_in_processes() -> None:
    envs = rl.side_by_side(one, 2, processes=True)
    try:
        seen, _ = envs.reset(seed=[5, 6])
        np.testing.assert_array_equal(seen[1], one().reset(seed=6)[0])
    finally:
        envs.close()


@pytest.mark.slow
def test_a_vehicle_that_follows_what_it_sees_comes_to_its_end() -> None:
    grid = rh.generate("grid", rows=2, columns=2, lanes=1)
    env = rl.DrivingEnv(grid, rh.random_trips(grid, 10, "10s", seed=1), 0)
    seen, _ = env.reset(seed=2)
    total, over = 0.0, False
    while not over:
        wheel = float(np.clip(6.0 * seen[5], -1.0, 1.0))
        wish = min(
            seen[1], 2.0 * seen[10], 2.0 * (seen[12] - 0.02) if seen[13] else 1.0, 0.1 + seen[10]
        )
        turns = 1.0 - 2.0 * min(0.4, abs(float(seen[7])) * 3.0)
        pedal = float(np.clip(8.0 * (wish * turns - seen[0]), -1.0, 1.0))
        seen, paid, ended, late, info = env.step([pedal, wheel])
        assert env.observation_space.contains(seen)
        total, over = total + paid, ended or late
    assert info["arrived"] and not info["off_lane"] and total > 100.0


def test_who_turns_the_wheel_comes_off_its_lane() -> None:
    env = rl.DrivingEnv(GRID, TRIPS, 0)
    env.reset(seed=1)
    for _ in range(60):
        *_, ended, _, info = env.step([0.5, 0.3])
        if ended:
            break
    assert info["off_lane"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"observation": ("speed",)},
            ParameterError,
            "observation .*'speed'.*wanted some of queue",
        ),
        ({"observation": ()}, ParameterError, "observation none"),
        ({"reward": "fun"}, ParameterError, "reward 'fun': wanted one of queue"),
        ({"signal": "x"}, CommandError, "no signal 'x'"),
        ({"every": "soon"}, ParameterError, "every 'soon'"),
    ],
)
def test_options_that_cannot_be_meant_are_one_line(options, error, message: str) -> None:
    with pytest.raises(error, match=message):
        one(**options)


def printed(example: str, *words: str) -> list[float]:
    """Numbers of the first column that an example prints."""
    shown = printed_by(example, *words)
    return [float(re.search(r": ([\d.]+) cars", line)[1]) for line in shown.splitlines()]


@pytest.mark.slow
def test_a_signal_learns_to_keep_queues_shorter_than_its_plan_does() -> None:
    clock, learnt = printed("rl_signal.py")
    assert learnt < 0.75 * clock
    assert len((ROOT / "examples/rl_signal.py").read_text().splitlines()) <= 40


@pytest.mark.slow
def test_queues_fall_under_max_pressure_from_python() -> None:
    fixed, pressure = printed("max_pressure.py", "--minutes", "8")
    assert pressure < 0.85 * fixed
