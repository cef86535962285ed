"""`rushhour import`: a map read, looked over and saved."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rushhour.cli.common_options import add_json, add_set
from rushhour.cli.network_facts import draw_network, show_network
from rushhour.cli.outputs import H5, PNG, add_output, want_output
from rushhour.cli.progress import compile_bar
from rushhour.roadnets.errors import NetworkError

if TYPE_CHECKING:
    from rushhour.roadnets.osm.network import OsmOptions


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    command.add_argument(
        "map",
        type=Path,
        metavar="MAP",
        help="an OpenStreetMap file (.osm, .osm.gz, .osm.pbf), a SUMO network (.net.xml, .net.xml.gz) or .sumocfg, a CityFlow network (.json, "
        ".json.gz) or config.json, a GMNS folder, or a .h5",
    )
    add_output(command, "-o", "--output", endings=H5,
        help="the .h5 file to write (default: MAP with .h5, in this folder)")  # fmt: skip
    command.add_argument("--programs", type=Path, action="append", default=[], metavar="FILE",
        help="additional file whose signal programs replace those of the map")  # fmt: skip
    add_output(command, "--picture", endings=PNG,
        help="also draw it as a PNG, with marks at what was found")  # fmt: skip
    command.add_argument(
        "--fixes", type=Path, metavar="FILE", help="fixes.toml, which overrules the map"
    )
    command.add_argument(
        "--dem", type=Path, metavar="FILE", help="a GeoTIFF whose heights the roads get"
    )
    command.add_argument(
        "--force", action="store_true", help="save it whatever errors (E) were found"
    )
    add_set(command)  # fmt: skip
    add_json(command)
    osm = command.add_argument_group("OpenStreetMap")
    osm.add_argument(
        "--bbox", metavar="W,S,E,N", help="only what lies within, degrees west, south, east, north"
    )
    osm.add_argument(
        "--polygon", type=Path, metavar="FILE", help="only what lies within a polygon: GeoJSON, WKT "
        "or .poly",
    )  # fmt: skip
    osm.add_argument(
        "--service",
        choices=("yes", "no", "connected"),
        default="connected",
        help="service ways; connected: only those that lead through (default: connected)",
    )
    osm.add_argument(
        "--country",
        default="",
        metavar="CC",
        help="two letters, or a state as US-OH; default: where the map is",
    )
    osm.add_argument(
        "--default-speed", action="append", default=[], metavar="CLASS=KMH",
        help="limit of a class of ways that have none, such as residential=30",
    )  # fmt: skip
    osm.add_argument("--private", action="store_true", help="open private streets to all")


def import_map(args: argparse.Namespace) -> int:
    """Read a map, save it in our own format and report what was found in it."""
    from rushhour.roadnets.fixes import read_fixes
    from rushhour.roadnets.importing import import_network, refuse_errors
    from rushhour.roadnets.storage import save
    from rushhour.traffic.settings.parameters import Parameters

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
        draw_network(network, args.picture, marks=True)
    show_network(network, args.json, output)
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


def _stem(path: Path) -> str:
    name = path.name
    for ending in (".net.xml.gz", ".net.xml", ".json.gz", ".json", ".sumocfg", ".h5", ".hdf5"):
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return path.stem
