"""A case of ranks.py, stepped by one process or by ranks: hashes by frame, and what each rank does.

Run by ranks.py, for several ranks under mpiexec.
"""

import json
import resource
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scenarios import SCENARIOS, data_base
from worlds import process_figures

from rushhour.kernels.core.halos import pick_seen
from rushhour.roadnets.build import finish
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.sumo.network import read_network_draft
from rushhour.traffic.demand.builder import merge
from rushhour.traffic.demand.model import empty_demand
from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
from rushhour.traffic.ranks.parts import divide, facts, groups_of, owners
from rushhour.traffic.ranks.sight import Sight, groups_to_run, sight
from rushhour.traffic.scenarios.opening import opened as scenario_of
from rushhour.traffic.scenarios.opening import scenario_demand, scenario_network
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.sumo.demand import read_demand
from rushhour.traffic.world import World

Setup = tuple[Any, Any, dict[str, Any]]


def grid() -> Setup:
    """A grid of signals and of two lanes."""
    network = generate("grid", rows=6, columns=10, lanes=2, control="signals")
    return network, random_trips(network, 3000, over=2000.0, seed=1), {}


def ring() -> Setup:
    """A ring of three lanes that nobody leaves."""
    network = generate("ring", circumference=6000, lanes=3)
    return network, vehicles_on_road(network, 400, seed=2), {}


def town() -> Setup:
    """A town under actuated signals where drivers look at the traffic on their way."""
    network = generate("town", size="small")
    trips = [
        vehicles_on_road(network, 150, seed=3),
        random_trips(network, 1500, over=2000.0, seed=3),
    ]
    return network, merge(trips), {"signals.control": "actuated", "rerouting.fraction": 0.3}


def joined() -> Setup:
    """Bologna, two parts joined, with its buses and their stops."""
    case, base = SCENARIOS["joined"], data_base(None)
    programs = [base / name for name in case.programs]
    network = finish(read_network_draft(base / case.network, programs=programs))
    files = [base / name for name in (*case.additional, *case.routes)]
    return network, read_demand(files, network), {}


def badhersfeld() -> Setup:
    """Bad Hersfeld with random trips."""
    network = load_network(data_base(None) / "sumo_badhersfeld_net" / "badhersfeld.net.xml.gz")
    return network, random_trips(network, 4000, over=2400.0, seed=4), {}


def krems() -> Setup:
    """A city of OpenStreetMap with random trips."""
    network = load_network(data_base(None) / "osm_krems" / "krems.osm.gz")
    return network, random_trips(network, 3000, over=2400.0, seed=5), {}


def spider() -> Setup:
    """A spider's web drawn by a seed, with more traffic than it carries."""
    draw = np.random.default_rng(34)
    lanes = int(draw.integers(1, 3))
    network = generate(
        "spider", arms=int(draw.integers(4, 8)), circles=int(draw.integers(2, 5)), lanes=lanes,
        spacing=float(draw.uniform(120.0, 220.0)),
        control=str(draw.choice(["signals", "priority", "actuated"])),
    )  # fmt: skip
    return network, random_trips(network, 1500 * lanes, over=300.0, seed=34), {}


# Other maps: file, trips that are drawn for it, and files of demand, relative to the data folder.
MAPS: dict[str, tuple[str, int, tuple[str, ...]]] = {
    "wildau": ("sumo_wildau/wildau.net.xml.gz", 0, ("sumo_wildau/wildau.rou.xml.gz",)),
    "hangzhou": (
        "cityflow_hangzhou_4x4/roadnet_4_4.json.gz", 0,
        ("cityflow_hangzhou_4x4/flow_real.json.gz",),
    ),
    "siouxfalls": ("gmns_siouxfalls", 2500, ()),
    "i210": ("sumo_i210_freeway/i210.net.xml.gz", 2500, ()),
    "braunschweig": ("sumo_braunschweig/braunschweig_port.net.xml.gz", 2500, ()),
    "all-way": ("sumo_grids/grid20_allway_stop.net.xml.gz", 3000, ()),
}  # fmt: skip


def of_map(name: str) -> Setup:
    """A map with its own demand, or trips drawn for it."""
    file, trips, demand = MAPS[name]
    scenario = scenario_of(
        data_base(None) / file, demand=tuple(data_base(None) / each for each in demand), seed=34,
        **({"trips": trips, "over": 2000.0} if trips else {}),
    )  # fmt: skip
    network = scenario_network(scenario, Parameters())
    return network, scenario_demand(scenario, network, Parameters()), {}


CASES: dict[str, Callable[[], Setup]] = {
    **{name: partial(of_map, name) for name in MAPS},
    "grid": grid, "ring": ring, "town": town, "joined": joined, "badhersfeld": badhersfeld,
    "krems": krems, "spider": spider,
}  # fmt: skip


def busy(setup: Setup) -> Setup:
    """The same with traffic everywhere from the first frame on, a third of which looks for other ways."""
    network, demand, given = setup
    n = network.n_road_lanes
    count = int(min(800.0, network.arrays.lanes.length[:n].sum() / 100.0))
    begin = float(np.floor(demand.depart.min())) if len(demand) else 0.0
    crowd = vehicles_on_road(network, count, seed=9, begin=begin)
    more = {
        "rerouting.fraction": 0.3, "rerouting.period": 10.0, "gridlock.change_mind_after": 8.0,
        "gridlock.wait_for_period": 5.0,
    }  # fmt: skip
    return network, merge([crowd, demand]), given | more


def command(world: World) -> None:
    """Plan commands: somebody stops, roads are closed and opened again, one drives slowly for a while."""
    roads, begin = world.network.road_ids, world.begin
    closed = [roads[at] for at in (len(roads) // 3, len(roads) // 2)]
    world.schedule(begin + 8.0, "stop", vehicle=world.demand.ids[3], duration=4.0)
    world.schedule(begin + 15.0, "close_roads", roads=closed)
    world.schedule(begin + 22.0, "open_roads", roads=closed)
    world.schedule(begin + 30.0, "set_speed_limit", places=[roads[1]], speed=4.0)


def wide_grid(vehicles: int) -> Setup:
    """A square grid that holds about so many vehicles, driving for a while already."""
    side = max(3, round((vehicles / 12.0) ** 0.5))
    network = generate("grid", rows=side, columns=side, lanes=2, control="signals")
    demand = random_trips(network, 2 * vehicles, over=150.0, seed=6)
    return network, demand, {"routing.choice": "free-flow"}  # so that stepping is measured


def copies_of(
    world: World, group: NDArray[np.int64], ranks: Iterable[int]
) -> Iterator[tuple[int, int, Sight]]:
    """Of some ranks own vehicles, copies of the others', and what each sees. group: the rank of each grant group."""
    sim, arrays = world.sim, world.network.arrays
    veh, lanes, who = sim.veh, arrays.lanes, owners(world.network, group)
    here = np.flatnonzero(veh.lane >= 0).astype(np.int32)
    lane = veh.lane[here]
    ahead, out = np.full(lanes.length.size, -np.inf), np.zeros(here.size, np.int32)
    for rank in ranks:
        mine = who.lane == rank
        seen = sight(sim, mine, groups_to_run(sim, mine, who.group == rank), groups_of(arrays))
        others = here[~mine[lane]]
        yield here.size - others.size, int(pick_seen(veh, lanes, seen, others, ahead, out)), seen


def reckoned(vehicles: int, ranks: int, before: int) -> Any:
    """How many vehicles each rank would own, and see of the others, (2, ranks)."""
    world = opened({"vehicles": vehicles}, None)
    world.step(before)
    group = divide(world.network, world.demand, ranks)
    found = [(own, copies) for own, copies, _ in copies_of(world, group, range(ranks))]
    return np.array(found).T


def division(side: int, ranks: int) -> dict[str, Any]:
    """What dividing a grid of signals takes, by its lengths."""
    begun = process_time()
    network = generate("grid", rows=side, columns=side, lanes=2, control="signals")
    made = process_time()
    group = divide(network, empty_demand(), ranks)
    done = process_time()
    return {
        **facts(network, owners(network, group), ranks), "roads": network.n_roads,
        "lanes": network.n_lanes, "made_s": made - begun, "divided_s": done - made,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
    }  # fmt: skip


class Timed:
    """A communicator that knows how much processor time is spent in it, waiting included."""

    def __init__(self, comm: Any) -> None:
        self.comm, self.seconds = comm, 0.0
        self.rank, self.size = comm.rank, comm.size

    def Dup(self) -> "Timed":
        return self

    def __getattr__(self, name: str) -> Any:
        return self.timing(getattr(self.comm, name))

    def timing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function whose time counts, and that of what it returns."""

        def timed(*given: Any) -> Any:
            begun = process_time()
            try:
                answer = function(*given)
            finally:
                self.seconds += process_time() - begun
            return (
                OnItsWay(self, answer)
                if hasattr(answer, "Wait") or hasattr(answer, "Recv")
                else answer
            )

        return timed


class OnItsWay:
    """A request, or a message that was found, whose time counts."""

    def __init__(self, timed: Timed, what: Any) -> None:
        self.timed, self.what = timed, what

    def __getattr__(self, name: str) -> Any:
        return self.timed.timing(getattr(self.what, name))


def opened(task: dict[str, Any], comm: Any) -> World:
    """The world of a task."""
    setup = wide_grid(task["vehicles"]) if "vehicles" in task else CASES[task["case"]]()
    network, demand, given = busy(setup) if task.get("busy") else setup
    begin = float(np.floor(demand.depart.min())) if len(demand) else 0.0
    world = World(
        network, demand, parameters=Parameters(given), dt=0.25, seed=7, begin=begin, comm=comm
    )  # fmt: skip
    if task.get("busy"):
        command(world)
    return world


def run(task: dict[str, Any], comm: Any) -> dict[str, Any]:
    """Step it; on rank 0 what came of it."""
    timed = None if comm is None else Timed(comm)
    world, rank = opened(task, timed), 0 if comm is None else comm.rank
    domain, hashes = world.sim.domain, []
    known = np.load(task["known"]) if "known" in task else None
    parted = -1
    with domain.unread():
        for _ in range(task["before"]):
            world.step()
        own = held = 0
        bytes_before = domain.exchange.bytes_sent if timed else 0
        waited = timed.seconds if timed else 0.0
        cpu, wall = process_time(), perf_counter()
        for frame in range(task["frames"]):
            world.step()
            if task["hash_every"]:
                if (frame + 1) % task["hash_every"]:
                    continue
                hashes.append(int(world.state_hash()[:16], 16))
                if known is not None and hashes[-1] != int(known[len(hashes) - 1]):
                    parted = frame
                    break
            else:
                own += domain.slots().size
                held += world.sim.n
        cpu, wall = process_time() - cpu, perf_counter() - wall
        mine = [
            cpu, (timed.seconds - waited) if timed else 0.0, own / task["frames"],
            held / task["frames"], (domain.exchange.bytes_sent - bytes_before if timed else 0) / task["frames"],
        ]  # fmt: skip
    ranks = [mine] if comm is None else comm.gather(mine)
    if rank == 0 and "hashes" in task:
        np.save(task["hashes"], np.array(hashes, np.uint64))
    return {
        "case": task.get("case", ""), "ranks": domain.ranks, "frames": world.frame, "parted": parted,
        "active": world.active, "arrived": world.arrived, "local_frames": domain.local_frames,
        "whole_frames": domain.whole_frames, "wall_s": wall,
        "by_rank": ranks, **process_figures(),
    }  # fmt: skip


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    if given["ranks"] == 1:
        print(json.dumps(run(given, None)))
    else:
        from mpi4py import MPI

        found = run(given, MPI.COMM_WORLD)
        if MPI.COMM_WORLD.rank == 0:
            Path(given["answer"]).write_text(json.dumps(found))
