"""Diagrams of profiles: what frames cost over time, and against the number of vehicles."""

from pathlib import Path
from typing import Final

import numpy as np

from rushhour.traffic.costs import PHASES
from rushhour.traffic.profiling.profile import MS, Profile
from rushhour.traffic.profiling.sizes import Sweep
from rushhour.viewer.plots import new_figure, save_figure

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
    axes.stackplot(first, ms.T, labels=labels, linewidth=0.0, step="post")
    top = float(np.percentile(profile.frame, 99.5)) / MS
    if budget is not None:
        axes.axhline(budget * 1e3, color="#a50026", label=f"budget, {budget * 1e3:g} ms")
        top = max(top, budget * 1e3)
    axes.set_xlim(0, max(1, frames - 1))
    axes.set_ylim(0.0, 1.15 * top)
    beyond = int((profile.frame / MS > 1.15 * top).sum())
    axes.set_xlabel("frame" + (f" ({beyond} go beyond the top)" if beyond else ""))
    axes.set_ylabel("ms a frame")
    axes.legend(fontsize="small", ncols=2, loc="upper right")
    axes.set_title(
        f"{profile.name}: {profile.vehicles.mean():,.0f} vehicles, dt {profile.dt:g} s, "
        f"p50 {profile.at(50.0) / MS:.3g} ms, p99 {profile.at(99.0) / MS:.3g} ms"
    )
    save_figure(figure, path)


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
