"""From a scenario to a world: reading the network and the demand, and joining them."""

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rushhour.roadnets.errors import DemandError, UnheardParameter
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.roadnets.reading.remarks import Difference
from rushhour.traffic.commands.closures import CLOSE_ROADS
from rushhour.traffic.commands.events import Event, early_events, plan_events
from rushhour.traffic.commands.ruling import STEER_WHERE
from rushhour.traffic.demand.checks import unheard
from rushhour.traffic.demand.files import (
    DemandOptions,
    kind_of,
    read_demand_files,
    zones_given,
)
from rushhour.traffic.demand.model import Demand, want_trips
from rushhour.traffic.demand.scaling import want_some
from rushhour.traffic.scenarios.scenario import Scenario, read_scenario
from rushhour.traffic.settings.parameters import Parameters

if TYPE_CHECKING:
    from rushhour.traffic.demand.matrix import ZoneSet
    from rushhour.traffic.sumo.config import SumoConfig
    from rushhour.traffic.world import World

LONGEST_FRAME: Final = 0.25  # s, of a SUMO step
SHORTEST_DT: Final = 1.0 / 120.0 - 1e-9  # s

Tell = Callable[[str], None]


def opened(path: Path, **fields: Any) -> Scenario:
    """The scenario of a file: a network alone, a scenario.toml, a .sumocfg, CityFlow's config.json.

    fields: what is given elsewhere; it wins over the file. ignored_options among them are those of
    a .sumocfg, and elements of demand files, that would change the traffic, are not followed, and
    are to be ignored.
    """
    name = path.name.lower()
    if name.endswith(".sumocfg"):
        return _from_sumo(path, fields)
    if name.endswith(".toml"):
        found = read_scenario(path, **fields)
    elif name.endswith(".json"):
        found = _from_cityflow(path, fields)
    else:
        found = Scenario(network=path, **fields)
    if found.ignored_options:
        from rushhour.traffic.sumo.asked import check_elements

        check_elements(found.ignored_options, str(path))
    return found


def _from_sumo(path: Path, fields: dict[str, Any]) -> Scenario:
    from rushhour.traffic.sumo.config import read_config

    config = read_config(path, fields.get("ignored_options", ()))
    given: dict[str, Any] = {
        "network": config.net_file,
        "demand": (*config.route_files, *config.additional_files, *fields.pop("demand", ())),
        "skip_bad_trips": config.skip_bad_trips,
        "tripinfo": config.tripinfo,
        "trip_defaults": config.defaults,
    }
    if config.begin is not None:
        given["begin"] = config.begin
    if config.end is not None and not fields.get("until_empty"):
        given["begin"] = config.begin or 0.0  # where SUMO's clock starts
        begin = fields.get("begin", given["begin"])
        if config.end <= begin:
            raise DemandError(
                f"{path}: ends at {config.end:g} s, before it begins; correct its end"
            )
        given["duration"] = config.end - begin
    if config.seed is not None or config.random:
        given["seed"] = drawn_seed() if config.random else config.seed
    if config.scale is not None:
        given["demand_scale"] = config.scale
    if config.scale_suffix is not None:
        given["scale_suffix"] = config.scale_suffix
    if config.step_length is not None:
        given["dt"] = frame_of_step(config.step_length, path)
    remarks = sumo_remarks(config, path.name)
    if config.random and "seed" not in fields:
        remarks.append(f"random of {path.name}: seed {given['seed']} was drawn")
    if config.rerouting:  # the command line's own parameters win
        fields["parameters"] = (*config.rerouting, *fields.get("parameters", ()))
    return Scenario(**{**given, "remarks": tuple(remarks), **fields})


def drawn_seed() -> int:
    """Another seed in every run."""
    return int.from_bytes(os.urandom(4))


def frame_of_step(step: float, path: Path, name: str = "step-length") -> float:
    """The frame, s, of another simulator's step: it is divided into equal frames of 0.25 s or less."""
    dt = step / max(1, ceil(step / LONGEST_FRAME - 1e-9))
    if dt < SHORTEST_DT:
        raise DemandError(
            f"{path}: {name} {step:g} s: wanted 1/120 s or more; raise it, or give --dt"
        )
    return dt


def sumo_remarks(config: "SumoConfig", name: str) -> list[str]:
    """What a run of a SUMO configuration does otherwise than SUMO, and what it does not write."""
    remarks: list[str] = []
    if config.ignored:
        names = ", ".join(config.ignored)
        remarks.append(Difference(f"options of {name} that are ignored, as was asked: {names}"))
    if config.teleport > 0.0:
        remarks.append(
            Difference(
                f"nobody is teleported: SUMO lets those jump ahead who stand for {config.teleport:g} s "
                "(time-to-teleport), here they stand until there is room"
            )
        )
    if config.outputs:
        names = ", ".join(config.outputs)
        remarks.append(f"files that {name} asks for and that are not written: {names[:200]}")
    return remarks


def _from_cityflow(path: Path, fields: dict[str, Any]) -> Scenario:
    from rushhour.roadnets.cityflow.config import read_config

    config = read_config(path)
    if config is None:  # a road network
        return Scenario(network=path, **fields)
    given: dict[str, Any] = {"network": config.roadnet_file}
    if config.flow_file is not None:
        given["demand"] = (config.flow_file, *fields.pop("demand", ()))
    if config.seed is not None:
        given["seed"] = config.seed
    if config.interval is not None:
        given["dt"] = frame_of_step(config.interval, path, "interval")
    remarks: list[str] = []
    if not config.lane_change:
        remarks.append(Difference(f"laneChange false of {path.name}: here vehicles change lanes"))
    if config.rl_signals:
        remarks.append(
            Difference(
                f"rlTrafficLight of {path.name}: no script sets signals, they run by program"
            )
        )
    if config.ignored:
        names = ", ".join(config.ignored)
        remarks.append(f"options of {path.name} that are not used: {names[:200]}")
    return Scenario(**{**given, "remarks": tuple(remarks), **fields})


def scenario_network(scenario: Scenario, parameters: Parameters) -> Network:
    """Read the network of a scenario, with the signal programs that its demand files bring."""
    sumo = [path for path in scenario.demand if kind_of(path) == "sumo"]
    programs = [path for path in sumo if "tlLogic" in _kinds(path)]
    name = scenario.network.name.lower()
    if name.endswith((".net.xml", ".net.xml.gz")) and scenario.network.is_file():
        return built_network(scenario.network, programs, parameters)
    if programs:
        raise DemandError(
            f"{programs[0]}: signal programs can only replace those of a .net.xml network; "
            f"give them to `rushhour import` when {scenario.network.name} is made"
        )
    return load_network(scenario.network)


def built_network(path: Path, programs: Sequence[Path], parameters: Parameters) -> Network:
    """Read and finish a SUMO network."""
    from rushhour.roadnets.build import finish
    from rushhour.roadnets.sumo.network import read_network_draft

    draft = read_network_draft(path, programs=list(programs))
    name = "curve.lateral_acceleration"
    return finish(draft, parameters.number(name) if parameters.given(name) else None)


def _kinds(path: Path) -> set[str]:
    from rushhour.traffic.sumo.config import additional_kinds

    return set(additional_kinds(path))


def scenario_zones(scenario: Scenario, network: Network) -> "ZoneSet | None":
    """The zones that the demand files of a scenario define; None where none does."""
    return zones_given(scenario.demand, network, scenario.ignored_options)


def scenario_demand(
    scenario: Scenario, network: Network, parameters: Parameters, zones: "ZoneSet | None" = None
) -> Demand:
    """Read or draw the demand of a scenario. zones: those of its files, where they were read already."""
    from rushhour.traffic.demand.builder import merge
    from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
    from rushhour.traffic.demand.scaling_by_rule import scaled_by

    parts: list[Demand] = []
    begin = scenario.begin or 0.0
    end = None  # without a begin the run starts with the first departure, which is to be read
    if scenario.begin is not None and scenario.duration is not None:
        end = begin + scenario.duration
    if zones is None and any(rule.by_zone for rule in scenario.scale_rules):
        zones = scenario_zones(scenario, network)
    if scenario.demand:
        options = DemandOptions(
            begin=scenario.begin,
            end=end,
            skip_bad_trips=scenario.skip_bad_trips,
            seed=scenario.seed,
            parameters=parameters,
            period=scenario.demand_period,
            scale=scenario.demand_scale,
            scale_suffix=scenario.scale_suffix,
            trip_defaults=dict(scenario.trip_defaults),
            ignored=scenario.ignored_options,
            profile=scenario.demand_profile,
            matrix=scenario.demand_matrix,
            zones=zones,
        )
        parts.append(read_demand_files(scenario.demand, network, options))
    car, factor = parameters.vehicle_type("car"), scenario.demand_scale
    if scenario.trips is not None:
        parts.append(
            random_trips(
                network, _so_many(scenario.trips, factor), scenario.over or 0.0, seed=scenario.seed, begin=begin,
                vehicle_types=(car,),
            )
        )  # fmt: skip
    if scenario.vehicles is not None:
        parts.append(
            vehicles_on_road(
                network,
                _so_many(scenario.vehicles, factor),
                seed=scenario.seed,
                begin=begin,
                vehicle_types=(car,),
            )
        )
    demand = merge(parts) if len(parts) != 1 else parts[0]
    demand = scaled_by(demand, scenario.scale_rules, network, scenario.scale_suffix, zones)
    types = demand.types
    if parameters.given("following.model"):
        model = str(parameters["following.model"])
        types = tuple(replace(kind, model=model) for kind in types)
    demand = replace(demand, types=types)
    lost = map(Difference, unheard(parameters, demand))
    return replace(demand, remarks=(*scenario.remarks, *lost, *demand.remarks))


def _so_many(count: int, factor: float) -> int:
    """A number of drawn vehicles, scaled: at least one."""
    return max(1, round(count * factor))


def open_world(
    scenario: Scenario, tell: Tell = lambda what: None, network: Network | None = None,
    comm: Any = None,
) -> "World":  # fmt: skip
    """Read everything a scenario names and make its world, at its first frame.

    tell: called with what is being done. network: in place of reading the scenario's. comm: of the
    ranks that step it. Raises RushhourError for anything wrong in it.
    """
    parameters = Parameters(dict(scenario.parameters))
    if not scenario.has_demand:
        raise DemandError(
            f"{scenario.network.name}: nobody drives; give --demand FILE, --vehicles N or --trips N"
        )
    want_some(scenario.demand_scale)
    if scenario.begin is None and "cityflow" in map(kind_of, scenario.demand):
        scenario = scenario.with_(begin=0.0)  # where CityFlow's clock starts
    if network is None:
        tell("reading the network")
        network = scenario_network(scenario, parameters)
    tell("reading the demand")
    demand = scenario_demand(scenario, network, parameters)
    want_trips(demand)
    from rushhour.traffic.world import World

    tell("finding routes")
    sumo = [path for path in scenario.demand if kind_of(path) == "sumo"]
    events, notes = sumo_events(sumo, network, scenario.ignored_options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnheardParameter)  # told in the remarks of the demand
        world = World(
            network,
            replace(demand, remarks=(*demand.remarks, *notes)),
            parameters=parameters,
            dt=scenario.dt,
            seed=scenario.seed,
            begin=scenario.begin,
            budget=scenario.budget,
            comm=comm,
        )
    early = early_events(scenario.events, world.begin)
    if early:
        world.sim.demand = replace(world.demand, remarks=(*world.demand.remarks, *early))
    plan_events(world, [*events, *planned_events(scenario, world.begin)])
    return world


def planned_events(scenario: Scenario, begin: float) -> list[Event]:
    """What a scenario itself plans to happen in a run that begins at a time, s; first what is so from then on."""
    events = []
    if scenario.closed:
        events.append(Event(begin, CLOSE_ROADS, {"roads": list(scenario.closed)}))
    if scenario.steer_where:
        events.append(Event(begin, STEER_WHERE, dict(scenario.steer_where), "--steered"))
    return [*events, *scenario.events]


def sumo_events(
    paths: Sequence[Path], network: Network, ignored: Sequence[str] = ()
) -> tuple[list[Event], list[str]]:
    """What the rerouters and speed signs of SUMO files plan, and remarks on what is not used of them.

    ignored: names of what is not followed and is to be let be. Raises DemandError, with file and line,
    for what cannot be meant, and for what is not followed.
    """
    from rushhour.traffic.sumo.rerouters import read_rerouters
    from rushhour.traffic.sumo.speed_signs import SIGN, read_speed_signs

    kinds = {path: _kinds(path) for path in paths}
    closing, remarks = read_rerouters(
        [p for p in paths if "rerouter" in kinds[p]], network, ignored
    )
    limits, more = read_speed_signs([p for p in paths if SIGN in kinds[p]], network, ignored)
    return [*closing, *limits], [*remarks, *more]
