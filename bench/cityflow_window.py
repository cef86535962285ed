"""CityFlow in a window of simulated time, on a SUMO grid and its trips.

Run by peers.py in a fresh process. CityFlow is built from its sources by hand: bench/README.md.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from cityflow_files import write_cityflow
from fresh import task_of_this_process
from windows import window

KEPT: list[Any] = []  # its threads do not always end when an engine is deleted: the process is left


def cityflow_window(task: dict[str, Any]) -> dict[str, Any]:
    """Warm up, then measure steps of 1 s; vehicles that wait to enter are not counted."""
    sys.path.insert(0, task["cityflow"])
    import cityflow  # type: ignore[import-not-found, import-untyped, unused-ignore]

    with tempfile.TemporaryDirectory() as name:
        files = Path(task["network"]), Path(task["demand"][-1]), Path(name)
        config = write_cityflow(*files, lane_changes=task["lane_changes"])
        engine = cityflow.Engine(str(config), thread_num=task["threads"])
        KEPT.append(engine)
    for _ in range(round(task["warm_up"])):
        engine.next_step()

    def step_block() -> int:
        updates = 0
        for _ in range(round(task["block_s"])):
            engine.next_step()
            updates += engine.get_vehicle_count()
        return updates

    def sample() -> tuple[int, float]:
        speeds = engine.get_vehicle_speed()
        return len(speeds), sum(speeds.values())

    figures = window(step_block, sample, task["blocks"], task["block_s"])
    changes = "" if task["lane_changes"] else ", no lane changes"
    return {
        "simulator": f"CityFlow{changes}", "step_s": 1.0, "threads": task["threads"], **figures
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(cityflow_window(task_of_this_process())), flush=True)
    os._exit(0)
