"""Rows of the sweep for what makes, reads and tells files: networks, run files, tables, diagrams."""

import csv

import pytest
from swept_options import Row, Told

from rushhour.roadnets.generators import by_name
from rushhour.roadnets.loading import load_network

DEMO = "demo --vehicles 20 --duration 2s --out d1 --json"
OSM = "import map.osm --json -o m1.h5"
NET = "import lit.net.xml --json -o n1.h5"
GRID = "generate grid --rows 2 --columns 2 --json"
STATS = "replay run.h5 --stats --json"
CSV = "replay run.h5 --export csv -o x1.csv --json"
QUEUES = "queues run.h5 --json"
COMPARE = "compare a1.h5 a2.h5 --with b1.h5 b2.h5 --json"


def speed_of(t: Told, path: str) -> float:
    return float(load_network(t.folder / path).roads.speed.max())


def slowest(t: Told, path: str) -> float:
    return float(load_network(t.folder / path).roads.speed.min())


def rows_of(t: Told, path: str) -> list[dict[str, str]]:
    with (t.folder / path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def times_of(t: Told, path: str) -> tuple[float, float]:
    times = [
        float(next(v for k, v in row.items() if k.startswith("time"))) for row in rows_of(t, path)
    ]
    return min(times), max(times)


def column(t: Told, path: str, name: str) -> set[str]:
    return {row[name] for row in rows_of(t, path)}


DEMO_ROWS = {
    "--out": Row(DEMO, lambda t: t.drawn("d1/demo.png") and (t.folder / "d1/demo.h5").exists() and "</html>" in t.text("d1/demo.html"), "grid.h5", "grid.h5"),
    "--vehicles": Row(DEMO, lambda t: t.facts["vehicles"]["departed"] == 20, "0", "wanted 1 to"),
    "--duration": Row(DEMO, lambda t: t.facts["sim_s"] == 2.0, "long", "--duration 'long'"),
    "--seed": Row(f"{DEMO} --seed 2", lambda t: t.changed("state_hash"), "-1", "--seed"),
    "--threads": Row(f"{DEMO} --threads 1", lambda t: t.same("state_hash"), "0", "--threads 0: wanted 1 to 256"),
    "--json": Row(DEMO, lambda t: t.facts["frames"] == 20 and "network      town" in t.without().out),
}  # fmt: skip

IMPORT = {
    "map": Row(OSM, lambda t: t.facts["source"] == "OpenStreetMap", "import none.osm", "none.osm"),
    "--output": Row(OSM, lambda t: load_network(t.folder / "m1.h5").n_roads == t.facts["roads"], "m.xml", "ends in .h5"),
    "--programs": Row(f"{NET} --programs program.add.xml", lambda t: t.facts["findings"] != t.before["findings"], "none.xml", "none.xml"),
    "--picture": Row(f"{OSM} --picture m.png", lambda t: t.drawn("m.png"), "no/m.png", "m.png"),
    "--fixes": Row(f"{OSM} --fixes fixes.toml", lambda t: abs(slowest(t, "m1.h5") - 20 / 3.6) < 0.01 and t.changed("findings"), "none.toml", "none.toml"),
    "--dem": Row(f"{OSM} --dem slope.tif", lambda t: t.facts["steepest_percent"] > 1.0, "none.tif", "none.tif"),
    "--force": Row("import bad.h5 -o m2.h5 --json --force", lambda t: t.without().code == 2 and t.facts["findings"][0]["severity"] == "E"),
    "--set": Row(f"{NET} --set curve.lateral_acceleration=0.5", lambda t: t.same("roads"), "curve.lateral=1", "curve.lateral"),
    "--json": Row(OSM, lambda t: t.facts["kind"] == "network" and "roads" in t.without().out),
    "--bbox": Row(f"{OSM} --bbox 8.612,41.14,8.614,41.16", lambda t: t.facts["lane_km"] < t.before["lane_km"], "1,2", "--bbox 1,2: wanted"),
    "--polygon": Row(f"{OSM} --polygon area.wkt", lambda t: t.same("roads"), "none.wkt", "none.wkt"),
    "--service": Row(f"{OSM} --service yes", lambda t: t.facts["roads"] > t.before["roads"], "maybe", "maybe"),
    "--country": Row(f"{OSM} --country US", lambda t: t.facts["control"]["all_way_stop"] > t.before["control"]["all_way_stop"], "XYZ", "--country XYZ: wanted two letters"),
    "--default-speed": Row(f"{OSM} --default-speed tertiary=120 --default-speed residential=120", lambda t: speed_of(t, "m1.h5") > 30.0,
        "tertiary=x", "--default-speed tertiary=x: wanted CLASS=KMH"),
    "--private": Row(f"{OSM} --private", lambda t: t.facts["lane_km"] > t.before["lane_km"]),
}  # fmt: skip

GENERATE = {
    "name": Row(GRID, lambda t: t.facts["source"] == "grid 2 x 2", "generate gird", "generator 'gird': wanted one of"),
    "--output": Row(f"{GRID} -o g1.h5", lambda t: load_network(t.folder / "g1.h5").n_roads == t.facts["roads"], "g.xml", "ends in .h5"),
    "--picture": Row(f"{GRID} --picture g.png", lambda t: t.drawn("g.png"), "no/g.png", "g.png"),
    "--json": Row(GRID, lambda t: t.facts["kind"] == "network" and "signal 4" in t.without().out),
    "--help": Row("generate grid --help", lambda t: "--rows int" in t.out and "town" not in t.out),
}  # fmt: skip

# Another value of every option of a generator, besides choices and numbers that are doubled.
OTHERS = {
    "entries": "EN", "arms": "5", "cross arms": "ENW", "major": "NS", "turns": "RT", "lane-turns": "R,TL", "size": "small",
    "blocks": "6", "seed": "2", "legs": "3", "on-ramps": "2", "off-ramps": "2", "rows": "2", "columns": "2",
    "acceleration-lane": "300", "deceleration-lane": "150", "kerb": "6", "green": "40", "cycle": "100",
}  # fmt: skip
# Without these an option of a generator means nothing.
NEEDED = {
    "cross": {"left": "--control signals", "green": "--control signals", "cycle": "--control signals",
              "lane-turns": "--lanes 2", "major": "--control yield", "left lane": ""},
}  # fmt: skip


def generators() -> list[tuple[str, str, str, str]]:
    """Generator, option, another value of it, and what it needs besides."""
    found = []
    for name in by_name.GENERATORS:
        for option in by_name.options_of(name):
            words, default = option.name.replace("_", "-"), option.default
            choices = [one for one in option.choices if one != default]
            double = "" if isinstance(default, str | tuple) else f"{2 * default}"
            other = (
                choices[0]
                if choices
                else OTHERS.get(f"{name} {words}") or OTHERS.get(words, double)
            )
            found.append((name, words, other, NEEDED.get(name, {}).get(words, "")))
    return found


INFO = {
    "file": Row("info grid.h5 --json", lambda t: t.facts["kind"] == "network", "info none.h5", "none.h5: no such file"),
    "--lint": Row("info lit.net.xml --lint", lambda t: "L20" in t.out and "L20" not in t.without().out),
    "--json": Row("info run.h5 --json", lambda t: t.facts["frames"] == 41 and "41 every 1 s" in t.without().out),
}  # fmt: skip

PARAMETERS = {
    "--markdown": Row("parameters --markdown", lambda t: "| `car.time_gap` | s |" in t.out and "|" not in t.without().out[:200]),
    "--json": Row("parameters --json", lambda t: t.facts["car.time_gap"]["unit"] == "s"),
}  # fmt: skip

COMPILE = {
    "--threads": Row("compile --threads 1", lambda t: "kernels are compiled" in t.out, "0", "--threads 0: wanted 1 to 256"),
}  # fmt: skip

REPLAY = {
    "file": Row("replay run.h5 --json", lambda t: t.facts["frames"] == 41, "replay grid.h5", "grid.h5"),
    "--verify": Row("replay run.h5 --verify --json", lambda t: t.facts["same"] and t.facts["frames"] == 41),
    "--stats": Row(STATS, lambda t: t.facts["vehicles"] == 30 and t.facts["delay_s"]["all"] > 0.0),
    "--export": Row(CSV, lambda t: len(rows_of(t, "x1.csv")) == t.facts["rows"] > 100, "xls", "xls"),
    "--output": Row(CSV, lambda t: t.facts["written"] == "x1.csv", "no/x.csv", "x.csv"),
    "--from": Row(f"{CSV} --from 30s", lambda t: times_of(t, "x1.csv") == (30.0, 40.0), "noon", "--from 'noon'"),
    "--to": Row(f"{CSV} --to 10s", lambda t: times_of(t, "x1.csv") == (1.0, 10.0), "noon", "--to 'noon'"),
    "--roads": Row(f"{CSV} --roads 0.1-0.0:approach", lambda t: column(t, "x1.csv", "road") == {"0.1-0.0:approach"}, "nowhere", "nowhere"),
    "--vehicles": Row(f"{CSV} --vehicles 3", lambda t: column(t, "x1.csv", "vehicle") == {"3"}, "nobody", "nobody"),
    "--lonlat": Row("replay osm.h5 --export csv -o x2.csv --lonlat --json", lambda t: float(rows_of(t, "x2.csv")[0]["lon_deg"]) == pytest.approx(8.613, abs=0.01)),
    "--threads": Row(f"{STATS} --threads 1", lambda t: t.facts == t.before, "0", "--threads 0: wanted 1 to 256"),
    "--json": Row("replay run.h5 --json", lambda t: t.facts["complete"] and t.without().out.startswith("run  ")),
}  # fmt: skip

WHY = "why run.h5 --at 30s --road 0.1-0.0:approach --json"
WHY_ROWS = {
    "file": Row(WHY, lambda t: t.facts["chains"], WHY.replace("run.h5", "none.h5"), "none.h5"),
    "--at": Row(WHY, lambda t: t.facts["chains"][0]["time_s"] == 30.0, "noon", "--at 'noon'"),
    "--vehicle": Row("why run.h5 --at 30s --vehicle 3 --json", lambda t: len(t.facts["chains"]) == 1, "nobody", "nobody"),
    "--road": Row(WHY, lambda t: t.facts["chains"], "nowhere", "nowhere"),
    "--json": Row(WHY, lambda t: t.facts["chains"] and t.without().out.startswith("at 0:00:30:")),
}  # fmt: skip

QUEUES_ROWS = {
    "file": Row(QUEUES, lambda t: t.facts["queues"], "queues none.h5", "none.h5"),
    "--from": Row(f"{QUEUES} --from 20s", lambda t: min(q["begin"] for q in t.facts["queues"]) >= 20.0, "noon", "--from 'noon'"),
    "--until": Row(f"{QUEUES} --until 20s", lambda t: max(q["begin"] for q in t.facts["queues"]) <= 20.0 < max(q["begin"] for q in t.before["queues"]) + 10.0, "noon", "--until 'noon'"),
    "--road": Row(f"{QUEUES} --road 0.1-0.0:approach", lambda t: {q["road"] for q in t.facts["queues"]} == {"0.1-0.0:approach"}, "nowhere", "no road 'nowhere'"),
    "--top": Row(f"{QUEUES} --top 1", lambda t: t.facts["queues"] == t.before["queues"][:1], "0", "--top 0: wanted 1 or more"),
    "--least": Row(f"{QUEUES} --least 1", lambda t: len(t.facts["queues"]) > len(t.before["queues"]), "0", "--least 0: wanted 1 or more"),
    "--every": Row(f"{QUEUES} --every 1s", lambda t: t.facts["queues"] != t.before["queues"], "often", "--every 'often'"),
    "--json": Row(QUEUES, lambda t: t.facts["queues"][0]["cause"] == "red_light" and "red" in t.without().out),
}  # fmt: skip

DIFF = {
    "first": Row("diff a1.h5 a1.h5 --json", lambda t: t.facts["same"], "diff none.h5 a1.h5", "none.h5"),
    "second": Row("diff a1.h5 b1.h5 --json", lambda t: t.facts["made_otherwise"], "diff a1.h5 none.h5", "none.h5", code=1),
    "--threads": Row("diff a1.h5 b1.h5 --json --threads 1", lambda t: t.facts == t.before, "0", "--threads 0", code=1),
    "--json": Row("diff a1.h5 a1.h5 --json", lambda t: t.facts["same"] and "same" in t.without().out),
}  # fmt: skip

COMPARE_ROWS = {
    "first": Row(COMPARE, lambda t: t.facts["runs"] == [2, 2], COMPARE.replace("a1", "none"), "none.h5"),
    "--with": Row(COMPARE, lambda t: t.facts["seeds"] == [[1, 2], [1, 2]], "b1.h5 none.h5", "none.h5"),
    "--by": Row(f"{COMPARE} --by road", lambda t: t.facts["by"]["by_chance"] > 0.0 and "by" not in t.before, "car", "car"),
    "--threads": Row(f"{COMPARE} --threads 1", lambda t: t.facts == t.before, "0", "--threads 0"),
    "--json": Row(COMPARE, lambda t: t.facts["paired"] and "travel time" in t.without().out),
}  # fmt: skip

EXPORT = "export run.h5 --table trips --to t1.csv --json"
EXPORT_ROWS = {
    "file": Row(EXPORT, lambda t: t.facts["rows"] == 6, EXPORT.replace("run.h5", "none.h5"), "none.h5"),
    "--table": Row(EXPORT, lambda t: len(rows_of(t, "t1.csv")) == t.facts["rows"], "moods", "moods"),
    "--to": Row(EXPORT, lambda t: t.facts["written"] == "t1.csv", "t.xls", "t.xls"),
    "--json": Row(EXPORT, lambda t: t.facts["table"] == "trips" and "6 rows of trips" in t.without().out),
}  # fmt: skip

MERGE = "merge parted.h5 --to m1.h5 --json"
MERGE_ROWS = {
    "file": Row(MERGE, lambda t: t.facts["files"] == 2, MERGE.replace("parted.h5", "run.h5"), "is one file already"),
    "--to": Row(MERGE, lambda t: (t.folder / "m1.h5").stat().st_size == t.facts["bytes"], "m.csv", "m.csv"),
    "--json": Row(MERGE, lambda t: t.facts["written"] == "m1.h5" and "of 2 files" in t.without().out),
}  # fmt: skip

PLOT = "plot run.h5 time-space --road 0.1-0.0:approach -o s1.png --json"
PLOT_ROWS = {
    "file": Row(PLOT, lambda t: t.drawn("s1.png"), PLOT.replace("run.h5", "none.h5"), "none.h5"),
    "kind": Row(PLOT, lambda t: t.drawn("s1.png"), PLOT.replace("time-space", "space-time"), "space-time"),
    "--road": Row(PLOT, lambda t: t.drawn("s1.png"), "nowhere", "nowhere"),
    "--from": Row(f"{PLOT} --from 20s", lambda t: t.facts != t.before, "noon", "--from 'noon'"),
    "--until": Row(f"{PLOT} --until 20s", lambda t: t.facts != t.before, "noon", "--until 'noon'"),
    "--output": Row(PLOT, lambda t: t.facts["written"] == "s1.png", "no/s.png", "s.png"),
    "--json": Row(PLOT, lambda t: t.facts["written"] == "s1.png" and t.without().out.startswith("s1.png: ")),
}  # fmt: skip

REPORT = "report run.h5 -o page.html --json"
REPORT_ROWS = {
    "file": Row(REPORT, lambda t: "<html" in t.text("page.html"), REPORT.replace("run.h5", "none.h5"), "none.h5"),
    "--output": Row(REPORT, lambda t: t.facts["written"] == "page.html", "no/page.html", "page.html"),
    "--beside": Row(f"{REPORT} --beside run.h5", lambda t: "less than in run.h5" in t.text("page.html"), "none.h5", "none.h5"),
    "--json": Row(REPORT, lambda t: t.facts["written"] == "page.html" and "page.html" in t.without().out),
}  # fmt: skip

COUNTS = "counts run.h5 counts.csv --json"
COUNTS_ROWS = {
    "runs": Row(COUNTS, lambda t: t.facts["counts"] == 4, COUNTS.replace("run.h5", "none.h5"), "none.h5"),
    "counts": Row(COUNTS, lambda t: t.facts["counters"] == 2, COUNTS.replace("counts.csv", "none.csv"), "none.csv"),
    "--at": Row(f"{COUNTS} --at mean", lambda t: t.facts["figures"]["all"]["simulated_vehicles"] != t.before["figures"]["all"]["simulated_vehicles"], "lane", "lane"),
    "--by": Row(f"{COUNTS} --by 40s", lambda t: t.facts["counts"] == 2, "often", "--by 'often'"),
    "--from": Row(f"{COUNTS} --from 20s", lambda t: t.facts["counts"] == 2, "noon", "--from 'noon'"),
    "--until": Row(f"{COUNTS} --until 20s", lambda t: t.facts["counts"] == 2, "noon", "--until 'noon'"),
    "--limit": Row(f"{COUNTS} --limit geh5=100", lambda t: not t.facts["met"] and t.facts["limits"][0]["at_least"] == 100, "geh6=1", "--limit 'geh6=1': wanted tag", code=1),
    "--table": Row(f"{COUNTS} --table c1.csv", lambda t: len(rows_of(t, "c1.csv")) == 4, "no/c.csv", "c.csv"),
    "--scatter": Row(f"{COUNTS} --scatter c1.png", lambda t: t.drawn("c1.png"), "c.txt", "c.txt"),
    "--map": Row(f"{COUNTS} --map c2.png", lambda t: t.drawn("c2.png"), "c.txt", "c.txt"),
    "--json": Row(COUNTS, lambda t: t.facts["met"] and "the largest GEH" in t.without().out),
}  # fmt: skip

STUDY = "study study.toml -o st1 --workers 0 --json"
STUDY_ROWS = {
    "file": Row(STUDY, lambda t: t.facts["runs"] == 2, STUDY.replace("study.toml", "none.toml"), "none.toml"),
    "--output": Row(STUDY, lambda t: (t.folder / "st1/report.html").exists(), "grid.h5", "grid.h5: cannot be a folder"),
    "--seeds": Row(f"{STUDY} --seeds 1..2", lambda t: t.facts["runs"] == 4, "x", "--seeds 'x'"),
    "--on": Row(f"{STUDY} --on local", lambda t: t.facts["runs"] == 2, "moon", "--on 'moon': wanted local"),
    "--workers": Row(STUDY, lambda t: t.facts["runs"] == 2, "-1", "--workers -1: wanted 0"),
    "--retries": Row(f"{STUDY} --retries 0", lambda t: t.facts["failed"] == [], "-1", "--retries -1: wanted 0 to 100"),
    "--dry-run": Row("study study.toml -o st2 --dry-run --json", lambda t: t.facts["missing"] == 2 and not (t.folder / "st2").exists()),
    "--json": Row(STUDY, lambda t: t.facts["figures"] and "against base" in t.without().out),
}  # fmt: skip
