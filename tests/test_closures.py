"""Closing and opening lanes and roads: nobody enters, drivers find other ways, traffic recovers."""

from pathlib import Path

import numpy as np
import pytest
from checked_runs import checked
from command_worlds import SAME, demand_of, straight, two_ways, world_of

from rushhour.cli.command_line import main
from rushhour.roadnets.build import finish
from rushhour.roadnets.by_hand.builder import NetworkBuilder
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
)
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import save
from rushhour.traffic.demand.builder import DemandBuilder, Stop, Trip
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
from rushhour.traffic.measures.trip_table import trip_columns
from rushhour.traffic.world import World


def on_roads(world: World, *roads: str) -> set[int]:
    """Vehicles on some roads."""
    network, table = world.network, world.vehicles
    index = [network.road_index[road] for road in roads]
    return set(table.id[np.isin(network.arrays.lanes.road[table.lane], index)].tolist())


def test_all_go_round_a_closed_road_and_come_back_when_it_opens() -> None:
    network = two_ways()
    world = world_of(network, demand_of(network, 5.0, 60, ["in", "out"]))
    checker = checked(world)
    world.step(200)
    assert on_roads(world, "short") and not on_roads(world, "long")
    world.close_roads("short")
    world.step()
    inside = on_roads(world, "short")
    late: set[int] = set()
    for _ in range(300):
        world.step()
        late |= on_roads(world, "short") - inside
    # At most those who could no longer turn away when it was closed.
    assert len(late) <= 2 and world.closures()["roads"] == ["short"]
    assert not on_roads(world, "short")
    there = on_roads(world, "long")
    assert there
    world.open_roads("short")
    world.step(1500)
    assert world.done and not checker.violations, checker.lines()
    log = world.trips
    by_long = set(log.trip[log.distance > 1250.0].tolist())
    assert there <= by_long and 0 not in by_long and 59 not in by_long
    reroutes = np.array(trip_columns(world.sim)["reroutes"])
    led_round = set(log.trip[reroutes > 0].tolist())  # the others knew of it as they departed
    assert led_round < by_long and world.rerouting()["rerouted"] == reroutes.sum()
    assert len(by_long - led_round) == world.rerouting()["chosen"]
    assert world.closures() == {"lanes": [], "roads": [], "cut_off": []}


def test_flow_falls_while_lanes_are_closed_and_recovers_after() -> None:
    network = straight(lanes=2, length=500.0)
    world = world_of(network, demand_of(network, 1.6, 400, ["first", "last"]))
    checker = checked(world)

    def flow(seconds: float) -> float:
        before = world.arrived
        world.step(round(4 * seconds))
        return (world.arrived - before) / seconds

    world.step(400)
    before = flow(100.0)
    world.close_lanes("first_0")
    world.step(160)
    assert not len(on_roads(world, "first")) or (world.vehicles.lane != 0).all()
    during = flow(100.0)
    world.open_lanes("first_0")
    world.step(160)
    after = flow(100.0)
    assert during <= before + 0.05
    assert after >= 0.95 * before
    assert not checker.violations, checker.lines()


def test_nobody_departs_onto_closed_lanes_until_they_open() -> None:
    network = straight(lanes=2, length=300.0)
    world = world_of(network, demand_of(network, 3.0, 20, ["first", "last"]))
    world.close_lanes("first_1")
    world.step(80)
    assert world.departed > 3 and (world.vehicles.lane != 1).all()
    world.close_roads("first")
    world.step()
    departed = world.departed
    world.step(80)
    assert world.departed == departed and world.waiting_to_depart > 5
    world.open_roads("first")
    world.step(600)
    assert world.done


def test_those_without_a_way_wait_and_are_named_until_it_opens() -> None:
    network = straight(lanes=1, length=300.0)
    builder = DemandBuilder()
    roads = [network.road_index[road] for road in ("first", "last")]
    for k in range(3):
        builder.add(Trip(f"car{k}", 3.0 * k, SAME, roads))
    draft_end = demand_of(network, 3.0, 3, ["first", "last"])
    world = world_of(network, draft_end)
    world.step(60)
    world.close_roads("last")
    world.step(200)
    # Its destination is closed: each ends where it still can.
    assert world.done and trip_columns(world.sim)["ended"] == ["cut_short"] * 3
    assert np.all(world.trips.distance < 300.0)
    assert world.rerouting()["cut_short"] == 3 and world.rerouting()["cut_off"] == 0


def three_in_a_row():
    """Roads a, b, c in a row, and d beside b that leads nowhere."""
    draft = Draft("row", "test")
    for name, x in (("w", 0), ("m", 200), ("n", 400), ("e", 600)):
        draft.intersections.append(DraftIntersection(name, float(x), 0.0, 0))
    for name, a, b, x in (("a", "w", "m", 0), ("b", "m", "n", 200), ("c", "n", "e", 400)):
        line = np.array([(x + 5.0, 0.0), (x + 195.0, 0.0)])
        draft.roads.append(DraftRoad(name, a, b, [DraftLane(f"{name}_0", line, 13.9)]))
    draft.connectors += [DraftConnector("a", 0, "b", 0), DraftConnector("b", 0, "c", 0)]
    return finish(draft)


def test_who_is_cut_off_waits_before_the_closure_and_drives_on_when_it_opens() -> None:
    network = three_in_a_row()
    world = world_of(network, demand_of(network, 4.0, 4, ["a", "c"]))
    checker = checked(world)
    world.step(20)
    world.close_roads("b")
    world.step(200)
    assert world.arrived == 0 and world.closures()["cut_off"] == [f"car{k}" for k in range(4)]
    assert on_roads(world, "a") == {0, 1, 2, 3}
    assert world.rerouting()["cut_off_first"] == [f"car{k}" for k in range(4)]
    world.open_roads("b")
    world.step(300)
    assert world.done and trip_columns(world.sim)["ended"] == ["arrived"] * 4
    assert world.closures()["cut_off"] == [] and world.rerouting()["cut_off"] == 4
    assert not checker.violations, checker.lines()


def forked() -> Network:
    """A road a that leads to b, and from there to c, and to d."""
    builder = NetworkBuilder("forked")
    for name, line in (
        ("a", [(0.0, 0.0), (200.0, 0.0)]), ("b", [(200.0, 0.0), (400.0, 0.0)]),
        ("c", [(400.0, 0.0), (600.0, 0.0)]), ("d", [(200.0, 0.0), (200.0, -200.0)]),
    ):  # fmt: skip
        builder.add_road(line, speed=13.9, id=name)
    return builder.build()


def mixed(network: Network) -> Demand:
    """Drivers to c and to d in turn, all by a, one in 4 s."""
    builder = DemandBuilder()
    for k in range(12):
        way = ("a", "b", "c") if k % 2 == 0 else ("a", "d")
        builder.add(
            Trip(f"{way[-1]}{k}", 4.0 * k, SAME, [network.road_index[road] for road in way])
        )
    return builder.build()


def test_who_has_no_way_left_ends_its_trip_there_after_a_while_and_the_others_go_on() -> None:
    network = forked()
    world = world_of(network, mixed(network))
    checker = checked(world)
    world.step(8)
    world.close_roads("b")
    world.step(4 * 200)
    assert world.arrived == 0  # the first stands before the closure, and all others behind it
    snapshot = world.snapshot()
    world.run(progress=False)
    rows = zip(world.trips.trip.tolist(), trip_columns(world.sim)["ended"], strict=True)
    ended = {world.demand.ids[int(trip)]: how for trip, how in rows}
    assert world.done and {name: ended[name] for name in sorted(ended)} == {
        name: "cut_short" if name.startswith("c") else "arrived" for name in sorted(ended)
    }
    told = world.rerouting()
    assert told["cut_off"] == told["cut_short"] == 6 and world.removed == 0
    assert told["cut_short_first"] == [f"c{k}" for k in range(0, 12, 2)]
    assert world.closures()["cut_off"] == []
    first = float(world.trips.arrived.min())
    assert 300.0 <= first < 305.0  # 5 min after b was closed
    assert float(world.trips.arrived.max()) < 420.0
    assert not checker.violations, checker.lines()
    ended_so = world.state_hash()
    world.restore(snapshot)
    world.run(progress=False)
    assert world.state_hash() == ended_so


@pytest.mark.parametrize(
    ("opens", "patience", "cut_short", "why"),
    [
        (900.0, 300.0, 6, "it opens ten minutes after they have stood for five"),
        (550.0, 300.0, 0, "it opens within five minutes from then"),
        (250.0, 300.0, 0, "it opens before they have lost their patience"),
        (900.0, 1e9, 0, "they wait for ever"),
    ],
)
def test_who_has_no_way_waits_for_a_planned_opening_that_comes_soon(
    opens: float, patience: float, cut_short: int, why: str
) -> None:
    network = forked()
    world = world_of(network, mixed(network), {"closures.patience": patience})
    world.step(8)
    world.close_roads("b")
    world.schedule(opens, "open_roads", roads=["b"])
    world.step(4 * 245)
    assert world.arrived == 0 and len(world.closures()["cut_off"]) == 6
    world.run("15min", progress=False)
    ended = trip_columns(world.sim)["ended"]
    assert world.done and ended.count("cut_short") == cut_short, why
    assert ended.count("arrived") == 12 - cut_short


def test_the_summary_names_those_whose_trips_closed_roads_cut_short(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(forked(), tmp_path / "forked.h5")
    (tmp_path / "trips.csv").write_text(
        "id,depart,route\n" + "".join(f"c{k},{4 * k},a b c\n" for k in range(5)) + "d,30,a d\n"
    )
    (tmp_path / "run.toml").write_text(
        'network = "forked.h5"\ndemand = "trips.csv"\ntimes = {until_empty = true}\n'
        'events = [{time = 2, action = "close_roads", roads = ["b"]}]\n'
    )
    assert main(["run", str(tmp_path / "run.toml")]) == 0
    text = capsys.readouterr().out
    assert (
        "5 cut off, 5 cut short" in text
        and "cut short    by closed roads: c0, c1, c2 and 2 more" in text
    )


def test_a_stop_on_a_closed_road_is_left_out() -> None:
    network = two_ways()
    lane = network.lane_index["short_0"]
    builder = DemandBuilder()
    roads = [network.road_index[road] for road in ("in", "short", "out")]
    stop = Stop(lane, 100.0, duration=20.0)
    builder.add(Trip("bus", 0.0, SAME, roads, stops=[stop]))
    world = world_of(network, builder.build())
    world.step(8)
    world.close_roads("short")
    world.step(600)
    assert world.done and world.counts()["stops_missed"] == 1
    assert world.trips.distance[0] > 1250.0 and world.trips.stop_time[0] == 0.0


@pytest.mark.parametrize("seed", range(2))
def test_closures_on_a_busy_grid_break_no_rule_and_keep_everybody_out(seed: int) -> None:
    network = generate("grid", rows=3, columns=3, lanes=2, border="loops")
    trips = random_trips(network, 150, 60.0, seed=seed)
    world = World(network, trips, dt=0.5, seed=seed)
    checker = checked(world)
    draw = np.random.default_rng(seed)
    world.step(60)
    inner = [r for r in network.road_ids if ":" not in r]
    closed = [inner[k] for k in draw.permutation(len(inner))[:4]]
    lane = next(name for name in network.lane_ids if name[:-2] not in closed)
    world.close_roads(closed)
    world.close_lanes(lane)
    world.step(30)

    def on_lane() -> set[int]:
        table = world.vehicles
        return set(table.id[table.lane == network.lane_index[lane]].tolist())

    there, beside = on_roads(world, *closed), on_lane()
    for _ in range(60):
        world.step()
        assert on_roads(world, *closed) <= there and on_lane() <= beside
    world.open_roads(closed)
    world.open_lanes(lane)
    world.step(60)
    assert not checker.violations, checker.lines()
    assert world.network is network


def test_walkers_keep_out_of_closed_roads() -> None:
    network = generate("grid", rows=3, columns=3, border="loops")
    world = World(network, vehicles_on_road(network, 60, seed=1), dt=0.5, seed=1)
    world.close_roads("1.1-1.0")
    world.step(60)
    there = on_roads(world, "1.1-1.0")
    for _ in range(60):
        world.step()
        assert on_roads(world, "1.1-1.0") <= there


def test_a_world_leaves_no_trace_of_closures_in_the_network_of_another() -> None:
    network = two_ways()
    one, other = (world_of(network, demand_of(network, 5.0, 9, ["in", "out"])) for _ in range(2))
    one.close_roads("short")
    one.step(40)
    other.step(40)
    assert one.closures()["roads"] == ["short"] and other.closures()["roads"] == []
    assert network.arrays.lanes.permissions.all()
    went_round = [
        world.rerouting()["rerouted"] + world.rerouting()["chosen"] for world in (one, other)
    ]
    assert went_round[0] > 0 and went_round[1] == 0
