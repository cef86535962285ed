"""Car following against closed forms: equilibrium, free road, capacity, safe and exact stops."""

from math import inf, pi, sqrt

import numpy as np
import pytest

import rushhour as rh
from rushhour.kernels.following.car_following import (
    approach_speed,
    guard_speed,
    idm_acceleration,
    krauss_speed,
    seen_speed,
    travel_time,
)
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import POS_GIVEN, SPEED_GIVEN, VehicleType
from rushhour.traffic.world import World

# Published parameter sets: v0, T, s0, a, b (validation.md D), and what follows for a platoon
# behind 10 m/s (gap, m) and for homogeneous traffic (flow, veh/h, at density, veh/km).
SETS = {
    "T2000": (120.0 / 3.6, 1.6, 2.0, 0.73, 1.67, 18.0733, 1742.8, 26.07),
    "Wikipedia": (30.0, 1.5, 2.0, 0.73, 1.67, 17.1059, 1798.1, 29.05),
    "CITY": (15.0, 1.0, 2.0, 1.0, 1.5, 13.3958, 1957.5, 53.57),
}
STEPS = [0.05, 0.25]
LENGTH = 5.0


def car(v0, time_gap, min_gap, accel, decel, **more) -> VehicleType:
    """A type without spread whose desired speed is v0 on roads with a higher limit."""
    return VehicleType(
        max_speed=v0, time_gap=time_gap, min_gap=min_gap, accel=accel, decel=decel,
        length=LENGTH, speed_dev=0.0, **more,
    )  # fmt: skip


def equilibrium_gap(v, v0, time_gap, min_gap) -> float:
    return (min_gap + v * time_gap) / sqrt(1.0 - (v / v0) ** 4)


def equilibrium_speed(gap, v0, time_gap, min_gap) -> float:
    low, high = 0.0, v0
    while high - low > 1e-12:
        mid = 0.5 * (low + high)
        low, high = (mid, high) if equilibrium_gap(mid, v0, time_gap, min_gap) < gap else (low, mid)
    return low


def platoon(length: float, places, speed: float, kinds, dt: float) -> World:
    """A straight road with vehicles at places (front bumpers) that all have one speed."""
    network = generate("straight", length=length, speed=50.0)
    builder = DemandBuilder()
    for i, (s, kind) in enumerate(zip(places, kinds, strict=True)):
        builder.add(
            Trip(
                str(i), 0.0, kind, [0], depart_pos=float(s), depart_pos_kind=POS_GIVEN,
                depart_speed=speed, depart_speed_kind=SPEED_GIVEN,
            )
        )  # fmt: skip
    return World(network, builder.build(), dt=dt, seed=1)


def gaps_and_speeds(world: World):
    """Gaps from the head on, and all speeds."""
    table = world.vehicles
    order = np.argsort(-table.s)
    s, length = table.s[order], table.length[order]
    return s[:-1] - length[:-1] - s[1:], table.speed[order]


@pytest.mark.parametrize("name", SETS)
def test_idm_stands_still_in_equilibrium(name):
    """D1, of the model itself: no acceleration at s_e, more beyond, less within."""
    v0, time_gap, min_gap, accel, decel, gap, _, _ = SETS[name]
    assert equilibrium_gap(10.0, v0, time_gap, min_gap) == pytest.approx(gap, rel=1e-5)

    def acceleration(at: float) -> float:
        return idm_acceleration(10.0, v0, at, 10.0, accel, decel, min_gap, time_gap)

    assert acceleration(equilibrium_gap(10.0, v0, time_gap, min_gap)) == pytest.approx(0, abs=1e-12)
    assert acceleration(1.01 * gap) > 0.0 > acceleration(0.99 * gap)


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("name", SETS)
def test_a_platoon_behind_a_slow_leader_keeps_the_equilibrium_gap(name, dt):
    """D1, E11: 20 followers behind 10 m/s for 600 s."""
    *kind, gap, _, _ = SETS[name]
    leader = car(10.0, *kind[1:])
    places = 600.0 - 25.0 * np.arange(21)
    world = platoon(8000.0, places, 10.0, [leader] + [car(*kind)] * 20, dt)
    world.step(round(600.0 / dt))
    gaps, speeds = gaps_and_speeds(world)
    assert gaps.size == 20
    np.testing.assert_allclose(gaps, gap, rtol=1e-3)
    np.testing.assert_allclose(speeds, 10.0, rtol=1e-3)


def free_road(v0: float, accel: float, t: float) -> float:
    """Speed after t from standstill: dv = a (1 - (v/v0)^4) integrated by small steps (RK4)."""
    v, h = 0.0, 1e-3

    def slope(u: float) -> float:
        return accel * (1.0 - (u / v0) ** 4)

    for _ in range(round(t / h)):
        k1 = slope(v)
        k2 = slope(v + 0.5 * h * k1)
        k3 = slope(v + 0.5 * h * k2)
        v += h * (k1 + 2.0 * k2 + 2.0 * k3 + slope(v + h * k3)) / 6.0
    return v


def test_a_car_on_a_free_road_gathers_speed_as_the_model_says():
    """D1: the world against the differential equation."""
    *kind, _, _, _ = SETS["CITY"]
    world = platoon(1000.0, [10.0], 0.0, [car(*kind)], 0.05)
    for t in range(5, 30, 5):
        world.step(100)
        assert world.vehicles.speed[0] == pytest.approx(free_road(15.0, 1.0, float(t)), rel=0.005)


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("name", SETS)
def test_a_ring_carries_the_flow_of_the_fundamental_diagram(name, dt):
    """D2: capacity at its density, 30 s, before instability can grow."""
    *kind, _, flow, density = SETS[name]
    n = 80  # so wide a ring that its bend slows nobody
    circumference = n / density * 1000.0
    network = generate("ring", circumference=circumference, speed=50.0)
    net = network.arrays
    speed = equilibrium_speed(circumference / n - LENGTH, *kind[:3])
    assert 3.6 * density * speed == pytest.approx(flow, rel=0.005)
    # Places along the whole ring, roads and joints.
    builder = DemandBuilder()
    ends = np.cumsum([net.roads.length[r] + 1.0 for r in range(network.n_roads)])
    kind = car(*kind)
    for x in np.arange(n) * circumference / n:
        road = int(np.searchsorted(ends, x, side="right"))
        s = x - (ends[road - 1] if road else 0.0)
        builder.add(
            Trip(
                str(x), 0.0, kind, [road], walker=True, depart_pos=min(s, net.roads.length[road]),
                depart_pos_kind=POS_GIVEN,
            )
        )  # fmt: skip
    world = World(network, builder.build(), dt=dt, seed=1)
    world.step()
    assert world.active == n
    # They start as a standing ring, and move from here on.
    world.sim.veh.s[:n] = world.demand.depart_pos[world.sim.veh.id[:n]]
    world.sim.veh.speed[:n] = speed
    world.step(round(30.0 / dt))
    assert 3.6 * density * world.vehicles.speed.mean() == pytest.approx(flow, rel=0.005)


@pytest.mark.parametrize("v, flow", [(13.89, 2337.7), (16.66, 2482.5), (25.0, 2769.0)])
def test_krauss_reaches_the_capacity_of_a_lane(v, flow):
    """D6: (l + minGap) / v + tau, sigma 0, in a platoon released from a standstill queue."""
    dt, tau, min_gap = 0.25, 1.0, 2.5
    assert 3600.0 / ((LENGTH + min_gap) / v + tau) == pytest.approx(flow, rel=2e-4)
    kind = car(v, tau, min_gap, 2.6, 4.5, model="krauss")
    leader = car(0.98 * v, tau, min_gap, 2.6, 4.5, model="krauss")
    places = 700.0 - 12.0 * np.arange(40)
    world = platoon(12000.0, places, 0.0, [leader] + [kind] * 39, dt)
    world.step(round(300.0 / dt))
    gaps, speeds = gaps_and_speeds(world)
    u = speeds[-20:].mean()
    assert u == pytest.approx(0.98 * v, rel=1e-3)
    headways = (gaps[-20:] + LENGTH) / u
    expected = (LENGTH + min_gap) / u + tau
    np.testing.assert_allclose(headways, expected, rtol=0.01)


def test_krauss_follows_with_the_time_gap_exactly():
    """D6, of the model: at gap minGap + v tau behind an equal speed it keeps the speed."""
    for v in (1.0, 8.0, 13.89, 30.0):
        nxt = krauss_speed(v, 40.0, 2.5 + v * 1.0, v, 2.6, 4.5, 2.5, 1.0, 0.25)
        assert nxt == pytest.approx(v, rel=1e-12)


@pytest.mark.parametrize(
    ("v", "v_lead", "late", "seen"),
    [(10.0, 14.0, 0.375, 12.5), (10.0, 14.0, 0.0, 14.0), (1.0, 14.0, 0.25, 13.75),
     (0.0, 14.0, 0.375, 14.0), (14.0, 10.0, 0.375, 10.0)],
)  # fmt: skip
def test_a_leader_who_draws_away_is_seen_late(v, v_lead, late, seen):
    """At once from standstill, and by whoever is faster."""
    assert seen_speed(v, v_lead, late) == pytest.approx(seen)


@pytest.mark.parametrize("dt", [0.1, 0.25, 0.5])
def test_imperfect_drivers_are_as_slow_at_every_step(dt):
    """Alone they fall behind their desired speed by sigma a u of a second: 0.65 m/s in the mean."""
    kind = car(20.0, 1.0, 2.5, 2.6, 4.5, model="krauss", sigma=0.5)
    world = platoon(20000.0, 600.0 * np.arange(1, 31), 19.35, [kind] * 30, dt)
    world.step(round(30.0 / dt))
    speeds = []
    for _ in range(200):
        world.step(round(1.0 / dt))
        speeds.append(world.vehicles.speed.mean())
    assert np.mean(speeds) == pytest.approx(20.0 - 0.65, abs=0.12)


@pytest.mark.parametrize("dt", [0.25, 0.5])
def test_imperfect_drivers_of_a_queue_start_once(dt):
    kind = car(13.9, 1.0, 2.5, 2.6, 4.5, model="krauss", sigma=0.5)
    world = platoon(4000.0, 700.0 - 30.0 * np.arange(20), 5.0, [kind] * 20, dt)
    world.step()
    assert world.active == 20
    world.stop(0, duration=120.0)
    world.step(round(119.0 / dt))
    assert (world.vehicles.speed < 0.1).all()
    moved = np.zeros(20, np.bool_)
    stops = 0
    for _ in range(round(60.0 / dt)):
        world.step()
        table = world.vehicles
        stands = table.speed[np.argsort(table.id)] < 0.1
        stops += int((moved & stands).sum())
        moved = ~stands
    assert moved.all()
    assert stops == 0


@pytest.mark.parametrize("dt", [1.0 / 120.0, 0.1, 0.25, 0.5])
@pytest.mark.parametrize("d, v", [(80.0, 15.0), (30.0, 11.0), (3.0, 2.0)])
def test_an_approach_stops_at_the_line_with_the_given_braking(d, v, dt):
    """Braking is never harder than b, also in the frame in which it comes to rest, and at the line."""
    b = 2.5
    while v > 1e-6 and d > 1e-9:
        nxt = min(v, approach_speed(v, d, 0.0, b, dt))
        assert (v - nxt) / dt <= b * 1.0001
        if nxt <= 0.0:
            d -= 0.5 * v * v * dt / (v - nxt)
            v = 0.0
        else:
            d -= 0.5 * (v + nxt) * dt
            v = nxt
    assert -1e-9 <= d <= 0.05


@pytest.mark.parametrize("dt", [0.05, 0.25, 0.5])
def test_the_guard_keeps_followers_off_a_leader_that_brakes(dt):
    """From 500 random states that it allows; up to the b dt^2 / 8 of an approach's last frame."""
    b = 9.0
    draw = np.random.default_rng(1)
    for _ in range(500):
        v, u = draw.uniform(0.0, 30.0, 2)
        gap = draw.uniform(0.5, 60.0)
        if guard_speed(v, gap, u, b, dt) < v:
            continue
        for _ in range(400):
            nxt = min(v, max(guard_speed(v, gap, u, b, dt), v - b * dt))
            ahead = max(0.0, u - b * dt)
            ran = 0.5 * (u + ahead) * dt if u > b * dt else u * u / (2.0 * b)
            gap += ran - 0.5 * (v + nxt) * dt
            v, u = nxt, ahead
            assert gap >= -b * dt * dt / 8.0 - 1e-9


def test_travel_time_is_that_of_constant_acceleration():
    assert travel_time(100.0, 0.0, 2.0, inf) == pytest.approx(10.0, rel=1e-12)
    assert travel_time(100.0, 10.0, 2.0, 10.0) == pytest.approx(10.0, rel=1e-12)
    # 0 to 20 m/s within 100 m and 10 s, then 100 m more in 5 s.
    assert travel_time(200.0, 0.0, 2.0, 20.0) == pytest.approx(15.0, rel=1e-12)
    assert travel_time(0.0, 5.0, 2.0, 20.0) == 0.0


def test_an_odd_state_gives_a_number_still():
    """No speed limit, no gap, nothing but zeros: no NaN (E13)."""
    for v0 in (0.0, 0.05, 10.0):
        for gap in (-3.0, 0.0, 0.05, inf):
            for v in (0.0, pi):
                a = idm_acceleration(v, v0, gap, 0.0, 2.5, 2.5, 0.0, 1.0)
                w = krauss_speed(v, v0, gap, 0.0, 2.5, 2.5, 0.0, 1.0, 0.25)
                assert np.isfinite(a) and np.isfinite(w) and w >= 0.0


@pytest.mark.parametrize("speed", [8.0, 25.0])
def test_those_who_depart_at_a_given_speed_follow_each_other_as_on_the_road(speed: float) -> None:
    """They kept a gap as to somebody whom they had come upon: 770 veh/h at 25 m/s, for 2,030."""
    builder = rh.NetworkBuilder("road")
    for k in range(2):
        builder.add_road([(2000.0 * k, 0.0), (2000.0 * k + 2000.0, 0.0)], speed=29.0, id=f"r{k}")
    flows, hardest = [], 0.0
    for dt in (0.1, 0.25, 0.5):
        demand = DemandBuilder()
        for k in range(900):
            demand.add(
                Trip(f"c{k}", float(k), VehicleType(speed_dev=0.0), [0, 1], depart_speed=speed)
            )
        world = World(builder.build(), demand.build(), dt=dt, seed=1)
        world.run(300.0)
        first = world.departed
        while world.time < 800.0:
            world.step()
            hardest = min(hardest, float(world.vehicles.accel.min()))
        flows.append((world.departed - first) * 7.2)
    assert min(flows) > (1900.0 if speed > 20.0 else 1500.0), flows
    assert max(flows) < 1.06 * min(flows), flows
    assert hardest > -2.5, hardest  # m/s^2, comfortable braking
