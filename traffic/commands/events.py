"""Events: commands that a scenario or a SUMO file plans before the run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any, Final

from rushhour.roadnets.errors import RushhourError
from rushhour.traffic.commands.kinds import OF_VEHICLES
from rushhour.traffic.commands.limits import LIMIT
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.commands.ruling import GIVEN, STEER_WHERE
from rushhour.traffic.commands.signal_words import SIGNALLING
from rushhour.traffic.words.durations import clock

if TYPE_CHECKING:
    from rushhour.roadnets.model import Network
    from rushhour.traffic.settings.parameters import Parameters
    from rushhour.traffic.world import World

# Actions and what is given to them, besides the time.
ACTIONS: Final[dict[str, tuple[str, ...]]] = {
    "stop": ("vehicle", "duration", "hard"),
    "go_on": ("vehicle",),
    "push_aside": ("vehicle",),
    "put_back": ("vehicle",),
    "remove": ("vehicle",),
    "set_tier": ("vehicle", "tier"),
    **SIGNALLING,
    STEER_WHERE: GIVEN,
    "close_lanes": ("lanes", "until"),
    "open_lanes": ("lanes",),
    "close_roads": ("roads", "until"),
    "open_roads": ("roads",),
    "set_speed_limit": ("places", "speed", "until"),
}
MOST_EVENTS: Final = 100_000


@dataclass(frozen=True)
class Event:
    """One command and when. time: s; what lies before the begin of a run is done at its begin, if it is not over."""

    time: float
    action: str
    arguments: Mapping[str, Any]
    where: str = ""  # for messages


def check_events(network: "Network", parameters: "Parameters", events: Iterable[Event]) -> None:
    """Refuse events that cannot be meant in a network, whoever drives there; ids of vehicles are not looked for.

    Raises CommandError.
    """
    from rushhour.traffic.world import World

    given = sorted(events, key=lambda event: event.time)
    if not given:
        return
    world = World(network, parameters=parameters)
    for event in given:
        rest = {
            key: value for key, value in event.arguments.items() if not key.startswith("vehicle")
        }
        if event.action not in OF_VEHICLES:
            plan_events(world, [replace(event, arguments=rest)])
            continue
        try:
            world.control.fleet.commands[event.action].plain(rest, 1)
        except RushhourError as error:
            raise _told(event, error) from None


def early_events(events: Iterable[Event], begin: float) -> list[str]:
    """What becomes of events of before the begin of a run, s: remarks."""
    told = []
    for event in events:
        if event.time < begin:
            over = event.arguments.get("until", inf) <= begin
            becomes = "is left out, as it is over by then" if over else "is done then"
            told.append(
                f"{event.where}: {event.action} of {clock(event.time)}, before the run begins at {clock(begin)}, {becomes}"
            )
    return told


def _told(event: Event, error: RushhourError) -> CommandError:
    """What is wrong with an event, and where it was read."""
    return CommandError(f"{event.where}: {error}" if event.where else str(error))


def plan_events(world: "World", events: Iterable[Event]) -> None:
    """Plan the events of a run in its world. Raises CommandError for what is not in the world."""
    for event in sorted(events, key=lambda event: event.time):
        given = dict(event.arguments)
        until = given.pop("until", None)
        if until is not None and until <= world.begin:
            continue  # it is over
        try:
            world.schedule(max(event.time, world.begin), event.action, **given)
            if until is not None:
                if event.action == LIMIT:
                    given["speed"] = None
                opens = event.action.replace("close", "open")
                world.schedule(max(until, world.begin), opens, **given)
        except RushhourError as error:
            raise _told(event, error) from None
