"""A library of others, sumo-rl, drives a world: unmodified, it imports traci and has ours."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushhour.compat

pytestmark = pytest.mark.slow


@pytest.fixture
def sumo_rl(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("SUMO_HOME", "/none")  # it wants one, and never looks into it
    rushhour.compat.install("traci")
    yield pytest.importorskip("sumo_rl", reason="sumo-rl is not installed")
    rushhour.compat.uninstall("traci")


@pytest.mark.parametrize(("name", "begin"), [("cologne1", 25200), ("ingolstadt1", 57600)])
def test_a_network_of_resco_is_led_for_two_episodes(sumo_rl: Any, name: str, begin: int) -> None:
    env_class = importlib.import_module("sumo_rl.environment.env").SumoEnvironment
    folder = Path(sumo_rl.__file__).parent / "nets" / "RESCO" / name
    env = env_class(
        net_file=str(folder / f"{name}.net.xml"), route_file=str(folder / f"{name}.rou.xml"),
        begin_time=begin, num_seconds=200, sumo_seed="random", sumo_warnings=False,
        additional_sumo_cmd="--scale 0.5 --waiting-time-memory 300",
    )  # fmt: skip
    draw = np.random.default_rng(1)
    for _ in range(2):
        env.reset()
        assert env.sim_step == begin
        rewards, done = [], {"__all__": False}
        while not done["__all__"]:
            chosen = {one: int(draw.integers(env.action_spaces(one).n)) for one in env.ts_ids}
            _, reward, done, _ = env.step(chosen)
            rewards += reward.values()
        assert env.sim_step >= begin + 195
        assert np.isfinite(rewards).all() and any(rewards)
    env.close()
