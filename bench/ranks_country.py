"""A country in one process: what each step from its map to its frames takes, and what ranks would have.

Prints a row for each step as it ends.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from country import kept
from numpy.typing import NDArray
from ranks_share import memory, metres_of
from ranks_world import copies_of

from rushhour.traffic.demand.model import empty_demand
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.ranks.division import Division
from rushhour.traffic.ranks.exchange import Exchange
from rushhour.traffic.ranks.parts import divide, facts, owners
from rushhour.traffic.world import World

LOOKED_AT = 10  # ranks, one in so many
FRAMES = 2  # that are timed


@contextmanager
def step(what: str) -> Iterator[list[str]]:
    """Print what a step took, and what it says of itself."""
    said: list[str] = []
    begun = process_time()
    yield said
    print(
        f"{what:24} {process_time() - begun:9.2f} {memory('VmRSS'):7.0f} {memory('VmHWM'):7.0f}  "
        f"{', '.join(said)}", flush=True,
    )  # fmt: skip


def halos(world: World, group: NDArray[np.int64], ranks: int) -> tuple[list[int], list[float], int]:
    """Own vehicles, and copies by own vehicles, of some ranks; lanes that the last of them sees."""
    some = range(ranks // (2 * LOOKED_AT), ranks, max(1, ranks // LOOKED_AT))
    found = list(copies_of(world, group, some))
    seen, mine = found[-1][2], owners(world.network, group).lane == some[-1]
    lanes = int(((seen.start > 0.0) | (seen.end > 0.0) | (seen.first > 0.0))[~mine].sum())
    return [own for own, _, _ in found], [copies / max(1, own) for own, copies, _ in found], lanes


class Silent:
    """A communicator of many ranks of which all others tell nothing."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size

    def Allgather(self, mine: NDArray[Any], out: NDArray[Any]) -> None:
        out.reshape(self.size, -1)[:] = 0
        out.reshape(self.size, -1)[self.rank] = mine

    def Allgatherv(self, mine: NDArray[Any], out: list[Any]) -> None:
        out[0][:] = mine


def tell_country(folder: Path, cities: int, side: int, room: float, parted: list[int]) -> None:
    """Read a country, with so much lane for each vehicle, divide it among so many ranks, step it."""
    print(f"{'step':24} {'s of CPU':>9} {'MB now':>7} {'at most':>7}")
    with step("begun"):
        pass
    with step("map") as said:
        network = kept(folder, cities, side)
        said += [f"{network.n_roads:,} roads, {network.n_lanes:,} lanes"]
        said += [f"{metres_of(network) / 1000.0:,.0f} km of lane"]
    parts = {}
    for ranks in parted:
        with step(f"divided among {ranks:,}") as said:
            parts[ranks] = divide(network, empty_demand(), ranks)
        told = facts(network, owners(network, parts[ranks]), ranks)
        km = told["lane_km"]
        print(f"{'':24} {min(km):.1f} to {max(km):.1f} km a rank, {told['cut_lanes']:,} lanes cut")
    with step("demand") as said:
        demand = vehicles_on_road(network, int(metres_of(network) / room), seed=1)
        said += [f"{len(demand):,} vehicles"]
    with step("world"):
        world = World(network, demand, dt=0.25, seed=7)
    with step("first frame") as said:
        world.step()
        said += [f"{world.active:,} on the road"]
    world.step()
    with step(f"{FRAMES} frames"):
        world.step(FRAMES)
    for ranks, group in parts.items():
        with step("halos of some ranks") as said:
            own, copies, seen = halos(world, group, ranks)
            said += [f"{len(own)} of {ranks:,}: {np.mean(own):,.0f} own vehicles"]
            said += [f"copies {np.mean(copies):.2f} of them, {max(copies):.2f} at most"]
            said += [f"{seen:,} lanes of others seen"]
        with step(f"one rank of {ranks:,}") as said:
            division = Division(world.sim, Silent(ranks // 2, ranks), None, group)
            exchange = Exchange(world.sim, division, Silent(ranks // 2, ranks))
            said += [f"{len(division.neighbours)} neighbours"]
            del division, exchange
