"""A grant ends with its light, also on roads so short that they join two lines."""

import numpy as np
import pytest
from checked_runs import checked
from network_drafts import chain, line
from planted_world import PlantedWorld

from rushhour.kernels.core.network import GREEN, RED, SIGNAL, YELLOW
from rushhour.kernels.junctions.kept_grants import keeps_grant
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import DraftSignal
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.sim import state
from rushhour.traffic.world import World

pytestmark = pytest.mark.small_world
CAR = VehicleType(speed_dev=0.0)
TRUCK = VehicleType(
    "truck", "truck", length=12.0, width=2.5, accel=1.0, decel=3.5, emergency_decel=6.0
)


def light_behind_a_joint(between: float):
    """A long road, a joint onto one `between` m long, and a light at its end."""
    draft = chain(line(0, 150), line(152, 152 + between), line(160 + between, 400))
    draft.signals.append(DraftSignal("t", [(20.0, "G"), (3.0, "y"), (37.0, "r")]))
    draft.connectors[1].signal, draft.connectors[1].link = "t", 0
    draft.intersections[2].control = SIGNAL
    return finish(draft)


@pytest.mark.parametrize("between", [10.0, 14.0, 18.5])
@pytest.mark.parametrize(("speed", "stops"), [(3.0, True), (9.0, False)])
def test_who_can_still_stop_before_a_red_light_on_a_short_road_loses_its_grant(
    between, speed, stops
):
    """Slowed down by others after it was granted its way at green. A joint leads to that road."""
    network = light_behind_a_joint(between)
    net = network.arrays
    k = next(k for k in range(2) if net.connectors.signal[k] >= 0)
    world = PlantedWorld(network)
    comes = world.put("r1_0", between - 7.0, speed, [k])
    veh = world.sim.veh
    veh.granted[comes] = 1
    order, grants, rules = world.order(), state.new_grants(net), world.sim.rules
    d = 7.0
    for light in (YELLOW, RED):
        grants.light[k] = light
        keeps = keeps_grant(net, veh, world.sim.types, order, grants, rules, comes, 0, d, 0, 0.25)
        assert keeps != stops
    grants.light[k] = GREEN
    assert keeps_grant(net, veh, world.sim.types, order, grants, rules, comes, 0, d, 0, 0.25)


@pytest.mark.parametrize(
    ("speed", "d", "goes"),
    [
        (0.4, 0.04, False),
        (0.97, 0.06, False),  # 7.8 m/s^2: less than an emergency
        (0.97, 0.05, True),
        (1.9, 0.19, True),
        (1.9, 0.21, False),
        (2.1, 0.21, True),  # who drives brakes comfortably, from the next frame on
    ],
)
def test_who_creeps_as_it_turns_red_stops_where_it_can_at_all(speed, d, goes):
    """It has set off at the end of yellow, to turn across: it went over the line at red."""
    network = light_behind_a_joint(14.0)
    net = network.arrays
    k = next(k for k in range(2) if net.connectors.signal[k] >= 0)
    world = PlantedWorld(network)
    i = world.put("r1_0", 14.0 - d, speed, [k])
    veh, types = world.sim.veh, world.sim.types
    veh.granted[i] = 1
    assert types.emergency[veh.type[i]] == 9.0
    grants = state.new_grants(net)
    grants.light[k] = RED
    assert goes == keeps_grant(
        net, veh, types, world.order(), grants, world.sim.rules, i, 0, d, 0, 0.25
    )


def two_lights(between: float, offset: float, second: float):
    """Two lights `between` m apart, with programs of other lengths."""
    draft = chain(line(0, 150), line(156, 156 + between), line(162 + between, 400))
    for k, (name, cycle) in enumerate((("first", 60.0), ("second", second))):
        phases = [(0.45 * cycle, "G"), (3.0, "y"), (0.55 * cycle - 3.0, "r")]
        draft.signals.append(DraftSignal(name, phases, offset if k else 0.0))
        draft.connectors[k].signal, draft.connectors[k].link = name, 0
        draft.intersections[k + 1].control = SIGNAL
    return finish(draft)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("between", [8.5, 13.0, 18.5])
def test_two_lights_with_programs_of_their_own_are_kept_by_all_and_passed_by_all(between, seed):
    draw = np.random.default_rng(seed)
    network = two_lights(between, float(draw.uniform(0.0, 60.0)), float(draw.choice([40.0, 50.0])))
    builder = DemandBuilder()
    at = 0.0
    for n in range(40):
        at += 1.0 + float(draw.exponential(2.0))
        builder.add(Trip(f"v{n}", at, TRUCK if draw.random() < 0.2 else CAR, (0, 1, 2)))
    world = World(network, builder.build(), dt=0.25, seed=seed, begin=0.0)
    checker = checked(world)
    while not world.done and world.time < 2000.0:
        world.step()
    assert world.done, "somebody stands for ever between two lights"
    assert checker.violations == {}
