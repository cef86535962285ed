"""What is to be known before the figures of a study are believed: how they agree with counts, and notes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rushhour.roadnets.errors import RushhourError
from rushhour.traffic.studies.figures import WAIT
from rushhour.traffic.words.plurals import counted

if TYPE_CHECKING:
    from rushhour.traffic.analysis.counts import Compared
    from rushhour.traffic.studies.results import Group, Results


def held_against(runs: Sequence[Path], asked: Mapping[str, Any]) -> "Compared | str":
    """The mean of runs against counts, or why it cannot be."""
    from rushhour.traffic.analysis.counts import compare_counts

    try:
        return compare_counts(
            runs, asked["file"], at=asked["at"], by=asked["by"], limits=asked["limits"]
        )
    except RushhourError as error:
        return str(error)


def agreement(results: "Results") -> list[dict[str, Any]]:
    """Of each group how the mean of its runs agrees with counts, and its limits; [] without counts."""
    return [
        {"variant": group.variant, "axes": group.axes, "error": one} if isinstance(one, str) else
        {"variant": group.variant, "axes": group.axes, "runs": one.runs, "figures": one.figures["all"],
         "limits": one.limits, "met": one.met}
        for group, one in zip(results.groups, results.held, strict=False)
    ]  # fmt: skip


def notes_of(results: "Results") -> list[str]:
    """What runs did otherwise than was asked, and what they cannot tell, a line each."""
    told: dict[str, list[str]] = {}  # groups by what their runs do otherwise than asked
    for group in results.groups:
        for line in group.differs():
            told.setdefault(line, []).append(group.label)
    notes = [f"{'; '.join(labels)}: {line}" for line, labels in told.items()]
    unfinished = [g for g in results.groups if np.nansum(list(g.values("unfinished").values()))]
    if unfinished:
        names = ", ".join(dict.fromkeys(group.variant for group in unfinished))
        notes.append(f"not all trips had ended in {names}: mean times are of those that had; total delay is of all")  # fmt: skip
    for group in results.groups:
        notes += _by_closures(group)
    for base, group in results.pairs():
        pairs = zip(base.hashes(), group.hashes(), strict=False)
        if base.seeds == group.seeds and all(one == other for one, other in pairs):
            notes.append(f"{group.label}: every run is that of {base.label}, bit for bit: what it changes meets nobody")  # fmt: skip
    if len(results.study.seeds) == 1:
        notes.append('one seed gives no intervals; give several, as seeds = "1..5"')
    stood = [row for group in results.groups for row in group.rows if row["standstill"]]
    if stood:
        notes.append(
            f"{counted(len(stood), 'run')} ended as nobody moved any more: {stood[0]['standstill'][:120]}"
        )
    return notes


def _by_closures(group: "Group") -> list[str]:
    """What closed roads did to the trips of a group."""
    notes = []
    off, short = (
        float(np.nanmean(list(group.values(name).values()))) for name in ("cut_off", "cut_short")
    )  # fmt: skip
    if off:
        waits = dict.fromkeys(row[WAIT] for row in group.rows if row["cut_off"])
        notes.append(
            f"{group.label}: closed roads left {off:,.0f} trips a run without a way for some time or for good; "
            f"they wait before the closure, with those behind them, {' / '.join(waits)}"
        )
    if short:
        notes.append(f"{group.label}: {short:,.0f} trips a run ended before a destination that is closed or cannot be reached")  # fmt: skip
    return notes
