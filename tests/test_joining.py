"""Vehicles that join a running world: numbered, recorded, resumed and taken back."""

from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from command_worlds import demand_of, two_ways, world_of

import rushhour as rh
from rushhour.roadnets.errors import RunError
from rushhour.traffic.checker import Checker
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.measures.trip_table import trip_columns
from rushhour.traffic.recording.verifying import verify
from rushhour.traffic.world import World

pytestmark = pytest.mark.small_world


@pytest.fixture(scope="module")
def network():
    return two_ways(lanes=2)


def world(network, count: int = 6) -> World:
    return world_of(network, demand_of(network, 8.0, count, ["in", "out"]))


def join(w: World) -> None:
    """Have vehicles join now and then, some of a type that there was not, and command them."""
    w.step(20)
    w.add_vehicles(
        [{"route": ["in", "long", "out"]}, {"origin": 0, "destination": "out", "id": "x"}]
    )
    w.schedule(20.0, "set_speed_limit", places="out", speed=9.0)
    w.step(20)
    given = {"id": ["late", "later"], "depart": [22.0, "0:00:35"], "type": ["truck", "car"],
             "origin": ["in", "in"], "destination": ["out", "out"],
             "depart_speed": [10.0, None], "depart_pos": [100.0, 50.0], "depart_lane": [1, None]}  # fmt: skip
    w.add_vehicles(given)
    w.schedule(26.0, "stop_at", vehicle="late", road="out", position=200.0, duration=4.0)
    w.step(40)
    w.set_destination("car1", "out")
    w.step(20)


def test_ways_that_others_have_taken_stay_theirs_when_somebody_joins() -> None:
    grid = rh.generate("grid", rows=3, columns=3, lanes=1, border="loops")
    ends = []
    for joins in (False, True):
        w = World(grid, rh.vehicles_on_road(grid, 30, seed=1), dt=0.25, seed=1)
        w.observers.append(checker := Checker(w))
        w.step(40)
        w.set_destination(list(range(12)), grid.road_ids[7])
        w.step(8)
        if joins:
            w.add_vehicles([{"route": [grid.road_ids[3]], "depart": 1e5} for _ in range(3)])
        w.step(400)
        assert w.arrived > 3 and not checker.violations, checker.lines()
        ends.append((w.trips.trip.tolist(), w.trips.distance.tolist()))
    assert ends[0] == ends[1]


def test_those_who_join_get_numbers_behind_the_others_depart_and_arrive(network) -> None:
    w, without = world(network), world(network)
    w.observers.append(checker := Checker(w))
    w.step(20)
    names = w.add_vehicles([{"route": "in long out"}, {"origin": "in", "destination": "out"}])
    assert names == ("added0", "added1") and len(w.demand) == 6
    with pytest.raises(CommandError, match="stop: vehicle 'added0' has not departed yet"):
        w.stop("added0")
    w.step()
    assert w.demand.ids == (*without.demand.ids, *names)
    assert w.waiting_to_depart + w.departed == 3, "car0 and both"
    w.step(40)
    assert set(names) <= set(w.table().id)
    w.step(1000)
    assert w.done and w.arrived == 8 and not checker.violations, checker.lines()
    columns = trip_columns(w.sim)
    assert dict(zip(columns["trip"], columns["depart_s"], strict=True))["added0"] == 5.0


def test_nobody_elses_luck_changes_when_others_join_behind_them(network) -> None:
    w, without = world(network), world(network)
    for each in (w, without):
        each.step(20)
    w.add_vehicles([{"route": ["out"], "depart": 100.0}])
    for each in (w, without):
        each.step(200)
    here = np.flatnonzero(w.sim.veh.lane >= 0)
    np.testing.assert_array_equal(w.sim.veh.s[here], without.sim.veh.s[here])
    np.testing.assert_array_equal(w.sim.veh.factor[here], without.sim.veh.factor[here])


def test_a_table_may_say_lane_place_and_speed_and_types_that_there_were_not(network) -> None:
    w = world(network)
    join(w)
    assert [kind.name for kind in w.demand.types] == ["car", "truck"]
    table = w.table().set_index("id")
    assert table.loc["late", "type"] == "truck" and table.loc["late", "length"] > 7.0
    other = world(network, 0)
    other.add_vehicles({"id": ["a"], "origin": ["in"], "destination": ["out"],
                        "depart_lane": [1], "depart_pos": [150.0], "depart_speed": [12.0]})  # fmt: skip
    other.step()
    vehicles = other.vehicles
    assert network.lane_ids[vehicles.lane[0]] == "in_1"
    assert 150.0 < vehicles.s[0] < 154.0 and 11.0 < vehicles.speed[0] < 13.0


def test_types_that_come_with_vehicles_are_kept_with_the_command(network, tmp_path: Path) -> None:
    tram = VehicleType(name="tram", length=14.0, max_speed=7.0, accel=1.0, speed_dev=0.0)
    path = tmp_path / "run.h5"
    w = world(network)
    with w.record(path, every=1.0, keyframe_every=5.0):
        w.step(10)
        w.add_vehicles(
            [{"id": "t", "route": "in long out", "type": tram}, {"route": "in short out"}]
        )
        w.step()
        w.schedule(10.0, "add_vehicles", trips=[{"id": "u", "route": "out", "type": "tram"}])
        w.step(60)
    assert tram in w.demand.types
    assert w.table().set_index("id").loc["t", "length"] == 14.0
    with rh.open_run(path) as run:
        assert tram in run.demand.types and verify(run).same
    again = World.resume(path, at=6.0)
    again.step(w.frame - again.frame)
    assert again.state_hash() == w.state_hash()
    for changes, why in (
        ({"accel": 2.0}, "type 'tram' is known and otherwise; give yours another name"),
        ({"name": "x", "length": 30.0}, "length 30 m; wanted > 0, at most 18 m"),
        ({"name": "x", "accel": float("nan")}, "accel nan; wanted > 0, at most 1000"),
        ({"name": "x", "decel": 0.0}, "decel 0; wanted > 0, at most 1000"),
        ({"name": "x", "model": "gipps"}, "model 'gipps'; wanted one of idm, krauss"),
    ):
        with pytest.raises(CommandError, match=f"^add_vehicles: [^\n]*{why}$"):
            w.add_vehicles([{"route": "in", "type": replace(tram, **changes)}])
    for accel in (1.0, 2.0):
        w.add_vehicles([{"route": "in", "type": replace(tram, name="two", accel=accel)}])
    w.step()
    assert [command.outcome[:40] for command in w.commands[-2:]] == [
        "done", "refused: type 'two' is known and otherwi",
    ]  # fmt: skip


def test_a_run_with_vehicles_that_joined_is_read_verified_and_resumed(
    network, tmp_path: Path
) -> None:
    path = tmp_path / "run.h5"
    w = world(network)
    with w.record(path, every=1.0, keyframe_every=5.0):
        join(w)
        w.step(100)
    with rh.open_run(path) as run:
        assert run.vehicle_names() == w.demand.ids and len(run.vehicle_names()) == 10
        assert run.vehicles("length").size == 10 and run.ids()["type"][-1] == "truck"
        assert run.demand is not None and run.demand.ids == w.demand.ids
        assert 8 in run.frame(len(run.frames) - 1).id
        life = run.trajectory(run.vehicle_names()[8])
        assert life.id == 8 and len(life) == sum(
            8 in run.frame(i).id for i in range(len(run.frames))
        )
        assert rh.why(run, float(life.time[0]), life.name)[0].waits[0].vehicle == 8
        verdict = verify(run)
        assert verdict.same, verdict.lines()
    for at in (0.0, 5.0, 11.0, 17.0, 31.0, 50.0):
        again = World.resume(path, at=at)
        again.step(w.frame - again.frame)
        assert again.state_hash() == w.state_hash(), f"from {at} s"
        assert again.demand.ids == w.demand.ids and again.counts() == w.counts()
    other = World.resume(path, at=31.0, parameters={"lane_change.gain": 0.4})
    other.step(1000)
    assert other.arrived == 10, "a what-if knows those who joined"
    again = world(network)
    with rh.open_run(path) as run:
        again.repeat(run.commands())
    again.step(w.frame)
    assert again.state_hash() == w.state_hash()


def test_a_world_goes_back_to_before_and_after_others_joined(network) -> None:
    w = world(network)
    w.step(10)
    before = w.snapshot()
    join(w)
    after, end = w.snapshot(), w.state_hash()
    w.restore(before)
    assert len(w.demand) == 6
    join(w)
    assert w.state_hash() == end
    w.restore(before)
    w.restore(after)
    assert len(w.demand) == 10 and w.state_hash() == end
    w.step(60)
    later = w.state_hash()
    w.restore(after)
    w.step(60)
    assert w.state_hash() == later
    w.reset()
    assert len(w.demand) == 6 and w.state_hash() == world(network).state_hash()


@pytest.mark.parametrize(
    ("trips", "why"),
    [
        ([], "no trips given; give at least one"),
        (7, "trips: a int; wanted a frame, a mapping of columns or a list"),
        (["in"], "trips: wanted a mapping for each, such as"),
        (
            [{"route": "in nowhere"}],
            "trips: row 0: trip 'added0': road 'nowhere' of its route is not in",
        ),
        (
            [{"route": "in out"}],
            "trips: row 0: trip 'added0': no turn for class passenger from road 'in'",
        ),
        ([{"origin": "in"}], "trips: row 0: has no destination; fill in destination"),
        ([{"route": "in", "type": "tank"}], "trips: row 0: type 'tank'; wanted one of car"),
        ([{"route": "in", "depart": 2.0}], "a departure at 2 s has gone by; it is 10 s"),
        ([{"route": "in", "id": "car3"}], "vehicle 'car3' exists; give each its own id"),
        ([{"route": "in", "depart_lane": 4}], "trips: row 0: depart_lane '4'; give a whole number"),
    ],
)
def test_what_cannot_join_is_one_line_and_changes_nothing(network, trips, why: str) -> None:
    w = world(network)
    w.step(40)
    before = w.state_hash()
    with pytest.raises(CommandError, match="^[^\n]*$") as error:
        w.add_vehicles(trips)
    assert str(error.value).startswith(f"add_vehicles: {why}")
    assert not len(w.commands) and w.state_hash() == before


def test_an_empty_world_is_filled_from_a_frame(network) -> None:
    pandas = pytest.importorskip("pandas")
    w = World(network, dt=0.25, seed=1)
    frame = pandas.DataFrame({"origin": ["in"] * 5, "destination": "out", "depart": range(5)})
    names = w.add_vehicles(frame)
    w.step(800)
    assert w.arrived == 5 and len(names) == 5


def test_damaged_trips_in_a_run_file_are_one_line(network, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    w = world(network)
    with w.record(path, every=1.0, keyframe_every=10.0):
        join(w)
    good = path.read_bytes()
    for old, new in ((b'"route"', b'"rout_"'), (b"in long out", b"in lone out"), (b'"trips"', b'"strip"'),
                     (b'"id"', b'"ic"')):  # fmt: skip
        with h5py.File(path, "r+") as file:
            text = file["commands/text"]
            text[:] = np.frombuffer(text[:].tobytes().replace(old, new), np.uint8)
        with pytest.raises(RunError, match="^[^\n]*$"):
            World.resume(path)
        with rh.open_run(path) as run, pytest.raises(RunError, match="^[^\n]*$"):
            run.vehicle_names()
        path.write_bytes(good)


def test_a_recording_that_begins_after_others_joined_knows_them(network, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    w = world(network)
    join(w)
    with w.record(path, every=1.0):
        w.step(20)
        w.add_vehicles([{"id": "last", "route": "in long out"}])
        w.step(60)
    with rh.open_run(path) as run:
        assert run.vehicle_names() == w.demand.ids and run.vehicles("depart").size == 11
        assert verify(run).same
    again = World.resume(path)
    assert again.state_hash() == w.state_hash()
    again.run(progress=False)
    assert again.arrived == 11 and "last" in again.trip_table().trip.to_numpy()
