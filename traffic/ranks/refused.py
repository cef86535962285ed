"""What ranks do not do: one table, asked before anything starts."""

from typing import Any, Final

from rushhour.roadnets.errors import RunError


class RankError(RunError):
    """What was asked for is not done on ranks; every rank comes to the same, so one of them says it."""


# Options of `rushhour run`, and fields of scenarios, by name, and why each is refused. All others are done.
REFUSED: Final[dict[str, str]] = {
    "budget": "it measures one machine; `rushhour profile --calibrate` says quotas to give",
}
TO_DO: Final = "start it without mpiexec (docs/ranks.md)"


def refuse_options(args: Any) -> None:
    """Raise RankError for an option of a command line that is given."""
    for name, why in REFUSED.items():
        if getattr(args, name):
            raise RankError(f"--{name} on several ranks: {why}; leave it out, or {TO_DO}")


def refuse_scenario(scenario: Any) -> None:
    """Raise RankError for what a scenario asks for, before anything is read."""
    for name, why in REFUSED.items():
        if getattr(scenario, name):
            raise RankError(
                f"{scenario.network.name}: {name} on several ranks: {why}; leave it out, or {TO_DO}"
            )


def refuse_budget(budget: object) -> None:
    """Raise RankError for a budget that is given."""
    if budget is not None:
        raise RankError(f"budget on several ranks: {REFUSED['budget']}; leave it out")
