"""Where time is lost: speeds along a corridor over time, delays and levels of service by approach and turn."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from rushhour.roadnets.errors import RunError
from rushhour.traffic.analysis.levels import LETTERS, Movement, movements
from rushhour.viewer.plots import (
    KMH,
    Window,
    clock_axis,
    new_figure,
    roads_in_order,
    save_figure,
    speed_map_of,
    trajectories,
)
from rushhour.viewer.themes import LEVELS

ALONG: Final = 25.0  # m of a cell
MOST_CELLS: Final = 240  # over time, and along
LEAST_SPAN: Final = 5.0  # s of a cell
APPROACHES: Final = 20


def save_speed_contour(path: Path, window: Window, roads: Sequence[str]) -> dict[str, int]:
    """Draw the mean speed along roads that follow each other over time, by Edie's definition in each cell.

    Raises RunError without roads, for roads that do not follow each other, and without frames.
    """
    if not roads:
        raise RunError(
            "speed-contour: wanted at least one road or street; give it with --road ID or NAME"
        )
    found = trajectories(window, roads)
    length = found.ticks[-1]
    times = window.run.times[window.frames]
    first, last = float(times[0]), max(float(times[-1]), float(times[0]) + 1.0)
    steps = float(np.diff(times).max(initial=1.0))
    span = max(LEAST_SPAN, steps, (last - first) / MOST_CELLS)
    along = max(ALONG, length / MOST_CELLS)
    t = np.arange(first, last + span, span)
    s = np.arange(0.0, length + along, along)
    middle = found.lines.mean(axis=1)
    gone = found.lines[:, 1] - found.lines[:, 0]
    driven, _, _ = np.histogram2d(middle[:, 0], middle[:, 1], (t, s), weights=gone[:, 1])
    spent, _, _ = np.histogram2d(middle[:, 0], middle[:, 1], (t, s), weights=gone[:, 0])
    speed = np.where(spent > 0.0, KMH * driven / np.maximum(spent, 1e-9), np.nan)
    network = window.network
    ordered = roads_in_order(network, roads)
    limit = float(max(network.arrays.roads.speed[network.road_index[road]] for road in ordered))
    figure, axes = new_figure((11.0, 6.0))
    axes.set_facecolor("0.93")
    drawn = axes.pcolormesh(
        t, s, speed.T, cmap=speed_map_of(), vmin=0.0, vmax=KMH * limit, rasterized=True
    )
    figure.colorbar(drawn, ax=axes, label="mean speed, km/h", pad=0.02)
    for mark in found.ticks[1:-1]:
        axes.axhline(mark, color="white", linewidth=0.7)
    axes.set_xlim(first, last)
    axes.set_ylim(0.0, length)
    clock_axis(axes)
    axes.set_ylabel("m along " + (roads[0] if len(roads) == 1 else f"{roads[0]} to {roads[-1]}"))
    axes.set_title(f"{network.name}: speeds along {', '.join(dict.fromkeys(roads))[:60]}")
    save_figure(figure, path)
    return {"vehicles": found.vehicles, "cells": int((spent > 0.0).sum()), "roads": len(ordered)}


def save_levels(path: Path, window: Window) -> dict[str, int]:
    """Draw the delay of a vehicle by approach and turn, in the colours of its level of service.

    Raises RunError where nobody passed an intersection with signals or signs.
    """
    found = [one for one in movements(window.run, window.begin, window.end) if one.level]
    if not found:
        raise RunError(
            f"{window.run.path}: nobody passed an intersection with signals or signs in that time"
        )
    approaches = list(dict.fromkeys((one.intersection, one.road) for one in found))[:APPROACHES]
    rows: list[Movement] = []
    for approach in approaches:
        rows += sorted(
            (one for one in found if (one.intersection, one.road) == approach),
            key=lambda one: one.turn,
        )
    figure, axes = new_figure((11.0, 1.6 + 0.24 * len(rows) + 0.12 * len(approaches)))
    place, at, before = [], 0.0, ""
    for one in rows:
        at += 1.0 if one.road == before else 1.5
        before = one.road
        place.append(at)
    colours = [tuple(band / 255.0 for band in LEVELS[LETTERS.index(one.level)]) for one in rows]
    delays = [one.delay for one in rows]
    axes.barh(place, delays, 0.86, color=colours, edgecolor="0.35", linewidth=0.5)
    for y, one in zip(place, rows, strict=True):
        axes.text(
            one.delay,
            y,
            f" {one.level}, {one.vehicles:,} veh",
            va="center",
            fontsize=8,
            color="0.25",
        )
    axes.set_yticks(
        place, [f"{one.name[:56]} ({one.intersection[:12]})" for one in rows], fontsize=8
    )
    axes.set_ylim(at + 1.0, place[0] - 1.0)
    axes.set_xlim(0.0, 1.18 * max(*delays, 1.0))
    axes.set_xlabel("delay of a vehicle, s, and its level of service (HCM)")
    axes.set_title(f"{window.network.name}: the approaches that cost most time")
    save_figure(figure, path)
    return {
        "movements": len(found), "approaches": len({(one.intersection, one.road) for one in found}),
        "vehicles": sum(one.vehicles for one in found),
    }  # fmt: skip
