"""Milliseconds for a picture of the viewer, by part, for runs of some sizes at three distances.

Runs are made up (recording_seek.DrawnWorld) and recorded; each is played at 25 pictures a second of its
own time, without a window. "read" is the run at the next instant, with its colours and panels; "roads" is
0 while the picture stands, "moving" is what they cost in each picture while it moves. Memory is that of the
process over many pictures. --scrub opens a long run, and looks at instants of it onwards, backwards and
anywhere.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from fresh import FreshProcessError, measure_fresh
from recording_seek import DrawnWorld

from rushhour.traffic.profiling.conditions import condition_lines, conditions
from rushhour.traffic.profiling.text_tables import table
from rushhour.traffic.recording.recorder import Recorder

DISTANCES = {"overview": None, "mid": 0.6, "close": 0.08}  # m per pixel; None: all of it
STEP = 0.04  # s between pictures
PARTS = ("read", "pack", "upload", "draw", "lines")


def measured(task: dict[str, Any]) -> dict[str, Any]:
    """Rows of one run, one for each distance, and memory."""
    from rushhour.viewer import actions as do
    from rushhour.viewer.gl.context import offscreen_canvas, renderer_name
    from rushhour.viewer.recorded import RunSource
    from rushhour.viewer.session import Session

    offscreen_canvas().close()
    from rushhour.viewer.gl.picture import Picture
    from rushhour.viewer.road_mesh import RoadMesh

    world = DrawnWorld(task["vehicles"])
    width, height = task["size"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.h5"
        with Recorder(path, world, 1.0, mode="frames") as recorder:  # type: ignore[arg-type]
            for _ in range(task["frames"]):
                world.drive()
                recorder.record()
        source = RunSource(path)
        started = perf_counter()
        session = Session(source, width, height)
        picture = Picture([(RoadMesh(source.network), source.sizes)], width, height, 1, timed=True)
        picture.draw(session.scenes())
        opened = 1e3 * (perf_counter() - started)
        rows = []
        for name, scale in DISTANCES.items():
            session.do(do.Fit())
            if scale is not None:
                middle = session.state.camera
                session.do(do.Look(middle.x, middle.y, scale))
            rows.append({"distance": name, **_times(session, picture, task["pictures"])})
        rows[0]["first picture"] = opened
        memory = _grown(session, picture, task["many"])
        driver = renderer_name()
        picture.close()
    return {"rows": rows, "driver": driver, **memory}


def _times(session: Any, picture: Any, pictures: int) -> dict[str, float]:
    """Median ms by part of pictures one after the other, of all parts, and of the slowest picture."""
    from rushhour.viewer import actions as do

    session.do(do.Ends(False))
    parts: dict[str, list[float]] = {name: [] for name in PARTS}
    total, moving = [], []
    for k in range(pictures + 4):
        session.do(do.Skip(STEP))
        if k % 2:  # every other one moved: what roads cost then
            session.do(do.Pan(1.0, 0.0))
        started = perf_counter()
        scenes = session.scenes()
        made = perf_counter()
        picture.draw(scenes)
        whole = 1e3 * (perf_counter() - started)
        spent = {"read": 1e3 * (made - started), **picture.renderers[0].spent}
        if k < 4:  # loads kernels
            continue
        for name in PARTS:
            parts[name].append(spent.get(name, 0.0))
        if k % 2:
            moving.append(spent["roads"])
        else:
            total.append(whole)
    medians = {name: float(np.median(values)) for name, values in parts.items()}
    return {
        **medians, "all": float(np.median(total)), "slowest": max(total),
        "moving": float(np.median(moving)),
    }  # fmt: skip


def _grown(session: Any, picture: Any, pictures: int) -> dict[str, float]:
    """MB that the process held, and by how much that grew over many pictures."""
    from rushhour.viewer import actions as do

    session.do(do.Ends(False))
    before = after = 0.0
    for k in range(pictures):
        session.do(do.Skip(STEP))
        if session.state.clock.time >= session.state.clock.end:
            session.do(do.Ends(False))
        picture.draw(session.scenes())
        if k == pictures // 4:
            before = _resident()
    after = _resident()
    return {"MB": after, "MB grown": after - before}


def scrubbed(task: dict[str, Any]) -> dict[str, Any]:
    """Ms until a long run is seen, and of pictures of it as a window draws them, at times in some orders."""
    from rushhour.viewer import actions as do
    from rushhour.viewer.gl.context import offscreen_canvas
    from rushhour.viewer.recorded import RunSource
    from rushhour.viewer.session import Session

    offscreen_canvas().close()
    from rushhour.viewer.gl.picture import Picture
    from rushhour.viewer.parts import parts_of

    world = DrawnWorld(task["vehicles"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.h5"
        world.record(path, task["scrub"], 16)
        found: dict[str, Any] = {"MB": path.stat().st_size / 1e6}
        for what in ("first", "again"):  # the first time loads kernels
            started = perf_counter()
            session = Session(RunSource(path), *task["size"], window=True)
            picture = Picture(parts_of(session.sources), *task["size"], smoothing=1)
            picture.draw(session.scenes())
            found[f"open, {what}"] = 1e3 * (perf_counter() - started)
        end = session.state.clock.end
        times = np.linspace(0.1 * end, 0.9 * end, 60)
        whole = np.floor(np.random.default_rng(1).permutation(times))
        orders = {
            "onwards": times, "backwards": times[::-1],
            "a recorded frame anywhere": whole, "anywhere": whole + 0.4,
            "onwards, by the second": 0.5 * end + np.arange(60.0),
            "backwards, by the second": 0.5 * end - np.arange(60.0),
        }  # fmt: skip
        for name, order in orders.items():
            took, worked = [], []
            for time in order.tolist():
                started, before = perf_counter(), process_time()
                session.do(do.Seek(time))
                picture.draw(session.scenes())
                took.append(1e3 * (perf_counter() - started))
                worked.append(1e3 * (process_time() - before))
            found[name], found[f"{name}, longest"] = float(np.median(took)), max(took)
            found[f"{name}, processor time"] = float(np.median(worked))  # of all cores
        picture.close()
    return found


def _resident() -> float:
    """MB in memory now; where the system does not tell, the most there were."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE") / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--vehicles", type=int, nargs="*", default=[1000, 10_000, 100_000, 1_000_000]
    )
    parser.add_argument("--size", type=int, nargs=2, default=[1280, 800])
    parser.add_argument("--pictures", type=int, default=40)
    parser.add_argument("--frames", type=int, default=8, help="recorded ones")
    parser.add_argument(
        "--many", type=int, default=400, help="pictures over which memory is watched"
    )
    parser.add_argument("--scrub", type=int, metavar="FRAMES", help="of a run of one size")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    told = conditions()
    found: list[dict[str, Any]] = []
    if options.scrub is not None:
        return _scrub(options, told)
    columns = (*PARTS, "all", "slowest", "moving")
    lines = []
    for vehicles in options.vehicles:
        task = {"vehicles": vehicles, "size": options.size, "pictures": options.pictures,
                "frames": options.frames, "many": options.many}  # fmt: skip
        try:
            row = measure_fresh("viewer.py", task)
        except FreshProcessError as error:
            print(error, file=sys.stderr)
            return 1
        found.append({"vehicles": vehicles, **row})
        lines += [[f"{vehicles:,} {one['distance']}", *(one[name] for name in columns)]
                  for one in row["rows"]]  # fmt: skip
    text = [*condition_lines(told), f"driver: {found[0]['driver']}" if found else "", ""]
    text += table(["vehicles, distance: ms", *columns], lines)
    text += ["", *table(
        ["vehicles", "first picture, ms", "MB", "MB grown"],
        [[f"{one['vehicles']:,}", one["rows"][0]["first picture"], one["MB"], one["MB grown"]]
         for one in found],
    )]  # fmt: skip
    print("\n".join(text))
    if options.json:
        options.json.write_text(json.dumps({"conditions": told, "runs": found}, indent=2))
    return 0


def _scrub(options: argparse.Namespace, told: dict[str, Any]) -> int:
    """Measure a long run, and print."""
    found = []
    for vehicles in options.vehicles:
        task = {"vehicles": vehicles, "size": options.size, "scrub": options.scrub}
        try:
            row = measure_fresh("viewer.py", task)
        except FreshProcessError as error:
            print(error, file=sys.stderr)
            return 1
        found.append({"vehicles": vehicles, **row})
        print("\n".join([*condition_lines(told), f"{vehicles:,} vehicles, {options.scrub} frames"]))
        print("\n".join(table(["what", "ms"], [[name, value] for name, value in row.items()])))
    if options.json:
        options.json.write_text(json.dumps({"conditions": told, "runs": found}, indent=2))
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].startswith("{"):
        given = json.loads(sys.argv[1])
        print(json.dumps(scrubbed(given) if "scrub" in given else measured(given)))
    else:
        sys.exit(main())
