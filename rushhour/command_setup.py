"""`rushhour parameters` and `rushhour compile`."""

import argparse
import json
from time import perf_counter
from typing import TYPE_CHECKING

from rushhour.progress import compile_bar
from rushhour.traffic.parameter_table import TABLE, Parameter

if TYPE_CHECKING:
    from rushhour.roadnets.model import Network


def parameters(args: argparse.Namespace) -> int:
    """Print every parameter."""
    if args.json:
        rows = {
            row.name: {
                "unit": row.unit,
                "default": row.default,
                "range": list(row.choices) if row.choices else [row.low, row.high],
                "source": row.source,
                "description": row.description,
            }
            for row in TABLE.values()
        }
        print(json.dumps(rows))
        return 0
    if args.markdown:
        print("\n".join(markdown_table()))
        return 0
    name_width = max(map(len, TABLE))
    for row in TABLE.values():
        shown = f"{_default(row)} {row.unit}".rstrip()
        print(f"{row.name:<{name_width}}  {shown:<12}  {row.description} ({row.wanted})")
    return 0


def _default(row: Parameter) -> str:
    """The default as it is written behind --set."""
    return str(row.default).lower() if isinstance(row.default, bool) else f"{row.default}"


def markdown_table() -> list[str]:
    """The lines of the table in docs/parameters.md."""
    lines = ["| name | unit | default | wanted | what | source |", "|---|---|---|---|---|---|"]
    lines += [
        f"| `{row.name}` | {row.unit} | {_default(row)} | {row.wanted} | {row.description} | "
        f"{row.source} |"
        for row in TABLE.values()
    ]
    return lines


def compile_all(args: argparse.Namespace) -> int:
    """Compile every kernel by running a tiny world of each kind and drawing it."""
    import tempfile
    from pathlib import Path

    started = perf_counter()
    with compile_bar(frame=True), tempfile.TemporaryDirectory() as folder:
        from rushhour.command_run import save_last_frame
        from rushhour.roadnets.generators.by_name import generate
        from rushhour.roadnets.storage import load, save
        from rushhour.traffic.checker import Checker
        from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
        from rushhour.traffic.measures.measuring import Measures
        from rushhour.traffic.world import World

        for control in ("signals", "all_way_stop", "priority"):
            network = generate("grid", rows=3, columns=3, control=control)
            for demand in (
                random_trips(network, 200, 60.0, seed=1),
                vehicles_on_road(network, 150, seed=1),
            ):
                world = World(network, demand, dt=0.5, seed=1)
                world.observers += [Checker(world), Measures(world, queues=True)]
                world.step(240)
        _command_a_world(network)
        save(world.network, Path(folder) / "grid.h5")
        load(Path(folder) / "grid.h5")
        save_last_frame(world, Path(folder) / "grid.png")
    print(f"kernels are compiled ({perf_counter() - started:.1f} s)")
    return 0


def _command_a_world(network: "Network") -> None:
    """Let vehicles stop, leave the road and come back, and others drive round what is closed."""
    from rushhour.traffic.demand.random_trips import random_trips
    from rushhour.traffic.parameters import Parameters
    from rushhour.traffic.world import World

    given = Parameters({"rerouting.fraction": 1.0, "rerouting.period": 5.0})
    world = World(
        network, random_trips(network, 100, 20.0, seed=1), parameters=given, dt=0.5, seed=1
    )
    world.step(40)
    stops, stands_aside, leaves, *_ = world.vehicles.id.tolist()
    start, end = world.demand.route_start[-2:]
    ahead = world.demand.roads[(start + end) // 2]  # on the way of the last to depart
    world.stop(stops)
    world.push_aside(stands_aside)
    world.remove(leaves)
    world.close_roads(ahead)
    world.step(10)
    world.put_back(stands_aside)
    world.open_roads(ahead)
    world.step(40)
