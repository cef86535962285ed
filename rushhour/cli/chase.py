"""`rushhour chase`: opponents that hunt a target through the traffic of a network."""

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rushhour.cli.common_options import add_json, add_seed, add_threads
from rushhour.cli.outputs import H5, PNG, add_output
from rushhour.cli.progress import Stopping, bar, compile_bar
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.words.durations import clock, seconds
from rushhour.traffic.words.plurals import counted

if TYPE_CHECKING:
    from rushhour.games.opponents.chase import Chase
    from rushhour.traffic.world import World

VEHICLES: Final = 200
ZOOM: Final = 0.15  # m per pixel of a shot, and of the window at first
SIZE: Final = (1280, 800)  # pixels
PATIENCE: Final = 0.025  # s that a picture in a window waits for the simulation
RECORDED: Final = 0.1  # s between two recorded frames


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add = command.add_argument
    add("network", type=Path, metavar="NETWORK", help="a network, as for `rushhour run`")
    add("--opponents", type=int, default=4, metavar="N", help="(default: 4)")
    add("--vehicles", type=int, metavar="N", help="N vehicles on the road from the first frame (default: "
        "200, or the demand)")  # fmt: skip
    add("--demand", type=Path, action="append", default=[], metavar="FILE", help="routes, trips or flows, "
        "as for `rushhour run`; repeatable")  # fmt: skip
    add("--duration", default="2min", metavar="T", help="(default: 2min)")
    add("--dt", default="0.1", metavar="T", help="time step (default: 0.1)")
    add("--target", choices=("mind", "keys"), default="mind", help="who drives the target: its own mind, or you "
        "by the arrow keys in a window, with Control as hand brake (default: mind)")  # fmt: skip
    add("--window", metavar="WHAT",
        help="with --target keys: glfw or qt (default: glfw if installed)")  # fmt: skip
    add("--car", default="car", metavar="CLASS", help="of all of them: car, van, truck, bus, or one of a "
        "game's: storm, bolte, ... (default: car)")  # fmt: skip
    add("--speed", type=float, default=17.0, metavar="V",
        help="m/s of the opponents at most (default: 17)")  # fmt: skip
    add("--lead", type=float, default=0.9, metavar="X",
        help="times that, of the target (default: 0.9)")  # fmt: skip
    add("--recovery", default="full", metavar="MODE", help="the way back to the road: full (over the "
        "navmesh), better or simple (default: full)")  # fmt: skip
    add_output(command, "--record", endings=H5, run=True,
        help="write a run file, for `rushhour view` and `replay`")  # fmt: skip
    add_output(command, "--shot", endings=PNG,
        help="draw the target's surroundings as the chase ends (PNG)")  # fmt: skip
    add_seed(command, 1, "(default: 1)")
    add_threads(command)
    add_json(command)


def chase(args: argparse.Namespace) -> int:
    """Run a chase, print what came of it, write what was asked for."""
    from rushhour.traffic.scenarios.opening import open_world
    from rushhour.traffic.scenarios.scenario import Scenario

    if args.window is not None and args.target != "keys":
        raise RunError("--window is for --target keys; add that, or leave it out")
    if args.target == "keys":
        from rushhour.viewer.window_kinds import window_backend

        window_backend(args.window)  # before anything is simulated
    vehicles = VEHICLES if args.vehicles is None and not args.demand else args.vehicles
    scenario = Scenario(
        network=args.network, demand=tuple(args.demand), vehicles=vehicles,
        duration=seconds(args.duration, "--duration"), dt=seconds(args.dt, "--dt"), seed=args.seed,
    )  # fmt: skip
    with ExitStack() as stack:
        stack.enter_context(compile_bar())
        world = open_world(scenario, lambda what: None)
        running, stopped = _run(args, world, scenario.duration or 0.0, stack)
    facts = _facts(args, running)
    if args.record is not None:
        running.tape.save(args.record)
        facts["written"].append(str(args.record))
    if args.shot is not None:
        _shoot(args.shot, running)
        facts["written"].append(str(args.shot))
    print(json_text(facts) if args.json else "\n".join(_lines(facts)))
    return stopped


def _run(
    args: argparse.Namespace, world: "World", duration: float, stack: ExitStack
) -> tuple["Chase", int]:
    """Chase until the time is over or somebody stops it; the exit code with it."""
    from rushhour.games.opponents.chase import Chase
    from rushhour.traffic.recording.recorder import Recorder

    if args.record is not None:
        recorder = stack.enter_context(Recorder(args.record, world, max(RECORDED, world.dt)))
        world.observers.append(recorder)
    world.step()  # so that the vehicles are there
    running = Chase(
        world, args.opponents, car=args.car, speed=args.speed, lead=args.lead,
        recovery=args.recovery, seed=args.seed, by_hand=args.target == "keys",
    )  # fmt: skip
    if args.target == "keys":
        _drive(args, running, world.time + duration)
        return running, 0
    stopping = stack.enter_context(Stopping())
    shown: Any = stack.enter_context(bar(duration, "s", "chasing"))
    end = world.time + duration
    while world.time < end - 1e-9 and not stopping.signal:
        world.step()
        if world.frame % 10 == 0:
            shown.set_postfix_str(f"{running.result().captures} captures", refresh=False)
            shown.update(duration - (end - world.time) - shown.n)
    return running, stopping.exit_code if stopping.signal else 0


def _drive(args: argparse.Namespace, running: "Chase", end: float) -> None:
    """Have somebody drive the target in a window, until it is closed or the time is over."""
    from rushhour.viewer.actions import Look
    from rushhour.viewer.live import LiveSource
    from rushhour.viewer.session import Session
    from rushhour.viewer.target_hand import TargetHand
    from rushhour.viewer.window import watch

    hand = TargetHand(running)
    source = LiveSource(running.world, PATIENCE, hand, until=end, chased=True)
    session = Session(source, *SIZE, window=True)
    session.do(Look(*hand.place, ZOOM))
    session.say("the arrow keys drive, Control is the hand brake; Q ends the chase")
    watch(session, kind=args.window)


def _facts(args: argparse.Namespace, running: "Chase") -> dict[str, Any]:
    import numpy as np

    from rushhour.games.opponents.chase import STATE_NAMES

    result, world = running.result(), running.world
    far = np.array(running.tape.distances) if len(running.tape) else np.zeros((1, len(running)))
    rows = [
        {
            "name": "target" if k == 0 else f"opponent {k}",
            "rams": int(result.rams[k]),
            "bumps": int(result.bumps[k]),
            "passes": int(result.passes[k]),
            "slides": int(result.slides[k]),
            "horns": int(result.horns[k]),
            "near_misses": int(result.near_misses[k]),
            "collisions": int(result.collisions[k]),
            "off_road_s": round(float(result.off_time[k]), 1),
            "resets": int(result.resets[k]),
            "mean_distance_m": round(float(far[:, k].mean()), 1),
            "states": {
                name: round(float(share), 3)
                for name, share in zip(STATE_NAMES, result.shares[k], strict=True)
            },
        }
        for k in range(len(running))
    ]
    steer = world.costs.summary()["steer"]
    return {
        "network": world.network.name,
        "vehicles": world.active,
        "time_s": round(result.time, 3),
        "captures": result.captures,
        "distance_m": [round(float(d), 1) for d in far[:: max(1, round(1.0 / world.dt)), 0]],
        "cast": rows,
        "events": [
            {"time_s": round((event.frame + 1) * world.dt, 3), **event._asdict()}
            for event in running.events
        ],
        "cells": len(running.navmesh),
        "steer_ms": steer,
        "state_hash": world.state_hash(),
        "written": [],
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    first = (
        f"{facts['network']}: {clock(facts['time_s'])} among {facts['vehicles']:,} vehicles, "
        f"{counted(facts['captures'], 'capture')}, {facts['steer_ms']['p50']:.2f} ms a frame"
    )
    lines = [
        first,
        "",
        "               rams  bumps  horns  misses  passes  slides  off road  resets   mean to    states",
    ]
    for row in facts["cast"]:
        shares = ", ".join(
            f"{name} {100.0 * share:.0f} %" for name, share in row["states"].items() if share
        )
        lines.append(
            f"{row['name']:<14} {row['rams']:4d} {row['bumps']:6d} {row['horns']:6d} "
            f"{row['near_misses']:7d} {row['passes']:7d} "
            f"{row['slides']:7d} {row['off_road_s']:7.1f} s {row['resets']:7d} "
            f"{row['mean_distance_m']:7.0f} m    {shares}"
        )
    return [
        *lines, f"state {facts['state_hash'][:16]}", *(f"{p} written" for p in facts["written"]),
    ]  # fmt: skip


def _shoot(path: "Path", running: "Chase") -> None:
    """Draw where the target is."""
    from rushhour.viewer.actions import Look
    from rushhour.viewer.live import LiveSource
    from rushhour.viewer.session import Session
    from rushhour.viewer.shots import save_shot

    running.world.bodies.take()  # those of the frame that comes
    session = Session(LiveSource(running.world, chased=True), *SIZE)
    body = running.cast.bodies
    session.do(Look(float(body.x[0]), float(body.y[0]), ZOOM))
    save_shot(path, session)
