"""`rushhour run`: a network's traffic, from the command line to the summary."""

import argparse
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rushhour.command_quotas import quotas_text
from rushhour.outputs import want_apart
from rushhour.progress import Stopping, bar, compile_bar
from rushhour.roadnets.json_text import json_text
from rushhour.roadnets.reading.remarks import shown
from rushhour.traffic.durations import clock, patience
from rushhour.traffic.plurals import counted
from rushhour.traffic.scenarios.recording import NAMES as CHOICES
from rushhour.traffic.scenarios.recording import record_choice, sized
from rushhour.traffic.scenarios.scenario import Scenario, ScenarioError
from rushhour.world_fields import taken, world_fields

if TYPE_CHECKING:
    from rushhour.traffic.world import World

STOOD_STILL: Final = 3  # exit code of a run that nobody moves in any more
RESUMED: Final = "resumed from "  # a remark that begins so says where a run went on


def run(args: argparse.Namespace) -> int:
    """Run the traffic of a network."""
    from rushhour.traffic.scenarios.opening import open_world, opened

    if args.seeds is not None:
        from rushhour.command_seeds import run_seeds

        return run_seeds(args)
    if args.resume is not None:
        from rushhour.command_resume import resume

        return resume(args)
    if args.network is None:
        raise ScenarioError("run: no NETWORK; give a network or a scenario, or --resume RUN")
    if args.at is not None:
        raise ScenarioError("--at is for --resume RUN; give --begin T for when the run begins")
    scenario = opened(args.network, **given_fields(args))
    _want_apart(scenario)
    world = open_world(scenario, lambda what: say(args, what))
    code, _ = drive(world, scenario, check=args.check, as_json=args.json, picture=args.picture)
    return code


def say(args: argparse.Namespace, what: str) -> None:
    """Tell a person at a terminal what is being done."""
    if sys.stderr.isatty():
        print(f"{what} ...", file=sys.stderr)


def given_fields(args: argparse.Namespace) -> dict[str, Any]:
    """The fields of a Scenario that the command line gives."""
    fields = world_fields(args)
    fields |= taken(
        args, ("record", "record_mode", "output"),
        times=("duration", "record_every", "keyframe_every", "measure", "budget"),
    )  # fmt: skip
    chosen = {name: getattr(args, f"record_{name}") for name in CHOICES}
    if any(value is not None for value in chosen.values()):
        given = {name: value for name, value in chosen.items() if value is not None}
        fields["record_choice"] = record_choice(given, "--record-")
    if args.until_empty:
        fields["until_empty"] = True
    if args.on_full is not None:
        fields["on_full"] = args.on_full.replace("-", "_")
    if args.give_up_after is not None:
        fields["give_up_after"] = patience(args.give_up_after, "--give-up-after")
    if args.loop:
        fields["loops"] = tuple((lane, _metres(pos)) for lane, pos in args.loop)
    if args.section:
        fields["sections"] = tuple((start, end) for start, end in args.section)
    if args.queue:
        fields["queues"] = tuple(args.queue)
    if args.close:
        fields["closed"] = tuple(args.close)
    return fields


def _metres(text: str) -> float:
    """The place of a --loop."""
    try:
        return float(text)
    except ValueError:
        raise ScenarioError(f"--loop: {text[:60]!r} is no number of metres along a lane") from None


def drive(
    world: "World",
    scenario: Scenario,
    *,
    check: bool = False,
    as_json: bool = False,
    picture: Path | None = None,
) -> tuple[int, dict[str, Any]]:
    """Run a world to its end, write what the scenario asks for, print the summary."""
    import numba

    from rushhour.traffic.measures.measuring import Measures
    from rushhour.traffic.measures.summary import remark_lists, run_summary
    from rushhour.traffic.recording.recorder import Recorder
    from rushhour.traffic.scenarios.measures import scenario_measures
    from rushhour.traffic.scenarios.recording import expected_size
    from rushhour.traffic.scenarios.running import run_world
    from rushhour.traffic.standstill import patience_of

    checker: Any = None
    remarks: list[str] = []  # of the recorder, which adds to them
    measures, notes = scenario_measures(scenario, world)
    if measures is None:  # those of a resumed run go on
        measures = next((one for one in world.observers if isinstance(one, Measures)), None)
    end = None if scenario.duration is None else world.begin + scenario.duration
    with ExitStack() as stack:
        if scenario.output is not None:
            _check_folder(scenario.output)
        if scenario.record is not None:
            chosen = scenario.record_choice
            recorder = Recorder(
                scenario.record, world, scenario.record_every, measures,
                mode=scenario.record_mode, keyframe_every=scenario.keyframe_every, until=end,
                precision=chosen.precision, packing=chosen.packing, fields=chosen.fields,
                region=chosen.region, most=chosen.most, give_up_after=scenario.give_up_after,
                on_full=scenario.on_full, tell=_say_now,
            )  # fmt: skip
            if not as_json:
                size = expected_size(
                    world, end, scenario.record_every, scenario.keyframe_every,
                    scenario.record_mode, chosen.precision,
                )  # fmt: skip
                print(f"rushhour: {scenario.record.name}: {size}", file=sys.stderr)
            remarks = recorder.remarks
            stack.enter_context(recorder)
            world.observers.append(recorder)
        if measures is not None and measures not in world.observers:
            world.observers.append(measures)
        if check:
            from rushhour.traffic.checker import Checker

            checker = Checker(world)
            world.observers.append(checker)
        stopping = stack.enter_context(Stopping())
        total = scenario.duration if end is not None else float(len(world.demand))
        what = bar(total, "s" if end is not None else "arrived", "running")
        stack.callback(what.close)
        stack.enter_context(compile_bar())

        def progress() -> None:
            done = world.time - world.begin if end is not None else float(world.arrived)
            what.set_postfix_str(f"{clock(world.time)} {world.active} on the road", refresh=False)
            what.update(done - what.n)

        waits = patience_of(world, scenario.give_up_after, end is not None)
        clocking = run_world(world, end, lambda: stopping.signal != 0, progress, waits)
    violations = dict(checker.report()) if checker is not None else {}
    if measures is not None:
        measures.finish()
    summary = run_summary(world, clocking, violations, numba.get_num_threads(), measures)
    summary |= remark_lists([*summary["remarks"], *notes, *remarks])
    summary["recorded"] = None
    if scenario.record is not None:
        written = scenario.record.stat().st_size
        summary["recorded"] = {"file": str(scenario.record), "bytes": written}
    if scenario.output is not None:
        from rushhour.traffic.measures.trip_table import write_output

        write_output(scenario.output, world, summary, measures)
    if scenario.tripinfo is not None:
        from rushhour.traffic.sumo.tripinfo import write_tripinfo

        write_tripinfo(scenario.tripinfo, world)
    if picture is not None:
        save_last_frame(world, picture)
    lines = [] if checker is None else list(checker.lines())
    print(json_text(summary) if as_json else summary_text(summary, checked=check))
    if clocking.standstill is not None:
        print("\n".join(["rushhour: " + clocking.standstill.lines()[0],
                         *clocking.standstill.lines()[1:]]), file=sys.stderr)  # fmt: skip
    for line in lines:
        print(line, file=sys.stderr)
    if stopping.signal:
        print(f"rushhour: stopped at {clock(world.time)}; files are complete", file=sys.stderr)
        return stopping.exit_code, summary
    if sum(violations.values()):
        return 1, summary
    return (STOOD_STILL if clocking.standstill is not None else 0), summary


def _say_now(what: str) -> None:
    """What must be known while the run goes on."""
    print(f"rushhour: {what}", file=sys.stderr, flush=True)


def _want_apart(scenario: Scenario) -> None:
    """Refuse to record or write over the network and the demand, also those that a file names."""
    from rushhour.traffic.measures.tables import TABLES

    inputs = (scenario.network, *scenario.demand)
    if scenario.record is not None:
        want_apart([scenario.record], "--record", inputs)
    if scenario.output is not None:
        names = ("trips.csv", "summary.json", *(f"{name}.csv" for name in TABLES))
        want_apart((scenario.output / name for name in names), "--output", inputs)


def _check_folder(folder: Path) -> None:
    """Refuse an output folder that cannot be one before the run, not after it."""
    from rushhour.roadnets.errors import RunError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(
            f"--output {folder}: cannot be a folder ({error.strerror}); choose another"
        ) from error


def save_last_frame(world: "World", path: Path, title: str = "") -> None:
    """Draw the world as it stands."""
    import numpy as np

    from rushhour.traffic.steering.body_table import fronts_of, pose_at_bodies
    from rushhour.viewer.raster import save_picture

    table = world.vehicles
    front = np.full((len(table), 3), np.nan)
    pose_at_bodies(front, table.id, fronts_of(world.sim.veh, world.steering))
    save_picture(
        path, world.network, table.lane, table.s, table.lateral, table.length, table.width,
        table.speed, title=title or f"{world.network.name} at {clock(world.time)}", front=front,
    )  # fmt: skip


def summary_text(summary: Mapping[str, Any], checked: bool = False) -> str:
    """The summary of a run for people."""
    vehicles, trips, jam = summary["vehicles"], summary["trips"], summary["gridlock"]
    end = summary["begin_s"] + summary["sim_s"]
    rows = [
        ("network", summary["network"]),
        ("time", (f"{clock(summary['begin_s'])} to {clock(end)}, {counted(summary['frames'], 'frame')} of "
                 f"{summary['dt_s']:g} s")),
        ("vehicles", ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in vehicles.items())),
        ("trips", _trips_text(trips)),
        ("standing", _standing_text(summary["stopped_by_reason"])),
        ("gridlock", (f"{counted(jam['minds_changed'], 'mind')} changed, rings: {jam['cycles_found']:,} "
                     f"found, {jam['cycles_resolved']:,} resolved"
                     + (f", the longest after {jam['longest_cycle']:g} s" if jam["cycles_found"]
                        else ""))),
    ]  # fmt: skip
    if summary["commands"]["given"] or summary["rerouting"]["rerouted"]:
        rows.append(("commands", _commands_text(summary["commands"], summary["rerouting"])))
    if summary["steered"]["vehicles"]:
        rows.append(("steered", _steered_text(summary["steered"])))
    if summary["quotas"]:
        rows.append(("quotas", quotas_text(summary["quotas"])))
    if summary["measures"]:
        rows.append(("measures", _measures_text(summary["measures"])))
    recorded = summary.get("recorded")  # of a run from the command line
    if recorded:
        rows.append(("recorded", f"{recorded['file']}, {sized(recorded['bytes'])}"))
    if checked:
        violations = {k: v for k, v in summary["violations"].items() if v}
        text = ", ".join(f"{name} {count:,}" for name, count in violations.items())
        rows.append(("violations", text or "none"))
    rows += [
        ("wall time", (f"{summary['wall_s']:.2f} s, and {summary['compile_s']:.2f} s to compile or "
                      f"load kernels; {counted(summary['threads'], 'thread')}")),
        ("speed", (f"{summary['real_time_factor']:,.1f} times real time, "
                  f"{summary['vehicle_updates_per_s'] / 1e6:.2f} million vehicle-updates a second")),
        ("ms a frame", _phases_text(summary["phases_ms"])),
        ("state", summary["state_hash"][:16]),
    ]  # fmt: skip
    if summary["parameters_changed"]:
        changed = summary["parameters_changed"].items()
        rows.insert(1, ("parameters", ", ".join(f"{name}={value}" for name, value in changed)))
    resumed = [remark for remark in summary["remarks"] if remark.startswith(RESUMED)]
    if resumed:
        rows.insert(1, ("resumed", resumed[-1].removeprefix("resumed ")))
    differs, notes, left_out = shown([one for one in summary["remarks"] if one not in resumed], 5)
    rows += [("differs", remark) for remark in differs]
    rows += [("note", remark) for remark in notes]
    if left_out:
        rows.append(("note", f"and {left_out} more; see --json"))
    return "\n".join(f"{name:<12} {text}" for name, text in rows)


def _commands_text(commands: Mapping[str, Any], rerouting: Mapping[str, Any]) -> str:
    parts = [f"{commands['given']:,} given, {commands['refused']:,} refused"]
    parts += [
        f"{rerouting[name]:,} {name.replace('_', ' ')}"
        for name in ("rerouted", "cut_off", "cut_short")
        if rerouting[name]
    ]
    if commands["aside"]:
        parts.append(f"{commands['aside']:,} at the side of the road")
    return ", ".join(parts)


def _steered_text(steered: Mapping[str, int]) -> str:
    parts = [f"{steered['vehicles']:,} vehicles"]
    parts += [
        f"{steered[name]:,} {what}"
        for name, what in (
            ("tight_bends", "bends too tight for them"),
            ("slow_changes", "changes at walking pace"),
            ("off_lane", "times off their lane"),
            ("back_on_lane", "back on it"),
            ("reversed", "times in reverse"),
            ("set_on_lane", "times set on their lane"),
        )
        if steered[name]
    ]
    return ", ".join(parts)


def _trips_text(trips: Mapping[str, Any]) -> str:
    if not trips["completed"] or trips["mean_speed_mps"] is None:
        return "none finished yet"
    return (
        f"{trips['completed']:,} finished: travel {trips['mean_travel_time_s']:.1f} s, "
        f"departure delay {trips['mean_departure_delay_s']:.1f} s, lost "
        f"{trips['mean_time_loss_s']:.1f} s, {3.6 * trips['mean_speed_mps']:.1f} km/h"
    )


def _standing_text(reasons: Mapping[str, int]) -> str:
    standing = sorted(((n, name) for name, n in reasons.items() if n), reverse=True)
    text = ", ".join(f"{name.replace('_', ' ')} {n:,}" for n, name in standing[:6])
    return text or "nobody"


def _measures_text(measures: Mapping[str, Any]) -> str:
    parts = [f"every {measures['interval_s']:g} s by the clock"]
    if "roads" in measures:
        roads = measures["roads"]
        parts.append(f"{roads['measured']:,} roads, {roads['vehicle_hours']:,.1f} vehicle-hours, "
                     f"{roads['hours_lost']:,.1f} of them lost")  # fmt: skip
    if "loops" in measures:
        loops = measures["loops"]
        parts.append(f"{loops['measured']:,} loops passed {loops['passed']:,} times")
    if "sections" in measures:
        sections = measures["sections"]
        mean = sections["mean_time_s"]
        parts.append(f"{sections['measured']:,} sections driven {sections['passed']:,} times"
                     + (f", {mean:.1f} s" if mean is not None else ""))  # fmt: skip
    if "queues" in measures:
        queues = measures["queues"]
        parts.append(f"{queues['measured']:,} queues, the longest {queues['longest_m']:.0f} m "
                     f"({queues['longest_at']})")  # fmt: skip
    return "; ".join(parts)


def _phases_text(phases: Mapping[str, Mapping[str, float]]) -> str:
    return ", ".join(f"{name} {cost['p50']:.2f}" for name, cost in phases.items() if cost["p50"])
