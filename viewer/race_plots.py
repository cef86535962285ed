"""The five figures of generated race paths (seed-systems.md S4), by matplotlib."""

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.games.racing.course import Course
from rushhour.games.racing.ground_shapes import Oval
from rushhour.games.racing.race_paths import RacePaths
from rushhour.roadnets.errors import RunError
from rushhour.viewer.plots import save_figure
from rushhour.viewer.race_shot import race_colours

VIEW: Final = 30.0  # cells that a close figure shows
FLAGS: Final = 10  # every so many-th feature cell has a flag


def save_race_figures(path: Path, made: RacePaths, race: int = 0) -> None:
    """Cost map; centres and rays; the editor's view; a curve; a straight. Raises RunError."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise RunError(
            "--plot: wanted the package matplotlib; pip install 'rushhour[plot]'"
        ) from None
    figure = Figure(figsize=(16.0, 14.0), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplot_mosaic([["1", "1", "2", "2"], ["3", "3", "3", "3"], ["4", "4", "5", "5"]])
    course, places = made.course, made.positions(race)
    image = _ground(axes["1"], course)
    figure.colorbar(image, ax=axes["1"], label="cost", shrink=0.8)
    axes["1"].set_title("1  cost map")
    _rays(axes["2"], course)
    _editor(axes["3"], course, made.cells[race, 0])
    curve, straight = _interesting(course)
    for name, at, title in (
        ("4", curve, "4  to the inner track in a curve"), ("5", straight, "5  lines held on a straight")
    ):  # fmt: skip
        _ground(axes[name], course)
        _paths(axes[name], places)
        _close_up(axes[name], course, at)
        axes[name].set_title(title)
    save_figure(figure, path)


def _ground(axis: Any, course: Course) -> Any:
    rows, columns = course.cost.shape
    shown = np.where(course.cost > 0, course.cost.astype(np.float64), np.nan)
    extent = (
        course.x0,
        course.x0 + columns * course.cell,
        course.y0,
        course.y0 + rows * course.cell,
    )
    axis.set_aspect("equal")
    return axis.imshow(shown, origin="lower", extent=extent, cmap="YlGn", vmin=0.0, vmax=10.0)


def _flat(course: Course, cells: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.asarray(cells[:, 0] * course.cost.shape[1] + cells[:, 1], np.int32)


def _rays(axis: Any, course: Course) -> None:
    _ground(axis, course).set_alpha(0.35)
    features = course.centre_of(_flat(course, course.features))
    axis.plot(*features.T, "s", color="#2c6e49", markersize=1.2, label="feature cells")
    axis.plot(*features[0], "^", color="#d1495b", markersize=9, label="start cell")
    if isinstance(course.shape, Oval):
        axis.plot(*course.shape.centres.T, "ko-", linewidth=0.7, label="centres")
    number = course.number
    for share in (0.1, 0.35, 0.6, 0.85):
        chosen = int(share * len(features))
        ray = np.flatnonzero((number == chosen).ravel()).astype(np.int32)
        axis.plot(*course.centre_of(ray).T, "s", color="#30638e", markersize=2.0)
    axis.legend(loc="center", fontsize=8)
    axis.set_title("2  centres, feature cells, rays of equal number (blue)")


def _editor(axis: Any, course: Course, starts: NDArray[np.int32]) -> None:
    _ground(axis, course)
    at = course.centre_of(starts)
    for k, (x, y) in enumerate(at):
        axis.text(x, y, f"H{k + 1}", ha="center", va="center", fontsize=7, weight="bold",
                  bbox={"facecolor": race_colours(len(at))[k] / 255.0, "pad": 1.2, "linewidth": 0.4})  # fmt: skip
    features = course.centre_of(_flat(course, course.features))
    for k in range(0, len(features), FLAGS):
        axis.plot(*features[k], "|", color="#d1495b", markersize=10)
        axis.text(*features[k], f" {k}", fontsize=6, color="#d1495b", clip_on=True)
    x, y = at.mean(axis=0)
    reach = VIEW * course.cell
    axis.set_xlim(x - 1.6 * reach, x + 2.4 * reach)
    axis.set_ylim(y - 0.5 * reach, y + 0.5 * reach)
    axis.set_xticks(np.arange(x - 1.6 * reach, x + 2.4 * reach, course.cell), minor=True)
    axis.set_yticks(np.arange(y - 0.5 * reach, y + 0.5 * reach, course.cell), minor=True)
    axis.grid(which="minor", color="0.75", linewidth=0.3)
    axis.set_title(f"3  cells, {len(at)} starts, flags of the feature cells")


def _paths(axis: Any, places: NDArray[np.float64]) -> None:
    colours = race_colours(places.shape[1]) / 255.0
    for k in range(places.shape[1]):
        axis.plot(places[:, k, 0], places[:, k, 1], color=0.8 * colours[k], linewidth=1.4)


def _interesting(course: Course) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The middles of the first curve's entry and of the straight before it, m."""
    features = course.centre_of(_flat(course, course.features))
    curved = course.shape.place(features)[2]
    entries = np.flatnonzero(curved & ~np.roll(curved, 1))
    entries = entries[entries >= VIEW]
    entry = int(entries[0]) if entries.size else len(features) // 4
    ahead = min(len(features) - 1, entry + int(0.6 * VIEW))
    return features[ahead], features[max(0, entry - int(1.2 * VIEW))]


def _close_up(axis: Any, course: Course, at: NDArray[np.float64]) -> None:
    reach = VIEW * course.cell
    axis.set_xlim(at[0] - 1.3 * reach, at[0] + 1.3 * reach)
    axis.set_ylim(at[1] - 0.8 * reach, at[1] + 0.8 * reach)
