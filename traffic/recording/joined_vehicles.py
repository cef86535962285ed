"""Vehicles that joined a recorded run: they stand in its commands, not in /vehicles and /demand."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.hdf5_file import whole
from rushhour.traffic.commands.joining import ADD
from rushhour.traffic.commands.log import DONE
from rushhour.traffic.demand.joining import read_again, with_trips
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.recording.demand_file import read_demand

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile


class Joined:
    """All vehicles of a run."""

    def __init__(self, demand: Demand) -> None:
        self.demand = demand

    def column(self, name: str) -> NDArray[Any]:
        """A column as /vehicles has them: length, width, depart, type."""
        if name in ("length", "width"):
            by_type = np.array([getattr(kind, name) for kind in self.demand.types], np.float32)
            values = by_type[self.demand.type]
        else:
            values = getattr(self.demand, name).copy()
        values.flags.writeable = False
        return np.asarray(values)


def read_joined(run: "RunFile") -> Joined | None:
    """The vehicles of a run with those who joined it; None where nobody did.

    Raises RunError for a damaged file.
    """
    group = run.group("commands")
    if group is None or f'"{ADD}"'.encode() not in whole(group["text"]).tobytes():
        return None
    joined = [one for one in run.commands() if one.name == ADD and one.outcome == DONE]
    if not joined:
        return None
    from rushhour.traffic.recording.resuming import recorded_parameters

    network, parameters = run.network(), recorded_parameters(run)
    demand = read_demand(run, network)
    for one in joined:
        more = read_again(one.arguments["trips"], network, demand.types, parameters)
        demand = with_trips(demand, more)
    return Joined(demand)
