"""Smoothing of generated paths by a Gaussian filter."""

from math import ceil
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

ATTEMPTS: Final = 12

if TYPE_CHECKING:
    from rushhour.traffic.racing.course import Course


def gaussian_weights(sigma: float) -> NDArray[np.float64]:
    """Weights of a Gaussian filter that reaches three sigma to both sides; their sum is 1."""
    reach = ceil(3.0 * sigma)
    weights = np.exp(-0.5 * np.square(np.arange(-reach, reach + 1) / sigma))
    return np.asarray(weights / weights.sum())


def smoothed(path: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    """A path (n, 2) at even times, smoothed over sigma of them; its ends stay where they are.

    Beyond an end the path goes on as its point reflection, so that the filter keeps the end.
    """
    if sigma <= 0.0 or len(path) < 3:
        return path.copy()
    weights = gaussian_weights(sigma)
    reach = min(len(weights) // 2, len(path) - 1)
    middle = len(weights) // 2
    weights = weights[middle - reach : middle + reach + 1]
    weights /= weights.sum()
    before = 2.0 * path[0] - path[reach:0:-1]
    after = 2.0 * path[-1] - path[-2 : -reach - 2 : -1]
    longer = np.concatenate((before, path, after))
    out = np.column_stack([np.convolve(longer[:, k], weights, "valid") for k in (0, 1)])
    out[0], out[-1] = path[0], path[-1]
    return out


def smoothed_path(path: NDArray[np.float64], sigma: float, course: "Course") -> NDArray[np.float64]:
    """The smoothed path if it stays on the course; else with half of sigma, at last as it is."""
    while sigma >= 0.5:
        out = smoothed(path, sigma)
        if (course.cell_at(out) >= 0).all():
            return out
        sigma *= 0.5
    return path.copy()


def kept_apart(
    smooth: NDArray[np.float64], raw: NDArray[np.float64], least: float, sigma: float
) -> NDArray[np.float64]:
    """Smoothed paths of all racers (slots, racers, 2), nearer to the raw ones where two would meet.

    least: m, distance of two racers in a slot, less than they have in the raw paths. Around such a
    slot both paths go back to the raw ones, over some sigma, until nobody is nearer.
    """
    slots, racers, _ = smooth.shape
    back = np.zeros((slots, racers))  # 0: as smoothed, 1: as it was
    when = np.arange(slots)
    out = smooth.copy()
    for attempt in range(ATTEMPTS):
        near: list[tuple[int, int]] = []
        for a in range(racers):
            for b in range(a):
                met = np.flatnonzero(np.hypot(*(out[:, a] - out[:, b]).T) < least)
                near += [(int(t), k) for t in met for k in (a, b)]
        if not near:
            return out
        reach = max(sigma, 1.0) * (1.0 + attempt)
        for t, k in set(near):
            back[:, k] += np.exp(-0.5 * np.square((when - t) / reach))
        share = np.minimum(1.0, back)[..., None]
        out = smooth + share * (raw - smooth)
    return raw.copy()


def total_turning(path: NDArray[np.float64]) -> float:
    """Sum of the changes of direction along a path (n, 2), rad; places where it stands are left out."""
    step = np.diff(path, axis=0)
    step = step[np.hypot(*step.T) > 1e-9]
    one, two = step[:-1], step[1:]
    cross = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]
    return float(np.abs(np.arctan2(cross, (one * two).sum(axis=1))).sum())
