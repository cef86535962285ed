"""Ids by number of what recorded rows refer to."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import REASONS
from rushhour.roadnets.errors import RunError

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile


class Names:
    """Ids by number of what rows refer to."""

    def __init__(self, run: "RunFile") -> None:
        network = run.network()
        lanes = network.arrays.lanes
        n = network.n_road_lanes
        self.vehicle = text_array(run.vehicle_names())
        ids = run.ids()
        kinds = run.vehicles("type")
        if kinds.size and not 0 <= int(kinds.min()) <= int(kinds.max()) < len(ids["type"]):
            raise RunError(f"{run.path}: /vehicles has a type that there is not; record it again")
        self.type = text_array(ids["type"])[kinds]
        self.road = text_array((*network.road_ids, ""))[lanes.road]
        names = network.road_names or [""] * network.n_roads
        self.name = text_array((*names, ""))[lanes.road]
        self.lane = text_array((*network.lane_ids, *[""] * network.n_connectors))
        inside = np.where(np.arange(network.n_lanes) >= n, lanes.intersection, -1)
        self.intersection = text_array((*network.intersection_ids, ""))[inside]
        self.reason = text_array((*REASONS, *["?"] * (256 - len(REASONS))))
        self.blocker = text_array((*self.vehicle.tolist(), ""))

    def of(self, column: str) -> NDArray[Any]:
        """The ids that a column's numbers stand for."""
        return np.asarray(getattr(self, column))


def text_array(names: Any) -> NDArray[Any]:
    """Names as an array of objects, (n,)."""
    found = np.empty(len(names), object)
    found[:] = names
    return found
