"""One rank's share of a country: recorded beside a rank that has all the rest, or replayed from its file.

Run by ranks.py: of two processes under mpiexec the first has the share; alone it is replayed.
"""

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from country import kept
from numpy.typing import NDArray
from ranks_messages import Recording, Replay, ShareError
from ranks_world import Timed

from rushhour.roadnets.gate import fingerprint
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.model import empty_demand
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.keyframes.hashing import Sum, vehicle_sum
from rushhour.traffic.ranks.parts import divide
from rushhour.traffic.world import World

MB = 1e6


def memory(what: str) -> float:
    """MB of this process; what: VmRSS now, VmHWM at most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what + ":"):
            return int(line.split()[1]) * 1024 / MB
    raise OSError(f"/proc/self/status has no {what}")


def metres_of(network: Network) -> float:
    """All lanes of its roads."""
    return float(network.arrays.lanes.length[: network.n_road_lanes].sum())


def opened(task: dict[str, Any], network: Network, comm: Any) -> World:
    """The world of a task: so much lane for each vehicle, and all on the road from the first frame on.

    Of two ranks the first has the share, the second all other parts.
    """
    demand = vehicles_on_road(network, int(metres_of(network) / task["room"]), seed=1)
    parts = divide(network, empty_demand(), task["parts"])
    two = np.where(parts == task["share"], 0, 1)
    return World(network, demand, dt=0.25, seed=7, comm=comm, parts=two)


def own(world: World) -> NDArray[np.int64]:
    """The vehicles of this rank."""
    domain, lane = world.sim.domain, world.sim.veh.lane
    if not domain.complete:
        return domain.slots()
    here = np.flatnonzero(lane >= 0)
    return here[domain.division.own[lane[here]]]


def sum_of(world: World, slots: NDArray[np.int64]) -> Sum:
    """What some vehicles add to the state hash."""
    return vehicle_sum(b"vehicle", world.sim.veh, world.sim.routes, slots)


def unread(world: World) -> ExitStack:
    """While what this returns is kept, no step brings all vehicles together for whoever reads them.

    It is not left as a block is: there all would come together.
    """
    stack = ExitStack()
    stack.enter_context(world.sim.domain.unread())
    return stack


def stepped(world: World, frames: int, comm: Recording | Replay) -> list[list[float]]:
    """Of each frame: all have come together, ms of processor time without messages, bytes received, own
    vehicles, copies, MB of the process."""
    domain, found, in_parts = world.sim.domain, [], unread(world)
    for frame in range(frames):
        received, apart = comm.received, comm.seconds
        begun = process_time()
        world.step()
        took = process_time() - begun - (comm.seconds - apart)
        mine = own(world)
        found.append([
            domain.complete, 1e3 * took, comm.received - received, mine.size,
            world.sim.n - mine.size, memory("VmRSS"),
        ])  # fmt: skip
        comm.mark(frame, sum_of(world, mine).tobytes())
    del in_parts
    return found


def recorded(task: dict[str, Any], comm: Any) -> dict[str, Any] | None:
    """Step it on two ranks; the first writes its messages to task["file"] and returns its frames."""
    network = kept(Path(task["file"]).parent, task["cities"], task["side"])
    if comm.rank:
        world = opened(task, network, Timed(comm))  # which, as a Recording, is not duplicated
        in_parts = unread(world)
        for _ in range(task["frames"]):
            world.step()
        del in_parts
        return None
    head = {"task": task, "network": fingerprint(network)}
    recording = Recording(comm, Path(task["file"]), head)
    rows = stepped(opened(task, network, recording), task["frames"], recording)
    recording.file.close()
    return {"rows": rows, "peak_mb": memory("VmHWM")}


def replayed(file: Path) -> dict[str, Any]:
    """Step the share of a file again, alone. Raises ShareError where it does not come to the same."""
    replay = Replay(file)
    task, times = replay.head["task"], [process_time()]
    network = kept(file.parent, task["cities"], task["side"])
    if fingerprint(network) != replay.head["network"]:
        raise ShareError(f"{file}: it was recorded on another network; record it anew")
    times.append(process_time())
    world = opened(task, network, replay)
    times.append(process_time())
    built_mb = memory("VmRSS")
    rows = stepped(world, task["frames"], replay)
    return {
        "rows": rows, "peak_mb": memory("VmHWM"), "built_mb": built_mb, "task": task,
        "roads": network.n_roads, "lanes": network.n_lanes, "vehicles": len(world.demand),
        "read_s": times[1] - times[0], "built_s": times[2] - times[1],
        "lane_km": world.sim.domain.division.facts["lane_km"][0],
        "sum": sum_of(world, own(world)).tobytes().hex(),
    }  # fmt: skip


def main() -> None:
    """Do a task; what came of it goes to its answer, or is printed."""
    task = json.loads(sys.argv[1])
    if task["ranks"] == 1:
        try:
            print(json.dumps(replayed(Path(task["file"]))))
        except ShareError as error:
            sys.exit(str(error))
        return
    from mpi4py import MPI

    found = recorded(task, MPI.COMM_WORLD)
    if found is not None:
        Path(task["answer"]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
