"""Scenarios that others made, as cases of against_sumo.py, and random trips on real networks.

RESCO's are those of the package sumo-rl; Bologna's and Wildau come with demand of their own; on the
other networks SUMO's randomTrips draws it. SUMO's routes are those that its vehicles drove, which
chose them at departure where the demand does not give any.
"""

import gzip
import importlib.util
import json
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, Final

from scenarios import SCENARIOS, Scenario
from sumo_cases import NoCaseError, made_before, run_script
from sumo_options import sumo_binary

RESCO: Final = (
    "cologne1", "cologne3", "cologne8", "ingolstadt1", "ingolstadt7", "ingolstadt21",
)  # fmt: skip
BOLOGNA: Final = ("acosta", "joined", "wildau")
RANDOM: Final = {  # network, trips within an hour
    "badhersfeld": ("sumo_badhersfeld_net/badhersfeld.net.xml.gz", 6000),
    "luxembourg": ("sumo_luxembourg/luxembourg.net.xml.gz", 20000),
    "braunschweig": ("sumo_braunschweig/braunschweig_port.net.xml.gz", 4000),
}
NAMED: Final = (*RESCO, *BOLOGNA, *RANDOM)
DEPARTS: Final = ("departLane", "departPos", "departSpeed")
LATEST: Final = 4 * 3600.0  # s after the first departure at which a run is given up


def _copied(source: Path, target: Path) -> None:
    """Copy a file, unpacked."""
    opened: Any = gzip.open if source.name.endswith(".gz") else open
    with opened(source, "rb") as read, target.open("wb") as write:
        shutil.copyfileobj(read, write)


def _resco(name: str, folder: Path) -> None:
    found = importlib.util.find_spec("sumo_rl")
    if found is None or not found.submodule_search_locations:
        raise NoCaseError(f"{name}: needs the package sumo-rl: pip install sumo-rl")
    base = Path(found.submodule_search_locations[0]) / "nets" / "RESCO" / name
    _copied(base / f"{name}.net.xml", folder / "net.net.xml")
    _copied(base / f"{name}.rou.xml", folder / "trips.xml")
    (folder / "more.add.xml").write_text("<additional/>\n")


def _with_demand(scenario: Scenario, folder: Path, data: Path) -> None:
    """Its files, put together into one of demand and one of what else there is."""
    _copied(data / scenario.network, folder / "net.net.xml")
    for names, target, top in (
        (scenario.additional, "more.add.xml", "additional"),
        (scenario.programs, "programs.add.xml", "additional"),
        (scenario.routes, "trips.xml", "routes"),
    ):
        parts: list[Any] = []
        for name in names:
            _copied(data / name, folder / "part.xml")
            parts += list(ET.parse(folder / "part.xml").getroot())
            (folder / "part.xml").unlink()
        if top == "routes":
            timed = [e for e in parts if "depart" in e.attrib]
            parts = [e for e in parts if "depart" not in e.attrib]
            parts += sorted(timed, key=lambda e: float(e.attrib["depart"]))
        root = ET.Element(top)
        root.extend(parts)
        ET.ElementTree(root).write(folder / target)


def _random(name: str, folder: Path, data: Path) -> None:
    file, trips = RANDOM[name]
    _copied(data / file, folder / "net.net.xml")
    run_script(
        "randomTrips.py", "-n", "net.net.xml", "-o", "trips.xml", "-b", "0", "-e", "3600", "-p",
        f"{3600.0 / trips:.5f}", "--validate", "--fringe-factor", "5", "--min-distance", "300",
        "--seed", "1", cwd=folder,
    )  # fmt: skip
    (folder / "more.add.xml").write_text("<additional/>\n")


def make_named(name: str, folder: Path, data: Path) -> dict[str, Any]:
    """Make a scenario's case in a folder, once; what it is, as it stands in `case.json`."""
    made = made_before(folder)
    if made is not None:
        return made
    if name in RESCO:
        _resco(name, folder)
    elif name in RANDOM:
        _random(name, folder, data)
    else:
        _with_demand(SCENARIOS[name], folder, data)
    due = [
        float(e.attrib["depart"])
        for e in ET.parse(folder / "trips.xml").getroot()
        if "depart" in e.attrib
    ]
    case: dict[str, Any] = {
        "seed": name, "kind": "named", "network": name, "trips": len(due), "bus_lines": 0,
        "begin": min(due), "duration": max(60.0, max(due) - min(due)), "longest": LATEST,
    }  # fmt: skip
    if (folder / "programs.add.xml").exists():
        case["programs"] = ["programs.add.xml"]
    _record_routes(folder, min(due))
    (folder / "case.json").write_text(json.dumps(case) + "\n")
    return case


def _record_routes(folder: Path, begin: float) -> None:
    """Write the routes that SUMO's vehicles drive, due when the trips are, to `routes.rou.xml`."""
    options = [
        "--net-file", "net.net.xml", "--route-files", "trips.xml", "--additional-files",
        ",".join(path.name for path in folder.glob("*.add.xml")), "--time-to-teleport", "-1", "--seed", "1", "--begin", f"{begin:g}", "--end",
        f"{begin + LATEST:g}", "--vehroute-output", "routes.rou.xml", "--vehroute-output.sorted",
        "--vehroute-output.intended-depart", "--vehroute-output.last-route",
        "--vehroute-output.write-unfinished", "--no-step-log", "--no-warnings",
        "--xml-validation", "never",
    ]  # fmt: skip
    done = subprocess.run(
        [sumo_binary(), *options], check=False, capture_output=True, text=True, cwd=folder
    )
    if done.returncode:
        raise NoCaseError(f"sumo: {(done.stderr.strip().splitlines() or ['failed'])[0]}")
    tree = ET.parse(folder / "routes.rou.xml")
    root = tree.getroot()
    given = ET.parse(folder / "trips.xml").getroot()
    kinds = {e.attrib["id"] for e in root if e.tag == "vType"}
    for place, kind in enumerate(e for e in given.iter("vType") if e.attrib["id"] not in kinds):
        root.insert(place, kind)
    asked = {e.attrib["id"]: e.attrib for e in given if "id" in e.attrib}
    for e in root.iter("vehicle"):
        # Only the way is kept: where, how fast and with which factor one set off is drawn again.
        for name in ("arrival", "fromTaz", "toTaz", "speedFactor", *DEPARTS):
            e.attrib.pop(name, None)
        e.attrib.update({n: v for n, v in asked.get(e.attrib["id"], {}).items() if n in DEPARTS})
    root[:] = [
        *(e for e in root if e.tag != "vehicle"),
        *sorted(root.iter("vehicle"), key=lambda e: float(e.attrib["depart"])),
    ]
    tree.write(folder / "routes.rou.xml")
