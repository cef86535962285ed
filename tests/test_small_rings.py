"""Small roundabouts as maps draw them: arms parted by an island, pieces shorter than a car, lines that lie
before the ring. They carry what comes, and never fill up."""

import numpy as np
import pytest

from rushhour.kernels.core.network import NONE, YIELD
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
)
from rushhour.roadnets.model import Network
from rushhour.traffic.checker import Checker
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.world import World

ARM = 90.0  # m
SPEED = 8.0  # m/s


def small_rings(radius: float, arms: int, island: float) -> Network:
    """Two roundabouts with so many arms each, joined by one of them, in the field's usual pieces: roads
    leave and enter the ring at nodes of their own, and join behind an island of so many metres; where
    the island is short, before a line behind which no car can stand."""
    draft = Draft("rings", "test")
    place: dict[str, np.ndarray] = {}
    pieces: list[tuple[str, str, int]] = []

    def node(name: str, at: np.ndarray, control: int) -> None:
        place[name] = at
        draft.intersections.append(DraftIntersection(name, *at.tolist(), control))

    def on_circle(middle: np.ndarray, r: float, angle: float) -> np.ndarray:
        return middle + r * np.array([np.cos(angle), np.sin(angle)])

    control = NONE if island > 8.0 else YIELD
    half = min(0.35, 0.8 * np.pi / arms / 2.0)
    middles = {"A": np.zeros(2), "B": np.array([2.0 * (radius + island) + ARM, 0.0])}
    for name, middle in middles.items():
        for a in range(arms):
            angle = 2.0 * np.pi * a / arms + (np.pi if name == "B" else 0.0)
            node(f"{name}out{a}", on_circle(middle, radius, angle - half), NONE)
            node(f"{name}in{a}", on_circle(middle, radius, angle + half), YIELD)
            node(f"{name}arm{a}", on_circle(middle, radius + island, angle), control)
            pieces.append((f"{name}arm{a}", f"{name}in{a}", 1))
            pieces.append((f"{name}out{a}", f"{name}arm{a}", 1))
            pieces.append((f"{name}out{a}", f"{name}in{a}", 2))
            pieces.append((f"{name}in{a}", f"{name}out{(a + 1) % arms}", 2))
            if a > 0:
                node(f"{name}end{a}", on_circle(middle, radius + island + ARM, angle), NONE)
                pieces.append((f"{name}arm{a}", f"{name}end{a}", 1))
                pieces.append((f"{name}end{a}", f"{name}arm{a}", 1))
    pieces += [("Aarm0", "Barm0", 1), ("Barm0", "Aarm0", 1)]
    for u, v, priority in pieces:
        length = float(np.hypot(*(place[v] - place[u])))
        along = (place[v] - place[u]) / length
        right, cut = 1.8 * np.array([along[1], -along[0]]), min(2.5, (length - 0.2) / 2.0)
        first, last = place[u] + cut * along, place[v] - cut * along
        on_arm = [("arm" in w or "end" in w) for w in (u, v)]  # where directions lie side by side
        shape = np.array([first + on_arm[0] * right, last + on_arm[1] * right])
        lane = DraftLane(f"{u}>{v}_0", shape, SPEED)
        draft.roads.append(DraftRoad(f"{u}>{v}", u, v, [lane], priority))
    for x in draft.roads:
        for y in draft.roads:
            if (
                x.to_intersection == y.from_intersection
                and x.from_intersection != y.to_intersection
            ):
                draft.connectors.append(DraftConnector(x.id, 0, y.id, 0))
    return finish(draft)


@pytest.mark.parametrize("island", [4.0, 12.0])
@pytest.mark.parametrize("arms", [3, 4])
def test_only_the_pieces_round_the_island_are_the_ring_and_each_arm_enters_once(arms, island):
    """The two halves of an arm lead round the island between them, too, where one turns round."""
    network = small_rings(9.0, arms, island)
    net, grants = network.arrays, World(network).sim.grants
    ring = np.array([name.count("out") + name.count("in") == 2 for name in network.road_ids])
    assert grants.on_ring[: network.n_road_lanes].tolist() == ring.tolist()
    entries = np.flatnonzero(grants.ring_entry)
    assert entries.size == 2 * arms
    assert not ring[net.connectors.from_lane[entries]].any()
    assert ring[net.connectors.to_lane[entries]].all()


@pytest.mark.parametrize(("seed", "island"), [(2, 4.0), (3, 4.0), (4, 12.0)])
def test_two_small_rings_under_more_than_they_carry_empty(seed, island):
    rng = np.random.default_rng(seed)
    arms = int(rng.integers(3, 5))
    network = small_rings(float(rng.uniform(8.0, 12.0)), arms, island)
    ends = [f"{name}end{a}" for name in "AB" for a in range(1, arms)]
    demand, car = DemandBuilder(), VehicleType()
    road = {name: r for r, name in enumerate(network.road_ids)}
    for n, time in enumerate(np.sort(rng.uniform(0.0, 720.0, 900)).tolist()):
        u, v = rng.choice(ends, 2, replace=False).tolist()
        ways = f"{u}>{u.replace('end', 'arm')}", f"{v.replace('end', 'arm')}>{v}"
        demand.add(Trip(str(n), time, car, [road[way] for way in ways], routed=False))
    world = World(network, demand.build(), dt=0.25, seed=seed)
    checker = Checker(world)
    world.observers.append(checker)
    while not world.done and world.time < 2 * 3600.0:
        world.step(1200)
    assert world.done, (len(world.trips), world.rings.found)
    assert not checker.violations
