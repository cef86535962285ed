"""Where the connectors out of one lane part, for who drives on beside a rear that has turned off."""

import numpy as np

from rushhour.kernels.junctions.conflict_zones import SAMPLE_STEP, sample_lanes
from rushhour.kernels.junctions.diverging import Partings, measure_partings
from rushhour.roadnets.model import Network

MOST_SAMPLES = 200  # of one connector; a longer one is sampled more coarsely


def partings_of(network: Network) -> Partings:
    """Where each connector parts from the others out of its lane. Kept with the network."""
    kept = network.derived.get("partings")
    if kept is None:
        kept = network.derived["partings"] = _measured(network)
    return kept


def _measured(network: Network) -> Partings:
    lanes, from_lane = network.arrays.lanes, network.arrays.connectors.from_lane
    n = network.n_road_lanes
    beside = np.diff(lanes.out_start)[from_lane]
    start = np.concatenate(([0], np.cumsum(np.where(beside > 1, beside, 0)))).astype(np.int32)
    until = np.zeros(int(start[-1]))
    if until.size:
        count = np.clip(np.ceil(lanes.length[n:] / SAMPLE_STEP) + 1, 2, MOST_SAMPLES)
        count[beside < 2] = 2
        sample = np.concatenate(([0], np.cumsum(count))).astype(np.int64)
        x, y, s = np.empty((3, int(sample[-1])))
        sample_lanes(network.points, network.station, network.point_start, n, sample, x, y, s)
        measure_partings(from_lane, lanes.out_start, x, y, s, sample, start, until)
    return Partings(start, until)
