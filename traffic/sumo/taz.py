"""SUMO's traffic assignment zones as zones of a matrix: a trip draws its first and last roads by weight, as od2trips does."""

from pathlib import Path

import numpy as np

from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.model import Network, Zones
from rushhour.traffic.demand.matrix import ZoneSet
from rushhour.traffic.sumo.records import Shares, read_records


def taz_zones(paths: list[Path], network: Network, ignored: tuple[str, ...] = ()) -> ZoneSet | None:
    """The zones of demand files of SUMO, None where they define none.

    Edges that the network does not have, as footpaths, are left out, with a remark.
    Raises DemandError where it has none of them.
    """
    records = read_records(paths, ignored)
    if not records.sources:
        return None
    names = tuple(records.sources)
    unknown: dict[str, None] = {}
    starts, origin, origin_weight = _pooled([records.sources[name] for name in names], network, unknown)  # fmt: skip
    ends, goal, goal_weight = _pooled([records.sinks[name] for name in names], network, unknown)
    if not origin.size and not goal.size:
        raise DemandError(
            f"{paths[0]}: no edge of its {len(names)} taz is a road of {network.name}; give the zones of this network, "
            "with edges (SUMO's edgesInDistricts.py finds those of shapes)"
        )
    remarks = []
    if unknown:
        remarks.append(
            f"taz: {len(unknown)} edges that are no roads of {network.name} are left out, the first {next(iter(unknown))[:60]!r}"
        )
    return ZoneSet(
        names, Zones(starts, origin, ends, goal), paths[0].name, True, origin_weight, goal_weight,
        tuple(remarks),
    )  # fmt: skip


def _pooled(zones: list[Shares], network: Network, unknown: dict[str, None]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Roads of zones one after the other, where each begins, and how they weigh; adds edges that are not there."""
    roads: list[int] = []
    weights: list[float] = []
    start = [0]
    for shares in zones:
        for edge, weight in shares:
            road = network.road_index.get(edge)
            if road is None:
                unknown[edge] = None
            else:
                roads.append(road)
                weights.append(weight)
        start.append(len(roads))
    return np.array(start, np.int32), np.array(roads, np.int32), np.array(weights, np.float64)
