"""Functions of the user's own drive vehicles, and stay compiled."""

import random
from math import nan
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numba import config
from own_functions import CRAWL, OWN, crawl, stay_if_polite, world_of, written_out
from several_threads import printed_by_threads

import rushhour as rh
from rushhour.cli import main
from rushhour.kernels.compiling.compile_locks import announcing_compiles
from rushhour.kernels.compiling.rebuilding import rebuilt
from rushhour.kernels.driving.acceleration import drive_all
from rushhour.kernels.lanes.lane_choice import choose_lanes_all
from rushhour.traffic.recording.verifying import verify
from rushhour.traffic.settings.own_models import _Announcing, own_models

EIGHT = "v, v0, gap, v_lead, accel, decel, min_gap, time_gap"


def test_without_functions_a_world_calls_the_kernels_themselves() -> None:
    models = world_of().models
    assert models.drive_all is drive_all and models.choose_lanes_all is choose_lanes_all
    assert rebuilt(drive_all, {written_out: crawl}, "x") is drive_all
    assert models.told() == {}


@pytest.mark.tiny_world
def test_our_models_written_out_by_a_user_give_our_bits() -> None:
    worlds = world_of(), world_of(**OWN)
    for world in worlds:
        world.bodies.set([1], *world.network.points[0])
        world.step(40)
    assert worlds[0].state_hash() == worlds[1].state_hash()
    assert worlds[0].counts()["lane_changes"] > 0


@pytest.mark.tiny_world
def test_each_type_follows_by_its_own_function() -> None:
    world = world_of(50, **OWN)
    world.step(60)
    speed, crawls = world.vehicles.speed, world.vehicles.id < 50
    assert speed[crawls].max() < CRAWL + 1e-6 and speed[~crawls].max() > 2.0 * CRAWL


def test_who_joins_later_follows_by_the_function_of_its_type() -> None:
    world = world_of(**OWN)
    world.step(2)
    road = world.network.road_ids[0]
    world.add_vehicles([{"route": road, "type": "crawler"}])
    world.run("3min", until=lambda world: 200 in world.vehicles.id, progress=False)
    world.step(4)
    joined = world.vehicles.id == 200
    assert joined.any() and world.vehicles.speed[joined] < CRAWL + 1e-6


def test_a_rule_of_ones_own_says_who_changes_lane() -> None:
    changes = {}
    for polite in (False, True):
        world = world_of(
            polite=polite, lane_change=OWN["lane_change"], car_following=OWN["car_following"]
        )
        world.step(60)
        changes[polite] = world.counts()["lane_changes"]
    ours = world_of(polite=True)
    ours.step(60)
    assert changes[True] < min(changes[False], ours.counts()["lane_changes"])


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_second_world_of_the_same_functions_compiles_nothing() -> None:
    world_of(**OWN).step(2)
    compiled: list[str] = []
    with announcing_compiles(compiled.append):
        other = world_of(**{**OWN, "car_following": dict(OWN["car_following"])})
        other.step(3)
        other.reset(2)
        other.step(3)
    assert not [name for name in compiled if name not in ("written_out", "crawl", "stay_if_polite")]


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_person_is_told_once_why_the_first_frame_takes_so_long(
    capsys: pytest.CaptureFixture[str],
) -> None:
    listener = _Announcing("own1234", "car_following keep_off")
    for name in ("drive_all__flat", "drive_all__own1234", "heed_all__own1234"):
        compiled = SimpleNamespace(py_func=SimpleNamespace(__name__=name))
        listener.on_start(SimpleNamespace(data={"dispatcher": compiled}))
    told = capsys.readouterr().err.splitlines()
    assert told == [
        "compiling car_following keep_off into the frame (this text for the first time, 10 to 40 s)"
    ]


@pytest.mark.soak  # three processes, each with kernels of its own
def test_threads_change_nothing_for_functions_of_ones_own() -> None:
    assert len(set(printed_by_threads("own_functions.py", "120"))) == 1


def recorded(path: Path) -> rh.World:
    world = world_of(12, **OWN)
    with world.record(path, keyframe_every=5.0):
        world.step(40)
    return world


@pytest.mark.tiny_world
@pytest.mark.soak  # compiled; as plain Python CI runs it
def test_a_run_says_by_what_it_was_made_and_goes_on_with_the_same_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.h5"
    world = recorded(path)
    with rh.open_run(path, **OWN) as run:
        assert run.meta["car_following"].startswith("car: written_out ")
        assert run.meta["lane_change"].startswith("stay_if_polite ")
        assert verify(run).same
    assert rh.World.resume(path, **OWN).state_hash() == world.state_hash()
    other = rh.World.resume(path, at=5.0, parameters={"lane_change.politeness": 0.9}, **OWN)
    assert other.models is world.models
    for given in ({}, {**OWN, "lane_change": None}, {**OWN, "car_following": written_out}):
        with pytest.raises(rh.RushhourError, match=r"run.h5: was made by \w+ .*give the same"):
            rh.World.resume(path, **given)
    assert main(["replay", str(path), "--verify"]) == 2
    assert "give the same function" in capsys.readouterr().err
    world = world_of()
    with world.record(path):
        world.step(2)
    with pytest.raises(rh.RushhourError, match="was made without car_following"):
        rh.World.resume(path, car_following=OWN["car_following"])


TABLE = {"a": 1.0}


def too_few(v, v0):
    return 0.0


def is_nan(v, v0, gap, v_lead, accel, decel, min_gap, time_gap):
    return nan if v > 30.0 else 0.0


def draws(v, v0, gap, v_lead, accel, decel, min_gap, time_gap):
    return random.random()


def draws_by_numpy(v, v0, gap, v_lead, accel, decel, min_gap, time_gap):
    return np.random.rand()


def looks_up(v, v0, gap, v_lead, accel, decel, min_gap, time_gap):
    return TABLE["a"]


def says_text(v, v0, gap, v_lead, accel, decel, min_gap, time_gap):
    return "brake"


def says_number(side, v, v0, gap, v_lead, gap_there, v_lead_there, own, others, threshold, polite):
    return own


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"car_following": 3}, "car_following: wanted a function of numbers, .* not int"),
        ({"car_following": too_few}, f"too_few: wanted 8 arguments: {EIGHT}$"),
        ({"car_following": is_nan}, r"is_nan\(40.0, .* is nan: wanted m/s\^2"),
        ({"car_following": draws}, "draws: draws random numbers|draws from random"),
        ({"car_following": draws_by_numpy}, r"draws from numpy.random"),
        ({"car_following": looks_up}, "looks_up: uses TABLE, a dict"),
        ({"car_following": says_text}, r"says_text\(.*wanted"),
        ({"lane_change": says_number}, r"says_number\(.*wanted True or False"),
    ],
)
def test_a_function_that_cannot_drive_is_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(rh.RushhourError, match=message) as caught:
        world_of(**given)
    assert "\n" not in str(caught.value)


def test_a_function_for_a_type_that_there_is_not_is_one_line() -> None:
    with pytest.raises(
        rh.RushhourError, match=r"no vehicle type is called 'truck'.* has car, crawler"
    ):
        world_of(car_following={"truck": crawl})


def test_the_hash_of_a_source_tells_functions_and_their_values_apart() -> None:
    def by(value: float) -> Any:
        def brake(v, v0, gap, v_lead, accel, decel, min_gap, time_gap):
            return -value

        return own_models(brake, None).told()["car_following"]

    assert by(1.0) == by(1.0) != by(2.0)
    same = own_models(None, stay_if_polite)
    assert same is own_models(None, stay_if_polite)
