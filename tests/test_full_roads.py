"""Long queues: what a grant may count on, and who gets on where two of the same rank join."""

import numpy as np
import pytest
from network_drafts import chain, line
from planted_world import PlantedWorld

from rushhour.kernels.core.network import NONE, YIELD
from rushhour.kernels.junctions.queue_ends import CLOSES_UP, queue_end
from rushhour.kernels.trips.start_places import is_jammed
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
)
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.world import World

CAR = VehicleType()
GAP = 2.0  # m kept in a queue


@pytest.mark.parametrize("length", [90.0, 800.0])
def test_room_in_a_queue_is_what_its_end_closes_up(length):
    """0.6 m of slack behind each car is room at once in a short queue; a long one keeps creeping."""
    network = finish(chain(line(0.0, 20.0), line(21.0, 21.0 + length)))
    spacing = CAR.length + GAP + 0.6
    count = int(length / spacing)
    world = PlantedWorld(network, capacity=128)
    for place in range(count):
        world.put("r1_0", length - place * spacing, 0.5)
    lane = network.lane_index["r1_0"]
    _, closed, vacant, held = queue_end(network.arrays, world.sim.veh, world.order(), lane, GAP)
    assert not vacant
    assert not held
    near = min(count, int(np.ceil(CLOSES_UP / spacing)))
    rest = length - (count - 1) * spacing - CAR.length - GAP  # behind the last car
    assert closed == pytest.approx(rest + 0.6 * near, abs=0.7)


def joining(control):
    """Two roads of the same rank that become one, at 15 degrees."""
    draft = Draft("joining", "test")
    y = 400.0 * np.tan(np.radians(15.0))
    for name, at, what in (
        ("a", (-400.0, 0.0), NONE), ("b", (-400.0, -y), NONE), ("m", (0.0, 0.0), control),
        ("e", (800.0, 0.0), NONE),
    ):  # fmt: skip
        draft.intersections.append(DraftIntersection(name, *at, what))
    for name, ends, shape in (
        ("A", "am", ((-400.0, 0.0), (-12.0, 0.0))),
        ("B", "bm", ((-400.0, -y), (-12.0, -0.03 * y))),
        ("E", "me", ((6.0, 0.0), (800.0, 0.0))),
    ):
        draft.roads.append(DraftRoad(name, *ends, [DraftLane(f"{name}_0", np.array(shape), 13.9)]))
    draft.connectors += [DraftConnector(name, 0, "E", 0) for name in "AB"]
    return finish(draft)


@pytest.mark.parametrize("control", [NONE, YIELD])
def test_two_streams_of_the_same_rank_take_turns(control):
    """Both have more than fits: each gets half, nobody waits long at the line, little is lost."""
    network = joining(control)
    rng = np.random.default_rng(1)
    builder = DemandBuilder()
    trips = [(t, name) for name in "AB" for t in np.cumsum(rng.exponential(2.0, 480))]
    for number, (t, name) in enumerate(sorted(trips)):
        way = [network.road_index[name], network.road_index["E"]]
        builder.add(Trip(f"trip{number}", float(t), CAR, way))
    world = World(network, builder.build(), dt=0.25, seed=1)
    lines = [network.lane_index[f"{name}_0"] for name in "AB"]
    world.step(1200)
    crossed, longest, since = [0, 0], [0.0, 0.0], [world.time, world.time]
    before: dict[int, int] = {}
    for _ in range(2400):
        world.step()
        veh = world.sim.veh
        live = np.flatnonzero(np.isin(veh.lane, lines))
        now = dict(zip(veh.id[live].tolist(), veh.lane[live].tolist(), strict=True))
        for name, lane in before.items():
            if name not in now:
                side = lines.index(lane)
                longest[side] = max(longest[side], world.time - since[side])
                crossed[side], since[side] = crossed[side] + 1, world.time
        before = now
    assert max(longest) <= 30.0
    assert sum(crossed) * 6 >= 1600  # vehicles an hour
    assert min(crossed) >= 0.45 * sum(crossed)


@pytest.mark.parametrize(("length", "most"), [(12.0, 1), (31.0, 2), (59.0, 4), (90.0, 7)])
def test_trips_begin_on_a_lane_up_to_six_tenths_of_a_queue_and_one_on_any(length, most):
    """On streets of 20 - 60 m they took every place that came free, and those who had stood before the
    lane for 20 minutes got none."""
    network = finish(chain(line(0.0, 20.0), line(21.0, 21.0 + length)))
    world = PlantedWorld(network)
    for n in range(most + 1):
        order = world.order()
        assert is_jammed(network.arrays, order, network.lane_index["r1_0"]) == (n == most)
        assert not is_jammed(network.arrays, order, network.lane_index["r0_0"])
        world.put("r1_0", length - 0.5 - 7.5 * n)
