"""`rushhour view`: watch a run or a network in a window, as a picture or as a film."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rushhour.cli.common_options import add_json, add_seed, add_threads
from rushhour.cli.outputs import FILM, H5, PNG, add_output
from rushhour.cli.picture_asked import (
    SIZE,
    picture_size,
    place_of,
    scale_of,
    theme_of,
    want_plain,
    want_seen,
)
from rushhour.cli.progress import bar, compile_bar
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.words.durations import seconds, want_recorded
from rushhour.traffic.words.plurals import counted

if TYPE_CHECKING:
    from rushhour.viewer.moments import Source
    from rushhour.viewer.viewing import Viewing

PLACES: Final = ("road", "lane", "intersection")
IN_THE_PAGE: Final = {"at": None, "vehicle": None, "road": None, "lane": None, "intersection": None, "centre": None, "zoom": None,
    "colour": "speed", "lanes": "plain", "streets": None, "theme": None, "size": None, "costs": False, "lint": False, "no_names": False}  # fmt: skip
LIVE_DT: Final = 0.1  # s of a frame
PATIENCE: Final = 0.025  # s that a picture in a window waits for the simulation


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add = command.add_argument
    add("file", type=Path, metavar="RUN|NETWORK", nargs="+",
        help="a run file, from `rushhour run --record`, a network or a race; two runs side by side")  # fmt: skip
    add("--window", metavar="WHAT", help="the library that opens the window: glfw or qt (default: glfw if "
        "installed, else qt)")  # fmt: skip
    add("--live", type=int, metavar="N",
        help="simulate a network with N vehicles while it is watched")  # fmt: skip
    add("--browser", action="store_true", help="serve a page of it on this machine alone, by the address that is printed, "
        "in place of a window")  # fmt: skip
    add("--port", type=int, metavar="N",
        help="with --browser: of the address (default: any that is free)")  # fmt: skip
    add_output(command, "--record", endings=H5, run=True, help="with --live: write a run file of it, with what "
        "was driven by hand")  # fmt: skip
    add_seed(command, None, "with --live (default: 0)")
    add_output(command, "--shot", endings=PNG, help="write a PNG instead of opening a window")
    add_output(command, "--video", endings=FILM, help="write a film (.mp4, .mov, .mkv, .gif) instead; needs the extra "
        "`video`")  # fmt: skip
    add(
        "--at",
        metavar="T",
        help="the time to show, as 7:30 (default: of a picture the last one, of a window "
        "the first)",
    )
    add("--from", dest="begin", metavar="T", help="with --video: from this time on")
    add("--to", dest="end", metavar="T", help="with --video: until this time")
    add("--fps", type=float, metavar="N", help="with --video: pictures a second (default: 25)")
    add("--rate", type=float, metavar="X", help="with --video: simulated seconds a second "
        "(default: 1)")  # fmt: skip
    add("--centre", metavar="X,Y", help="the place in the middle, m of the network")
    add("--zoom", type=float, metavar="M", help="metres in a pixel (default: all is seen)")
    add("--vehicle", metavar="ID", help="look closer at a vehicle, by its id in the demand or its "
        "number")  # fmt: skip
    add("--road", metavar="ID", help="look closer at a road, by its lane in the middle")
    add("--lane", metavar="ID", help="look closer at a lane: its queue, and who drove on it when")
    add("--intersection", metavar="ID", help="look closer at an intersection: its queues, grants and "
        "signals")  # fmt: skip
    add("--no-names", action="store_true", help="leave the names of streets out")
    add("--lint", action="store_true", help="mark what `rushhour lint` says of the network")
    add("--colour", default="speed", metavar="WHAT", help="colour vehicles by speed, speed-red-green (as before), limit (speed / "
        "limit), acceleration, reason, waiting, type, tier, route or trip (time since its departure) "
        "(default: speed)")  # fmt: skip
    add("--lanes", default="plain", metavar="WHAT", help="colour lanes: plain, speed (mean speed / "
        "limit), density, flow, delay, or difference to the other run (default: plain)")  # fmt: skip
    add("--streets", metavar="WHAT", help="colour streets by what was driven on them in that minute, or in longer intervals "
        "of long runs: speed, delay, flow, density, queue, co2 or level; of two runs also less-speed, ...: this one's "
        "less the other's")  # fmt: skip
    add("--theme", metavar="WHAT", help="colours of the map: dark, day or print (default: dark)")
    add("--costs", action="store_true", help="show what the phases of a frame cost")
    add("--size", metavar="WxH", help="pixels (default: 1280x800)")
    add_threads(command)
    add_json(command)


def view(args: argparse.Namespace) -> int:
    """Show a run or a network."""
    from rushhour.games.racing.race_file import is_race_file

    _want_use(args)
    theme_of(args)
    if len(args.file) == 1 and is_race_file(args.file[0]):
        from rushhour.cli.view_race import view_race

        return view_race(args)
    with compile_bar():
        window = args.shot is None and args.video is None and not args.browser
        if args.live is None:
            sources = [_source(path) for path in args.file]
        else:
            sources = [_live(args, window)]
        with _recording(args, sources[0]):
            if args.browser:
                return _serve(args, sources[0])
            viewing = _viewing(args, sources, window)
            viewing.theme = theme_of(args)
            if window:
                return _watch(viewing, args.window)
            return _shoot(args, viewing) if args.shot is not None else _film(args, viewing)


def _want_use(args: argparse.Namespace) -> None:
    """Refuse options that would do nothing."""
    if len(args.file) > 2:
        raise RunError(f"{len(args.file)} files: wanted one, or two to see side by side")
    if args.shot is not None and args.video is not None:
        raise RunError("--shot and --video: wanted one of them")
    for name, option in (
        ("begin", "--from"),
        ("end", "--to"),
        ("fps", "--fps"),
        ("rate", "--rate"),
    ):
        if getattr(args, name) is not None and args.video is None:
            raise RunError(f"{option} is for --video; add --video FILE, or leave it out")
    if args.seed is not None and args.live is None:
        raise RunError("--seed is for --live; add --live N, or leave it out")
    if args.record is not None and args.live is None:
        raise RunError("--record is for --live; add --live N, or leave it out")
    if args.browser and (
        args.shot is not None or args.video is not None or args.window is not None
    ):
        raise RunError("--browser, --shot, --video, --window: wanted one of them")
    if args.browser:
        want_plain(args, IN_THE_PAGE, ": of a page it is chosen in it; leave it out with --browser")
    if args.browser and len(args.file) > 1:
        raise RunError("--browser: wanted one run, or one network with --live N")
    if args.port is not None and not args.browser:
        raise RunError("--port is for --browser; add --browser, or leave it out")
    if args.port is not None and not 0 <= args.port <= 65_535:
        raise RunError(f"--port {args.port}: wanted 0 to 65535")
    if args.live is not None and len(args.file) > 1:
        raise RunError("--live: wanted one network")
    if args.lanes == "difference" and len(args.file) < 2:
        raise RunError("--lanes difference: wanted two runs, as in `rushhour view A.h5 B.h5`")
    if args.at is not None and args.video is not None:
        raise RunError("--at is for --shot and windows; wanted --from and --to with --video")
    if sum(name is not None for name in (args.vehicle, *_place_names(args))) > 1:
        raise RunError("--vehicle, --road, --lane, --intersection: wanted one to look closer at")
    if args.window is not None and (args.shot is not None or args.video is not None):
        raise RunError("--window is for windows; leave out --shot and --video, or it")
    if args.json and args.shot is None and args.video is None:
        raise RunError("--json is for --shot and --video; a window prints nothing")


def _source(path: Path) -> "Source":
    """A run file, or a network."""
    from rushhour.roadnets.loading import load_network
    from rushhour.traffic.recording.kept import is_run_file
    from rushhour.viewer.moments import NetworkSource
    from rushhour.viewer.recorded import RunSource

    return RunSource(path) if is_run_file(path) else NetworkSource(load_network(path))


def _live(args: argparse.Namespace, window: bool) -> "Source":
    """A world of random walkers on a network; a window does not wait for it."""
    from rushhour.roadnets.loading import load_network
    from rushhour.traffic.demand.random_trips import vehicles_on_road
    from rushhour.traffic.settings.parameters import Parameters
    from rushhour.traffic.world import World
    from rushhour.viewer.live import LiveSource

    if args.live < 1:
        raise RunError(f"--live {args.live}: wanted 1 vehicle or more")
    seed = 0 if args.seed is None else args.seed
    network = load_network(args.file[0])
    parameters = Parameters({"steered.bodies": True})  # so that vehicles can be driven
    demand = vehicles_on_road(network, args.live, seed=seed)
    world = World(network, demand, dt=LIVE_DT, seed=seed, parameters=parameters)
    return LiveSource(world, PATIENCE if window else None)


@contextmanager
def _recording(args: argparse.Namespace, source: "Source") -> Iterator[None]:
    """Record a live world, as --record says."""
    from rushhour.traffic.recording.recorder import Recorder
    from rushhour.viewer.live import LiveSource

    if args.record is None or not isinstance(source, LiveSource):
        yield
        return
    with Recorder(args.record, source.world) as recorder:
        source.world.observers.append(recorder)
        yield


def _viewing(args: argparse.Namespace, sources: list["Source"], window: bool) -> "Viewing":
    """One source, or two side by side, as the options say."""
    from rushhour.viewer import actions as do
    from rushhour.viewer.colouring import LANES, VEHICLES, want_colouring
    from rushhour.viewer.pair import Pair
    from rushhour.viewer.session import CLOSE, Session
    from rushhour.viewer.street_layers import layer_names

    width, height = SIZE if args.size is None else picture_size(args.size)
    colour = want_colouring(args.colour, VEHICLES, "--colour")
    lanes = want_colouring(args.lanes, LANES, "--lanes")
    session: Viewing
    if len(sources) == 1:
        session = Session(sources[0], width, height, window)
    else:
        session = Pair(sources[0], sources[1], width, height, window)
    while session.state.colour != colour:
        session.do(do.NextColour())
    while session.state.lanes != lanes:
        session.do(do.NextLanes())
    if args.streets is not None:
        known = layer_names(beside=len(sources) == 2)
        want_colouring(args.streets, known, "--streets")
        for _ in range(1 + known.index(args.streets)):
            session.do(do.NextStreets())
        if not session.state.streets:
            raise RunError(f"--streets: {sources[0].name} has no frames to tell it from; wanted a run recorded with frames")  # fmt: skip
    if args.costs:
        session.do(do.Show("costs"))
    if args.lint:
        session.do(do.Show("lint"))
    if args.no_names:
        session.do(do.Show("names"))
    if args.at is not None:
        at, shown = seconds(args.at, "--at"), session.state.clock
        if args.live is None and shown.end > shown.begin:
            want_recorded(sources[0].name, at, shown.begin, shown.end)
        session.do(do.Seek(at))
    elif not window:  # of a live world the first frame: before it nobody is there
        session.do(do.Ends(last=True) if args.live is None else do.Seek(LIVE_DT))
    camera = session.state.camera
    if args.vehicle is not None:
        if args.video is not None:
            session.do(do.Seek(_first_seen(session, args)))
        _choose(session, args.vehicle, CLOSE if args.zoom is None else args.zoom)
        if args.video is not None and args.centre is None:
            session.do(do.Follow())
        camera = session.state.camera
    elif any(name is not None for name in _place_names(args)):
        _choose_place(session, args)
        camera = session.state.camera
    place = (camera.x, camera.y) if args.centre is None else place_of(args.centre, "--centre")
    scale = scale_of(args.zoom)
    if args.centre is not None or scale is not None:
        session.do(do.Look(*place, scale))
    if args.centre is not None:
        want_seen(session.state.camera.box, session.state.home)
    return session


def _choose(session: "Viewing", name: str, scale: float) -> None:
    """Select a vehicle and look at it."""
    from rushhour.viewer import actions as do

    source = session.sources[0]
    number = source.vehicle_number(name)
    if number is None:
        raise RunError(f"--vehicle {name[:60]!r}: there is no such vehicle in {source.name}")
    session.do(do.Select(number))
    moment = source.at(session.state.clock.time)
    row = moment.row(number)
    if row < 0:
        raise RunError(
            f"--vehicle {name[:60]!r}: it is not on the road at {moment.time:g} s; give another --at"
        )
    session.do(do.Look(float(moment.x[row]), float(moment.y[row]), scale))


def _first_seen(session: "Viewing", args: argparse.Namespace) -> float:
    """When the vehicle of --vehicle is first there in the film, s."""
    from rushhour.viewer.recorded import RunSource

    source, (begin, end) = session.sources[0], _film_times(args, session)
    number = source.vehicle_number(args.vehicle)
    if number is None or not isinstance(source, RunSource):
        return session.state.clock.time  # what is wrong is told of it then
    times = source.trajectory(number).time
    times = times[(times >= begin) & (times <= end)]
    if not times.size:
        raise RunError(
            f"--vehicle {args.vehicle[:60]!r}: it is not on the road from {begin:g} to {end:g} s; give another "
            "--from and --to"
        )
    return float(times[0])


def _film_times(args: argparse.Namespace, viewing: "Viewing") -> tuple[float, float]:
    """When a film begins and ends, s."""
    clock = viewing.state.clock
    begin = clock.begin if args.begin is None else seconds(args.begin, "--from")
    end = clock.end if args.end is None else seconds(args.end, "--to")
    return max(begin, clock.begin), min(end, clock.end)


def _place_names(args: argparse.Namespace) -> list[str | None]:
    """What --road, --lane and --intersection name."""
    return [getattr(args, kind) for kind in PLACES]


def _choose_place(session: "Viewing", args: argparse.Namespace) -> None:
    """Look closer at a road, a lane or an intersection, by any name that is printed of one."""
    from rushhour.viewer import actions as do
    from rushhour.viewer.places import fitting, middle_of, place_called

    network = session.sources[0].network
    for kind, name in zip(PLACES, _place_names(args), strict=True):
        if name is not None:
            place = place_called(network, kind, name)
    session.do(do.Choose(place))
    camera = session.state.camera
    scale = args.zoom or fitting(network, place, min(camera.width, camera.height))
    session.do(do.Look(*middle_of(network, place), scale))


def _shoot(args: argparse.Namespace, viewing: "Viewing") -> int:
    from rushhour.viewer.shots import save_shot

    save_shot(args.shot, viewing)
    time = viewing.state.clock.time
    counts = [len(source.at(time)) for source in viewing.sources]
    facts = {"written": str(args.shot), "time_s": time, "vehicles": counts}
    told = ", ".join(counted(count, "vehicle") for count in counts)
    print(json_text(facts) if args.json else f"{args.shot}: {told}")
    return 0


def _film(args: argparse.Namespace, viewing: "Viewing") -> int:
    from rushhour.viewer.shots import save_video

    begin, end = _film_times(args, viewing)
    fps = 25.0 if args.fps is None else args.fps
    rate = 1.0 if args.rate is None else args.rate
    for value, option, most in ((fps, "--fps", 240.0), (rate, "--rate", 10_000.0)):
        if not (isfinite(value) and 0.0 < value <= most):
            raise RunError(f"{option} {value}: wanted more than 0, up to {most:g}")
    what: Any = bar(1.0, "", "drawing")
    try:
        count = save_video(
            args.video, viewing, begin, end, fps, rate, lambda share: what.update(share - what.n)
        )
    finally:
        what.close()
    facts = {"written": str(args.video), "pictures": count, "from_s": begin, "to_s": end}
    print(json_text(facts) if args.json else f"{args.video}: {counted(count, 'picture')}")
    return 0


def _serve(args: argparse.Namespace, source: "Source") -> int:
    """Serve a page, until Ctrl-C."""
    from rushhour.viewer.live import LiveSource
    from rushhour.viewer.page.live_page import LiveFrames, LivePage
    from rushhour.viewer.page.of_run import page_of_run
    from rushhour.viewer.recorded import RunSource

    if isinstance(source, LiveSource):
        served = LivePage(LiveFrames(source), port=args.port or 0)
    elif isinstance(source, RunSource):
        served = LivePage(None, page_of_run(source), args.port or 0)
    else:
        raise RunError(f"--browser: {source.name} is a network; add --live N, or give a run")
    print(served.address, flush=True)
    try:
        served.run()
    finally:
        served.close()
    return 0


def _watch(viewing: "Viewing", kind: str | None) -> int:
    """Open a window."""
    from rushhour.viewer.window import watch

    watch(viewing, kind=kind)
    return 0
