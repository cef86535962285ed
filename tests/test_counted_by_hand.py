"""Measures against counting in Python from the vehicles of every frame."""

import numpy as np
import pytest
from measured_worlds import all_loops, busy, one_lane, two_lanes

from rushhour.traffic.measures.measuring import Measures


@pytest.mark.small_world
def test_loops_and_roads_agree_with_counting_from_every_frame() -> None:
    grid = one_lane()
    world = busy(grid)
    pos = 0.6 * grid.arrays.lanes.length
    measures = Measures(world, 1000.0, loops=all_loops(grid, 0.6))
    world.observers.append(measures)
    passed = np.zeros(grid.n_road_lanes, int)
    entered, spent = np.zeros(grid.n_roads, int), np.zeros(grid.n_roads)
    covered = np.zeros(grid.n_road_lanes)
    before: dict[int, tuple[int, float]] = {}
    changed = 0
    beside: set[int] = set()  # came from the lane beside when already over the loop: not noticed
    for _ in range(1200):
        world.step()
        table = world.vehicles
        now = {}
        for name, lane, s, length in zip(table.id, table.lane, table.s, table.length, strict=True):
            now[name] = (int(lane), float(s))
            road = grid.arrays.lanes.road[lane]
            old, old_s = before.get(name, (-1, 0.0))
            if old >= 0 and old != lane and grid.arrays.lanes.road[old] == road >= 0:
                old_s *= grid.arrays.lanes.length[lane] / grid.arrays.lanes.length[old]
                old, changed = int(lane), changed + 1
                beside.discard(name)
                if old_s >= pos[lane]:
                    beside.add(name)
            elif old != lane:
                beside.discard(name)
            if road >= 0:
                spent[road] += world.dt
                if old != lane:
                    entered[road] += 1
                if name not in beside:
                    covered[lane] += world.dt * (s - length < pos[lane] <= s)
            if old == lane and road >= 0:
                passed[lane] += old_s < pos[lane] <= s
            elif old >= 0 and road >= 0:
                passed[lane] += s >= pos[lane]
            elif 0 <= old < grid.n_road_lanes:
                passed[old] += old_s < pos[old]
        before = now
    measures.finish()
    loops, roads = measures.loops, measures.roads
    np.testing.assert_array_equal(loops.count, passed)
    assert passed.sum() > 300 and changed > 20
    np.testing.assert_allclose(  # a frame says only whether it is covered at its end
        1200 * world.dt * loops.occupancy, covered, atol=world.dt * 12.0
    )
    assert abs(300.0 * loops.occupancy.sum() - covered.sum()) < 0.02 * covered.sum()
    row = [grid.road_index[name] for name in roads.road]
    np.testing.assert_array_equal(roads.entered, entered[row])
    np.testing.assert_allclose(roads.vehicle_seconds, spent[row], atol=2 * world.dt * entered.max())
    assert abs(roads.vehicle_seconds.sum() - spent.sum()) < 0.01 * spent.sum()


def queue_by_hand(rows: list[tuple[float, float, float]], length: float) -> tuple[float, int]:
    """Metres and vehicles of a queue from (s, length, speed) of the vehicles on a lane."""
    end, metres, slow = length, 0.0, 0
    for s, body, speed in sorted(rows, reverse=True):
        if end - s > 20.0:
            break
        end = s - body
        if speed < 5.0 / 3.6:
            metres, slow = length - max(end, 0.0), slow + 1
    return metres, slow


@pytest.mark.small_world
def test_queues_agree_with_counting_from_every_second() -> None:
    network = two_lanes()
    world = busy(network, walkers=250)
    ends = network.arrays.lanes.intersection[: network.n_road_lanes]
    wanted = network.intersection_ids[np.bincount(ends[ends >= 0]).argmax()]
    measures = Measures(world, 60.0, queues=[wanted])
    world.observers.append(measures)
    lanes = [network.lane_index[name] for name in measures.detectors["queues"]["name"]]
    assert len(lanes) == 12
    looks = []
    for _ in range(60):
        world.step(4)
        table = world.vehicles
        rows = [
            list(zip(*(column[table.lane == lane] for column in
                       (table.s, table.length, table.speed)), strict=True))
            for lane in lanes
        ]  # fmt: skip
        length = network.arrays.lanes.length
        looks.append([queue_by_hand(r, length[k]) for r, k in zip(rows, lanes, strict=True)])
    seen, queues = np.array(looks), measures.queues
    np.testing.assert_allclose(queues.mean_length, seen[:, :, 0].mean(axis=0))
    np.testing.assert_allclose(queues.most_length, seen[:, :, 0].max(axis=0))
    np.testing.assert_allclose(queues.mean_vehicles, seen[:, :, 1].mean(axis=0))
    np.testing.assert_array_equal(queues.most_vehicles, seen[:, :, 1].max(axis=0))
    assert queues.most_length.max() > 10.0
    assert set(queues.intersection) == {wanted}
