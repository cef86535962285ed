"""Diagrams of counts against a simulation: a scatter plot and a map (docs/counts.md)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.traffic.words.durations import clock
from rushhour.viewer.plots import beyond, draw_lines, map_axes, new_figure, save_figure

if TYPE_CHECKING:
    from rushhour.roadnets.model import Network
    from rushhour.traffic.analysis.counts import Compared

CURVE: Final = 400  # points of a curve of equal GEH
STATISTICS: Final = ((5.0, "#6fae3a"), (10.0, "#e3a008"))  # GEH, and the colour of its curves
MOST_GEH: Final = 10.0  # at the ends of the colours of the map


def save_scatter(path: Path, found: "Compared", title: str) -> dict[str, int]:
    """Draw every count against what was simulated, with the curves of GEH 5 and 10."""
    table, every = found.table, found.figures["all"]
    counted, driven = table.count_veh_per_h, table.simulated_veh_per_h
    figure, axes = new_figure((7.6, 7.2))
    top = 1.05 * max(float(counted.max()), float(driven.max()), 1.0)
    line = np.linspace(0.0, top, CURVE)
    axes.plot(line, line, color="0.4", linewidth=1.0, label="simulated = counted")
    for statistic, colour in STATISTICS:
        low, high = _same_geh(line, statistic)
        axes.plot(line, high, color=colour, linewidth=1.0, label=f"GEH {statistic:g}")
        axes.plot(line, low, color=colour, linewidth=1.0)
    size = 22.0 if counted.size < 500 else 6.0
    drawn = axes.scatter(counted, driven, s=size, c=table.begin, cmap="viridis",
                         linewidths=0.0, zorder=3)  # fmt: skip
    if np.ptp(table.begin) > 0.0:
        bar = figure.colorbar(drawn, ax=axes, label="interval begins", pad=0.02, shrink=0.8)
        bar.ax.yaxis.set_major_formatter(lambda time, _: clock(max(time, 0.0)))
    axes.set_xlim(0.0, top)
    axes.set_ylim(0.0, top)
    axes.set_aspect("equal")
    axes.set_xlabel("counted, veh/h")
    axes.set_ylabel("simulated, veh/h")
    r2 = "-" if every["r2"] is None else f"{every['r2']:.3f}"
    axes.set_title(
        f"{title}: {counted.size:,} counts, GEH below 5: {every['geh_below_5_percent']:.0f} %, R2 {r2}"
    )
    axes.legend(loc="upper left")
    axes.grid(alpha=0.3)
    save_figure(figure, path)
    return {"counts": int(counted.size)}


def _same_geh(counted: NDArray[np.float64], statistic: float) -> tuple[Any, Any]:
    """Flows below and above counted ones, of one GEH: the roots of 2 (m - c)^2 = g^2 (m + c)."""
    square = statistic**2
    middle = counted + 0.25 * square
    half = 0.25 * np.sqrt(square**2 + 16.0 * square * counted)
    low = np.where(middle - half >= 0.0, middle - half, np.nan)
    return low, middle + half


def save_counts_map(path: Path, found: "Compared", network: "Network") -> dict[str, int]:
    """Draw the counted roads in the colour of their GEH: blue too few vehicles, red too many.

    Raises RunError where loops were counted, not roads.
    """
    table = found.table
    names, row = np.unique(table.place.astype(str), return_inverse=True)
    roads = [network.road_index.get(name, -1) for name in names]
    if min(roads) < 0:
        raise RunError("a map of counts wants counts of roads; these are of loops")
    sign = np.sign(table.simulated_veh_per_h - table.count_veh_per_h)
    mean = np.bincount(row, sign * table.geh) / np.bincount(row)
    order = np.argsort(np.abs(mean), kind="stable")
    figure, axes = map_axes(network)
    of = network.arrays.roads
    middle = of.first_lane + of.lane_count // 2
    shapes = [network.lane_points(int(lane)) for lane in middle]
    draw_lines(axes, shapes, 0.6).set_color("0.85")
    drawn = draw_lines(axes, [shapes[roads[k]] for k in order], 4.0)
    drawn.set_cmap("coolwarm")
    drawn.set_array(mean[order])
    drawn.set_clim(-MOST_GEH, MOST_GEH)
    figure.colorbar(drawn, ax=axes, pad=0.02, shrink=0.8, extend=beyond(mean, MOST_GEH),
                    label="mean GEH, negative: too few vehicles are simulated")  # fmt: skip
    for k in order[-12:]:
        line = shapes[roads[k]]
        x, y = 0.5 * (line[(len(line) - 1) // 2] + line[len(line) // 2])[:2]
        axes.annotate(f"{mean[k]:+.1f}", (x, y), fontsize="small", ha="center", va="center",
                      bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "0.7", "lw": 0.5})  # fmt: skip
    axes.set_title(f"{network.name}: counts against simulation, {len(roads):,} counters")
    save_figure(figure, path)
    return {"roads": len(roads)}
