"""A picture of a demand: where trips begin, where they end, and when (docs/demand-model.md)."""

from pathlib import Path
from typing import Final

import numpy as np

from rushhour.roadnets.model import Network
from rushhour.traffic.demand.model import Demand
from rushhour.viewer.plots import clock_axis, draw_lines, new_figure, save_figure

QUARTER: Final = 900.0  # s
LARGEST: Final = 400.0  # square points of the largest dot


def save_demand_picture(path: Path, network: Network, demand: Demand) -> dict[str, int]:
    """Draw origins and destinations as dots by road, and departures by quarter of an hour."""
    figure, axes = new_figure((18.0, 6.0), 3)
    first = demand.roads[demand.route_start[:-1]]
    last = demand.roads[demand.route_start[1:] - 1]
    of = network.arrays.roads
    shapes = [network.lane_points(int(lane)) for lane in of.first_lane]
    middle = np.array(
        [0.5 * (line[(len(line) - 1) // 2] + line[len(line) // 2])[:2] for line in shapes]
    )
    low, high = network.points.min(axis=0), network.points.max(axis=0)
    for axis, roads, title in ((axes[0], first, "origins"), (axes[1], last, "destinations")):
        draw_lines(axis, shapes, 0.4).set_color("0.85")
        count = np.bincount(roads, minlength=network.n_roads)
        some = np.flatnonzero(count)
        size = LARGEST * count[some] / max(int(count.max(initial=1)), 1)
        axis.scatter(
            *middle[some].T, s=np.maximum(size, 1.0), color="#2b6cb0", alpha=0.4, linewidths=0.0
        )
        axis.set_aspect("equal")
        axis.set_xlim(low[0], high[0])
        axis.set_ylim(low[1], high[1])
        axis.set_title(f"{title} of {len(demand):,} trips")
    kinds = np.array([name.rpartition(".")[0] for name in demand.ids])
    names = list(dict.fromkeys(kinds.tolist()))
    begin = np.floor(demand.depart[0] / QUARTER) * QUARTER
    edges = np.arange(begin, demand.depart[-1] + QUARTER, QUARTER)
    edges = edges if edges.size > 1 else np.array([begin, begin + QUARTER])
    axes[2].hist(
        [demand.depart[kinds == name] for name in names],
        bins=edges.tolist(),
        stacked=True,
        label=names,
    )
    axes[2].set_xlim(edges[0], edges[-1])
    clock_axis(axes[2])
    axes[2].set_ylabel("departures by quarter of an hour")
    axes[2].legend(fontsize="x-small", ncols=2)
    save_figure(figure, path)
    return {"trips": len(demand)}
