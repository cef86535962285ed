"""More processes that fill the cache of kernels while the first one compiles what it needs.

A frame's kernels are compiled in the order in which they are first called, one after another. The
processes started here begin with the largest; no kernel is compiled twice, as each has a lock
(`kernels.compiling`).
"""

import atexit
import os
import subprocess
import sys
from functools import cache

MOST = 3  # processes besides the first: about ten kernels are worth the while


def helpers() -> int:
    """How many processes beside this one have a core of their own, and can share the work."""
    return min(MOST, len(os.sched_getaffinity(0)) - 1) if sys.platform == "linux" else 0


@cache
def start_helpers() -> None:
    """Let other processes compile the kernels of a frame as well, until this one ends; only once."""
    for k in range(helpers()):
        process = subprocess.Popen(
            [sys.executable, "-m", "rushhour.compiling_aside", str(k)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        atexit.register(process.wait)
        atexit.register(process.terminate)  # first: the last registered


def compile_a_frame(k: int) -> None:
    """Compile the kernels of a frame, the largest first; the k-th process begins with the k-th."""
    from rushhour.kernels.jit import rehearsed
    from rushhour.roadnets.generators.by_name import generate
    from rushhour.traffic.checker import Checker
    from rushhour.traffic.demand.random_trips import vehicles_on_road
    from rushhour.traffic.world import World

    network = generate("grid", rows=2, columns=2, control="signals")
    world = World(network, vehicles_on_road(network, 4, seed=1), dt=0.5, seed=1)
    with rehearsed() as calls:
        world.step()
    calls.sort(key=lambda call: -sum(map(len, call[0].layout.fields.values())))
    for kernel, arguments in calls[k:] + calls[:k]:
        kernel.prepare(*arguments)  # what another process is at comes from there
    world.observers.append(Checker(world))
    world.step()


if __name__ == "__main__":
    compile_a_frame(int(sys.argv[1]))
