"""One simulated day of Porto with a morning and an evening peak: wall time by hour, vehicles on the road.

python bench/day.py [--trips N] [--reach METRES] [--work DIR] [--limit MINUTES] [--threads N] [--dt T] [--data DIR]

Network and trips are made once, in DIR. Every simulated hour the state is left in DIR/day.h5 and the
figures in DIR/day.json; the same command goes on from there. With --limit it stops after so many
minutes of stepping.
"""

import argparse
import json
import os
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final

import numba
from porto_files import DAY_REACH, day_departures, porto_network, porto_routes
from scenarios import DATA_HELP, data_base
from sumo_options import sumo_binary

from rushhour.roadnets.loading import load_network
from rushhour.traffic.profiling.conditions import condition_lines, conditions
from rushhour.traffic.profiling.text_tables import table
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.sumo.demand import read_demand
from rushhour.traffic.world import World

HOUR: Final = 3600.0
LONGEST: Final = 30 * HOUR  # from midnight; who has not arrived by then is told
COLUMNS: Final = (
    "hour", "simulated_s", "wall_s", "cpu_s", "mean_on_road", "on_road", "mean_speed_mps",
    "departed", "arrived", "real_time_factor", "load_average",
)  # fmt: skip


@dataclass
class Hour:
    """What a simulated hour, or what there was of it, took."""

    begin: float
    wall: float = 0.0
    cpu: float = 0.0
    updates: int = 0

    def row(self, world: World) -> dict[str, Any]:
        """Of the table. Speed and vehicles on the road as they are now, and the mean of the hour."""
        simulated = world.time - self.begin
        speed = world.vehicles.speed
        return {
            "hour": int(self.begin // HOUR),
            "simulated_s": simulated,
            "wall_s": self.wall,
            "cpu_s": self.cpu,
            "mean_on_road": self.updates * world.dt / simulated,
            "on_road": world.active,
            "mean_speed_mps": float(speed.mean()) if speed.size else 0.0,
            "departed": world.departed,
            "arrived": world.arrived,
            "real_time_factor": simulated / self.wall,
            "load_average": os.getloadavg()[0],
        }


def opened(options: argparse.Namespace) -> World:
    """The world as it was left, or at midnight."""
    kept = options.work / "day.h5"
    if kept.exists():
        return World.resume(kept)
    departures = day_departures(options.trips)
    file = porto_network(options.data, options.work)
    name = f"day_{options.trips}_{options.reach:g}"
    routes = porto_routes(file, name, options.trips, departures, False, options.reach)
    network = load_network(file)
    demand = read_demand([routes], network)
    return World(network, demand, dt=options.dt, seed=options.seed, begin=0.0)


def mean_way(world: World) -> float:
    """Mean length of the trips' ways, m, their first and last road whole."""
    demand = world.demand
    return float(world.network.arrays.roads.length[demand.roads].sum() / len(demand))


def keep(world: World, path: Path) -> None:
    """Leave the complete state; a file that is there is replaced once the new one is whole."""
    half = path.with_name(f"half.{path.name}")
    Recorder(half, world, mode="keyframes").close()
    os.replace(half, path)


def drive(world: World, options: argparse.Namespace) -> None:
    """Step until everybody has arrived or the limit is reached; rows by hour are added to the file."""
    kept = options.work / "day.json"
    rows = json.loads(kept.read_text())["hours"] if world.frame and kept.exists() else []
    frames, left = round(60.0 / world.dt), 60.0 * options.limit
    while not world.done and world.time < LONGEST and left > 0.0:
        hour = Hour(world.time)
        end = (world.time // HOUR + 1.0) * HOUR
        while world.time < end - 0.5 * world.dt and not world.done and left > 0.0:
            wall, cpu, before = perf_counter(), process_time(), world.vehicle_updates
            world.step(frames)
            hour.cpu += process_time() - cpu
            took = perf_counter() - wall
            hour.wall, left = hour.wall + took, left - took
            hour.updates += world.vehicle_updates - before
        rows.append(hour.row(world))
        print(*(f"{name} {value:,.6g}" for name, value in rows[-1].items()), sep=", ", flush=True)
        keep(world, options.work / "day.h5")
        found = {"conditions": conditions(), "trips": len(world.demand), "reach_m": options.reach,
                 "mean_way_m": mean_way(world), "dt": world.dt,
                 "threads": options.threads, "done": world.done, "counts": world.counts(),
                 "hours": rows}  # fmt: skip
        kept.write_text(json.dumps(found, indent=1) + "\n")
    print("\n".join(["", *report(rows), f"everybody has arrived: {world.done}"]))


def report(rows: list[dict[str, Any]]) -> list[str]:
    """The table by hour."""
    cells = [[row[name] for name in COLUMNS] for row in rows]
    return table([name.replace("_", " ") for name in COLUMNS], cells)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--trips", type=int, default=1_000_000)
    add(
        "--reach",
        type=float,
        default=DAY_REACH,
        metavar="METRES",
        help="a trip is accepted with the probability exp(-distance / reach), as the crow flies; "
        "default %(default)g",
    )
    add("--work", type=Path, default=Path("bench-results"), metavar="DIR",
        help="what is made and left")  # fmt: skip
    add("--limit", type=float, default=600.0, metavar="MINUTES", help="of stepping; default 600")
    add("--threads", type=int, default=os.cpu_count(), help="default all")
    add("--dt", type=float, default=0.5, help="s; default 0.5")
    add("--seed", type=int, default=1)
    add("--data", type=Path, help=DATA_HELP)
    given = parser.parse_args()
    if not given.reach > 0.0:
        parser.error(f"--reach {given.reach:g}: wanted more than 0 m")
    try:
        given.data = data_base(given.data)
        sumo_binary()
    except FileNotFoundError as error:
        parser.error(str(error))
    return given


def main() -> None:
    """Open, drive, print."""
    options = arguments()
    print("\n".join(condition_lines(conditions())), flush=True)
    options.work.mkdir(parents=True, exist_ok=True)
    numba.set_num_threads(options.threads)
    begun = perf_counter()
    world = opened(options)
    took = perf_counter() - begun
    told = f"{len(world.demand):,} trips of {mean_way(world):,.0f} m in the mean"
    print(f"{told}; opened in {took:.0f} s", flush=True)
    drive(world, options)


if __name__ == "__main__":
    main()
