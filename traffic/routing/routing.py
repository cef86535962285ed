"""The routing of a world: whoever finds, changes or chooses ways while it runs."""

from rushhour.roadnets.facts import Part
from rushhour.traffic.ranks.ways import SharedWays
from rushhour.traffic.routing.choosing import Choosing
from rushhour.traffic.routing.detours import Detours
from rushhour.traffic.routing.minds import Minds
from rushhour.traffic.routing.rerouting import Rerouting
from rushhour.traffic.sim.sim import Sim


class Routing(Part):
    """Changes of mind, detours, the ways that trips choose as they depart, and rerouting."""

    def __init__(self, sim: Sim) -> None:
        number = sim.parameters.number
        self.minds = Minds(
            sim.network, sim.routes, sim.dt, number("gridlock.change_mind_after"),
            number("gridlock.turn_off_after"), number("gridlock.change_mind_share"),
            bool(sim.parameters["gridlock.keep_routes"]), number("gridlock.turn_across_after"),
        )  # fmt: skip
        self.shared = SharedWays(sim, self)
        self.detours = Detours(sim, self)
        self.choosing = Choosing(sim, self)
        self.rerouting = Rerouting(sim, self)
