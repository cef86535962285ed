"""The routing of a world: whoever finds, changes or chooses ways while it runs."""

from rushhour.traffic.routing.choosing import Choosing
from rushhour.traffic.routing.detours import Detours
from rushhour.traffic.routing.minds import Minds
from rushhour.traffic.routing.rerouting import Rerouting


class Routing:
    """Changes of mind, detours, the ways that trips choose as they depart, and rerouting."""

    minds: Minds
    detours: Detours
    choosing: Choosing
    rerouting: Rerouting
