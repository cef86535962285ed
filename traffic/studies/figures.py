"""The figures of a run: its row in the table of a study."""

from typing import TYPE_CHECKING, Any, Final

from rushhour.roadnets.reading.remarks import differences
from rushhour.traffic.measures.summary import measure_totals, trip_means

if TYPE_CHECKING:
    from rushhour.traffic.measures.measuring import Measures
    from rushhour.traffic.world import World

# In a row, and not in the table: remarks on how the run differs from what is asked for, and until when
# those wait whom closures cut off.
DIFFERS: Final = "differs"
WAIT: Final = "cut_off_wait"
# Figures that variants are compared by: name, what it is, unit.
FIGURES: Final[dict[str, tuple[str, str]]] = {
    "travel_time_s": ("travel time", "s"),
    "departure_delay_s": ("departure delay", "s"),
    "time_lost_s": ("time lost", "s"),
    "waiting_s": ("waiting", "s"),
    "speed_mps": ("speed", "m/s"),
    "distance_m": ("distance", "m"),
    "total_delay_veh_h": ("total delay", "veh h"),
    "vehicle_hours": ("vehicle hours on roads", "h"),
    "longest_queue_m": ("longest queue", "m"),
    "finished": ("trips finished", ""),
    "unfinished": ("trips unfinished", ""),
    "cut_off": ("trips cut off", ""),
    "cut_short": ("trips cut short", ""),
}


def _cut_off_wait(world: "World") -> str:
    """Until when those wait whom closures cut off, in words: see Closures.given_up."""
    if world.control.closures.for_ever:
        return "until it opens, as closures.patience says"
    return "until it opens, or closures.patience is over"


def row_of(world: "World", measures: "Measures | None", standstill: str | None) -> dict[str, Any]:
    """What a world came to. standstill: why it ended before its time; None: it did not."""
    from rushhour.traffic.timing.evaluating import total_delay

    trips, counts, totals = trip_means(world), world.counts(), {}
    if measures is not None:
        totals = measure_totals(measures)
    gridlock, rerouting = world.gridlock(), world.rerouting()
    return {
        "trips": len(world.demand),
        "finished": trips["completed"],
        "unfinished": len(world.demand) - int(trips["completed"] or 0) - counts["removed"],
        "removed": counts["removed"],
        "travel_time_s": trips["mean_travel_time_s"],
        "departure_delay_s": trips["mean_departure_delay_s"],
        "time_lost_s": trips["mean_time_loss_s"],
        "waiting_s": trips["mean_waiting_time_s"],
        "speed_mps": trips["mean_speed_mps"],
        "distance_m": trips["mean_distance_m"],
        "total_delay_veh_h": round(total_delay(world), 4),
        "vehicle_hours": totals.get("roads", {}).get("vehicle_hours"),
        "longest_queue_m": totals.get("queues", {}).get("longest_m"),
        "minds_changed": gridlock["minds_changed"],
        "rings": gridlock["cycles_found"],
        "cut_off": rerouting["cut_off"],
        "cut_short": rerouting["cut_short"],
        "end_s": world.time,
        "standstill": standstill or "",
        WAIT: _cut_off_wait(world),
        DIFFERS: differences([*world.network.remarks, *world.demand.remarks]),
        "state_hash": world.state_hash()[:16],
    }
