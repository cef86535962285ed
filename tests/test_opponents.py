"""Opponents: states and meeting points, passing, back from beside the road, one gamepad for all.

Claims of validation.md C3.11 - C3.14.
"""

import math

import numpy as np
import pytest
from bodies_worlds import overlaps

import rushhour as rh
from rushhour.games.navmesh.mesh import Navmesh, build_navmesh
from rushhour.games.opponents.chase import Chase
from rushhour.games.opponents.tape import read_tape
from rushhour.kernels.navmesh.cells import VERGE, nearest_cell
from rushhour.kernels.opponents.passing import CHANGES, SHIFTS
from rushhour.kernels.opponents.states import (
    AVOID,
    CHASE,
    CLOSE,
    DESTINATION,
    FAR,
    INTERCEPT,
    LEAVES,
    SCARED,
    WAIT,
    fleeing_state,
    hunting_state,
    meeting_time,
)
from rushhour.roadnets.errors import ParameterError, RunError

KEPT: dict[str, Navmesh] = {}
STATE = ("x", "y", "heading", "speed", "slip", "turning", "steer")


def mesh() -> Navmesh:
    if "grid" not in KEPT:
        KEPT["grid"] = build_navmesh(rh.generate("grid", rows=3, columns=3, length=120.0, lanes=2))
    return KEPT["grid"]


def busy(vehicles: int = 60, seed: int = 1) -> rh.World:
    demand = rh.vehicles_on_road(mesh().network, vehicles, seed=seed)
    world = rh.World(mesh().network, demand, dt=0.1, seed=seed)
    world.step(1)
    return world


def with_one_standing(network):
    """A world in which its only vehicle was told to halt 150 m along its road, and stands."""
    world = rh.World(network, rh.random_trips(network, 1, "1s", seed=1), dt=0.1, seed=1)
    while world.vehicles.s.size == 0 or world.vehicles.s[0] < 150.0:
        world.step()
    world.stop(0)
    world.step(100)
    return world


def set_at(chase: Chase, i: int, x: float, y: float, heading: float, speed: float = 0.0) -> None:
    bodies, minds = chase.cast.bodies, chase.cast.minds
    bodies.x[i], bodies.y[i], bodies.heading[i], bodies.speed[i] = x, y, heading, speed
    minds.still_at[i] = minds.left_at[i] = minds.goal[i] = (x, y)
    minds.wait[i] = 0.0


# --- states --------------------------------------------------------------------------------


def test_c3_14_the_meeting_point_is_reached_by_both_at_the_first_time_that_can_be():
    rng = np.random.default_rng(1)
    met = 0
    for p, u, q, s in zip(
        rng.uniform(-200, 200, (3000, 2)), rng.uniform(-20, 20, (3000, 2)),
        rng.uniform(-200, 200, (3000, 2)), rng.uniform(1, 25, 3000), strict=True,
    ):  # fmt: skip
        t = meeting_time(*p, *u, *q, s)
        times = np.roots([u @ u - s * s, 2 * (p - q) @ u, (p - q) @ (p - q)])
        real = times[(np.abs(times.imag) < 1e-12) & (times.real > 0)].real
        if math.isinf(t):
            assert real.size == 0
            continue
        met += 1
        assert np.hypot(*(p + u * t - q)) == pytest.approx(s * t, rel=1e-9, abs=1e-9)
        assert t == pytest.approx(real.min(), rel=1e-6)
    assert met > 1500
    assert meeting_time(5.0, 0.0, 3.0, 4.0, 5.0, 0.0, 10.0) == 0.0
    assert meeting_time(100.0, 0.0, 0.0, 0.0, 0.0, 0.0, 20.0) == pytest.approx(5.0)
    assert math.isinf(meeting_time(100.0, 0.0, 20.0, 0.0, 0.0, 0.0, 20.0))  # never caught up


def test_c3_14_who_heads_for_the_meeting_point_is_there_no_later_than_who_chases():
    rng = np.random.default_rng(2)
    for p, u in zip(rng.uniform(-150, 150, (40, 2)), rng.uniform(-9, 9, (40, 2)), strict=True):
        speed, dt = 14.0, 0.02
        t = meeting_time(*p, *u, 0.0, 0.0, speed)
        q, clock = np.zeros(2), 0.0
        while np.hypot(*(p + u * clock - q)) > speed * dt:
            to = p + u * clock - q
            q, clock = q + speed * dt * to / np.hypot(*to), clock + dt
        assert t <= clock + 2 * dt


def test_c3_14_states_follow_the_distance_with_hysteresis():
    seen, state = [], WAIT
    for distance in (400, 151, 149, 160, 180, 190, 149, 23, 21, 25, 27, 28, 21):
        state = hunting_state(state, distance)
        seen.append(state)
    assert seen == [DESTINATION] * 2 + [INTERCEPT] * 3 + [DESTINATION, INTERCEPT, INTERCEPT] + [
        CHASE
    ] * 3 + [INTERCEPT, CHASE]
    for edge, near in ((FAR, INTERCEPT), (CLOSE, CHASE)):
        flips = {hunting_state(near, edge * share) for share in (0.99, 1.1, LEAVES - 0.01)}
        assert flips == {near}
    assert fleeing_state(DESTINATION, SCARED + 1) == DESTINATION
    assert fleeing_state(AVOID, SCARED + 1) == AVOID == fleeing_state(DESTINATION, SCARED - 1)


# --- one gamepad for all -------------------------------------------------------------------


@pytest.mark.slow
def test_c3_13_the_inputs_of_a_tape_give_every_state_again_to_the_bit(tmp_path):
    path, world = tmp_path / "chase.h5", busy()
    chase = Chase(world, 3, navmesh=mesh(), seed=4)
    seen = []
    with rh.Recorder(path, world) as recorder:
        world.observers.append(recorder)
        for _ in range(300):
            world.step()
            seen.append(chase.state())
    chase.tape.save(path)
    inputs = np.array(chase.tape.inputs)
    assert (np.abs(inputs) <= 1.0).all() and (inputs[..., 2] >= 0.0).all()
    assert all(len(np.unique(inputs[:, :, i, 0])) > 20 for i in range(4))

    again = Chase(other := busy(), 3, navmesh=mesh(), seed=99, tape=read_tape(path))
    for k in range(300):
        other.step()
        for name, values in again.state().items():
            np.testing.assert_array_equal(values, seen[k][name], err_msg=f"frame {k}: {name}")
    assert other.state_hash() == world.state_hash()


def test_c3_13_bodies_move_by_their_speed_and_never_jump_or_stand_in_a_vehicle():
    world = busy()
    chase = Chase(world, 4, navmesh=mesh(), seed=2)
    top, states = 0.0, set()
    for _ in range(200):
        before, resets = chase.state(), chase.cast.minds.resets.copy()
        world.step()
        after = chase.state()
        far = np.hypot(after["x"] - before["x"], after["y"] - before["y"])
        stayed = chase.cast.minds.resets == resets
        assert (far <= 0.1 * 22.0 + 0.5)[stayed].all()  # m in a frame; who is rammed gets faster
        top = max(top, float(np.abs(after["speed"]).max()))
        states |= set(chase.states)
        if world.frame % 20 == 0:
            world.bodies.take()  # those of the frame that comes
            rows = world.bodies.rows.copy()
            rows["length"] -= 0.02  # who touches somebody stands exactly beside it
            rows["width"] -= 0.02
            world.bodies.rows, kept = rows, world.bodies.rows
            assert overlaps(world) == [], world.frame
            world.bodies.rows = kept
    assert 10.0 < top < 22.0 and {"avoid", "intercept"} <= states
    result = chase.result()
    np.testing.assert_allclose(result.shares.sum(axis=1), 1.0)
    assert (result.off_time < 0.5 * result.time).sum() >= 4


# --- passing -------------------------------------------------------------------------------


@pytest.mark.parametrize(("lanes", "how"), [(2, CHANGES), (1, SHIFTS)])
def test_c3_11_who_stands_ahead_is_passed_by_the_free_lane_else_by_shifting_aside(lanes, how):
    builder = rh.NetworkBuilder("way")
    builder.add_road([(0, 0), (400, 0)], lanes=lanes)
    builder.add_road([(400, 0), (600, 0)], lanes=lanes)
    network = builder.build()
    world = with_one_standing(network)
    pose = world.poses()
    x, y = float(pose.x[0]), float(pose.y[0])
    chase = Chase(world, 1, seed=1)
    set_at(chase, 0, 370.0, y, 0.0)
    chase.cast.minds.by_hand[0] = True  # the quarry stands far ahead
    set_at(chase, 1, x - 25.0, y, 0.0, 3.0)
    ways, gas, offsets, xs = set(), [], [], []
    for _ in range(110):
        world.step()
        ways.add(int(chase.cast.minds.passing[1]))
        beside = abs(chase.cast.bodies.x[1] - x) < 3.0
        gas += [chase.cast.pad.throttle[1]] if beside else []
        offsets.append(chase.cast.cars.offset[1])
        xs.append(chase.cast.bodies.x[1])
    passed = int(np.argmax(np.array(xs) > x + 6.0))
    assert passed > 0 and how in ways and chase.result().bumps[1] == 0
    assert chase.result().passes[1] >= 1
    if how == SHIFTS:
        assert CHANGES not in ways and max(gas) == 1.0
    assert min(abs(np.array(offsets[passed : passed + 50]))) < 0.5  # back within 5 s


# --- beside the road -----------------------------------------------------------------------


@pytest.mark.slow
def test_c3_12_from_200_places_beside_the_road_95_percent_are_back_within_30_seconds():
    world = rh.World(mesh().network, dt=0.1, seed=1)
    chase = Chase(world, 200, navmesh=mesh(), seed=1)
    rng = np.random.default_rng(7)
    cells = mesh().cells
    low, high = (cells.x.min() - 10.0, cells.y.min() - 10.0), (cells.x.max(), cells.y.max())
    places = rng.uniform(low, high, (4000, 2))
    near = [nearest_cell(mesh().cells, x, y, True)[1:] for x, y in places]
    near = np.hypot(*(places - np.array(near)).T) < 40.0
    places = places[near & (mesh().cell_at(*places.T) < 0)][:200]
    chase.cast.minds.by_hand[0] = True
    for i, (x, y) in enumerate(places, 1):
        set_at(chase, i, float(x), float(y), float(rng.uniform(-3.0, 3.0)))
    back = np.zeros(201, bool)
    for _ in range(300):
        world.step()
        back |= ~chase.cast.minds.off & (chase.cast.minds.resets == 0)
    assert back[1:].mean() >= 0.95


def test_s3_37_over_the_navmesh_it_is_back_on_the_road_sooner_than_by_the_place_where_it_left():
    """The simple mode is no worse here: there are no buildings to get stuck behind."""
    rng = np.random.default_rng(11)
    cells = mesh().cells
    drawn = rng.choice(np.flatnonzero(cells.kind == VERGE), 60)
    headings, off = rng.uniform(-3.0, 3.0, 60), {}
    for recovery in ("full", "better"):
        world = rh.World(mesh().network, dt=0.1, seed=1)
        chase = Chase(world, 60, navmesh=mesh(), recovery=recovery, seed=1)
        chase.cast.minds.by_hand[0] = True
        for i, (c, heading) in enumerate(zip(drawn, headings, strict=True), 1):
            x, y = float(cells.x[c].mean()), float(cells.y[c].mean())
            set_at(chase, i, x, y, float(heading))
            came = x - 20.0 * math.cos(heading), y - 20.0 * math.sin(heading)
            chase.cast.minds.left_at[i] = nearest_cell(cells, *came, True)[1:]
        world.step(200)
        off[recovery] = chase.result().off_time[1:].mean()
    assert off["full"] < 0.9 * off["better"]


def test_c3_14_who_avoids_gains_distance_in_5_seconds():
    gained = []
    for seed in range(9):
        world = rh.World(mesh().network, dt=0.1, seed=1)
        chase = Chase(world, 1, navmesh=mesh(), seed=seed)
        x, y = chase.cast.bodies.x[0], chase.cast.bodies.y[0]
        heading = chase.cast.bodies.heading[0]
        set_at(chase, 1, x - 25.0 * math.cos(heading), y - 25.0 * math.sin(heading), heading)
        chase.cast.minds.hold[1] = 60.0
        world.step()
        first = chase.cast.minds.distance[0]
        assert chase.states == ("avoid", "wait")
        world.step(50)
        gained.append(chase.cast.minds.distance[0] - first)
    assert np.median(gained) > 15.0


def test_what_cannot_be_is_refused_in_one_line(tmp_path):
    world = rh.World(mesh().network, dt=0.1)
    for given, words in (
        ({"opponents": 0}, "opponents 0: wanted 1 to 1000"),
        ({"recovery": "helicopter"}, "recovery 'helicopter': wanted one of simple, better, full"),
        ({"car": "tank"}, "wanted one of storm"),
        ({"speed": -1.0}, "speed -1.0: wanted more than 0, up to 60"),
    ):
        with pytest.raises(ParameterError, match=words):
            Chase(world, **{"navmesh": mesh(), **given})
    chase = Chase(world, 1, navmesh=mesh())
    with pytest.raises(ParameterError, match="the target drives itself"):
        chase.drive(1.0, 0.0)
    rh.Recorder(tmp_path / "run.h5", world).close()
    with pytest.raises(RunError, match="no chase was recorded in it"):
        read_tape(tmp_path / "run.h5")
