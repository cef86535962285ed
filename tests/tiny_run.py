"""Step tiny worlds and print their state hashes; run in a process of its own, compiled or not."""

import sys

from checked_runs import checked

from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.settings.parameter_table import CONTROLS
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World


def tiny_hash(control: str, frames: int) -> tuple[str, dict[str, int]]:
    """State hash and violations of a crossing with a few cars after some frames.

    control: of the crossing, or a control of its signals.
    """
    by = control if control in CONTROLS else "program"
    given = Parameters({"signals.control": by})
    network = generate(
        "cross", length=80.0, lanes=2, control="signals" if control in CONTROLS else control
    )
    cars = vehicles_on_road(network, 24, seed=3)
    world = World(network, cars, parameters=given, dt=0.25, seed=3)
    checker = checked(world)
    world.step(frames)
    return world.state_hash(), checker.violations


if __name__ == "__main__":
    for control in sys.argv[2:]:
        print(tiny_hash(control, int(sys.argv[1]))[0])
