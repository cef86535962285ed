"""Means of repeated runs and how sure they are: Student's t, paired or by Welch.

Intervals are those of 95 %: of a hundred such intervals, 95 hold the true value if the figures of runs are
about normal. Sources: Student (1908), "The probable error of a mean"; Welch (1947), "The generalization of
'Student's' problem when several different population variances are involved".
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

SURE: Final = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean, its standard deviation between runs, and its interval; None where there are too few."""

    n: int  # runs, or pairs of runs
    mean: float | None
    deviation: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def significant(self) -> bool:
        """Whether the interval leaves out 0."""
        return (
            self.low is not None and self.high is not None and (self.low > 0.0 or self.high < 0.0)
        )

    def facts(self) -> dict[str, Any]:
        """As plain values, to six digits."""
        numbers = {name: getattr(self, name) for name in ("mean", "deviation", "low", "high")}
        rounded = {k: None if v is None else float(f"{v:.6g}") for k, v in numbers.items()}
        return {"n": self.n, **rounded}


def estimate(values: ArrayLike) -> Estimate:
    """The mean of the figures of runs, NaN left out; one run has no interval.

    >>> estimate([9.0, 10.0, 11.0]).high
    12.48...
    """
    found = _finite(values)
    if not found.size:
        return Estimate(0, None)
    mean = float(found.mean())
    if found.size == 1:
        return Estimate(1, mean)
    deviation = float(found.std(ddof=1))
    half = t_quantile(found.size - 1) * deviation / sqrt(found.size)
    return Estimate(int(found.size), mean, deviation, mean - half, mean + half)


def difference(a: ArrayLike, b: ArrayLike, paired: bool) -> Estimate:
    """How much larger figures b are than a. paired: a[i] and b[i] belong together.

    Without pairs by Welch, who does not take the variances to be the same; n is then the smaller
    number of runs.
    """
    if paired:
        return estimate(np.asarray(b, float) - np.asarray(a, float))
    one, other = _finite(a), _finite(b)
    n = min(one.size, other.size)
    if not n:
        return Estimate(0, None)
    mean = float(other.mean() - one.mean())
    if n == 1:
        return Estimate(1, mean)
    parts = [float(values.var(ddof=1)) / values.size for values in (one, other)]
    total = sum(parts)
    if total == 0.0:
        return Estimate(n, mean, 0.0, mean, mean)
    freedom = total**2 / (parts[0] ** 2 / (one.size - 1) + parts[1] ** 2 / (other.size - 1))
    half = t_quantile(freedom) * sqrt(total)
    return Estimate(n, mean, sqrt(total * n), mean - half, mean + half)


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    found = np.asarray(values, float)
    return np.asarray(found[np.isfinite(found)])


def t_quantile(freedom: float, sure: float = SURE) -> float:
    """The t that a variable of Student's distribution stays within with a probability of `sure`.

    freedom: degrees of freedom, at least 1, may be a fraction.

    >>> round(t_quantile(9), 4)
    2.2622
    """
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 * (1.0 + sure)))
