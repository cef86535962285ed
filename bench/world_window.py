"""A world in a window of simulated time, with the cost of each phase.

Run by peers.py and step.py in a fresh process.
"""

import json
from typing import Any

import numpy as np
from fresh import task_of_this_process
from windows import window
from worlds import opened_world, process_figures

from rushhour.kernels.compiling.compile_locks import announcing_compiles


def world_window(task: dict[str, Any]) -> dict[str, Any]:
    """Warm up (compile, then `warm_up` simulated seconds), then measure `blocks` blocks."""
    world, times = opened_world(task)
    frames = max(1, round(task["block_s"] / world.dt))
    world.step(round(task["warm_up"] / world.dt))
    first = world.costs.frames

    def step_block() -> int:
        before = world.vehicle_updates
        world.step(frames)
        return int(world.vehicle_updates - before)

    def sample() -> tuple[int, float]:
        speed = world.vehicles.speed
        return speed.size, float(speed.sum())

    compiled: list[str] = []
    with announcing_compiles(compiled.append):
        figures = window(step_block, sample, task["blocks"], frames * world.dt)
    measured = world.costs.frames - first
    costs = world.costs.recent()[-measured:]
    phases = costs.sum(axis=0) / max(1, figures["vehicle_updates"])
    p50, p99 = np.percentile(costs, [50, 99], axis=0) / 1e6
    frame_p50, frame_p99 = np.percentile(costs.sum(axis=1), [50, 99]) / 1e6
    return {
        "simulator": "rushhour",
        "step_s": world.dt,
        **figures,
        "frames": measured,
        "phase_ns_per_update": dict(zip(world.costs.names, phases.tolist(), strict=True)),
        "phase_ms_p50": dict(zip(world.costs.names, p50.tolist(), strict=True)),
        "phase_ms_p99": dict(zip(world.costs.names, p99.tolist(), strict=True)),
        "frame_ms_p50": float(frame_p50),
        "frame_ms_p99": float(frame_p99),
        "counts": world.counts(),
        "steered": world.steered(),
        "compiled": len(compiled),
        **times,
        **process_figures(),
    }


if __name__ == "__main__":
    print(json.dumps(world_window(task_of_this_process())))
