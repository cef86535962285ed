"""A third of the cars follow by a function of one's own: adaptive cruise control beside people.

python examples/own_car_following.py [--vehicles 60]

On a ring road somebody stops for 20 s. People (IDM, soft acceleration) keep the wave alive that it
makes. The others hold a constant time gap, by gains on gap and speed, and damp it.
"""

import argparse
from dataclasses import replace
from math import inf

import numpy as np
from numba import njit

import rushhour as rh

GAP_GAIN, SPEED_GAIN = 0.25, 0.7  # 1/s^2, 1/s


@njit
def cruise_control(v, v0, gap, v_lead, accel, decel, min_gap, time_gap):
    """Acceleration, m/s^2, towards a constant time gap; see docs/models.md for the arguments."""
    free = accel * (1.0 - v / v0)
    if gap == inf:
        return free
    return min(free, GAP_GAIN * (gap - min_gap - time_gap * v) + SPEED_GAIN * (v_lead - v))


def main() -> None:
    """Compare speeds on the ring with and without them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vehicles", type=int, default=60)
    count = parser.parse_args().vehicles
    network = rh.generate("ring", circumference=25.0 * count, lanes=1)
    people = rh.vehicles_on_road(network, count, seed=1)
    slow = replace(people.types[0], name="person", accel=0.6, decel=1.5, time_gap=1.0)
    cruising = replace(slow, name="acc")
    for share in (0.0, 1 / 3):
        kinds = (np.arange(count) < share * count).astype(np.int32)
        mixed = replace(
            people, types=(slow, cruising), type=np.random.default_rng(1).permutation(kinds)
        )
        world = rh.World(network, mixed, dt=0.25, seed=1, car_following={"acc": cruise_control})
        world.schedule("1min", "stop", vehicle=0, duration=20.0)  # one of them, once
        world.run("10min", progress=False)
        speed = world.vehicles.speed
        print(
            f"{share:4.0%} cruise: {speed.mean():5.2f} m/s, from {speed.min():.1f} to {speed.max():.1f}"
        )


if __name__ == "__main__":
    main()
