"""When lights close: the clock that grants over several lines look at."""

import numpy as np
import pytest
from checked_runs import driven
from network_drafts import crossing

from rushhour.kernels.core.network import RED, SIGNAL, YELLOW
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import DraftSignal
from rushhour.traffic.demand.builder import Trip
from rushhour.traffic.demand.model import POS_GIVEN, VehicleType
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.world import World

pytestmark = pytest.mark.small_world


def lights(phases, offset: float):
    """A crossing whose connectors follow the letters of one program, one after the other."""
    draft = crossing(SIGNAL)
    draft.signals.append(DraftSignal("t", phases, offset))
    for link, connector in enumerate(draft.connectors):
        connector.signal, connector.link = "t", link
    return finish(draft)


PROGRAMS = {
    "two phases": [(12.0, "GGGrrrGGGrrr"), (3.0, "yyyrrryyyrrr"), (9.0, "rrrGGGrrrGGG")],
    "green over phases": [(5.0, "GrGrgrGrGrgO"), (7.5, "GGGrgrGrGrgO"), (4.0, "rGyrgrGsrrgO")],
    "one phase": [(10.0, "GGGGGGrrryyO")],
}


@pytest.mark.parametrize("offset", [0.0, 3.25, -7.0])
@pytest.mark.parametrize("phases", PROGRAMS.values(), ids=PROGRAMS)
def test_it_is_known_when_an_open_light_closes(phases, offset):
    network = lights(phases, offset)
    world = World(network, random_trips(network, 1, over=1.0, seed=1), dt=0.25)
    grants, shown, told = world.sim.grants, [], []
    for _ in range(4 * 60):
        world.step()
        shown.append(np.isin(grants.light, (RED, YELLOW)))
        told.append(grants.closes.copy())
    closed = np.array(shown)
    checked = 0
    for frame in range(4 * 30):
        for k in np.flatnonzero(~closed[frame]):
            later = np.flatnonzero(closed[frame:, k])
            seen = (frame + later[0]) * world.dt if later.size else np.inf
            assert told[frame][k] == pytest.approx(seen, abs=world.dt)
            checked += 1
    assert checked > 100


@pytest.mark.parametrize(("dt", "around"), [(0.1, 11.9), (0.25, 9.6), (0.5, 7.6)])
def test_whoever_can_stop_before_a_light_without_yellow_does(dt, around):
    draft = crossing(SIGNAL)
    draft.connectors = [c for c in draft.connectors if c.from_road == "in_w"]
    draft.signals.append(DraftSignal("t", [(8.0, "G"), (20.0, "r")]))
    for connector in draft.connectors:
        connector.signal, connector.link = "t", 0
    network = finish(draft)
    roads = [network.road_index[name] for name in ("in_w", "out_e")]
    kind = VehicleType(accel=2.0, decel=4.5, emergency_decel=4.5, speed_dev=0.0)
    passed = []
    for start in np.arange(around - 0.5, around + 0.6, 0.1):  # m; the farther on, the sooner there
        trip = Trip("v", 0.0, kind, roads, depart_pos=start, depart_pos_kind=POS_GIVEN)
        world, checker = driven(network, [trip], dt)
        assert checker.report()["red_light"] == 0, start
        passed.append(world.time < 25.0)
    assert 0 < sum(passed) < len(passed)
    assert passed == sorted(passed)
