"""`rushhour fit`: trips fitted to counts."""

import argparse
import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rushhour.outputs import want_apart
from rushhour.progress import compile_bar
from rushhour.roadnets.json_text import json_text
from rushhour.roadnets.writing import replaced
from rushhour.traffic.parameters import Parameters
from rushhour.world_fields import demanded


def fit(args: argparse.Namespace) -> int:
    """Fit a demand to counts, and write it."""
    from rushhour.traffic.analysis.count_tables import read_counts
    from rushhour.traffic.demand.fitting import fit_to_counts
    from rushhour.traffic.recording.demand_file import save_demand
    from rushhour.traffic.scenarios.opening import scenario_demand, scenario_network

    scenario = demanded(args, "fit", "no trips to fit")
    want_apart([args.output], "-o", (scenario.network, *scenario.demand, args.counts))
    parameters = Parameters(dict(scenario.parameters))
    with compile_bar():
        network = scenario_network(scenario, parameters)
        found = fit_to_counts(
            network, scenario_demand(scenario, network, parameters), read_counts(args.counts, network),
            hold_out=args.hold_out, trust=args.trust, seed=scenario.seed,
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
    lines = [f"{facts['trips_before']:,} trips became {facts['trips']:,}: {facts['written']}"]
    for name in ("used", "held_out"):
        one = facts[name]
        if one is not None:
            lines.append(
                f"{name.replace('_', ' '):<9} {one['counts']:>6,} counts, GEH below 5: {one['geh_below_5_percent_before']:.1f} -> "
                f"{one['geh_below_5_percent_after']:.1f} %, RMSE {one['rmse_veh_per_h_before']:.1f} -> {one['rmse_veh_per_h_after']:.1f} veh/h"
            )
    if "matrix" in facts:
        lines.append(f"matrix    {facts['matrix']}")
    return "\n".join(lines)
