"""`rushhour profile`: what a frame costs, phase by phase, held against a budget."""

import argparse
from contextlib import ExitStack
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rushhour.cli.common_options import add_json
from rushhour.cli.outputs import FIGURE, H5, JSON, add_output
from rushhour.cli.progress import bar, compile_bar
from rushhour.cli.world_options import add_world_options
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.words.durations import seconds

if TYPE_CHECKING:
    from rushhour.traffic.profiling.profile import Profile
    from rushhour.traffic.world import World

FRAMES: Final = 600
FRAMES_OF_A_SIZE: Final = 200  # of each size of a sweep
WARM_UP: Final = 60.0  # s
ON_A_GRID: Final = ("--sweep", "--find-vehicles")


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add_world_options(command)
    add = command.add_argument
    add("--warm-up", metavar="T", help="simulated time before anything is measured (default: 1min)")
    add("--frames", type=int, metavar="N", help="frames to measure (default: 600)")
    add("--repeat", type=int, default=1, metavar="N",
        help="measure the same frames so many times (default: 1); the median of each counts")  # fmt: skip
    add("--budget", metavar="T", help="time that a frame may take, as 16.6ms; exit code 1 if it "
        "takes more")  # fmt: skip
    add("--percentile", type=float, default=99.0, metavar="P",
        help="share of the frames, in %%, that must keep to it (default: 99)")  # fmt: skip
    add_output(
        command, "--plot", endings=FIGURE, help="draw the costs, over time or over sizes, as PNG"
    )
    add_output(command, "--trace", endings=JSON,
        help="write every frame and phase as JSON that ui.perfetto.dev and chrome://tracing open")  # fmt: skip
    add("--compare", type=Path, metavar="OLD",
        help="what differs from a profile that --json wrote; exit code 1 if it became slower than "
        "noise explains")  # fmt: skip
    add_output(command, "--record", endings=H5, run=True, help="record the frames meanwhile, so that this is "
        "measured, too")  # fmt: skip
    what = command.add_mutually_exclusive_group()
    what.add_argument("--sweep", metavar="vehicles=A..B",
        help="costs against the number of vehicles, as vehicles=1k..100k, on NETWORK or on grids that "
        "grow with them")  # fmt: skip
    what.add_argument("--find-vehicles", action="store_true",
        help="how many vehicles keep to --budget here, on NETWORK or on grids that grow with them")  # fmt: skip
    what.add_argument("--calibrate", action="store_true",
        help="measure what work costs here, and tell the quotas for --budget on NETWORK")  # fmt: skip
    add_json(command)


def profile(args: argparse.Namespace) -> int:
    """Measure frames and tell what they cost."""
    from rushhour.cli.quotas import calibrate

    _check(args)
    if args.calibrate:
        return calibrate(args)
    if args.sweep is not None:
        return _sweep(args)
    if args.find_vehicles:
        return _find_vehicles(args)
    from rushhour.traffic.profiling.budget import verdict
    from rushhour.traffic.profiling.comparing import compare_profiles, read_profile

    old = None if args.compare is None else read_profile(args.compare)
    found = _profile_of(args)
    told = found.told()
    budget = _budget(args)
    judged = None if budget is None else verdict(found, budget, args.percentile)
    compared = None if old is None else compare_profiles(old, told)
    if judged is not None:
        told["budget"] = {
            "ms": judged.budget, "percentile": judged.percentile, "took_ms": judged.took,
            "kept": judged.kept, "over": judged.over, "to_blame": dict(judged.to_blame),
        }  # fmt: skip
    if compared is not None:
        told["compared"] = {
            "slower": compared.slower, "remarks": list(compared.remarks),
            "changes": [vars(change) for change in compared.changes],
        }  # fmt: skip
    _save(args, found, budget)
    if args.json:
        print(json_text(told))
    else:
        lines = [*profile_lines(told), *(judged.lines() if judged else ())]
        print("\n".join([*lines, *(compared.lines() if compared else ())]))
    failed = (judged is not None and not judged.kept) or (compared is not None and compared.slower)
    return 1 if failed else 0


def _check(args: argparse.Namespace) -> None:
    """Refuse what contradicts itself before anything is simulated."""
    grows = args.sweep is not None or args.find_vehicles
    if args.network is None and not grows:
        raise RunError(
            "profile: no NETWORK; give a network, a scenario or a run file, or one of "
            + ", ".join(ON_A_GRID)
        )
    if args.calibrate and args.budget is None:
        raise RunError("--calibrate: for what time? add --budget, as 16.6ms")
    if args.find_vehicles and args.budget is None:
        raise RunError("--find-vehicles: within what? add --budget, as 16.6ms")
    if grows:
        given = [
            f"--{name.replace('_', '-')}"
            for name in ("demand", "vehicles", "trips", "over", "repeat", "trace", "compare", "record")
            if getattr(args, name) not in (None, [], 1)
        ]  # fmt: skip
        if given:
            what = "--sweep" if args.sweep is not None else "--find-vehicles"
            raise RunError(f"{given[0]} does not go with {what}, which sets the vehicles itself")
    if args.frames is not None and not 1 <= args.frames <= 1_000_000:
        raise RunError(f"--frames {args.frames}: wanted 1 to 1,000,000")


def _budget(args: argparse.Namespace) -> float | None:
    return None if args.budget is None else seconds(args.budget, "--budget")


def _warm_up(args: argparse.Namespace) -> float:
    return WARM_UP if args.warm_up is None else seconds(args.warm_up, "--warm-up")


def _profile_of(args: argparse.Namespace) -> "Profile":
    """The profile of a run file, or of a world that is stepped."""
    from rushhour.cli.world_fields import world_fields

    path: Path = args.network
    from rushhour.traffic.recording.kept import is_run_file
    from rushhour.traffic.recording.recorder import Recorder

    if path.suffix.lower() == ".h5" and is_run_file(path):
        from rushhour.traffic.profiling.profile import profile_of_run
        from rushhour.traffic.recording.run_file import RunFile

        for name in ("frames", "warm_up"):
            if getattr(args, name) is not None:
                option = f"--{name.replace('_', '-')}"
                raise RunError(
                    f"{option}: {path.name} is a run file, whose frames have been; leave it out"
                )
        with RunFile(path) as run:
            return profile_of_run(run)
    from rushhour.traffic.profiling.measuring import measure_frames
    from rushhour.traffic.scenarios.opening import open_world, opened

    frames, warm_up = FRAMES if args.frames is None else args.frames, _warm_up(args)
    fields = world_fields(args)
    dt = fields.get("dt", 0.25)
    if args.record is not None:
        fields["record"] = args.record
    scenario = opened(path, **fields, duration=warm_up + frames * dt)
    with ExitStack() as stack:
        stack.enter_context(compile_bar())
        world = open_world(scenario, lambda what: None)
        if scenario.record is not None:
            recorder = Recorder(scenario.record, world, scenario.record_every)
            world.observers.append(stack.enter_context(recorder))
        steps: Any = bar(round(warm_up / world.dt) + frames * args.repeat, "frames", "measuring")
        stack.callback(steps.close)
        return measure_frames(
            world, frames, warm_up=warm_up, repeat=args.repeat, progress=lambda: steps.update(1)
        )


def _save(args: argparse.Namespace, found: "Profile", budget: float | None) -> None:
    if args.plot is not None:
        from rushhour.viewer.plots_of_costs import save_profile

        save_profile(args.plot, found, budget)
    if args.trace is not None:
        from rushhour.traffic.profiling.trace import save_trace

        save_trace(args.trace, found)


def profile_lines(told: dict[str, Any]) -> list[str]:
    """A profile for people, from what `Profile.told` gives."""
    from rushhour.traffic.profiling.conditions import condition_lines
    from rushhour.traffic.profiling.text_tables import table

    rows = [
        [row["phase"], row["p50_ms"], row["p95_ms"], row["p99_ms"], row["max_ms"],
         f"{row['share']:.1%}", row["ns_per_vehicle"]]
        for row in told["phases"]
    ]  # fmt: skip
    header = ["phase", "p50 ms", "p95 ms", "p99 ms", "max ms", "share", "ns/vehicle"]
    repeats = len(told["repeats_ms"]["all"])
    lines = [
        f"{told['name']}: {told['frames']:,} frames of {told['dt']:g} s, {told['vehicles']:,} vehicles"
        + (f", medians of {repeats} repeats" if repeats > 1 else ""),
        *table(header, rows),
    ]
    factor, rate = told["real_time_factor"], told["updates_per_s"]
    if factor:
        lines.append(f"{factor:,.1f} times real time, {rate:,.0f} vehicle updates a second")
    if "from" in told:
        each = told["frames"] / told["rows"]
        lines.append(
            f"from {told['from']}: each row is the mean of {each:.3g} frames, so peaks are lower"
        )
        return lines
    touched, network = told["touched"], told["network"]
    lines.append(
        f"touched: {touched['vehicles']:,} vehicles on {touched['lanes']:,} of {network['lanes']:,} "
        f"lanes, {touched['intersections']:,} of {network['intersections']:,} intersections; "
        f"{told['threads']} threads, {told['cores_busy']:g} cores busy"
    )
    lines.append(
        f"within these: garbage collection {told['garbage_collection_ms']:.3g} ms in all "
        f"({told['collections']} times), measuring {told['measuring_ns_per_frame'] / 1e3:.2g} us a frame"
    )
    if told["frames_of_fewer_threads"]:
        lines.append(
            f"{told['frames_of_fewer_threads']:,} frames took fewer threads: others want the cores, too"
        )
    lines += condition_lines(told["conditions"])
    return lines


# --- sizes -------------------------------------------------------------------------------------


def _sweep(args: argparse.Namespace) -> int:
    from rushhour.traffic.profiling.sizes import sizes_of, sweep
    from rushhour.traffic.profiling.text_tables import table

    sizes = sizes_of(args.sweep)
    frames, warm_up = _frames_of_a_size(args)
    make_world, dt = _maker(args)
    with compile_bar():
        steps: Any = bar(len(sizes) * (round(warm_up / dt) + frames), "frames", "measuring")
        try:
            found = sweep(make_world, sizes, frames, warm_up, lambda: steps.update(1))
        finally:
            steps.close()
    if args.plot is not None:
        from rushhour.viewer.plots_of_costs import save_sweep

        save_sweep(args.plot, found)
    budget = _budget(args)
    over = [] if budget is None else [
        size for size, one in zip(found.asked, found.profiles, strict=True)
        if one.at(args.percentile) > budget * 1e9
    ]  # fmt: skip
    if args.json:
        told = {
            "vehicles": found.vehicles.tolist(),
            "p50_ms": {name: ms.tolist() for name, ms in found.ms().items()},
            "exponents": {n: None if isnan(b) else b for n, b in found.exponents().items()}, "remarks": list(found.remarks), "over_budget": over,
            "profiles": [one.told() for one in found.profiles],
        }  # fmt: skip
        print(json_text(told))
    else:
        header, rows = found.table()
        print("\n".join([f"ms a frame, p50, dt {dt:g} s", *table(header, rows)]))
        print(
            "\n".join(f"remark: {text}" for text in found.remarks),
            end="\n" if found.remarks else "",
        )
        if over:
            print(f"over the budget of {args.budget}: from {over[0]:,} vehicles on")
    return 1 if over else 0


def _find_vehicles(args: argparse.Namespace) -> int:
    from rushhour.traffic.profiling.sizes import find_vehicles
    from rushhour.traffic.profiling.text_tables import table

    frames, warm_up = _frames_of_a_size(args)
    make_world, dt = _maker(args)
    budget = _budget(args)
    assert budget is not None
    with compile_bar():
        steps: Any = bar(None, "frames", "measuring")
        try:
            found = find_vehicles(
                make_world, budget, args.percentile, frames, warm_up, lambda: steps.update(1)
            )
        finally:
            steps.close()
    if args.json:
        print(json_text({
            "vehicles": found.vehicles, "took_ms": found.took if found.vehicles else None, "budget_ms": budget * 1e3,
            "percentile": args.percentile, "dt": dt, "trials": found.trials, "remark": found.remark,
        }))  # fmt: skip
    else:
        rows = [[n, ms, "fits" if ms <= budget * 1e3 else "over"] for n, ms in found.trials]
        print("\n".join(table(["vehicles", f"p{args.percentile:g} ms", ""], rows)))
        print(
            f"{found.vehicles:,} vehicles keep p{args.percentile:g} of a frame within {args.budget}, "
            f"dt {dt:g} s" + (f"; {found.remark}" if found.remark else "")
        )
    return 0 if found.vehicles else 1


def _frames_of_a_size(args: argparse.Namespace) -> tuple[int, float]:
    return FRAMES_OF_A_SIZE if args.frames is None else args.frames, _warm_up(args)


def _maker(args: argparse.Namespace) -> tuple[Any, float]:
    """What makes a world of so many vehicles, and its dt, s."""
    from rushhour.cli.world_fields import world_fields
    from rushhour.traffic.demand.random_trips import vehicles_on_road
    from rushhour.traffic.profiling.sizes import growing_grid
    from rushhour.traffic.scenarios.opening import opened, scenario_network
    from rushhour.traffic.settings.parameters import Parameters
    from rushhour.traffic.world import World

    fields = world_fields(args)
    parameters = Parameters(dict(fields.get("parameters", ())))
    seed, dt = int(fields.get("seed", 0)), float(fields.get("dt", 0.25))
    given = None
    if args.network is not None:
        given = scenario_network(opened(args.network), parameters)

    def make(vehicles: int) -> "World":
        network = growing_grid(vehicles) if given is None else given
        demand = vehicles_on_road(network, vehicles, seed=seed)
        return World(network, demand, parameters=parameters, dt=dt, seed=seed)

    return make, dt
