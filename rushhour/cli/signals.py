"""`rushhour signals`: fixed-time signals timed for a demand, what they come to, and what that brings."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rushhour.cli.common_options import add_json
from rushhour.cli.outputs import FIGURE, H5, TABLE, add_output
from rushhour.cli.progress import bar, compile_bar
from rushhour.cli.world_options import add_demand_options
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.words.durations import seconds

if TYPE_CHECKING:
    from rushhour.roadnets.model import Network
    from rushhour.traffic.demand.model import Demand
    from rushhour.traffic.scenarios.scenario import Scenario
    from rushhour.traffic.timing.retiming import Retiming, TimingOptions


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add_demand_options(command)
    add = command.add_argument
    add_output(
        command, "-o", "--output", endings=H5, help="write the network with the new programs (.h5)"
    )
    add("--cycle", metavar="A..B",
        help="shortest and longest cycle, s, or one for all (default: 40..120)")  # fmt: skip
    add("--min-green", type=int, metavar="S", help="shortest green, s (default: 6)")
    add("--phases", choices=("auto", "keep", "new"), help="keep the phases that the network has, make new "
        "ones from conflicts, or what delays less (default: auto)")  # fmt: skip
    add("--coordinate", metavar="M", help="share a cycle with signals up to M metres on, where much "
        "traffic goes from one to the other; 0: each by itself (default: 800)")  # fmt: skip
    add("--standard", choices=("rilsa", "mutcd"), help="of yellow, intergreens and pace of people on foot "
        "(default: rilsa)")  # fmt: skip
    add("--from", dest="flows_from", metavar="T", help="count flows from this time on, as 7:30 (default: "
        "the busiest hour)")  # fmt: skip
    add("--until", dest="flows_until", metavar="T", help="count flows until this time")
    add("--evaluate", metavar="A..B", help="simulate before and after with these seeds, as 1..5, and print "
        "the change in total delay")  # fmt: skip
    add_output(
        command, "--csv", endings=TABLE[:1], help="write the lanes of all signals as a table"
    )
    add("--corridor", metavar="A,B,...", help="signals along the corridor of --plot, in their order "
        "(default: the busiest)")  # fmt: skip
    add_output(command, "--plot", endings=FIGURE, help="draw the corridor over time: greens, bands, and the "
        "vehicles of --run")  # fmt: skip
    add("--run", dest="run_file", type=Path, metavar="RUN", help="with --plot: draw the vehicles of this run "
        "file of the network with the new programs")  # fmt: skip
    add_json(command)


def signals(args: argparse.Namespace) -> int:
    """Time the signals of a network for a demand."""
    from rushhour.roadnets.storage import save
    from rushhour.traffic.analysis.repeating import seeds_of
    from rushhour.traffic.scenarios.opening import scenario_network
    from rushhour.traffic.scenarios.scenario import ScenarioError
    from rushhour.traffic.settings.parameters import Parameters
    from rushhour.traffic.timing.evaluating import compared, compared_text
    from rushhour.traffic.timing.retiming import retimed
    from rushhour.traffic.timing.timing_report import facts_of, report_text, write_lanes

    options = _options(args)
    seeds = None if args.evaluate is None else seeds_of(args.evaluate, "--evaluate")
    for given, name in ((args.corridor, "--corridor"), (args.run_file, "--run")):
        if given is not None and args.plot is None:
            raise ScenarioError(f"{name} is for --plot; add --plot FILE or leave it out")
    scenario = _scenario(args)
    with compile_bar():
        network = scenario_network(scenario, Parameters(dict(scenario.parameters)))
        found = retimed(network, _demand(scenario, network), options)
    facts = facts_of(found)
    if args.output is not None:
        save(found.network, args.output)
        facts["written"] = str(args.output)
    if args.csv is not None:
        write_lanes(facts, args.csv)
    if args.plot is not None:
        facts["corridor"] = _draw(args, found)
    if seeds is not None:
        what: Any = bar(2.0 * len(seeds), "runs", "evaluating")
        try:
            facts["evaluation"] = compared(
                scenario, network, found.network, seeds, lambda: what.update(1)
            )
        finally:
            what.close()
    if args.json:
        print(json_text(facts))
        return 0
    print(report_text(facts))
    if "evaluation" in facts:
        print("\n" + compared_text(facts["evaluation"]))
    if args.plot is not None:
        print(f"{args.plot}: {', '.join(facts['corridor']['signals'])}")
    if args.output is not None:
        print(f"{args.output}: the network with these programs")
    return 0


def _scenario(args: argparse.Namespace) -> "Scenario":
    """What the command line says of network and demand. Raises ScenarioError for what has no times."""
    from rushhour.cli.world_fields import demanded
    from rushhour.traffic.scenarios.scenario import ScenarioError
    from rushhour.traffic.settings.parameters import Parameters

    scenario = demanded(args, "signals", "signals are timed for a demand")
    if scenario.vehicles is not None:
        raise ScenarioError(
            f"{args.network}: its vehicles drive about without a route; give --demand or --trips"
        )
    control = str(Parameters(dict(scenario.parameters))["signals.control"])
    if control not in ("fixed", "program"):
        raise ScenarioError(
            f"signals.control={control}: signals that react have no times to find; leave it out"
        )
    return scenario


def _demand(scenario: "Scenario", network: "Network") -> "Demand":
    """The demand with routes; those that drivers choose are those of a run with the given signals."""
    from rushhour.traffic.demand.model import WAY_OPEN
    from rushhour.traffic.scenarios.opening import open_world
    from rushhour.traffic.timing.evaluating import driven, run_out

    world = open_world(scenario, network=network)
    if not (world.demand.route_choice == WAY_OPEN).any():
        return world.demand
    return driven(run_out(world, scenario))


def _options(args: argparse.Namespace) -> "TimingOptions":
    """How signals are to be timed. Raises ScenarioError for an option that is not right."""
    from rushhour.roadnets.signals.intergreens import STANDARDS
    from rushhour.traffic.scenarios.scenario import ScenarioError
    from rushhour.traffic.timing.retiming import TimingOptions

    given: dict[str, Any] = {}
    if args.cycle is not None:
        low, dots, high = args.cycle.partition("..")
        try:
            given["cycle"] = int(low), int(high if dots else low)
        except ValueError:
            raise ScenarioError(
                f"--cycle {args.cycle[:40]!r}: wanted seconds such as 40..120 or 90"
            ) from None
    if args.coordinate is not None:
        try:
            given["within"] = float(args.coordinate)
        except ValueError:
            raise ScenarioError(
                f"--coordinate {args.coordinate[:40]!r}: wanted metres such as 800"
            ) from None
    if args.min_green is not None:
        given["least_green"] = args.min_green
    if args.phases is not None:
        given["phases"] = args.phases
    if args.standard is not None:
        given["standard"] = STANDARDS[args.standard]
    for name, option, value in (
        ("begin", "--from", args.flows_from),
        ("end", "--until", args.flows_until),
    ):
        if value is not None:
            given[name] = seconds(value, option)
    options = replace(TimingOptions(), **given)
    if options.begin is not None and options.end is not None and options.begin >= options.end:
        raise ScenarioError("--from is not before --until; give the earlier time first")
    return options


def _draw(args: argparse.Namespace, found: "Retiming") -> dict[str, Any]:
    """Draw the corridor."""
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.traffic.timing.corridors import corridor_of
    from rushhour.viewer.corridor_plot import save_corridor

    names = None if args.corridor is None else args.corridor.split(",")
    corridor = corridor_of(found, names)
    if args.run_file is None:
        return save_corridor(args.plot, found.network, corridor)
    with RunFile(args.run_file) as run:
        if run.network().road_ids != found.network.road_ids:
            raise RunError(f"--run {args.run_file}: is of another network; record it on this one")
        return save_corridor(args.plot, found.network, corridor, run)
