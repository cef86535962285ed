"""How long a page of a long run takes to be written and to open, and how many pictures a second it plays.

The run is made up (recording_seek.DrawnWorld): so many vehicles for so long, a frame every 5 s. The page is one
file, opened from the disk by Chromium, which draws in software (SwiftShader), 1280 x 800 pixels: seconds until
vehicles are seen, and pictures a second while it plays at 10 times the speed, at three distances.
"""

import argparse
import json
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
LOOK = 6.0  # s that are played


def measured(vehicles: int, seconds: int, folder: Path) -> dict[str, Any]:
    """Bytes, s and pictures a second of one run."""
    run, page = folder / "run.h5", folder / "run.html"
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
    found: dict[str, Any] = {
        "vehicles": vehicles, "seconds": seconds, "written_cpu_s": process_time() - started,
        "MB": page.stat().st_size / 1e6,
        "bytes_a_place": page.stat().st_size / (vehicles * (seconds // EVERY)),
    }  # fmt: skip
    with chromium() as browser:
        started = perf_counter()
        opened = Opened(browser, page.as_uri(), viewport={"width": 1280, "height": 800})
        found["open_s"] = perf_counter() - started
        found["open_page_s"] = opened.get("rushhour.firstPicture") / 1e3
        opened.get("rushhour.pickRate(10); rushhour.play(true)")
        for name, scale in DISTANCES.items():
            opened.get(f"rushhour.lookAt(0, 0, {scale})")
            before, began = opened.get("rushhour.drawn"), perf_counter()
            sleep(LOOK)
            found[f"fps_{name}"] = (opened.get("rushhour.drawn") - before) / (
                perf_counter() - began
            )
        found["told"] = opened.told
    return found


def main() -> int:
    """Print a table, and write the same as data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vehicles", type=int, nargs="+", default=[1_000, 10_000, 50_000])
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    told = conditions()
    rows = []
    for vehicles in options.vehicles:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measured(vehicles, options.seconds, Path(folder)))
    names = [name for name in rows[0] if name != "told"]
    print("\n".join(condition_lines(told)))
    print("\n".join(table(names, [[row[name] for name in names] for row in rows])))
    if options.json is not None:
        options.json.write_text(json.dumps({"conditions": told, "rows": rows}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
