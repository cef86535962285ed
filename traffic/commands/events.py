"""Events: commands that a scenario or a SUMO file plans before the run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rushhour.roadnets.errors import RushhourError
from rushhour.traffic.commands.limits import LIMIT
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.commands.ruling import GIVEN, STEER_WHERE
from rushhour.traffic.commands.signal_words import SIGNALLING

if TYPE_CHECKING:
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
    """One command and when. time: s; what lies before the begin of a run is done at its begin."""

    time: float
    action: str
    arguments: Mapping[str, Any]
    where: str = ""  # for messages


def plan_events(world: "World", events: Iterable[Event]) -> None:
    """Plan the events of a run in its world. Raises CommandError for what is not in the world."""
    for event in sorted(events, key=lambda event: event.time):
        given = dict(event.arguments)
        until = given.pop("until", None)
        try:
            world.schedule(max(event.time, world.begin), event.action, **given)
            if until is not None:
                if event.action == LIMIT:
                    given["speed"] = None
                opens = event.action.replace("close", "open")
                world.schedule(max(until, world.begin), opens, **given)
        except RushhourError as error:
            raise CommandError(f"{event.where}: {error}" if event.where else str(error)) from None
