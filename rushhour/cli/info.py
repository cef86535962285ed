"""`rushhour info`: what is in a network, a demand or a run file."""

import argparse
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

from rushhour.cli.common_options import add_json
from rushhour.cli.network_facts import as_text, show_network
from rushhour.cli.progress import compile_bar
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.words.durations import clock
from rushhour.traffic.words.plurals import counted


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    command.add_argument("file", type=Path, metavar="FILE",
                         help="a network, a demand file or a run file")  # fmt: skip
    command.add_argument("--lint", action="store_true",
                         help="look a network over anew and tell what is wrong with it")  # fmt: skip
    add_json(command)


def info(args: argparse.Namespace) -> int:
    """Say what is in a file."""
    path: Path = args.file
    name = path.name.lower()
    is_run = is_demand = False
    if name.endswith((".h5", ".hdf5")) and path.is_file():
        from rushhour.traffic.recording.demand_file import is_demand_file, stored_demand_facts
        from rushhour.traffic.recording.kept import is_run_file

        is_run, is_demand = is_run_file(path), is_demand_file(path)
    if args.lint:
        if is_run:
            raise NetworkError(f"{path}: a run; --lint is for networks: give its network's file")
        from rushhour.roadnets.importing import import_network

        with compile_bar():
            show_network(import_network(path), args.json, None)
        return 0
    if is_demand:
        return _show(stored_demand_facts(path), args.json)
    if is_run:
        facts = run_facts(path)
        print(json_text(facts) if args.json else run_text(facts, path))
        return 0
    kinds = (".net.xml", ".net.xml.gz", ".sumocfg")
    if name.endswith((".xml", ".xml.gz")) and not name.endswith(kinds):
        return _show(demand_facts(path), args.json)
    from rushhour.roadnets.graphs.tables import is_graph_folder
    from rushhour.roadnets.loading import is_gmns, load_network
    from rushhour.traffic.demand.matrix_files import OMX, OUTLINES, VISUM, is_matrix

    if name.endswith((*OMX, *VISUM, ".csv", ".csv.gz", ".parquet")) and not (
        is_gmns(path) or is_graph_folder(path)
    ):
        from rushhour.traffic.demand.matrix import matrix_facts
        from rushhour.traffic.demand.tables import trip_facts

        return _show(matrix_facts(path) if is_matrix(path) else trip_facts(path), args.json)
    if name.endswith((".json", ".json.gz")) and path.is_file():
        from rushhour.roadnets.reading.json_files import read_json
        from rushhour.traffic.demand.cityflow import flow_facts

        if isinstance(read_json(path), list):
            return _show(flow_facts(path), args.json)
    if name.endswith(OUTLINES) and _are_zones(path):
        raise NetworkError(
            f"{path}: zones, which are neither a network nor trips; give them beside a matrix of trips "
            "between them (`rushhour run NETWORK --demand MATRIX --demand ZONES`), or as --zones of `rushhour demand`"
        )
    with compile_bar():
        network = load_network(path)
    show_network(network, args.json, None)
    return 0


def _show(facts: dict[str, Any], as_json: bool) -> int:
    """Print facts of trips."""
    print(json_text(facts) if as_json else as_text(facts))
    return 0


def _are_zones(path: Path) -> bool:
    """Whether a GeoJSON or a GeoPackage that is there holds areas in place of a network."""
    if not path.is_file():
        return False
    if path.suffix.lower() == ".geojson":
        return True  # no network is one
    from rushhour.roadnets.reading.geopackages import opened, tables

    with opened(path, "give a GeoPackage") as base:
        return not {"nodes", "edges"} & set(tables(base))


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
    from rushhour.cli.quotas import quotas_of_run
    from rushhour.traffic.measures.tables import TABLES
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.traffic.settings.parameters import Parameters

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
            "bytes": sum(one.stat().st_size for one in run.files),
            "files": len(run.files),
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
    from rushhour.cli.quotas import quotas_text
    from rushhour.traffic.scenarios.recording import sized

    meta = facts["meta"]
    dt, first, last = float(meta["dt"]), facts["first_s"], facts["last_s"]
    until = float(meta.get("until", float("nan")))
    size = sized(facts["bytes"])
    if facts["files"] > 1:
        size += f" in the files of {facts['files']} ranks"
    rows = [("run", f"{facts['name']}, {size}, format version {facts['format_version']}")]
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
    rows.append(("made by", _maker(meta)))
    return "\n".join(f"{name:<12} {text}" for name, text in rows)


def _maker(meta: dict[str, Any]) -> str:
    """What made a run, and where."""
    versions = [f"{name} {meta[f'{name}_version']}" for name in ("rushhour", "numba", "numpy", "python")
                if f"{name}_version" in meta]  # fmt: skip
    return f"{', '.join(versions)} on {meta.get('machine', '?')} {meta.get('cpu', '')}".rstrip()


def _is_number(text: str) -> bool:
    try:
        return float(text) < float("inf")
    except ValueError:
        return False
