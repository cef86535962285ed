"""Poses for an engine: rows that vehicles keep, and smooth ways between two frames."""

import tracemalloc

import numpy as np
import pytest

from rushhour.kernels.compiling.jit import config
from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.world import World


def busy(dt: float = 0.25) -> World:
    """A crossing on which vehicles depart, turn, change lanes and arrive."""
    network = generate("cross", lanes=2, length=90.0, control="yield")
    return World(network, random_trips(network, 30, 30.0, seed=3), dt=dt, seed=3)


def test_the_last_pose_is_that_of_the_table() -> None:
    world = busy()
    world.step(60)
    world.push_aside(int(world.vehicles.id[0]))
    world.step()
    poses, table = world.poses(), world.vehicles
    live = np.flatnonzero(poses.id >= 0)
    assert live.size == len(table) and world.aside == 1
    row = {int(poses.id[r]): r for r in live}
    pytest.importorskip("pandas")
    for told in world.table().itertuples():
        r = row[world.demand.ids.index(told.id)]
        back = 0.5 * told.length
        where = (told.x - back * np.cos(told.heading), told.y - back * np.sin(told.heading))
        np.testing.assert_allclose((poses.x[r], poses.y[r]), where, atol=1e-9)
        np.testing.assert_allclose(np.cos(poses.heading[r] - told.heading), 1.0, atol=1e-9)
        assert (poses.speed[r], poses.length[r], poses.width[r]) == (
            told.speed, told.length, told.width,
        )  # fmt: skip


def test_a_vehicle_keeps_its_row_and_nobody_jumps_between_two_pictures() -> None:
    world = busy()
    poses = world.poses()
    rows: dict[int, int] = {}
    before: dict[int, tuple[float, float, float]] = {}
    lanes, arrivals = set(), 0
    for _ in range(140):
        world.step()
        lanes |= set(world.vehicles.lane.tolist())
        gone = {}
        for alpha in (0.0, 0.25, 0.5, 0.75, 1.0):
            poses = world.poses(poses, alpha)
            now = {}
            for r in np.flatnonzero(poses.id >= 0):
                vehicle = int(poses.id[r])
                assert rows.setdefault(vehicle, int(r)) == r
                now[vehicle] = (poses.x[r], poses.y[r], poses.heading[r])
                if vehicle in before:
                    x, y, heading = before[vehicle]
                    way = np.hypot(now[vehicle][0] - x, now[vehicle][1] - y)
                    # Half a metre beside its way at most: it changes lane in some seconds.
                    assert way <= 0.25 * 14.0 * 1.2 * 0.25 + 0.5 * (alpha > 0.0)
                    turn = np.angle(np.exp(1j * (now[vehicle][2] - heading)))
                    assert abs(turn) < 0.3
                    if alpha == 0.0:
                        assert way < 1e-9, "a frame begins where the last one ended"
            gone = {k: v for k, v in before.items() if k not in now}
            before = now
            arrivals += len(gone)
    assert len(rows) == 30 and arrivals >= 10
    assert len(lanes) > 12, "they went through the intersection"
    assert max(rows.values()) < 29, "rows are used again"


def test_who_has_just_departed_comes_from_behind() -> None:
    world = busy(dt=0.5)
    poses = world.poses()
    seen: set[int] = set()
    moved = 0
    for _ in range(30):
        world.step()
        poses = world.poses(poses, 0.0)
        x, y = poses.x.copy(), poses.y.copy()
        poses = world.poses(poses, 1.0)
        for r in np.flatnonzero(poses.id >= 0):
            if int(poses.id[r]) not in seen and poses.speed[r] > 1.0:
                way = np.hypot(poses.x[r] - x[r], poses.y[r] - y[r])
                assert 0.2 * poses.speed[r] < way < 0.6 * poses.speed[r]
                moved += 1
            seen.add(int(poses.id[r]))
    assert moved > 5


def test_poses_leave_the_state_as_it_is_and_go_back_with_the_world() -> None:
    one, other = busy(), busy()
    one.step(30)
    other.step(30)
    snapshot = one.snapshot()
    poses = one.poses()
    one.step(10)
    other.step(10)
    poses = one.poses(poses, 0.3)
    assert one.state_hash() == other.state_hash()
    one.restore(snapshot)
    again, fresh = one.poses(), World(one.network, one.demand, dt=0.25, seed=3)
    fresh.restore(snapshot)
    want = fresh.poses()
    assert set(again.id.tolist()) == set(want.id.tolist())
    for vehicle in set(again.id.tolist()) - {-1}:
        r, q = np.flatnonzero(again.id == vehicle)[0], np.flatnonzero(want.id == vehicle)[0]
        assert (again.x[r], again.y[r]) == (want.x[q], want.y[q])


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="plain Python allocates everywhere")
def test_given_arrays_are_filled_without_allocating() -> None:
    world = busy()
    world.step(40)
    poses = world.poses()
    # Python keeps up to 2,000 freed tuples of a size for later, which tracemalloc takes as held.
    for _ in range(2500):
        world.poses(poses, 0.5)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for k in range(200):
            assert world.poses(poses, k / 200.0) is poses
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert poses.x.nbytes >= 8192
    assert now - before < 500 and peak - before < 3000


def test_a_share_beyond_the_frame_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"poses: alpha 1\.5: wanted 0 .* to 1"):
        busy().poses(alpha=1.5)


def test_a_world_that_outgrows_the_arrays_returns_larger_ones() -> None:
    network = generate("grid", rows=3, columns=3, lanes=2)
    world = World(network, random_trips(network, 40, 1.0, seed=1), dt=0.25, seed=1)
    small = world.poses()
    world.sim.grow()
    world.step(20)
    larger = world.poses(small)
    assert larger is not small and larger.id.size >= 2 * small.id.size
    assert (larger.id >= 0).sum() == len(world.vehicles)
    nobody = World(network, world.demand, dt=0.25).poses(larger)
    assert nobody is larger and not (larger.id >= 0).any()
