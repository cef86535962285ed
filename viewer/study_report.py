"""The report of a study: one page to hand over, with its pictures (docs/studies.md)."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.street_names import called, find_roads
from rushhour.traffic.commands.closures import CLOSE_ROADS
from rushhour.traffic.studies.figures import FIGURES
from rushhour.traffic.studies.results import rows_of
from rushhour.traffic.words.plurals import counted
from rushhour.viewer.report import Page

if TYPE_CHECKING:
    from rushhour.roadnets.model import Network
    from rushhour.traffic.studies.results import Group, Results
    from rushhour.traffic.studies.study import StudyRun

MOST_ROADS: Final = 12  # that are named for each variant
MOST_APPROACHES: Final = 25
MOST_WORSE: Final = 12  # approaches of each variant with a worse level
LEAST_FLOW: Final = (
    10.0  # veh/h below which the delay of an approach is that of somebody, not of traffic
)
MOST_MAPS: Final = 8
SELDOM: Final = tuple(
    FIGURES[name][0] for name in ("cut_off", "cut_short")
)  # told where there are some


def write_report(run: "StudyRun", path: Path) -> None:
    """Write the page. Raises RunError if it cannot be written."""
    from rushhour import __version__
    from rushhour.viewer.plots_of_studies import save_figures

    results = run.results
    page = Page(results.study.name, f"A study by rushhour {__version__}.")
    page.add_text("The study", _study(run))
    if run.failed:
        page.add_text("Runs that failed", "\n".join(f"{f['run']}: {f['why']}" for f in run.failed))
    page.add_text("What differs", differences_text(results))
    _picture(
        page,
        "Figures",
        "Means of the runs, their 95 % intervals, and the runs",
        save_figures,
        results,
    )
    page.add_text("Figures of every variant", figures_text(results))
    if results.study.counts is not None:
        _add_counts(page, results)
    page.add_text("Roads whose delay differs most", _roads(results))
    _add_maps(page, results)
    page.add_text("Level of service by approach", _approaches(results))
    page.add_text("Runs", _runs(results))
    page.save(path)


def _study(run: "StudyRun") -> str:
    study, results = run.study, run.results
    axes = [f"{name}: {', '.join(map(str, values))}" for name, values in study.axes.items()]
    seeds = study.seeds
    lines = [
        f"file       {study.file.name}",
        f"base       {study.base if isinstance(study.base, str) else 'in the file'}",
        f"variants   {', '.join(study.variants)}, compared with {study.compare}",
        *(f"axis       {text}" for text in axes),
        f"seeds      {len(seeds)}: {', '.join(map(str, seeds[:20]))}{' ...' if len(seeds) > 20 else ''}",
        f"runs       {len(results.table):,} complete, {len(run.failed):,} failed",
    ]
    for name, table in study.variants.items():
        if table:
            lines.append(f"{name:<10} {_flat(table)}")
    return "\n".join([*lines, *(f"note       {note}" for note in results.notes())])


def _flat(table: dict[str, Any], prefix: str = "") -> str:
    parts = []
    for key, value in table.items():
        parts.append(
            _flat(value, f"{prefix}{key}.")
            if isinstance(value, dict)
            else f"{prefix}{key} = {value}"
        )
    return ", ".join(parts)


def _label(row: dict[str, Any], axes: Any) -> str:
    return ", ".join((str(row["variant"]), *(f"{name} {row[name]}" for name in axes)))


def differences_text(results: "Results") -> str:
    """Variants against the one they are compared with, for people."""
    rows, axes = rows_of(results.differences), results.study.axes
    if not rows:
        return "one variant: nothing to compare"
    lines = []
    last = ""
    for row in rows:
        label = _label(row, axes)
        if not _told(row, "before", "after"):
            continue
        if label != last:
            lines += ["", f"{label} against {row['against']}, {counted(int(row['pairs']), 'pair')} of runs",
                      f"  {'':<28} {'before':>10} {'after':>10} {'difference':>11}   95 % interval"]  # fmt: skip
            last = label
        what = f"{row['figure']}, {row['unit']}" if row["unit"] else row["figure"]
        interval = "-" if row["low"] is None else f"{row['low']:z,.2f} to {row['high']:z,.2f}"
        numbers = [_number(row[name]) for name in ("before", "after", "difference")]
        lines.append(f"  {what:<28} {numbers[0]:>10} {numbers[1]:>10} {numbers[2]:>11}   {interval}"
                     f"{' *' if row['significant'] else ''}")  # fmt: skip
    return "\n".join([*lines[1:], "", "* the interval leaves out 0"])


def _told(figure: dict[str, Any], *names: str) -> bool:
    """Whether a figure has something to say: it was measured, and somebody was cut off or short."""
    known = [figure[name] for name in names if figure[name] is not None]
    return bool(known) and (figure["figure"] not in SELDOM or any(known))


def _cell(text: str, width: int) -> str:
    """A text in a column; what is cut off is shown to be."""
    return (text if len(text) <= width else f"{text[: width - 1]}…").ljust(width)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:z,.2f}"


def counts_lines(results: "Results") -> list[str]:
    """How well the mean of the runs of each group agrees with counts, and the limits it misses."""
    from rushhour.traffic.analysis.counts import limit_text

    shares, missed = [], []
    for group, found in zip(results.groups, results.held, strict=False):
        if isinstance(found, str):
            missed.append(f"note: {group.label}: not held against counts: {found}")
            continue
        shares.append(f"{group.label} {found.figures['all']['geh_below_5_percent']:.1f} %")
        missed += [limit_text(one, group.label) for one in found.limits if not one["met"]]
    if shares:
        missed.insert(0, f"counts with GEH below 5, mean of runs: {'; '.join(shares)}")
    return missed


def figures_text(results: "Results") -> str:
    """The mean of each figure of every variant, for people."""
    lines = []
    for group in results.figures:
        label = ", ".join((group["variant"], *(f"{k} {v}" for k, v in group["axes"].items())))
        lines += ["", f"{label}, {counted(group['runs'], 'run')}", f"  {'':<28} {'mean':>10} {'deviation':>10}   95 % interval of the mean"]  # fmt: skip
        for name, figure in group["figures"].items():
            what, unit = FIGURES[name]
            if not _told({"figure": what, **figure}, "mean"):
                continue
            interval = (
                "-" if figure["low"] is None else f"{figure['low']:z,.2f} to {figure['high']:z,.2f}"
            )
            lines.append(f"  {f'{what}, {unit}' if unit else what:<28} {_number(figure['mean']):>10} "
                         f"{_number(figure['deviation']):>10}   {interval}")  # fmt: skip
    return "\n".join(lines[1:])


def _picture(page: Page, heading: str, caption: str, draw: Callable[..., Any], *what: Any) -> None:
    """Add the picture of draw(path, *what), or say why it cannot be."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        try:
            draw(path, *what)
        except RunError as error:
            page.add_missing(heading, str(error))
            return
        page.add_picture(heading, path.read_bytes(), caption)


def _network(results: "Results", group: "Group") -> "Network":
    from rushhour.traffic.recording.run_file import RunFile

    with RunFile(results.run_files(group)[0]) as run:
        return run.network()


def _add_counts(page: Page, results: "Results") -> None:
    """Counts against each variant; the pictures of the one that others are compared with."""
    from rushhour.traffic.analysis.counts import counts_text
    from rushhour.viewer.plots_of_counts import save_counts_map, save_scatter

    for group, found in zip(results.groups, results.held, strict=True):
        name = group.label
        heading = f"Counts: {name}"
        if isinstance(found, str):
            page.add_missing(heading, found)
            continue
        page.add_text(heading, counts_text(found))
        if group.variant == results.study.compare:
            caption = f"Simulated over counted flows, mean of {found.runs} runs"
            _picture(
                page,
                f"{heading}, scatter",
                caption,
                save_scatter,
                found,
                name,
            )
            network = _network(results, group)
            _picture(page, f"{heading}, map", "Counted roads by their mean GEH",
                     save_counts_map, found, network)  # fmt: skip


def _roads(results: "Results") -> str:
    table, axes = results.roads, list(results.study.axes)
    lines = []
    for group in results.groups:
        if group.variant == results.study.compare:
            continue
        rows = _rows_of_group(results, "roads", group)
        sure = rows[table.significant[rows]]
        order = sure[np.argsort(-np.abs(table.difference_veh_h[sure]), kind="stable")][:MOST_ROADS]
        tested = int(np.isfinite(table.low[rows]).sum())
        label = ", ".join((group.variant, *(f"{name} {group.axes[name]}" for name in axes)))
        lines += ["", f"{label}: {sure.size:,} of {tested:,} roads differ significantly ({0.05 * tested:.0f} would by chance)"]  # fmt: skip
        for k in order.tolist():
            name = called(table.road[k], table.columns["name"][k])
            lines.append(f"  {_cell(name, 52)} {table.difference_veh_h[k]:>+9.2f} veh h   {table.low[k]:+.2f} to {table.high[k]:+.2f}")  # fmt: skip
    return "\n".join(lines[1:]) or "one variant: nothing to compare"


def _rows_of_group(results: "Results", name: str, group: "Group") -> Any:
    """Rows of a table that are of a group."""
    table = getattr(results, name)
    there = table.variant == group.variant
    for axis, value in group.axes.items():
        column = table.columns[axis]
        there &= column == (str(value) if column.dtype == object else value)
    return np.flatnonzero(there)


def _add_maps(page: Page, results: "Results") -> None:
    """A map for each variant of where its delay differs."""
    from rushhour.viewer.plots_of_studies import save_difference_map

    drawn = 0
    for group in results.groups:
        if group.variant == results.study.compare or drawn == MOST_MAPS:
            continue
        network, rows = _network(results, group), _rows_of_group(results, "roads", group)
        change = np.full(network.n_roads, np.nan)
        at = [network.road_index[name] for name in results.roads.road[rows]]
        change[at] = results.roads.difference_veh_h[rows]
        if not np.isfinite(change).any():
            continue
        title = f"{group.label} against {results.study.compare}: delay by road"
        closed = _closed(group, network)
        caption = f"{title}, red more, green less{', dashed closed' if closed.size else ''}"
        _picture(page, f"Map: {group.label}", caption, save_difference_map, network, change, title, closed)  # fmt: skip
        drawn += 1


def _closed(group: "Group", network: "Network") -> NDArray[np.int32]:
    """Roads that a variant closes at some time."""
    scenario = group.tasks[0].spec.scenario()
    named = list(scenario.closed)
    for event in scenario.events:
        if event.action == CLOSE_ROADS:
            named += [str(road) for road in event.arguments["roads"]]
    found = [find_roads(network, name) for name in named]
    return np.unique(np.concatenate(found)) if found else np.empty(0, np.int32)


def _approaches(results: "Results") -> str:
    """How many approaches have each level, and the worst of them."""
    table = results.approaches
    lines = [
        f"{'':<30} {'A':>5} {'B':>5} {'C':>5} {'D':>5} {'E':>5} {'F':>5}   approaches by level (HCM 7)"
    ]
    for group in results.groups:
        rows = _rows_of_group(results, "approaches", group)
        levels = table.level[rows].astype(str)
        name = ", ".join((group.variant, *(f"{v}" for v in group.axes.values())))
        lines.append(
            f"{_cell(name, 30)} " + " ".join(f"{int((levels == one).sum()):>5}" for one in "ABCDEF")
        )
    base = [group for group in results.groups if group.variant == results.study.compare]
    if not base:
        return "\n".join(lines)
    rows = _rows_of_group(results, "approaches", base[0])
    busy = rows[table.vehicles_per_h[rows] >= LEAST_FLOW]
    worst = busy[np.argsort(-table.delay_s[busy], kind="stable")][:MOST_APPROACHES]
    lines += ["", f"the most delay in {results.study.compare}",
              f"{'approach':<44} {'control':<13} {'veh/h':>7} {'delay, s':>9} LOS {'queue, m':>9} {'longest':>8}"]  # fmt: skip
    for k in worst.tolist():
        name = called(table.road[k], table.columns["name"][k])
        queue, most = (
            _number(None if np.isnan(one) else one)
            for one in (table.mean_queue_m[k], table.longest_queue_m[k])
        )
        lines.append(f"{_cell(name, 44)} {table.control[k]:<13} {table.vehicles_per_h[k]:>7,.0f} "
                     f"{table.delay_s[k]:>9.1f} {table.level[k]:>3} {queue:>9} {most:>8}")  # fmt: skip
    for before, group in results.pairs():
        lines += _worse(results, before, group)
    return "\n".join(lines)


def _worse(results: "Results", before: "Group", group: "Group") -> list[str]:
    """The approaches whose level is worse than before, those first on which most is lost."""
    table = results.approaches
    was = {table.road[k]: k for k in _rows_of_group(results, "approaches", before).tolist()}
    worse = [
        (was[table.road[k]], k)
        for k in _rows_of_group(results, "approaches", group).tolist()
        if table.road[k] in was
        and table.level[k] > table.level[was[table.road[k]]]
        and table.vehicles_per_h[k] >= LEAST_FLOW
    ]
    lost = table.delay_s * table.vehicles_per_h
    worse.sort(key=lambda pair: (lost[pair[0]] - lost[pair[1]], pair[1]))
    lines = ["", f"{group.label}: {counted(len(worse), 'approach', 'approaches')} of a worse level than in {before.label}"]  # fmt: skip
    if worse:
        lines.append(f"{'':<44} {'control':<13} {'veh/h':>13} {'delay, s':>16}   LOS")
    for old, new in worse[:MOST_WORSE]:
        name = called(table.road[new], table.columns["name"][new])
        flow = f"{table.vehicles_per_h[old]:,.0f} -> {table.vehicles_per_h[new]:,.0f}"
        delay = f"{table.delay_s[old]:.1f} -> {table.delay_s[new]:.1f}"
        lines.append(f"{_cell(name, 44)} {table.control[new]:<13} {flow:>13} {delay:>16}   {table.level[old]} -> {table.level[new]}")  # fmt: skip
    return lines


def _runs(results: "Results") -> str:
    axes = results.study.axes
    lines = [f"{'run':<40} {'finished':>9} {'travel, s':>10} {'delay, veh h':>13}  folder"]
    for row in rows_of(results.table):
        label = f"{_label(row, axes)}, seed {row['seed']}"
        lines.append(f"{_cell(label, 40)} {row['finished']:>9,.0f} {_number(row['travel_time_s']):>10} "
                     f"{_number(row['total_delay_veh_h']):>13}  runs/{row['hash']}")  # fmt: skip
    return "\n".join(lines)
