"""`rushhour queues`: the queues of a recorded run, by what they cost."""

import argparse
from pathlib import Path
from typing import Any

from rushhour.cli.common_options import add_json
from rushhour.cli.progress import bar
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.words.durations import seconds


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add = command.add_argument
    add("file", type=Path, metavar="RUN", help="a run file, from `rushhour run --record`")
    add("--from", dest="begin", metavar="T", help="from this time on, as 7:30")
    add("--until", dest="end", metavar="T", help="until this time")
    add("--road", metavar="ID", help="only on this road or street, by id or name")
    add("--top", type=int, default=10, metavar="N", help="how many (default: 10)")
    add("--least", type=int, default=3, metavar="N",
        help="vehicles below 1.4 m/s that make a queue (default: 3)")  # fmt: skip
    add("--every", default="10s", metavar="T",
        help="time between the frames that are looked at (default: 10s)")  # fmt: skip
    add_json(command)


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
