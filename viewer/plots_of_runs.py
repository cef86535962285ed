"""Diagrams of a whole run: vehicles over time, trips, queues, costs (docs/measures.md)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.traffic.analysis.queues import queued
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.stepping.costs import PHASES
from rushhour.traffic.words.durations import clock
from rushhour.viewer.plots import (
    HEADROOM,
    N_COLOURS,
    Window,
    clock_axis,
    new_figure,
    save_figure,
)
from rushhour.viewer.plots_of_costs import scale_costs, stack_costs

BINS: Final = 60
MOST_QUEUES: Final = 12  # lines in one diagram: as many as eyes tell apart
MOST_COSTS: Final = 500  # points over time; costs of more intervals are averaged
SIZE: Final = (11.0, 4.6)  # inches


def save_vehicles(path: Path, window: Window) -> dict[str, int]:
    """Draw how many vehicles were on the road in each recorded frame, and how many have arrived.

    Raises RunError without frames.
    """
    run, frames = window.run, window.frames
    times, counts = run.times[frames], run.counts[frames]
    figure, axes = new_figure(SIZE)
    axes.plot(times, counts, color="#2b6cb0", label="on the road")
    facts = {"frames": len(frames), "most": int(counts.max())}
    if run.group("trips") is not None:
        arrived = np.sort(run.table("trips").columns["arrived_s"])
        axes.plot(times, np.searchsorted(arrived, times, side="right"), color="#6fae3a",
                  label="trips ended so far")  # fmt: skip
        facts["ended"] = int(np.searchsorted(arrived, times[-1], side="right"))
    axes.set_xlim(times[0], max(times[-1], times[0] + 1.0))
    axes.set_ylim(bottom=0.0)
    clock_axis(axes)
    axes.set_ylabel("vehicles")
    axes.legend()
    axes.set_title(f"{window.network.name}: vehicles")
    save_figure(figure, path)
    return facts


def save_trips(path: Path, window: Window) -> dict[str, int]:
    """Draw how the trips that ended in that time are spread over travel time, delay and speed.

    Raises RunError if none ended.
    """
    trips = _table(window.run, "trips")
    inside = (trips["arrived_s"] >= window.begin) & (trips["arrived_s"] <= window.end)
    if not inside.any():
        raise RunError(f"{window.run.path}: no trip ended in that time")
    figure, axes = new_figure((14.0, 4.6), 3)
    shown = (
        ("travel time, min", trips["travel_time_s"][inside] / 60.0),
        ("departure delay, min", trips["departure_delay_s"][inside] / 60.0),
        ("mean speed, km/h", 3.6 * trips["mean_speed_mps"][inside]),
    )
    for axis, (name, values) in zip(axes, shown, strict=True):
        axis.hist(values, bins=BINS, range=(0.0, max(float(values.max()), 1.0)), color="#2b6cb0")
        for told, value, line in (("mean", float(values.mean()), "-"), *(
            (f"{share} % below", float(np.percentile(values, share)), ":") for share in (50, 95)
        )):  # fmt: skip
            axis.axvline(value, color="#a50026", linestyle=line, label=f"{told} {value:.1f}")
        axis.set_xlabel(name)
        axis.set_xlim(left=0.0)
        axis.legend()
    axes[0].set_ylabel("trips")
    figure.suptitle(f"{window.network.name}: trips that ended")
    save_figure(figure, path)
    return {"trips": int(inside.sum())}


def save_queues(path: Path, window: Window) -> dict[str, int]:
    """Draw the longest of the measured queues over time, by interval; of a run that measured none, by its frames.

    Raises RunError if queues were neither measured nor are there frames to count them in.
    """
    run = window.run
    if run.group("measures/queues") is None and run.times.size:
        return _save_counted_queues(path, window)
    rows = _table(run, "queues")
    inside = (rows["begin"] >= window.begin) & (rows["end"] <= window.end)
    if not inside.any():
        raise RunError(f"{run.path}: no queue was measured in that time")
    names, row = np.unique(rows["queue"][inside], return_inverse=True)
    begins, column = np.unique(rows["begin"][inside], return_inverse=True)
    lengths = np.zeros((names.size, begins.size))
    lengths[row, column] = rows["most_length"][inside]
    # What was longest in an interval holds from its begin to its end.
    edges = np.append(begins, rows["end"][inside].max())
    lengths = np.column_stack((lengths, lengths[:, -1]))
    found = dict(zip(names.tolist(), lengths, strict=True))
    _draw_queues(path, window, edges, found, "longest queue in the interval, m", "steps-post")
    return {"queues": int(names.size), "intervals": int(begins.size)}


def _save_counted_queues(path: Path, window: Window) -> dict[str, int]:
    frames = window.frames
    times, found = queued(window.run, *window.run.times[[frames[0], frames[-1]]].tolist())
    _draw_queues(path, window, times, found, "vehicles below 1.4 m/s on a road")
    return {"queues": len(found), "looks": int(times.size)}


def _draw_queues(
    path: Path, window: Window, times: NDArray[np.float64], lines: dict[str, NDArray[Any]], what: str,
    style: str = "default",
) -> None:  # fmt: skip
    """Draw the MOST_QUEUES lines that come highest; those beyond the colours that there are dashed."""
    names = sorted(lines, key=lambda name: -float(lines[name].max()))[:MOST_QUEUES]
    figure, axes = new_figure(SIZE)
    for k, name in enumerate(names):
        line = "-" if k < N_COLOURS else "--"
        axes.plot(times, lines[name], line, label=name[:24], drawstyle=style)
    axes.set_xlim(times[0], max(times[-1], times[0] + 1.0))
    axes.set_ylim(bottom=0.0)
    clock_axis(axes)
    axes.set_ylabel(what)
    if names:
        axes.legend(fontsize="small", ncols=2)
    axes.set_title(f"{window.network.name}: queues, the {len(names)} longest of {len(lines)}")
    save_figure(figure, path)


def save_gaps(path: Path, iterations: Sequence[Any], name: str) -> dict[str, int]:
    """Draw the relative gap and the mean time of the iterations of an assignment."""
    figure, axes = new_figure(SIZE, 2)
    number = [one.number for one in iterations]
    axes[0].semilogy(
        number, [max(100.0 * one.gap, 1e-3) for one in iterations], "o-", color="#2b6cb0"
    )
    axes[0].set_ylabel("relative gap, %")
    axes[1].plot(number, [one.mean_time for one in iterations], "o-", color="#c05621")
    axes[1].set_ylabel("mean time, departure delay included, s")
    axes[1].set_ylim(0.0, HEADROOM * max(one.mean_time for one in iterations))
    for axis in axes:
        axis.set_xlabel("iteration")
        axis.set_xlim(number[0] - 0.5, number[-1] + 0.5)
        axis.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
        axis.grid(alpha=0.3, which="both")
    figure.suptitle(f"{name}: assignment")
    save_figure(figure, path)
    return {"iterations": len(number)}


def save_costs(path: Path, window: Window) -> dict[str, int]:
    """Draw what a frame cost over time, by phase, beside the time that it stands for.

    Raises RunError if costs were not recorded.
    """
    edges, ms = _costs(window)
    figure, axes = new_figure(SIZE)
    used = np.flatnonzero(ms.sum(axis=0) > 0.0)
    labels = [f"{PHASES[k]}, {ms[:, k].mean():.2f} ms" for k in used]
    stack_costs(axes, edges, ms[:, used], labels)
    real = 1e3 * float(window.run.meta["dt"])
    beyond = scale_costs(axes, ms.sum(axis=1), real, "real time")
    clock_axis(axes)
    axes.set_xlabel("time" + beyond)
    axes.legend(fontsize="small", ncols=2)
    axes.set_title(
        f"{window.network.name}: costs, from {clock(edges[0])} on, {ms.sum(axis=1).mean():.2f} ms a frame"
    )
    save_figure(figure, path)
    return {"intervals": len(ms)}


def _costs(window: Window) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Edges of intervals, s, and what a frame of them cost by phase, ms: (n + 1,), (n, phases)."""
    columns = window.run.costs.columns
    inside = (columns["time"] >= window.begin) & (columns["time"] <= window.end)
    if not inside.any():
        raise RunError(f"{window.run.path}: no costs were recorded in that time")
    frames = columns["frames"][inside].astype(np.float64)
    ns = np.column_stack([columns[name][inside] for name in PHASES]).astype(np.float64)
    time = columns["time"][inside].astype(np.float64)
    first = np.unique(np.linspace(0, time.size, min(time.size, MOST_COSTS), False).astype(int))
    ms = np.add.reduceat(ns, first) / 1e6 / np.maximum(np.add.reduceat(frames, first), 1.0)[:, None]
    begin = time[0] - frames[0] * float(window.run.meta["dt"])
    return np.concatenate(([begin], time[np.append(first[1:], time.size) - 1])), ms


def _table(run: RunFile, name: str) -> dict[str, NDArray[Any]]:
    return {column: np.asarray(values) for column, values in run.table(name).columns.items()}
