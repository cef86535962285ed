"""A corridor over time and space: what its signals show, the bands of green through all of them, vehicles."""

from pathlib import Path
from typing import Any, Final

import numpy as np

from rushhour.roadnets.model import Network
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.timing.corridors import Corridor, band
from rushhour.traffic.timing.junctions import Bools, runs_of
from rushhour.viewer.green_bands import GREEN, green_bar
from rushhour.viewer.plots import KMH, Window, clock_axis, new_figure, save_figure, trajectories

CYCLES: Final = 3.5  # that are drawn
AHEAD, BACK = GREEN, "#1c7ed6"


def save_corridor(
    path: Path, network: Network, corridor: Corridor, run: RunFile | None = None
) -> dict[str, Any]:
    """Draw a corridor; in green the direction in which it is named, in blue the other one.

    run: whose vehicles are drawn, from the middle of it on. Returns what was drawn. Raises RunError if
    it cannot be written.
    """
    cycle = max(plan.cycle for plan in corridor.plans)
    length = CYCLES * cycle
    begin = 0.0 if run is None else _begin(run, length)
    figure, axes = new_figure((11.0, 0.55 * len(corridor.plans) + 5.0))
    reach = corridor.place[-1] - corridor.place[0]
    thick = max(reach, 1.0) * 0.011
    for k, plan in enumerate(corridor.plans):
        for side, goes in ((0.0, corridor.ahead[k]), (-thick, corridor.back[k])):
            if goes is not None:
                _bar(axes, goes, plan.cycle, begin, length, corridor.place[k] + side, thick)
    same = len({plan.cycle for plan in corridor.plans}) == 1
    widths = {"ahead": 0, "back": 0}
    if same:
        widths["ahead"] = _bands(
            axes, corridor.ahead, corridor.time, corridor.place, cycle, begin, length, AHEAD
        )
        if all(goes is not None for goes in corridor.back):
            others = [one for one in corridor.back[::-1] if one is not None]
            time = [corridor.time[-1] - t for t in corridor.time[::-1]]
            widths["back"] = _bands(
                axes, others, time, corridor.place[::-1], cycle, begin, length, BACK
            )
    drawn = 0
    if run is not None:
        drawn = _vehicles(axes, Window(run, begin, begin + length), corridor)
    axes.set_xlim(begin, begin + length)
    low = corridor.place[0] - 0.06 * reach - (0.12 * reach if run is not None else 0.0)
    axes.set_ylim(low, corridor.place[-1] + 0.06 * reach)
    axes.set_yticks(corridor.place)
    names = [plan.junction.id for plan in corridor.plans]
    axes.set_yticklabels(
        [
            f"{name[:18]}\n{place - corridor.place[0]:.0f} m"
            for name, place in zip(names, corridor.place, strict=True)
        ]
    )
    clock_axis(axes)
    axes.set_ylabel("m; bars: ahead above the line, back below it")
    what = f"bands {widths['ahead']} s and {widths['back']} s" if same else "no common cycle"
    cycles = (
        f"cycle {cycle} s" if same else "cycles " + ", ".join(str(p.cycle) for p in corridor.plans)
    )
    axes.set_title(
        f"{network.name}: corridor at {KMH * corridor.speed:.0f} km/h, {cycles}, {what}",
        fontsize=10,
    )
    save_figure(figure, path)
    return {"signals": names, "roads": corridor.roads, "band_s": widths, "vehicles": drawn}


def _vehicles(axes: Any, window: Window, corridor: Corridor) -> int:
    """Draw the ways of vehicles over time; how many these are."""
    found = trajectories(window, corridor.roads)
    from matplotlib.collections import LineCollection

    axes.add_collection(LineCollection(list(found.lines), linewidths=0.6, colors="0.25", alpha=0.7))
    return found.vehicles


def _begin(run: RunFile, length: float) -> float:
    """When a stretch in the middle of a run begins."""
    run.want_frames()
    times = run.times
    return float(max(times[0], 0.5 * (times[0] + times[-1]) - 0.5 * length))


def _bar(
    axes: Any, goes: Bools, cycle: int, begin: float, length: float, low: float, thick: float
) -> None:
    """What a signal shows one direction, as a bar along time."""
    seconds = begin + np.arange(int(length) + 1)
    green_bar(axes, goes[np.floor(seconds).astype(int) % cycle], seconds, low, thick)


def _bands(
    axes: Any, greens: list[Bools], time: list[float], place: list[float], cycle: int, begin: float,
    length: float, colour: str,
) -> int:  # fmt: skip
    """Draw the bands of green through all signals; seconds of them in a cycle."""
    through = band(greens, time)
    if not through.any():
        return 0
    for run in runs_of(through):
        first, wide = run[0], len(run)
        offset = first - begin % cycle
        for turn in range(-3, int(length // cycle) + 2):
            start = begin + offset + turn * cycle
            x = np.array(time) + start
            axes.fill_betweenx(place, x, x + wide, color=colour, alpha=0.16, linewidth=0)
            for edge in (x, x + wide):
                axes.plot(edge, place, color=colour, linewidth=0.8, alpha=0.8)
    return int(through.sum())
