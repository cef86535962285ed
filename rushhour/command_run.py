"""`rushhour run`: a network's traffic, from the command line to the summary."""

import argparse

from rushhour.one_run import drive, given_fields, say
from rushhour.outputs import want_apart
from rushhour.traffic.scenarios.scenario import Scenario, ScenarioError


def run(args: argparse.Namespace) -> int:
    """Run the traffic of a network."""
    from rushhour.traffic.scenarios.opening import open_world, opened

    if args.seeds is not None:
        from rushhour.command_seeds import run_seeds

        return run_seeds(args)
    if args.resume is not None:
        from rushhour.command_resume import resume

        return resume(args)
    if args.network is None:
        raise ScenarioError("run: no NETWORK; give a network or a scenario, or --resume RUN")
    if args.at is not None:
        raise ScenarioError("--at is for --resume RUN; give --begin T for when the run begins")
    scenario = opened(args.network, **given_fields(args))
    _want_apart(scenario)
    world = open_world(scenario, lambda what: say(args, what))
    code, _ = drive(world, scenario, check=args.check, as_json=args.json, picture=args.picture)
    return code


def _want_apart(scenario: Scenario) -> None:
    """Refuse to record or write over the network and the demand, also those that a file names."""
    from rushhour.traffic.measures.tables import TABLES

    inputs = (scenario.network, *scenario.demand)
    if scenario.record is not None:
        want_apart([scenario.record], "--record", inputs)
    if scenario.output is not None:
        names = ("trips.csv", "summary.json", *(f"{name}.csv" for name in TABLES))
        want_apart((scenario.output / name for name in names), "--output", inputs)
