"""Conflict zones of straight lines, by hand: what counts as too close, how far a zone reaches."""

import numpy as np
import pytest

from rushhour.kernels.core.network import LEFT, NONE, RIGHT, U_TURN, YIELD
from rushhour.kernels.junctions.conflict_zones import CLOSE, SAMPLE_STEP, measure_zone
from rushhour.kernels.junctions.queue_ends import QUEUE_OVERHANG, clear_end
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.conflicts import CAR_WIDTH, SHORTEST_ZONE
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
)
from rushhour.roadnets.model import Network

pytestmark = pytest.mark.tiny_world


def zone_between(apart: float, ahead: float, n: int = 41) -> tuple[bool, list[float]]:
    """Of two parallel lines of 20 m, so far apart, the second of them so far ahead."""
    along = np.arange(n) * SAMPLE_STEP
    x = np.concatenate([along, along + ahead])
    y = np.concatenate([np.zeros(n), np.full(n, apart)])
    zone = np.zeros(4)
    start = np.array([0, n, 2 * n], np.int64)
    found = measure_zone(x, y, np.tile(along, 2), start, 0, 1, CLOSE, zone)
    return bool(found), zone.tolist()


@pytest.mark.parametrize(
    ("apart", "ahead", "close", "why"),
    [
        (CLOSE - 0.01, 0.0, True, "closer, sample beside sample"),
        (CLOSE - 0.01, 0.5 * SAMPLE_STEP, True, "closer, though each sample lies between two"),
        (CLOSE + 0.02, 0.0, False, "farther"),
        (0.0, 20.0 + CLOSE + 0.02, False, "one behind the other, farther"),
    ],
)
def test_lines_are_too_close_wherever_their_samples_lie(
    apart: float, ahead: float, close: bool, why: str
) -> None:
    assert zone_between(apart, ahead)[0] == close, why


def test_a_zone_reaches_half_a_step_beyond_its_samples_but_not_beyond_the_line() -> None:
    """The last metre of one beside the first of the other, on one line."""
    found, (in_a, out_a, in_b, out_b) = zone_between(0.0, 19.0)
    assert found
    assert (in_a, out_a) == (pytest.approx(19.0 - CLOSE, abs=SAMPLE_STEP), 20.0)
    assert (in_b, out_b) == (0.0, pytest.approx(1.0 + CLOSE, abs=SAMPLE_STEP))
    samples = np.arange(41) * SAMPLE_STEP
    near = samples[samples > 19.0 - CLOSE]
    assert in_a == pytest.approx(near.min() - 0.5 * SAMPLE_STEP)


def crossing(**options: object) -> Network:
    """Roads from S and N that go on to N and S, and from S and E to E, on a plain of 100 m.

    The two ways through lie 7 m apart, in their middle, so that nothing but `foes` makes them a
    conflict.
    """
    ends = {"S": (5.0, -60.0), "N": (-5.0, 60.0), "E": (60.0, 20.0)}
    roads, intersections = [], [DraftIntersection("X", 0.0, 0.0, control=YIELD, **options)]  # type: ignore[arg-type]

    def road(name: str, a: str, b: str, *places: tuple[float, float]) -> None:
        lane = DraftLane(f"{name}_0", np.array(places), 10.0)
        roads.append(DraftRoad(name, a, b, [lane]))

    for name, (x, y) in ends.items():
        intersections.append(DraftIntersection(name, x, y, NONE))
    road("S-X", "S", "X", (5.0, -60.0), (5.0, -10.0))
    road("N-X", "N", "X", (-5.0, 60.0), (-5.0, 10.0))
    road("E-X", "E", "X", (60.0, 3.0), (15.0, 3.0))
    road("X-N", "X", "N", (5.0, 10.0), (5.0, 60.0))
    road("X-S", "X", "S", (-5.0, -10.0), (-5.0, -60.0))
    road("X-E", "X", "E", (15.0, -3.0), (60.0, -3.0))
    joined = [("S-X", "X-N"), ("N-X", "X-S"), ("S-X", "X-E"), ("E-X", "X-E")]
    turns = [None, None, RIGHT, U_TURN]
    connectors = [
        DraftConnector(a, 0, b, 0, turn=t) for (a, b), t in zip(joined, turns, strict=True)
    ]
    connectors[0].shape = np.array([(5.0, -10.0), (2.0, 0.0), (5.0, 10.0)])
    return finish(
        Draft("by hand", "test", roads=roads, intersections=intersections, connectors=connectors)
    )


def way(network: Network, a: str, b: str) -> int:
    c, road = network.arrays.connectors, network.arrays.lanes.road
    at = network.road_index
    found = (road[c.from_lane] == at[a]) & (road[c.to_lane] == at[b])
    return int(np.flatnonzero(found)[0])


def conflict(network: Network, k: int, other: int) -> int | None:
    start = network.arrays.connectors.conflict_start
    for c in range(start[k], start[k + 1]):
        if network.arrays.conflicts.other[c] == other:
            return int(c)
    return None


def test_foes_that_never_come_close_share_a_zone_as_wide_as_a_car_on_either_side() -> None:
    assert conflict(*_straight(crossing())) is None
    network = crossing(foes=[(0, 1)])
    c = conflict(*_straight(network))
    zones = network.arrays.conflicts
    assert c is not None
    for begin, end in (
        (zones.here_in[c], zones.here_out[c]),
        (zones.there_in[c], zones.there_out[c]),
    ):
        assert end - begin == pytest.approx(2 * max(CAR_WIDTH, 0.5 * SHORTEST_ZONE))
        assert 0.5 * (begin + end) == pytest.approx(10.2, abs=0.6)


def test_foes_that_only_end_side_by_side_leave_room_there_for_who_waits() -> None:
    """SUMO calls ways into two lanes of one road foes: one gives way to the other, none is barred by
    who stands at its end."""
    roads = [
        DraftRoad(a, a[0], "X", [DraftLane(f"{a}_0", np.array([(x, -60.0), (x, -10.0)]), 10.0)])
        for a, x in (("S-X", 0.0), ("T-X", 40.0))
    ]
    lanes = [
        DraftLane(f"X-N_{n}", np.array([(x, 10.0), (x, 60.0)]), 10.0)
        for n, x in ((0, 6.0), (1, 0.0))
    ]
    roads.append(DraftRoad("X-N", "X", "N", lanes))
    ends = {"S": (0.0, -60.0), "T": (40.0, -60.0), "N": (0.0, 60.0)}
    intersections = [DraftIntersection(name, x, y, NONE) for name, (x, y) in ends.items()]
    intersections.append(DraftIntersection("X", 0.0, 0.0, control=YIELD, foes=[(0, 1)]))
    connectors = [DraftConnector("S-X", 0, "X-N", 1), DraftConnector("T-X", 0, "X-N", 0)]
    network = finish(
        Draft("by hand", "test", roads=roads, intersections=intersections, connectors=connectors)
    )
    net = network.arrays
    for k, other in ((0, 1), (1, 0)):
        c = conflict(network, k, other)
        assert c is not None
        length = net.lanes.length[network.n_road_lanes + k]
        assert length - net.conflicts.here_out[c] == pytest.approx(QUEUE_OVERHANG)
        assert clear_end(net, k) == pytest.approx(QUEUE_OVERHANG)


def _straight(network: Network) -> tuple[Network, int, int]:
    return network, way(network, "S-X", "X-N"), way(network, "N-X", "X-S")


def test_who_turns_back_gives_way_even_to_one_that_it_comes_to_from_the_right() -> None:
    """Of two of the same rank the one from the right goes first, but not for a U-turn."""
    network = crossing()
    turns, back = way(network, "S-X", "X-E"), way(network, "E-X", "X-E")
    c, mirrored = conflict(network, back, turns), conflict(network, turns, back)
    assert c is not None and mirrored is not None
    yields = network.arrays.conflicts.yields
    assert yields[c] and not yields[mirrored]
    assert network.arrays.connectors.turn[back] == U_TURN != LEFT
