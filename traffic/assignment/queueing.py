"""What roads take by queues alone: where an assignment begins, before anybody has driven (kernels.routing.point_queues)."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.routing.point_queues import COUNTS, Queues, load_queues
from rushhour.roadnets.model import Network
from rushhour.traffic.assignment.timed_ways import Sums
from rushhour.traffic.demand.model import Demand

STEP: Final = 1.0  # s
LONGER: Final = 7200.0  # s after the last departure at which it ends at the latest


def empty_queues(network: Network, trips: int) -> Queues:
    """Queues in which nobody is."""
    lanes, roads, m = network.n_road_lanes, network.n_roads, network.arrays.connectors.link.size
    nobody = np.full(trips, -1, np.int32)
    return Queues(
        lane=nobody.copy(),
        place=np.zeros(trips, np.int64),
        behind=nobody,
        entered=np.zeros(trips),
        ready=np.zeros(trips),
        first=np.full(lanes, -1, np.int32),
        last=np.full(lanes, -1, np.int32),
        size=np.zeros(lanes, np.int32),
        open_from=np.full(lanes, -np.inf),
        waiting=np.full(roads, -1, np.int32),
        waiting_last=np.full(roads, -1, np.int32),
        full=np.zeros(roads, np.int32),
        passed=np.full(m, -np.inf),
        busy=np.zeros(lanes, np.int32),
        due=np.zeros(lanes),
        is_busy=np.zeros(lanes, np.bool_),
        counts=np.zeros(COUNTS, np.int64),
    )


def queued_sums(
    network: Network, demand: Demand, permission: NDArray[np.uint32], free: NDArray[np.float64],
    begin: float, span: float,
) -> Sums:  # fmt: skip
    """What roads take by interval when all drive their ways through queues. permission: of each trip's class.

    free: (n_roads,) s, of empty roads. Stops on the way are left out.
    """
    q = empty_queues(network, len(demand))
    until = float(demand.depart[-1]) + LONGER
    shape = (int((until - begin) / span) + 1, network.n_roads)
    spent, vehicles = np.zeros(shape), np.zeros(shape)
    end = load_queues(
        network.arrays, q, demand.route_start, demand.roads, np.ascontiguousarray(demand.depart),
        permission.astype(np.int64), free, spent, vehicles, begin, span, until, STEP,
    )  # fmt: skip
    rows = int((end - begin) / span) + 1
    return Sums(spent[:rows], vehicles[:rows] * network.arrays.roads.length[None])
