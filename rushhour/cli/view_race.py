"""`rushhour view` of a recorded race: a window, a picture or a film."""

import argparse
from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rushhour.cli.picture_asked import (
    SIZE,
    picture_size,
    place_of,
    scale_of,
    theme_of,
    want_plain,
    want_seen,
)
from rushhour.cli.progress import bar
from rushhour.games.racing.race_file import RaceRecord, load_race
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.words.durations import seconds, want_recorded
from rushhour.traffic.words.plurals import counted
from rushhour.viewer.race_shot import race_box, save_race_shot, save_race_video
from rushhour.viewer.race_source import RaceSource

if TYPE_CHECKING:
    from rushhour.viewer.camera import Box

CLOSE: Final = 0.1  # m a pixel, at which a racer is looked at


def view_race(args: argparse.Namespace) -> int:
    """Show a race: --shot, --video, --at, --from, --to, --fps, --rate, --size, --vehicle, --centre with --zoom."""
    plain = {"road": None, "lane": None, "intersection": None, "live": None, "colour": "speed",
             "lanes": "plain", "streets": None, "costs": False, "lint": False, "browser": False}  # fmt: skip
    want_plain(args, plain, " is for runs of traffic; leave it out for a race")
    if args.vehicle is None and (args.centre is None) != (args.zoom is None):
        raise RunError("--centre X,Y and --zoom M: of a race wanted both, or none")
    if args.vehicle is not None and args.centre is not None:
        raise RunError("--vehicle and --centre: of a race wanted one of them")
    record = load_race(args.file[0])
    size = SIZE if args.size is None else picture_size(args.size)
    first, last = float(record.time[0]), float(record.time[-1])
    at = last if args.at is None else seconds(args.at, "--at")
    want_recorded(args.file[0].name, at, first, last)
    if args.zoom is not None:
        scale_of(args.zoom)
    if args.shot is None and args.video is None:
        return _watch(args, record, size)
    begin = first if args.begin is None else max(first, seconds(args.begin, "--from"))
    end = last if args.end is None else min(last, seconds(args.end, "--to"))
    box: Any = None
    place = None
    if args.vehicle is not None and args.video is not None:
        box = _following(record, args, size, begin, end)
    elif args.vehicle is not None:
        place = _racer(RaceSource(record), args, min(max(at, first), last))[1:]
    elif args.centre is not None:
        place = (*place_of(args.centre, "--centre"), args.zoom)
    if place is not None:
        box = _around(*place, size)
        want_seen(box, race_box(record))
    facts: dict[str, Any]
    if args.shot is not None:
        time = min(max(at, first), last)
        save_race_shot(args.shot, record, time, size, box, theme_of(args))
        facts = {"written": str(args.shot), "time_s": time, "racers": len(record.length)}
        said = f"{args.shot}: {counted(len(record.length), 'racer')} at {time:g} s"
    else:
        fps = 25.0 if args.fps is None else args.fps
        rate = 1.0 if args.rate is None else args.rate
        for number, option, most in ((fps, "--fps", 240.0), (rate, "--rate", 10_000.0)):
            if not (isfinite(number) and 0.0 < number <= most):
                raise RunError(f"{option} {number}: wanted more than 0, up to {most:g}")
        what: Any = bar(1.0, "", "drawing")
        try:
            count = save_race_video(
                args.video, record, begin, end, fps, rate, size, box,
                lambda share: what.update(share - what.n), theme_of(args),
            )  # fmt: skip
        finally:
            what.close()
        facts = {"written": str(args.video), "pictures": count, "from_s": begin, "to_s": end}
        said = f"{args.video}: {counted(count, 'picture')}"
    print(json_text(facts) if args.json else said)
    return 0


def _racer(
    source: RaceSource, args: argparse.Namespace, time: float
) -> tuple[int, float, float, float]:
    """The number of the racer of --vehicle, where it is at a time, s, and m a pixel to look at it."""
    number = _number(source, args)
    moment = source.at(time)
    row = moment.row(number)
    if row < 0:
        raise RunError(
            f"--vehicle {args.vehicle[:60]!r}: it is not on the track at {time:g} s; give another --at"
        )
    return number, float(moment.x[row]), float(moment.y[row]), args.zoom or CLOSE


def _number(source: RaceSource, args: argparse.Namespace) -> int:
    """The number of the racer of --vehicle."""
    number = source.vehicle_number(args.vehicle)
    if number is None:
        raise RunError(
            f"--vehicle {args.vehicle[:60]!r}: there is no such racer in {args.file[0].name}; wanted racer 1 "
            f"to {source.racers}"
        )
    return number


def _around(x: float, y: float, scale: float, size: tuple[int, int]) -> "Box":
    """What a picture shows around a place, m; scale: m a pixel."""
    half = (0.5 * size[0] * scale, 0.5 * size[1] * scale)
    return x - half[0], y - half[1], x + half[0], y + half[1]


def _following(
    record: RaceRecord, args: argparse.Namespace, size: tuple[int, int], begin: float, end: float
) -> Callable[[float], "Box"]:
    """What a film from begin to end, s, shows at a time with the racer of --vehicle in its middle.

    Where that is not on the track, its next place there, then its last.
    """
    source = RaceSource(record)
    number = _number(source, args)
    known = record.time[np.isfinite(record.x[:, number])]
    if not known.size or known[0] > end or known[-1] < begin:
        raise RunError(
            f"--vehicle {args.vehicle[:60]!r}: it is not on the track from {begin:g} to {end:g} s; give "
            "another --from and --to"
        )

    def box(time: float) -> "Box":
        there = min(max(time, float(known[0])), float(known[-1]))
        return _around(*_racer(source, args, there)[1:], size)

    return box


def _watch(args: argparse.Namespace, record: RaceRecord, size: tuple[int, int]) -> int:
    """Open a window, with a colour for each racer."""
    from rushhour.viewer import actions as do
    from rushhour.viewer.session import Session
    from rushhour.viewer.window import watch

    source = RaceSource(record)
    session = Session(source, *size, window=True)
    session.theme = theme_of(args)
    while session.state.colour != "type":
        session.do(do.NextColour())
    if args.at is not None:
        session.do(do.Seek(seconds(args.at, "--at")))
    if args.vehicle is not None:
        number, *place = _racer(source, args, session.state.clock.time)
        session.do(do.Select(number))
        session.do(do.Look(*place))
    elif args.zoom is not None:
        session.do(do.Look(*place_of(args.centre, "--centre"), args.zoom))
    watch(session, kind=args.window)
    return 0
