"""What bodies from outside cost: microseconds a frame for each, and a frame of a world without any.

python bench/bodies.py [--vehicles N] [--bodies N ...] [--threads N] [--json FILE]

A grid of signals with so many vehicles on the road, and walkers all over it, who are given anew in
every frame. phases: of a whole frame, ns per vehicle; the frame of none is the one to compare with.
"""

from statistics import median
from time import perf_counter
from typing import Final

from timed_calls import begun, grid_with, timing_options, write

FRAMES: Final = 60


def main() -> None:
    """Step, time, print, write."""
    parser = timing_options(__doc__, 5_000)
    parser.add_argument("--bodies", type=int, nargs="+", default=[0, 1, 100, 1000])
    options, told = begun(parser)
    if min(options.bodies) < 0:
        parser.error("wanted no number of bodies below 0")

    import numpy as np

    from rushhour.traffic.profiling.text_tables import table

    world = grid_with(options.vehicles)
    draw = np.random.default_rng(1)
    low, high = world.network.points.min(axis=0), world.network.points.max(axis=0)
    rows = []
    world.bodies.set([0], 0.0, 0.0)
    world.step(100)
    start = world.snapshot()
    for n in options.bodies:
        world.restore(start)
        world.bodies.clear()
        places = low + (high - low) * draw.random((n, 2))
        times, giving = [], []
        for _ in range(FRAMES):
            began = perf_counter()
            if n:
                places += 0.1
                world.bodies.set(np.arange(n), *places.T, vx=1.0, vy=1.0, length=0.5, width=0.5)
            given = perf_counter()
            world.step()
            times.append(1e3 * (perf_counter() - given))
            giving.append(1e6 * (given - began))
        told[str(n)] = {"ms_a_frame": median(times), "least_ms": min(times)}
        more = 1e3 * (median(times) - told[str(options.bodies[0])]["ms_a_frame"])
        each = f"{more / n:.1f}" if n else ""
        row = [f"{n:,}", f"{median(times):.2f}", f"{min(times):.2f}", f"{median(giving):.0f}", each]
        rows.append(row)
    heads = [f"bodies, {world.active:,} vehicles", "ms a frame", "least", "us to give", "us each"]
    print("\n".join(table(heads, rows)))
    write(told, options.json)


if __name__ == "__main__":
    main()
