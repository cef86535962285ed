"""`rushhour plot`: diagrams of what a run file holds."""

import argparse
from pathlib import Path
from typing import Any

from rushhour.cli.common_options import add_json
from rushhour.cli.outputs import FIGURE, add_output, want_output
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.words.durations import seconds


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add = command.add_argument
    add("file", type=Path, metavar="RUN", help="a run file, from `rushhour run --record`")
    add("kind", choices=("time-space", "speed-contour", "fundamental", "speed-map", "levels", "vehicles", "trips",
                         "queues", "costs"),
        help="positions and mean speeds over time along --road; density, flow and speed by interval; mean speed of "
        "every road; delay and level of service by approach and turn; vehicles on the road; how trips are spread; measured queues; cost of a frame "
        "by phase")  # fmt: skip
    add("--road", action="append", default=[], metavar="ID",
        help="road, by id or name; repeatable, for time-space and speed-contour one after the other; a street is driven along")  # fmt: skip
    add("--from", dest="begin", metavar="T", help="from this time on, as 7:30")
    add("--until", dest="end", metavar="T", help="until this time")
    add_output(command, "-o", "--output", endings=FIGURE, help="the PNG (default: RUN-KIND.png)")
    add_json(command)


def plot(args: argparse.Namespace) -> int:
    """Draw a diagram of a run file."""
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.viewer import plots, plots_of_delay, plots_of_runs

    begin, end = (
        None if text is None else seconds(text, option)
        for text, option in ((args.begin, "--from"), (args.end, "--until"))
    )
    path = args.output or Path(f"{args.file.stem}-{args.kind}.png")
    want_output(args, path, "-o", FIGURE)
    of_roads = {
        "time-space": plots.save_time_space,
        "speed-contour": plots_of_delay.save_speed_contour,
        "fundamental": plots.save_fundamental,
    }
    of_runs = {
        "speed-map": plots.save_speed_map,
        "levels": plots_of_delay.save_levels,
        "vehicles": plots_of_runs.save_vehicles,
        "trips": plots_of_runs.save_trips,
        "queues": plots_of_runs.save_queues,
        "costs": plots_of_runs.save_costs,
    }
    if args.road and args.kind not in of_roads:
        raise RunError(
            f"--road is for {', '.join(list(of_roads)[:-1])} and {list(of_roads)[-1]}; leave it out of {args.kind}"
        )
    with RunFile(args.file) as run:
        window = plots.Window(run, begin, end)
        if args.kind in of_roads:
            facts: dict[str, Any] = of_roads[args.kind](path, window, args.road)
        else:
            facts = of_runs[args.kind](path, window)
    said = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in facts.items())
    print(json_text({**facts, "written": str(path)}) if args.json else f"{path}: {said}")
    return 0
