"""Whether two runs are the same bits, where they first differ, and how far they grow apart.

Frames are compared by their digests, keyframes by their state hashes, both by time. Where a digest differs
the vehicle and the field are looked for in the recorded values, of which rounded ones differ only beyond
what rounding may do.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.traffic.analysis.growth import Matcher, growth_lines, growth_of
from rushhour.traffic.recording.frame_fields import TOLERANCE
from rushhour.traffic.recording.recorded_frame import RecordedFrame
from rushhour.traffic.recording.run_layout import MADE_WITH
from rushhour.traffic.recording.verifying import compared_told, difference_told
from rushhour.traffic.words.durations import clock
from rushhour.traffic.words.plurals import counted

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile

MILLI: Final = 1000.0  # times are the same to a millisecond
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Divergence:
    """Where two runs first differ. vehicle, field: "" where the files cannot tell."""

    frame: int  # of the first run
    time: float  # s
    what: str  # "frame" or "keyframe"
    vehicle: str = ""
    field: str = ""
    first: str = ""
    second: str = ""

    def __str__(self) -> str:
        where = f"{self.what} {self.frame} ({clock(self.time)})"
        values = f"is {self.first} in A, {self.second} in B"
        return difference_told(where, self.vehicle, self.field, values)


@dataclass(frozen=True)
class Comparison:
    """What two runs come to side by side."""

    frames: int  # compared, at the same times
    keyframes: int
    divergence: Divergence | None
    seen: Divergence | None  # first in which a recorded field differs, if that is later
    same_until: float | None  # s, time of the last comparison that agreed
    made_otherwise: dict[str, tuple[str, str]]  # parameters, seed, ...: in A, in B
    only: tuple[str, ...] = ()  # what only one of them holds
    growth: list[dict[str, Any]] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Whether nothing that both hold differs."""
        return self.divergence is None


def compare_runs(
    a: "RunFile", b: "RunFile", progress: Progress = lambda done, of: None
) -> Comparison:
    """Compare two runs, what both hold of the same times.

    progress: called with frames done and in all. Raises RunError if they share no time.

    >>> compare_runs(rh.open_run("a.h5"), rh.open_run("b.h5")).same
    """
    pairs = _common(a.times, b.times)
    states = _common(a.keyframes.index["time"], b.keyframes.index["time"])
    matcher = Matcher(a, b)
    if not len(pairs) and not len(states):
        return _at_other_times(a, b, matcher)
    first, seen, at = _first_frame(a, b, pairs, matcher, progress)
    keyframe, since = _first_keyframe(a, b, states)
    agreed = [time for time in (at, since) if time is not None]
    divergence = first
    if keyframe is not None and (first is None or keyframe.time < first.time - 1.0 / MILLI):
        divergence = keyframe
    elif keyframe is not None and first is not None and not first.field and seen is None:
        seen = keyframe if keyframe.field else None
    return Comparison(
        frames=len(pairs),
        keyframes=len(states),
        divergence=divergence,
        seen=seen,
        same_until=max(
            (t for t in agreed if divergence is None or t < divergence.time), default=None
        ),
        made_otherwise=made_otherwise(a, b),
        only=_only(a, b),
        growth=[] if divergence is None else growth_of(a, b, pairs, matcher),
    )


def _common(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.int64]:
    """Places of the times that both have, (n, 2)."""
    _, i, j = np.intersect1d(np.rint(a * MILLI), np.rint(b * MILLI), return_indices=True)
    return np.stack((i, j), axis=1).astype(np.int64)


def _at_other_times(a: "RunFile", b: "RunFile", matcher: Matcher) -> Comparison:
    """Two runs none of whose frames are of the same time: how far apart they are in between."""
    later = np.searchsorted(b.times, a.times)  # the frame of B behind each of A
    i = np.flatnonzero((later > 0) & (later < b.times.size))
    if not i.size:
        raise RunError(
            f"{a.path} and {b.path} share no recorded time ({_span(a)}, {_span(b)}); nothing to compare"
        )
    pairs = np.stack((i, later[i]), axis=1).astype(np.int64)
    k, m = pairs[0].tolist()
    times = f"{a.times[k]:.3f} s", f"{b.times[m]:.3f} s"
    return Comparison(
        frames=0,
        keyframes=0,
        divergence=Divergence(int(a.frames[k]), float(a.times[k]), "frame", "", "time", *times),
        seen=None,
        same_until=None,
        made_otherwise=made_otherwise(a, b),
        only=_only(a, b),
        growth=growth_of(a, b, pairs, matcher),
    )


def _span(run: "RunFile") -> str:
    times = run.times if run.times.size else run.keyframes.index["time"]
    return f"{clock(times[0])} to {clock(times[-1])}" if times.size else "nothing recorded"


def _first_frame(
    a: "RunFile", b: "RunFile", pairs: NDArray[np.int64], matcher: Matcher, progress: Progress
) -> tuple[Divergence | None, Divergence | None, float | None]:
    """The first frame that differs, the first in which it is seen, and the last time that agreed."""
    digests = a.digests, b.digests
    same_numbers = np.array_equal(a.frames[pairs[:, 0]], b.frames[pairs[:, 1]])
    by_digest = all(found is not None for found in digests) and same_numbers and matcher.even
    first: Divergence | None = None
    agreed: float | None = None
    differ = np.ones(len(pairs), np.bool_)
    if by_digest and digests[0] is not None and digests[1] is not None:
        differ = digests[0][pairs[:, 0]] != digests[1][pairs[:, 1]]
    for k, (i, j) in enumerate(pairs.tolist()):
        progress(k + 1, len(pairs))
        if not differ[k]:
            agreed = float(a.times[i]) if first is None else agreed
            continue
        here, there = a.frame(i), b.frame(j)
        _want_known(a, here.id)
        _want_known(b, there.id)
        found = _first_vehicle(here, there, matcher)
        if found is not None:
            return (first or found), (found if first else None), agreed
        if by_digest and first is None:
            first = Divergence(here.frame, here.time, "frame")
        elif not by_digest:
            agreed = here.time
    return first, None, agreed


def _want_known(run: "RunFile", ids: NDArray[Any]) -> None:
    """Refuse vehicles of a damaged file that there are not."""
    if ids.size and not 0 <= int(ids.min()) <= int(ids.max()) < run.vehicles("depart").size:
        raise RunError(f"{run.path}: has a vehicle that there is not; record it again")


def _first_vehicle(a: RecordedFrame, b: RecordedFrame, matcher: Matcher) -> Divergence | None:
    """The first vehicle in which two frames differ, and its first field; None if it is not seen."""
    ids = matcher.numbers(b.id)
    missing = np.setxor1d(a.id, ids)
    if missing.size:
        there = bool(np.isin(missing[0], a.id))
        told = ("on the road", "not there") if there else ("not there", "on the road")
        return Divergence(a.frame, a.time, "frame", matcher.name(int(missing[0])), "it", *told)
    order = np.argsort(ids, kind="stable")
    differs: dict[str, NDArray[np.bool_]] = {}
    for name, values in a.columns.items():
        if name in b.columns and name != "id":
            other = b.columns[name][order]
            if name == "blocker":
                other = matcher.numbers(other)
            differs[name] = _apart(name, values, other)
    for k in np.flatnonzero(np.any(list(differs.values()), axis=0))[:1].tolist():
        name = next(name for name, where in differs.items() if where[k])
        told = str(a.columns[name][k]), str(b.columns[name][order][k])
        return Divergence(a.frame, a.time, "frame", matcher.name(int(a.id[k])), name, *told)
    return None


def _apart(name: str, a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values cannot be the same, however either was rounded."""
    rounded = [values.dtype == np.float32 for values in (a, b)]
    if not any(rounded):
        return np.asarray(a != b)
    slack = sum(rounded) * TOLERANCE[name] + 2e-6 * np.maximum(1.0, np.abs(a))
    return np.asarray(np.abs(a.astype(np.float64) - b) > slack)


def _first_keyframe(
    a: "RunFile", b: "RunFile", pairs: NDArray[np.int64]
) -> tuple[Divergence | None, float | None]:
    """The first keyframe that differs, and the last time that agreed before."""
    agreed: float | None = None
    for i, j in pairs.tolist():
        row = a.keyframes.index[i]
        time = float(row["time"])
        if a.keyframes.state_hash(i) != b.keyframes.state_hash(j):
            return _of_keyframe(a, b, i, j, int(row["frame"]), time), agreed
        agreed = time
    return None, agreed


def _of_keyframe(a: "RunFile", b: "RunFile", i: int, j: int, frame: int, time: float) -> Divergence:
    """The first vehicle and field of its state in which two keyframes differ."""
    where = (frame, time, "keyframe")
    rows = [run.keyframes.vehicles(k) for run, k in ((a, i), (b, j))]
    if rows[0].dtype != rows[1].dtype:
        return Divergence(*where)
    names = a.vehicle_names(), b.vehicle_names()
    _want_known(a, rows[0]["id"])
    _want_known(b, rows[1]["id"])
    of = [{names[k][int(row["id"])]: row for row in rows[k]} for k in (0, 1)]
    for name in of[0]:
        if name not in of[1]:
            return Divergence(*where, repr(name[:60]), "it", "on the road", "not there")
    for name, row in of[1].items():
        if name not in of[0]:
            return Divergence(*where, repr(name[:60]), "it", "not there", "on the road")
        one = of[0][name]
        for part in row.dtype.names:
            if part not in ("slot", "id") and not np.array_equal(one[part], row[part]):
                return Divergence(*where, repr(name[:60]), part, str(one[part]), str(row[part]))
    return Divergence(*where)


def made_otherwise(a: "RunFile", b: "RunFile") -> dict[str, tuple[str, str]]:
    """What two runs were made of that is not the same: in A, in B, as text."""
    found: dict[str, tuple[str, str]] = {}
    of_a, of_b = a.parameters, b.parameters
    for name in (*of_a, *(name for name in of_b if name not in of_a)):
        if of_a.get(name) != of_b.get(name):
            found[name] = of_a.get(name, "not there"), of_b.get(name, "not there")
    metas = a.meta, b.meta
    for name in ("seed", "dt", "begin", *MADE_WITH):
        was, now = (str(meta.get(name, "not there"))[:60] for meta in metas)
        if was != now:
            found[name] = was, now
    networks = a.network(), b.network()
    if networks[0].lane_ids != networks[1].lane_ids or not np.array_equal(
        networks[0].points, networks[1].points
    ):
        facts = [f"{network.name}, {network.n_road_lanes:,} lanes" for network in networks]
        found["network"] = facts[0], facts[1]
    trips = a.vehicle_names(), b.vehicle_names()
    same_trips = trips[0] == trips[1] and all(
        np.array_equal(a.vehicles(name), b.vehicles(name)) for name in ("depart", "length")
    )
    if not same_trips:
        found["demand"] = f"{len(trips[0]):,} vehicles", f"{len(trips[1]):,} vehicles"
    commands = [[str(c) for c in run.commands()] for run in (a, b)]
    if commands[0] != commands[1]:
        k = next(
            (k for k, (c, d) in enumerate(zip(*commands, strict=False)) if c != d),
            min(map(len, commands)),
        )
        told = [given[k][:100] if k < len(given) else "none" for given in commands]
        found[f"command {k + 1}"] = told[0], told[1]
    return found


def _only(a: "RunFile", b: "RunFile") -> tuple[str, ...]:
    """What of the runs was not compared, since the other one holds nothing of that time."""
    found = []
    for name, run, other in (("A", a, b), ("B", b, a)):
        times = run.times
        if times.size and other.times.size:
            before = int(np.count_nonzero(times < other.times[0] - 1.0 / MILLI))
            after = int(np.count_nonzero(times > other.times[-1] + 1.0 / MILLI))
            if before:
                found.append(f"{counted(before, 'frame')} of {name} before {clock(other.times[0])}")
            if after:
                found.append(f"{counted(after, 'frame')} of {name} after {clock(other.times[-1])}")
    return tuple(found)


def comparison_lines(found: Comparison) -> list[str]:
    """A comparison for people."""
    compared = compared_told(found.frames, found.keyframes)
    lines = []
    if found.same:
        lines.append(f"the same bits: {compared}")
    else:
        lines.append(f"differ at {found.divergence}")
        if found.seen is not None:
            lines.append(f"first seen at {found.seen}")
        until = "" if found.same_until is None else f", the same until {clock(found.same_until)}"
        lines.append(compared + until)
    lines += [f"not compared: {what}" for what in found.only]
    what = list(found.made_otherwise.items())
    lines += [f"B was made with another {name}: {was} -> {now}" for name, (was, now) in what[:10]]
    if len(what) > 10:
        lines.append(f"and {len(what) - 10} more differences; see --json")
    if not found.same and not what:
        lines.append(
            "made of the same, by the same code on the same kind of machine: a fault, or an altered file"
        )
    return lines + growth_lines(found.growth)
