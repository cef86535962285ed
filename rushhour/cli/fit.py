"""`rushhour fit`: trips fitted to counts."""

import argparse
import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rushhour.cli.common_options import add_json
from rushhour.cli.outputs import H5, TABLE, add_output, want_apart
from rushhour.cli.progress import compile_bar
from rushhour.cli.world_options import add_demand_options
from rushhour.roadnets.json_text import json_text
from rushhour.roadnets.writing import replaced

TRUST: Final = 0.3  # in the trips as they are


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add_demand_options(command)
    add = command.add_argument
    add("--counts", type=Path, required=True, metavar="FILE",
        help="a table of counts, as `rushhour counts` takes")  # fmt: skip
    add_output(command, "-o", "--output", endings=H5, required=True, help="the fitted trips (.h5), for --demand")  # fmt: skip
    add("--hold-out", type=float, default=0.0, metavar="X", help="share of the counters that are not used but compared with (default: 0)")  # fmt: skip
    add("--trust", type=float, default=TRUST, metavar="X", help=f"in the trips as they are: more keeps them (default: {TRUST:g})")  # fmt: skip
    add_output(command, "--matrix", endings=TABLE[:1], help="write trips between zones, fitted and before (.csv, for --demand)")  # fmt: skip
    add_json(command)


def fit(args: argparse.Namespace) -> int:
    """Fit a demand to counts, and write it."""
    from rushhour.cli.world_fields import demanded
    from rushhour.traffic.analysis.count_tables import read_counts
    from rushhour.traffic.demand.fitting import fit_to_counts
    from rushhour.traffic.recording.demand_file import save_demand
    from rushhour.traffic.scenarios.opening import (
        scenario_demand,
        scenario_network,
        scenario_zones,
    )
    from rushhour.traffic.settings.parameters import Parameters

    scenario = demanded(args, "fit", "no trips to fit")
    want_apart([args.output], "-o", (scenario.network, *scenario.demand, args.counts))
    parameters = Parameters(dict(scenario.parameters))
    with compile_bar():
        network = scenario_network(scenario, parameters)
        zones = scenario_zones(scenario, network) if args.matrix is not None else None
        demand = scenario_demand(scenario, network, parameters, zones)
        found = fit_to_counts(
            network, demand, read_counts(args.counts, network), hold_out=args.hold_out,
            trust=args.trust, seed=scenario.seed, zones=zones,
        )  # fmt: skip
    save_demand(args.output, found.demand)
    facts = {"network": network.name, **found.facts(), "written": str(args.output)}
    if args.matrix is not None:
        _write_matrix(args.matrix, found.matrix)
        facts["matrix"] = str(args.matrix)
    print(json_text(facts) if args.json else _text(facts))
    return 0


def _write_matrix(path: Path, pairs: Mapping[tuple[str, str], tuple[float, float]]) -> None:
    with replaced(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("o_zone_id", "d_zone_id", "volume", "before"))
        for (origin, destination), (before, after) in pairs.items():
            writer.writerow((origin, destination, f"{after:.4f}", f"{before:.0f}"))


def _text(facts: dict[str, Any]) -> str:
    lines = [*fit_lines(facts), f"written   {facts['written']}"]
    if "matrix" in facts:
        lines.append(f"matrix    {facts['matrix']}")
    return "\n".join(lines)


def fit_lines(facts: dict[str, Any]) -> list[str]:
    """What became of the trips and of how counters agree, a line each."""
    lines = [f"{facts['trips_before']:,} trips became {facts['trips']:,}"]
    lines += [f"note: {remark}" for remark in facts["notes"]]
    for name in ("used", "held_out"):
        one = facts[name]
        if one is not None:
            lines.append(
                f"{name.replace('_', ' '):<9} {one['counts']:>6,} counts, GEH below 5: {one['geh_below_5_percent_before']:.1f} -> "
                f"{one['geh_below_5_percent_after']:.1f} %, RMSE {one['rmse_veh_per_h_before']:.1f} -> {one['rmse_veh_per_h_after']:.1f} veh/h"
            )
    return lines
