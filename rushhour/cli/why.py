"""`rushhour why`: whom a vehicle or a queue of a recorded run waited for."""

import argparse
from pathlib import Path
from typing import Any

from rushhour.cli.common_options import add_json
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.words.durations import clock, seconds


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add = command.add_argument
    add("file", type=Path, metavar="RUN", help="a run file, from `rushhour run --record`")
    add("--at", metavar="T", help="the time, as 7:30 or 600s (default: the end of the run)")
    add("--vehicle", metavar="ID",
        help="vehicle, by its id in the demand or its number (default: who has stood for longest)")  # fmt: skip
    add("--road", metavar="ID", help="road or street, by id or name: the last in the queue of each of "
        "its lanes")  # fmt: skip
    add_json(command)


def why(args: argparse.Namespace) -> int:
    """Show whom a vehicle, or the end of a road's queues, waits for."""
    from rushhour.traffic.analysis.whom_to_ask import why as chains
    from rushhour.traffic.recording.run_file import RunFile

    if args.vehicle is not None and args.road is not None:
        raise RunError("why: wanted --vehicle ID or --road ID, or neither, not both")
    at = None if args.at is None else seconds(args.at, "--at")
    with RunFile(args.file) as run:
        vehicle: Any = args.vehicle
        if vehicle is not None and vehicle not in run.vehicle_names() and vehicle.isdigit():
            vehicle = int(vehicle)
        found = chains(run, at, vehicle, args.road)
    if args.json:
        print(json_text({"chains": [chain.facts() for chain in found]}))
        return 0
    if not found:
        when = "at the end" if at is None else f"at {clock(at)}"
        print(
            f"nobody stands {when}" if args.road is None else f"nobody queues on {args.road} {when}"
        )
    for chain in found:
        print("\n".join([f"at {clock(chain.time)}:", *("  " + line for line in chain.lines())]))
    return 0
