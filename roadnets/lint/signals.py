"""Signal programs: greens that conflict, movements without green, times that nobody can drive by.

Source: networks.md 8, L19 and L20.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import GREEN, GREEN_YIELD, STRAIGHT, YELLOW
from rushhour.roadnets.findings import WARNING, Finding, finding
from rushhour.roadnets.fixes import fix_line
from rushhour.roadnets.lint.ends import middle
from rushhour.roadnets.model import Network
from rushhour.roadnets.signals.greens import letters_of, members_of, phase_times

SHORTEST_YELLOW: Final = 3.0  # s
SHORTEST_GREEN: Final = 4.0  # s
LONGEST_CYCLE: Final = 180.0  # s


def signal_findings(network: Network) -> list[Finding]:
    """Findings on the programs of a network."""
    return [*_conflicting(network), *_never_green(network), *_times(network)]


def crossing_greens(network: Network) -> Iterator[tuple[int, int, int, int]]:
    """Movements that conflict, are green together, and of which none turns and yields.

    Program, first such phase, and the two connectors.
    """
    links, conflicts = network.arrays.connectors, network.arrays.conflicts
    road = network.arrays.lanes.road[links.from_lane]
    for program, members in enumerate(members_of(network.arrays)):
        letters, green = _letters(network, program)
        for k in members:
            for c in range(links.conflict_start[k], links.conflict_start[k + 1]):
                other = int(conflicts.other[c])
                if other < k or links.signal[other] != program or road[other] == road[k]:
                    continue
                a, b = int(links.link[k]), int(links.link[other])
                for phase in np.flatnonzero(green[:, a] & green[:, b]).tolist():
                    if not (
                        _gives_way(letters[phase, a], links.turn[k])
                        or _gives_way(letters[phase, b], links.turn[other])
                    ):
                        yield program, phase, k, other
                        break


def _letters(network: Network, program: int) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """States of a program (phases, links), and where they are green."""
    letters = letters_of(network.arrays.signals, program)
    return letters, (letters == GREEN) | (letters == GREEN_YIELD)


def _gives_way(letter: int, turn: int) -> bool:
    """Whether a green movement turns and yields meanwhile."""
    return letter == GREEN_YIELD and turn != STRAIGHT


def _found(network: Network, check: str, program: int, text: str, connector: int) -> Finding:
    """A finding on a program, at a connector.."""
    title = network.signal_ids[program]
    links = network.arrays.connectors
    at = network.intersection_ids[links.intersection[connector]]
    return finding(
        check,
        f"program {title!r}{text}",
        [f"signal {title}"],
        middle(network, network.n_road_lanes + connector),
        fix_line("signals", [at], False),
    )


def _movement(network: Network, k: int) -> str:
    links, road = network.arrays.connectors, network.arrays.lanes.road
    a, b = road[links.from_lane[k]], road[links.to_lane[k]]
    return f"{network.road_ids[a]} -> {network.road_ids[b]}"


def conflicting(network: Network) -> dict[int, Finding]:
    """Programs in which greens cross (L19), each with the first such pair."""
    found: dict[int, Finding] = {}
    for program, phase, k, other in crossing_greens(network):
        if program not in found:
            pair = f"{_movement(network, k)} and {_movement(network, other)}"
            text = f" phase {phase}: {pair} are both green and cross"
            found[program] = _found(network, "L19", program, text, k)
    return found


def _conflicting(network: Network) -> Iterator[Finding]:
    """Greens that cross. The reader of CityFlow says it itself; SUMO's are as the file has them."""
    if network.source.startswith("CityFlow"):
        return
    for one in conflicting(network).values():
        if network.source.startswith("SUMO"):
            message = f"{one.message}; who comes first goes first"
            one = one._replace(message=message, severity=WARNING)
        yield one


def _never_green(network: Network) -> Iterator[Finding]:
    links = network.arrays.connectors
    for program, members in enumerate(members_of(network.arrays)):
        _, green = _letters(network, program)
        dark = [k for k in members if not green[:, links.link[k]].any()]
        for movement, k in {_movement(network, k): k for k in dark}.items():
            yield _found(network, "L20", program, f": {movement} is never green", k)


def _times(network: Network) -> Iterator[Finding]:
    """Yellow and green that are too short, cycles that are too long."""
    signals, links = network.arrays.signals, network.arrays.connectors
    for program, members in enumerate(members_of(network.arrays)):
        if not members.size:
            continue
        times = phase_times(signals, program)
        letters, green = _letters(network, program)
        used = np.unique(links.link[members])
        shortest = [np.inf, np.inf]  # green, yellow
        for link in used.tolist():
            for which, runs in enumerate(_runs(letters[:, link], green[:, link], times)):
                shortest[which] = min([shortest[which], *runs])
        if shortest[0] < SHORTEST_GREEN:
            yield _found(network, "L20", program, f": a green of {shortest[0]:g} s", members[0])
        if shortest[1] < SHORTEST_YELLOW:
            text = f": {shortest[1]:g} s of yellow after a green"
            yield _found(network, "L20", program, text, members[0])
        if signals.cycle[program] > LONGEST_CYCLE:
            text = f": a cycle of {signals.cycle[program]:g} s"
            yield _found(network, "L20", program, text, members[0])


def _runs(
    letters: NDArray[np.uint8], green: NDArray[np.bool_], times: NDArray[np.float64]
) -> tuple[list[float], list[float]]:
    """Times of each green of a link, and of the yellow after it, s; none if it never ends."""
    greens: list[float] = []
    yellows: list[float] = []
    if green.all() or not green.any():
        return greens, yellows
    first = int(np.flatnonzero(green & ~np.roll(green, 1))[0])
    before = ""
    for phase in np.roll(np.arange(green.size), -first).tolist():
        now = "green" if green[phase] else "yellow" if letters[phase] == YELLOW else ""
        if now == "green":
            if before != "green":
                greens.append(0.0)
                yellows.append(0.0)
            greens[-1] += times[phase]
        elif now == "yellow" and before in ("green", "yellow"):
            yellows[-1] += times[phase]
        before = now
    return greens, yellows
