"""One world on several ranks: the same bits in every frame, and how a network is divided."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi_ranks import TESTS, needs_mpi, on_ranks
from ranked_worlds import FRAMES, MEASURED, STUCK, WORLDS, story, strewn, stuck

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.model import empty_demand
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.ranks.parts import distances, divide, groups_of, owners
from rushhour.traffic.ranks.refused import RankError
from rushhour.traffic.ranks.ring_ways import in_rings
from rushhour.traffic.world import World

# Of each world the share of frames that is stepped in parts, at least; commands look at the whole.
MOSTLY = {
    "lanes": 0.97,
    "town": 0.97,
    "pressure": 0.5,
    "jam": 0.97,
    "buses": 0.97,
    "other ways": 0.97,
    "checked": 0.97,
    "drift": 0.97,
    "full": 0.15,
    "held": 0.97,
    "turns": 0.97,
    "weaving": 0.97,
    "rings rotate": 0.97,
    "rings reroute": 0.97,
    "roundabout": 0.97,
    "steered": -1.0,  # in no frame
}

# Without quotas, what others do with them and what `run` does on ranks: make soak.
OTHERS = ["lanes", "other ways"]
# Three ranks have corners where three parts meet; on two, worlds that are divided anew, that all look
# at together, and that hold a quota.
ON = {
    "two": (2, ["pressure", "drift", "full", "rings rotate", "rings reroute"]),
    "three": (3, [name for name in WORLDS if name not in OTHERS]),
    "three, others": (3, OTHERS),
}

pytest.importorskip("pymetis", reason="divides networks: pip install 'rushhour[mpi]'")


@cache
def alone(name: str) -> list[list[Any]]:
    """What one process comes to."""
    return list(story(name))


# What happens in a world, and how often at least.
HAPPENS = [
    ("lanes", "lane_changes", 200), ("lanes", "arrived", 20), ("town", "arrived", 20),
    ("buses", "stops_made", 0), ("jam", "minds_changed", 50), ("jam", "cycles_found", 0),
    ("other ways", "rerouted", 20), ("held", "minds_changed", 5), ("held", "lane_changes", 200),
    ("turns", "minds_changed", 20), ("turns", "rerouted", 20),
    ("steered", "arrived", 20),
]  # fmt: skip
SOME = [name if name == "three" else pytest.param(name, marks=pytest.mark.soak) for name in ON]


@needs_mpi
@pytest.mark.parametrize("on", SOME)
def test_ranks_come_to_the_bits_of_one_process_in_every_frame(on: str, tmp_path: Path) -> None:
    told, (ranks, names) = tmp_path / "told.json", ON[on]
    _, err = on_ranks(ranks, "-m", "mpi4py", TESTS / "ranked_worlds.py", told, *names, STUCK)
    assert told.exists(), err
    found = json.loads(told.read_text())
    for name in names:
        frames = FRAMES[name]
        for frame in range(frames):
            assert found[name][frame] == alone(name)[frame], (name, frame)
        (state, what), (state_alone, what_alone) = found[name][-1][:2], alone(name)[-1][:2]
        assert (state, what[:2]) == (state_alone, what_alone[:2]), name
        assert what[4:] == what_alone[4:], name  # quotas, and rings by name
        assert what[2] == what_alone[2], name  # what measures remember within an interval
        for table, columns in what_alone[3].items():
            assert what[3][table] == columns, (name, table)
        assert found[name][-1][2] > MOSTLY[name] * frames, name
    if "drift" in names:
        assert found["drift"][-1][3] > 1  # divided anew: one rank had most of the work
    # Where nobody moves any more a run ends alike; all come together once they have stood for long.
    *end, together = found[STUCK]
    assert "nobody has moved" in end[2] and [*end, []] == stuck()
    assert len(together) < 5


def test_somebody_asks_those_who_come_to_the_road_of_the_other_rank() -> None:
    world, asked = WORLDS["weaving"](None), 0
    parts = owners(world.network, divide(world.network, world.demand, 2))
    assert set(parts.road[:2].tolist()) != set(parts.road[2:3].tolist())
    for _ in range(FRAMES["weaving"]):
        world.step()
        asked += int((world.sim.grants.asked_in == world.frame - 1).sum())
    assert asked > 50


@pytest.mark.parametrize("ranks", [2, 3])
def test_rings_go_over_as_many_ranks_as_there_are_and_are_freed(ranks: int) -> None:
    network = WORLDS["rings rotate"](None).network
    owner = owners(network, strewn(network, ranks)).lane
    on, done = set(), dict.fromkeys(("rerouted", "closed_up", "rotated"), 0)
    for ring in alone("rings rotate")[-1][1][5] + alone("rings reroute")[-1][1][5]:
        crossed = {int(owner[network.lane_ids.index(lane)]) for lane in ring["lanes"]}
        on.add(len(crossed))
        for what in done if len(crossed) == ranks else ():
            done[what] += ring[what]
    assert ranks in on and all(done.values()), (on, done)


@pytest.mark.parametrize(
    ("ways", "inside"),
    [
        ({}, []),
        ({1: 2, 2: 3}, []),  # it leads to somebody who waits for nobody
        ({5: 1, 1: 2, 2: 1, 4: 4, 3: 9}, [1, 2, 4]),
        ({3: 1, 1: 2, 2: 3, 8: 7, 7: 2}, [1, 2, 3]),
    ],
)
def test_of_ways_those_are_in_a_ring_that_come_back(
    ways: dict[int, int], inside: list[int]
) -> None:
    assert sorted(in_rings(ways)) == inside


@pytest.mark.parametrize("on", SOME)
def test_the_worlds_do_what_ranks_must_not_change(on: str) -> None:
    counted = list(World(generate("grid", rows=2, columns=2)).counts())

    def total(name: str, what: str) -> int:
        return int(alone(name)[-2][1 + counted.index(what)])

    for name, what, least in HAPPENS:
        assert name not in ON[on][1] or total(name, what) > least, (name, what)
    for name in MEASURED & set(ON[on][1]):
        rows = {
            table: int(next(iter(columns.values())).split()[0])
            for table, columns in alone(name)[-1][1][3].items()
        }
        assert rows["roads"] > 10 and rows["loops"] > 40 and rows["passages"] > 3, (name, rows)
        assert name == "buses" or rows["queues"] > 100
    if on == "three":
        assert alone("full")[-1][1][4]["vehicles"]["most_waiting"] > 50
        held = alone("held")[-1][1][4]
        assert held["lanes"]["most_waiting"] > 100 and held["wait_for"]["longest_wait_s"] > 0.5
        turns = alone("turns")[-1][1][4]["routing"]
        assert turns["most_waiting"] > 20 and turns["longest_wait_s"] > 1.0
        violations, extremes = alone("checked")[-1][1][1]
        assert sum(violations.values()) > 0 and extremes["longest_standstill_s"]["value"] > 5.0


# --- dividing -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def network() -> Any:
    return generate("grid", rows=6, columns=10, lanes=2, control="signals")


@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_parts_share_the_work_and_cut_few_lanes(network: Any, ranks: int) -> None:
    demand = random_trips(network, 2000, over=600.0, seed=1)
    who = owners(network, divide(network, World(network, demand).demand, ranks))
    net = network.arrays
    trips = np.bincount(World(network, demand).demand.roads, minlength=network.n_roads)
    work = np.bincount(who.road, trips * net.roads.length, ranks)
    assert work.max() < 1.35 * work.mean()
    cut = np.count_nonzero(who.exit != who.lane[: network.n_road_lanes])
    assert 0 < cut < 0.2 * network.n_road_lanes * ranks**0.5


def test_what_stays_together_has_one_owner(network: Any) -> None:
    who = owners(network, divide(network, empty_demand(), 4))
    net, group = network.arrays, groups_of(network.arrays)
    n = network.n_road_lanes
    np.testing.assert_array_equal(who.lane[n:], who.group[group[net.connectors.intersection]])
    to = net.roads.to_intersection
    np.testing.assert_array_equal(who.road[to >= 0], who.group[group[to[to >= 0]]])
    for road in range(network.n_roads):
        first, count = net.roads.first_lane[road], net.roads.lane_count[road]
        assert len(set(who.lane[first : first + count].tolist())) == 1
    for program in range(len(network.signal_ids)):
        assert len(set(who.lane[n:][net.connectors.signal == program].tolist())) == 1


def test_the_halo_reaches_as_far_as_it_says() -> None:
    network = generate("grid", rows=1, columns=9, length=100.0)
    net, n = network.arrays, network.n_road_lanes
    own = np.zeros(network.n_lanes, np.bool_)
    left = net.intersections.x <= np.median(net.intersections.x) - 150.0
    to = net.roads.to_intersection[net.lanes.road[:n]]
    own[:n] = (to >= 0) & left[to]
    own[n:] = left[net.connectors.intersection]
    near = distances(network, own, 250.0)
    assert (near[own] == 0.0).all() and np.isinf(near).any()
    inside = near[n:][~own[n:]]
    assert set(np.round(inside[np.isfinite(inside)], -2).tolist()) >= {0.0, 100.0, 200.0}
    assert inside[np.isfinite(inside)].max() <= 250.0


def test_fewer_intersections_than_ranks_are_refused() -> None:
    small = generate("grid", rows=1, columns=2)
    with pytest.raises(RunError, match=r"fewer than 64 ranks; use fewer"):
        divide(small, empty_demand(), 64)


# --- what is refused ------------------------------------------------------------------------


class TwoRanks:
    """As much of a communicator as is looked at before anything is refused."""

    rank, size = 0, 2


def test_a_budget_is_refused_on_ranks() -> None:
    with pytest.raises(RankError, match="budget on several ranks: .*; leave it out"):
        World(generate("grid", rows=2, columns=2), budget="5ms", comm=TwoRanks())
