"""Work quotas for people: what they came to in a run, and which suit a budget on this machine."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rushhour.cli.progress import compile_bar
from rushhour.cli.world_fields import world_fields
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.words.durations import seconds

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile


def quotas_text(quotas: Mapping[str, Mapping[str, float]]) -> str:
    """What quotas came to, for people."""
    return "; ".join(
        f"{name} {told['most']:,}: "
        + (
            f"{told['waiting']:,} wait, {told['most_waiting']:,} at most, "
            f"the longest {told['longest_wait_s']:g} s"
            if told["most_waiting"]
            else "nothing waited"
        )
        for name, told in quotas.items()
    )


def quotas_of_run(run: "RunFile") -> dict[str, dict[str, float]]:
    """What each quota of a run came to by its end; nothing where none was given."""
    if run.dataset("quotas") is None:  # an older file
        return {}
    table, dt = run.table("quotas").columns, float(run.meta["dt"])
    last = {str(name): row for row, name in enumerate(table["quota"])}
    return {
        name: {
            **{key: int(table[key][row]) for key in ("most", "waiting", "most_waiting", "put_off")},
            "longest_wait_s": round(float(table["longest"][row]) * dt, 6),
        }
        for name, row in last.items()
    }


def calibrate(args: argparse.Namespace) -> int:
    """Measure what work costs here, and tell the quotas for a budget."""
    from rushhour.traffic.profiling.calibrating import calibrate as calibrated
    from rushhour.traffic.profiling.conditions import condition_lines
    from rushhour.traffic.profiling.text_tables import table
    from rushhour.traffic.scenarios.opening import opened, scenario_network
    from rushhour.traffic.settings.parameters import Parameters

    fields = world_fields(args)
    parameters = Parameters(dict(fields.get("parameters", ())))
    with compile_bar():
        found = calibrated(
            scenario_network(opened(args.network), parameters), parameters,
            float(fields.get("dt", 0.25)), int(fields.get("seed", 0)),
            seconds(args.budget, "--budget"),
        )  # fmt: skip
    if args.json:
        print(json_text(found))
        return 0
    quotas: dict[str, int] = found["quotas"]
    measured: dict[str, float] = found["measured_ns"]
    cost_of = {"vehicles": "vehicle"}
    rows = [[name, measured.get(cost_of.get(name, name)), most] for name, most in quotas.items()]
    print("\n".join(table(["quota", "ns each", "a frame"], rows)))
    print(" ".join(f"--quota {name}={most}" for name, most in quotas.items()))
    print("\n".join(condition_lines(found["conditions"])))
    return 0
