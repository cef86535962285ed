"""`rushhour demo`: a town, a few thousand vehicles, a recording, a page and a picture, from nothing."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rushhour.cli.common_options import add_json, add_seed, add_threads
from rushhour.cli.outputs import add_output_folder
from rushhour.cli.progress import compile_bar
from rushhour.roadnets.errors import RunError
from rushhour.traffic.words.durations import clock, seconds

if TYPE_CHECKING:
    from rushhour.traffic.demand.model import VehicleType
    from rushhour.traffic.settings.parameters import Parameters

DEMO_DT: Final = 0.1  # s
SHARES: Final = {"car": 0.86, "van": 0.07, "truck": 0.02, "bus": 0.01, "motorcycle": 0.04}


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add_output_folder(command, "--out", default=Path("out"),
        help="where demo.html, demo.h5 and demo.png are written (default: out)")  # fmt: skip
    command.add_argument("--vehicles", type=int, default=2000, metavar="N",
        help="vehicles on the road (default: 2000)")  # fmt: skip
    command.add_argument(
        "--duration", default="5min", metavar="T", help="simulated time (default: 5min)"
    )
    add_seed(command, 1, "(default: 1)")
    add_threads(command)  # fmt: skip
    add_json(command)


def demo(args: argparse.Namespace) -> int:
    """Run the demo town."""
    from rushhour.cli.one_run import drive, save_last_frame, say
    from rushhour.traffic.scenarios.scenario import Scenario
    from rushhour.traffic.settings.parameters import Parameters
    from rushhour.viewer.page.of_run import save_run_page

    scenario = Scenario(
        network=args.out / "demo.h5",
        vehicles=args.vehicles,
        duration=seconds(args.duration, "--duration"),
        dt=DEMO_DT,
        seed=args.seed,
        record=args.out / "demo.h5",
        record_every=1.0,
    )
    args.out.mkdir(parents=True, exist_ok=True)
    parameters = Parameters()
    with compile_bar():
        from rushhour.roadnets.generators.by_name import generate
        from rushhour.traffic.demand.random_trips import vehicles_on_road
        from rushhour.traffic.world import World

        say(args, "building the town")
        network = generate("town", seed=1)
        say(args, "putting vehicles on the road")
        types, shares = traffic_mix(parameters)
        demand = vehicles_on_road(
            network, args.vehicles, seed=args.seed, vehicle_types=types, shares=shares
        )
        world = World(network, demand, parameters=parameters, dt=DEMO_DT, seed=args.seed)
    code, _ = drive(world, scenario, as_json=args.json)
    picture = args.out / "demo.png"
    with compile_bar():
        if not _shot(scenario.record, picture):
            save_last_frame(world, picture, f"rushhour demo, {clock(world.time)}")
        page = args.out / "demo.html"
        say(args, "writing the page")
        save_run_page(args.out / "demo.h5", page, "rushhour demo: a town")
    if not args.json:
        print(f"{'written':<12} {page} (open it in a browser: it plays)")
        print(f"{'':<12} {scenario.record} (the run), {picture} (its last frame)")
    return code


def _shot(run: Path | None, picture: Path) -> bool:
    """Draw the last frame of the recorded run by OpenGL; whether that is there to draw with."""
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.viewer.actions import Ends
    from rushhour.viewer.recorded import RunSource
    from rushhour.viewer.session import Session
    from rushhour.viewer.shots import SHOT_SIZE, save_shot

    if run is None:
        return False
    with RunFile(run) as recorded:
        session = Session(RunSource(recorded), *SHOT_SIZE)
        session.do(Ends(last=True))
        try:
            save_shot(picture, session)
        except RunError:
            return False
    return True


def traffic_mix(parameters: "Parameters") -> tuple[tuple["VehicleType", ...], Sequence[float]]:
    """The vehicle types of a town and their shares."""
    types = tuple(parameters.vehicle_type(name) for name in SHARES)
    # Walkers draw any exit that a car may take, so every type counts as a car here.
    return tuple(replace(kind, vehicle_class="passenger") for kind in types), list(SHARES.values())
