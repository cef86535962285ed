"""One world on several ranks: whether the bits are those of one process, and what it costs.

python bench/ranks.py equal [--cases grid,town] [--ranks 2,3,4] [--threads 1,2] [--frames N] [--every N]
    [--busy] [--work DIR]
python bench/ranks.py scaling [--ranks 1,2,4,8,16] [--vehicles 2000] [--frames N]
python bench/ranks.py reckon [--ranks 2,4,8,16] [--vehicles 2000] [--before N]
python bench/ranks.py divide [--ranks 100,1000] [--side 60]
python bench/ranks.py country [--ranks 4] [--cities 1] [--side 12] [--room 22] [--work DIR]
python bench/ranks.py share [--ranks 4] [--cities 1] [--side 12] [--part N] [--frames N] [--work DIR]

`equal` compares the state hash of every frame, or of every Nth; what is in DIR already is not run again;
with --busy there is traffic everywhere from the first frame on, and commands are given. `scaling` steps a
grid that grows with the number of ranks, and tells the processor time of each rank without what it
spends in messages, waiting included: where cores are few, ranks wait. `reckon` steps the grid of so many
ranks in one process, and counts whom each would own, and see of the others. `divide` divides a grid of
`side` times `side` signals. `country` makes a country of cities with a vehicle on every `room` m of lane,
divides it, and steps it in this process. `share` divides such a country among so many ranks; one rank steps the
part of one of them beside a second that has all the rest, and writes all that it receives to a file in
DIR, unless it is there; then it is stepped again alone, from the file, and must come to the same.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from fresh import HERE

from rushhour.cli.ranks import SLEEPS
from rushhour.traffic.profiling.conditions import cores

RANKS = {
    "equal": [2, 3, 4], "scaling": [1, 2, 4, 8, 16], "reckon": [2, 4, 8, 16], "divide": [100, 1000],
    "country": [4], "share": [4],
}  # fmt: skip
ROW = 318  # bytes of a vehicle before a frame; what is decided of it, 65, comes on top
LOOKS = 40  # frames between two in which rings are looked for, steps of 0.25 s
CASES = "grid,ring,town,joined,badhersfeld,krems"


def run(task: dict[str, Any], threads: int, script: str = "ranks_world.py") -> dict[str, Any]:
    """Run a task of a script on its ranks; raises RuntimeError with what was said last where one failed."""
    with tempfile.TemporaryDirectory() as folder:
        task = {**task, "answer": str(Path(folder) / "answer.json")}
        words = [str(HERE / script), json.dumps(task)]
        if task["ranks"] > 1:
            mpiexec = str(Path(sys.executable).with_name("mpiexec"))
            words = [mpiexec, "-n", str(task["ranks"]), sys.executable, "-m", "mpi4py", *words]
        else:
            words = [sys.executable, *words]
        environment = {**os.environ, "NUMBA_NUM_THREADS": str(threads)}
        if task["ranks"] * threads > cores():
            environment |= SLEEPS
        environment["PYTHONPATH"] = os.pathsep.join([str(HERE.parent), str(HERE)])
        done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"no answer, code {done.returncode}"]
            raise RuntimeError(said[-1])
        text = done.stdout if task["ranks"] == 1 else Path(task["answer"]).read_text()
        found: dict[str, Any] = json.loads(text)
        return found


def equal(options: argparse.Namespace) -> None:
    """A row for each network, number of ranks and of threads."""
    options.work.mkdir(parents=True, exist_ok=True)
    rows = options.work / "equal.jsonl"
    known = [json.loads(line) for line in rows.read_text().splitlines()] if rows.exists() else []
    print(f"{'network':12} ranks threads frames in parts  on road arrived  same")
    for case in options.cases.split(","):
        kind = "_busy" if options.busy else ""
        hashes = options.work / f"{case}_{options.frames}_{options.every}{kind}.npy"
        for ranks in (1, *options.ranks):
            for threads in options.threads:
                key = {
                    "case": case,
                    "ranks": ranks,
                    "threads_given": threads,
                    "wanted": options.frames,
                    "hash_every": options.every,
                    "busy": options.busy,
                }
                found = next((row for row in known if key.items() <= row.items()), None)
                if found is None:
                    task = {
                        "case": case,
                        "ranks": ranks,
                        "frames": options.frames,
                        "before": 0,
                        "hash_every": options.every,
                        "busy": options.busy,
                    }
                    task["known" if hashes.exists() else "hashes"] = str(hashes)
                    found = {**run(task, threads), **key}
                    with rows.open("a") as file:
                        file.write(json.dumps(found) + "\n")
                same = "yes" if found["parted"] < 0 else f"NO, from frame {found['parted']}"
                print(
                    f"{case:12} {ranks:5} {threads:7} {found['frames']:6} {found['local_frames']:8} "
                    f"{found['active']:8} {found['arrived']:7}  {same}", flush=True,
                )  # fmt: skip


def scaling(options: argparse.Namespace) -> None:
    """A row for each number of ranks: means over ranks, and the largest over the mean."""
    print(
        "ranks  own/rank  copies/own  cpu s/rank  in messages  work  worst/mean  KB/frame/rank  load"
    )
    for ranks in options.ranks:
        task = {
            "ranks": ranks, "vehicles": options.vehicles * ranks, "before": options.before,
            "frames": options.frames, "hash_every": 0,
        }  # fmt: skip
        found = run(task, options.threads[0])
        cpu, waited, own, held, sent = (list(each) for each in zip(*found["by_rank"], strict=True))
        work = [a - b for a, b in zip(cpu, waited, strict=True)]
        n = len(cpu)
        copies = (sum(held) - sum(own)) / max(sum(own), 1.0)
        print(
            f"{ranks:5} {sum(own) / n:9.0f} {copies:11.2f} {sum(cpu) / n:11.2f} {sum(waited) / n:12.2f} "
            f"{sum(work) / n:5.2f} {max(work) * n / sum(work):11.2f} {sum(sent) / n / 1000:14.1f} "
            f"{found['load_average']:5.1f}", flush=True,
        )  # fmt: skip


def reckon(options: argparse.Namespace) -> None:
    """A row for each number of ranks: what each would have, without any rank."""
    from ranks_world import reckoned

    print("ranks  own/rank  most/mean  copies/own  most copies/own  KB/frame/rank")
    for ranks in options.ranks:
        own, copies = reckoned(options.vehicles * ranks, ranks, options.before)
        print(
            f"{ranks:5} {own.mean():9.0f} {own.max() / own.mean():10.2f} "
            f"{copies.sum() / own.sum():11.2f} {(copies / own).max():16.2f} "
            f"{copies.mean() * ROW / 1000:14.1f}", flush=True,
        )  # fmt: skip


def divided(options: argparse.Namespace) -> None:
    """A row for each number of ranks: what dividing a large grid takes."""
    from ranks_world import division

    print("ranks  roads  lanes  made s  divided s  peak MB  km/rank least  most  lanes cut")
    for ranks in options.ranks:
        found = division(options.side, ranks)
        print(
            f"{ranks:5} {found['roads']} {found['lanes']} {found['made_s']:.1f} {found['divided_s']:.2f} "
            f"{found['peak_mb']:.0f} {min(found['lane_km']):.1f} {max(found['lane_km']):.1f} "
            f"{found['cut_lanes']}", flush=True,
        )  # fmt: skip


def of_country(options: argparse.Namespace) -> None:
    """A row for each step from a country's map to its frames."""
    from ranks_country import tell_country

    make_map(options)
    tell_country(options.work, options.cities, options.side, options.room, options.ranks)


def make_map(options: argparse.Namespace) -> None:
    """Have the map of a country in the folder; where it is made, by a process of its own."""
    from country import file_of

    options.work.mkdir(parents=True, exist_ok=True)
    if file_of(options.work, options.cities, options.side).exists():
        return
    task = {
        "ranks": 1, "folder": str(options.work), "cities": options.cities, "side": options.side,
    }  # fmt: skip
    found = run(task, 1, "country.py")
    print(
        f"map made: {found['seconds']:.1f} s of CPU, {found['peak_mb']:.0f} MB at most", flush=True
    )


def share(options: argparse.Namespace) -> None:
    """For each number of ranks the share of one of them, replayed: a row for each kind of frame."""
    make_map(options)
    for ranks in options.ranks:
        part = ranks // 2 if options.part is None else options.part
        task = {
            "cities": options.cities, "side": options.side, "room": options.room, "parts": ranks,
            "share": part, "frames": options.frames,
        }  # fmt: skip
        file = options.work / ("_".join(map(str, task.values())) + ".share")
        threads, half = options.threads[0], file.with_suffix(".part")
        try:
            if not file.exists():
                run({**task, "ranks": 2, "file": str(half)}, threads, "ranks_share.py")
                half.rename(file)
            tell_share(run({"ranks": 1, "file": str(file)}, threads, "ranks_share.py"))
        except RuntimeError as error:
            sys.exit(f"share: {error}")


def tell_share(found: dict[str, Any]) -> None:
    """What a share was found to be, and its frames by kind."""
    task = found["task"]
    print(
        f"part {task['share']} of {task['parts']}: {found['lane_km']:.1f} km of lane, of "
        f"{found['lanes']:,} lanes and {found['vehicles']:,} vehicles; read in {found['read_s']:.1f} s, "
        f"built in {found['built_s']:.1f} s, {found['built_mb']:.0f} MB, {found['peak_mb']:.0f} MB at most; "
        f"the same bits in {len(found['rows'])} frames"
    )
    print("frames         number      own  copies  ms of CPU  (most)  KB received   MB")
    rows = found["rows"]
    later = [(at, row) for at, row in enumerate(rows) if at > 1 and not row[0]]
    kinds = {
        "the first two": rows[:2], "in parts": [row for at, row in later if at % LOOKS],
        "and for rings": [row for at, row in later if not at % LOOKS],
        "all together": [row for row in rows[2:] if row[0]],
    }  # fmt: skip
    for kind, frames in kinds.items():
        if frames:
            _, ms, received, own, copies, mb = zip(*frames, strict=True)
            print(
                f"{kind:13} {len(frames):7} {statistics.mean(own):8.0f} {statistics.mean(copies):7.0f} "
                f"{statistics.median(ms):10.1f} {max(ms):7.1f} {statistics.mean(received) / 1e3:12.1f} "
                f"{max(mb):5.0f}"
            )  # fmt: skip


def numbers(text: str) -> list[int]:
    """1,2,4 as a list."""
    return [int(word) for word in text.split(",")]


def main() -> None:
    """Read the command line and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=tuple(RANKS))
    parser.add_argument("--cases", default=CASES)
    parser.add_argument("--ranks", type=numbers)
    parser.add_argument("--threads", type=numbers, default=[1])
    parser.add_argument("--frames", type=int)
    parser.add_argument("--every", type=int, default=1, help="frames between two that are compared")
    parser.add_argument("--busy", action="store_true", help="traffic everywhere, and commands")
    parser.add_argument("--vehicles", type=int, default=2000, help="of a rank")
    parser.add_argument(
        "--before", type=int, default=400, help="frames before those that are measured"
    )
    parser.add_argument(
        "--side", type=int, help="signals along a side of what is divided, or of a city"
    )
    parser.add_argument("--cities", type=int, default=1, help="along a side of a country")
    parser.add_argument("--room", type=float, default=22.0, help="m of lane to a vehicle of it")
    parser.add_argument(
        "--part", type=int, help="whose share; by default of the rank in the middle"
    )
    parser.add_argument("--work", type=Path, default=Path("ranks"))
    options = parser.parse_args()
    options.ranks = options.ranks or RANKS[options.what]
    options.frames = options.frames or (10_000 if options.what == "equal" else 200)
    options.side = options.side or (60 if options.what == "divide" else 12)
    {
        "equal": equal, "scaling": scaling, "reckon": reckon, "divide": divided,
        "country": of_country, "share": share,
    }[options.what](options)  # fmt: skip


if __name__ == "__main__":
    main()
