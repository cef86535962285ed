"""Recorded state hashes: what small runs of every kind come to, so that a change of structure shows as one.

`python tests/state_hashes.py` runs all and names those that differ; `--write` records them anew, in a
commit that says why results change. A run is a line of the table: network (a generator with its
options, `data:` a real one, `kind:` a world of resumed_worlds.py), options (vehicles, trips, over,
dt, types, `quota.`s, parameters by their names), seed, frames, hash.
"""

import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from hashed_bodies import give, world_with_bodies
from real_data import data_folder
from resumed_worlds import KINDS

from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.builder import merge
from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
from rushhour.traffic.measures.measuring import Measures
from rushhour.traffic.recording.run_layout import made_with
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

TABLE: Final = Path(__file__).resolve().parent / "recorded" / "state_hashes.csv"


@dataclass(frozen=True)
class Run:
    """One row of the table."""

    network: str
    options: str
    seed: int
    frames: int
    hash: str = ""

    @property
    def name(self) -> str:
        return f"{self.network} {self.options} seed {self.seed}".replace("  ", " ")


def recorded() -> list[Run]:
    """The runs of the table."""
    with TABLE.open(newline="") as file:
        lines = [line for line in file if not line.startswith("#")]
    return [
        Run(row["network"], row["options"], int(row["seed"]), int(row["frames"]), row["hash"])
        for row in csv.DictReader(lines)
    ]


def made_here() -> str:
    """What decides the bits beside the code: the machine, numba and numpy."""
    return " | ".join(value for name, value in made_with().items() if name != "sources")


def recorded_on() -> str:
    """The same where the table was written."""
    return TABLE.read_text().partition("\n")[0].removeprefix("# made with ")


def write(runs: list[Run]) -> None:
    """Write the table anew."""
    with TABLE.open("w", newline="") as file:
        file.write(f"# made with {made_here()}\n")
        out = csv.writer(file, lineterminator="\n")
        out.writerow(Run.__dataclass_fields__)
        out.writerows((r.network, r.options, r.seed, r.frames, r.hash) for r in runs)


def hash_of(run: Run) -> str:
    """What a run comes to."""
    world, steps = _world(run), _stepping(run)
    if "measured" in run.options:
        world.observers.append(Measures(world, 5.0, queues=True))
    if "snapshot" in run.options:
        other = _world(run)
        world.step(run.frames // 2)
        other.restore(world.snapshot())
        world, run = other.clone(), replace(run, frames=run.frames - run.frames // 2)
    for _ in range(run.frames):
        steps(world)
    return world.state_hash()


def _stepping(run: Run) -> Any:
    def among_bodies(world: World) -> None:
        give(world)
        world.step()

    return among_bodies if run.network == "bodies" else World.step


def _words(text: str) -> Iterator[tuple[str, str]]:
    for word in text.split():
        key, _, value = word.partition("=")
        yield key, value


def _network(text: str) -> Network:
    kind, *words = text.split()
    if kind.startswith("data:"):
        found = data_folder(Path(kind[5:]).parent.name) / Path(kind[5:]).name
        return load_network(found)
    return generate(kind, **dict(_words(" ".join(words))))


def _world(run: Run) -> World:
    if run.network == "bodies":
        return world_with_bodies()
    if run.network.startswith("kind:"):
        return KINDS[run.network[5:]]()
    network, given = _network(run.network), dict(_words(run.options))
    for flag in ("measured", "snapshot"):
        given.pop(flag, None)
    over = float(given.pop("over", 30.0))
    vehicles, trips = int(given.pop("vehicles", 0)), int(given.pop("trips", 0))
    dt, routing = float(given.pop("dt", 0.25)), given.pop("routing", None)
    kinds = [Parameters().vehicle_type(n) for n in given.pop("types", "car").split("+")]
    quotas = {key[6:]: int(given.pop(key)) for key in list(given) if key.startswith("quota.")}
    crowd: list[Any] = []
    if vehicles:
        crowd.append(vehicles_on_road(network, vehicles, seed=run.seed, vehicle_types=kinds))
    if trips:
        crowd.append(
            random_trips(network, trips, over=over, seed=run.seed + 1, vehicle_types=kinds)
        )
    return World(
        network, merge(crowd), parameters=Parameters(given), dt=dt, seed=run.seed + 2,
        quotas=quotas or None, routing=routing,
    )  # fmt: skip


def main(words: list[str]) -> int:
    """Run the table; write it when asked. Returns 1 if a hash differs."""
    runs = recorded()
    now = []
    for run in runs:
        found = hash_of(run)
        if found != run.hash:
            print(f"{run.name}: {run.hash[:12] or 'new'} -> {found[:12]}", flush=True)
        now.append(replace(run, hash=found))
        if "--write" in words:
            write(now + runs[len(now) :])
    return int(now != runs and "--write" not in words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
