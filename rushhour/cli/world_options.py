"""The options that say what is simulated: network, demand, parameters."""

import argparse
from pathlib import Path

from rushhour.cli.common_options import add_seed, add_set, add_threads


def add_demand_options(command: argparse.ArgumentParser) -> None:
    """Add the network, the demand and how it is read to a parser."""
    add = command.add_argument
    add(
        "network",
        type=Path,
        nargs="?",
        metavar="NETWORK",
        help="a network (.net.xml[.gz], CityFlow's .json[.gz], .h5), a scenario.toml, a .sumocfg or "
        "CityFlow's config.json; a GMNS folder (node.csv, link.csv)",
    )
    add(
        "--demand",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="routes, trips, flows, types, stops or signal programs (.rou.xml, .add.xml, also "
        ".gz), CityFlow's flows (.json[.gz]), a table of trips (.csv, .csv.gz, .parquet) or a "
        "matrix of trips between zones (.csv, .csv.gz, .omx, .mtx); zones as polygons (.geojson, .gpkg) "
        "or SUMO's taz where they are not the network's; may be given several times",
    )
    add("--demand-period", metavar="T", help="time that the volumes of a matrix of trips between "
        "zones are for (default: 1h)")  # fmt: skip
    add("--scale", "--demand-scale", action="append", metavar="X[,FOR=...]", dest="demand_scale",
        help="factor on the traffic of any demand (default: 1): listed trips are copied or left out, "
        "flows and matrices are denser, --vehicles and --trips more; for some trips alone as "
        "1.5,time=7:00-9:00,class=truck,from=12+13 (also type, to, zone); repeatable")  # fmt: skip
    add("--demand-profile", metavar="A,B,...", help="shares of these volumes in equal parts of the period "
        "(default: even)")  # fmt: skip
    add("--demand-matrix", metavar="NAME", help="which matrix of an .omx file of several drives")
    add("--trips", type=int, metavar="N", help="N random trips, departing within --over")
    add("--over", metavar="T", help="time within which --trips depart, as 1h")
    add("--begin", metavar="T", help="time of the first frame, as 7:00 (default: first departure)")
    add("--dt", metavar="T", help="time step, 1/120 s to 0.5 s (default: 0.25)")
    add_seed(command, None, "seed of all random draws (default: 0)")
    add_threads(command)
    add_set(command)
    add(
        "--ignore-options",
        metavar="A,B,...",
        help="options of a .sumocfg, and elements, attributes and params of demand files, that "
        "would change the traffic, are not followed here, and are to be ignored",
    )
    add("--skip-bad-trips", action="store_true",
        help="leave out trips that cannot be driven, and say how many and which first")  # fmt: skip


def add_world_options(command: argparse.ArgumentParser) -> None:
    """Add the network, the demand and the parameters to a parser."""
    add_demand_options(command)
    add = command.add_argument
    add("--vehicles", type=int, metavar="N", help="N vehicles on the road from the first frame")
    add(
        "--parameters",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        dest="parameter_files",
        help="parameters from the [parameters] of a TOML file, as bench/calibrate.py writes; --set "
        "wins; repeatable",
    )
    add("--policy", choices=("fair", "fifo", "literal"),
        help="order at all-way stops; short for --set right_of_way.all_way_policy=...")  # fmt: skip
    add("--signals", choices=("program", "fixed", "actuated", "max_pressure"),
        help="when phases of signals end; short for --set signals.control=...")  # fmt: skip
    add("--keep-routes", action="store_true",
        help="never change a route on the way; short for --set gridlock.keep_routes=true")  # fmt: skip
    add(
        "--routing",
        choices=("current", "free-flow"),
        help="how trips without a route choose theirs: as they depart, by current travel times "
        "(default), or on empty roads; short for --set routing.choice=...",
    )
    add(
        "--reroute",
        metavar="SHARE",
        help="share of the drivers that look at current travel times on their way, as 30%%; short "
        "for --set rerouting.fraction=...",
    )
    add("--reroute-period", metavar="T",
        help="time between two looks of one driver (default: 60s)")  # fmt: skip
    add(
        "--steered",
        metavar="WHO",
        help="vehicles with bodies that steer along their lanes: a share as 10%%, `all`, so many at "
        "once, the nearest to a point as 200@X,Y, those around one as 300m@X,Y, or ids:FILE; --dt is "
        "1/30 s then unless given",
    )
    add("--quota", action="append", default=[], metavar="NAME=N", dest="quotas",
        help="most work of a kind in a frame: steered, lanes, routing, wait_for, vehicles; repeatable, "
        "short for --set quota.NAME=N")  # fmt: skip
