"""What the generators promise of their networks."""

import doctest
import importlib
from collections.abc import Iterator

import numpy as np
import pytest

from rushhour.kernels.core.network import ALL_WAY_STOP, GREEN, LEFT, SIGNAL, STOP, YELLOW, YIELD
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.generators.by_name import GENERATORS, generate, options_of
from rushhour.roadnets.generators.grid import cross, grid
from rushhour.roadnets.generators.motorway import motorway
from rushhour.roadnets.generators.ring import ring, straight
from rushhour.roadnets.generators.spider import spider
from rushhour.roadnets.generators.town import town
from rushhour.roadnets.model import Network

NETWORKS = {
    "grid": lambda: grid(3, 4),
    "grid_one_lane": lambda: grid(3, 3, lanes=1, control="all_way_stop", left="shared"),
    "grid_phases": lambda: grid(2, 3, left="phase", lanes=2),
    "grid_loops": lambda: grid(2, 2, border="loops", left="shared", lanes=2),
    "grid_closed": lambda: grid(3, 3, border="closed", control="priority"),
    "grid_through": lambda: grid(2, 2, turns="through"),
    "cross_signals": lambda: cross(control="signals", lanes=3, left="lane"),
    "cross_tee": lambda: cross(control="two_way_stop", arms="EWS", length=100.0),
    "ring": lambda: ring(1200.0, lanes=3),
    "motorway": lambda: motorway(4000.0, lanes=2, on_ramps=2, off_ramps=1),
    "spider": lambda: spider(6, 3),
    "spider_signals": lambda: spider(5, 2, lanes=2, control="signals"),
    "town_small": lambda: town("small"),
    "town_medium": lambda: town("medium", seed=2),
}


@pytest.fixture(scope="module", params=sorted(NETWORKS))
def network(request: pytest.FixtureRequest) -> Iterator[Network]:
    yield NETWORKS[request.param]()


def test_every_connector_meets_the_lanes_it_joins(network: Network) -> None:
    connectors = network.arrays.connectors
    for k in range(network.n_connectors):
        shape = network.lane_points(network.n_road_lanes + k)
        end = network.lane_points(int(connectors.from_lane[k]))[-1]
        start = network.lane_points(int(connectors.to_lane[k]))[0]
        assert np.hypot(*(shape[0] - end)) < 1e-6
        assert np.hypot(*(shape[-1] - start)) < 1e-6


def test_no_lane_is_dead_except_at_the_border(network: Network) -> None:
    """Lanes without exit or entry belong to roads that end or begin at a gate."""
    roads = network.arrays.roads
    connectors = network.arrays.connectors
    n = network.n_road_lanes
    gates = gate_names(network)
    leaves = np.bincount(connectors.from_lane, minlength=n) > 0
    enters = np.bincount(connectors.to_lane, minlength=n) > 0
    for lane in range(n):
        road = network.arrays.lanes.road[lane]
        end = network.intersection_ids[roads.to_intersection[road]]
        begin = network.intersection_ids[roads.from_intersection[road]]
        assert leaves[lane] != (end in gates), network.lane_ids[lane]
        assert enters[lane] != (begin in gates), network.lane_ids[lane]


def test_movements_of_one_road_never_cross_each_other(network: Network) -> None:
    """From the kerb to the middle: right, straight, left; and in order into one road."""
    arrays = network.arrays
    connectors = arrays.connectors
    order = np.array([1, 2, 0, 3])[connectors.turn]  # STRAIGHT, LEFT, RIGHT, U_TURN
    from_road = arrays.lanes.road[connectors.from_lane]
    to_road = arrays.lanes.road[connectors.to_lane]
    for road in range(network.n_roads):
        own = np.flatnonzero(from_road == road)
        for a in own:
            for b in own:
                if connectors.from_lane[a] < connectors.from_lane[b]:
                    if to_road[a] == to_road[b]:
                        assert connectors.to_lane[a] <= connectors.to_lane[b]
                    else:
                        assert order[a] <= order[b], network.road_ids[road]


def gate_names(network: Network) -> set[str]:
    """Intersections without any connector."""
    used = set(network.arrays.connectors.intersection.tolist())
    return {name for i, name in enumerate(network.intersection_ids) if i not in used}


def reached(start: int, follow: list[list[int]]) -> set[int]:
    seen, todo = {start}, [start]
    while todo:
        for road in follow[todo.pop()]:
            if road not in seen:
                seen.add(road)
                todo.append(road)
    return seen


@pytest.mark.parametrize(
    "name", ["grid", "grid_loops", "grid_closed", "ring", "spider", "town_small", "town_medium"]
)
def test_every_road_reaches_every_other_road(name: str) -> None:
    """One strong component, apart from roads that begin or end at a gate."""
    network = NETWORKS[name]()
    roads = network.arrays.roads
    follow = [roads.out[a:b].tolist() for a, b in zip(roads.out_start, roads.out_start[1:])]
    back: list[list[int]] = [[] for _ in follow]
    for road, following in enumerate(follow):
        for other in following:
            back[other].append(road)
    gates = gate_names(network)
    ids = network.intersection_ids
    sources = {r for r in range(network.n_roads) if ids[roads.from_intersection[r]] in gates}
    sinks = {r for r in range(network.n_roads) if ids[roads.to_intersection[r]] in gates}
    # A widening splits the road that a gate begins; its second half is no source itself.
    for r in list(sources):
        sources |= {o for o in follow[r] if network.road_ids[o].endswith(":approach")}
    inner = next(r for r in range(network.n_roads) if r not in sources | sinks)
    assert reached(inner, follow) | sources == set(range(network.n_roads))
    assert reached(inner, back) | sinks == set(range(network.n_roads))


def test_two_conflicting_movements_never_have_priority_green_together(network: Network) -> None:
    connectors, conflicts = network.arrays.connectors, network.arrays.conflicts
    signals = network.arrays.signals
    for k in np.flatnonzero(connectors.signal >= 0):
        program = connectors.signal[k]
        phases = signals.phase_start[program + 1] - signals.phase_start[program]
        first = signals.state_start[program]
        letters = signals.state[first : first + phases * signals.links[program]]
        table = letters.reshape(phases, signals.links[program])
        for c in range(connectors.conflict_start[k], connectors.conflict_start[k + 1]):
            other = conflicts.other[c]
            assert connectors.signal[other] == program
            together = (table[:, connectors.link[k]] == GREEN) & (
                table[:, connectors.link[other]] == GREEN
            )
            assert not together.any(), (k, other)


def test_every_green_ends_in_yellow_and_all_red_before_a_conflicting_one() -> None:
    network = grid(1, 1, control="signals", left="lane")
    signals = network.arrays.signals
    phases = int(signals.phase_start[1])
    table = signals.state[: phases * signals.links[0]].reshape(phases, signals.links[0])
    duration = np.diff(signals.phase_end[:phases], prepend=0.0)
    for p in range(phases):
        ends = (table[p] == GREEN) & (table[(p + 1) % phases] != GREEN)
        lost = ends & ~np.isin(table[(p + 1) % phases], (YELLOW, GREEN, 4))
        assert not lost.any()
    yellow = np.any(table == YELLOW, axis=1)
    assert duration[yellow].min() >= 3.0
    after = np.roll(yellow, 1)
    assert duration[after].min() >= 1.0
    assert abs(signals.cycle[0] - 100.0) < 1.0  # four phases: protected lefts, wide roads


def test_grid_has_the_streets_it_is_asked_for() -> None:
    network = grid(3, 4, lanes=2, left="shared")
    streets = 3 * 5 + 4 * 4  # rows with their two stubs, columns with theirs
    assert network.n_roads == 2 * streets
    assert network.n_road_lanes == 4 * streets
    control = network.arrays.intersections.control
    assert int(np.sum(control == SIGNAL)) == 12
    # 16 movements lane to lane at each crossing of two-lane streets with shared lanes
    assert network.n_connectors == 12 * 16


def test_left_lane_of_a_grid_leads_only_left() -> None:
    network = grid(1, 1, lanes=2, left="lane")
    connectors = network.arrays.connectors
    lanes = [network.lane_index[name] for name in network.lane_ids if name.endswith("approach_2")]
    assert len(lanes) == 4
    for lane in lanes:
        assert set(connectors.turn[connectors.from_lane == lane].tolist()) == {LEFT}


@pytest.mark.parametrize("length", [100.0, 700.0, 2000.0])
def test_approach_of_a_crossing_is_as_long_as_asked(length: float) -> None:
    network = cross(length=length, control="signals", lanes=2)
    lane = network.lane_index["S-X_0"]
    assert network.arrays.lanes.length[lane] == pytest.approx(length, abs=1e-6)


def test_green_of_a_crossing_is_as_asked() -> None:
    signals = cross(control="signals", green=30.0, cycle=60.0).arrays.signals
    assert signals.phase_end[0] == pytest.approx(30.0)
    assert signals.cycle[0] == pytest.approx(60.0)


def test_roundabout_alone_has_a_ring_and_approaches_as_long_as_asked() -> None:
    network = cross(control="roundabout", length=200.0)
    lane = network.lane_index["S-X.0_0"]
    assert network.arrays.lanes.length[lane] == pytest.approx(200.0, abs=1e-6)
    assert sum(name.startswith("X:ring") for name in network.road_ids) == 4
    assert network.n_roads == 12


@pytest.mark.parametrize("legs", [1, 2, 3, 4])
def test_crossing_has_as_many_entries_as_asked_and_four_exits(legs: int) -> None:
    network = cross(legs=legs)
    entries = [name for name in network.road_ids if name.endswith("-X")]
    assert len(entries) == legs
    assert len(network.road_ids) - legs == 4
    assert network.arrays.connectors.must_stop.all()
    assert set(network.arrays.intersections.control.tolist()) == {0, ALL_WAY_STOP}


def test_only_the_minor_road_of_a_two_way_stop_stops() -> None:
    network = cross(control="two_way_stop", major="EW")
    connectors = network.arrays.connectors
    stops = {
        network.road_ids[network.arrays.lanes.road[lane]]
        for lane in connectors.from_lane[connectors.must_stop]
    }
    assert stops == {"S-X", "N-X"}
    assert STOP in network.arrays.intersections.control


def test_minor_movements_of_a_two_way_stop_yield_to_the_major_road() -> None:
    network = cross(control="two_way_stop", major="EW")
    arrays = network.arrays
    road = arrays.lanes.road[arrays.connectors.from_lane]
    major = np.array([network.road_ids[r] in ("E-X", "W-X") for r in road])
    straight_on = np.flatnonzero(major & (arrays.connectors.turn == 0))
    assert (arrays.connectors.rank[straight_on] == 0).all()
    assert (arrays.connectors.rank[~major] > 0).all()


def test_ring_is_as_long_as_asked_and_closed() -> None:
    network = ring(1000.0, lanes=2)
    arrays = network.arrays
    outer = [lane for lane, name in enumerate(network.lane_ids) if name.endswith("_0")]
    joints = np.flatnonzero(np.isin(arrays.connectors.from_lane, outer)) + network.n_road_lanes
    total = arrays.lanes.length[outer].sum() + arrays.lanes.length[joints].sum()
    assert total == pytest.approx(1000.0, rel=1e-4)
    assert arrays.connectors.free.all()


def test_straight_road_is_as_long_as_asked() -> None:
    network = straight(800.0, lanes=3)
    assert network.arrays.lanes.length.tolist() == pytest.approx([800.0] * 3)


def test_acceleration_lane_yields_where_it_ends() -> None:
    network = motorway(3000.0, lanes=2, on_ramps=1, off_ramps=0)
    arrays = network.arrays
    waiting = np.flatnonzero(arrays.connectors.rank > 0)
    assert waiting.size == 1
    lane = int(arrays.connectors.from_lane[waiting[0]])
    assert arrays.lanes.number[lane] == 0
    assert arrays.lanes.length[lane] == pytest.approx(250.0)


@pytest.mark.parametrize("seed", range(4))
def test_town_has_a_roundabout_whose_ring_has_priority(seed: int) -> None:
    network = town("small", seed=seed)
    arrays = network.arrays
    ring_roads = [r for r, name in enumerate(network.road_ids) if ":ring" in name]
    assert len(ring_roads) >= 3
    assert arrays.roads.length[ring_roads].min() > 7.5
    first = arrays.roads.first_lane[ring_roads]
    entering = np.isin(arrays.connectors.to_lane, first) & ~np.isin(
        arrays.connectors.from_lane, first
    )
    circulating = np.isin(arrays.connectors.to_lane, first) & ~entering
    assert (arrays.connectors.rank[entering] > 0).all()
    assert (arrays.connectors.rank[circulating] == 0).all()


def test_town_mixes_its_controls_and_holds_thousands() -> None:
    network = town("medium")
    control = set(network.arrays.intersections.control.tolist())
    assert {SIGNAL, ALL_WAY_STOP, STOP, YIELD} <= control
    lane_km = network.arrays.lanes.length[: network.n_road_lanes].sum() / 1000.0
    assert 60.0 < lane_km < 100.0
    span = np.ptp(network.points, axis=0)
    assert (span > 1800.0).all() and (span < 3200.0).all()


@pytest.mark.parametrize("seed", range(4))
def test_town_has_no_road_shorter_than_eight_metres(seed: int) -> None:
    network = town("small", seed=seed)
    assert network.arrays.lanes.length[: network.n_road_lanes].min() >= 8.0


def test_town_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    one, same, other = town("small", seed=5), town("small", seed=5), town("small", seed=6)
    assert one.road_ids == same.road_ids
    np.testing.assert_array_equal(one.points, same.points)
    assert one.points.shape != other.points.shape or not np.array_equal(one.points, other.points)


@pytest.mark.parametrize("name", sorted(GENERATORS))
def test_every_generator_works_with_its_defaults(name: str) -> None:
    assert generate(name).n_roads > 0
    assert all(option.help for option in options_of(name))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("gird", {}, r"generator 'gird': wanted one of grid"),
        ("grid", {"row": 3}, r"no option row; did you mean rows"),
        ("grid", {"rows": "many"}, r"rows 'many': wanted a whole number"),
        ("grid", {"rows": 10**9, "columns": 10**9}, r"at most 1000000 crossings"),
        ("grid", {"control": "police"}, r"control 'police': wanted one of signals"),
        ("grid", {"length": "nan"}, r"length 'nan': wanted a number"),
        ("grid", {"lanes": 99}, r"lanes 99: wanted 1 to 8"),
        ("ring", {"circumference": 61, "lanes": 8}, r"leave no inner lane"),
        ("motorway", {"length": 1000}, r"2 ramps need"),
        ("spider", {"arms": 40}, r"spider of 40 arms"),
        ("town", {"size": "huge"}, r"size 'huge': wanted one of small"),
        ("town", {"seed": -1}, r"seed -1"),
    ],
)
def test_wrong_options_are_named(name: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(NetworkError, match=message) as caught:
        generate(name, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "module", [*(f.__module__ for f in GENERATORS.values()), "rushhour.roadnets.generators.by_name"]
)
def test_examples_of_the_generators_are_true(module: str) -> None:
    result = doctest.testmod(importlib.import_module(module))
    assert result.failed == 0 and result.attempted > 0


def lines_of(network: Network) -> list[np.ndarray]:
    """Points every metre along each road lane and the widenings between them."""
    kept = [*range(network.n_road_lanes)]
    kept += [
        network.n_road_lanes + k
        for k in range(network.n_connectors)
        if network.intersection_ids[network.arrays.connectors.intersection[k]].endswith(":widening")
    ]
    found: list[np.ndarray] = [np.zeros((0, 2))] * network.n_lanes
    for lane in kept:
        a, b = network.point_start[lane : lane + 2]
        at = np.append(np.arange(0.0, network.station[b - 1], 1.0), network.station[b - 1])
        found[lane] = np.column_stack(
            [np.interp(at, network.station[a:b], network.points[a:b, c]) for c in (0, 1)]
        )
    return found


@pytest.mark.parametrize("lanes", [1, 2, 3, 4])
@pytest.mark.parametrize("length", [110.0, 150.0])
def test_no_lane_of_a_street_is_drawn_over_another(lanes: int, length: float) -> None:
    """A left-turn lane lies where that of the other direction does not: both are in the median."""
    network = grid(1, 2, length, lanes)
    links, width = network.arrays.connectors, network.arrays.lanes.width
    n, lines = network.n_road_lanes, lines_of(network)
    for one in range(network.n_lanes):
        for other in range(one + 1, network.n_lanes):
            a, b = lines[one], lines[other]
            if one >= n and links.from_lane[one - n] == links.from_lane[other - n]:
                continue  # they part
            if other >= n and one in (links.from_lane[other - n], links.to_lane[other - n]):
                continue  # one leads to the other
            if not a.size or not b.size:
                continue
            if (a.min(0) > b.max(0) + 5.0).any() or (b.min(0) > a.max(0) + 5.0).any():
                continue
            apart = np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1).min())
            assert apart > 0.5 * (width[one] + width[other]) - 0.05
