"""Ways chosen at departure: by the travel times of then, for trips without a route, within the quota."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from command_worlds import SAME, demand_of, two_ways
from resumed_worlds import new_world
from several_threads import printed_by_threads

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import save
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import WAY_FOUND, WAY_GIVEN, WAY_OPEN, Demand, VehicleType
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.demand.scaling import scaled
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.recording.resuming import recorded_parameters
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.routing import hierarchies
from rushhour.traffic.routing.choosing import _Guide
from rushhour.traffic.routing.hierarchies import build_hierarchy
from rushhour.traffic.routing.limited_network import with_limits
from rushhour.traffic.routing.road_graph import road_graph
from rushhour.traffic.routing.routes import Desk, find_ways, route_demand
from rushhour.traffic.world import World

RIGHT = ("right", "right-slow", "right-end")
CAR = CLASS_BIT["passenger"]


def two_parallel_roads(left_for: tuple[str, ...] = ("passenger", "bus")) -> Network:
    """From "in" to "out" by "left" or "right", mirror images: each carries 1,080 vehicles an hour.

    left_for: classes that may take "left".
    """
    builder = rh.NetworkBuilder("parallel")
    builder.add_road([(-300.0, 0.0), (0.0, 0.0)], lanes=2, speed=13.9, id="in")
    for name, y, classes in (("left", 80.0, left_for), ("right", -80.0, ("passenger", "bus"))):
        builder.add_road([(0.0, 0.0), (150.0, y)], speed=13.9, id=name, permissions=classes)
        builder.add_road([(150.0, y), (210.0, y)], speed=3.0, id=f"{name}-slow")
        builder.add_road([(210.0, y), (400.0, 0.0)], speed=13.9, id=f"{name}-end")
    builder.add_road([(400.0, 0.0), (600.0, 0.0)], lanes=2, speed=13.9, id="out")
    builder.add_intersection(0.0, 0.0, control="none", id="fork")
    builder.add_intersection(400.0, 0.0, control="none", id="join")
    return builder.build()


@pytest.fixture(scope="module")
def parallel() -> Network:
    return two_parallel_roads()


def shares(world: World, roads: tuple[str, ...], frames: int) -> dict[str, int]:
    """How many vehicles are seen on each of some roads within so many frames."""
    lanes = world.network.arrays.lanes
    index = {road: world.network.road_index[road] for road in roads}
    seen: dict[str, set[int]] = {road: set() for road in roads}
    for _ in range(frames):
        world.step()
        table = world.vehicles
        on = lanes.road[table.lane]
        for road, number in index.items():
            seen[road].update(table.id[on == number].tolist())
    return {road: len(ids) for road, ids in seen.items()}


@pytest.mark.parametrize(("routing", "least", "most"), [("free-flow", 0, 0), (None, 85, 115)])
def test_two_equal_ways_share_what_one_cannot_carry(
    parallel: Network, routing: str | None, least: int, most: int
) -> None:
    demand = demand_of(parallel, 2.5, 200, ["in", "out"])
    world = World(parallel, demand, dt=0.5, seed=1, routing=routing)
    found = shares(world, ("left", "right"), 1400)
    assert least <= found["left"] <= most and world.rerouting()["chosen"] == found["left"]
    assert world.done == (routing is None), "one of them alone does not carry them in time"


def test_given_routes_are_kept_and_their_bits_too(parallel: Network) -> None:
    demand = demand_of(parallel, 1.5, 100, ["in", *RIGHT, "out"], whole=True)
    hashes = []
    for routing in ("free-flow", "current"):
        world = World(parallel, demand, dt=0.5, seed=1, routing=routing)
        assert shares(world, ("left",), 300) == {"left": 0}
        hashes.append(world.state_hash())
    assert hashes[0] == hashes[1]


def test_roads_that_a_trip_names_stay_on_its_way(parallel: Network) -> None:
    """By "right", though it is given as a trip; another trip's own way is open."""
    builder = DemandBuilder()
    index = parallel.road_index
    for k in range(120):
        named = ["in", "right", "out"] if k % 2 else ["in", "out"]
        roads = [index[road] for road in named]
        builder.add(Trip(f"car{k}", 2.5 * k, SAME, roads, routed=False))
    world = World(parallel, builder.build(), dt=0.5, seed=1, routing="current")
    world.step(1)
    seen: set[int] = set()
    for _ in range(700):
        world.step()
        table = world.vehicles
        seen.update(table.id[table.lane == parallel.lane_index["left_0"]].tolist())
    assert len(seen) > 20 and not any(number % 2 for number in seen)


def test_later_departures_go_round_a_closure_and_an_incident() -> None:
    network = two_ways()
    for stands in (False, True):
        world = World(network, demand_of(network, 4.0, 60, ["in", "out"]), routing="current")
        world.step(200)
        departed = world.departed
        if stands:
            table = world.vehicles
            ahead = table.id[table.lane == network.lane_index["short_0"]]
            world.stop(int(ahead[0]), duration="4min")
            departed += 15  # who sees it first
        else:
            world.close_roads("short")
        world.step(1)
        places, index = world.sim.trips, network.road_index
        world.step(700)
        late = [trip for trip in range(departed, world.departed)]
        ways = [
            world.sim.routes.road[places.route_start[t] : places.route_end[t]].tolist()
            for t in late
        ]
        assert len(late) > 20
        assert all(index["long"] in way and index["short"] not in way for way in ways)
        rerouted = world.rerouting()["rerouted"]
        assert rerouted <= 20, "those who were on their way when it closed, and nobody else"


def test_who_waits_outside_chooses_again() -> None:
    """All are due at once, on empty roads; only who enters later can know of the traffic."""
    network = two_ways()
    world = World(network, demand_of(network, 0.0, 300, ["in", "out"]), routing="current")
    world.step(1)
    assert world.waiting_to_depart > 200
    world.schedule(20.0, "close_roads", roads=["short"])
    found = shares(world, ("long",), 800)
    assert found["long"] > 40
    assert world.rerouting()["chosen"] > 0


def test_the_quota_holds_and_who_found_no_place_keeps_its_way_and_is_counted() -> None:
    world = new_world("choosing few")
    most = 0
    for _ in range(160):
        world.step()
        most = max(most, world.sim.quotas.routed)
    told = world.rerouting()
    assert most == 1 and told["left_out"] > 50
    assert world.quotas()["routing"]["put_off"] >= told["left_out"]
    free = new_world("choosing")
    free.step(160)
    assert free.rerouting()["left_out"] == 0
    assert free.rerouting()["chosen"] > told["chosen"] > 0


def test_a_quota_that_never_binds_changes_nothing() -> None:
    hashes = []
    for quotas in (None, {"routing": 100_000}):
        world = new_world("choosing")
        world = World(
            world.network, world.demand, parameters=world.parameters, seed=7, quotas=quotas
        )
        world.step(160)
        hashes.append(world.state_hash())
    assert hashes[0] == hashes[1]


@pytest.mark.slow
def test_the_bits_do_not_depend_on_threads() -> None:
    one, *others = printed_by_threads("hashed_choosing.py")
    assert all(other == one for other in others)


def test_a_run_is_resumed_and_verified_with_the_ways_that_were_chosen(tmp_path: Path) -> None:
    world = new_world("choosing")
    with Recorder(tmp_path / "run.h5", world, keyframe_every=5.0) as recorder:
        world.observers.append(recorder)
        world.step(160)
    assert world.rerouting()["chosen"] > 20 and len(world.routing.choosing.pending())
    again = World.resume(tmp_path / "run.h5", world.begin + 10.0)
    assert again.frame == 40
    again.step(120)
    assert again.state_hash() == world.state_hash()
    assert again.rerouting() == world.rerouting()
    with RunFile(tmp_path / "run.h5") as run:
        assert run.parameters["routing.choice"] == "current"


def test_older_runs_that_say_nothing_of_routing_go_on_on_free_flow() -> None:
    for said, meant in (({}, "free-flow"), ({"routing.choice": "current"}, "current")):
        run = SimpleNamespace(parameters=said, path=Path("old.h5"))
        assert recorded_parameters(run)["routing.choice"] == meant  # type: ignore[arg-type]


def test_joined_trips_choose_and_are_resumed(parallel: Network, tmp_path: Path) -> None:
    world = World(parallel, dt=0.5, seed=1, routing="current")
    trips = [{"origin": "in", "destination": "out", "depart": 2.5 * k} for k in range(100)]
    world.add_vehicles(trips)
    world.add_vehicles([{"route": " ".join(["in", *RIGHT, "out"]), "depart": 20.0, "id": "kept"}])
    with Recorder(tmp_path / "run.h5", world, keyframe_every=20.0) as recorder:
        world.observers.append(recorder)
        found = shares(world, ("left", "right"), 700)
    assert 30 <= min(found.values()) and sum(found.values()) == 101
    again = World.resume(tmp_path / "run.h5", 100.0)
    again.step(700 - again.frame)
    assert again.state_hash() == world.state_hash()


def test_what_a_demand_says_of_its_ways_goes_through_every_reader(parallel: Network) -> None:
    index = parallel.road_index
    builder = DemandBuilder()
    ends, whole = [index["in"], index["out"]], [index[road] for road in ("in", *RIGHT, "out")]
    builder.add(Trip("open", 0.0, SAME, ends, routed=False))
    builder.add(Trip("given", 1.0, SAME, whole))
    builder.add(Trip("mended", 2.0, SAME, ends, routed=False, mended=True))
    builder.add(Trip("via", 3.0, SAME, [*whole[:2], whole[-1]], routed=False))
    demand = route_demand(parallel, builder.build())
    open_way = [WAY_OPEN, *[WAY_FOUND] * 3, WAY_GIVEN]
    given, via = [WAY_GIVEN] * 5, [WAY_OPEN, WAY_OPEN, *[WAY_FOUND] * 2, WAY_GIVEN]
    assert demand.route_choice.reshape(-1, 5).tolist() == [open_way, given, given, via]
    twice = scaled(demand, 2.0).route_choice.reshape(-1, 5).tolist()
    assert twice == [open_way] * 2 + [given] * 4 + [via] * 2
    drawn = random_trips(parallel, 5, 10.0, seed=1)
    assert (drawn.route_choice[drawn.route_start[:-1]] == WAY_OPEN).all()
    old = Demand(**{k: v for k, v in vars(demand).items() if k != "route_choice"})
    assert not old.route_choice.any(), "who says nothing keeps routes"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ways_guided_by_a_hierarchy_are_as_cheap_as_those_of_a_plain_search(seed: int) -> None:
    """At travel times that rise on two roads of three, with roads closed, and at other limits."""
    network = generate("grid", rows=12, columns=12, lanes=2, border="loops")
    whole = road_graph(network, CAR)
    guide = _Guide(whole, build_hierarchy(whole))
    draw = np.random.default_rng(seed)
    n = network.n_roads
    multiplier = 1.0 + draw.exponential(0.3, n) * (draw.random(n) < 0.67)
    starts, goals = draw.integers(0, n, (2, 300)).astype(np.int32)
    limit = np.where(draw.random(network.n_road_lanes) < 0.3, 25.0, np.nan)
    faster = road_graph(with_limits(network, limit, 3.5), CAR)
    closed = whole._replace(
        turn_cost=np.where(draw.random(whole.out.size) < 0.2, np.inf, whole.turn_cost)
    )
    for graph in (whole, closed, faster):
        guided = guide.ways(graph, starts, goals, multiplier, np.full(300, np.inf))
        plain = find_ways(graph, starts, goals, multipliers=multiplier, estimate=False)
        np.testing.assert_allclose(guided.cost, plain.cost, rtol=1e-9)
        assert guided.closed.sum() < 0.7 * plain.closed.sum()


def test_large_networks_are_searched_over_a_hierarchy(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same flows as without one."""
    arrived = []
    for nodes in (1, 100_000):
        monkeypatch.setattr(hierarchies, "FEWEST_NODES", nodes)
        monkeypatch.setattr(hierarchies, "FEWEST_PAIRS", 100)
        world = new_world("choosing")
        world.step(400)
        guide = world.routing.choosing._guides[CAR]
        assert isinstance(guide, _Guide if nodes == 1 else Desk)
        arrived.append(world.arrived)
    assert abs(arrived[0] - arrived[1]) < 0.1 * max(arrived)


def test_classes_choose_among_the_roads_that_are_open_to_them() -> None:
    """Cars may take "left", buses may not."""
    network = two_parallel_roads(left_for=("passenger",))
    bus = VehicleType(name="bus", vehicle_class="bus", speed_dev=0.0)
    for kind, least in ((bus, 0), (SAME, 20)):
        demand = demand_of(network, 2.5, 100, ["in", "out"], kind=kind)
        world = World(network, demand, dt=0.5, seed=1, routing="current")
        found = shares(world, ("left", "right"), 500)["left"]
        assert found >= least and (found == 0) == (kind is bus)


def test_routing_is_said_on_the_command_line_and_refused_otherwise(
    parallel: Network, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(parallel, tmp_path / "net.h5")
    rows = ["id,depart,origin,destination", *(f"{k},{2.5 * k},in,out" for k in range(100))]
    (tmp_path / "trips.csv").write_text("\n".join(rows) + "\n")
    line = ["run", str(tmp_path / "net.h5"), "--demand", str(tmp_path / "trips.csv"), "--dt", "0.5",
            "--duration", "4min", "--json", "--routing"]  # fmt: skip
    chosen = {}
    for routing in ("current", "free-flow"):
        assert main([*line, routing]) == 0
        chosen[routing] = json.loads(capsys.readouterr().out)["rerouting"]["chosen"]
    assert chosen["free-flow"] == 0 and chosen["current"] > 20
    with pytest.raises(ParameterError, match="routing.choice"):
        World(parallel, routing="best")
