"""SUMO in a window of simulated time, stepped in this process through libsumo.

Run by peers.py in a fresh process: libsumo keeps one simulation per process.
"""

import json
from pathlib import Path
from time import perf_counter
from typing import Any

from fresh import task_of_this_process
from scenarios import SCENARIOS
from sumo_options import sumo_options
from windows import window


def sumo_window(task: dict[str, Any]) -> dict[str, Any]:
    """Warm up, then measure; each step's cost is that of the step alone."""
    import libsumo  # type: ignore[import-not-found, import-untyped, unused-ignore]

    scenario, base = SCENARIOS[task["scenario"]], Path(task["data"])
    begun = perf_counter()
    libsumo.start(["sumo", *sumo_options(scenario, base, task["threads"], task["step"])])
    load = perf_counter() - begun
    steps = round(task["block_s"] / task["step"])

    def step_block() -> int:
        updates = 0
        for _ in range(steps):
            libsumo.simulationStep()
            updates += libsumo.vehicle.getIDCount()
        return updates

    def sample() -> tuple[int, float]:
        ids = libsumo.vehicle.getIDList()
        return len(ids), sum(libsumo.vehicle.getSpeed(vehicle) for vehicle in ids)

    libsumo.simulationStep(task["warm_up"])
    figures = window(step_block, sample, task["blocks"], task["block_s"])
    libsumo.close()
    return {
        "simulator": "SUMO",
        "step_s": task["step"],
        "threads": task["threads"],
        "load_s": load,
        **figures,
    }


if __name__ == "__main__":
    print(json.dumps(sumo_window(task_of_this_process())))
