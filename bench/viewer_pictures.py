"""The pictures of docs/viewer.md and of README.md, made by the commands that they tell of.

python bench/viewer_pictures.py [--out docs/pictures] [--work out/pictures] [--data DIR] [--only NAME ...]

Runs of Bologna (acosta, and joined with two kinds of signals), of a part of Porto and of the demo are made first, where
they are not there yet. share is a page in Chromium, by playwright.
"""

import argparse
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Final

from PIL import Image

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from browsers import Opened, chromium
from scenarios import DATA_HELP, data_base

from rushhour.viewer.colouring import LANES, VEHICLES

ROOT: Final = Path(__file__).resolve().parents[1]
SUMO: Final = "{data}/sumo_bologna_{n}/{n}"
FILES: Final = "--demand {f}_vtypes.add.xml --demand {f}.rou.xml.gz --demand {f}_bus_stops.add.xml --demand {f}_busses.rou.xml.gz --demand {f}_tls.add.xml"
RECORD: Final = "--record-every 1s --record-mode both"
# Of each run: what makes it, in lines.
RUNS: Final = {
    name: f"run {f}.net.xml.gz {FILES.format(f=f)} {RECORD} --duration {duration} {more} --record {{work}}/{name}.h5"
    for name, f, duration, more in (
        ("acosta", SUMO.format(data="{data}", n="acosta"), "20min", ""),
        ("joined", SUMO.format(data="{data}", n="joined"), "25min", ""),
        ("pressure", SUMO.format(data="{data}", n="joined"), "15min", "--signals max_pressure"),
    )
} | {
    "porto": "import {data}/osm_porto/porto_portugal.osm.pbf --bbox=-8.642,41.148,-8.612,41.168 -o {work}/porto-net.h5\n"
    "run {work}/porto-net.h5 --vehicles 3000 --duration 5min --seed 1 --record {work}/porto.h5",
    "demo": "demo --out {work}",
}  # fmt: skip
# Of each picture: the runs it needs, and what makes it.
PICTURES: Final = {
    "view-lanes": ("acosta", "view {work}/acosta.h5 --at 11min --lanes speed --colour waiting --zoom 0.9 --size 1000x560"),
    "view-bologna": ("acosta", "view {work}/acosta.h5 --at 11min --centre=584,854 --colour reason --zoom 0.13 --theme day --size 1200x800"),
    "view-roundabout": ("acosta", "view {work}/acosta.h5 --at 10min --centre=469,552 --zoom 0.11 --size 1200x800"),
    "view-lane": ("acosta", "view {work}/acosta.h5 --lane 85_1 --at 10min --zoom 0.3"),
    "view-intersection": ("acosta", "view {work}/acosta.h5 --intersection 9 --at 10min --colour reason --theme day"),
    "view-two-runs": ("joined pressure", "view {work}/pressure.h5 {work}/joined.h5 --lanes difference --at 12min --size 1200x520"),
    "view-crossings": ("", "view {data}/sumo_badhersfeld_net/badhersfeld.net.xml.gz --centre=8278,7640 --zoom 0.164 --theme day --size 1000x700"),
    "view-porto": ("porto", "view {work}/porto.h5 --at 5min --centre=-167,91 --zoom 0.33 --theme day --size 1200x800"),
    "view-inspector": ("demo", "view {work}/demo.h5 --vehicle 1065 --at 3min20s --zoom 0.14 --theme day --size 800x500"),
    "view-streets": ("joined", "view {work}/joined.h5 --streets delay --at 20min --theme day"),
}  # fmt: skip
COLOURED: Final = (
    "view {work}/acosta.h5 --at 11min --centre=584,854 --zoom 0.35 --no-names --size 400x290"
)
COLUMNS: Final = 3
OTHERS: Final = {
    "view-colours": "acosta",
    "share": "demo",
}  # of pictures made otherwise: their runs
# Of the page that README shows: when, where, whom and by what colour.
SHARED: Final = "#t=230&x=-79.6&y=-552&z=0.143&v=118&colour=reason&theme=day"


def main() -> None:
    """Make the runs and the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    parser.add_argument("--work", type=Path, default=Path("out/pictures"))
    parser.add_argument("--data", type=Path, help=DATA_HELP)
    parser.add_argument("--only", nargs="+", choices=[*PICTURES, *OTHERS], metavar="NAME")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    where = {"work": options.work.resolve(), "data": data_base(options.data)}
    for name in options.only or [*PICTURES, *OTHERS]:
        runs, line = PICTURES.get(name, (OTHERS.get(name, ""), ""))
        for run in runs.split():
            if not (options.work / f"{run}.h5").exists():
                for step in RUNS[run].format(**where).splitlines():
                    _call(step)
        shot = (options.out / f"{name}.png").resolve()
        if line:
            _call(f"{line.format(**where)} --shot {shot}")
        elif name == "share":
            _page((options.work / "demo.html").resolve(), shot)
        else:
            _colours(COLOURED.format(**where), options.work, shot)


def _colours(line: str, work: Path, shot: Path) -> None:
    """One picture of every colouring of vehicles, then of lanes, and the costs."""
    asked = [f"--colour {name}" for name in VEHICLES]
    asked += [f"--lanes {name}" for name in LANES[1:-1]] + ["--costs"]
    parts = []
    for k, more in enumerate(asked):
        part = (work / f"colour-{k}.png").resolve()
        _call(f"{line} {more} --shot {part}")
        parts.append(Image.open(part).convert("RGB"))
    width, height = parts[0].size
    rows = -(-len(parts) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * width, rows * height))
    for k, one in enumerate(parts):
        sheet.paste(one, (width * (k % COLUMNS), height * (k // COLUMNS)))
    sheet.save(shot, optimize=True)


def _page(page: Path, shot: Path) -> None:
    """A page at a moment and place, with somebody chosen."""
    with chromium() as browser:
        opened = Opened(browser, page.as_uri() + SHARED, viewport={"width": 1280, "height": 800})
        opened.until("!rushhour.awake && rushhour.draw.refineAt === Infinity")  # with all samples
        opened.page.screenshot(path=str(shot))
        opened.close()


def _call(line: str) -> None:
    words = shlex.split(line)
    print("rushhour", *words, flush=True)
    subprocess.run([sys.executable, "-m", "rushhour", *words], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)  # fmt: skip


if __name__ == "__main__":
    main()
