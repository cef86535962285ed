"""Diagrams of a study: figures of variants with their intervals, and where delay differs (docs/studies.md)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.traffic.studies.figures import FIGURES
from rushhour.viewer.plots import (
    HEADROOM,
    beyond,
    draw_lines,
    map_axes,
    new_figure,
    save_figure,
)

if TYPE_CHECKING:
    from rushhour.roadnets.model import Network
    from rushhour.traffic.studies.results import Group, Results

SHOWN: Final = ("travel_time_s", "total_delay_veh_h", "longest_queue_m")
COLOURS: Final = (
    "#2b6cb0",
    "#c05621",
    "#2f855a",
    "#6b46c1",
    "#b83280",
    "#4a5568",
    "#b7791f",
    "#0987a0",
)
MOST_LABELS: Final = 16  # groups beside each other before their names are left out
FULL: Final = 20  # a twentieth of the roads of a map has the full colour, at most so many


def save_figures(path: Path, results: "Results") -> dict[str, int]:
    """Draw the main figures: of variants beside each other, or over the first axis, with intervals of 95 %."""
    figure, axes = new_figure((14.0, 4.8), len(SHOWN))
    numeric = [name for name, values in results.study.axes.items() if _numbers(values)]
    for axis, name in zip(axes, SHOWN, strict=True):
        what, unit = FIGURES[name]
        axis.set_ylabel(f"{what}, {unit}" if unit else what)
        if numeric:
            _over_axis(axis, results, name, numeric[0])
        else:
            _side_by_side(axis, results, name)
        axis.set_ylim(0.0, HEADROOM * axis.dataLim.y1 if axis.dataLim.y1 > 0.0 else 1.0)
        axis.grid(alpha=0.3)
    if numeric:
        axes[0].legend(fontsize="small")
    dots = "" if numeric else "; small dots are runs"
    figure.suptitle(f"{results.study.name}: means of the runs and their 95 % intervals{dots}")
    save_figure(figure, path)
    return {"groups": len(results.groups)}


def _numbers(values: list[Any]) -> bool:
    return len(values) > 1 and all(
        isinstance(v, int | float) and not isinstance(v, bool) for v in values
    )


def _interval(group: "Group", name: str) -> tuple[float, float, float, NDArray[np.float64]]:
    """Mean, what is below and above it, and the values of the runs."""
    from rushhour.traffic.analysis.samples import estimate

    values = np.array(list(group.values(name).values()))
    found = estimate(values)
    if found.mean is None:
        return np.nan, 0.0, 0.0, values
    below = 0.0 if found.low is None else found.mean - found.low
    return found.mean, below, below, values


def _side_by_side(axis: Any, results: "Results", name: str) -> None:
    groups = results.groups
    for k, group in enumerate(groups):
        mean, below, above, values = _interval(group, name)
        colour = COLOURS[list(results.study.variants).index(group.variant) % len(COLOURS)]
        axis.plot(np.full(values.size, k + 0.18), values, ".", color=colour, alpha=0.4)
        axis.errorbar([k], [mean], yerr=[[below], [above]], fmt="o", color=colour, capsize=4)
    labels = [
        ", ".join((group.variant, *(f"{v}" for v in group.axes.values()))) for group in groups
    ]
    axis.set_xticks(range(len(groups)), labels if len(groups) <= MOST_LABELS else [""] * len(groups),
                    rotation=20, ha="right")  # fmt: skip
    axis.set_xlim(-0.6, len(groups) - 0.4)


def _over_axis(axis: Any, results: "Results", name: str, over: str) -> None:
    """Lines over an axis, one for each variant and point of the others."""
    lines: dict[str, list[tuple[float, float, float, float]]] = {}
    for group in results.groups:
        others = [f"{key} {value}" for key, value in group.axes.items() if key != over]
        label = ", ".join((group.variant, *others))
        mean, below, above, _ = _interval(group, name)
        lines.setdefault(label, []).append((float(group.axes[over]), mean, below, above))
    for k, (label, points) in enumerate(lines.items()):
        x, mean, below, above = np.array(sorted(points)).T
        axis.errorbar(x, mean, yerr=[below, above], fmt="o-", capsize=3, label=label[:40],
                      color=COLOURS[k % len(COLOURS)])  # fmt: skip
    axis.set_xlabel(over)


def save_difference_map(
    path: Path, network: "Network", change: NDArray[np.float64], title: str, closed: NDArray[np.int32]
) -> dict[str, int]:  # fmt: skip
    """Draw roads by how much their delay differs, veh h: red more, green less, and dashed those that are closed.

    change: (roads,), NaN none.
    """
    known = np.flatnonzero(np.isfinite(change) & (change != 0.0))
    figure, axes = map_axes(network)
    of = network.arrays.roads
    middle = of.first_lane + of.lane_count // 2
    shapes = [network.lane_points(int(lane)) for lane in middle]
    draw_lines(axes, shapes, 0.6).set_color("0.85")
    most = max(1, min(FULL, known.size // 20))
    top = float(np.sort(np.abs(change[known]))[-most]) if known.size else 1.0
    order = known[np.argsort(np.abs(change[known]), kind="stable")]
    wide = 1.0 + 4.0 * np.minimum(np.abs(change[order]) / max(top, 1e-9), 1.0)
    drawn = draw_lines(axes, [shapes[k] for k in order], wide)
    drawn.set_cmap("RdYlGn_r")
    drawn.set_array(change[order])
    drawn.set_clim(-max(top, 1e-9), max(top, 1e-9))
    if closed.size:
        barred = draw_lines(axes, [shapes[k] for k in closed], 2.0)
        barred.set(color="black", linestyle=(0, (2.0, 1.5)), label="closed", zorder=4)
        axes.legend(handles=[barred], loc="upper right", fontsize="small")
    figure.colorbar(drawn, ax=axes, label="difference of delay, veh h", pad=0.02, shrink=0.8,
                    extend=beyond(change[known], top))  # fmt: skip
    axes.set_title(title)
    save_figure(figure, path)
    full = int((np.abs(change[known]) >= top).sum())
    return {"roads": int(known.size), "full": full, "closed": int(closed.size)}
