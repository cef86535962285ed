"""A profile against the time that a frame may take, and which phases are to blame."""

from dataclasses import dataclass

import numpy as np

from rushhour.roadnets.errors import RunError
from rushhour.traffic.profiling.profile import MS, Profile
from rushhour.traffic.stepping.costs import PHASES


@dataclass(frozen=True)
class Verdict:
    """Whether frames keep to a budget. Times in ms.

    took: at the percentile. over: share of the frames beyond the budget. to_blame: phases by what
    they add to the frames over it (the slowest one, if none is), ms a frame, most first; by_more: of
    these, ms more than in the median frame.
    """

    budget: float
    percentile: float
    took: float
    over: float
    to_blame: tuple[tuple[str, float], ...]
    by_more: dict[str, float]

    @property
    def kept(self) -> bool:
        """Whether the budget is kept."""
        return self.took <= self.budget

    def lines(self) -> list[str]:
        """The verdict for people."""
        told = f"p{self.percentile:g} of a frame is {self.took:.3g} ms, within the budget of {self.budget:g} ms"
        if self.kept:
            return [told.replace("within", f"{self.budget - self.took:.3g} ms within")]
        blame = ", ".join(
            f"{name} {ms:.3g} ms ({self.by_more[name]:+.2g})" for name, ms in self.to_blame[:3]
        )
        return [
            (
                f"p{self.percentile:g} of a frame is {self.took:.3g} ms, over the budget of {self.budget:g} ms; "
                f"{self.over:.1%} of the frames are over it"
            ),
            f"in those, by phase (against the median frame): {blame}",
        ]


def verdict(profile: Profile, budget: float, percentile: float = 99.0) -> Verdict:
    """Hold a profile against a budget, s. Raises RunError for a budget or percentile out of range."""
    if not 0.0 < percentile <= 100.0:
        raise RunError(f"percentile {percentile:g}: wanted more than 0, at most 100")
    if not budget > 0.0:
        raise RunError(f"budget {budget:g} s: wanted a time above 0, as 16.6ms")
    frame, limit = profile.frame, budget * 1e9
    over = frame > limit
    blamed = over if over.any() else frame == frame.max()
    mean, usual = profile.ns[blamed].mean(axis=0), np.median(profile.ns, axis=0)
    order = [k for k in np.argsort(-mean).tolist() if mean[k] > 0.0]
    return Verdict(
        budget=budget * 1e3, percentile=percentile, took=profile.at(percentile) / MS,
        over=float(over.mean()), to_blame=tuple((PHASES[k], float(mean[k]) / MS) for k in order),
        by_more={PHASES[k]: float(mean[k] - usual[k]) / MS for k in order},
    )  # fmt: skip
