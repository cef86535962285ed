"""A profile: what each of some frames cost, phase by phase, and the figures that are told of it."""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.reprs import fields_shown
from rushhour.roadnets.errors import RunError
from rushhour.traffic.stepping.costs import PHASES

PERCENTILES: Final = (50.0, 95.0, 99.0)
FORMAT: Final = 1  # of what `told` gives
MS: Final = 1e6  # ns


@dataclass(frozen=True)
class Profile:
    """What frames cost.

    ns: shape (frames, phases), the median of the repeats. vehicles: (frames,), those updated. time: (frames,),
    s of the simulation. repeats: (repeats, phases + 1), median of each phase and of the whole frame in
    each repeat, ns. collecting: (frames,), ns of garbage collection within the phases.
    frames_each: of how many frames each row is the mean, 1 unless it comes from a run file.
    """

    name: str
    dt: float
    time: NDArray[np.float64]
    ns: NDArray[np.float64]
    vehicles: NDArray[np.float64]
    repeats: NDArray[np.float64]
    collecting: NDArray[np.float64] | None = None
    frames_each: float = 1.0
    facts: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return fields_shown(self)

    def __len__(self) -> int:
        return int(self.ns.shape[0])

    @property
    def frame(self) -> NDArray[np.float64]:
        """ns of each whole frame, shape (frames,)."""
        return np.asarray(self.ns.sum(axis=1))

    @property
    def used(self) -> list[int]:
        """Phases that took any time."""
        return np.flatnonzero(self.ns.any(axis=0)).tolist()

    def at(self, percentile: float) -> float:
        """ns within which so many % of the frames stay."""
        return float(np.percentile(self.frame, percentile))

    def rows(self) -> list[dict[str, Any]]:
        """A row for each phase that took time, and one for all together, in milliseconds."""
        updates, total = max(1.0, float(self.vehicles.sum())), max(1.0, float(self.frame.sum()))
        named = [(PHASES[k], self.ns[:, k]) for k in self.used] + [("all", self.frame)]
        found = []
        for name, ns in named:
            p50, p95, p99 = np.percentile(ns, PERCENTILES) / MS
            found.append({
                "phase": name, "p50_ms": float(p50), "p95_ms": float(p95), "p99_ms": float(p99),
                "max_ms": float(ns.max()) / MS, "share": float(ns.sum()) / total,
                "ns_per_vehicle": float(ns.sum()) / updates,
            })  # fmt: skip
        return found

    def told(self) -> dict[str, Any]:
        """All figures as plain values, for --json and for `compare_profiles`."""
        frames = max(1, len(self))
        seconds = float(self.frame.sum()) / 1e9
        phases = [*(PHASES[k] for k in self.used), "all"]
        columns = [*self.used, len(PHASES)]
        collected = 0.0 if self.collecting is None else float(self.collecting.sum())
        return {
            "profile": FORMAT,
            "name": self.name,
            "dt": self.dt,
            "rows": frames,
            "frames": round(frames * self.frames_each),
            "vehicles": round(float(self.vehicles.mean())),
            "real_time_factor": frames * self.dt / seconds if seconds else None,
            "updates_per_s": float(self.vehicles.sum()) / seconds if seconds else None,
            "phases": self.rows(),
            "repeats_ms": {
                name: (self.repeats[:, column] / MS).tolist()
                for name, column in zip(phases, columns, strict=True)
            },
            "garbage_collection_ms": collected / MS,
            **self.facts,
        }


def profile_of_run(run: Any, begin: float = -np.inf, end: float = np.inf) -> Profile:
    """The profile of a run file: a row is the mean of the frames between two records.

    Raises RunError if it holds no costs of that time.
    """
    columns = run.costs.columns
    frames = np.asarray(columns["frames"], np.float64)
    inside = (columns["time"] >= begin) & (columns["time"] <= end) & (frames > 0)
    if not inside.any():
        raise RunError(f"{run.path}: no costs were recorded in that time")
    each = frames[inside]
    ns = np.column_stack([columns[name][inside] for name in PHASES]) / each[:, None]
    whole = np.column_stack((ns, ns.sum(axis=1)))
    return Profile(
        name=run.network().name, dt=float(run.meta["dt"]),
        time=np.asarray(columns["time"][inside], np.float64), ns=ns,
        vehicles=columns["updates"][inside] / each, repeats=np.median(whole, axis=0)[None],
        frames_each=float(each.mean()), facts={"from": str(run.path)},
    )  # fmt: skip
