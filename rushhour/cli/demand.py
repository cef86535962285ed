"""`rushhour demand`: a day of car trips from what a map tells of homes, work, schools and shops."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rushhour.cli.common_options import add_json, add_seed, add_threads
from rushhour.cli.fit import fit_lines
from rushhour.cli.outputs import FIGURE, H5, add_output, want_apart
from rushhour.cli.progress import compile_bar
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.words.durations import seconds

if TYPE_CHECKING:
    from rushhour.traffic.demand.gravity import Model


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add = command.add_argument
    add("map", type=Path, metavar="MAP", help="an OpenStreetMap file (.osm, .osm.gz, .osm.pbf) with buildings or land use")  # fmt: skip
    add_output(command, "-o", "--output", endings=H5, required=True, help="the trips (.h5), for --demand")  # fmt: skip
    add("--network", type=Path, metavar="FILE", help="the network that was imported from it (.h5; default: imports MAP)")  # fmt: skip
    add("--population", metavar="N|FILE", help="people who live there (default: floor area of homes over 46 m2), or a table by zone (.csv: zone_id, population) with --zones")  # fmt: skip
    add("--zones", type=Path, metavar="FILE", help="zones in which so many live, as polygons (.geojson, .gpkg); without --population by their own column population")  # fmt: skip
    add("--rate", type=float, metavar="X", help="car trips a person and day (default: 1.33)")
    add("--model", metavar="NAME", help="where trips lead: gravity, by the time it takes, or radiation, by what lies nearer (default: gravity)")  # fmt: skip
    add("--mean-time", metavar="T", help="of the gravity model's exp(-time / T) (default: 7min)")
    add("--external", type=float, metavar="X", help="share of trips that come from outside, lead there or through (default: 0.15)")  # fmt: skip
    add(
        "--through", type=float, metavar="X", help="share of those that lead through (default: 0.2)"
    )
    add("--begin", metavar="T", help="trips that depart from this time on, as 7:00 (default: 0:00)")
    add("--end", metavar="T", help="trips that depart until this time (default: 24:00)")
    add("--counts", type=Path, metavar="FILE", help="a table of counts that the trips are fitted to, as `rushhour fit` does")  # fmt: skip
    add("--hold-out", type=float, metavar="X", help="share of these counters that are not used but compared with (default: 0)")  # fmt: skip
    add_seed(command, 0, "of all draws (default: 0)")
    add_output(command, "--plot", endings=FIGURE, help="draw origins, destinations and the day")
    add_threads(command)
    add_json(command)


def demand(args: argparse.Namespace) -> int:
    """Draw trips, and write them."""
    from rushhour.roadnets.loading import load_network
    from rushhour.traffic.analysis.count_tables import read_counts
    from rushhour.traffic.demand.fitting import fit_to_counts
    from rushhour.traffic.demand.gravity import DAY, day_demand
    from rushhour.traffic.demand.land_use import read_land_use
    from rushhour.traffic.demand.zone_polygons import people_by_zone, read_zone_polygons, settled
    from rushhour.traffic.recording.demand_file import save_demand
    from rushhour.traffic.scenarios.scenario import ScenarioError

    want_apart(
        [args.output],
        "-o",
        [
            args.map,
            *([args.network] if args.network else []),
            *([args.zones] if args.zones else []),
        ],
    )
    if args.hold_out is not None and args.counts is None:
        raise ScenarioError("--hold-out is given without --counts; add the counts or drop it")
    model, table = _model(args)
    begin = 0.0 if args.begin is None else seconds(args.begin, "--begin")
    end = DAY if args.end is None else seconds(args.end, "--end")
    with compile_bar():
        network = load_network(args.network or args.map)
        land = read_land_use(args.map, network)
        said = ""
        if args.zones is not None:
            zones = read_zone_polygons(args.zones, network)
            people = people_by_zone(zones, table)
            land, said = settled(network, land, zones, people, model.floor_per_person)
        found = day_demand(network, land, model, begin=begin, end=end, seed=args.seed)
        demand = found.demand
        if said:
            demand = replace(demand, remarks=(*demand.remarks, said))
        if args.counts is not None:
            fitted = fit_to_counts(
                network, demand, read_counts(args.counts, network), hold_out=args.hold_out or 0.0, seed=args.seed
            )  # fmt: skip
            demand = fitted.demand
    save_demand(args.output, demand)
    facts = {"network": network.name, **found.facts, "written": str(args.output)}
    if args.counts is not None:
        facts["fitted"] = fitted.facts()
    if args.plot is not None:
        from rushhour.viewer.plots_of_demand import save_demand_picture

        save_demand_picture(args.plot, network, demand)
        facts["plot"] = str(args.plot)
    print(json_text(facts) if args.json else _text(facts, demand.remarks))
    return 0


def _model(args: argparse.Namespace) -> tuple["Model", Path | None]:
    """The model of a day that the options give, and the table of people by zone, if they name one."""
    from rushhour.traffic.demand.gravity import RADIATION, Model
    from rushhour.traffic.scenarios.scenario import ScenarioError

    given: dict[str, Any] = {
        name: getattr(args, name)
        for name in ("rate", "external", "through")
        if getattr(args, name) is not None
    }
    table = None
    if args.population is not None:
        given["population"], table = _people(args.population, args.zones)
    if args.model is not None:
        given["spatial"] = args.model
    if args.mean_time is not None:
        if args.model == RADIATION:
            raise ScenarioError("--mean-time is of the gravity model; leave it out with radiation")
        given["mean_time"] = seconds(args.mean_time, "--mean-time")
    return Model(**given), table


def _people(said: str, zones: Path | None) -> tuple[float | None, Path | None]:
    """People in all, or the table that tells them by zone."""
    from rushhour.traffic.scenarios.scenario import ScenarioError

    try:
        people = float(said)
    except ValueError:
        if not Path(said).is_file():
            raise ScenarioError(
                f"--population {said[:60]}: neither a number of people nor a table (.csv) that is there"
            ) from None
        if zones is None:
            raise ScenarioError(f"--population {said[:60]}: a table by zone; give their polygons as --zones") from None  # fmt: skip
        return None, Path(said)
    if zones is not None:
        raise ScenarioError(
            f"--population {said[:60]} with --zones: give a table by zone, or drop one of them"
        )
    return people, None


def _text(facts: dict[str, Any], remarks: tuple[str, ...]) -> str:
    floor = ", ".join(f"{name} {value:,} m2" for name, value in facts["floor_m2"].items())
    purposes = ", ".join(
        f"{name} {count:,}" for name, count in facts["by_purpose"].items() if count
    )
    rows = [
        ("map", f"{facts['buildings']:,} buildings, {facts['points']:,} shops and other places, {facts['areas']:,} areas"),
        ("floor", floor), ("population", f"{facts['population']:,}"),
        ("gates", f"{facts['gates'][0]} in, {facts['gates'][1]} out"),
        ("trips", f"{facts['trips']:,}: {purposes}"), *(("note", remark) for remark in remarks),
        *(("fitted", line) for line in (fit_lines(facts["fitted"]) if "fitted" in facts else ())),
        ("written", facts["written"]),
    ]  # fmt: skip
    return "\n".join(f"{name:<12} {text}" for name, text in rows)
