"""Who turns across others at green waits for its gap inside the intersection, as drivers do."""

import numpy as np
import pytest
from checked_runs import checked, driven
from network_drafts import crossing

from rushhour.kernels.core.network import LEFT, RIGHT, SIGNAL, YIELD
from rushhour.kernels.junctions.permissive_places import find_pockets
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import DraftSignal
from rushhour.roadnets.model import Network
from rushhour.roadnets.partings import partings_of
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.world import World

CAR = VehicleType(speed_dev=0.0)
GREEN, YELLOW, RED = 27.0, 3.0, 30.0  # s of a cycle of 60 s
ROADS = ("in_w", "in_e", "in_n", "in_s", "out_w", "out_e", "out_n", "out_s")


def lit_crossing(left_hand: bool = False, north: float = 0.0) -> Network:
    """A crossing of four one-lane arms with a light: east and west go together, then north and south.

    north: m of the exit to the north, if not as long as the others.
    """
    draft = crossing(SIGNAL, left_hand=left_hand)
    if north:
        (out,) = (one.lanes[0] for one in draft.roads if one.id == "out_n")
        along = out.shape[-1] - out.shape[0]
        out.shape = np.array([out.shape[0], out.shape[0] + along * north / np.hypot(*along)])
    for link, connector in enumerate(draft.connectors):
        connector.signal, connector.link = "light", link
    along = [c.from_road in ("in_e", "in_w") for c in draft.connectors]
    phases = []
    for first, second in ((True, False), (False, True)):
        for seconds, letter in ((GREEN, "g"), (YELLOW, "y")):
            phases.append(
                (
                    seconds,
                    "".join(letter if (a if first else second and not a) else "r" for a in along),
                )
            )
    draft.signals.append(DraftSignal("light", phases))
    return finish(draft)


def road(network: Network, name: str) -> int:
    return network.road_index[name]


def pockets(network: Network) -> np.ndarray:
    place = np.zeros(network.arrays.connectors.from_lane.size)
    find_pockets(
        network.arrays, network.left_hand, *partings_of(network), place, np.zeros(place.size)
    )
    return place


@pytest.mark.parametrize("left_hand", [False, True])
def test_turns_across_oncoming_green_pull_forward_to_before_what_they_yield_to(left_hand):
    network = lit_crossing(left_hand)
    place, net = pockets(network), network.arrays
    across = net.connectors.turn == (RIGHT if left_hand else LEFT)
    assert across.sum() == 4
    assert (place[across] > 2.0).all()
    assert (place[~across] == 0.0).all()
    for k in np.flatnonzero(across):
        rows = slice(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1])
        oncoming = net.conflicts.yields[rows]
        assert place[k] < net.conflicts.here_in[rows][oncoming].min()


def test_nobody_waits_inside_where_there_is_no_light():
    assert (pockets(finish(crossing(YIELD))) == 0.0).all()


@pytest.mark.parametrize("left_hand", [False, True])
def test_a_turn_across_stands_inside_while_the_oncoming_queue_passes_and_then_goes(left_hand):
    network = lit_crossing(left_hand)
    out = "out_s" if left_hand else "out_n"
    way = [road(network, "in_w"), road(network, out)]
    oncoming = [road(network, "in_e"), road(network, "out_w")]
    builder = DemandBuilder()
    builder.add(Trip("across", 62.0, CAR, way))
    for i in range(12):
        builder.add(Trip(f"oncoming{i}", 31.0 + i, CAR, oncoming))
    world = World(network, builder.build(), dt=0.25, seed=1, begin=0.0)
    checker = checked(world)
    stood, entered, left = 0, 0.0, 0.0
    while not world.done and world.time < 300.0:
        world.step()
        table = world.vehicles
        inside = table.lane >= network.n_road_lanes
        mine = inside & (table.trip == list(world.demand.ids).index("across"))
        if mine.any():
            entered = entered or world.time
            left = world.time
            stood += int(table.speed[mine][0] < 0.1)
    passed = world.trips.arrived[world.trips.trip != list(world.demand.ids).index("across")]
    assert world.done
    assert checker.violations == {}
    assert entered < 60.0 + GREEN
    assert stood * 0.25 > 3.0
    assert (passed < left).sum() >= 6


def test_who_waits_inside_keeps_nobody_from_a_short_exit_while_its_light_is_green():
    """The exit takes one vehicle: a right turn from opposite goes there, and all behind it go on."""
    network = lit_crossing(north=12.0)
    out = road(network, "out_n")
    builder = DemandBuilder()
    builder.add(Trip("across", 50.0, CAR, [road(network, "in_w"), out]))
    for i in range(12):
        to = out if i == 3 else road(network, "out_w")
        builder.add(Trip(f"v{i}", 31.0 + i, CAR, [road(network, "in_e"), to]))
    world = World(network, builder.build(), dt=0.25, seed=1, begin=0.0)
    checker = checked(world)
    names = list(world.demand.ids)
    entered: dict[str, float] = {}
    while not world.done and world.time < 300.0:
        world.step()
        for number in world.vehicles.trip[world.vehicles.lane == network.lane_index["out_n_0"]]:
            entered.setdefault(names[number], world.time)
    assert world.done
    assert entered["v3"] < entered["across"]
    assert entered["v3"] < 60.0 + 13.0
    assert checker.violations == {}


@pytest.mark.parametrize("seed", range(3))
def test_shared_lanes_with_turns_from_both_sides_never_lock(seed):
    """Each of two that wait inside would wait for somebody behind the other, if that one had a grant."""
    network = lit_crossing()
    draw = np.random.default_rng(seed)
    trips = []
    for at in np.sort(draw.uniform(0.0, 240.0, 100)):
        side = draw.choice(["w", "e"])
        to = draw.choice(["n", "s", "e" if side == "w" else "w"])
        trips.append(
            Trip(
                f"v{at}", float(at), CAR, [road(network, f"in_{side}"), road(network, f"out_{to}")]
            )
        )
    world, checker = driven(network, trips, dt=0.25, longest=1200.0)
    assert checker.violations == {}
    assert world.done


def test_one_or_two_turn_in_each_cycle_across_a_stream_that_never_ends():
    """HCM 7, chapter 31: sneakers, about two in a cycle, are all that a full oncoming green leaves."""
    network = lit_crossing()
    builder = DemandBuilder()
    cycles = 20
    for i in range(60 * cycles // 2):
        builder.add(
            Trip(f"oncoming{i}", 2.0 * i, CAR, [road(network, "in_e"), road(network, "out_w")])
        )
        if i % 5 == 0:
            builder.add(
                Trip(f"across{i}", 2.0 * i, CAR, [road(network, "in_w"), road(network, "out_n")])
            )
    world = World(network, builder.build(), dt=0.25, seed=1, begin=0.0)
    checker = checked(world)
    world.step(round(60.0 * cycles / world.dt))
    ids = np.array(list(world.demand.ids))[world.trips.trip]
    turned = np.char.startswith(ids.astype(str), "across").sum()
    assert 1.0 <= turned / cycles <= 2.5
    assert checker.violations == {}
