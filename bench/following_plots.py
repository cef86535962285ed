"""Pictures of path following: ten paths with their walls, and the ways the followers took."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from following_paths import NAMES, RECIPES, drawn_path
from following_trials import all_paths, run_trials
from numpy.typing import NDArray

from rushhour.traffic.steering.classes import GAME
from rushhour.traffic.steering.followers import Driver

COLOURS: Final = {"baseline": "#d1495b", "ours": "#00798c", "tuned": "#6a4c93"}
SHOWN: Final = "bolte"  # the body whose ways are drawn, beside the hovercraft's
SLIPPERY: Final = "hovercraft"
ASKS_LESS: Final = "ours, 8 m, 0.2 g"
MOST_ASKED: Final = 0.8  # g, on smooth bends by the published `lateral` of 0.4


def save_ways(path: Path, seed: int, base: Driver, tuned: Sequence[Driver]) -> None:
    """Draw the ten paths of a seed and the ways of two bodies, driven by the three followers."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    paths, each = all_paths([seed]), np.arange(len(GAME))
    found = {
        "baseline": run_trials(paths, [seed], [base], traced=True),
        "ours": run_trials(paths, [seed], [Driver()], traced=True),
        "tuned": run_trials(paths, [seed], tuned, each, traced=True),
    }
    figure = Figure(figsize=(20.0, 9.0), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    for axis, (number, name) in zip(figure.subplots(2, 5).flat, enumerate(NAMES), strict=True):
        way = drawn_path(name, seed)
        recipe = RECIPES[name]
        for width, colour in ((recipe.wall, "0.93"), (recipe.corridor, "0.82")):
            left, right = beside(way, width), beside(way, -width)
            band = np.concatenate((left, right[::-1]))
            axis.fill(band[:, 0], band[:, 1], color=colour, linewidth=0.0)
        steep = np.abs(np.diff(way[:, 2])) > 0.15 * np.hypot(*np.diff(way[:, :2], axis=0).T)
        for k in np.flatnonzero(steep):
            axis.plot(way[k : k + 2, 0], way[k : k + 2, 1], color="#e9c46a", linewidth=6.0)
        axis.plot(way[:, 0], way[:, 1], "k--", linewidth=0.7)
        for follower, results in found.items():
            for body, style in ((SHOWN, "-"), (SLIPPERY, ":")):
                trial = np.flatnonzero(
                    (results.path == number) & (results.body == GAME.index(body))
                )[0]
                axis.plot(
                    *results.trace[:, trial].T, style, color=COLOURS[follower], linewidth=1.3,
                    label=f"{follower}, {body}",
                )  # fmt: skip
        stuck = [int(results.events[results.path == number].sum()) for results in found.values()]
        axis.set_title(f"{name}: stuck {' / '.join(map(str, stuck))}")
        axis.set_aspect("equal")
        axis.tick_params(labelsize=7)
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6)
    figure.suptitle(
        f"seed {seed}: path (dashed), steep parts (yellow), corridor and walls; stuck events of six "
        "bodies with baseline / ours / tuned"
    )
    figure.savefig(path)


def save_errors(
    path: Path,
    followers: dict[str, dict[str, Any]],
    grips: dict[str, float],
    published: dict[str, float],
) -> None:
    """Draw the cross-track error of each body by its grip, to the path and to the nearest waypoint.

    followers: as in the JSON of path_following.py; grips: g of each body; published: m, lines.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13.0, 4.6), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    bodies = sorted(grips, key=lambda body: -grips[body])
    shown = {**COLOURS, ASKS_LESS: "#8d99ae"}
    measures = {"cte_by_body": "distance to the path, m", "near_by_body": "distance to the nearest waypoint, m"}  # fmt: skip
    for axis, (measure, words) in zip(
        figure.subplots(1, 2, sharey=True), measures.items(), strict=True
    ):
        for k, (name, colour) in enumerate(shown.items()):
            values = [followers[name][measure][body] for body in bodies]
            mean = sum(values) / len(values)
            axis.bar(
                [x + 0.2 * (k - 1.5) for x in range(len(bodies))], values, 0.19, color=colour,
                label=f"{name}: {mean:.2f} m",
            )  # fmt: skip
            if name in published:
                axis.axhline(
                    published[name], color=colour, linestyle="--", linewidth=1.0,
                    label=f"{name}, published: {published[name]:.2f} m",
                )  # fmt: skip
        for x, body in enumerate(bodies):
            if grips[body] < MOST_ASKED:
                axis.axvspan(x - 0.5, x + 0.5, color="#e9c46a", alpha=0.25, linewidth=0.0, zorder=0)
        axis.set_xticks(range(len(bodies)), [f"{body}\n{grips[body]:.2f} g" for body in bodies])
        axis.set_ylabel(words)
        axis.tick_params(labelleft=True)
        axis.legend(title="mean of six bodies", fontsize=8)
    figure.suptitle(
        f"yellow: bodies with less grip than the {MOST_ASKED:g} g that `lateral` 0.4 asks for",
        fontsize=10,
    )
    figure.savefig(path)


def beside(way: NDArray[np.float64], offset: float) -> NDArray[np.float64]:
    """A line beside a path, offset m to its left."""
    along = np.gradient(way[:, :2], axis=0)
    along /= np.hypot(along[:, 0], along[:, 1])[:, None]
    return way[:, :2] + offset * np.column_stack((-along[:, 1], along[:, 0]))
