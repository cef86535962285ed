"""Max pressure (Varaiya 2013) in Python, through `world.signals`, against the signals' own plans.

python examples/max_pressure.py [--minutes 15]
"""

import argparse

import numpy as np

import rushhour as rh


def choose(world: rh.World) -> None:
    """Give every signal the green whose movements have the highest pressure."""
    signals, arrays = world.signals, world.network.arrays
    length = arrays.lanes.length
    full = 7.5 * np.bincount(world.vehicles.lane, minlength=length.size) / length
    for i in range(len(signals)):
        movements, phases = signals.connectors(i), signals.phases(i)
        link = arrays.connectors.link[movements]
        before, behind = (
            arrays.connectors.from_lane[movements],
            arrays.connectors.to_lane[movements],
        )
        pressure = [
            sum(p for p, j in zip(full[before] - full[behind], link) if phases[green][0][j] in "Gg")
            for green in signals.greens(i)
        ]
        best = signals.greens(i)[int(np.argmax(pressure))]
        if best != signals.phase[i]:
            signals.set_phase(i, best)


def main() -> None:
    """Run the same demand twice and say how many cars stood on average."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=15.0)
    seconds = 60.0 * parser.parse_args().minutes
    network = rh.generate("grid", rows=3, columns=3, lanes=2)
    trips = rh.random_trips(network, int(1.5 * seconds), over=seconds, seed=1)
    for name in ("fixed plans", "max pressure"):
        world = rh.World(network, trips, dt=0.5, seed=1, begin=0.0)
        standing = []
        while world.time < seconds:
            if name == "max pressure" and world.active:
                choose(world)
            world.step(20)
            standing.append(int((world.vehicles.speed < 0.1).sum()) + world.waiting_to_depart)
        print(f"{name}: {np.mean(standing):.1f} cars stand on average, {world.arrived} arrived")


if __name__ == "__main__":
    main()
