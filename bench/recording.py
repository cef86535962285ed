"""What recorded frames cost: processor time and bytes a vehicle-frame, slowdown, seeking, beside SUMO.

python bench/recording.py [SCENARIO ...] [--network FILE --trips N] [--threads N] [--no-seek] [--only-sumo]
                          [--json FILE]

Costs: the world is stepped in between, but only recording is timed (processor time of all threads,
encoding and writing included); a block ends after 2 s of wall time or a million rows, as it does in a
run, or at the end of the window; the best block but the first, the median and the mean. Slowdown: the same frames from the same snapshot with and without a recorder, in turn;
best of each, processor time; and wall time of single frames, those that are recorded beside the others:
99 of a hundred are below p99. Seeking: a file of 50,000 vehicles for an hour, once a second, made up.
Each row is a fresh process.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from time import monotonic, perf_counter, process_time
from typing import Any

import numpy as np
from fresh import FreshProcessError, measure_fresh
from scenarios import DATA_HELP, SCENARIOS, data_base, scenario_files

from rushhour.traffic.profiling.conditions import condition_lines, conditions
from rushhour.traffic.profiling.text_tables import table

COSTS = {
    "on road": "on_road", "Hz": "hz", "precision": "precision", "take ns": "take_ns", "encode ns": "encode_ns",
    "ns": "ns", "median ns": "median_ns", "mean ns": "mean_ns", "bytes": "bytes",
}  # fmt: skip
SLOWER = {
    "on road": "on_road",
    "dt": "dt",
    "plain s": "plain_s",
    "slower": "slower",
    **{
        f"{what} {figure}": f"{what.replace(' ', '_')}_{figure}_ms"
        for what in ("not recorded", "recorded", "next")
        for figure in ("p50", "p99", "most")
    },
}
ENCODINGS = {"encoding": "encoding", "bytes": "bytes", "ns": "ns"}
SEEK = {"what": "what", "": "ms"}
SUMO = {"on road": "on_road", "output": "output", "ns": "ns", "bytes": "bytes"}
CASES = (("standard", 1.0), ("full", 1.0), ("standard", 10.0), ("full", 10.0))


def costs(task: dict[str, Any]) -> dict[str, Any]:
    """Processor time and bytes of one precision at one rate, in this process."""
    from worlds import opened_world

    from rushhour.traffic.recording import recorder as recording

    world, _ = opened_world(task)
    world.step(round(task["warm_up"] / world.dt))
    every = max(1, round(1.0 / task["hz"] / world.dt))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.h5"
        recorder = recording.Recorder(
            path, world, every=1e9, mode="frames", precision=task["precision"]
        )
        recorder.flush()
        blocks: list[tuple[float, float]] = []  # ns of taking and of writing a vehicle-frame
        recording.FLUSH_SECONDS = 1e9  # blocks end here
        all_rows = before = 0
        while len(blocks) < 1 + task["blocks"]:
            taking, rows, begun_at, first = 0.0, 0, monotonic(), world.time
            while (
                monotonic() - begun_at < 2.0
                and rows < recording.FLUSH_ROWS
                and world.time < first + task["window"]
            ):
                world.step(every)
                begun = process_time()
                recorder.record()
                taking += process_time() - begun
                rows += len(world.vehicles)
            begun = process_time()
            recorder.flush()
            blocks.append((1e9 * taking / rows, 1e9 * (process_time() - begun) / rows))
            before = before or path.stat().st_size
            all_rows += rows if len(blocks) > 1 else 0
        size = path.stat().st_size - before
        recorder.close()
    # The first block loads what was compiled, and touches memory for the first time, which on a
    # virtual machine takes longer than recording.
    taken, written = min(blocks[1:], key=sum)
    return {
        "on_road": len(world.vehicles), "hz": task["hz"], "precision": task["precision"],
        "take_ns": taken, "encode_ns": written, "ns": taken + written, "bytes": size / all_rows,
        "median_ns": float(np.median([sum(block) for block in blocks[1:]])),
        "mean_ns": sum(map(sum, blocks[1:])) / task["blocks"],
    }  # fmt: skip


def slowdown(task: dict[str, Any]) -> dict[str, Any]:
    """How much longer a run takes that is recorded once a simulated second."""
    from worlds import opened_world

    from rushhour.traffic.recording.recorder import Recorder

    world, _ = opened_world(task)
    world.step(round(task["warm_up"] / world.dt))
    start = world.snapshot()
    spent: dict[bool, list[float]] = {False: [], True: []}
    walls: dict[str, list[float]] = {"not_recorded": [], "recorded": [], "next": []}
    with tempfile.TemporaryDirectory() as folder:
        for k in range(2 * task["repeats"]):
            recorded = k % 2 == 1
            world.restore(start)
            world.step(8)
            recorder = Recorder(Path(folder) / "run.h5", world, mode="frames") if recorded else None
            world.observers = [recorder] if recorder else []
            begun, clocked = process_time(), []
            for _ in range(round(task["window"] / world.dt)):
                at = perf_counter()
                world.step()
                clocked.append((world.frame, perf_counter() - at))
            if recorder:
                recorder.flush()
            spent[recorded].append(process_time() - begun)
            for frame, wall in clocked if recorder else ():
                since = frame % recorder.every
                walls[
                    "recorded" if since == 0 else "next" if since == 1 else "not_recorded"
                ].append(wall)
            world.observers = []
            if recorder:
                recorder.close()
    plain = min(spent[False])
    return {
        "on_road": len(world.vehicles), "dt": world.dt, "plain_s": plain,
        "slower": min(spent[True]) / plain - 1.0,
        **{
            f"{what}_{name}_ms": 1e3 * float(np.quantile(found, share))
            for what, found in walls.items()
            for name, share in (("p50", 0.5), ("p99", 0.99), ("most", 1.0))
        },
    }  # fmt: skip


def measured(task: dict[str, Any]) -> dict[str, Any]:
    """One row, in this process."""
    if task["what"] == "costs":
        return costs(task)
    if task["what"] == "slowdown":
        return slowdown(task)
    if task["what"] == "encodings":
        from recording_encodings import encodings

        return {"rows": encodings(task)}
    if task["what"] == "seek":
        from recording_seek import seek

        return {"rows": seek(task)}
    from sumo_fcd import fcd

    return {"rows": fcd(task)}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenarios", nargs="*", help="default: acosta grid20_20k")
    parser.add_argument("--network", type=Path, help="a network with random trips, and no others")
    parser.add_argument("--trips", type=int, default=50_000, help="on --network, over an hour")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--warm-up", type=float, default=600.0, help="simulated s")
    parser.add_argument("--window", type=float, default=60.0, help="simulated s")
    parser.add_argument("--blocks", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seek-vehicles", type=int, default=50_000)
    parser.add_argument("--seek-frames", type=int, default=3600)
    parser.add_argument("--no-seek", action="store_true")
    parser.add_argument("--no-sumo", action="store_true")
    parser.add_argument("--only-sumo", action="store_true", help="ours once a second beside SUMO's")
    parser.add_argument("--data", type=Path, help=DATA_HELP)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    told = conditions()
    found: dict[str, list[dict[str, Any]]] = {}

    def measure(what: str, name: str, **more: Any) -> None:
        task = {"what": what, "seed": 1, "warm_up": options.warm_up, "window": options.window,
                "repeats": options.repeats, "blocks": options.blocks, **more}  # fmt: skip
        row = measure_fresh("recording.py", task, {"NUMBA_NUM_THREADS": str(options.threads)})
        for one in row.get("rows", [row]):
            found.setdefault(what, []).append({"scenario": name, **one})

    try:
        sources = {}
        if options.network:
            name = options.network.name.split(".")[0]
            sources[name] = {"network": str(options.network.resolve()), "trips": options.trips}
        names = options.scenarios or ([] if sources else ["acosta", "grid20_20k"])
        base = data_base(options.data) if names else Path()
        sources |= {name: scenario_files(SCENARIOS[name], base) for name in names}
        for name, files in sources.items():
            for precision, hz in CASES[:2] if options.only_sumo else CASES:
                dt = 0.25 if hz == 1.0 else 0.1
                measure("costs", name, dt=dt, hz=hz, precision=precision, **files)
            if not options.only_sumo:
                measure("encodings", name, dt=0.25, hz=1.0, **files)
                for dt in (0.1, 0.25):
                    measure("slowdown", name, dt=dt, **files)
            if not options.no_sumo and name in names:
                ours = [
                    {"output": f"rushhour, {row['precision']} precision", **row}
                    for row in found.get("costs", [])
                    if row["scenario"] == name and row["hz"] == 1.0
                ]
                found.setdefault("once a second", []).extend(ours)
                measure("once a second", name, data=str(base), dt=1.0, **files)
        if not (options.no_seek or options.only_sumo):
            measure("seek", "made up", vehicles=options.seek_vehicles, frames=options.seek_frames)
    except (FileNotFoundError, FreshProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    lines = condition_lines(told)
    for what, columns in (
        ("costs", COSTS), ("encodings", ENCODINGS), ("slowdown", SLOWER), ("once a second", SUMO),
        ("seek", SEEK),
    ):  # fmt: skip
        if what in found:
            cells = [[row["scenario"], *_shown(row, columns)] for row in found[what]]
            lines += ["", *table([what, *columns], cells)]
    print("\n".join(lines))
    if options.json:
        options.json.write_text(json.dumps({"conditions": told, **found}, indent=2))
    return 0


def _shown(row: dict[str, Any], columns: dict[str, str]) -> list[object]:
    return [
        f"{100.0 * row[key]:+.1f} %" if key == "slower" else row[key] for key in columns.values()
    ]


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].startswith("{"):
        print(json.dumps(measured(json.loads(sys.argv[1]))))
    else:
        sys.exit(main())
