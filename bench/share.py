"""How long a page of a long run takes to be written and to open, and how many pictures a second it plays.

The run is made up (recording_seek.DrawnWorld): so many vehicles for so long, a frame every 5 s. The page is one
file, opened from the disk by Chromium, which draws in software (SwiftShader), 1280 x 800 pixels: seconds until
vehicles are seen, and pictures a second while it plays at 10 times the speed, at three distances. Beside each: s of
processor time until then, and until all of the file is read, and ms a picture, of all processes of the browser; they hardly depend on what else runs.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any

from recording_seek import DrawnWorld

from rushhour.traffic.profiling.conditions import condition_lines, conditions
from rushhour.traffic.profiling.text_tables import table
from rushhour.traffic.recording.recorder import Recorder
from rushhour.viewer.page.of_run import save_run_page

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from browsers import Opened, chromium

EVERY = 5  # s
DISTANCES = {"overview": 4.0, "mid": 0.6, "close": 0.08}  # m per pixel
SIZE = {"width": 1280, "height": 800}
LOOK = 6.0  # s that are played


def browser_cpu() -> float:
    """s of processor time of all that this process has started and that still runs."""
    parents, spent = {}, {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        parents[int(entry.name)] = int(fields[1])
        spent[int(entry.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    mine, more = {os.getpid()}, True
    while more:
        more = {pid for pid, parent in parents.items() if parent in mine} - mine
        mine |= more
    return sum(spent[pid] for pid in mine - {os.getpid()})


def measured(vehicles: int, seconds: int, folder: Path) -> dict[str, Any]:
    """Bytes, s and pictures a second of one run; a page that is in the folder is not made again."""
    page = folder / f"{vehicles}-{seconds}.html"
    found: dict[str, Any] = {"vehicles": vehicles, "seconds": seconds}
    if not page.exists():
        found |= {"written_cpu_s": written(vehicles, seconds, page)}
    found |= {
        "MB": page.stat().st_size / 1e6,
        "bytes_a_place": page.stat().st_size / (vehicles * (seconds // EVERY)),
    }
    with chromium() as browser:
        first = browser.new_page(viewport=SIZE)
        cpu, started = browser_cpu(), perf_counter()
        first.goto(page.as_uri(), wait_until="commit")
        first.wait_for_function("window.rushhour && rushhour.drawn > 0", timeout=300e3)
        found["open_s"], found["open_cpu_s"] = perf_counter() - started, browser_cpu() - cpu
        first.wait_for_load_state(timeout=300e3)
        found["whole_s"], found["whole_cpu_s"] = perf_counter() - started, browser_cpu() - cpu
        first.close()
        opened = Opened(browser, page.as_uri(), viewport=SIZE)
        opened.get("rushhour.pickRate(10); rushhour.play(true)")
        for name, scale in DISTANCES.items():
            opened.get(f"rushhour.lookAt(0, 0, {scale})")
            sleep(1.0)  # the ground is drawn
            before, began, cpu = opened.get("rushhour.drawn"), perf_counter(), browser_cpu()
            sleep(LOOK)
            pictures = opened.get("rushhour.drawn") - before
            found[f"fps_{name}"] = pictures / (perf_counter() - began)
            found[f"cpu_ms_{name}"] = 1e3 * (browser_cpu() - cpu) / max(1, pictures)
            found[f"seen_{name}"] = opened.get("rushhour.seen")
        found["told"] = opened.told
    return found


def written(vehicles: int, seconds: int, page: Path) -> float:
    """Make a run and its page; s of processor time of the page."""
    run = page.with_suffix(".h5")
    world = DrawnWorld(vehicles)
    # This world has only what a recorder asks for.
    with Recorder(run, world, 1.0, mode="frames") as recorder:  # type: ignore[arg-type]
        for k in range(seconds // EVERY):
            for _ in range(EVERY):
                world.drive()
            recorder.record()
            if k % 16 == 15:
                recorder.flush()
    started = process_time()
    save_run_page(run, page, "a long run")
    spent = process_time() - started
    run.unlink()
    return spent


def main() -> int:
    """Print a table, and write the same as data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vehicles", type=int, nargs="+", default=[1_000, 10_000, 50_000])
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--json", type=Path)
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="keep pages there, and take those that are there"
    )
    options = parser.parse_args()
    told = conditions()
    rows = []
    for vehicles in options.vehicles:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measured(vehicles, options.seconds, options.keep or Path(folder)))
    names = [name for name in rows[0] if name != "told"]
    print("\n".join(condition_lines(told)))
    print("\n".join(table(names, [[row[name] for name in names] for row in rows])))
    if options.json is not None:
        options.json.write_text(json.dumps({"conditions": told, "rows": rows}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
