"""Safe programs for made-up lights: where two greens cross after all, each road gets its own phase.

Programs are planned by the order of the legs around an intersection. Swept paths of one made of
several nodes may meet although their legs lie in order; that is known when the network is finished.
"""

from dataclasses import replace
from typing import Final

from rushhour.kernels.core.network import RIGHT, STRAIGHT
from rushhour.roadnets.build import finish, seal
from rushhour.roadnets.drafts.draft import Draft, DraftSignal
from rushhour.roadnets.findings import WARNING, Finding
from rushhour.roadnets.lint.ends import OPENSTREETMAP
from rushhour.roadnets.lint.signals import conflicting, crossing_greens
from rushhour.roadnets.model import Network
from rushhour.roadnets.signals.actuation import fixed_times
from rushhour.roadnets.signals.programs import pack_signals

GMNS: Final = "GMNS"  # what the source of such a network begins with
LEAST_GREEN: Final = 8.0  # s for each road
CLEARING: Final = 3.0  # s of red for all
FAST, FASTER = 14.0, 20.0  # m/s, above which yellow lasts 4 s and 5 s


def finish_draft(draft: Draft, lateral_acceleration: float | None = None) -> Network:
    """Finish a draft as build.finish does; programs that are not a file's own are made safe.

    Those of GMNS tables name no lanes that cross, so they are made safe, too: whoever turns yields,
    where that is enough. Each program that was changed is a finding (L19).
    """
    network = finish(draft, lateral_acceleration)
    signals = list(draft.signals)
    notes: list[Finding] = []
    if draft.source.startswith(GMNS):
        network = _yielding(network, signals, notes)
    elif draft.source != OPENSTREETMAP:
        return network
    found = conflicting(network)
    for program, one in found.items():
        signals[program] = _one_by_one(network, program, signals[program])
        message = f"{one.message}; each road has a phase of its own now"
        notes.append(one._replace(message=message, severity=WARNING))
    if not notes:
        return network
    network = _with_signals(network, signals)
    return seal(replace(network, findings=(*network.findings, *notes)))


def _with_signals(network: Network, signals: list[DraftSignal]) -> Network:
    arrays = network.arrays._replace(signals=pack_signals(signals))
    return seal(replace(network, arrays=arrays, actuation=fixed_times(arrays.signals)))


def _yielding(network: Network, signals: list[DraftSignal], notes: list[Finding]) -> Network:
    """Let those who turn yield in phases in which they cross another green; notes what changed."""
    links, found = network.arrays.connectors, conflicting(network)
    for program, _, *pair in list(crossing_greens(network)):
        turning = [k for k in pair if links.turn[k] != STRAIGHT]
        if not turning:
            continue
        yields = max(turning, key=lambda k: (links.turn[k] != RIGHT, k))
        a, b = int(links.link[yields]), int(links.link[sum(pair) - yields])
        signal = signals[program]
        phases = [
            (
                time,
                letters[:a] + "g" + letters[a + 1 :]
                if {letters[a], letters[b]} == {"G"}
                else letters,
            )
            for time, letters in signal.phases
        ]
        signals[program] = DraftSignal(signal.id, phases, signal.offset)
    if not found:
        return network
    network = _with_signals(network, signals)
    for program in found.keys() - conflicting(network).keys():
        message = f"{found[program].message}; who turns yields now"
        notes.append(found[program]._replace(message=message, severity=WARNING))
    return network


def _one_by_one(network: Network, program: int, signal: DraftSignal) -> DraftSignal:
    """A program in which the roads of an intersection have green one after the other."""
    links, lanes = network.arrays.connectors, network.arrays.lanes
    letters = len(signal.phases[0][1])
    by_road: dict[int, set[int]] = {}
    for k in (links.signal == program).nonzero()[0].tolist():
        by_road.setdefault(int(lanes.road[links.from_lane[k]]), set()).add(int(links.link[k]))
    clearing = [
        3.0 + (speed > FAST) + (speed > FASTER) + CLEARING
        for speed in (float(network.arrays.roads.speed[road]) for road in sorted(by_road))
    ]
    cycle = sum(time for time, _ in signal.phases)  # neighbours keep step with it
    green = max(LEAST_GREEN, (cycle - sum(clearing)) / len(by_road))
    phases: list[tuple[float, str]] = []
    for (_, mine), time in zip(sorted(by_road.items()), clearing, strict=True):
        for seconds, letter in ((green, "G"), (time - CLEARING, "y"), (CLEARING, "r")):
            phases.append((seconds, "".join(letter if i in mine else "r" for i in range(letters))))
    return DraftSignal(signal.id, phases, signal.offset)
