"""A picture of a demand: where trips begin, where they end, and when (docs/demand-model.md)."""

import re
from pathlib import Path
from typing import Any, Final

import numpy as np

from rushhour.roadnets.model import Network
from rushhour.traffic.demand.model import Demand
from rushhour.viewer.plots import N_COLOURS, clock_axis, draw_lines, new_figure, save_figure

QUARTER: Final = 900.0  # s
LARGEST: Final = 400.0  # square points of the largest dot
DOTS: Final[dict[str, Any]] = {"color": "#2b6cb0", "alpha": 0.4, "linewidths": 0.0}


def save_demand_picture(path: Path, network: Network, demand: Demand) -> dict[str, int]:
    """Draw origins and destinations as dots by road, of one scale, and departures by quarter of an hour."""
    figure, axes = new_figure((18.0, 6.0), 3)
    first = demand.roads[demand.route_start[:-1]]
    last = demand.roads[demand.route_start[1:] - 1]
    of = network.arrays.roads
    shapes = [network.lane_points(int(lane)) for lane in of.first_lane]
    middle = np.array(
        [0.5 * (line[(len(line) - 1) // 2] + line[len(line) // 2])[:2] for line in shapes]
    )
    low, high = network.points.min(axis=0), network.points.max(axis=0)
    counts = [np.bincount(roads, minlength=network.n_roads) for roads in (first, last)]
    most = max(1, *(int(count.max(initial=1)) for count in counts))
    for axis, count, title in zip(axes, counts, ("origins", "destinations"), strict=False):
        draw_lines(axis, shapes, 0.4).set_color("0.85")
        some = np.flatnonzero(count)
        size = np.maximum(LARGEST * count[some] / most, 1.0)
        axis.scatter(*middle[some].T, s=size, **DOTS)
        axis.scatter([], [], s=LARGEST, label=f"{most:,} trips from or to a road", **DOTS)
        axis.legend(loc="upper left", fontsize="x-small", frameon=False)
        axis.set_xlabel("m")
        axis.set_aspect("equal")
        axis.set_xlim(low[0], high[0])
        axis.set_ylim(low[1], high[1])
        axis.set_title(f"{title} of {len(demand):,} trips")
    kinds = np.array(
        [re.split(r"\.\d", name, maxsplit=1)[0] for name in demand.ids]
    )  # of copies, too
    names = list(dict.fromkeys(kinds.tolist()))
    begin = np.floor(demand.depart[0] / QUARTER) * QUARTER
    edges = np.arange(begin, demand.depart[-1] + QUARTER, QUARTER)
    edges = edges if edges.size > 1 else np.array([begin, begin + QUARTER])
    _, _, drawn = axes[2].hist(
        [demand.depart[kinds == name] for name in names],
        bins=edges.tolist(),
        stacked=True,
        label=names,
    )
    bars = [drawn] if len(names) == 1 else drawn
    for again in bars[N_COLOURS:]:  # these colours were used before
        for bar in again:
            bar.set(hatch="////", edgecolor="white", linewidth=0.0)
    axes[2].set_xlim(edges[0], edges[-1])
    clock_axis(axes[2])
    axes[2].set_ylabel("departures by quarter of an hour")
    axes[2].legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize="x-small", ncols=4, frameon=False)  # fmt: skip
    save_figure(figure, path)
    return {"trips": len(demand)}
