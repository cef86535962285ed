"""Do signals that react beat those by the clock? Several seeds each, and how sure the answer is.

python examples/compare_policies.py [--seeds 6] [--trips 700]

Both policies get the same trips for a seed, so they are compared in pairs: what a seed does to both
is no noise. A difference counts where its 95 % interval leaves out 0.
"""

import argparse

import rushhour as rh
from rushhour.traffic.analysis.samples import difference, estimate

POLICIES = ("fixed", "max_pressure")


def time_lost(policy: str, trips: int, seed: int) -> float:
    """Mean time from the departure wished for to the arrival, s."""
    network = rh.generate("grid", rows=3, columns=3, lanes=2)
    demand = rh.random_trips(network, trips, over="10min", seed=seed)
    parameters = rh.Parameters({"signals.control": policy})
    world = rh.World(network, demand, parameters=parameters, dt=0.5, seed=seed)
    world.run(progress=False)
    return float((world.trips.arrived - demand.depart[world.trips.trip]).mean())


def main() -> None:
    """Compare the two."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--trips", type=int, default=700)
    given = parser.parse_args()
    seeds = range(1, given.seeds + 1)
    took = {policy: [time_lost(policy, given.trips, seed) for seed in seeds] for policy in POLICIES}
    for policy, values in took.items():
        mean = estimate(values)
        print(f"{policy:<13}{mean.mean:6.1f} s a trip, 95 % from {mean.low:.1f} to {mean.high:.1f}")
    change = difference(*took.values(), paired=True)
    sure = "significant" if change.significant else "not significant"
    print(
        f"{'difference':<13}{change.mean:+6.1f} s, from {change.low:+.1f} to {change.high:+.1f}: {sure}"
    )


if __name__ == "__main__":
    main()
