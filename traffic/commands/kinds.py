"""The commands to single vehicles: what a vehicle must be to obey, and what it is then."""

from dataclasses import dataclass
from typing import Final

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
