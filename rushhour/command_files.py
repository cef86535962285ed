"""`rushhour import`, `rushhour generate` and `rushhour info`."""

import argparse
import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rushhour.command_quotas import quotas_of_run, quotas_text
from rushhour.outputs import H5, want_output
from rushhour.progress import compile_bar
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.json_text import json_text
from rushhour.roadnets.reading.remarks import differences, in_order, shown
from rushhour.traffic.durations import clock
from rushhour.traffic.plurals import counted

if TYPE_CHECKING:
    from rushhour.roadnets.model import Network
    from rushhour.roadnets.osm.network import OsmOptions

REMARKS_SHOWN = 12


def import_map(args: argparse.Namespace) -> int:
    """Read a map, save it in our own format and report what was found in it."""
    from rushhour.roadnets.fixes import read_fixes
    from rushhour.roadnets.importing import import_network, refuse_errors
    from rushhour.roadnets.storage import save
    from rushhour.traffic.parameters import Parameters

    parameters = Parameters.from_items(args.parameters)
    output = args.output or Path(_stem(args.map) + ".h5")
    want_output(args, output, "-o", H5)
    sumo = args.map.name.lower().endswith((".net.xml", ".net.xml.gz")) and args.map.is_file()
    if not sumo and (args.programs or args.parameters):
        raise NetworkError(f"{args.map}: --programs and --set want a .net.xml map")
    lateral = "curve.lateral_acceleration"
    with compile_bar():
        network = import_network(
            args.map, osm_options(args), args.programs,
            read_fixes(args.fixes) if args.fixes else None,
            parameters.number(lateral) if parameters.given(lateral) else None,
            args.dem,
        )  # fmt: skip
        if not args.force:
            refuse_errors(network, args.map)
        save(network, output)
        _draw(network, args.picture, marks=True)
    _show(network, args.json, output)
    return 0


def osm_options(args: argparse.Namespace) -> "OsmOptions":
    """How an OpenStreetMap file is to be read. Raises NetworkError for an option that is not right."""
    from rushhour.roadnets.osm.network import OsmOptions
    from rushhour.roadnets.osm.ways.legal import place_of
    from rushhour.roadnets.osm.ways.tags import CLASSES

    box: tuple[float, float, float, float] | None = None
    if args.bbox is not None:
        try:
            west, south, east, north = (float(part) for part in args.bbox.split(","))
        except ValueError:
            west = south = east = north = 0.0
        if not (-180.0 <= west < east <= 180.0 and -90.0 <= south < north <= 90.0):
            raise NetworkError(
                f"--bbox {args.bbox}: wanted west,south,east,north in degrees, "
                "such as -8.65,41.13,-8.58,41.18"
            )
        box = (west, south, east, north)
    speeds: dict[str, float] = {}
    for item in args.default_speed:
        name, _, value = item.partition("=")
        try:
            speeds[name] = float(value)
        except ValueError:
            speeds[name] = 0.0
        if name not in CLASSES or not 5.0 <= speeds[name] <= 160.0:
            raise NetworkError(
                f"--default-speed {item}: wanted CLASS=KMH, one of {', '.join(CLASSES)}, "
                "and 5 to 160"
            )
    country = place_of(args.country, "--country") if args.country else ""
    return OsmOptions(args.service, country, args.private, box, speeds, args.polygon)


def generate_map(args: argparse.Namespace) -> int:
    """Make a network, or list the generators."""
    from rushhour.roadnets.generators import by_name

    if args.wants_help or args.name is None:
        names = [args.name] if args.name else list(by_name.GENERATORS)
        print("usage: rushhour generate NAME [--option VALUE ...] [-o FILE.h5] [--picture FILE]")
        for name in names:
            print(f"\n{name}")
            for option in by_name.options_of(name):
                kind = "|".join(option.choices) or option.kind.__name__
                text = f"  --{option.name.replace('_', '-')} {kind}"
                print(f"{text:<44} {option.help} (default: {option.default})")
        return 0
    options = _named_values(args.options)
    with compile_bar():
        network = by_name.generate(args.name, **options)
        if args.output is not None:
            from rushhour.roadnets.storage import save

            save(network, args.output)
        _draw(network, args.picture)
    _show(network, args.json, args.output)
    return 0


def info(args: argparse.Namespace) -> int:
    """Say what is in a file."""
    path: Path = args.file
    name = path.name.lower()
    is_run = False
    if name.endswith((".h5", ".hdf5")) and path.is_file():
        from rushhour.traffic.recording.recorder import is_run_file

        is_run = is_run_file(path)
    if args.lint:
        if is_run:
            raise NetworkError(f"{path}: a run; --lint is for networks: give its network's file")
        from rushhour.roadnets.importing import import_network

        with compile_bar():
            _show(import_network(path), args.json, None)
        return 0
    if is_run:
        facts = run_facts(path)
        print(json_text(facts) if args.json else run_text(facts, path))
        return 0
    kinds = (".net.xml", ".net.xml.gz", ".sumocfg")
    if name.endswith((".xml", ".xml.gz")) and not name.endswith(kinds):
        facts = demand_facts(path)
        print(json_text(facts) if args.json else as_text(facts))
        return 0
    from rushhour.roadnets.graphs.tables import is_graph_folder
    from rushhour.roadnets.loading import is_gmns, load_network
    from rushhour.traffic.demand.matrix_files import OMX, VISUM, is_matrix

    if name.endswith((*OMX, *VISUM, ".csv", ".csv.gz", ".parquet")) and not (
        is_gmns(path) or is_graph_folder(path)
    ):
        from rushhour.traffic.demand.matrix import matrix_facts
        from rushhour.traffic.demand.tables import trip_facts

        facts = matrix_facts(path) if is_matrix(path) else trip_facts(path)
        print(json_text(facts) if args.json else as_text(facts))
        return 0
    if name.endswith((".json", ".json.gz")) and path.is_file():
        from rushhour.roadnets.reading.json_files import read_json
        from rushhour.traffic.demand.cityflow import flow_facts

        if isinstance(read_json(path), list):
            facts = flow_facts(path)
            print(json_text(facts) if args.json else as_text(facts))
            return 0
    with compile_bar():
        network = load_network(path)
    _show(network, args.json, None)
    return 0


def network_facts(network: "Network") -> dict[str, Any]:
    """What there is in a network, counted."""
    import numpy as np

    from rushhour.roadnets.classes import CAR
    from rushhour.roadnets.tables import CONTROL_NAMES

    arrays = network.arrays
    control = np.bincount(arrays.intersections.control, minlength=len(CONTROL_NAMES))
    n = network.n_road_lanes
    low, high = network.points.min(axis=0), network.points.max(axis=0)
    groups = np.diff(arrays.intersections.group_start)
    return {
        "kind": "network",
        "name": network.name,
        "source": network.source,
        "roads": network.n_roads,
        "lanes": n,
        "car_lanes": int(np.count_nonzero(arrays.lanes.permissions[:n] & CAR)),
        "lane_km": round(float(arrays.lanes.length[:n].sum()) / 1000.0, 3),
        "connectors": network.n_connectors,
        "conflicts": int(arrays.conflicts.other.size),
        "intersections": len(network.intersection_ids),
        "control": {name: int(count) for name, count in zip(CONTROL_NAMES, control, strict=True)},
        "signal_programs": len(network.signal_ids),
        "largest_grant_group": int(groups.max(initial=0)),
        "extent_m": [round(float(high[i] - low[i]), 1) for i in (0, 1)],
        **_hills(network),
        **_streets(network),
        "left_hand": network.left_hand,
        "differences": differences(network.notes),
        "remarks": in_order(network.notes),
    }


def _hills(network: "Network") -> dict[str, Any]:
    """Lowest and highest point of a road, and how steep the steepest is; nothing where all is level."""
    if not network.is_hilly:
        return {}
    import numpy as np

    grade = np.abs(network.grades[: network.point_start[network.n_road_lanes] - 1])
    span = (float(network.height.min()), float(network.height.max()))
    return {
        "height_m": [round(z, 1) for z in span],
        "steepest_percent": round(100.0 * float(grade.max(initial=0.0)), 1),
    }


def _streets(network: "Network") -> dict[str, Any]:
    """What streets are called: how many names and numbers, on what share of the road-km, the longest.

    Nothing where none has a name.
    """
    if not network.road_names:
        return {}
    import numpy as np

    length = network.arrays.roads.length
    metres = {
        name: float(length[roads].sum()) for name, roads in network.street_index.exact.items()
    }
    called = np.array([bool(name) for name in network.road_names])
    return {
        "streets": {
            "names": len(metres),
            "named_percent": round(100.0 * float(length[called].sum() / length.sum()), 1),
            "longest": max(sorted(metres), key=lambda name: metres[name]),
        }
    }


def demand_facts(path: Path) -> dict[str, Any]:
    """How many of each element a demand file holds, and when they depart."""
    from rushhour.roadnets.reading.xml_files import elements

    counts: Counter[str] = Counter()
    departures: list[float] = []
    for event, tag, attributes, _ in elements(path):
        if event == "start":
            counts[tag] += 1
            depart = attributes.get("depart", attributes.get("begin", ""))
            if tag in ("vehicle", "trip", "flow") and _is_number(depart):
                departures.append(float(depart))
    facts: dict[str, Any] = {"kind": "demand", "name": path.name, "elements": dict(counts)}
    if departures:
        facts["first_departure_s"] = min(departures)
        facts["last_departure_s"] = max(departures)
    return facts


def run_facts(path: Path) -> dict[str, Any]:
    """What a run file holds."""
    from rushhour.traffic.measures.tables import TABLES
    from rushhour.traffic.parameters import Parameters
    from rushhour.traffic.recording.run_file import RunFile

    with RunFile(path) as run:
        times, counts = run.times, run.counts
        keyframes = run.keyframes.index["time"]
        if not times.size and keyframes.size:
            times = keyframes
        defaults, frames = Parameters(), run.group("frames")
        measured = run.group("measures")
        precision = "" if frames is None else str(frames.attrs.get("precision", ""))
        return {
            "kind": "run",
            "name": path.name,
            "format_version": run.version,
            "complete": run.complete,
            "frames": int(run.frames.size),
            "keyframes": int(keyframes.size),
            "first_s": float(times[0]) if times.size else None,
            "last_s": float(times[-1]) if times.size else None,
            "last_keyframe_s": float(keyframes[-1]) if keyframes.size else None,
            "most_vehicles": int(counts.max(initial=0)),
            "rows": int(counts.sum()),
            "bytes": path.stat().st_size,
            "network": run.network().name,
            "trips": int(run.vehicles("depart").size),
            "finished": None if run.group("trips") is None else len(run.table("trips")),
            "fields": list(run.frame(0).columns) if run.frames.size else [],
            "precision": precision,
            "measured": [] if measured is None else [name for name in TABLES if name in measured],
            "commands": len(run.commands()),
            "quotas": quotas_of_run(run),
            "parameters": {
                name: text
                for name, text in run.parameters.items()
                if name not in defaults or text != str(defaults[name])
            },
            "meta": run.meta,
        }


def run_text(facts: dict[str, Any], path: Path) -> str:
    """What a run file holds, for people."""
    from rushhour.traffic.scenarios.recording import sized

    meta = facts["meta"]
    dt, first, last = float(meta["dt"]), facts["first_s"], facts["last_s"]
    until = float(meta.get("until", float("nan")))
    rows = [
        (
            "run",
            f"{facts['name']}, {sized(facts['bytes'])}, format version {facts['format_version']}",
        )
    ]
    if facts["complete"]:
        rows.append(("complete", "yes"))
    else:
        rows.append(("complete", "no: it was killed, or still goes on"))
        if facts["keyframes"]:
            words = ("rushhour", "run", "--resume", str(path), "--record", "rest.h5")
            rows.append(("finish it by", shlex.join(words)))
    if first is None:
        rows.append(("time", "nothing was recorded"))
    else:
        meant = f" of what was to end at {clock(until)}" if until > last + dt else ""
        began = float(meta.get("begin", first))
        later = f", goes on with a run that began at {clock(began)}" if first > began + dt else ""
        rows.append(("time", f"{clock(first)} to {clock(last)}{meant}, dt {dt:g} s{later}"))
    rows.append(("network", facts["network"]))
    done = "" if facts["finished"] is None else f", {facts['finished']:,} of them finished"
    most = f"; at most {facts['most_vehicles']:,} on the road at once" if facts["frames"] else ""
    rows.append(("trips", f"{facts['trips']:,}{done}{most}"))
    if facts["frames"]:
        every = meta.get("frames_between_records", 0) * dt
        apart = f" every {every:g} s" if every else ""
        rows.append(
            (
                "frames",
                f"{facts['frames']:,}{apart}, {counted(facts['rows'], 'position')} of vehicles",
            )
        )
        precise = f" ({facts['precision']} precision)" if facts["precision"] else ""
        rows.append(("fields", ", ".join(facts["fields"]) + precise))
    else:
        rows.append(("frames", "none"))
    at = f", the last at {clock(facts['last_keyframe_s'])}" if facts["keyframes"] else ""
    rows.append(("keyframes", f"{facts['keyframes']:,}{at}"))
    if facts["measured"]:
        rows.append(("measures", ", ".join(facts["measured"])))
    if facts["quotas"]:
        rows.append(("quotas", quotas_text(facts["quotas"])))
    if facts["commands"]:
        rows.append(("commands", f"{facts['commands']:,} applied"))
    others = [f"{name}={value}" for name, value in facts["parameters"].items()]
    rows.append(("parameters", ", ".join([*others, f"seed {meta.get('seed', '?')}"])))
    versions = [f"{name} {meta[f'{name}_version']}" for name in ("rushhour", "numba", "numpy", "python")
                if f"{name}_version" in meta]  # fmt: skip
    rows.append(
        (
            "made by",
            f"{', '.join(versions)} on {meta.get('machine', '?')} {meta.get('cpu', '')}".rstrip(),
        )
    )
    return "\n".join(f"{name:<12} {text}" for name, text in rows)


def as_text(facts: dict[str, Any]) -> str:
    """Facts for people, one a line."""
    lines = []
    for name, value in facts.items():
        if name == "differences":  # stand among the remarks, first
            continue
        if name == "remarks":
            differs, notes, left_out = shown(value, REMARKS_SHOWN)
            lines += [f"{'differs':<20} {text}" for text in differs]
            lines += [f"{'remark':<20} {text}" for text in notes]
            if left_out:
                lines.append(f"{'remark':<20} and {left_out} more; see --json")
            continue
        if isinstance(value, dict):
            value = ", ".join(f"{key} {inner}" for key, inner in value.items() if inner != 0)
        elif name.endswith("_s") and value is not None:
            value = f"{clock(value)} ({value:g} s)"
        elif isinstance(value, list):
            value = " x ".join(str(inner) for inner in value)
        elif isinstance(value, int) and not isinstance(value, bool):
            value = f"{value:,}"
        lines.append(f"{name.replace('_', ' '):<20} {value}")
    return "\n".join(lines)


def _show(network: "Network", as_json: bool, written: Path | None) -> None:
    from rushhour.roadnets.lint.report import finding_rows, report_lines

    facts = network_facts(network)
    if written is not None:
        facts["written"] = str(written)
    if as_json:
        facts["findings"] = finding_rows(network)
    print(json_text(facts) if as_json else "\n".join([as_text(facts), *report_lines(network)]))


def _draw(network: "Network", picture: Path | None, marks: bool = False) -> None:
    """Draw a network; marks: what was found in it, too."""
    if picture is not None and marks:
        from rushhour.viewer.marks import save_findings

        save_findings(picture, network)
    elif picture is not None:
        from rushhour.viewer.raster import save_picture

        save_picture(picture, network, title=network.name)


def _stem(path: Path) -> str:
    name = path.name
    for ending in (".net.xml.gz", ".net.xml", ".json.gz", ".json", ".sumocfg", ".h5", ".hdf5"):
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return path.stem


def _named_values(words: list[str]) -> dict[str, str]:
    """Options of a generator from `--rows 5` or `--rows=5`."""
    values: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if not name.startswith("--") or (not equals and not rest):
            raise NetworkError(f"generate: {word!r}: wanted --option VALUE; see generate --help")
        values[name[2:].replace("-", "_")] = value if equals else rest.pop(0)
    return values


def _is_number(text: str) -> bool:
    try:
        return float(text) < float("inf")
    except ValueError:
        return False
