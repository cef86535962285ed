"""Diagrams of profiles: what frames cost over time, and against the number of vehicles."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.traffic.profiling.profile import MS, Profile
from rushhour.traffic.profiling.sizes import Sweep
from rushhour.traffic.stepping.costs import PHASES
from rushhour.viewer.plots import new_figure, save_figure

FEW_BEYOND: Final = 1.5  # times the 99th percentile: what is dearer goes beyond the top
LINE_WITHIN: Final = 3.0  # times the top: a line that is farther away is only told
SIZE: Final = (10.0, 5.0)  # inches
MOST_COLUMNS: Final = 1500  # frames side by side; more are taken together by their means


def save_profile(path: Path, profile: Profile, budget: float | None = None) -> None:
    """Draw the phases of each frame one on top of the other. budget: s, drawn as a line.

    Raises RunError if it cannot be written.
    """
    figure, axes = new_figure(SIZE)
    frames = len(profile)
    first = np.unique(np.linspace(0, frames, min(frames, MOST_COLUMNS), False).astype(int))
    each = np.diff(np.append(first, frames))
    ms = np.add.reduceat(profile.ns[:, profile.used], first) / each[:, None] / MS
    shares = {PHASES[k]: float(np.median(profile.ns[:, k])) / MS for k in profile.used}
    labels = [f"{name}, p50 {p50:.3g} ms" for name, p50 in shares.items()]
    stack_costs(axes, np.append(first, frames), ms, labels)
    line = None if budget is None else budget * 1e3
    beyond = scale_costs(axes, ms.sum(axis=1), line, "budget")
    axes.set_xlabel("frame" + beyond)
    axes.legend(fontsize="small", ncols=2)
    axes.set_title(
        f"{profile.name}: {profile.vehicles.mean():,.0f} vehicles, dt {profile.dt:g} s, "
        f"p50 {profile.at(50.0) / MS:.3g} ms, p99 {profile.at(99.0) / MS:.3g} ms"
    )
    save_figure(figure, path)


def stack_costs(
    axes: Any, edges: NDArray[Any], ms: NDArray[np.float64], labels: Sequence[str]
) -> None:
    """Draw costs (n, phases), ms, one on top of the other, each from one of n + 1 edges to the next."""
    rows = np.concatenate((ms, ms[-1:])).T
    axes.stackplot(edges, rows, labels=labels, linewidth=0.0, step="post")
    axes.set_xlim(edges[0], edges[-1])


def scale_costs(axes: Any, total: NDArray[np.float64], line: float | None, label: str) -> str:
    """Give an axis of costs its range, by what is drawn; says in words how much goes beyond it.

    A few dear frames do not press the others flat, and neither does a line (ms) far above all.
    """
    usual, most = float(np.percentile(total, 99.0)), float(total.max())
    top = 1.15 * usual if most > FEW_BEYOND * usual else 1.05 * most
    if line is not None:
        told = f"{label}, {line:g} ms"
        if line <= LINE_WITHIN * top:
            axes.axhline(line, color="#a50026", label=told)
            top = max(top, 1.1 * line)
        else:
            axes.plot([], [], color="#a50026", label=f"{told}, above this")
    axes.set_ylim(0.0, max(top, 1e-6))
    axes.set_ylabel("ms a frame")
    beyond = int((total > top).sum())
    return f" ({beyond:,} beyond the top, up to {most:.3g} ms)" if beyond else ""


def save_sweep(path: Path, sweep: Sweep) -> None:
    """Draw the costs of phases against the number of vehicles, both by powers of ten.

    Raises RunError if it cannot be written.
    """
    figure, axes = new_figure(SIZE)
    fitted = sweep.exponents()
    for name, ms in sweep.ms().items():
        there = ms > 0.0
        axes.plot(
            sweep.vehicles[there], ms[there], marker="o", markersize=4,
            linewidth=2.5 if name == "all" else 1.2, color="black" if name == "all" else None,
            label=f"{name}, exponent {fitted[name]:.2f}",
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.grid(which="both", alpha=0.25)
    axes.set_xlabel("vehicles on the road")
    axes.set_ylabel("ms a frame, p50")
    axes.legend(fontsize="small", ncols=2)
    axes.set_title(f"Costs against size, dt {sweep.profiles[0].dt:g} s")
    save_figure(figure, path)
