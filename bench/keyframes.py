"""What recording costs: the slowdown of a run in each mode, and time and bytes of a keyframe.

python bench/keyframes.py [SCENARIO ...] [--dt 0.25] [--threads N ...] [--json FILE]

Each row is a fresh process. The world is warmed up; then the same frames are stepped from the same
snapshot without a recorder and with one in each mode, at the default periods, in turn and several times; the
figures are the best of each: processor time with one thread, else wall time.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from fresh import FreshProcessError, measure_fresh
from scenarios import DATA_HELP, SCENARIOS, data_base, scenario_files

from rushhour.traffic.profiling.conditions import condition_lines, conditions
from rushhour.traffic.profiling.text_tables import table

COLUMNS = {
    "on road": "on_road", "plain s": "none_s", "frames": "frames_slower", "keyframes": "keyframes_slower",
    "both": "both_slower", "keyframe ms": "keyframe_ms", "hash ms": "hash_ms", "keyframe MB": "keyframe_mb",
    "B/veh": "bytes_per_vehicle", "resume s": "resume_s", "open ms": "layout_ms",
}  # fmt: skip


def measured(task: dict[str, Any]) -> dict[str, Any]:
    """The figures of one scenario in this process."""
    import numba
    from worlds import opened_world

    from rushhour.traffic.keyframes.snapshot import take_snapshot
    from rushhour.traffic.recording.recorder import Recorder
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.traffic.world import World

    # With one thread processor time, which others on the machine disturb less.
    clock = process_time if numba.get_num_threads() == 1 else perf_counter
    world, _ = opened_world(task)
    world.step(round(task["warm_up"] / world.dt))
    frames = round(task["window"] / world.dt)
    start = world.snapshot()
    walls: dict[str, list[float]] = {mode: [] for mode in ("none", "frames", "keyframes", "both")}
    layout: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(task["repeats"]):
            for mode, spent in walls.items():
                world.restore(start)
                world.step(8)
                path = Path(folder) / f"{mode}.h5"
                begun = perf_counter()
                recorder = None if mode == "none" else Recorder(path, world, mode=mode)
                layout.append(perf_counter() - begun)
                world.observers = [recorder] if recorder else []
                begun = clock()
                world.step(frames)
                if recorder is not None:
                    recorder.flush()
                spent.append(clock() - begun)
                world.observers = []
                if recorder is not None:
                    recorder.close()
        with RunFile(Path(folder) / "keyframes.h5") as run:
            group = run.group("keyframes")
            size = sum(group[name].id.get_storage_size() for name in group)
            count = len(run.keyframes)
        begun = perf_counter()
        resumed = World.resume(Path(folder) / "keyframes.h5")
        resume_s = perf_counter() - begun
        assert resumed.state_hash() == world.state_hash()
        recorder = Recorder(Path(folder) / "again.h5", world, mode="keyframes")
        writing = []
        for _ in range(5):
            world.step()
            begun = perf_counter()
            recorder.write_keyframe()
            writing.append(perf_counter() - begun)
        recorder.close()
    hashing, taking = [], []
    for _ in range(5):
        begun = perf_counter()
        world.state_hash()
        hashing.append(perf_counter() - begun)
        begun = perf_counter()
        take_snapshot(world, logs=False)
        taking.append(perf_counter() - begun)
    plain = min(walls["none"])
    slower = {f"{mode}_slower": min(wall) / plain - 1.0 for mode, wall in walls.items()}
    return {
        "threads": numba.get_num_threads(),
        "on_road": world.active,
        "none_s": plain,
        **slower,
        "keyframe_ms": 1e3 * min(writing),
        "snapshot_ms": 1e3 * min(taking),
        "hash_ms": 1e3 * min(hashing),
        "keyframe_mb": size / count / 1e6,
        "bytes_per_vehicle": size / count / world.active,
        "resume_s": resume_s,
        "layout_ms": 1e3 * max(layout),
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenarios", nargs="*", default=["grid20_20k", "grid32_50k"])
    parser.add_argument("--dt", type=float, default=0.25)
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--warm-up", type=float, default=120.0, help="simulated s")
    parser.add_argument("--window", type=float, default=300.0, help="simulated s")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data", type=Path, help=DATA_HELP)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    told = conditions()
    rows = []
    try:
        base = data_base(options.data)
        for name in options.scenarios:
            for threads in options.threads:
                task = {
                    **scenario_files(SCENARIOS[name], base), "dt": options.dt, "seed": 1,
                    "warm_up": options.warm_up, "window": options.window,
                    "repeats": options.repeats,
                }  # fmt: skip
                row = measure_fresh("keyframes.py", task, {"NUMBA_NUM_THREADS": str(threads)})
                rows.append({"scenario": name, **row})
    except (FileNotFoundError, FreshProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    cells = [[f"{row['scenario']}, {row['threads']} thread(s)", *_shown(row)] for row in rows]
    print("\n".join([*condition_lines(told), "", *table(["recording", *COLUMNS], cells)]))
    if options.json:
        options.json.write_text(json.dumps({"conditions": told, "rows": rows}, indent=2))
    return 0


def _shown(row: dict[str, Any]) -> list[object]:
    return [
        f"{100.0 * row[key]:+.1f} %" if key.endswith("_slower") else row[key]
        for key in COLUMNS.values()
    ]


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].startswith("{"):
        print(json.dumps(measured(json.loads(sys.argv[1]))))
    else:
        sys.exit(main())
