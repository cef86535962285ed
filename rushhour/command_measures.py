"""`rushhour export` and `rushhour plot`: what a run file holds, as tables and as diagrams."""

import argparse
from pathlib import Path
from typing import Any

from rushhour.outputs import FIGURE, want_output
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.durations import seconds


def export(args: argparse.Namespace) -> int:
    """Write a table of a run file as csv or parquet."""
    from rushhour.traffic.recording.run_file import RunFile

    with RunFile(args.file) as run:
        table = run.table(args.table)
    table.write(args.to)
    facts = {"table": args.table, "rows": len(table), "written": str(args.to)}
    text = f"{args.to}: {len(table):,} rows of {args.table}"
    print(json_text(facts) if args.json else text)
    return 0


def plot(args: argparse.Namespace) -> int:
    """Draw a diagram of a run file."""
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.viewer import plots, plots_of_runs

    begin, end = (
        None if text is None else seconds(text, option)
        for text, option in ((args.begin, "--from"), (args.end, "--until"))
    )
    path = args.output or Path(f"{args.file.stem}-{args.kind}.png")
    want_output(args, path, "-o", FIGURE)
    of_roads = {"time-space": plots.save_time_space, "fundamental": plots.save_fundamental}
    of_runs = {
        "speed-map": plots.save_speed_map,
        "vehicles": plots_of_runs.save_vehicles,
        "trips": plots_of_runs.save_trips,
        "queues": plots_of_runs.save_queues,
        "costs": plots_of_runs.save_costs,
    }
    if args.road and args.kind not in of_roads:
        raise RunError(f"--road is for {' and '.join(of_roads)}; leave it out of {args.kind}")
    with RunFile(args.file) as run:
        window = plots.Window(run, begin, end)
        if args.kind in of_roads:
            facts: dict[str, Any] = of_roads[args.kind](path, window, args.road)
        else:
            facts = of_runs[args.kind](path, window)
    said = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in facts.items())
    print(json_text({**facts, "written": str(path)}) if args.json else f"{path}: {said}")
    return 0
