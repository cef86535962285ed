"""The live vehicles as a table of read-only arrays."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import REASONS, Vehicles
from rushhour.kernels.geometry.pose import place_all_bodies, raise_bodies
from rushhour.roadnets.facts import rows_line
from rushhour.roadnets.model import Network
from rushhour.roadnets.tables import as_frame
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.sim.sim import Sim
from rushhour.traffic.steering.body_table import pose_at_bodies

# Columns beside the fields of Vehicles.
OWN_COLUMNS: Final = ("name", "road", "width", "waiting", "roads_left", "distance", "z", "slope")


class VehicleTable:
    """Columns over the vehicles on the road, shape (n,); valid until the next step.

    Every field of `kernels.core.vehicles.Vehicles` is a column (id, lane, s, speed, accel, lateral,
    length, reason, blocker, ...), and so are `name` (id in the demand), `road` (number; -1 inside an
    intersection), `width`, m, `waiting`, s that it has stood without a break, stops left out, and
    `roads_left` of its route, the one that it is on included (0: a random walker). `distance` is all
    that was driven, m; `z` the height of the road under the front bumper, m, and `slope` the sine of
    its rise along the body (0 in a level network). Those at the side of the road come last; their `lateral` is beyond the kerb.
    """

    def __init__(self, sim: Sim) -> None:
        self._sim = sim
        self._veh, self._types, self._verge = sim.veh, sim.types, sim.verge
        self._slots = np.flatnonzero(self._veh.lane >= 0)

    def __repr__(self) -> str:
        return rows_line("VehicleTable", len(self), (*OWN_COLUMNS, *Vehicles._fields))

    def __len__(self) -> int:
        return int(self._slots.size) + len(self._verge)

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name == "width":
            column = np.asarray(self._types.width[self._column("type")])
        elif name == "distance":  # kept up to the start of the lane only
            column = self._column("distance") + self._column("s")
        elif name in ("z", "slope"):
            raised = bodies_raised(
                self._sim.network, *(self._column(field) for field in ("lane", "s", "length"))
            )
            column = raised[:, 0].copy() if name == "z" else np.sin(raised[:, 1])
        elif name == "name":
            column = np.array(self._sim.demand.ids, object)[self._column("id")]
        elif name == "road":
            column = np.asarray(self._sim.network.arrays.lanes.road[self._column("lane")])
        elif name == "waiting":
            since = self._column("stands_since")
            column = np.where(since >= 0, (self._sim.frame - since) * self._sim.dt, 0.0)
        elif name == "roads_left":
            leg = self._column("leg")
            column = np.where(leg >= 0, self._column("route_end") - leg, 0).astype(np.int32)
        elif name in Vehicles._fields:
            column = self._column(name)
        else:
            raise AttributeError(name)
        column.flags.writeable = False
        return column

    def _column(self, name: str) -> NDArray[Any]:
        column: NDArray[Any] = getattr(self._veh, name)[self._slots]
        return np.asarray(self._verge.joined(name, column) if len(self._verge) else column)


def bodies_raised(
    network: Network, lane: NDArray[np.int32], s: NDArray[np.float64], length: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Height of the fronts, m, and pitch of the bodies, rad, of vehicles on lanes, (n, 2)."""
    raised = np.zeros((lane.size, 2))
    if network.is_hilly:
        raise_bodies(
            network.height,
            network.station,
            network.point_start,
            lane,
            s,
            length,
            raised,
            0,
            lane.size,
        )
    return raised


def vehicle_frame(
    table: VehicleTable, network: Network, demand: Demand, time: float, fronts: NDArray[Any]
) -> Any:
    """The vehicles as a pandas.DataFrame, sorted by their number in the demand; SI units, ids.

    fronts: where those are who steer a body; rows of body_table.FRONT.
    Raises NetworkError if pandas is not installed.
    """
    order = np.argsort(table.id, kind="stable")
    lane, s, lateral = table.lane[order], table.s[order], table.lateral[order]
    length = table.length[order]
    pose = np.zeros((order.size, 3))
    place_all_bodies(
        network.points, network.station, network.point_start, lane, s, lateral, length, pose
    )
    pose_at_bodies(pose, table.id[order], fronts)
    names, numbers = np.array((*demand.ids, ""), object), table.id[order]
    lanes = np.full(network.n_lanes + 1, "", object)
    lanes[: network.n_road_lanes] = network.lane_ids
    roads = np.array((*network.road_ids, ""), object)
    crossing = np.full(network.n_lanes, -1, np.int32)
    crossing[network.n_road_lanes :] = network.arrays.connectors.intersection
    kinds = np.array([kind.name for kind in demand.types], object)
    return as_frame(
        {
            "id": names[numbers],
            "type": kinds[table.type[order]],
            "time": np.full(order.size, time),
            "road": roads[network.arrays.lanes.road[lane]],
            "lane": lanes[lane],
            "intersection": np.array((*network.intersection_ids, ""), object)[crossing[lane]],
            "s": s,
            "lateral": lateral,
            "x": pose[:, 0],
            "y": pose[:, 1],
            "heading": pose[:, 2],
            "speed": table.speed[order],
            "accel": table.accel[order],
            "length": length,
            "width": table.width[order],
            "distance": table.distance[order],
            "reason": np.array(REASONS, object)[table.reason[order]],
            "blocker": names[table.blocker[order]],
        }
    )
