"""`rushhour run --resume`: a recorded run goes on, in a recording of its own."""

import argparse
from math import isnan
from typing import Any, Final

from rushhour.cli.progress import compile_bar
from rushhour.cli.ranks import communicator
from rushhour.roadnets.errors import RunError
from rushhour.traffic.scenarios.scenario import Scenario, ScenarioError
from rushhour.traffic.words.durations import clock, seconds

# Options that say what a run is made of: the run file says so.
_OF_THE_FILE: Final = (
    "demand", "demand_period", "demand_scale", "demand_profile", "demand_matrix", "vehicles", "trips",
    "over", "begin", "dt", "skip_bad_trips",
)  # fmt: skip
_NAMES: Final = {"demand_scale": "--scale"}  # not called as what they set


def resume(args: argparse.Namespace, report: bool) -> tuple[int, dict[str, Any]]:
    """Go on with a recorded run; see run.run_once."""
    from rushhour.cli.one_run import drive, given_fields, say
    from rushhour.traffic.recording.resuming import resume_open, want_network
    from rushhour.traffic.recording.run_file import RunFile

    for name in _OF_THE_FILE:
        if getattr(args, name) not in (None, []) and getattr(args, name) is not False:
            option = _NAMES.get(name, "--" + name.replace("_", "-"))
            raise ScenarioError(f"{option} with --resume: the run file says it; leave {option} out")
    at = None if args.at is None else seconds(args.at, "--at")
    fields = given_fields(args)
    others = dict(fields.pop("parameters", ()))
    seed = fields.pop("seed", None)
    comm = communicator()
    say(args, "reading the run")
    with compile_bar(), RunFile(args.resume) as run:
        if args.network is not None:
            from rushhour.roadnets.loading import load_network

            want_network(args.resume, run.network(), load_network(args.network), str(args.network))
        say(args, "going to where the run goes on")
        anew = "measure" in fields
        world = resume_open(run, at, parameters=others, seed=seed, measures=not anew, comm=comm)
        if "closed" in fields:
            world.close_roads(fields.pop("closed"))
        until = float(run.meta.get("until", float("nan")))
        if "give_up_after" in run.meta:
            fields.setdefault("give_up_after", float(run.meta["give_up_after"]))
    if "duration" in fields:
        end: float | None = world.time + fields.pop("duration")
    elif fields.pop("until_empty", False) or isnan(until):
        end = None
    else:
        end = until
    if end is not None and end < world.time + world.dt - 1e-9:
        raise RunError(
            f"{args.resume}: its end, {clock(end)}, has come; give --duration T for how long it is to "
            "go on, or --at an earlier time"
        )
    scenario = Scenario(
        network=args.resume, duration=None if end is None else end - world.begin, dt=world.dt,
        seed=world.seed, **fields,
    )  # fmt: skip
    return drive(
        world, scenario, check=args.check, as_json=args.json, picture=args.picture, report=report
    )
