"""What the poses for an engine cost: nanoseconds per vehicle, once a frame and for each picture.

python bench/poses.py [--vehicles N] [--threads N] [--json FILE]

A grid of signals with so many vehicles on the road. frame: placing everybody, once for each frame
that the world steps; picture: filling the arrays of the host, as often as it draws.
"""

from timed_calls import begun, grid_with, time_calls, timing_options, write


def main() -> None:
    """Step, time, print, write."""
    options, told = begun(timing_options(__doc__, 10_000))
    world = grid_with(options.vehicles)
    poses = world.poses()
    world.step(100)
    poses = world.poses(poses)
    keeper = world.observers[-1]
    parts = {"frame": keeper.observe, "picture": lambda: world.poses(poses, 0.5)}
    time_calls(told, parts, world.active)
    write(told, options.json)


if __name__ == "__main__":
    main()
