"""Real-time factors against vehicles on the road, of results of peers.py.

python bench/peers_plot.py FILE.json ... --plot FILE.png
"""

import argparse
import json
from pathlib import Path
from typing import Any

WIDTH, HEIGHT, DPI = 7.5, 4.6, 100  # inches, dots per inch
STYLES = {
    "rushhour": ("o", "tab:red"),
    "CityFlow": ("s", "tab:green"),
    "UXsim": ("^", "tab:gray"),
    "SUMO": ("D", "tab:blue"),
}


def series(results: list[dict[str, Any]]) -> dict[str, list[tuple[float, float, str]]]:
    """By simulator, step and threads: vehicles on the road, real-time factor, scenario; windows only."""
    found: dict[str, list[tuple[float, float, str]]] = {}
    for result in results:
        for row in (result["sumo"], *result["also"], *result["rushhour"]):
            if "mean_on_road" in row:
                name = f"{row['simulator']}, {row['step_s']:g} s, {row['threads']} thr."
                point = row["mean_on_road"], row["real_time_factor"], result["scenario"]
                found.setdefault(name, []).append(point)
    return {name: sorted(points) for name, points in found.items()}


def draw(results: list[dict[str, Any]], path: Path) -> None:
    """A PNG. Grids of signals are joined by lines, other networks are single hollow points."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot, ticker

    figure, axes = pyplot.subplots(figsize=(WIDTH, HEIGHT), dpi=DPI, layout="constrained")
    drawn: dict[str, int] = {}
    for name, points in series(results).items():
        kind = next(kind for kind in STYLES if name.startswith(kind))
        marker, colour = STYLES[kind]
        dashes = ("-", "--", ":", "-.")[drawn.setdefault(kind, 0) % 4]
        drawn[kind] += 1
        grids = [
            point for point in points if point[2].startswith("grid") and "stop" not in point[2]
        ]
        others = [point for point in points if point not in grids]
        axes.plot(
            [point[0] for point in grids], [point[1] for point in grids],
            marker=marker, linestyle=dashes, color=colour, label=name, markersize=5,
        )  # fmt: skip
        axes.plot(
            [point[0] for point in others], [point[1] for point in others],
            marker=marker, linestyle="", color=colour, markerfacecolor="white", markersize=5,
        )  # fmt: skip
    for result in results:
        best = max(
            (row["real_time_factor"], row["mean_on_road"])
            for row in (result["sumo"], *result["also"], *result["rushhour"], {
                "real_time_factor": 0.0, "mean_on_road": 0.0,
            }) if "mean_on_road" in row
        )  # fmt: skip
        if best[0]:
            axes.annotate(
                result["scenario"], (best[1], best[0]), xytext=(0, 7),
                textcoords="offset points", ha="center", fontsize=7,
            )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="vehicles on the road", ylabel="times real time")
    axes.margins(x=0.25, y=0.1)  # room for the names of scenarios
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    axes.grid(alpha=0.3, which="both")
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.savefig(path)
    pyplot.close(figure)


def main() -> None:
    """Draw results of several runs in one picture; a scenario measured twice counts once, the last."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.json")
    parser.add_argument("--plot", type=Path, required=True, metavar="FILE")
    options = parser.parse_args()
    kept: dict[str, Any] = {}
    for path in options.files:
        kept |= {result["scenario"]: result for result in json.loads(path.read_text())["results"]}
    draw(list(kept.values()), options.plot)


if __name__ == "__main__":
    main()
