"""Fixes of signal plans in a draft: who has green together, how long, in which cycle.

A phase names roads, all of whose movements have green, or single movements as road>road. Who turns
yields to what is green with it. Yellow and red for all follow by the speeds, as in made-up plans.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from rushhour.kernels.core.network import STRAIGHT
from rushhour.roadnets.drafts.draft import Draft, DraftConnector, DraftRoad, DraftSignal
from rushhour.roadnets.fixes import Fix, Fixes
from rushhour.roadnets.plans.signals import between
from rushhour.roadnets.signals.intergreens import all_red_time, yellow_time

CLEARED: Final = 20.0  # m over an intersection, for the red of all
LEAST_GREEN: Final = 4.0  # s
INTO: Final = ">"
STRAIGHT_ON: Final = np.radians(30.0)  # a movement that turns by less


def fix_plans(draft: Draft, fixes: Fixes, home: Mapping[str, str]) -> None:
    """Give signals the plans that fixes say.

    home: as in drafts.fixes. Raises NetworkError for signals, roads and movements that there are not,
    for movements that never get green, and for cycles that do not hold their phases.
    """
    if not any(fixes.of("plan")):
        return
    signals = {signal.id: signal for signal in draft.signals}
    roads = {road.id: road for road in draft.roads}
    for fix in fixes.of("plan"):
        with fixes.attempt(fix):
            signal = signals.get(fix.ids[0]) or signals.get(home.get(fix.ids[0], ""))
            if signal is None:
                raise fixes.refused(fix, "is no signal of the network; correct or drop the line")
            members = [c for c in draft.connectors if c.signal == signal.id]
            phases = _phases(fixes, fix, signal, members, roads)
            offset = float(fix.value.get("offset", signal.offset))
            if (phases, offset, None) == (signal.phases, signal.offset, signal.actuation):
                continue
            signal.phases, signal.offset, signal.actuation = phases, offset, None
            fixes.use(fix)


def _phases(
    fixes: Fixes,
    fix: Fix,
    signal: DraftSignal,
    members: list[DraftConnector],
    roads: Mapping[str, DraftRoad],
) -> list[tuple[float, str]]:
    """The phases of a plan, with yellow and red between them."""
    width = len(signal.phases[0][1])
    on_red = {k for _, letters in signal.phases for k, one in enumerate(letters) if one == "s"}
    shown: list[list[str]] = []
    for _, names in fix.value["phases"]:
        letters = ["r"] * width
        for name in names.split():
            for c in _named(fixes, fix, name, members):
                letters[c.link] = "G" if _goes_straight(c, roads) else "g"
        shown.append(letters)
    for c in members:
        if all(letters[c.link] == "r" for letters in shown):
            raise fixes.refused(
                fix, f"{c.from_road}{INTO}{c.to_road} never has green; give it a phase"
            )
    speed = max(lane.speed for c in members for lane in roads[c.from_road].lanes)
    yellow, red = yellow_time(speed), all_red_time(CLEARED, speed)
    times = [float(time) for time, _ in fix.value["phases"]]
    changes = sum(a != b for a, b in zip(shown, shown[1:] + shown[:1], strict=True))
    if "cycle" in fix.value:
        left = float(fix.value["cycle"]) - changes * (yellow + red)
        if left < LEAST_GREEN * len(shown):
            raise fixes.refused(
                fix,
                f"{left:.0f} s of green are left of the cycle for {len(shown)} phases; wanted "
                f"{LEAST_GREEN:g} s for each",
            )
        times = [time * left / sum(times) for time in times]
    phases: list[tuple[float, str]] = []
    for k, (letters, time) in enumerate(zip(shown, times, strict=True)):
        after = shown[(k + 1) % len(shown)]
        phases.append((time, "".join(letters)))
        if letters != after:
            phases += [(yellow, between(letters, after, "y")), (red, between(letters, after, "r"))]
    return [
        (time, "".join("s" if one == "r" and k in on_red else one for k, one in enumerate(text)))
        for time, text in phases
    ]


def _named(
    fixes: Fixes, fix: Fix, name: str, members: list[DraftConnector]
) -> list[DraftConnector]:
    """The movements at a signal that a name of a phase means."""
    road, _, onto = name.partition(INTO)
    found = [c for c in members if c.from_road == road and onto in ("", c.to_road)]
    if not found:
        raise fixes.refused(
            fix, f"{name[:60]!r} is no road or road{INTO}road with lights there; correct it"
        )
    return found


def _goes_straight(c: DraftConnector, roads: Mapping[str, DraftRoad]) -> bool:
    if c.turn is not None:
        return c.turn == STRAIGHT
    before, behind = roads[c.from_road].lanes[0].shape, roads[c.to_road].lanes[0].shape
    ahead, onward = (complex(*step) for step in (before[-1] - before[-2], behind[1] - behind[0]))
    return bool(abs(np.angle(onward / ahead)) < STRAIGHT_ON)
