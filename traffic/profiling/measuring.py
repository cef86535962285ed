"""Measuring frames of a world: the same ones as often as wanted, with what runs beside them."""

import gc
from time import perf_counter_ns, process_time_ns
from typing import TYPE_CHECKING, Any, Final, Self

import numba
import numpy as np

from rushhour.roadnets.errors import RunError
from rushhour.traffic.profiling.conditions import conditions
from rushhour.traffic.profiling.profile import Profile
from rushhour.traffic.stepping.costs import PHASES, Costs

if TYPE_CHECKING:
    from rushhour.traffic.world import World

MOST_FRAMES: Final = 1_000_000
MOST_REPEATS: Final = 1000
MARKS_TRIED: Final = 2000


class Collections:
    """The time that garbage collection takes, while it is listened to."""

    def __init__(self) -> None:
        self.ns = 0
        self.times = 0
        self._since = 0

    def __call__(self, phase: str, _: Any) -> None:
        """What Python calls before and after a collection."""
        if phase == "start":
            self._since = perf_counter_ns()
        else:
            self.ns += perf_counter_ns() - self._since
            self.times += 1

    def __enter__(self) -> Self:
        gc.callbacks.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        gc.callbacks.remove(self)


def measure_frames(
    world: "World", frames: int, *, warm_up: float = 0.0, repeat: int = 1, progress: Any = None
) -> Profile:
    """Step a world and tell what its frames cost.

    frames: how many are measured, after warm_up, s of the simulation. repeat: the same frames are
    stepped so many times, from a snapshot; the cost of each is the median of its repeats, so what
    disturbed one does not count. The world stands behind the last of them. progress: called after
    every frame. Raises RunError for numbers out of range.
    """
    if not 1 <= frames <= MOST_FRAMES:
        raise RunError(f"{frames} frames: wanted 1 to {MOST_FRAMES:,}")
    if not 1 <= repeat <= MOST_REPEATS:
        raise RunError(f"{repeat} repeats: wanted 1 to {MOST_REPEATS:,}")
    if world.observers and repeat > 1:
        raise RunError("repeat: frames with observers are stepped once; take them out, or repeat 1")
    for _ in range(round(warm_up / world.dt)):
        world.step()
        _tell(progress)
    before, touched = (world.snapshot() if repeat > 1 else None), [_touched(world)]
    ns = np.zeros((repeat, frames, len(PHASES)))
    collecting = np.zeros((repeat, frames))
    vehicles, begin = np.zeros(frames), world.time
    wall, processor, fewer = perf_counter_ns(), process_time_ns(), world.pace.fewer
    with Collections() as collections:
        for k in range(repeat):
            if k:
                assert before is not None
                world.restore(before)
            for i in range(frames):
                collected = collections.ns
                world.step()
                ns[k, i] = list(world.costs.last().values())
                vehicles[i] = world.costs.updates[
                    (world.costs.frames - 1) % world.costs.updates.size
                ]
                collecting[k, i] = collections.ns - collected
                _tell(progress)
    wall, processor = perf_counter_ns() - wall, process_time_ns() - processor
    touched.append(_touched(world))
    whole = np.concatenate((ns, ns.sum(axis=2, keepdims=True)), axis=2)
    facts = {
        "threads": numba.get_num_threads(),
        "seed": world.seed,
        "network": {
            "lanes": world.network.n_road_lanes, "intersections": len(world.network.intersection_ids),
        },
        "touched": {name: round(sum(t[name] for t in touched) / len(touched)) for name in touched[0]},
        "collections": collections.times,
        "frames_of_fewer_threads": world.pace.fewer - fewer,
        "cores_busy": round(processor / max(1, wall), 2),
        "measuring_ns_per_frame": _cost_of_marks(),
        "conditions": conditions(),
    }  # fmt: skip
    return Profile(
        name=world.network.name, dt=world.dt, time=begin + world.dt * np.arange(frames, dtype=np.float64),
        ns=np.median(ns, axis=0), vehicles=vehicles, repeats=np.median(whole, axis=1),
        collecting=np.median(collecting, axis=0), facts=facts,
    )  # fmt: skip


def _tell(progress: Any) -> None:
    if progress is not None:
        progress()


def _touched(world: "World") -> dict[str, int]:
    """Vehicles on the road, lanes with anybody on, intersections with anybody before or inside."""
    lanes, at = world.lanes, world.intersections
    return {
        "vehicles": int(world.active),
        "lanes": int((lanes.count > 0).sum()),
        "intersections": int(((at.approaching > 0) | (at.inside > 0)).sum()),
    }


def _cost_of_marks() -> float:
    """ns that a frame spends on being measured."""
    costs = Costs(frames=16)
    begin = perf_counter_ns()
    for _ in range(MARKS_TRIED):
        costs.start()
        for k in range(len(PHASES)):
            costs.mark(k)
        costs.count(0)
    return round((perf_counter_ns() - begin) / MARKS_TRIED, 1)
