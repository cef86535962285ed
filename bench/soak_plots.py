"""Picture of the soak test: how long bodies drive between two stuck events, and where these happen."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.model import Network

COLOURS: Final = {"baseline": "#d1495b", "ours": "#00798c"}
PUBLISHED: Final = {"baseline": (60.0, 7.0), "ours": (131.0, 36.0)}  # s, and sigma of five runs
RASTER: Final = 200  # points along each side of the picture of heights


def save_soak(
    path: Path,
    network: Network,
    heights: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    found: Mapping[str, Sequence[Mapping[str, Any]]],
) -> None:
    """Draw the runs of each follower: a bar for each seed beside the published ones, and a map each.

    heights: of points (..., 2), m. found: runs by follower, with seconds_per_event and places_m.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15.0, 5.2), dpi=90, layout="constrained")
    FigureCanvasAgg(figure)
    bars, *maps = figure.subplots(1, 1 + len(found), width_ratios=[1.0] + len(found) * [1.35])
    _draw_times(bars, found)
    n = network.n_road_lanes
    points = network.points[: network.point_start[n]]
    low, high = points.min(axis=0), points.max(axis=0)
    x, y = np.linspace(low[0], high[0], RASTER), np.linspace(low[1], high[1], RASTER)
    ground = heights(np.stack(np.meshgrid(x, y), axis=-1))
    for axis, (name, runs) in zip(maps, found.items(), strict=True):
        extent = (low[0], high[0], low[1], high[1])
        shown = axis.imshow(ground, cmap="Greys", alpha=0.4, origin="lower", extent=extent)
        for lane in range(n):
            axis.plot(*network.lane_points(lane).T, color="#8d7b4f", linewidth=0.9)
        places = np.concatenate([np.reshape(run["places_m"], (-1, 2)) for run in runs])
        axis.scatter(*places.T, s=34.0, color=COLOURS[name], alpha=0.55, linewidths=0.0)
        axis.set_title(f"{name}: {len(places)} stuck events in {len(runs)} runs")
        axis.set(xlim=extent[:2], ylim=extent[2:], aspect="equal")
        axis.set_xlabel("m")
    figure.colorbar(shown, ax=maps, shrink=0.7, label="height, m")
    figure.savefig(path)


def _draw_times(axis: Any, found: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Seconds of driving between two events: each seed, and the published mean with its sigma."""
    left = 0.0
    ticks: list[tuple[float, str]] = []
    for name, runs in found.items():
        times = [run["seconds_per_event"] for run in runs]
        at = left + np.arange(len(times))
        axis.bar(at, times, color=COLOURS[name])
        mean, sigma = PUBLISHED[name]
        axis.bar(
            at[-1] + 1.4, mean, yerr=sigma, color=COLOURS[name], alpha=0.35, hatch="//", capsize=4
        )
        axis.hlines(np.mean(times), at[0] - 0.4, at[-1] + 0.4, color="k", linewidth=1.2)
        ticks += [(float(place), str(seed)) for seed, place in enumerate(at)]
        ticks.append((float(at[-1]) + 1.4, "publ."))
        left = float(at[-1]) + 3.4
        axis.text(float(at.mean()), 1.02 * max(*times, mean + sigma), name, ha="center")
    axis.set_xticks([place for place, _ in ticks], [told for _, told in ticks])
    axis.set_xlabel("seed; mean (line); published, with sigma (hatched)")
    axis.set_ylabel("s of driving between two stuck events")
    axis.margins(y=0.08)
