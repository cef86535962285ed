"""Stops of a trip: on the way, and in bays that end behind them."""

import numpy as np
import pytest
from checked_runs import driven
from network_drafts import chain, line

from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import DraftLane
from rushhour.traffic.demand.builder import Stop, Trip
from rushhour.traffic.demand.model import VehicleType

BUS = VehicleType(name="bus", vehicle_class="bus", length=12.0, width=2.5)


def road_with_bay(length: float):
    """Three roads in a row; beside the middle one a bay that begins and ends with it."""
    draft = chain(line(0, 200), line(210, 210 + length), line(220 + length, 400))
    kerb, middle = draft.roads[1].lanes[0].shape - [0.0, 3.2], draft.roads[1].lanes[0]
    draft.roads[1].lanes = [DraftLane("bay", kerb, 13.9), DraftLane("r1_1", middle.shape, 13.9)]
    draft.connectors[0].to_lane = draft.connectors[1].from_lane = 1
    return finish(draft)


@pytest.mark.parametrize("dt", [0.1, 0.25, 0.5])
@pytest.mark.parametrize("length", [29.0, 60.0])
def test_buses_serve_a_bay_that_ends_and_go_on(length, dt):
    network = road_with_bay(length)
    stop = Stop(lane=network.lane_index["bay"], pos=length - 0.5, duration=20.0)
    trips = [
        Trip(f"bus{i}", 15.0 * i, BUS, tuple(range(network.n_roads)), stops=(stop,))
        for i in range(3)
    ]
    world, checker = driven(network, trips, dt)
    assert world.done
    assert (world.counts()["stops_made"], world.counts()["stops_missed"]) == (3, 0)
    assert np.all(world.trips.arrived - world.trips.departed > 20.0)
    assert checker.violations == {}
