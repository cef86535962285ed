"""From a pandas table of trips to a run and back to a table; more vehicles join while it runs.

python examples/from_table.py [--trips 300]
"""

import argparse

import numpy as np
import pandas as pd

import rushhour as rh
from rushhour.roadnets.model import Network


def table_of_trips(network: Network, count: int, seed: int, first: float) -> pd.DataFrame:
    """Trips between roads drawn at random, over two minutes from `first` (s); a tenth are trucks."""
    draw = np.random.default_rng(seed)
    roads = network.roads.to_pandas().id
    sources = roads[roads.str.contains(r"^\d\.(?:west|east)-\d\.\d$")].to_numpy()
    sinks = roads[roads.str.contains(r"^\d\.\d-(?:north|south)\.\d$")].to_numpy()
    return pd.DataFrame(
        {
            "id": [f"{seed}.{k}" for k in range(count)],
            "depart": first + draw.uniform(0.0, 120.0, count).round(1),
            "origin": draw.choice(sources, count),
            "destination": draw.choice(sinks, count),
            "type": draw.choice(["car", "truck"], count, p=[0.9, 0.1]),
        }
    )


def main() -> None:
    """Run a table, let another one join, tell how long the trips took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trips", type=int, default=300)
    count = parser.parse_args().trips
    network = rh.generate("grid", rows=4, columns=4, lanes=2)
    demand = rh.read_trips(table_of_trips(network, count, 1, 0.0), network)
    world = rh.World(network, demand, dt=0.5, seed=1)
    world.run("3min", progress=False)
    world.add_vehicles(table_of_trips(network, count // 3, 2, world.time))
    world.run(progress=False)
    trips = world.trip_table()
    trips["wave"] = trips.trip.str[0]
    print(trips.groupby(["wave", "vehicle_type"]).travel_time_s.agg(["size", "mean"]).round(1))


if __name__ == "__main__":
    main()
