"""The trip table: one row per finished trip, as CSV (columns in docs/trip-table.md)."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rushhour.roadnets.errors import RunError

if TYPE_CHECKING:
    from rushhour.traffic.world import World

COLUMNS: Final = (
    "trip", "vehicle_type", "depart_s", "departed_s", "departure_delay_s", "arrived_s",
    "travel_time_s", "distance_m", "mean_speed_mps", "waiting_time_s", "time_loss_s",
    "stop_time_s", "longest_standstill_s", "minds_changed",
)  # fmt: skip


def trip_columns(world: "World") -> dict[str, list[Any]]:
    """The finished trips by column, in the order of arrival.

    A planned departure before the begin of the run counts from that begin.
    """
    demand, log = world.demand, world.trips
    trip = np.asarray(log.trip, np.int64)
    planned = np.maximum(demand.depart[trip], world.begin)
    travel = log.arrived - log.departed
    speed = np.divide(log.distance, travel, out=np.zeros_like(travel), where=travel > 0)
    numbers = (
        planned, log.departed, log.departed - planned, log.arrived, travel, log.distance, speed,
        log.waiting_time, log.time_loss, log.stop_time, log.longest_standstill,
    )  # fmt: skip
    columns: list[list[Any]] = [
        [demand.ids[i] for i in trip],
        [demand.types[k].name for k in demand.type[trip]],
        *(np.round(values, 3).tolist() for values in numbers),
        np.asarray(log.minds_changed).astype(int).tolist(),
    ]
    return dict(zip(COLUMNS, columns, strict=True))


def write_output(folder: str | Path, world: "World", summary: Mapping[str, Any]) -> None:
    """Write trips.csv and summary.json into a folder, which is made if it does not exist.

    Raises RunError if that is not possible.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "trips.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(zip(*trip_columns(world).values(), strict=True))
        text = json.dumps(summary, indent=2) + "\n"
        (folder / "summary.json").write_text(text, encoding="utf-8")
    except OSError as error:
        why = error.strerror or error
        raise RunError(f"{folder}: output cannot be written ({why}); check the folder") from error
