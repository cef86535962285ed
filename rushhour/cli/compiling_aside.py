"""Compiling all kernels, by several processes side by side.

Each begins with another kernel, and none is compiled twice, as each has a lock (`kernels.compiling.compile_locks`).
What kernels call, each process lowers for itself: so this shares out what takes minutes, not the
kernels of a first frame.
"""

import atexit
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rushhour.kernels.compiling.jit import StateKernel
    from rushhour.traffic.world import World

Call = tuple["StateKernel", tuple[Any, ...]]
MOST = 3  # processes besides the first: about ten kernels are worth the while


def helpers() -> int:
    """How many processes beside this one have a core of their own, and can share the work."""
    return min(MOST, len(os.sched_getaffinity(0)) - 1) if sys.platform == "linux" else 0


def start_helpers() -> None:
    """Let other processes compile everything as well, until this one ends."""
    for k in range(helpers()):
        process = subprocess.Popen(
            [sys.executable, "-m", "rushhour.cli.compiling_aside", str(k)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        atexit.register(process.wait)
        atexit.register(process.terminate)  # first: the last registered


def tiny_world() -> "World":
    """Four vehicles on a grid with signals."""
    from rushhour.roadnets.generators.by_name import generate
    from rushhour.traffic.demand.random_trips import vehicles_on_road
    from rushhour.traffic.world import World

    network = generate("grid", rows=2, columns=2, control="signals")
    return World(network, vehicles_on_road(network, 4, seed=1), dt=0.5, seed=1)


def calls_of_a_frame(world: "World") -> list["Call"]:
    """The calls of a world's first frame, those of the largest kernels first, none of them made."""
    from rushhour.kernels.compiling.jit import rehearsed

    with rehearsed() as calls:
        world.step()
    return sorted(calls, key=lambda call: -sum(map(len, call[0].layout.fields.values())))


def prepare(calls: list["Call"]) -> None:
    """Compile what calls need; what another process is at comes from there."""
    for kernel, arguments in calls:
        kernel.prepare(*arguments)


def compile_a_frame(k: int) -> None:
    """Compile the kernels of a frame, the largest first; the k-th process begins with the k-th."""
    from rushhour.traffic.checker import Checker

    world = tiny_world()
    calls = calls_of_a_frame(world)
    prepare(calls[k:] + calls[:k])
    world.observers.append(Checker(world))
    world.step()


def compile_everything(k: int) -> None:
    """Compile every kernel: those of a frame, then what tiny worlds of each kind call besides.

    The k-th process begins with another kernel and another kind.
    """
    compile_a_frame(k)
    kinds = [_command_a_world, _run_all_controls, _save_and_draw, _tell_signals, _race, _chase]
    for kind in kinds[k:] + kinds[:k]:
        kind()


def _run_all_controls() -> None:
    from rushhour.roadnets.generators.by_name import generate
    from rushhour.traffic.checker import Checker
    from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
    from rushhour.traffic.measures.measuring import Measures
    from rushhour.traffic.world import World

    for control in ("signals", "all_way_stop", "priority"):
        network = generate("grid", rows=3, columns=3, control=control)
        for demand in (
            random_trips(network, 200, 60.0, seed=1),
            vehicles_on_road(network, 150, seed=1),
        ):
            world = World(network, demand, dt=0.5, seed=1)
            world.observers += [Checker(world), Measures(world, queues=True)]
            world.step(240)


def _save_and_draw() -> None:
    from rushhour.cli.one_run import save_last_frame
    from rushhour.roadnets.storage import load, save
    from rushhour.traffic.analysis.exporting import export_frames
    from rushhour.traffic.recording.recorder import Recorder
    from rushhour.traffic.recording.run_file import RunFile

    world = _busy_world()
    with tempfile.TemporaryDirectory() as folder:
        with Recorder(Path(folder) / "run.h5", world, precision="full") as recorder:
            world.observers.append(recorder)
            world.step(40)
        with RunFile(Path(folder) / "run.h5") as run:
            run.positions(run.times[-1] - 0.5)
            export_frames(run, "csv", Path(folder) / "run.csv")
        _look_at(Path(folder) / "run.h5")
        save(world.network, Path(folder) / "grid.h5")
        load(Path(folder) / "grid.h5")
        save_last_frame(world, Path(folder) / "grid.png")


def _look_at(path: Path) -> None:
    """What the viewer calls; nothing is drawn, so that no OpenGL is needed."""
    import numpy as np

    from rushhour.kernels.drawing.packing import dot_vehicles, pack_visible
    from rushhour.viewer.actions import Click
    from rushhour.viewer.recorded import RunSource
    from rushhour.viewer.scene import codes
    from rushhour.viewer.session import Session

    session = Session(RunSource(path), 64, 64)
    session.do(Click(32.0, 32.0))
    scene = session.scene()
    moment, told, box = scene.moment, scene.coloured, scene.camera.box
    packed, image = np.zeros((1024, 4), np.float32), np.zeros((64, 64, 4), np.uint8)
    pack_visible(
        moment.x, moment.y, moment.heading, codes(moment, told), np.array(box), np.zeros(2), packed
    )
    dot_vehicles(
        moment.x, moment.y, told.colour, told.palette, box[0], box[3], scene.camera.scale, 2,
        np.zeros((64, 64, 4), np.int32), image,
    )  # fmt: skip


def _race() -> None:
    """Generate paths of racers, and let cars race."""
    import numpy as np

    from rushhour.games.racing.car_race import CarRace
    from rushhour.games.racing.course import oval_course
    from rushhour.games.racing.race_paths import generate_races
    from rushhour.roadnets.racetracks import build_track

    generate_races(oval_course(24.0, 12.0, 12.0), racers=2)
    angle = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)
    ring = np.column_stack((np.cos(angle), np.sin(angle)))
    CarRace(build_track(60.0 * ring, 72.0 * ring, line_speed=10.0), cars=2).step(1)


def _chase() -> None:
    """Let two opponents hunt a target, until it has had its start."""
    from rushhour.games.opponents.chase import Chase
    from rushhour.roadnets.generators.by_name import generate
    from rushhour.traffic.demand.random_trips import vehicles_on_road
    from rushhour.traffic.world import World

    network = generate("grid", rows=2, columns=2, lanes=2)
    world = World(network, vehicles_on_road(network, 20, seed=1), dt=0.1, seed=1)
    world.step()
    Chase(world, 2, seed=1)
    world.step(120)


def _tell_signals() -> None:
    """Tell signals what to show, and ask what environments and CityFlow's face ask."""
    import numpy as np

    from rushhour.kernels.geometry.pose import lane_pose, raise_bodies
    from rushhour.kernels.measuring.lane_loads import LaneLoads, read_loads
    from rushhour.roadnets.generators.by_name import generate
    from rushhour.traffic.demand.random_trips import random_trips
    from rushhour.traffic.world import World

    network = generate("grid", rows=2, columns=2)
    world = World(network, random_trips(network, 20, 10.0, seed=1), dt=0.5, seed=1)
    world.signals.set_phase(0, 0, duration=1.0)
    world.step()
    world.signals.hold()
    world.step()
    loads = LaneLoads(*(np.zeros(network.n_lanes, np.int64) for _ in LaneLoads._fields))
    read_loads(network.arrays.lanes, world.sim.veh, loads, world.frame)
    lane_pose(network.points, network.station, 0, int(network.point_start[1]), 1.0)
    veh = world.sim.veh
    raise_bodies(
        network.height, network.station, network.point_start, veh.lane, veh.s, veh.length,
        np.zeros((veh.lane.size, 2)), 0, 0,
    )  # fmt: skip


def _command_a_world() -> None:
    """Let vehicles stop, leave the road, come back, steer and be driven, round what is closed, and
    go elsewhere."""
    world = _busy_world()
    world.step(40)
    stops, stands_aside, leaves, *_ = world.vehicles.id.tolist()
    start, end = world.demand.route_start[-2:]
    ahead = world.demand.roads[(start + end) // 2]  # on the way of the last to depart
    world.stop(stops)
    world.push_aside(stands_aside)
    world.remove(leaves)
    world.set_tier(world.vehicles.id.tolist()[3:6], "driven")
    world.set_destination(stops, world.demand.roads[world.demand.route_start[stops + 1] - 1])
    world.close_roads(ahead)
    world.set_speed_limit(ahead, 30.0)
    world.step(10)
    world.put_back(stands_aside)
    world.open_roads(ahead)
    world.poses(alpha=0.5)
    world.lanes.table()
    world.bodies.set([1], *world.network.points[0])
    world.add_vehicles([{"origin": world.network.road_ids[0], "destination": ahead}])
    world.step(4)
    world.step(40)


def _busy_world() -> "World":
    """Trips whose drivers change their ways."""
    from rushhour.roadnets.generators.by_name import generate
    from rushhour.traffic.demand.random_trips import random_trips
    from rushhour.traffic.settings.parameters import Parameters
    from rushhour.traffic.world import World

    network = generate("grid", rows=3, columns=3, control="priority")
    given = Parameters({"rerouting.fraction": 1.0, "rerouting.period": 5.0, "steered.share": 0.5})
    demand = random_trips(network, 100, 20.0, seed=1)
    return World(network, demand, parameters=given, dt=0.5, seed=1)


if __name__ == "__main__":
    compile_everything(int(sys.argv[1]))
