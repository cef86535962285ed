"""Steps of a signal environment per second: ours, and a loop over SUMO on the same network and trips.

python bench/rl.py [--side 4] [--minutes 10] [--trips 1500]

One agent per signal of a grid that SUMO's netgenerate makes; an action every 5 s, queues of all lanes
before a signal read for each. SUMO steps 1 s, ours 0.5 s. SUMO is driven through libsumo where it is
installed, else through TraCI, which comes with eclipse-sumo; queues by subscription, as sumo-rl does.
CityFlow is not on PyPI, so it is not measured here.
"""

import argparse
import importlib
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import rushhour as rh
from rushhour import rl
from rushhour.traffic.profiling.text_tables import table

EVERY = 5.0  # s between two actions
TURN = 4  # actions after which all signals change


def ours(network: Any, trips: Any, seconds: float) -> dict[str, Any]:
    """Figures of a PettingZoo loop; kernels are compiled before."""
    env = rl.SignalsEnv(network, trips, seconds=seconds, every=EVERY, dt=0.5)
    env.reset(seed=1)
    env.step(dict.fromkeys(env.agents, 1))
    env.reset(seed=1)
    began, steps = perf_counter(), 0
    while env.agents:
        env.step(dict.fromkeys(env.agents, steps // TURN % 2))
        steps += 1
    return figures("rushhour", steps, len(env.possible_agents), env.world.arrived, began)


def sumos(folder: Path, seconds: float) -> dict[str, Any]:
    """Figures of the same loop over SUMO's calls."""
    import sumo

    sys.path.append(str(Path(sumo.__file__).parent / "tools"))
    try:
        module, name = importlib.import_module("libsumo"), "SUMO, libsumo"
    except ModuleNotFoundError:
        module, name = importlib.import_module("traci"), "SUMO, TraCI"
    program = str(Path(sumo.__file__).parent / "bin" / "sumo")
    files = ["-n", str(folder / "grid.net.xml"), "-r", str(folder / "grid.rou.xml")]
    module.start([program, *files, "--no-step-log", "-W", "--time-to-teleport", "-1"])
    greens = {}
    for light in module.trafficlight.getIDList():
        phases = module.trafficlight.getAllProgramLogics(light)[0].phases
        greens[light] = [i for i, phase in enumerate(phases) if "y" not in phase.state]
        for lane in set(module.trafficlight.getControlledLanes(light)):
            module.lane.subscribe(lane, [module.constants.LAST_STEP_VEHICLE_HALTING_NUMBER])
    began, steps, arrived = perf_counter(), 0, 0
    while module.simulation.getTime() < seconds:
        if steps % TURN == 0:
            for light, phases in greens.items():
                module.trafficlight.setPhase(light, phases[steps // TURN % 2 % len(phases)])
        for _ in range(round(EVERY)):
            module.simulationStep()
            arrived += module.simulation.getArrivedNumber()
        module.lane.getAllSubscriptionResults()
        steps += 1
    row = figures(name, steps, len(greens), arrived, began)
    module.close()
    return row


def figures(name: str, steps: int, agents: int, arrived: int, began: float) -> dict[str, Any]:
    """A row of the table."""
    wall = perf_counter() - began
    return {
        "": name, "agents": agents, "steps": steps, "arrived": arrived, "wall s": wall,
        "steps/s": steps / wall, "actions/s": steps * agents / wall,
    }  # fmt: skip


def show(rows: list[dict[str, Any]]) -> None:
    """Print the table."""
    print("\n".join(table(list(rows[0]), [list(row.values()) for row in rows])))


def main() -> None:
    """Make the network and the trips, run both, print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--side", type=int, default=4, help="crossings along a side")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--trips", type=int, default=1500)
    options = parser.parse_args()
    seconds = 60.0 * options.minutes
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            import sumo
        except ModuleNotFoundError:
            print("eclipse-sumo is not installed (pip install 'rushhour[peers]'): ours alone")
            network = rh.generate("grid", rows=options.side, columns=options.side, lanes=2)
            trips = rh.random_trips(network, options.trips, seconds, seed=1)
            show([ours(network, trips, seconds)])
            return
        subprocess.run(
            [str(Path(sumo.__file__).parent / "bin" / "netgenerate"), "--grid",
             "--grid.number", str(options.side), "--grid.length", "200", "--grid.attach-length",
             "200", "-L", "2", "-j", "traffic_light", "-o", str(folder / "grid.net.xml")],
            check=True, capture_output=True,
        )  # fmt: skip
        network = rh.load_network(folder / "grid.net.xml")
        trips = rh.random_trips(network, options.trips, seconds, seed=1)
        ids = network.road_ids
        lines = [
            f'<trip id="{trips.ids[i]}" depart="{trips.depart[i]}" departLane="best" '
            f'from="{ids[way[0]]}" to="{ids[way[-1]]}"/>'
            for i, way in enumerate(
                trips.roads[a:b]
                for a, b in zip(trips.route_start[:-1], trips.route_start[1:], strict=True)
            )
        ]
        (folder / "grid.rou.xml").write_text("<routes>" + "\n".join(lines) + "</routes>")
        show([ours(network, trips, seconds), sumos(folder, seconds)])


if __name__ == "__main__":
    main()
