"""`rushhour assign`: ways in dynamic user equilibrium, by iterated simulation."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rushhour.cli.common_options import add_json
from rushhour.cli.outputs import FIGURE, H5, add_output, want_apart
from rushhour.cli.progress import bar, compile_bar
from rushhour.cli.world_options import add_demand_options
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.words.durations import seconds

if TYPE_CHECKING:
    from rushhour.roadnets.model import Network
    from rushhour.traffic.assignment.equilibrium import Assignment


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add_demand_options(command)
    add = command.add_argument
    add_output(command, "-o", "--output", endings=H5, required=True,
        help="the trips with their ways (.h5), for --demand; written after each iteration")  # fmt: skip
    add("--iterations", type=int, default=30, metavar="N", help="simulations at most (default: 30)")
    add("--gap", type=float, default=0.01, metavar="X", help="relative gap at which to stop (default: 0.01)")  # fmt: skip
    add("--method", default="gap", metavar="NAME", help="who switches: gap, by what they gain, or msa, one in n of all "
        "who gain in iteration n (default: gap)")  # fmt: skip
    add("--share", type=float, default=1.0, metavar="X", help="share that switches of those who gain a thirtieth and more, with gap (default: 1)")  # fmt: skip
    add("--interval", metavar="T", help="interval of travel times (default: 5min)")
    add("--all", action="store_true", help="also trips whose way the demand gives get others, from its first to its last road")  # fmt: skip
    add("--resume", action="store_true", help="go on where the file of -o ended")
    add_output(
        command, "--sumo", endings=(".rou.xml", ".rou.xml.gz"), help="also write them for SUMO"
    )
    add_output(
        command, "--plot", endings=FIGURE, help="draw the gap and the mean time by iteration"
    )
    add_json(command)


def assign(args: argparse.Namespace) -> int:
    """Assign a demand; 1 where the wanted gap was not reached."""
    from rushhour.cli.world_fields import demanded
    from rushhour.traffic.assignment.equilibrium import SPAN
    from rushhour.traffic.assignment.equilibrium import assign as assigned
    from rushhour.traffic.assignment.files import load_assignment, save_assignment
    from rushhour.traffic.assignment.switching import Method
    from rushhour.traffic.scenarios.opening import scenario_demand, scenario_network
    from rushhour.traffic.settings.parameters import Parameters

    scenario = demanded(args, "assign", "nobody drives", dt=0.5)
    want_apart([args.output], "-o", (scenario.network, *scenario.demand))
    method = Method(args.method, args.share)
    span = SPAN if args.interval is None else seconds(args.interval, "--interval")
    parameters = Parameters(dict(scenario.parameters))
    what: Any = bar(float(args.iterations), "iterations", "assigning")
    headed = args.json

    def tell(found: "Assignment") -> None:
        nonlocal headed
        save_assignment(args.output, found)
        last = found.iterations[-1]
        if not args.json:
            what.clear()
            print(line(last) if headed else f"{HEAD}\n{line(last)}", flush=True)
            headed = True
        what.set_postfix_str(f"gap {100.0 * last.gap:.2f} %", refresh=False)
        what.update(1)

    with compile_bar():
        network = scenario_network(scenario, parameters)
        demand = scenario_demand(scenario, network, parameters)
        before = load_assignment(args.output, network) if args.resume else None
        try:
            found = assigned(
                network, demand, iterations=args.iterations, gap=args.gap, method=method, span=span,
                dt=scenario.dt, seed=scenario.seed, parameters=parameters, every_way=args.all, before=before,
                tell=tell,
            )  # fmt: skip
        finally:
            what.close()
    written = [args.output, *_write(args, network, found)]
    least = min(one.gap for one in found.iterations)
    facts = {
        "network": network.name, "trips": len(found.demand), "gap": least, "reached": least <= args.gap,
        "iterations": [one.facts() for one in found.iterations], "written": [str(p) for p in written],
    }  # fmt: skip
    if args.json:
        print(json_text(facts))
    else:
        print(told(least, args.gap, written))
    return 0 if least <= args.gap else 1


def _write(args: argparse.Namespace, network: "Network", found: "Assignment") -> list[Path]:
    """Write the ways for SUMO and draw the gaps, where that was asked for."""
    written = []
    if args.sumo is not None:
        from rushhour.traffic.assignment.files import write_sumo_routes

        write_sumo_routes(args.sumo, network, found.demand)
        written.append(args.sumo)
    if args.plot is not None:
        from rushhour.viewer.plots_of_runs import save_gaps

        save_gaps(args.plot, found.iterations, network.name)
        written.append(args.plot)
    return written


HEAD = f"{'iteration':>9} {'gap, %':>8} {'mean time, s':>13} {'delay, veh h':>13} {'left':>6} {'switched':>9} {'CPU, s':>8}"


def line(one: Any) -> str:
    """An iteration as a line of a table."""
    return (
        f"{one.number:>9} {100.0 * one.gap:>8.2f} {one.mean_time:>13.1f} {one.total_delay:>13.1f} "
        f"{one.unfinished:>6,} {one.switched:>9,} {one.cpu:>8.1f}"
    )


def told(gap: float, wanted: float, written: list[Path]) -> str:
    """How it ended."""
    end = "reached" if gap <= wanted else "not reached: give more --iterations, with --resume"
    return f"gap {100.0 * gap:.2f} %, wanted {100.0 * wanted:g} %: {end}; {', '.join(map(str, written))}"
