"""How far two runs are from each other, road by road and interval by interval.

A pair is one road in one interval. Runs are held against each other on the same pairs: those where
anybody was in any of them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

ENOUGH: Final = 60.0  # vehicle-seconds on a road in an interval, in both runs, to compare speeds
SHORTEST: Final = 7.5  # m; a road without the room of one car and its gap has no density

Values = NDArray[np.float64]
Pair = tuple[str, float]  # road, begin of the interval (s)


class Measured(NamedTuple):
    """One run on given pairs, shape (n,)."""

    vehicle_seconds: Values  # s, spent on the road in the interval
    distance: Values  # m, driven there
    density: Values  # veh/km, all lanes together, over the whole interval


def pairs_of(runs: Sequence[Mapping[str, Sequence[Any]]]) -> list[Pair]:
    """Pairs where anybody was in any of the runs (columns `road`, `begin`), in order."""
    found = {pair for run in runs for pair in zip(run["road"], run["begin"], strict=True)}
    return sorted(found)


def measured(run: Mapping[str, Sequence[Any]], pairs: Sequence[Pair]) -> Measured:
    """A run's columns of Measured on given pairs; 0 where nobody was."""
    row = {pair: k for k, pair in enumerate(zip(run["road"], run["begin"], strict=True))}
    place = np.array([row.get(pair, -1) for pair in pairs], int)

    def column(name: str) -> Values:
        found: Values = np.append(np.asarray(run[name], float), 0.0)[place]
        return found

    return Measured(*(column(name) for name in Measured._fields))


def speed(run: Measured) -> Values:
    """Space mean speed, m/s; 0 where nobody was."""
    spent = run.vehicle_seconds
    return np.divide(run.distance, spent, out=np.zeros(spent.size), where=spent > 0.0)


def speed_weights(a: Measured, b: Measured) -> Values:
    """Vehicle-seconds, mean of both runs; 0 where one of them has less than ENOUGH."""
    enough = np.minimum(a.vehicle_seconds, b.vehicle_seconds) >= ENOUGH
    return np.where(enough, 0.5 * (a.vehicle_seconds + b.vehicle_seconds), 0.0)


def differences(a: Measured, b: Measured, length: Values) -> dict[str, tuple[Values, Values]]:
    """By figure the weight of each pair, shape (n,), and a - b there.

    length: m, of the pair's road. speed: space mean speed, m/s, weighted by vehicle-seconds
    (speed_weights). density: veh/km, every pair the same, roads under SHORTEST left out.
    density_by_length: the same weighted by length, no road left out.
    """
    denser = a.density - b.density
    return {
        "speed": (speed_weights(a, b), speed(a) - speed(b)),
        "density": (np.where(length >= SHORTEST, 1.0, 0.0), denser),
        "density_by_length": (length, denser),
    }


def distances(a: Measured, b: Measured, length: Values) -> dict[str, dict[str, float]]:
    """How far a is from b, by figure of `differences`.

    distance: root of the weighted mean of the squared differences. mean_difference: their weighted
    mean. pairs: those with a weight. Units: m/s, veh/km, veh/km.
    """
    found = {}
    for name, (weights, off) in differences(a, b, length).items():
        total = max(float(weights.sum()), 1e-9)
        found[name] = {
            "distance": float(np.sqrt((weights * off**2).sum() / total)),
            "mean_difference": float((weights * off).sum() / total),
            "pairs": int(np.count_nonzero(weights)),
        }
    return found


def shares(a: Measured, b: Measured, length: Values) -> dict[str, Values]:
    """Share of each pair in the squared distance of a and b, by figure; they sum to 1 (or 0)."""
    found = {}
    for name, (weights, off) in differences(a, b, length).items():
        squares = weights * off**2
        found[name] = squares / max(float(squares.sum()), 1e-9)
    return found


def speed_share(a: Measured, b: Measured) -> float:
    """Vehicle-seconds of the pairs whose speeds are compared, over all."""
    spent = 0.5 * float(a.vehicle_seconds.sum() + b.vehicle_seconds.sum())
    return float(speed_weights(a, b).sum()) / max(spent, 1e-9)


def most(share: Values, names: Sequence[Any], count: int) -> list[tuple[Any, float]]:
    """The `count` names that have most of a share, summed by name, the largest first."""
    sums: dict[Any, float] = {}
    for name, part in zip(names, share.tolist(), strict=True):
        sums[name] = sums.get(name, 0.0) + part
    return sorted(sums.items(), key=lambda item: (-item[1], item[0]))[:count]
