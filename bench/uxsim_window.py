"""UXsim in a window of simulated time, on a SUMO grid with signals and its trips.

Run by peers.py in a fresh process. UXsim is mesoscopic: vehicles are points in the queues of a
road's lanes, `platoon` of them moved as one, in steps of as many seconds; there are no crossings,
no lane changes and no turns that yield. Its engine in C++, one thread, routes as given.
"""

import json
from pathlib import Path
from typing import Any

from fleets import trips_of
from fresh import task_of_this_process
from windows import window


def uxsim_window(task: dict[str, Any]) -> dict[str, Any]:
    """Warm up, then measure. Every `platoon`th trip stands for as many."""
    import sumolib  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import uxsim  # type: ignore[import-not-found, import-untyped, unused-ignore]

    platoon = task["platoon"]
    last = task["warm_up"] + task["blocks"] * task["block_s"] + platoon
    world = uxsim.World(
        cpp=True, deltan=platoon, tmax=last, print_mode=0, save_mode=0, show_mode=0,
        show_progress=0, random_seed=1, duo_update_time=10.0 * last, hard_deterministic_mode=False,
        vehicle_logging_timestep_interval=-1,
    )  # fmt: skip
    _add_network(world, sumolib.net.readNet(task["network"], withPrograms=True))
    for trip in trips_of(Path(task["demand"][-1]))[::platoon]:
        if trip.depart < last:
            roads = [world.get_link(road) for road in trip.roads]
            begin, end = roads[0].start_node, roads[-1].end_node
            world.addVehicle(begin, end, trip.depart).enforce_route(roads)
    world.exec_simulation(duration_t2=task["warm_up"])
    steps = round(task["block_s"] / platoon)

    def step_block() -> int:
        before = len(world.VEHICLES_RUNNING)
        world.exec_simulation(duration_t2=task["block_s"])
        return round(0.5 * platoon * steps * (before + len(world.VEHICLES_RUNNING)))

    def sample() -> tuple[int, float]:
        speeds = [vehicle.v for vehicle in world.VEHICLES_RUNNING.values()]
        return platoon * len(speeds), platoon * sum(speeds)

    figures = window(step_block, sample, task["blocks"], task["block_s"])
    return {
        "simulator": f"UXsim (mesoscopic), platoons of {platoon}" if platoon > 1 else "UXsim (mesoscopic)",
        "step_s": float(platoon), "threads": 1, **figures,
    }  # fmt: skip


def _add_network(world: Any, net: Any) -> None:
    """Nodes with the phases of their signals, links with the phases that let any lane of them go."""
    groups: dict[str, list[int]] = {}
    for node in net.getNodes():
        x, y = node.getCoord()
        programs = net.getTLS(node.getID()).getPrograms()
        phases = next(iter(programs.values())).getPhases()
        world.addNode(node.getID(), x, y, signal=[float(phase.duration) for phase in phases])
        for turn in node.getConnections():
            green = {k for k, at in enumerate(phases) if at.state[turn.getTLLinkIndex()] in "gG"}
            if turn.getDirection() == "s" or turn.getFrom().getID() not in groups:
                groups[turn.getFrom().getID()] = sorted(green)
    for edge in net.getEdges():
        world.addLink(
            edge.getID(), edge.getFromNode().getID(), edge.getToNode().getID(), edge.getLength(),
            free_flow_speed=edge.getSpeed(), number_of_lanes=edge.getLaneNumber(),
            jam_density_per_lane=1.0 / 7.5, signal_group=groups[edge.getID()],
        )  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(uxsim_window(task_of_this_process())), flush=True)
