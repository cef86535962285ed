"""What the command line says of the world, as fields of a Scenario."""

import argparse
from collections.abc import Iterable
from typing import Any, Final

from rushhour.cli.steered_option import steered_choice
from rushhour.traffic.demand.scale_rules import scale_of
from rushhour.traffic.demand.scaling import want_some
from rushhour.traffic.scenarios.scenario import Scenario, ScenarioError, read_parameters
from rushhour.traffic.settings.parameters import parsed_items
from rushhour.traffic.settings.quotas import checked_quotas
from rushhour.traffic.words.durations import seconds

STEERED_DT: Final = 1.0 / 30.0  # s, the default of --dt where vehicles are steered


def demanded(args: argparse.Namespace, command: str, lack: str, **more: Any) -> Scenario:
    """The scenario of a command that works on a demand. lack: what is wrong without one.

    more: fields where the command line says nothing. Raises ScenarioError.
    """
    from rushhour.traffic.scenarios.opening import opened

    if args.network is None:
        raise ScenarioError(f"{command}: no NETWORK; give a network or a scenario")
    fields = more | demand_fields(args)
    if args.parameters:
        fields["parameters"] = tuple(parsed_items(args.parameters).items())
    scenario = opened(args.network, **fields)
    if not scenario.has_demand:
        raise ScenarioError(f"{args.network}: {lack}; give --demand FILE or --trips N")
    want_some(scenario.demand_scale)
    return scenario


def demand_fields(args: argparse.Namespace) -> dict[str, Any]:
    """The demand and how it is read, from the options of `add_demand_options`, without parameters."""
    fields = taken(
        args, ("trips", "seed", "demand_matrix"), times=("over", "begin", "dt", "demand_period"),
    )  # fmt: skip
    if args.demand_scale is not None:
        asked = scale_of(args.demand_scale)
        fields |= {"demand_scale": asked.factor, "scale_rules": asked.rules}
    if args.demand_profile is not None:
        fields["demand_profile"] = tuple(_shares(args.demand_profile))
    if args.ignore_options is not None:
        scenario = args.network is not None and args.network.suffix.lower() in (".sumocfg", ".toml")
        if not scenario and not args.demand:
            raise ScenarioError(
                "--ignore-options is for a .sumocfg and files of SUMO; leave it out"
            )
        fields["ignored_options"] = tuple(args.ignore_options.split(","))
    if args.skip_bad_trips:
        fields["skip_bad_trips"] = True
    if args.demand:
        fields["demand"] = tuple(args.demand)
    return fields


def world_fields(args: argparse.Namespace) -> dict[str, Any]:
    """Network, demand and parameters, from the options of `add_world_options`."""
    fields = demand_fields(args) | taken(args, ("vehicles",), times=())
    parameters: dict[str, object] = {}
    for path in args.parameter_files:
        parameters.update(read_parameters(path))
    parameters.update(parsed_items(args.parameters))
    if args.policy:
        parameters["right_of_way.all_way_policy"] = args.policy
    if args.signals:
        parameters["signals.control"] = args.signals
    if args.keep_routes:
        parameters["gridlock.keep_routes"] = True
    if args.routing:
        parameters["routing.choice"] = args.routing
    if args.reroute is not None:
        parameters["rerouting.fraction"] = _share(args.reroute)
    if args.reroute_period is not None:
        parameters["rerouting.period"] = seconds(args.reroute_period, "--reroute-period")
    if args.quotas:
        parameters.update(checked_quotas(parsed_items(args.quotas)))
    if args.steered is not None:
        given_parameters, rule = steered_choice(args.steered)
        parameters.update(given_parameters)
        if rule:
            fields["steer_where"] = tuple(rule.items())
        if args.dt is None and args.network is not None and args.network.suffix != ".toml":
            fields["dt"] = STEERED_DT
    if parameters:
        fields["parameters"] = tuple(parameters.items())
    return fields


def taken(
    args: argparse.Namespace, names: Iterable[str], *, times: Iterable[str]
) -> dict[str, Any]:
    """Those of some options that are given: as they are, and times in s."""
    given = {name: getattr(args, name) for name in (*names, *times)}
    found = {name: value for name, value in given.items() if value is not None}
    for name in times:
        if name in found:
            found[name] = seconds(found[name], "--" + name.replace("_", "-"))
    return found


def _share(text: str) -> float:
    """The share of a --reroute: 30% or 0.3."""
    try:
        return float(text[:-1]) / 100.0 if text.endswith("%") else float(text)
    except ValueError:
        raise ScenarioError(f"--reroute {text[:60]!r}: wanted a share such as 30%") from None


def _shares(text: str) -> list[float]:
    """Numbers of a list such as "1,3,2"."""
    try:
        return [float(share) for share in text.split(",")]
    except ValueError:
        raise ScenarioError(
            f"--demand-profile {text[:60]!r}: wanted shares such as 1,3,2"
        ) from None
