"""Lanes that do not lead on: braked for in time, left sideways, however short and fast."""

import pytest
from checked_runs import driven
from network_drafts import chain, line

from rushhour.roadnets.build import finish
from rushhour.roadnets.draft import DraftLane
from rushhour.traffic.demand import VehicleType
from rushhour.traffic.demand_builder import Trip


def dead_end_beside_the_way_on(length: float, speed: float):
    """Three roads in a row; on the middle one only the lane beside the entered one leads on."""
    draft = chain(line(0, 400), line(410, 410 + length), line(420 + length, 700), speed=speed)
    middle = draft.roads[1].lanes[0].shape
    draft.roads[1].lanes = [
        DraftLane("on", middle - [0.0, 3.2], speed),
        DraftLane("end", middle, speed),
    ]
    draft.connectors[0].to_lane, draft.connectors[1].from_lane = 1, 0
    return finish(draft)


@pytest.mark.parametrize("model", ["idm", "krauss"])
@pytest.mark.parametrize("dt", [0.1, 0.25, 0.5])
@pytest.mark.parametrize("length", [5.2, 8.0, 20.0, 80.0])
def test_a_lane_that_ends_is_left_without_being_overrun(length, dt, model):
    network = dead_end_beside_the_way_on(length, speed=30.0)
    kind = VehicleType(model=model)
    trips = [Trip(f"v{i}", 4.0 * i, kind, tuple(range(3))) for i in range(6)]
    world, checker = driven(network, trips, dt)
    assert world.done
    assert (world.counts()["overruns"], world.counts()["lane_changes"]) == (0, 6)
    assert checker.violations == {}
