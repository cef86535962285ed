"""The trip table: one row per finished trip, as CSV (columns in docs/trip-table.md)."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text
from rushhour.roadnets.writing import replaced
from rushhour.traffic.measures.trip_log import ENDS

if TYPE_CHECKING:
    from rushhour.traffic.measures.measuring import Measures
    from rushhour.traffic.sim.sim import Sim
    from rushhour.traffic.world import World

# Column: type in the run file, unit, what it is.
TRIPS: Final[dict[str, tuple[str, str, str]]] = {
    "trip": ("<i4", "", "row of /vehicles"),
    "vehicle_type": ("<i4", "", "row of /vehicles/type_name"),
    "depart_s": ("<f8", "s", "planned departure, or the begin of the run if that is later"),
    "departed_s": ("<f8", "s", "when it came onto the road"),
    "departure_delay_s": ("<f8", "s", "the difference"),
    "arrived_s": ("<f8", "s", "when it reached its end, or was removed"),
    "travel_time_s": ("<f8", "s", "arrived_s - departed_s"),
    "distance_m": ("<f8", "m", "metres driven"),
    "mean_speed_mps": ("<f8", "m/s", "distance over travel time"),
    "waiting_time_s": ("<f8", "s", "time below 0.1 m/s, without stops"),
    "time_loss_s": ("<f8", "s", "travel time less stops less the time at the desired speed"),
    "stop_time_s": ("<f8", "s", "time at stops of the trip"),
    "longest_standstill_s": ("<f8", "s", "longest single standstill, without stops"),
    "minds_changed": ("<i4", "", "how often it took another way because its exit stayed full"),
    "reroutes": ("<i4", "", "how often a closure or the traffic gave it another way"),
    "ended": (
        "|u1",
        "",
        "0 arrived, 1 removed by a command, 2 cut short: closed roads bar its destination",
    ),
}
COLUMNS: Final = tuple(TRIPS)


def trip_rows(sim: "Sim", first: int = 0) -> dict[str, NDArray[Any]]:
    """The finished trips by column, in the order of arrival, from row `first` on; ids as numbers.

    A planned departure before the begin of the run counts from that begin.
    """
    demand, log = sim.demand, sim.trip_log
    trip = np.asarray(log.trip, np.int64)
    planned = np.maximum(demand.depart[trip], sim.begin)
    travel = log.arrived - log.departed
    speed = np.divide(log.distance, travel, out=np.zeros_like(travel), where=travel > 0)
    columns: tuple[NDArray[Any], ...] = (
        trip, demand.type[trip], planned, log.departed, log.departed - planned, log.arrived,
        travel, log.distance, speed, log.waiting_time, log.time_loss, log.stop_time,
        log.longest_standstill, log.minds_changed, log.reroutes, log.ended,
    )  # fmt: skip
    return {
        name: values[first:].astype(kind)
        for (name, (kind, _, _)), values in zip(TRIPS.items(), columns, strict=True)
    }


def trip_columns(sim: "Sim") -> dict[str, list[Any]]:
    """The finished trips by column, as they are written: with ids, times to the millisecond."""
    columns: dict[str, list[Any]] = {}
    for name, values in trip_rows(sim).items():
        columns[name] = (np.round(values, 3) if values.dtype.kind == "f" else values).tolist()
    columns["trip"] = [sim.demand.ids[i] for i in columns["trip"]]
    columns["vehicle_type"] = [sim.demand.types[k].name for k in columns["vehicle_type"]]
    columns["ended"] = [ENDS[k] for k in columns["ended"]]
    return columns


def write_output(
    folder: str | Path,
    world: "World",
    summary: Mapping[str, Any],
    measures: "Measures | None" = None,
) -> None:
    """Write trips.csv and summary.json into a folder, which is made if it does not exist.

    With measures also a table of each kind that was kept, as roads.csv.

    Raises RunError if that is not possible.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (
            replaced(folder / "trips.csv") as part,
            part.open("w", newline="", encoding="utf-8") as file,
        ):
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(zip(*trip_columns(world.sim).values(), strict=True))
        text = json_text(summary, indent=2) + "\n"
        with replaced(folder / "summary.json") as part:
            part.write_text(text, encoding="utf-8")
        if measures is not None:
            for name in measures.kept:
                measures.table(name).write(folder / f"{name}.csv")
    except OSError as error:
        why = error.strerror or error
        raise RunError(f"{folder}: output cannot be written ({why}); check the folder") from error
