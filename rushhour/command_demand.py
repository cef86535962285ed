"""`rushhour demand`: a day of car trips from what a map tells of homes, work, schools and shops."""

import argparse
from typing import Any

from rushhour.outputs import want_apart
from rushhour.progress import compile_bar
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.durations import seconds


def demand(args: argparse.Namespace) -> int:
    """Draw trips, and write them."""
    from rushhour.roadnets.loading import load_network
    from rushhour.traffic.demand.gravity import DAY, Model, day_demand
    from rushhour.traffic.demand.land_use import read_land_use
    from rushhour.traffic.recording.demand_file import save_demand

    want_apart([args.output], "-o", [args.map, *([args.network] if args.network else [])])
    given: dict[str, Any] = {
        name: getattr(args, name)
        for name in ("population", "rate", "external", "through")
        if getattr(args, name) is not None
    }
    if args.mean_time is not None:
        given["mean_time"] = seconds(args.mean_time, "--mean-time")
    model = Model(**given)
    begin = 0.0 if args.begin is None else seconds(args.begin, "--begin")
    end = DAY if args.end is None else seconds(args.end, "--end")
    with compile_bar():
        network = load_network(args.network or args.map)
        found = day_demand(
            network, read_land_use(args.map, network), model, begin=begin, end=end, seed=args.seed
        )
    save_demand(args.output, found.demand)
    facts = {"network": network.name, **found.facts, "written": str(args.output)}
    if args.plot is not None:
        from rushhour.viewer.plots_of_demand import save_demand_picture

        save_demand_picture(args.plot, network, found.demand)
        facts["plot"] = str(args.plot)
    print(json_text(facts) if args.json else _text(facts, found.demand.remarks))
    return 0


def _text(facts: dict[str, Any], remarks: tuple[str, ...]) -> str:
    floor = ", ".join(f"{name} {value:,} m2" for name, value in facts["floor_m2"].items())
    purposes = ", ".join(f"{name} {count:,}" for name, count in facts["by_purpose"].items())
    rows = [
        ("map", f"{facts['buildings']:,} buildings, {facts['points']:,} shops and other places, {facts['areas']:,} areas"),
        ("floor", floor), ("population", f"{facts['population']:,}"),
        ("gates", f"{facts['gates'][0]} in, {facts['gates'][1]} out"),
        ("trips", f"{facts['trips']:,}: {purposes}"), *(("note", remark) for remark in remarks),
        ("written", facts["written"]),
    ]  # fmt: skip
    return "\n".join(f"{name:<12} {text}" for name, text in rows)
