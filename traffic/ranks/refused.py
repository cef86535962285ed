"""What ranks do not do yet: one table, asked before anything starts."""

from typing import TYPE_CHECKING, Any, Final

from rushhour.roadnets.errors import RunError

if TYPE_CHECKING:
    from rushhour.traffic.settings.parameters import Parameters


class RankError(RunError):
    """What was asked for is not done on ranks; every rank comes to the same, so one of them says it."""


# Options of `rushhour run` by name, and why each is refused. All others are done.
OPTIONS: Final[dict[str, str]] = {
    "steered": "bodies that steer are not divided",
    "quotas": "of quotas all but steered are counted by all",
    "budget": "it measures one machine; `rushhour profile --calibrate` says quotas to give",
}
QUOTAS: Final = ("vehicles", "lanes", "routing", "wait_for")  # that are done
# The same of parameters, by how they begin.
PARAMETERS: Final[dict[str, str]] = {
    "steered.share": OPTIONS["steered"],
    "steered.bodies": OPTIONS["steered"],
    # Not by the table of quotas: options are made without numba.
    "quota.steered": OPTIONS["quotas"],
}
# And of scenarios, by field.
SCENARIO: Final[dict[str, str]] = {
    "budget": "budget", "steer_where": "steered",
}  # fmt: skip
TO_DO: Final = "start it without mpiexec (docs/ranks.md)"


def refuse_options(args: Any) -> None:
    """Raise RankError for an option of a command line that is given."""
    for name, why in OPTIONS.items():
        given = getattr(args, name)
        if name == "quotas":
            given = [quota for quota in given if quota.split("=")[0].strip() not in QUOTAS]
        if given:
            option = {"quotas": "quota"}.get(name, name).replace("_", "-")
            raise RankError(f"--{option} on several ranks: {why}; leave it out, or {TO_DO}")


def refuse_scenario(scenario: Any) -> None:
    """Raise RankError for what a scenario asks for, its parameters among it, before anything is read."""
    from rushhour.traffic.settings.parameters import Parameters

    refuse_parameters(Parameters(dict(scenario.parameters)))
    for field, option in SCENARIO.items():
        if getattr(scenario, field):
            raise RankError(
                f"{scenario.network.name}: {field} on several ranks: {OPTIONS[option]}; leave it out, "
                f"or {TO_DO}"
            )


def refuse_parameters(parameters: "Parameters", budget: object = None) -> None:
    """Raise RankError for parameters that differ from their defaults, and a budget."""
    for name in parameters.changed():
        for begin, why in PARAMETERS.items():
            if name.startswith(begin):
                raise RankError(f"{name} on several ranks: {why}; leave it out, or {TO_DO}")
    if budget is not None:
        raise RankError(f"budget on several ranks: {OPTIONS['budget']}; leave it out")
