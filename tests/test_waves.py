"""Waves in traffic against closed forms: growth of a disturbance, jams on a ring, starts, shocks."""

from math import sqrt

import numpy as np
import pytest
from closed_ring import LENGTH, ClosedRing, car, equilibrium_speed, put

from rushhour.kernels.core.network import GREEN
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import POS_GIVEN, SPEED_MAX, VehicleType
from rushhour.traffic.world import World

# v0, T, s0, a, b, and the growth (1/s) of the slowest mode of 22 cars on 230 m (validation.md D3).
SETS = {
    "FLOW": (30.0, 1.0, 2.0, 1.0, 1.5, 0.02346),
    "T 1.6, a 0.73, b 1.67": (30.0, 1.6, 2.0, 0.73, 1.67, 0.00995),
    "a 1.3, b 2": (30.0, 1.0, 2.0, 1.3, 2.0, 0.01840),
    "a 2, b 3": (30.0, 1.0, 2.0, 2.0, 3.0, 0.00553),
    "T 1.5, a 1.5, b 2": (30.0, 1.5, 2.0, 1.5, 2.0, -0.00789),
}


def growth(v0, time_gap, min_gap, accel, decel, spacing: float) -> float:
    """Greatest real part of the roots for one wave over 22 cars that follow by IDM, 1/s."""
    gap = spacing - LENGTH
    v = equilibrium_speed(gap, v0, time_gap, min_gap)
    wish = min_gap + v * time_gap
    by_gap = 2.0 * accel * wish**2 / gap**3
    by_speed = -accel * (4.0 * v**3 / v0**4 + 2.0 * wish * time_gap / gap**2)
    by_approach = 2.0 * accel * wish / gap**2 * v / (2.0 * sqrt(accel * decel))
    z = np.exp(2j * np.pi / 22.0) - 1.0
    return float(np.roots([1.0, -(by_approach * z + by_speed), -by_gap * z]).real.max())


@pytest.mark.parametrize("name", SETS)
def test_a_disturbance_grows_as_linear_stability_says(name):
    """D3 within 5 %: ten waves over 220 cars, on a ring whose bend slows nobody; dt 0.02 s."""
    *values, target = SETS[name]
    ring = ClosedRing(2300.0, 220, car(*values), 0.02)
    spacing = ring.length / ring.n
    rate = growth(*values, spacing)
    assert rate == pytest.approx(target, rel=0.005)
    wave = np.exp(-2j * np.pi * 10 * np.arange(ring.n) / ring.n)
    ring.put(1e-4 * wave.real, equilibrium_speed(spacing - LENGTH, *values[:3]))
    ring.world.step(750)
    sizes = []
    for _ in range(30):
        ring.world.step(50)
        speed = ring.now()[1]
        sizes.append(abs((speed - speed.mean()) @ wave))
    measured = np.polyfit(np.arange(30.0), np.log(sizes), 1)[0]
    assert measured == pytest.approx(rate, rel=0.05)


def driven_ring(values, dt: float):
    """The ring of Sugiyama with one car moved 0.5 m: places and speeds, a row a second."""
    ring = ClosedRing(230.0, 22, car(*values), dt)
    moved = np.zeros(22)
    moved[5] = 0.5
    ring.put(moved, equilibrium_speed(ring.length / 22 - LENGTH, *values[:3]))
    rows = []
    for _ in range(1500):
        ring.world.step(round(1.0 / dt))
        rows.append(ring.now())
    x, v = map(np.array, zip(*rows, strict=True))
    return x, v, ring.length


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target"), [pytest.param("FLOW", -15.3, marks=pytest.mark.soak), ("a 1.3, b 2", -18.0)]
)
def test_one_jam_forms_by_itself_on_a_ring_and_travels_backwards(name, target):
    """D4: 22 cars on 230 m; what stands moves back at 20 +- 5 km/h, 5 % of what IDM attains."""
    x, v, length = driven_ring(SETS[name][:5], 0.1)
    late = slice(1000, None)
    x, v = x[late], v[late]
    assert v.min(axis=1).max() < 0.5  # somebody stands, or nearly, all the time
    order = np.argsort(x, axis=1)
    slow = np.take_along_axis(v < 1.0, order, axis=1)
    jams = (slow & ~np.roll(slow, 1, axis=1)).sum(axis=1)
    assert (jams == 1).all()
    mode = ((v - v.mean(axis=1, keepdims=True)) * np.exp(2j * np.pi * x / length)).sum(axis=1)
    turns = np.polyfit(np.arange(mode.size), np.unwrap(np.angle(mode)), 1)[0] / (2.0 * np.pi)
    wave = 3.6 * turns * length
    assert wave == pytest.approx(target, rel=0.05)
    assert -25.0 <= wave <= -15.0


@pytest.mark.slow
def test_no_jam_forms_on_a_ring_of_stable_drivers():
    """D5: the same disturbance dies, after 1,500 s speeds differ by less than 0.01 m/s."""
    _, v, _ = driven_ring(SETS["T 1.5, a 1.5, b 2"][:5], 0.1)
    assert v[0].std() > 0.001
    assert v[-1].std() < min(0.01, 0.2 * v[0].std())


def started_queue(
    model: str, time_gap: float, min_gap: float, accel: float, decel: float, dt: float
):
    """A queue of 40 that may go at t = 0, on a straight road: places and speeds, a row a frame."""
    kind = VehicleType(
        model=model, time_gap=time_gap, min_gap=min_gap, accel=accel, decel=decel, length=LENGTH,
        max_speed=13.89, speed_dev=0.0,
    )  # fmt: skip
    places = 1000.0 - (LENGTH + min_gap) * np.arange(40)
    builder = DemandBuilder()
    for i, place in enumerate(places):
        builder.add(Trip(str(i), 0.0, kind, [0], depart_pos=place, depart_pos_kind=POS_GIVEN))
    world = World(generate("straight", length=3000.0, speed=50.0), builder.build(), dt=dt, seed=1)
    while world.active < 40:
        world.step()
    put(world, places, 0.0)
    rows = []
    for _ in range(round(85.0 / dt)):
        table = world.vehicles
        order = np.argsort(table.id)
        rows.append((table.s[order], table.speed[order]))
        world.step()
    x, v = map(np.array, zip(*rows, strict=True))
    return x, v


@pytest.mark.parametrize("dt", [0.05, 0.25])
@pytest.mark.parametrize(("time_gap", "low", "high"), [(1.0, 26.0, 28.0), (1.2, 23.7, 25.0)])
def test_a_queue_starts_as_fast_as_idm_lets_it(time_gap, low, high, dt):
    """D8 within 5 % of what IDM attains: the places and times at which cars begin to move."""
    x, v = started_queue("idm", time_gap, 2.0, 2.5, 2.5, dt)
    starts = np.argmax(v >= 0.1, axis=0) * dt
    wave = -3.6 * np.polyfit(starts[5:], x[0, 5:], 1)[0]
    assert 0.95 * low <= wave <= 1.05 * high


@pytest.mark.parametrize("dt", [0.05, 0.25, 0.5])
def test_a_queue_of_krauss_drivers_starts_at_length_over_reaction_time(dt):
    """D8 within 5 %: Newell's start of each car, when it would have left at once at its later speed."""
    x, v = started_queue("krauss", 1.0, 2.5, 2.6, 4.5, dt)
    starts = (len(x) - 1) * dt - (x[-1] - x[0]) / v[-1]
    wave = 3.6 * np.polyfit(starts[5:30], x[0, 5:30], 1)[0]
    assert wave == pytest.approx(-27.0, rel=0.05)


@pytest.mark.parametrize("flow", [600.0, 900.0, 1200.0])
def test_the_tail_of_a_queue_at_red_grows_as_a_shock_wave(flow):
    """D9 within 5 %: w = -q / (kj - q / vf), the last vehicle slower than half the free speed."""
    network = generate(
        "cross", length=1500.0, control="signals", turns="T", entries="SE", speed=15.0, green=15.0,
        cycle=600.0,
    )  # fmt: skip
    index, net = network.road_index, network.arrays
    kind = VehicleType(speed_dev=0.0)
    builder = DemandBuilder()
    for i in range(int(flow / 9.0)):
        ends = [index["S-X"], index["X-N"]]
        builder.add(Trip(str(i), 3600.0 / flow * i, kind, ends, depart_speed_kind=SPEED_MAX))
    world = World(network, builder.build(), dt=0.25, seed=1, begin=0.0)
    entry = int(net.roads.first_lane[index["S-X"]])
    world.step(round(100.0 / world.dt))
    tail = []
    for _ in range(round(300.0 / world.dt)):
        world.step()
        assert world.sim.grants.light[net.lanes.out_start[entry]] != GREEN
        table = world.vehicles
        queued = (table.lane == entry) & (table.speed < 7.5)
        tail.append((table.s - table.length)[queued].min())
    jam = 1000.0 / (kind.length + kind.min_gap)
    shock = -flow / (jam - flow / (3.6 * 15.0))
    measured = 3.6 * np.polyfit(np.arange(len(tail)) * world.dt, tail, 1)[0]
    assert measured == pytest.approx(shock, rel=0.05)
