"""Routes and destinations that drivers get on the road, stops to come, lanes asked for, other types."""

import numpy as np
import pytest
from command_worlds import SAME, demand_of, straight, two_ways, world_of

from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.checker import Checker
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.demand.builder import DemandBuilder, Stop, Trip
from rushhour.traffic.demand.model import Demand, VehicleType
from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
from rushhour.traffic.measures.trip_table import trip_columns
from rushhour.traffic.world import World

pytestmark = pytest.mark.small_world


@pytest.fixture(scope="module")
def network():
    return two_ways(lanes=2)


def world(network, count: int = 8, **more: object) -> tuple[World, Checker]:
    w = world_of(network, demand_of(network, 4.0, count, ["in", "out"]), more or None)
    w.observers.append(checker := Checker(w))
    return w, checker


def driven_by(w: World, vehicle: int, frames: int = 1200) -> list[str]:
    """The roads that a vehicle drives from now on until it has left."""
    roads: list[str] = []
    for _ in range(frames):
        table, ids = w.vehicles, w.network.road_ids
        row = np.flatnonzero(table.id == vehicle)
        if not row.size:
            break
        road = int(w.network.arrays.lanes.road[table.lane[row[0]]])
        if road >= 0 and roads[-1:] != [ids[road]]:
            roads.append(ids[road])
        w.step()
    return roads


def test_drivers_drive_the_route_that_they_are_given(network) -> None:
    w, checker = world(network)
    w.step(60)
    w.set_route(["car0", "car1"], ["in", "long", "out"])
    w.set_route([2, 3], [["in", "long"], ["in", "short", "out"]])
    assert driven_by(w, 0) == ["in", "long", "out"]
    w.step(400)
    assert w.arrived == 8 and not checker.violations, checker.lines()
    distance = dict(zip(w.trips.trip.tolist(), w.trips.distance.tolist(), strict=True))
    assert distance[1] > 1400.0 and distance[2] < 1150.0 and distance[3] < 1250.0
    columns = trip_columns(w.sim)
    assert columns["ended"] == ["arrived"] * 8
    assert columns["reroutes"][columns["trip"].index("car0")] == 1


def test_a_random_walker_that_is_given_a_route_drives_it_and_arrives() -> None:
    grid = generate("grid", rows=3, columns=3, lanes=1, border="loops")
    w = World(grid, vehicles_on_road(grid, 20, seed=1), dt=0.25, seed=1)
    w.observers.append(checker := Checker(w))
    w.step(40)
    row = int(np.flatnonzero(grid.arrays.lanes.road[w.vehicles.lane] >= 0)[0])
    vehicle = int(w.vehicles.id[row])
    goal = "2.2-2.1" if "2.2-2.1" in grid.road_index else grid.road_ids[-1]
    w.set_destination(vehicle, goal)
    assert driven_by(w, vehicle, 2000)[-1] == goal
    assert w.arrived == 1 and not checker.violations, checker.lines()


def test_a_destination_is_reached_by_the_best_way_of_now(network) -> None:
    for traffic in (False, True):
        more = {"rerouting.fraction": 1.0, "rerouting.period": 1e4} if traffic else {}
        w, checker = world(network, **more)
        w.step(30)
        if traffic:  # a jam on the short way, as it was seen
            short = network.road_index["short"]
            w.routing.rerouting.pace[short], w.routing.rerouting.count[short] = 0.1, 40.0
            w.routing.rerouting.multiplier[short] = 20.0
        w.set_destination(0, "out")
        assert driven_by(w, 0)[1] == ("long" if traffic else "short")
        assert not checker.violations, checker.lines()


def test_who_has_its_grant_keeps_to_that_way_and_turns_behind_it() -> None:
    grid = generate("grid", rows=3, columns=3, lanes=1, border="loops")
    w = World(grid, vehicles_on_road(grid, 60, seed=2), dt=0.25, seed=1)
    w.observers.append(checker := Checker(w))
    goals: dict[int, str] = {}
    for _ in range(60):
        w.step(5)
        here = np.flatnonzero((w.sim.veh.lane >= 0) & (w.sim.veh.leg >= 0))
        here = here[w.sim.veh.lane[here] < grid.n_road_lanes]
        on = grid.arrays.lanes.road[w.sim.veh.lane[here]]
        assert (w.sim.routes.road[w.sim.veh.leg[here]] == on).all(), (
            "on another road than its route says"
        )
        holders = w.sim.veh.id[(w.sim.veh.lane >= 0) & (w.sim.veh.granted > 0)]
        for vehicle in sorted(set(holders.tolist()) - set(goals))[:3]:
            goals[vehicle] = grid.road_ids[(7 * vehicle) % grid.n_roads]
            w.set_destination(vehicle, goals[vehicle])
    last: dict[int, int] = {}
    for _ in range(900):
        table = w.vehicles
        last.update(zip(table.id.tolist(), table.lane.tolist(), strict=True))
        w.step()
    arrived = w.trips.trip.tolist()
    assert len(goals) > 30 and len(arrived) > 0.5 * len(goals)
    road_of = grid.arrays.lanes.road
    assert all(grid.road_ids[road_of[last[i]]] == goals[i] for i in arrived if i in last)
    assert {one.outcome for one in w.commands} == {"done"}
    assert not checker.violations, checker.lines()


def with_stop(network) -> Demand:
    builder = DemandBuilder()
    roads = [network.road_index[road] for road in ("in", "short", "out")]
    stop = Stop(network.lane_index["short_0"], 200.0, 10.0)
    builder.add(Trip("bus", 0.0, SAME, roads, routed=True, stops=(stop,)))
    return builder.build()


def test_a_stop_to_come_is_made_for_its_time_and_in_the_order_of_the_route(network) -> None:
    w = world_of(network, with_stop(network))
    w.observers.append(checker := Checker(w))
    w.step(40)
    w.stop_at("bus", "out", 100.0, "20s")
    w.stop_at("bus", "short", 100.0, "5s", lane=0)
    w.stop_at("bus", "in", 390.0, 4.0)
    stood = []
    for _ in range(1200):
        w.step()
        table = w.vehicles
        if len(table) and table.reason[0] == 10 and table.speed[0] == 0.0:
            here = (network.lane_ids[table.lane[0]][:-2], round(float(table.s[0])))
            stood += [here] if stood[-1:] != [here] else []
    assert stood == [("in", 390), ("short", 100), ("short", 200), ("out", 100)]
    assert w.counts()["stops_made"] == 4 and w.counts()["stops_missed"] == 0
    assert trip_columns(w.sim)["stop_time_s"][0] == pytest.approx(39.0, abs=1.5)
    assert not checker.violations, checker.lines()


def test_stops_off_a_new_way_are_missed_and_those_on_it_kept(network) -> None:
    w = world_of(network, with_stop(network))
    w.step(40)
    w.stop_at("bus", "out", 100.0, 5.0)
    w.step()
    w.set_route("bus", ["in", "long", "out"])
    w.step(1000)
    assert w.arrived == 1
    assert w.counts()["stops_made"] == 1 and w.counts()["stops_missed"] == 1


def test_who_is_asked_for_a_lane_changes_stays_and_is_free_again() -> None:
    wide = straight(lanes=3, length=1500.0)
    w = world_of(wide, demand_of(wide, 6.0, 4, ["first", "last"]))
    w.observers.append(checker := Checker(w))
    w.step(100)
    w.request_lane([0, 1, 2], 2, "30s")
    w.step(60)
    numbers = wide.arrays.lanes.number
    lanes = {
        int(v): int(numbers[lane]) for v, lane in zip(w.vehicles.id, w.vehicles.lane, strict=True)
    }
    assert [lanes[v] for v in (0, 1, 2)] == [2, 2, 2] and lanes[3] != 2
    w.step(50)
    lanes = {
        int(v): int(numbers[lane]) for v, lane in zip(w.vehicles.id, w.vehicles.lane, strict=True)
    }
    assert [lanes[v] for v in (0, 1, 2)] == [2, 2, 2]
    w.step(30)
    assert w.control.lane_requests.requests == {}
    w.request_lane(0, 0, "10s")
    w.step(40)
    table = w.vehicles
    assert numbers[table.lane[np.flatnonzero(table.id == 0)[0]]] == 0
    w.step(400)
    assert w.arrived == 4 and not checker.violations, checker.lines()


def test_a_lane_that_does_not_lead_on_is_left_before_its_end() -> None:
    grid = generate("grid", rows=2, columns=2, lanes=3, length=300.0)
    demand = random_trips(grid, 40, over=20.0, seed=3)
    arrived = []
    for asked in (False, True):
        w = World(grid, demand, dt=0.25, seed=1)
        w.observers.append(checker := Checker(w))
        w.step(100)
        if asked:
            w.request_lane(w.vehicles.id.tolist()[::2], 2, "10min")
        w.step(600)
        arrived.append(w.arrived)
        assert not checker.violations, checker.lines()
    assert arrived[1] >= arrived[0] - 2 > 20, "nobody waits at the end of a lane"


def test_a_vehicle_of_another_type_drives_as_that_type(network) -> None:
    slow = VehicleType(name="slow", length=4.0, max_speed=6.0, accel=1.0, speed_dev=0.0)
    builder = DemandBuilder()
    ends = [network.road_index[road] for road in ("in", "out")]
    for k in range(6):
        builder.add(Trip(f"car{k}", 4.0 * k, slow if k == 5 else SAME, ends, routed=False))
    w = world_of(network, builder.build())
    w.observers.append(checker := Checker(w))
    w.step(60)
    w.set_type(["car0", 1], "slow")
    w.step(60)
    table = w.vehicles
    for vehicle in (0, 1):
        row = int(np.flatnonzero(table.id == vehicle)[0])
        assert table.speed[row] <= 6.1 and table.length[row] == 4.0
    w.step(900)
    assert w.arrived == 6 and not checker.violations, checker.lines()


@pytest.mark.parametrize(
    ("name", "given", "why"),
    [
        ("set_route", ("car0", ["out"]), "vehicle 'car0' is on road 'in'; begin its route there"),
        ("set_route", ("car0", ["in", "out"]), "vehicle 'car0': no turn for class passenger from road 'in'"),
        ("set_route", ("car0", "in"), "no roads given; wanted a list of ids or numbers"),
        ("set_route", ("car0", []), "no roads given; wanted a list of ids or numbers"),
        ("set_route", (["car0", "car1"], [["in"]]), "1 routes for 2 vehicles; give each one"),
        ("set_route", ("car0", ["in", "x"]), "no road 'x'; it has "),
        ("set_route", ("car7", ["in"]), "vehicle 'car7' has not departed yet"),
        ("set_destination", ("car0", "x"), "no road 'x'; it has "),
        ("set_destination", (["car0", 1], ["out"]), "1 roads for 2 vehicles; give each one"),
        ("stop_at", ("car0", "in", 900.0, 5.0), "position 900 m: wanted more than 0, at most"),
        ("stop_at", ("car0", "in", 60.0, 5.0), "vehicle 'car0' does not come to 60 m of road 'in' any"),
        ("stop_at", ("car0", "long", 60.0, 5.0), "vehicle 'car0' does not come to 60 m of road 'long'"),
        ("stop_at", ("car0", "out", 60.0, 5.0, 7), "no lane 7 on road 'out'; it has 2, from 0 on"),
        ("stop_at", ("car0", "out", 60.0, None), "no duration given; wanted road, position, duration"),
        ("request_lane", ("car0", 5, 5.0), "no lane 5 on road 'in'; it has 2, from 0 on"),
        ("request_lane", ("car0", "left", 5.0), "lane 'left': wanted its number from the kerb"),
        ("set_type", ("car0", "tank"), "type 'tank': wanted one of car"),
        ("set_speed", ("car0", 0.0), "speed 0.0: wanted 0.1 to 100 m/s, or None; `stop` halts"),
        ("set_speed", ("car0", float("nan")), "speed nan: wanted 0.1 to 100 m/s, or None"),
        ("set_speed", (["car0", 1], [3.0]), "1 speeds for 2 vehicles; give each one"),
        ("set_speed", ("car7", 3.0), "vehicle 'car7' has not departed yet"),
    ],
)  # fmt: skip
def test_what_is_impossible_is_one_line_and_changes_nothing(network, name, given, why) -> None:
    w, _ = world(network)
    w.step(44)
    before = w.state_hash()
    with pytest.raises(CommandError, match="^[^\n]*$") as error:
        getattr(w, name)(*given)
    assert str(error.value).startswith(f"{name}: {why}")
    assert not len(w.commands) and w.state_hash() == before


def test_there_is_no_way_to_what_is_closed_and_types_do_not_grow(network) -> None:
    long = VehicleType(name="long", length=9.0)
    builder = DemandBuilder()
    ends = [network.road_index[road] for road in ("in", "out")]
    for k, kind in enumerate((SAME, long)):
        builder.add(Trip(f"car{k}", 0.0, kind, ends, routed=False))
    w = world_of(network, builder.build())
    w.step(20)
    with pytest.raises(CommandError, match="'car0' is 5 m long, type 'long' 9 m; a body does not"):
        w.set_type("car0", "long")
    w.close_roads(["short", "long"])
    w.step()
    with pytest.raises(
        CommandError, match="there is no way for vehicle 'car0' from road 'in' to 'out'"
    ):
        w.set_destination("car0", "out")
    assert w.closures()["cut_off"] == ["car0", "car1"]
    w.open_roads("long")
    w.step()
    w.set_destination("car0", "out")
    w.step(900)
    assert w.arrived == 2
