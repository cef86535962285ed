"""A window of simulated time, measured in blocks: the figures both simulators are compared by."""

from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time
from typing import Any


def window(
    step_block: Callable[[], int],
    sample: Callable[[], tuple[int, float]],
    blocks: int,
    block_s: float,
) -> dict[str, Any]:
    """Step `blocks` blocks of `block_s` simulated seconds and time each one.

    step_block: steps one block and returns its vehicle-updates. sample: vehicles on the road and
    the sum of their speeds, asked between blocks and not timed. The real-time factor and the
    vehicle-updates per second are those of the median block; `best` ones stand beside them.
    """
    walls, updates, on_road, speeds = [], [], 0, 0.0
    cpu = 0.0
    for _ in range(blocks):
        wall_before, cpu_before = perf_counter(), process_time()
        updates.append(step_block())
        cpu += process_time() - cpu_before
        walls.append(perf_counter() - wall_before)
        vehicles, speed = sample()
        on_road += vehicles
        speeds += speed
    rates = [done / wall for done, wall in zip(updates, walls, strict=True)]
    return {
        "simulated_s": blocks * block_s,
        "wall_s": sum(walls),
        "cpu_s": cpu,
        "vehicle_updates": sum(updates),
        "real_time_factor": block_s / median(walls),
        "best_real_time_factor": block_s / min(walls),
        "vehicle_updates_per_s": median(rates),
        "best_vehicle_updates_per_s": max(rates),
        "mean_on_road": on_road / blocks,
        "mean_speed_mps": speeds / max(1, on_road),
        "block_wall_s": walls,
    }
