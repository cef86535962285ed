"""SUMO's tripinfo-output: one line for each trip that has ended, in the order of arrival."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import quoteattr

import numpy as np

from rushhour.kernels.core.vehicles import Vehicles
from rushhour.roadnets.errors import RunError
from rushhour.traffic.measures.trip_log import CUT_SHORT, REMOVED
from rushhour.traffic.measures.trip_table import trip_rows

if TYPE_CHECKING:
    from rushhour.traffic.world import World

_ENDED: Final = {REMOVED: "removed", CUT_SHORT: "cut_short"}  # `vaporized` of those


def write_tripinfo(
    path: Path, world: "World", *, unfinished: bool = False, undeparted: bool = False
) -> None:
    """Write the trips of a world as SUMO's --tripinfo-output does, at once or not at all.

    unfinished: also who is still on the road; undeparted: then also who is due and waits.
    Attributes of SUMO that nothing here knows (lanes and speeds of departing, emissions) are left
    out. Raises RunError if the file cannot be written.
    """
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            try:
                file.write('<?xml version="1.0" encoding="UTF-8"?>\n\n<tripinfos>\n')
                file.writelines(_lines(world, unfinished, undeparted))
                file.write("</tripinfos>\n")
            except BaseException:
                os.unlink(file.name)
                raise
        os.replace(file.name, path)
    except OSError as error:
        raise RunError(
            f"tripinfo-output {path}: cannot be written ({error.strerror}); choose another name"
        ) from error


def _lines(world: "World", unfinished: bool, undeparted: bool) -> Iterator[str]:
    demand, rows = world.demand, trip_rows(world.sim)
    goal = _goals(world)
    for i, trip in enumerate(rows["trip"].tolist()):
        yield _line(
            demand.ids[trip], rows["departed_s"][i], rows["departure_delay_s"][i],
            rows["arrived_s"][i], goal[trip], rows["travel_time_s"][i], rows["distance_m"][i],
            rows["waiting_time_s"][i], rows["time_loss_s"][i], rows["stop_time_s"][i],
            rows["reroutes"][i], demand.types[demand.type[trip]].name,
            _ENDED.get(int(rows["ended"][i]), ""),
        )  # fmt: skip
    if not (unfinished or undeparted):
        return
    veh: Vehicles = world.sim.veh
    slots = np.flatnonzero(veh.lane >= 0)
    slots = slots[np.argsort(veh.id[slots])]
    if unfinished:
        for slot in slots.tolist():
            trip = int(veh.trip[slot])
            departed = world.begin + float(veh.depart_frame[slot]) * world.dt
            stood = float(veh.stopped[slot]) * world.dt
            took = world.time - departed
            yield _line(
                demand.ids[trip], departed, departed - max(float(demand.depart[trip]), world.begin),
                -1.0, -1.0, took, float(veh.distance[slot]),
                float(veh.waited[slot]) * world.dt, took - stood - float(veh.ideal[slot]), stood,
                0, demand.types[demand.type[trip]].name, "",
            )  # fmt: skip
    if undeparted:
        for trip in world.sim.queued_trips().tolist():
            due = max(float(demand.depart[trip]), world.begin)
            yield _line(
                demand.ids[trip], -1.0, world.time - due, -1.0, -1.0, 0.0, 0.0, 0.0, 0.0,
                0.0, 0, demand.types[demand.type[trip]].name, "end",
            )  # fmt: skip


def _goals(world: "World") -> Any:
    """Where each trip ends: m along its last road."""
    demand, roads = world.demand, world.network.arrays.roads
    last = demand.roads[demand.route_start[1:] - 1]
    whole = roads.length[last]
    return np.where(np.isinf(demand.arrival_pos), whole, np.minimum(demand.arrival_pos, whole))


def _line(
    name: str, departed: float, delay: float, arrived: float, goal: float, took: float,
    distance: float, waiting: float, loss: float, stood: float, reroutes: int, kind: str,
    vaporized: str,
) -> str:  # fmt: skip
    numbers = {
        "depart": departed, "departDelay": delay, "arrival": arrived, "arrivalPos": goal,
        "duration": took, "routeLength": distance, "waitingTime": waiting, "stopTime": stood,
        "timeLoss": loss,
    }  # fmt: skip
    text = " ".join(f'{key}="{_number(value)}"' for key, value in numbers.items())
    return (
        f'    <tripinfo id={quoteattr(name)} {text} rerouteNo="{int(reroutes)}" '
        f'vType={quoteattr(kind)} vaporized="{vaporized}"/>\n'
    )


def _number(value: float) -> str:
    return f"{float(value) + 0.0:.2f}"
