"""The commands to single vehicles: what a vehicle must be to obey, and what it is then."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

ROAD, HALTED, ASIDE, RETURNING = "road", "halted", "aside", "returning"
WAITING, GONE, TAKEN = "waiting", "gone", "taken"
DRIVES: Final = (ROAD, HALTED)
# Why one cannot obey that must be something else.
WHY_NOT: Final = {
    ROAD: "drives and was not told to stop",
    HALTED: "stands in its lane; wanted one at the side of the road",
    ASIDE: "stands at the side of the road; put it back first",
    RETURNING: "waits at the side of the road for room to return",
    WAITING: "has not departed yet",
    GONE: "has arrived",
    TAKEN: "was removed",
}


@dataclass(frozen=True)
class Kind:
    """A command. obeys: what a vehicle is that can obey; arguments: besides the vehicle.

    becomes: what it is when it has obeyed; "" the same as before.
    """

    obeys: tuple[str, ...] = DRIVES
    arguments: tuple[str, ...] = ()
    becomes: str = ""


Plain = dict[str, Any]  # arguments of a command as JSON holds them


def no_arguments(given: Mapping[str, Any], count: int) -> list[Plain]:
    """Nothing for each of `count` vehicles."""
    return [{} for _ in range(count)]


def one_for_all(
    plain: Callable[[Mapping[str, Any]], Plain],
) -> Callable[[Mapping[str, Any], int], list[Plain]]:
    """The same arguments for each of `count` vehicles."""
    return lambda given, count: [dict(one) for one in [plain(given)] for _ in range(count)]


def nothing_hinders(number: int, given: Mapping[str, Any]) -> str:
    """Whatever else is so, the vehicle can obey."""
    return ""


@dataclass(frozen=True)
class VehicleCommand:
    """What a command to single vehicles does.

    do: obey, by number and arguments. plain: what is given to each of `count` vehicles, in plain
    values; raises CommandError. hindrance: why a vehicle cannot obey, "" if it can.
    """

    do: Callable[[int, Any], None]
    plain: Callable[[Mapping[str, Any], int], list[Plain]] = no_arguments
    hindrance: Callable[[int, Mapping[str, Any]], str] = nothing_hinders


@dataclass(frozen=True)
class WorldCommand:
    """What a command to the world does.

    plain: its arguments in plain values, given the time (s) for which it is planned; raises
    CommandError. apply: obey; why not, if that is impossible by now.
    """

    plain: Callable[[Mapping[str, Any], float], Plain]
    apply: Callable[[Mapping[str, Any]], str]


OF_VEHICLES: Final = {
    "stop": Kind(DRIVES, ("duration", "hard"), HALTED),
    "go_on": Kind((HALTED,), (), ROAD),
    "push_aside": Kind(DRIVES, (), ASIDE),
    "put_back": Kind((ASIDE,), (), RETURNING),
    "remove": Kind((ROAD, HALTED, ASIDE, RETURNING), (), TAKEN),
    "set_tier": Kind(DRIVES, ("tier",)),
    "set_route": Kind(DRIVES, ("roads",)),
    "set_destination": Kind(DRIVES, ("road",)),
    "stop_at": Kind(DRIVES, ("road", "position", "duration", "lane")),
    "leave_stop": Kind(DRIVES),
    "request_lane": Kind(DRIVES, ("lane", "duration")),
    "set_type": Kind(DRIVES, ("type_name",)),
    "set_speed": Kind(DRIVES, ("speed",)),
}
