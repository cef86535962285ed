"""Diagrams of a run file by place: time-space, fundamental, speed map (docs/measures.md).

Drawn by matplotlib, which is imported where it is needed (`pip install 'rushhour[plot]'`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.model import Network
from rushhour.roadnets.writing import replaced, want_ending
from rushhour.traffic.measures.detectors import road_of
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.words.durations import clock
from rushhour.traffic.words.places_named import roads_of_street
from rushhour.viewer.green_bands import draw_greens, greens_along
from rushhour.viewer.recorded import RunSource
from rushhour.viewer.themes import KINDS, SPEEDS_ON_WHITE

ENDINGS: Final = (".png", ".pdf", ".svg")
MOST_LIMITS: Final = 5  # groups of limits in a diagram
MOST_LINES: Final = 2_000_000  # pieces of trajectories in one diagram
KMH: Final = 3.6  # km/h per m/s
CLOCK_STEPS: Final = (1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600)  # s between marks
STYLE: Final = "rushhour.viewer.rushhour"  # rushhour.mplstyle
N_COLOURS: Final = 8  # of its cycle, after which they come again
HEADROOM: Final = 1.06  # above the highest dot or interval


class Window:
    """A run file from one time to another, s; None: from its begin, to its end."""

    def __init__(self, run: RunFile, begin: float | None = None, end: float | None = None) -> None:
        self.run = run
        self.network = run.network()
        self.begin = -np.inf if begin is None else begin
        self.end = np.inf if end is None else end
        if self.begin >= self.end:
            raise RunError(f"from {begin} s until {end} s: wanted a begin before the end")

    @property
    def frames(self) -> list[int]:
        """Numbers of the recorded frames within. Raises RunError if there are none."""
        times = self.run.times
        found = np.flatnonzero((times >= self.begin) & (times <= self.end)).tolist()
        if not found:
            span = f"{clock(times[0])} to {clock(times[-1])}" if times.size else "no time at all"
            raise RunError(f"{self.run.path}: no frame in that time; it was recorded from {span}")
        return list(found)

    def roads(self) -> dict[str, NDArray[Any]]:
        """Rows of the table of roads whose intervals lie within; `road` by number."""
        columns = self.run.table("roads").columns
        inside = (columns["begin"] >= self.begin) & (columns["end"] <= self.end)
        if not inside.any():
            raise RunError(f"{self.run.path}: no interval was measured in that time")
        rows = {name: values[inside] for name, values in columns.items()}
        rows["road"] = np.array([self.network.road_index[name] for name in rows["road"]], np.int32)
        return rows


def save_time_space(path: Path, window: Window, roads: Sequence[str]) -> dict[str, int]:
    """Draw where vehicles were over time on roads that follow each other, coloured by speed, what the signals
    between them showed, and the bands of green through all of these.

    Raises RunError without roads, for roads that do not follow each other, and without frames.
    """
    if not roads:
        raise RunError("time-space: wanted at least one road; give it with --road ID")
    found = trajectories(window, roads)
    figure, axes = new_figure((11.0, 6.0))
    times = window.run.times[window.frames]
    numbers = [
        road_of(window.network, one, "time-space") for one in roads_in_order(window.network, roads)
    ]
    greens = greens_along(
        RunSource(window.run), numbers, found.ticks, float(times[0]), float(times[-1])
    )
    bands = draw_greens(axes, greens)
    drawn = draw_lines(axes, found.lines, 0.8)
    drawn.set_array(KMH * found.speed)
    drawn.set_clim(0.0, max(KMH * found.top, 1.0))
    figure.colorbar(drawn, ax=axes, label="speed, km/h", pad=0.02)
    for mark in found.ticks[1:-1]:
        axes.axhline(mark, color="0.6", linewidth=0.5)
    _fit(axes, window, found.time, found.place, found.ticks[-1])
    clock_axis(axes)
    axes.set_ylabel("m along " + (roads[0] if len(roads) == 1 else f"{roads[0]} to {roads[-1]}"))
    axes.set_title(f"{window.network.name}: time and space")
    save_figure(figure, path)
    return {
        "vehicles": found.vehicles, "pieces": len(found.lines), "signals": greens.place.size,
        "bands": bands,
    }  # fmt: skip


class Trajectories(NamedTuple):
    """Where vehicles were on roads that follow each other: k pieces between two recorded frames."""

    lines: NDArray[np.float64]  # (k, 2, 2) s and m along the roads, at both ends
    speed: NDArray[np.float64]  # (k,) m/s
    time: NDArray[np.float64]  # s of all that was seen
    place: NDArray[np.float64]  # m
    top: float  # m/s, the highest speed seen
    vehicles: int
    ticks: list[float]  # m at which the roads begin, and where the last one ends


def trajectories(window: Window, roads: Sequence[str]) -> Trajectories:
    """Where vehicles were over time on roads that follow each other.

    Raises RunError for roads that do not, and without frames.
    """
    offset, ticks = _chain(window, roads)
    parts: list[tuple[NDArray[Any], ...]] = []
    for number in window.frames:
        frame = window.run.frame(number)
        on = offset[frame.lane] >= 0.0
        place = offset[frame.lane[on]] + frame.s[on]
        step = np.full(place.size, number)
        parts.append((frame.id[on], step, np.full(place.size, frame.time), place, frame.speed[on]))
    name, step, time, place, speed = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((step, name))
    name, step, time, place, speed = (c[order] for c in (name, step, time, place, speed))
    pieces = np.flatnonzero((name[1:] == name[:-1]) & (step[1:] == step[:-1] + 1))
    pieces = pieces[place[pieces + 1] >= place[pieces] - 5.0]  # the same road again is a new line
    if pieces.size > MOST_LINES:
        raise RunError(
            f"time-space: {pieces.size:,} pieces; give a shorter time with --from, --until"
        )
    lines = np.stack((time, place), axis=1)
    both = np.stack((lines[pieces], lines[pieces + 1]), axis=1)
    return Trajectories(
        both, speed[pieces + 1], time, place, float(speed.max(initial=1.0)),
        int(np.unique(name).size), ticks,
    )  # fmt: skip


def _fit(axes: Any, window: Window, time: Any, place: Any, length: float) -> None:
    """Limit the axes to where vehicles were, and when; to the whole road and time if none were.

    A begin and an end that were asked for are kept, as far as there are frames.
    """
    times = window.run.times[window.frames]
    first, last = float(times[0]), float(times[-1])
    low, high = 0.0, length
    if time.size:
        first = first if np.isfinite(window.begin) else float(time.min())
        last = last if np.isfinite(window.end) else float(time.max())
        spare = 0.02 * max(float(np.ptp(place)), 1.0)
        low, high = max(0.0, place.min() - spare), min(length, place.max() + spare)
    axes.set_xlim(first, max(last, first + 1.0))
    axes.set_ylim(low, max(high, low + 1.0))


def save_fundamental(path: Path, window: Window, roads: Sequence[str]) -> dict[str, int]:
    """Draw flow, density and speed of roads by interval, per lane, a colour for each limit.

    Without roads of all, and the macroscopic fundamental diagram of the network over them, interval by
    interval. Raises RunError if roads were not measured.
    """
    rows = window.roads()
    whole = None if roads else network_states(window.network, rows)
    if roads:
        inside = np.isin(rows["road"], _roads_of(window.network, roads))
        if not inside.any():
            raise RunError(f"{window.run.path}: nobody was on {', '.join(roads)[:80]} in that time")
        rows = {name: values[inside] for name, values in rows.items()}
    lanes = window.network.arrays.roads.lane_count[rows["road"]]
    density, flow = rows["density"] / lanes, rows["flow"] / lanes
    speed = KMH * rows["speed"]
    figure, axes = new_figure((14.0, 4.6), 3)
    size = 18.0 if density.size < 500 else 5.0
    group, limits = limit_groups(KMH * window.network.arrays.roads.speed[rows["road"]])
    texts = {"density": "density, veh/km and lane", "flow": "flow, veh/h and lane",
             "speed": "speed, km/h"}  # fmt: skip
    values = {"density": density, "flow": flow, "speed": speed}
    for axis, (x, y) in zip(
        axes, (("density", "flow"), ("density", "speed"), ("flow", "speed")), strict=True
    ):
        for k, label in enumerate(limits):
            of_limit = group == k
            red, green, blue = (band / 255.0 for band in KINDS[k])
            axis.scatter(values[x][of_limit], values[y][of_limit], s=size, color=(red, green, blue),
                         alpha=0.6, linewidths=0.0, label=label)  # fmt: skip
        if whole is not None:
            axis.plot(whole[x], whole[y], color="black", marker="o", markersize=3.5, linewidth=1.0,
                      label="the network")  # fmt: skip
        axis.set_xlabel(texts[x])
        axis.set_ylabel(texts[y])
        axis.set_xlim(left=0.0)
        axis.set_ylim(bottom=0.0)
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize="small", title="limit")
    what = ", ".join(roads) if 0 < len(roads) <= 3 else f"{np.unique(rows['road']).size} roads"
    figure.suptitle(f"{window.network.name}: fundamental diagram of {what[:80]}")
    save_figure(figure, path)
    return {"points": int(density.size), "roads": int(np.unique(rows["road"]).size)}


def limit_groups(limit: NDArray[np.float64]) -> tuple[NDArray[np.intp], list[str]]:
    """The group of each limit, km/h, and what the groups are called; to 10 km/h, the rarest together."""
    tens = np.round(limit / 10.0).astype(int) * 10
    kinds, count = np.unique(tens, return_counts=True)
    kept = np.sort(
        kinds[np.argsort(-count, kind="stable")[: MOST_LIMITS - (kinds.size > MOST_LIMITS)]]
    )
    names = [f"{one} km/h" for one in kept.tolist()] + ["others"] * (kept.size < kinds.size)
    at = np.minimum(np.searchsorted(kept, tens), kept.size - 1)
    return np.where(kept[at] == tens, at, kept.size), names


def network_states(
    network: Network, rows: dict[str, NDArray[Any]]
) -> dict[str, NDArray[np.float64]]:
    """Density (veh/km), flow (veh/h), both of a lane, and speed (km/h) of a network by interval, each (k,).

    By Edie's definitions over all lanes of all roads, those without vehicles too.
    """
    roads = network.arrays.roads
    kilometres = float((roads.length * roads.lane_count).sum()) / 1000.0
    _, first, which = np.unique(rows["begin"], return_index=True, return_inverse=True)
    hours = (rows["end"] - rows["begin"])[first] / 3600.0
    present = np.bincount(which.reshape(-1), rows["vehicle_seconds"]) / 3600.0
    driven = np.bincount(which.reshape(-1), rows["distance"]) / 1000.0
    speed = np.divide(driven, present, out=np.zeros_like(driven), where=present > 0.0)
    return {
        "density": present / (hours * kilometres), "flow": driven / (hours * kilometres),
        "speed": speed,
    }  # fmt: skip


def _roads_of(network: Network, names: Sequence[str]) -> NDArray[np.int32]:
    """The roads of some ids, or of streets by name."""
    found = [roads_of_street(network, name) for name in names]
    one = [
        road_of(network, name, "fundamental")
        for name, roads in zip(names, found, strict=True)
        if not roads.size
    ]
    return np.concatenate([*found, np.array(one, np.int32)])


def save_speed_map(path: Path, window: Window) -> dict[str, int]:
    """Draw every road in the colour of its mean speed, relative to its limit.

    Speeds are those of the table of roads; without it, of the recorded frames.
    """
    network, run = window.network, window.run
    roads = network.arrays.roads
    weight, total = np.zeros(network.n_roads), np.zeros(network.n_roads)
    if run.group("measures/roads") is not None:
        rows = window.roads()
        np.add.at(weight, rows["road"], rows["vehicle_seconds"])
        np.add.at(total, rows["road"], rows["distance"])
    else:
        for number in window.frames:
            frame = run.frame(number)
            road = network.arrays.lanes.road[frame.lane]
            np.add.at(weight, road[road >= 0], 1.0)
            np.add.at(total, road[road >= 0], frame.speed[road >= 0])
    seen = weight > 0.0
    share = np.divide(total, weight, out=np.zeros(seen.size), where=seen) / roads.speed
    middle = roads.first_lane + roads.lane_count // 2
    shapes = [network.lane_points(int(lane)) for lane in middle]
    figure, axes = map_axes(network)
    width = 1.2 + 0.5 * np.minimum(roads.lane_count, 4)
    empty = np.flatnonzero(~seen)
    draw_lines(axes, [shapes[i] for i in empty], 0.6).set_color("0.85")
    slow_last = np.flatnonzero(seen)[np.argsort(-share[seen], kind="stable")]
    drawn = draw_lines(axes, [shapes[i] for i in slow_last], width[slow_last])
    drawn.set_array(share[slow_last])
    drawn.set_clim(0.0, 1.0)
    figure.colorbar(drawn, ax=axes, label="mean speed / limit", pad=0.02, shrink=0.8)
    axes.set_title(f"{network.name}: mean speed")
    save_figure(figure, path)
    return {"roads": int(seen.sum()), "without_vehicles": int(empty.size)}


def roads_in_order(network: Network, names: Sequence[str]) -> list[str]:
    """Ids of roads one after the other; the name of a street stands for the longest way along it.

    Raises RunError for what is neither.
    """
    found: list[str] = []
    for name in names:
        of_street = roads_of_street(network, name)
        if name in network.road_index or not of_street.size:
            found.append(network.road_ids[road_of(network, name, "--road")])
        else:
            found += [network.road_ids[road] for road in _longest_way(network, of_street)]
    return found


def _longest_way(network: Network, among: NDArray[np.int32]) -> list[int]:
    """The longest way over some roads, each once, that never turns back."""
    lanes, links, roads = (
        network.arrays.lanes, network.arrays.connectors, network.arrays.roads
    )  # fmt: skip
    inside = set(among.tolist())
    after: dict[int, set[int]] = {road: set() for road in inside}
    pairs = zip(
        lanes.road[links.from_lane].tolist(), lanes.road[links.to_lane].tolist(), strict=True
    )
    for a, b in pairs:
        if a in inside and b in inside and roads.to_intersection[b] != roads.from_intersection[a]:
            after[a].add(b)
    best: list[int] = []
    most = -1.0
    for start in sorted(inside):
        way, seen = [start], {start}
        while True:
            ahead = sorted(after[way[-1]] - seen, key=lambda road: -float(roads.length[road]))
            if not ahead:
                break
            way.append(ahead[0])
            seen.add(ahead[0])
        length = float(roads.length[way].sum())
        if length > most:
            best, most = way, length
    return best


def _chain(window: Window, roads: Sequence[str]) -> tuple[NDArray[np.float64], list[float]]:
    """Metres at which each lane begins along the roads, -1 for others; where each road begins."""
    network = window.network
    lanes, connectors = network.arrays.lanes, network.arrays.connectors
    offset, at, ticks = np.full(network.n_lanes, -1.0), 0.0, [0.0]
    before = -1
    for road in roads_in_order(network, roads):
        number = road_of(network, road, "time-space")
        if before >= 0:
            joins = np.flatnonzero(
                (lanes.road[connectors.from_lane] == before)
                & (lanes.road[connectors.to_lane] == number)
            )
            if not joins.size:
                last = network.road_ids[before]
                raise RunError(f"time-space: road {road!r:.60} does not follow {last!r:.60}")
            offset[network.n_road_lanes + joins] = at
            at += float(lanes.length[network.n_road_lanes + joins].mean())
            ticks.append(at)
        first = network.arrays.roads.first_lane[number]
        offset[first : first + network.arrays.roads.lane_count[number]] = at
        at += float(network.arrays.roads.length[number])
        before = number
    return offset, [*ticks, at]


def new_figure(size: tuple[float, float], columns: int = 1) -> tuple[Any, Any]:
    """A figure of that size, inches, and its axes."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise RunError(
            "plot: wanted the package matplotlib; pip install 'rushhour[plot]'"
        ) from None
    from matplotlib import style

    with style.context(STYLE):  # of these alone: a notebook keeps its own
        figure = Figure(figsize=size, dpi=120, layout="constrained")
        FigureCanvasAgg(figure)
        return figure, figure.subplots(1, columns)


def beyond(values: NDArray[np.float64], most: float) -> str:
    """At which ends of a bar of colours from -most to most there are values beyond it, as it wants it."""
    below, above = bool((values < -most).any()), bool((values > most).any())
    return ("both" if above else "min") if below else ("max" if above else "neither")


def map_axes(network: Network) -> tuple[Any, Any]:
    """A figure in the shape of a network, and its axes, m east and north."""
    low, high = network.points.min(axis=0), network.points.max(axis=0)
    wide, tall = np.maximum(high - low, 1.0)
    figure, axes = new_figure((11.0, float(np.clip(10.0 * tall / wide + 0.6, 3.5, 14.0))))
    axes.set_aspect("equal")
    axes.set_xlim(low[0] - 0.02 * wide, high[0] + 0.02 * wide)
    axes.set_ylim(low[1] - 0.02 * tall, high[1] + 0.02 * tall)
    axes.set_xlabel("m east")
    axes.set_ylabel("m north")
    return figure, axes


def draw_lines(axes: Any, lines: Any, width: Any) -> Any:
    """Add lines, (n, 2) each, m; their colours are those of speeds until others are set."""
    from matplotlib.collections import LineCollection

    drawn = LineCollection(lines, linewidths=width, cmap=speed_map_of(), capstyle="round")
    axes.add_collection(drawn)
    return drawn


def speed_map_of() -> Any:
    """Colours from standing to free, for diagrams on white."""
    from matplotlib.colors import LinearSegmentedColormap

    stops = [tuple(band / 255.0 for band in colour) for colour in SPEEDS_ON_WHITE]
    return LinearSegmentedColormap.from_list("speed", stops)


def clock_axis(axes: Any) -> None:
    """Mark the time of day below the axes, whose limits are in s."""
    from matplotlib.ticker import FuncFormatter, MultipleLocator

    low, high = axes.get_xlim()
    step = next((step for step in CLOCK_STEPS if (high - low) / step <= 10), CLOCK_STEPS[-1])
    if (high - low) / step <= 100:
        axes.xaxis.set_major_locator(MultipleLocator(step))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda time, _: clock(max(time, 0.0))))
    axes.set_xlabel("time")


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure. Raises RunError for another ending than ENDINGS, and if it cannot be."""
    want_ending(path, ENDINGS)
    for axes in figure.axes:
        if axes.get_legend() is not None:
            axes.get_legend().set_frame_on(False)
    with replaced(path) as part:
        figure.savefig(part)
