"""What the sweep of all options is made of: rows, small files to try them on, and what a command told."""

import json
import shlex
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from driven_drives import slow_drive
from gmns_texts import NODES, replaced, written
from mpi_ranks import on_ranks
from osm_texts import CROSS, CROSS_WAYS, osm_text
from rasterio.transform import from_origin
from street_worlds import high_street
from sumo_texts import at_lights, crossing, signals
from terrain_files import write_slope

from rushhour.cli import main
from rushhour.roadnets.findings import finding
from rushhour.roadnets.storage import load, save

PNG = b"\x89PNG"


@dataclass(frozen=True)
class Told:
    """What a command came to, and what it comes to without the option."""

    code: int
    out: str
    err: str
    folder: Path
    without: Callable[[], "Told"] = field(repr=False)

    @property
    def facts(self) -> Any:
        """The JSON object that it printed."""
        return json.loads(self.out)

    @property
    def before(self) -> Any:
        """The JSON object of the same command without the option."""
        return self.without().facts

    def changed(self, *names: str) -> bool:
        """Whether facts are others than without the option; a.b: b of a."""
        return all(_of(self.facts, name) != _of(self.before, name) for name in names)

    def same(self, *names: str) -> bool:
        """Whether facts are those without the option."""
        return all(_of(self.facts, name) == _of(self.before, name) for name in names)

    def text(self, name: str) -> str:
        """A file that was written."""
        return (self.folder / name).read_text(encoding="utf-8")

    def drawn(self, name: str) -> bytes:
        """A picture that was written."""
        data = (self.folder / name).read_bytes()
        assert data.startswith(PNG) and len(data) > 100
        return data

    def size(self, name: str) -> tuple[int, int]:
        """Pixels of a picture that was written."""
        data = self.drawn(name)
        return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


@dataclass(frozen=True)
class Row:
    """One option (or argument): a line that has it, what must come of it, and a wrong value.

    wrong: words in place of its own; the line then ends with exit code 2 and one line of error, which
    has `says`. code: -1 is 0 or 1, as the machine is. The wrong one of an argument is a whole line.
    """

    line: str
    claim: Callable[[Told], object]
    wrong: str | None = None
    says: str = ""
    code: int = 0


def _of(facts: Any, name: str) -> Any:
    for part in name.split("."):
        facts = facts[part]
    return facts


def words_without(words: list[str], option: str, values: int) -> list[str]:
    """A line without every use of an option and its values."""
    kept = list(words)
    while option in kept:
        at = kept.index(option)
        del kept[at : at + 1 + values]
    return kept


def words_with(words: list[str], option: str, values: int, wrong: str) -> list[str]:
    """A line with other values of an option."""
    at = words.index(option)
    return [*words[: at + 1], *shlex.split(wrong), *words[at + 1 + values :]]


def homes_text() -> str:
    """A map of a crossing with a house and a shop."""
    corners, houses = {}, []
    for k, (x, tags) in enumerate(
        ((150.0, {"building": "house"}), (-150.0, {"building": "retail"}))
    ):
        refs = [200 + 4 * k + i for i in range(4)]
        square = ((0.0, 15.0), (20.0, 15.0), (20.0, 35.0), (0.0, 35.0))
        corners.update({ref: (x + dx, y) for ref, (dx, y) in zip(refs, square, strict=True)})
        houses.append((300 + k, [*refs, refs[0]], tags))
    return osm_text({**CROSS, **corners}, [*CROSS_WAYS, *houses], origin=(8.615, 41.15))


def zone_text(people: int) -> str:
    """A zone of so many people around the map of `homes_text`."""
    ring = [[8.5, 41.1], [8.7, 41.1], [8.7, 41.2], [8.5, 41.2], [8.5, 41.1]]
    shape = {"type": "Polygon", "coordinates": [ring]}
    zone = {"type": "Feature", "properties": {"zone": "a", "population": people}, "geometry": shape}
    return json.dumps({"type": "FeatureCollection", "features": [zone]})


def small_files(folder: Path) -> None:
    """Networks, demand, runs, races and other files of a few kilobytes in the current folder."""
    lit = crossing("traffic_light", more=at_lights(), extra=signals(["GrGr", "rGrG"]))
    outer, inner = ([[x * a, y * b] for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
                    for a, b in ((60, 36), (42, 18)))  # fmt: skip
    angle = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False)
    line = np.column_stack((90.0 * np.cos(angle), 60.0 * np.sin(angle)))
    service = {"highway": "service"}
    more = [(91, [2, 91], service), (92, [3, 92], {"highway": "residential", "access": "private"})]
    nodes = {**CROSS, 91: (30.0, 30.0), 92: (30.0, -30.0)}
    texts = {
        "lit.net.xml": lit,
        "program.add.xml": f"<additional>{signals(['GGGG', 'rrrr'])}</additional>",
        "map.osm": osm_text(nodes, [*CROSS_WAYS, *more], origin=(8.615, 41.15)),
        "lit.rou.xml": '<routes><vehicle id="a" depart="0"><route edges="s_in n_out"/></vehicle>'
        "</routes>",
        "lit.sumocfg": '<configuration><net-file value="lit.net.xml"/><route-files value="lit.rou.xml"/>'
        '<lateral-resolution value="0.8"/></configuration>',
        "trips.csv": "id,depart,origin,destination\na,0,0.0-0.1,1.1-1.0\nb,5,0.0-0.1,1.1-1.0\n",
        "bad.csv": "id,depart,origin,destination\na,0,0.0-0.1,1.1-1.0\nb,5,nowhere,1.1-1.0\n",
        "counts.csv": "road,begin,end,count\n"
        + "".join(
            f"{road},{b},{b + 20},{n}\n"
            for road in ("0.0-0.1", "0.1-0.0:approach")
            for b, n in ((0, 900), (20, 2))
        ),
        "base.toml": 'network = "grid.h5"\n[demand]\ntrips = 10\nover = "10s"\n[times]\nduration = "20s"\ndt = 0.5\n',
        "study.toml": 'base = "base.toml"\nseeds = "1"\n[variants.more]\nscale = 1.5\n',
        "counts2.csv": "road,begin,end,count\ns_in,0,60,2\n",
        "counts3.csv": "road,begin,end,count\nbc,0,86400,20\ncb,0,86400,5\n",
        "counts4.csv": "road,begin,end,count\n-10#0,0,86400,15\n-10#1,0,86400,1\n",
        "homes.osm": homes_text(),
        "homes.geojson": zone_text(77),
        "more.toml": '[parameters]\n"car.time_gap" = 1.7\n',
        "fixes.toml": 'speed."10" = 20\n',
        "ids.txt": "0\n",
        "area.wkt": "POLYGON((8.5 41.1, 8.7 41.1, 8.7 41.2, 8.5 41.2, 8.5 41.1))",
        "field.json": json.dumps({"outer": outer, "inner": inner}),
        "track.csv": "# x_m,y_m,w_tr_right_m,w_tr_left_m\n"
        + "".join(f"{x:.3f},{y:.3f},6.0,6.0\n" for x, y in line),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    slow_drive(folder / "track.csv", folder / "drive.h5")
    degrees = from_origin(8.5, 41.3, 0.001, 0.001)
    write_slope(
        folder / "slope.tif", "EPSG:4326", degrees, (300, 300), lambda x, y: 4000.0 * (x - 8.5)
    )
    written(folder / "region", demand="o_zone_id,d_zone_id,volume\n1,3,30\n4,1,10\n")
    written(folder / "crossroads", replaced(NODES, "500,2,", "500,2,signal"),
            demand="o_zone_id,d_zone_id,volume\n1,3,90\n4,1,60\n")  # fmt: skip
    with h5py.File(folder / "day.omx", "w") as file:
        for name, trips in (("am", 30), ("pm", 50)):
            file[f"data/{name}"] = np.zeros((4, 4))
            file[f"data/{name}"][0, 2] = trips
    grid = "generate grid --rows 2 --columns 2"
    drive = "run grid.h5 --vehicles 30 --duration 40s --dt 0.5"
    measures = ("--measure 10s --loop 0.0-0.1_0 20 --section 0.0-0.1 0.0-0.1 --queue all "
                "--quota routing=1")  # fmt: skip
    for line_ in (
        f"{grid} -o grid.h5", f"{grid} --control all_way_stop -o stops.h5",
        f"{grid.replace('rows 2', 'rows 1')} -o pair.h5",
        f"{drive} --seed 1 --record run.h5 {measures}", f"{drive} --seed 1 --record a1.h5",
        *(f"{drive} --seed {seed} --set car.time_gap=2 --record b{seed}.h5" for seed in (1, 2)),
        f"{drive} --seed 2 --record a2.h5", "run map.osm --vehicles 3 --duration 3s --record osm.h5",
        "race track.csv --cars 2 --laps 1 --record race.h5",
        "racepaths field.json --save-costs costs.png",
    ):  # fmt: skip
        assert main(shlex.split(line_)) == 0, line_
    on_ranks(2, "-m", "rushhour", "run", folder / "grid.h5", *shlex.split(drive)[2:], "--record",
             folder / "parted.h5")  # fmt: skip
    bad = replace(load(folder / "grid.h5"), findings=(finding("L19", "greens"),))
    save(bad, folder / "bad.h5")
    save(high_street(), folder / "streets.h5")
    with (folder / "old.json").open("w") as file, redirect_stdout(file):
        assert (
            main(shlex.split("profile grid.h5 --vehicles 20 --frames 4 --warm-up 1s --json")) == 0
        )
