"""Roads are closed in the rush hour, with and without drivers who look at the traffic.

python examples/closure.py [--trips 1800]

Prints how long trips take as ever, with two roads in the middle closed for eight minutes, and with
the same where half of the drivers look for a faster way every minute.
"""

import argparse

import rushhour as rh

CLOSED = ["2.2-2.3", "2.3-2.2"]


def travel_times(trips: int, closed: bool, share: float) -> tuple[float, int, int]:
    """Mean travel time (s), trips that arrived, and changes of a route."""
    network = rh.generate("grid", rows=5, columns=5, lanes=2)
    demand = rh.random_trips(network, trips, over="10min", seed=1)
    given = rh.Parameters({"rerouting.fraction": share, "rerouting.period": 60.0})
    world = rh.World(network, demand, parameters=given, dt=0.5, seed=1)
    if closed:
        world.schedule("2min", "close_roads", roads=CLOSED)
        world.schedule("10min", "open_roads", roads=CLOSED)
    world.run("25min", progress=False)
    log = world.trips
    return float((log.arrived - log.departed).mean()), world.arrived, world.counts()["rerouted"]


def main() -> None:
    """Compare the three."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trips", type=int, default=1800)
    trips = parser.parse_args().trips
    for name, closed, share in (
        ("as ever", False, 0.0),
        ("closed", True, 0.0),
        ("closed, half look at the traffic", True, 0.5),
    ):
        mean, arrived, changes = travel_times(trips, closed, share)
        print(f"{name:<34}{mean:6.1f} s a trip, {arrived} arrived, {changes} changes of a route")


if __name__ == "__main__":
    main()
