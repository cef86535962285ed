"""World.run, World.record, World.reset: the loop around the frames, from Python."""

import gc
import tracemalloc

import pytest

import rushhour as rh
from rushhour.roadnets.errors import ParameterError, RunError
from rushhour.traffic.world import World

TRIPS = 40


@pytest.fixture(scope="module")
def town():
    return rh.generate("town", size="small", seed=1)


@pytest.fixture
def world(town):
    return World(town, rh.random_trips(town, TRIPS, "1min", seed=2), dt=0.25, seed=3)


def test_run_steps_for_the_time_that_is_given(world):
    begin = world.time
    taken = world.run("10s")
    assert (world.frame, taken.frames) == (40, 40)
    world.run(2.5)
    assert world.time == begin + 12.5
    world.run(0)
    assert world.frame == 50


def test_run_without_a_time_ends_when_everybody_has_arrived(world):
    world.run()
    assert world.arrived == TRIPS
    assert world.active == 0
    ended = world.frame
    world.run()
    assert world.frame == ended


def test_until_ends_a_run_before_its_time(world):
    world.run("1h", until=lambda world: world.arrived >= 3)
    assert world.arrived >= 3
    assert world.time < 3600.0
    last = world.trips.arrived.max()
    assert world.frame == round((last - world.begin) / world.dt)  # not a frame later


def test_a_call_comes_after_every_so_much_time(world):
    world.step(3)
    seen = []
    world.run("10s", every="2.5s", call=lambda world: seen.append(world.frame))
    assert seen == [13, 23, 33, 43]
    assert world.observers == []
    world.run(1, call=lambda world: seen.append(world.frame))
    assert seen[4:] == [44, 45, 46, 47]


def test_what_a_call_commands_is_the_same_as_between_steps(town, world):
    def close(world):
        if not world.closures()["roads"]:
            world.close_roads(town.road_ids[3])

    world.run("40s", every="10s", call=close)
    other = World(town, rh.random_trips(town, TRIPS, "1min", seed=2), dt=0.25, seed=3)
    other.step(40)
    other.close_roads(town.road_ids[3])
    other.step(120)
    assert world.state_hash() == other.state_hash()


def test_a_call_that_raises_leaves_no_observer(world):
    def broken(world):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        world.run("10s", every="1s", call=broken)
    assert world.observers == []
    assert world.frame == 4


def test_run_records(world, tmp_path):
    world.run("10s", record=tmp_path / "run.h5")
    world.run("5s")
    with rh.open_run(tmp_path / "run.h5") as run:
        assert run.complete
        assert len(run.frames) == 11
        assert run.times[-1] == world.begin + 10.0


def test_recording_a_block_of_steps(world, tmp_path):
    with world.record(tmp_path / "run.h5", every="0.5s", mode="frames"):
        world.step(8)
    world.step(8)
    with rh.open_run(tmp_path / "run.h5") as run:
        assert (run.times - world.begin).tolist() == pytest.approx([0.0, 0.5, 1.0, 1.5, 2.0])
    assert world.observers == []


def test_reset_is_a_world_made_anew(town, world):
    before = world.state_hash()
    world.step(100)
    straight = world.state_hash()
    world.close_roads(town.road_ids[3])
    world.step(50)
    world.reset()
    assert (world.frame, world.arrived, world.counts()["lane_changes"]) == (0, 0, 0)
    assert world.state_hash() == before
    world.step(100)
    assert world.state_hash() == straight
    world.reset(seed=4)
    world.step(100)
    other = World(town, rh.random_trips(town, TRIPS, "1min", seed=2), dt=0.25, seed=4)
    other.step(100)
    assert world.state_hash() == other.state_hash() != straight


def test_reset_within_a_recording_ends_it(world, tmp_path):
    with world.record(tmp_path / "run.h5"):
        world.step(8)
        world.reset()
        world.step(400)
    with rh.open_run(tmp_path / "run.h5") as run:
        assert len(run.frames) == 3


def test_memory_stays_flat_over_resets(world):
    def rounds(n):
        for seed in range(n):
            world.reset(seed)
            world.step(2)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        first = rounds(4)
        assert rounds(8) - first < 500_000  # kept worlds would be 700,000 bytes each
    finally:
        tracemalloc.stop()


def test_a_run_that_would_never_end_is_refused(town):
    world = World(town, rh.vehicles_on_road(town, 20, seed=1), dt=0.25)
    with pytest.raises(RunError, match="random walkers never arrive; give a duration"):
        world.run()
    world.run(until=lambda world: world.frame >= 4)
    assert world.frame == 4


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"duration": "soon"}, ParameterError, "run: duration 'soon'"),
        ({"duration": -1}, ParameterError, "run: duration -1"),
        ({"every": "1s"}, RunError, "every without call"),
        ({"every": "often", "call": print}, ParameterError, "run: every 'often'"),
        ({"duration": 1, "record": "no/such/folder/run.h5"}, RunError, "cannot be written"),
    ],
)
def test_what_run_cannot_do_is_said_in_a_line(world, given, error, said):
    with pytest.raises(error, match=said):
        world.run(**given)
    assert world.frame == 0
    assert world.observers == []
