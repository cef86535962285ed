"""Smoothing of generated paths by a Gaussian filter."""

from math import ceil
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

ATTEMPTS: Final = 12
TOUCH: Final = 1e-9  # m of overlap that is none

if TYPE_CHECKING:
    from rushhour.games.racing.course import Course


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
    smooth: NDArray[np.float64], raw: NDArray[np.float64], length: float, width: float, sigma: float
) -> NDArray[np.float64]:
    """Smoothed paths of all racers (slots, racers, 2), nearer to the raw ones where two would meet.

    length, width: m, of their bodies. Around a slot in which two bodies overlap, on the lines
    between the places of two slots, too, both paths go back to the raw ones, over some sigma and
    ever farther, until none do.
    """
    slots, racers, _ = smooth.shape
    back = np.zeros((slots, racers))  # 0: as smoothed, 1: as it was
    when = np.arange(slots)
    out = smooth.copy()
    for attempt in range(ATTEMPTS):
        near = overlaps(out, length, width)
        if not len(near):
            return out
        reach = max(sigma, 1.0) * (1.0 + attempt)
        met = np.unique(np.concatenate((near[:, [0, 1]], near[:, [0, 2]])), axis=0)
        for t, k in met.tolist():
            back[:, k] += np.exp(-0.5 * np.square((when - t - 0.5) / reach))
        share = np.minimum(1.0, back)[..., None]
        out = smooth + share * (raw - smooth)
    return raw.copy()


def headings_of(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Directions (slots, racers), rad, of bodies at places (slots, racers, 2): that of their way.

    Who stands keeps the direction; nan places have 0.
    """
    heading = np.zeros(places.shape[:2])
    for k in range(places.shape[1]):
        there = np.flatnonzero(np.isfinite(places[:, k, 0]))
        step = (
            np.gradient(places[there, k], axis=0) if there.size > 1 else np.zeros((there.size, 2))
        )
        moved = np.flatnonzero(np.hypot(*step.T) > 1e-6)
        if moved.size:
            last = moved[
                np.clip(np.searchsorted(moved, np.arange(there.size), "right") - 1, 0, None)
            ]
            heading[there, k] = np.arctan2(step[last, 1], step[last, 0])
    return heading


def overlaps(
    places: NDArray[np.float64], length: float, width: float, parts: int = 24
) -> NDArray[np.int64]:
    """(slot, racer, racer) of the slots in which two bodies overlap on the way to the next one.

    places: (slots, racers, 2) m of their middles; length, width: m of all. They are looked at
    `parts` times a slot, as a race file is replayed: places on straight lines, directions evenly.
    """
    heading = headings_of(places)
    turn = (np.diff(heading, axis=0) + np.pi) % (2.0 * np.pi) - np.pi
    reach = np.hypot(length, width)
    found = []
    for a in range(places.shape[1]):
        for b in range(a):
            apart = np.hypot(*(places[:, a] - places[:, b]).T)
            near = np.flatnonzero(np.fmin(apart[:-1], apart[1:]) < 2.0 * reach + length)
            met = np.zeros(near.size, np.bool_)
            for part in range(parts + 1):
                w = part / parts
                at = [(1.0 - w) * places[near, k] + w * places[near + 1, k] for k in (a, b)]
                to = [heading[near, k] + w * turn[near, k] for k in (a, b)]
                met |= boxes_overlap(at[0], to[0], at[1], to[1], length, width)
            found += [(int(t), b, a) for t in near[met]]
    return np.array(found, np.int64).reshape(-1, 3)


def boxes_overlap(
    one: NDArray[np.float64], heading: NDArray[np.float64], other: NDArray[np.float64],
    direction: NDArray[np.float64], length: float, width: float,
) -> NDArray[np.bool_]:  # fmt: skip
    """Whether boxes at `one` (n, 2) overlap those at `other`: on no axis of either are they apart.

    Boxes that only touch do not. nan: not there.
    """
    away = other - one
    apart = np.isnan(away).any(axis=1)
    turn = direction - heading
    own = 0.5 * np.array([length, width])
    cos, sin = np.abs(np.cos(turn)), np.abs(np.sin(turn))
    for angle in (heading, direction):
        along = np.cos(angle) * away[:, 0] + np.sin(angle) * away[:, 1]
        aside = np.cos(angle) * away[:, 1] - np.sin(angle) * away[:, 0]
        apart |= np.abs(along) >= own[0] + cos * own[0] + sin * own[1] - TOUCH
        apart |= np.abs(aside) >= own[1] + sin * own[0] + cos * own[1] - TOUCH
    return np.asarray(~apart)


def times_passed(gone: NDArray[np.float64]) -> NDArray[np.int32]:
    """(racers,) times that each got past another one in ways gone (slots, racers), cells.

    A pass counts once the other is a cell behind.
    """
    passes = np.zeros(gone.shape[1], np.int32)
    for a in range(gone.shape[1]):
        for b in range(a):
            with np.errstate(invalid="ignore"):
                lead = np.nan_to_num(gone[:, a] - gone[:, b])
            side = np.sign(lead[np.abs(lead) >= 1.0])
            change = np.flatnonzero(np.diff(side))
            passes[a] += int((side[change + 1] > 0.0).sum())
            passes[b] += int((side[change + 1] < 0.0).sum())
    return passes


def total_turning(path: NDArray[np.float64]) -> float:
    """Sum of the changes of direction along a path (n, 2), rad; places where it stands are left out."""
    step = np.diff(path, axis=0)
    step = step[np.hypot(*step.T) > 1e-9]
    one, two = step[:-1], step[1:]
    cross = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]
    return float(np.abs(np.arctan2(cross, (one * two).sum(axis=1))).sum())
