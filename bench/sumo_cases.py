"""Networks that nobody drew, with demand that SUMO can empty: made by seed with SUMO's own tools.

A case is a folder: `net.net.xml`, `trips.xml` (origins and destinations), `routes.rou.xml` (the same
with duarouter's routes), `more.add.xml` (vehicle types, bus stops) and `case.json`. Networks come
from netgenerate (grids, spiders, random ones) and from netconvert on windows of OpenStreetMap
extracts; a third has bus lines with stops. Demand is a share, 30 to 95 %, of the most that SUMO
without teleports was seen to empty.
"""

import gzip
import json
import random
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, Final

from sumo_options import sumo_binary
from sumo_trips import trip_means

DURATION: Final = 1200.0  # s within which all depart
LONGEST: Final = 3.0  # times that, after which a run of SUMO counts as one that does not empty
LEAST_TRIPS: Final = 20
FEWER: Final = 0.8  # times as many where SUMO does not empty
MOST_TRIPS: Final = 6000  # drawn for a case
TRIPS_BY_ROAD: Final = 12  # likewise
EXTRACTS: Final = {  # file, and the middles of windows are drawn within this share of its extent
    "porto": ("osm_porto/porto_portugal.osm.gz", 0.7),
    "krems": ("osm_krems/krems.osm.gz", 0.3),
    "columbus": ("osm_columbus/columbus.osm.gz", 0.6),
}
CONTROLS: Final = ("traffic_light", "traffic_light", "priority", "allway_stop", "right_before_left")
TYPES: Final = '<vType id="bus" vClass="bus" length="12" accel="1.2" maxSpeed="22.2"/>'
TOWN: Final = (
    "--geometry.remove", "--ramps.guess", "--junctions.join", "--tls.guess-signals",
    "--tls.discard-simple", "--tls.join", "--tls.default-type", "actuated",
    "--keep-edges.by-vclass", "passenger", "--remove-edges.isolated",
)  # fmt: skip

CURRENT: Final = (  # ways by current travel times
    "--device.rerouting.probability", "1", "--device.rerouting.period", "60",
    "--ignore-route-errors",
)  # fmt: skip


class NoCaseError(Exception):
    """A seed that gives no network with enough roads."""


def made_before(folder: Path) -> dict[str, Any] | None:
    """What a case is that was made in a folder; None where it was not, and the folder is empty then."""
    told = folder / "case.json"
    if told.exists():
        found: dict[str, Any] = json.loads(told.read_text())
        return found
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return None


def make_case(seed: int, folder: Path, data: Path) -> dict[str, Any]:
    """Make the case of a seed in a folder, once; what it is, as it stands in `case.json`.

    Raises NoCaseError where the seed gives nothing to drive on.
    """
    made = made_before(folder)
    if made is not None:
        return made
    draw = random.Random(f"against_sumo {seed}")
    kind = draw.choice(("grid", "spider", "random", "random", "town", "town"))
    make = {"grid": _grid, "spider": _spider, "random": _random, "town": _town}[kind]
    what = make(draw, folder, data)
    buses = draw.random() < 1 / 3
    share = draw.uniform(0.30, 0.95)
    pool = _pool(folder, seed)
    most = _most_trips(folder, seed, pool, draw)
    count = max(LEAST_TRIPS, round(share * most))
    while True:
        _trips(folder, count, draw)
        (folder / "more.add.xml").write_text("<additional/>\n")
        lines = _bus_lines(draw, folder) if buses else 0
        if run_sumo(folder, seed)["empties"]:
            break
        # It locks with its buses, or with these of the trips, though it emptied of more.
        count = round(FEWER * count)
        share = count / most
        if count < LEAST_TRIPS:
            raise NoCaseError("SUMO empties not even few of its trips")
    case = {
        "seed": seed, "kind": kind, "network": what, "trips": count, "share": round(share, 3),
        "bus_lines": lines,
    }  # fmt: skip
    (folder / "case.json").write_text(json.dumps(case) + "\n")
    return case


def _tool(name: str, *options: str, cwd: Path) -> None:
    """Run a program of SUMO's."""
    binary = Path(sumo_binary()).with_name(name)
    done = subprocess.run(
        [str(binary), *options, "--no-warnings"], check=False, capture_output=True, text=True,
        cwd=cwd,
    )  # fmt: skip
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("Error")]
        raise NoCaseError(f"{name}: {(said or ['failed'])[0]}")


def run_script(name: str, *options: str, cwd: Path) -> None:
    """Run one of the scripts that come with SUMO."""
    tools = Path(sumo_binary()).parents[1] / "tools"
    done = subprocess.run(
        [sys.executable, str(tools / name), *options], check=False, capture_output=True, text=True,
        cwd=cwd, env={"SUMO_HOME": str(tools.parent), "PATH": str(Path(sumo_binary()).parent)},
    )  # fmt: skip
    if done.returncode:
        raise NoCaseError(f"{name}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")


def _common(draw: random.Random) -> tuple[list[str], str]:
    """Options of netgenerate that every kind of network takes, and words for them."""
    control = draw.choice(CONTROLS)
    lanes = draw.choice((1, 1, 2, 2, 3))
    options = ["--default-junction-type", control, "--default.lanenumber", str(lanes)]
    words = f"{control}, {lanes} lanes"
    if control == "traffic_light":
        program = draw.choice(("static", "actuated"))
        options += ["--tls.default-type", program]
        words += f", {program}"
    if draw.random() < 0.4:
        length = draw.choice((15, 30, 60))
        options += ["--turn-lanes", "1", "--turn-lanes.length", str(length)]
        words += f", turn lanes of {length} m"
    options += [
        "--seed",
        str(draw.randrange(10**6)),
        "--no-turnarounds",
        "--output-file",
        "net.net.xml",
    ]
    return options, words


def _grid(draw: random.Random, folder: Path, data: Path) -> str:
    options, words = _common(draw)
    n, length = draw.randint(3, 7), draw.choice((35, 60, 90, 150, 220))
    ends = draw.choice((0, length))
    _tool(
        "netgenerate", "--grid", "--grid.number", str(n), "--grid.length", str(length),
        "--grid.attach-length", str(ends), *options, cwd=folder,
    )  # fmt: skip
    return f"grid of {n} x {n}, {length} m, {words}"


def _spider(draw: random.Random, folder: Path, data: Path) -> str:
    options, words = _common(draw)
    arms, circles, radius = draw.randint(4, 9), draw.randint(2, 6), draw.choice((40, 70, 110))
    _tool(
        "netgenerate", "--spider", "--spider.arm-number", str(arms), "--spider.circle-number",
        str(circles), "--spider.space-radius", str(radius), *options, cwd=folder,
    )  # fmt: skip
    return f"spider of {arms} arms, {circles} circles, {radius} m, {words}"


def _random(draw: random.Random, folder: Path, data: Path) -> str:
    options, words = _common(draw)
    steps, shortest = draw.choice((40, 80, 160, 300)), draw.choice((20, 40, 80))
    _tool(
        "netgenerate", "--rand", "--rand.iterations", str(steps), "--rand.min-distance",
        str(shortest), "--rand.max-distance", str(shortest * 3), "--rand.bidi-probability",
        draw.choice(("1", "1", "0.8")), *options, cwd=folder,
    )  # fmt: skip
    return f"random, {steps} steps, {shortest} to {3 * shortest} m, {words}"


def _town(draw: random.Random, folder: Path, data: Path) -> str:
    name = draw.choice(tuple(EXTRACTS))
    file, spread = EXTRACTS[name]
    west, south, east, north = _extent(data / file)
    half = draw.choice((450.0, 700.0, 1100.0))
    x = 0.5 * (west + east) + (draw.random() - 0.5) * spread * (east - west)
    y = 0.5 * (south + north) + (draw.random() - 0.5) * spread * (north - south)
    dx, dy = half / 85_000.0, half / 111_000.0  # m by degree, roughly: a window, not a survey
    box = f"{x - dx:.5f},{y - dy:.5f},{x + dx:.5f},{y + dy:.5f}"
    _convert(folder, data / file, box)
    if len(_roads(folder)) < 30:
        raise NoCaseError(f"{name} {box}: fewer than 30 roads")
    return f"{name}, window {box}"


def _convert(folder: Path, extract: Path, box: str) -> None:
    """netconvert's network of a window, west,south,east,north in degrees, of an extract (.osm.gz)."""
    plain = folder / "map.osm"
    with gzip.open(extract, "rb") as source, plain.open("wb") as target:
        shutil.copyfileobj(source, target)
    try:
        _tool(
            "netconvert", "--osm-files", plain.name, "--keep-edges.in-geo-boundary", box, *TOWN,
            "--output-file", "net.net.xml", cwd=folder,
        )  # fmt: skip
    finally:
        plain.unlink()


def arrived_in_window(
    folder: Path, extract: Path, box: str, trips: int, over: float, seed: int
) -> int:
    """How many of so many random trips arrive in SUMO within `over` s, in which they also depart.

    Without teleports; each driver chooses its way at departure and each minute by current travel times.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _convert(folder, extract, box)
    run_script(
        "randomTrips.py", "-n", "net.net.xml", "-o", "trips.xml", "-b", "0", "-e", f"{over:g}", "-p",
        f"{over / trips:.6f}", "--min-distance", "0", "-r", "routes.rou.xml", "--validate", "--seed",
        str(seed), cwd=folder,
    )  # fmt: skip
    (folder / "more.add.xml").write_text("<additional/>\n")
    return int(run_sumo(folder, seed, file="trips.xml", longest=over, more=CURRENT)["arrived"])


def _extent(path: Path) -> tuple[float, float, float, float]:
    """West, south, east, north of an extract, from its `bounds`, else its first nodes."""
    xs: list[float] = []
    ys: list[float] = []
    with gzip.open(path, "rb") as file:
        for _, element in ET.iterparse(file):
            if element.tag == "bounds":
                a = element.attrib
                west, south = float(a["minlon"]), float(a["minlat"])
                return west, south, float(a["maxlon"]), float(a["maxlat"])
            if element.tag == "node":
                xs.append(float(element.attrib["lon"]))
                ys.append(float(element.attrib["lat"]))
                element.clear()
            elif element.tag == "way":
                break
    return min(xs), min(ys), max(xs), max(ys)


def _roads(folder: Path) -> list[str]:
    root = ET.parse(folder / "net.net.xml").getroot()
    return [e.attrib["id"] for e in root.iter("edge") if e.get("function", "normal") == "normal"]


def _pool(folder: Path, seed: int) -> int:
    """Random trips with duarouter's routes, those that nobody can drive left out; how many."""
    meant = min(MOST_TRIPS, TRIPS_BY_ROAD * len(_roads(folder)))
    run_script(
        "randomTrips.py", "-n", "net.net.xml", "-o", "pool.trips.xml", "-r", "pool.rou.xml",
        "-b", "0", "-e", f"{DURATION:g}", "-p", f"{DURATION / meant:.5f}", "--validate",
        "--fringe-factor", "5", "--min-distance", "150", "--seed", str(seed), "--remove-loops",
        cwd=folder,
    )  # fmt: skip
    for extra in folder.glob("*.alt.xml"):
        extra.unlink()
    return sum(1 for _ in ET.parse(folder / "pool.rou.xml").getroot().iter("vehicle"))


def _trips(folder: Path, count: int, draw: random.Random) -> None:
    """Write so many of the pool's trips, with and without routes."""
    routed = ET.parse(folder / "pool.rou.xml")
    ids = sorted(e.attrib["id"] for e in routed.getroot().iter("vehicle"))
    chosen = set(draw.sample(ids, count))
    for source, target in (("pool.rou.xml", "routes.rou.xml"), ("pool.trips.xml", "trips.xml")):
        tree = ET.parse(folder / source)
        top = tree.getroot()
        for element in list(top):
            if element.tag in ("vehicle", "trip") and element.attrib["id"] not in chosen:
                top.remove(element)
        tree.write(folder / target)


def _most_trips(folder: Path, seed: int, pool: int, draw: random.Random) -> int:
    """The most random trips of a row, each 1.6 times the one before, that SUMO still empties."""
    (folder / "more.add.xml").write_text("<additional/>\n")
    count, most = min(pool, max(40, len(_roads(folder)) // 2)), 0
    while True:
        _trips(folder, count, draw)
        if not run_sumo(folder, seed)["empties"]:
            break
        most = count
        if count == pool:
            break
        count = min(pool, round(1.6 * count))
    if most == 0:
        raise NoCaseError("SUMO empties not even the least demand")
    return most


def run_sumo(
    folder: Path, seed: int, step: float = 1.0, file: str = "routes.rou.xml", begin: float = 0.0,
    longest: float = LONGEST * DURATION, more: tuple[str, ...] = (),
) -> dict[str, Any]:  # fmt: skip
    """SUMO without teleports on the demand of a case: means over trips, flows by road.

    begin, longest: when it begins and for how long it may run, s. more: further options.
    """
    asked = folder / "asked.add.xml"
    asked.write_text('<additional><edgeData id="all" file="roads.xml"/></additional>\n')
    options = [
        "--net-file", "net.net.xml", "--route-files", file, "--additional-files",
        ",".join(path.name for path in folder.glob("*.add.xml")), "--time-to-teleport", "-1", "--seed", str(seed),
        "--step-length", f"{step:g}", "--begin", f"{begin:g}", "--end", f"{begin + longest:g}", "--tripinfo-output", "tripinfo.xml",
        "--no-step-log", "--no-warnings", "--xml-validation", "never", *more,
    ]  # fmt: skip
    done = subprocess.run(
        [sumo_binary(), *options], check=False, capture_output=True, text=True, cwd=folder
    )
    if done.returncode:
        raise NoCaseError(f"sumo: {(done.stderr.strip().splitlines() or ['failed'])[0]}")
    demand = ET.parse(folder / file).getroot()
    meant = sum(1 for e in demand if e.tag in ("vehicle", "trip"))
    means = trip_means(folder / "tripinfo.xml")
    return {"meant": meant, "empties": means["arrived"] == meant, **means}


def _bus_lines(draw: random.Random, folder: Path) -> int:
    """Buses every two to five minutes on a few of the longest routes, with stops by the way."""
    root = ET.parse(folder / "routes.rou.xml").getroot()
    routes = sorted(
        {e.attrib["edges"] for e in root.iter("route")}, key=lambda r: (-len(r.split()), r)
    )
    lengths = {
        lane.attrib["id"]: float(lane.attrib["length"])
        for lane in ET.parse(folder / "net.net.xml").getroot().iter("lane")
    }
    stops: dict[str, str] = {}
    buses: list[tuple[float, str]] = []
    lines = draw.sample(routes[:10], min(len(routes), draw.randint(1, 4)))
    for number, route in enumerate(lines):
        served = []
        for road in route.split()[1:-1:2]:
            lane = f"{road}_0"
            if lengths.get(lane, 0.0) < 45.0:
                continue
            stop = f"stop_{lane}"
            end = lengths[lane] - 12.0
            stops[stop] = (
                f'<busStop id="{stop}" lane="{lane}" startPos="{end - 20.0:.1f}" '
                f'endPos="{end:.1f}"/>'
            )
            served.append(f'<stop busStop="{stop}" duration="{draw.choice((10, 20, 30))}"/>')
        every, depart = draw.choice((120.0, 200.0, 300.0)), draw.uniform(0.0, 60.0)
        run = 0
        while depart < DURATION:
            text = f'<vehicle id="bus_{number}_{run}" type="bus" depart="{depart:.2f}" departLane="best">'
            buses.append((depart, f'{text}<route edges="{route}"/>{"".join(served)}</vehicle>'))
            depart, run = depart + every, run + 1
    more = "\n".join([TYPES, *stops.values()])
    (folder / "more.add.xml").write_text(f"<additional>\n{more}\n</additional>\n")
    for name in ("routes.rou.xml", "trips.xml"):
        tree = ET.parse(folder / name)
        top = tree.getroot()
        cars = [(float(e.attrib["depart"]), e) for e in top if e.tag in ("vehicle", "trip")]
        cars += [(depart, ET.fromstring(text)) for depart, text in buses]
        for element in list(top):
            if element.tag in ("vehicle", "trip"):
                top.remove(element)
        top.extend(element for _, element in sorted(cars, key=lambda pair: pair[0]))
        tree.write(folder / name)
    return len(lines)
