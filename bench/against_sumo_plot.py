"""Our mean travel time with departure delay against SUMO's, one point a run, of against_sumo.py.

python bench/against_sumo_plot.py FILE.json ... --plot FILE.png
"""

import argparse
import json
from pathlib import Path
from typing import Any, Final

import numpy as np

SIZE: Final = 5.6  # inches
DPI: Final = 100
STYLES: Final = {  # by routes and dt
    ("sumo", 0.25): ("o", "tab:red"),
    ("sumo", 0.5): ("s", "tab:orange"),
    ("own", 0.25): ("^", "tab:blue"),
    ("own", 0.5): ("v", "tab:cyan"),
}


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """A PNG. Hollow: not all have arrived, or a rule was broken."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot, ticker

    figure, axes = pyplot.subplots(figsize=(SIZE, SIZE), dpi=DPI, layout="constrained")
    rows = [row for row in rows if row.get("peer_empties", True)]  # else of SUMO's few arrived
    sums = np.array([row["sums"] for row in rows])
    ends = np.array([0.8 * sums.min(), 1.25 * sums.max()])
    axes.fill_between(ends, 0.9 * ends, 1.1 * ends, color="0.9", label="within 10 %")
    axes.plot(ends, ends, color="0.5", linewidth=0.8)
    for (routes, dt), (marker, colour) in STYLES.items():
        mine = np.array([(row["routes"], row["dt"]) == (routes, dt) for row in rows])
        sound = np.array([row["empties"] and not row["violations"] for row in rows])
        name = f"{'SUMO' if routes == 'sumo' else 'own'} routes, {dt:g} s"
        for some, face in ((mine & sound, colour), (mine & ~sound, "none")):
            if some.any():
                axes.scatter(
                    sums[some, 1], sums[some, 0], 22, marker=marker, edgecolors=colour,
                    facecolors=face, linewidths=0.8, label=name if face == colour else None,
                )  # fmt: skip
    axes.set(
        xscale="log", yscale="log", xlim=ends, ylim=ends, xlabel="SUMO, s", ylabel="rushhour, s"
    )
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(ticker.ScalarFormatter())
        axis.set_minor_formatter(ticker.NullFormatter())
    axes.set_title("Mean travel time + departure delay", fontsize=10)
    axes.legend(fontsize=8, loc="upper left")
    figure.savefig(path)


def main() -> None:
    """Read, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE.json")
    parser.add_argument("--plot", type=Path, required=True, metavar="FILE.png")
    options = parser.parse_args()
    rows = [row for file in options.files for row in json.loads(file.read_text())["rows"]]
    draw([row for row in rows if "sums" in row], options.plot)


if __name__ == "__main__":
    main()
