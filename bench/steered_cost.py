"""What a steered vehicle costs alone: nanoseconds per vehicle of its follower and of its body.

python bench/steered_cost.py [--vehicles N] [--threads N] [--json FILE]

Cars, vans, trucks and buses on the paths of bench/path_following.py, at 30 Hz, after 5 simulated
seconds. follower: place on the path, Algorithm 1, target point, pure pursuit, PI, stuck manager;
body: tyres that slide; kinematic: the body that cannot slide, on one thread.
"""

from typing import Final

from timed_calls import begun, time_calls, timing_options, write

DT: Final = 1.0 / 30.0


def main() -> None:
    """Drive, time, print, write."""
    options, told = begun(timing_options(__doc__, 17_000))

    import numpy as np
    from following_trials import all_paths

    from rushhour.kernels.steering.bicycle import move_all_bodies, roll_bodies
    from rushhour.kernels.steering.following import follow_all_paths
    from rushhour.traffic.steering.classes import body_types
    from rushhour.traffic.steering.followers import Driver, at_start, driver_table

    n = options.vehicles
    paths, drivers = all_paths(range(20)), driver_table([Driver()])
    types = body_types(["car", "van", "truck", "bus"])
    each = np.arange(n)
    f, bodies = at_start(paths, each % (paths.start.size - 1), np.zeros(n), each % 4)
    for _ in range(round(5.0 / DT)):
        follow_all_paths(paths, drivers, types, f, bodies, DT)
        move_all_bodies(types, bodies, DT)
    parts = {
        "follower": lambda: follow_all_paths(paths, drivers, types, f, bodies, DT),
        "body": lambda: move_all_bodies(types, bodies, DT),
        "kinematic": lambda: roll_bodies(types, bodies, DT, 0, n),
    }
    time_calls(told, parts, n)
    write(told, options.json)


if __name__ == "__main__":
    main()
