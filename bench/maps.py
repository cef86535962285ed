"""Seconds that every map of the data folder takes to import, to save and to load again.

python bench/maps.py [PART OF A NAME ...] [--data DIR] [--json FILE]

Each is imported in a fresh process with cached kernels, as `rushhour import` does, findings
included; a reload is the median of five. The cpu columns are what counts where other programs run.
"""

import argparse
import json
from pathlib import Path

from fresh import FreshProcessError, measure_fresh
from scenarios import DATA_HELP, data_base

from rushhour.traffic.profiling.conditions import condition_lines, conditions
from rushhour.traffic.profiling.text_tables import table

ENDINGS = (".net.xml.gz", ".osm.gz", ".pbf", "roadnet_4_4.json.gz", "link.csv", "link.csv.gz")
COLUMNS = ("roads", "lanes", "connectors", "intersections", "import_s", "import_cpu_s", "save_s",
           "reload_s", "reload_cpu_s", "file_mb", "memory_mb")  # fmt: skip


def maps_of(base: Path, parts: list[str]) -> dict[str, Path]:
    """Maps of the data folder by name; parts: only those that have one of them in theirs."""
    found = {}
    for path in sorted(base.glob("*/*")):
        if path.name.endswith(ENDINGS):
            is_folder = path.name.startswith("link.csv")
            name = path.parent.name if is_folder else f"{path.parent.name}/{path.name}"
            if not parts or any(part in name for part in parts):
                found[name] = path.parent if is_folder else path
    return found


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("maps", nargs="*", metavar="PART", help="part of the name of a map")
    parser.add_argument("--data", type=Path, help=DATA_HELP)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the same as data")
    options = parser.parse_args()
    try:
        found = maps_of(data_base(options.data), options.maps)
    except FileNotFoundError as error:
        parser.error(str(error))
    if not found:
        parser.error(f"no map of the data folder is called so: {', '.join(options.maps)}")
    told = conditions()
    print("\n".join([*condition_lines(told), ""]), flush=True)
    figures, rows = {}, []
    for name, path in found.items():
        try:
            figures[name] = measure_fresh("map_import.py", {"map": str(path), "scenario": name})
        except FreshProcessError as error:
            raise SystemExit(str(error)) from None
        rows.append([name, *(figures[name][column] for column in COLUMNS)])
        print(f"{name}: {figures[name]['import_s']:.1f} s", flush=True)
    heads = [column.replace("_", " ") for column in COLUMNS]
    print("\n".join(["", *table(["map", *heads], rows)]))
    if options.json:
        options.json.write_text(json.dumps({"conditions": told, "maps": figures}, indent=1) + "\n")


if __name__ == "__main__":
    main()
