"""Pages in browsers, at four zooms and in three themes, as sheets to look at.

python bench/page_sheets.py run.html race.html --out sheets [--browsers chromium firefox webkit] [--at 60]

A sheet has the four zooms of one page, browser and theme: all of it, and three around where most
vehicles are. What the browser's console says is printed.
"""

import argparse
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from browsers import BROWSERS, SIZE

WIDE, HIGH = SIZE["width"], SIZE["height"]
THEMES: Final = ("day", "dark", "print")
ZOOMS: Final = (2.5, 0.6, 0.1)  # m per pixel, beside all of it
RACE_ZOOMS: Final = (1.2, 0.3, 0.06)
CELL: Final = 120.0  # m
PLACES: Final = """(() => {
  const m = rushhour.runs.at(rushhour.frameAt(rushhour.time)), f = m.frames, rows = [];
  for (let r = f.start[m.frame]; r < f.start[m.frame + 1]; r++) rows.push([f.x[r], f.y[r], rushhour.facts.shapes.indexOf('target') === rushhour.head.shape[f.vehicle[r]] ? 1 : 0]);
  return rows;
})()"""


def middle(rows: list[list[float]]) -> tuple[float, float]:
    """Where most vehicles are; of a chase the target."""
    places = np.array(rows, np.float64).reshape(-1, 3)
    if not len(places):
        return 0.0, 0.0
    target = places[places[:, 2] > 0]
    if len(target):
        return float(target[0, 0]), float(target[0, 1])
    cells = np.floor(places[:, :2] / CELL)
    _, which, count = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    found = places[which.reshape(-1) == count.argmax(), :2]
    place = np.median(found, axis=0)
    near = found[np.hypot(*(found - place).T).argmin()]
    return float(near[0]), float(near[1])


def sheets(
    open_page: Any, browser: Any, path: Path, out: Path, name: str, at: float | None
) -> list[str]:
    """Write the sheets of a page; returns what the console said."""
    opened = open_page(browser, path.resolve().as_uri())
    begin, end = opened.get("[rushhour.begin, rushhour.end]")
    opened.drawn(f"rushhour.seek({begin + (0.6 * (end - begin) if at is None else at)})")
    opened.until("rushhour.runs.at(rushhour.frameAt(rushhour.time))")  # decoded
    x, y = middle(opened.get(PLACES))
    zooms = RACE_ZOOMS if opened.get("rushhour.facts.race") else ZOOMS
    for theme in THEMES:
        opened.drawn(f"rushhour.pickTheme('{theme}')")
        sheet = Image.new("RGB", (2 * WIDE, 2 * HIGH))
        looks = ["rushhour.home()", *(f"rushhour.lookAt({x}, {y}, {zoom})" for zoom in zooms)]
        for k, look in enumerate(looks):
            opened.drawn(look)
            opened.until(
                "!rushhour.awake && rushhour.draw.refineAt === Infinity"
            )  # with all samples
            sheet.paste(Image.fromarray(opened.shot()), (WIDE * (k % 2), HIGH * (k // 2)))
        sheet.save(out / f"{path.stem}-{name}-{theme}.png")
    told = list(opened.told)
    opened.close()
    return told


def main() -> None:
    """Write the sheets of some pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pages", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=Path("out/sheets"))
    parser.add_argument("--browsers", nargs="+", choices=list(BROWSERS), default=list(BROWSERS))
    parser.add_argument(
        "--at", type=float, help="s after the begin (default: after three fifths of it)"
    )
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.browsers:
        begin, open_page = BROWSERS[name]
        with begin() as browser:
            for path in options.pages:
                told = sheets(open_page, browser, path, options.out, name, options.at)
                print(f"{path.name} in {name}: {'; '.join(told) or 'nothing in the console'}")


if __name__ == "__main__":
    main()
