"""Who is to be steered, by a rule: in a region, the nearest to a point, named vehicles.

A rule is plain values, so that it goes into commands, run files and keyframes. Where the same
vehicles lie at its border from look to look, those who steer keep their tier: what counts for them
is STAYS times their distance, less SLACK.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from math import inf, isfinite
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.reprs import fields_shown

Point = tuple[float, float]
STAYS: Final = 0.9  # of its distance that counts for who steers already ...
SLACK: Final = 5.0  # m ... and what is taken off it
RULE_PERIOD: Final = 0.5  # s between two looks
MOST_CORNERS: Final = 1000
MOST_BUDGET: Final = 1_000_000_000


@dataclass(frozen=True)
class TierRule:
    """Who is steered; all others are on their lanes, but for those who are driven from outside.

    Those within `radius` of `center`, those in `polygon`, and `vehicles` in any case; with neither
    radius nor polygon everybody is a candidate. Of all these at most `budget`: `vehicles` first, then
    who is nearest to the center, without one to the mean corner of the polygon.
    """

    center: Point | None = None  # m
    radius: float | None = None  # m
    polygon: tuple[Point, ...] | None = None  # m
    vehicles: tuple[int, ...] = ()
    budget: int | None = None

    def __repr__(self) -> str:
        return fields_shown(self)

    def __post_init__(self) -> None:
        """Raises ValueError, with what is wrong, for a rule that says nothing or too much."""
        points = [*([self.center] if self.center else []), *(self.polygon or ())]
        if not all(isfinite(v) and abs(v) <= 1e9 for point in points for v in point):
            raise ValueError("a coordinate is not finite; wanted m of the network")
        if self.radius is not None and not 0.0 < self.radius <= 1e9:
            raise ValueError(f"radius {self.radius:g}: wanted m above 0")
        if self.radius is not None and self.center is None:
            raise ValueError("a radius without a center; give center=(x, y), m")
        if self.polygon is not None and not 3 <= len(self.polygon) <= MOST_CORNERS:
            raise ValueError(
                f"a polygon of {len(self.polygon)} corners; wanted 3 to {MOST_CORNERS}"
            )
        if self.budget is not None and not 0 <= self.budget <= MOST_BUDGET:
            raise ValueError(f"budget {self.budget}: wanted a number of vehicles, 0 or more")
        everybody = self.radius is None and self.polygon is None
        if self.center is not None and everybody and self.budget is None:
            raise ValueError("a center alone; give a radius or a budget, too")
        if not points and not self.vehicles:
            raise ValueError(
                "nobody is named; give center and radius or budget, polygon or vehicles"
            )

    def plain(self) -> dict[str, Any]:
        """The rule as values that JSON has."""
        return {name: value for name, value in asdict(self).items() if value not in (None, ())}

    @classmethod
    def from_plain(cls, given: Mapping[str, Any]) -> Self:
        """The rule of `plain`. Raises ValueError or TypeError for what is none."""
        center, polygon = given.get("center"), given.get("polygon")
        return cls(
            None if center is None else _point(center),
            None if given.get("radius") is None else float(given["radius"]),
            None if polygon is None else tuple(_point(corner) for corner in polygon),
            tuple(int(number) for number in given.get("vehicles", ())),
            None if given.get("budget") is None else int(given["budget"]),
        )

    def within(self, budget: int) -> Self:
        """The same rule with another budget."""
        return replace(self, budget=budget)

    def chosen(
        self, ids: NDArray[np.int32], x: NDArray[np.float64], y: NDArray[np.float64],
        steers: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:  # fmt: skip
        """Who of vehicles at x, y (m) is to be steered; steers: who is now. All (n,)."""
        named = np.isin(ids, self.vehicles)
        near = np.zeros(ids.size)  # how far from the focus, for the budget
        focus = self.center
        if focus is None and self.polygon is not None:
            mean = np.mean(self.polygon, axis=0)
            focus = (float(mean[0]), float(mean[1]))
        if focus is not None:
            near = _counted(np.hypot(x - focus[0], y - focus[1]), steers)
        found = named.copy()
        if self.polygon is not None:
            found |= _counted(_outside(self.polygon, x, y), steers) <= 0.0
        if self.radius is not None:
            found |= near <= self.radius
        elif self.polygon is None and self.center is not None:
            found[:] = True
        if self.budget is None or int(found.sum()) <= self.budget:
            return found
        near[named] = -inf
        rows = np.flatnonzero(found)
        order = rows[np.lexsort((ids[rows], near[rows]))]
        found[order[self.budget :]] = False
        return found


def _point(given: Any) -> Point:
    x, y = given
    return float(x), float(y)


def _counted(distance: NDArray[np.float64], steers: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Distances as they count."""
    return np.where(steers, STAYS * distance - SLACK, distance)


def _outside(
    polygon: tuple[Point, ...], x: NDArray[np.float64], y: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Distance to a polygon, m; 0 inside it (by the parity of its sides to the right)."""
    inside = np.zeros(x.size, np.bool_)
    least = np.full(x.size, inf)
    for (ax, ay), (bx, by) in zip(polygon, (*polygon[1:], polygon[0]), strict=True):
        if (ax, ay) == (bx, by):
            continue
        between = (y >= min(ay, by)) & (y < max(ay, by))
        if ay != by:
            inside ^= between & (x < ax + (y - ay) / (by - ay) * (bx - ax))
        dx, dy = bx - ax, by - ay
        along = np.clip(((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy), 0.0, 1.0)
        least = np.minimum(least, np.hypot(x - ax - along * dx, y - ay - along * dy))
    return np.where(inside, 0.0, least)
