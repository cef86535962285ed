"""SUMO until everybody has arrived: its roads by interval, its departures, its teleports.

From SUMO's edge data, tripinfo and statistics. SUMO's `speed` and `sampledSeconds` count a vehicle
on an edge as long as any part of it is there; ours, and the figures taken here, go by the front.
"""

import gzip
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, Final

from scenarios import Scenario
from sumo_options import sumo_binary, sumo_options
from sumo_trips import totals_of, trip_means

OUTPUT: Final = """<additional>
<edgeData id="roads" file="{file}" period="{period:g}" excludeEmpty="true"/>
</additional>"""
LONGEST_TIME: Final = 9e4  # s; SUMO writes 1e5 for an edge that nobody could ever pass


def sumo_roads(scenario: Scenario, base: Path, seed: int, interval: float) -> dict[str, Any]:
    """Run SUMO on a scenario until the last arrival, with a seed; interval in s.

    `roads`: columns, see edge_rows; `trips`: {id: [due (s), first road]}.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asked = folder / "asked.add.xml"
        asked.write_text(OUTPUT.format(file=folder / "roads.xml", period=interval))
        options = sumo_options(scenario, base, 1)
        if "--additional-files" in options:
            options[options.index("--additional-files") + 1] += f",{asked}"
        else:
            options += ["--additional-files", str(asked)]
        options += ["--seed", str(seed), "--precision", "6", "--duration-log.statistics"]
        options += ["--tripinfo-output", str(folder / "tripinfo.xml")]
        options += ["--statistic-output", str(folder / "statistics.xml")]
        done = subprocess.run(
            [sumo_binary(), *options], check=False, capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(f"sumo {scenario.name}: {done.stderr.strip().splitlines()[-1]}")
        trips = trips_of(folder / "tripinfo.xml")
        lengths = edge_lengths(base / scenario.network)
        return {
            "seed": seed,
            "departed": len(trips),
            "roads": edge_rows(folder / "roads.xml", lengths, interval),
            "trips": trips,
            **trip_means(folder / "tripinfo.xml"),
            **totals_of(folder / "statistics.xml"),
        }


def edge_lengths(network: Path) -> dict[str, float]:
    """Metres of every edge of a SUMO network that is no intersection, pavement or crossing."""
    opened: Any = gzip.open if network.name.endswith(".gz") else open
    found = {}
    with opened(network, "rb") as file:
        for _, element in ET.iterparse(file):
            if element.tag == "edge":
                lane = element.find("lane")
                if (
                    element.get("function", "normal") in ("normal", "connector")
                    and lane is not None
                ):
                    found[element.attrib["id"]] = float(lane.attrib["length"])
                element.clear()
    return found


def edge_rows(path: Path, lengths: dict[str, float], interval: float) -> dict[str, list[Any]]:
    """Columns of an edge data file: road, begin, vehicle_seconds, distance, density, teleported.

    density is over the whole interval, also in the last one, which SUMO ends with the run.
    """
    rows: dict[str, list[Any]] = {
        name: []
        for name in ("road", "begin", "vehicle_seconds", "distance", "density", "teleported")
    }
    begin = 0.0
    for event, element in ET.iterparse(path, ("start", "end")):
        if event == "start":
            begin = float(element.attrib["begin"]) if element.tag == "interval" else begin
            continue
        a = element.attrib
        if element.tag == "edge" and a["id"] in lengths:
            length, driven = lengths[a["id"]], float(a.get("distance", 0.0))
            time = float(a.get("traveltime", LONGEST_TIME))  # of fronts: length / their speed
            spent = float(a["sampledSeconds"])
            if driven > 0.0 and time < LONGEST_TIME:
                spent = driven * time / length
            rows["road"].append(a["id"])
            rows["begin"].append(begin)
            rows["vehicle_seconds"].append(spent)
            rows["distance"].append(driven)
            rows["density"].append(1000.0 * spent / interval / length)
            rows["teleported"].append(int(a.get("teleported", 0)))
        if element.tag == "interval":
            element.clear()
    return rows


def trips_of(table: Path) -> dict[str, list[Any]]:
    """When each trip of a tripinfo file was due (s), and the road where it began."""
    found = {}
    for _, element in ET.iterparse(table):
        if element.tag == "tripinfo":
            a = element.attrib
            due = float(a["depart"]) - float(a["departDelay"])
            found[a["id"]] = [due, a["departLane"].rpartition("_")[0]]
            element.clear()
    return found
