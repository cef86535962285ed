"""SUMO until everybody has arrived: the statistics of its trips, from its own trip table."""

import subprocess
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from time import perf_counter
from typing import Any

from scenarios import Scenario
from sumo_options import sumo_binary, sumo_options


def sumo_trips(scenario: Scenario, base: Path, threads: int) -> dict[str, Any]:
    """Run SUMO on a scenario until the last arrival; means over trips (s, m/s) and wall time."""
    with tempfile.TemporaryDirectory() as folder:
        table, totals = Path(folder) / "tripinfo.xml", Path(folder) / "statistics.xml"
        command = [sumo_binary(), *sumo_options(scenario, base, threads)]
        command += ["--duration-log.statistics", "--tripinfo-output", str(table)]
        command += ["--statistic-output", str(totals)]
        start = perf_counter()
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        wall = perf_counter() - start
        if done.returncode:
            raise RuntimeError(f"sumo {scenario.name}: {done.stderr.strip().splitlines()[-1]}")
        return {
            "simulator": "SUMO",
            "step_s": 1.0,
            "threads": threads,
            **trip_means(table),
            **totals_of(totals),
            "process_s": wall,
        }


def trip_means(table: Path) -> dict[str, Any]:
    """Means over the trips of a tripinfo file; simulated_s counts from the first departure due."""
    count, duration, delay, distance, waiting = 0, 0.0, 0.0, 0.0, 0.0
    first, last = float("inf"), 0.0
    for _, element in ET.iterparse(table):
        if element.tag != "tripinfo":
            continue
        count += 1
        duration += float(element.attrib["duration"])
        delay += float(element.attrib["departDelay"])
        distance += float(element.attrib["routeLength"])
        waiting += float(element.attrib["waitingTime"])
        due = float(element.attrib["depart"]) - float(element.attrib["departDelay"])
        first = min(first, due)
        last = max(last, float(element.attrib["arrival"]))
        element.clear()
    trips = max(1, count)
    return {
        "arrived": count,
        "mean_travel_time_s": duration / trips,
        "mean_departure_delay_s": delay / trips,
        "mean_sum_s": (duration + delay) / trips,
        "mean_waiting_time_s": waiting / trips,
        "mean_distance_m": distance / trips,
        "mean_speed_mps": distance / duration if duration else 0.0,
        "last_arrival_s": last,
        "simulated_s": last - first if count else 0.0,
    }


def totals_of(totals: Path) -> dict[str, int]:
    """Teleports and vehicles that never arrived, from a statistics file."""
    root = ET.parse(totals).getroot()
    vehicles, teleports = root.find("vehicles"), root.find("teleports")
    assert vehicles is not None and teleports is not None, "SUMO writes both, always"
    left = int(vehicles.attrib["running"]) + int(vehicles.attrib["waiting"])
    return {"teleports": int(teleports.attrib["total"]), "unfinished": left}
