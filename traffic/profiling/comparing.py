"""What differs between two profiles, and what of it is more than noise.

Noise is what the repeats of one profile differ by: medians of a phase are taken repeat by repeat, and two
profiles differ in it where all repeats of one lie beyond all of the other, and by enough to matter.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

from rushhour.roadnets.errors import RunError
from rushhour.traffic.profiling.profile import FORMAT
from rushhour.traffic.profiling.text_tables import table

WORTH: Final = 0.03  # share of the whole old frame; what differs by less is told as the same
LARGEST: Final = 1 << 26  # bytes of a profile
SAME: Final = ("name", "dt", "frames", "threads", "seed")  # what is to be the same for a comparison


@dataclass(frozen=True)
class Change:
    """How a phase differs. old, new: ms, medians of the repeats; each with its range."""

    phase: str
    old: float
    new: float
    old_range: tuple[float, float]
    new_range: tuple[float, float]
    verdict: str  # slower, faster, same


@dataclass(frozen=True)
class Comparison:
    """The changes of all phases, the whole frame last, and what else differs between the profiles."""

    changes: tuple[Change, ...]
    remarks: tuple[str, ...]

    @property
    def slower(self) -> bool:
        """Whether the whole frame takes longer than noise explains."""
        return self.changes[-1].verdict == "slower"

    def lines(self) -> list[str]:
        """The comparison for people."""
        rows = [
            [
                one.phase, one.old, one.new, f"{one.new / one.old - 1.0:+.1%}" if one.old else "new",
                _span(one.old_range), _span(one.new_range), one.verdict,
            ]
            for one in self.changes
        ]  # fmt: skip
        header = ["ms, p50", "old", "new", "change", "old range", "new range", ""]
        return [*table(header, rows), *(f"remark: {text}" for text in self.remarks)]


def _span(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.3g} - {ends[1]:.3g}"


def read_profile(path: Path) -> dict[str, Any]:
    """What `rushhour profile --json` wrote. Raises RunError for anything else."""
    wanted = "wanted what `rushhour profile --json` prints"
    try:
        if path.stat().st_size > LARGEST:
            raise RunError(f"{path}: too large; {wanted}")
        told = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror}); {wanted}") from error
    except (ValueError, RecursionError):
        raise RunError(f"{path}: no JSON; {wanted}") from None
    if not isinstance(told, dict) or told.get("profile") != FORMAT:
        raise RunError(f"{path}: no profile of this version; {wanted}")
    repeats = told.get("repeats_ms")
    sound = isinstance(repeats, dict) and "all" in repeats and all(
        isinstance(values, list) and values and all(isinstance(v, int | float) for v in values)
        for values in repeats.values()
    )  # fmt: skip
    if not sound:
        raise RunError(f"{path}: its repeats_ms are damaged; {wanted}")
    return told


def compare_profiles(old: dict[str, Any], new: dict[str, Any]) -> Comparison:
    """Compare two profiles as `Profile.told` gives them."""
    before, after = old["repeats_ms"], new["repeats_ms"]
    worth = WORTH * median(before["all"])
    names = [name for name in after if name != "all"]
    names += [name for name in before if name not in after]
    changes = tuple(_change(name, before, after, worth) for name in [*names, "all"])
    remarks = [
        f"{name} was {old.get(name)} and is {new.get(name)}: these are not the same frames"
        for name in SAME
        if old.get(name) != new.get(name)
    ]
    for told, whose in ((old, "old"), (new, "new")):
        if len(told["repeats_ms"]["all"]) < 3:
            remarks.append(
                f"the {whose} profile has no 3 repeats, so its noise is not known: --repeat 5"
            )
    for name in ("processor", "numba", "numpy", "python"):
        values = [told.get("conditions", {}).get(name) for told in (old, new)]
        if values[0] != values[1]:
            remarks.append(f"{name} was {values[0]} and is {values[1]}")
    loads = [told.get("conditions", {}).get("load_average") or [None] for told in (old, new)]
    remarks.append(f"load average {loads[0][0]} then, {loads[1][0]} now")
    return Comparison(changes, tuple(remarks))


def _change(name: str, before: dict[str, Any], after: dict[str, Any], worth: float) -> Change:
    old, new = before.get(name, [0.0]), after.get(name, [0.0])
    difference = median(new) - median(old)
    verdict = "same"
    if difference > worth and min(new) > max(old):
        verdict = "slower"
    elif -difference > worth and max(new) < min(old):
        verdict = "faster"
    return Change(
        name, median(old), median(new), (min(old), max(old)), (min(new), max(new)), verdict
    )
