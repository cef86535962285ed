"""`rushhour why` and `rushhour queues`: what vehicles of a recorded run waited for."""

import argparse
from typing import Any

from rushhour.progress import bar
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.durations import clock, seconds


def why(args: argparse.Namespace) -> int:
    """Show whom a vehicle, or the end of a road's queues, waits for."""
    from rushhour.traffic.analysis.waiting import why as chains
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


def queues(args: argparse.Namespace) -> int:
    """Rank the queues of a run by the time they cost."""
    from rushhour.traffic.analysis.queues import queue_lines
    from rushhour.traffic.analysis.queues import queues as found_in
    from rushhour.traffic.recording.run_file import RunFile

    begin, end = (
        None if text is None else seconds(text, option)
        for text, option in ((args.begin, "--from"), (args.end, "--until"))
    )
    every = seconds(args.every, "--every")
    for name, value in (("--top", args.top), ("--least", args.least)):
        if value < 1:
            raise RunError(f"{name} {value}: wanted 1 or more")
    with RunFile(args.file) as run:
        what: Any = bar(1.0, "", "looking for queues")
        try:
            found = found_in(
                run, begin, end, top=args.top, least=args.least, every=every, road=args.road,
                tell=lambda share: what.update(share - what.n),
            )  # fmt: skip
        finally:
            what.close()
    if args.json:
        print(json_text({"queues": [queue.__dict__ for queue in found]}))
    else:
        print("\n".join(queue_lines(found)) if found else "no queues")
    return 0
