"""`rushhour race`: cars that race each other on a track."""

import argparse
import sys
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rushhour.cli.common_options import add_json, add_seed, add_threads
from rushhour.cli.outputs import H5, add_output
from rushhour.cli.progress import bar, compile_bar
from rushhour.roadnets.errors import NetworkError, RunError
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.words.durations import clock

if TYPE_CHECKING:
    from rushhour.games.racing.car_race import CarRace, RaceResult
    from rushhour.games.racing.racing_line import Car
    from rushhour.kernels.steering.tracks import Track

SIZE = (1280, 800)  # pixels of the window


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add = command.add_argument
    add("track", type=Path, metavar="TRACK", help="a race track: centre line and widths (.csv), or one "
        "saved by --save-track (.h5)")  # fmt: skip
    add("--cars", type=int, default=10, metavar="N", help="(default: 10)")
    add("--laps", type=int, default=3, metavar="N", help="(default: 3)")
    add("--model", default="preview", metavar="NAMES", help="steering: preview, aware, projection, pid, spidey1 or "
        "spidey2; several with commas, car by car in turn (default: preview)")  # fmt: skip
    add("--difficulty", type=float, default=1.0, metavar="D", help="factor on the speeds of the nodes and "
        "the gains, up to 1 (default: 1)")  # fmt: skip
    add("--spread", type=float, default=0.08, metavar="S", help="by how much the slowest car may be slower "
        "than the fastest (default: 0.08)")  # fmt: skip
    add("--car", default="gt", metavar="NAME",
        help="gt (1.4 g and downforce) or road (1.0 g) (default: gt)")  # fmt: skip
    add("--personality", default="even", metavar="NAMES", help="even, bold, calm or moody; several with commas, "
        "car by car in turn (default: even)")  # fmt: skip
    add("--rubber", type=float, default=0.0, metavar="X", help="share of the speed that whoever is far ahead of the "
        "last car gives up, 0 to 0.5 (default: 0)")  # fmt: skip
    add("--drive", metavar="WHAT", help="speeds of the line from a drive instead of the AI's: `keys` (you press the "
        "pedals in a window, the car steers itself, two laps) or a file of --save-drive")  # fmt: skip
    add("--window", metavar="WHAT",
        help="with --drive keys: glfw or qt (default: glfw if installed)")  # fmt: skip
    add_output(command, "--save-drive", endings=H5, help="write the pedals of the drive (.h5)")
    add("--no-overtaking", action="store_true", help="nobody leaves the line to pass")
    add_output(command, "--record", endings=H5, help="write the race (.h5), for `rushhour view`")
    add_output(command, "--save-track", endings=H5, help="write the track with the speeds of a driven lap "
        "at its nodes (.h5)")  # fmt: skip
    add_seed(command, 1, "(default: 1)")
    add_threads(command)
    add_json(command)


def race(args: argparse.Namespace) -> int:
    """Run a race, print the result, write what was asked for."""
    from rushhour.games.racing.car_race import CarRace, RaceTape, taught_track
    from rushhour.games.racing.race_file import save_race
    from rushhour.games.racing.racing_line import car_named, with_racing_line
    from rushhour.roadnets.racetracks import load_track, read_track, save_track

    kind = args.track.suffix.lower()
    if kind not in (".csv", ".h5", ".hdf5"):
        raise NetworkError(f"{args.track}: wanted a track, .csv or .h5")
    car = car_named(args.car)
    _want_drive(args)
    track = read_track(args.track) if kind == ".csv" else load_track(args.track)
    models, drivers = (
        list(islice(cycle(names.split(",")), max(args.cars, 0)))
        for names in (args.model, args.personality)
    )
    with compile_bar():
        if kind == ".csv":
            track, _ = with_racing_line(track, car)
        if args.drive is not None:
            track = _driven(args, track, car)
        elif kind == ".csv" or not np.isfinite(track.line_speed).all():
            track, _ = taught_track(track, car=car)
        running = CarRace(
            track, args.cars, models, args.difficulty, args.seed, args.spread,
            overtaking=not args.no_overtaking, car=car, personalities=drivers, rubber=args.rubber,
        )  # fmt: skip
        tape = RaceTape(running)
        goal = float(args.laps * track.station[-1])
        shown: Any = bar(1.0, "", "racing")

        def note(running: CarRace) -> None:
            tape(running)
            if running.frame % 600 == 0:
                shown.update(min(1.0, float(running.cars.farthest.min()) / goal) - shown.n)

        try:
            result = running.run(args.laps, call=note)
        finally:
            shown.close()
    if args.save_track is not None:
        save_track(track, args.save_track)
    if args.record is not None:
        save_race(tape.record(running, args.track.stem), args.record)
    facts = _facts(args, running, result)
    print(json_text(facts) if args.json else "\n".join(_lines(facts)))
    absent = [str(row["car"]) for row in facts["cars"] if row["time_s"] is None]
    if absent:
        print(
            f"rushhour: {len(absent)} did not arrive: car {', '.join(absent)}; wanted all: a wider track, fewer "
            "cars (--cars) or slower ones (--difficulty)",
            file=sys.stderr,
        )
    return 1 if absent else 0


def _want_drive(args: argparse.Namespace) -> None:
    """Refuse what is about a drive where there is none, or no window, before anything is computed."""
    if args.drive is None and args.save_drive is not None:
        raise RunError("--save-drive keeps a drive; add --drive keys")
    if args.window is not None and args.drive != "keys":
        raise RunError("--window is for --drive keys; add that, or leave it out")
    if args.drive == "keys":
        from rushhour.viewer.window_kinds import window_backend

        window_backend(args.window)


def _driven(args: argparse.Namespace, track: "Track", car: "Car") -> "Track":
    """The track with the speeds of a drive, in a window or out of a file."""
    from rushhour.games.racing.car_race import taught_track
    from rushhour.games.racing.driven_lap import DrivenLap, read_drive, repeated, save_drive

    if args.drive == "keys":
        from rushhour.viewer.lap_hand import drive_lap

        lap = DrivenLap(track, car)
        drive_lap(lap, args.track.stem, args.window, SIZE)
    else:
        lap = repeated(track, read_drive(args.drive, track), car)
    if args.save_drive is not None:
        save_drive(lap, args.save_drive)
    if not lap.done:
        print(
            f"rushhour: {lap.laps:.2f} of 2 laps were driven; the AI's speeds hold where nobody drove",
            file=sys.stderr,
        )
        return lap.taught(taught_track(track, car=car)[0])[0]
    return lap.taught()[0]


def _facts(args: argparse.Namespace, running: "CarRace", result: "RaceResult") -> dict[str, Any]:
    rows = [
        {
            "car": k + 1,
            "model": running.models[k],
            "personality": running.personalities[k],
            "pace": round(float(running.cars.pace[k]), 4),
            "time_s": _number(result.finish[k]),
            "best_lap_s": _number(result.best_lap[k]),
            "passes": int(result.passes[k]),
            "contacts": int(result.contacts[k]),
            "put_back": int(result.lost[k]),
            "off_track_s": round(float(result.off[k]), 1),
            "driven_m": round(float(result.progress[k]), 1),
        }
        for k in result.order
    ]
    return {
        "track": args.track.stem,
        "lap_m": round(float(running.track.station[-1]), 1),
        "laps": args.laps,
        "frames": result.frames,
        "cars": rows,
        "state_hash": result.state_hash,
        "written": [
            str(path)
            for path in (args.save_drive, args.save_track, args.record)
            if path is not None
        ],
    }


def _number(value: float) -> float | None:
    return round(float(value), 3) if np.isfinite(value) else None


def _lines(facts: dict[str, Any]) -> list[str]:
    lines = [
        f"{facts['track']}: {facts['laps']} laps of {facts['lap_m']:,.0f} m",
        "",
        "place  car  model        pace     time        gap   best lap  passes  contacts  put back",
    ]
    first = facts["cars"][0]["time_s"]
    for place, row in enumerate(facts["cars"], 1):
        time, best = row["time_s"], row["best_lap_s"]
        lines.append(
            f"{place:5d} {row['car']:4d}  {row['model']:<11} {row['pace']:5.3f} "
            f"{'-' if time is None else clock(time):>9} "
            f"{'-' if time is None else f'+{time - first:.2f}':>9} "
            f"{'-' if best is None else f'{best:.2f}':>10} {row['passes']:7d} {row['contacts']:9d} "
            f"{row['put_back']:9d}"
        )
    return [
        *lines,
        f"state {facts['state_hash'][:16]}",
        *(f"{p} written" for p in facts["written"]),
    ]
