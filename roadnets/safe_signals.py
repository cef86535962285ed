"""Safe programs for made-up lights: where two greens cross after all, each road gets its own phase.

Programs are planned by the order of the legs around an intersection. Swept paths of one made of
several nodes may meet although their legs lie in order; that is known when the network is finished.
"""

from dataclasses import replace
from typing import Final

from rushhour.roadnets.build import finish, seal
from rushhour.roadnets.draft import Draft, DraftSignal
from rushhour.roadnets.findings import WARNING, Finding
from rushhour.roadnets.lint_ends import OPENSTREETMAP
from rushhour.roadnets.lint_signals import conflicting
from rushhour.roadnets.model import Network
from rushhour.roadnets.programs import pack_signals

GREEN: Final = 15.0  # s for each road
CLEARING: Final = 3.0  # s of red for all
FAST, FASTER = 14.0, 20.0  # m/s, above which yellow lasts 4 s and 5 s


def finish_draft(draft: Draft, lateral_acceleration: float | None = None) -> Network:
    """Finish a draft as build.finish does; programs that we have made up are made safe.

    Each that was changed is a finding (L19).
    """
    network = finish(draft, lateral_acceleration)
    found = conflicting(network) if draft.source == OPENSTREETMAP else {}
    if not found:
        return network
    signals = list(draft.signals)
    notes: list[Finding] = []
    for program, one in found.items():
        signals[program] = _one_by_one(network, program, signals[program])
        message = f"{one.message}; each road has a phase of its own now"
        notes.append(one._replace(message=message, severity=WARNING))
    arrays = network.arrays._replace(signals=pack_signals(signals))
    return seal(replace(network, arrays=arrays, findings=(*network.findings, *notes)))


def _one_by_one(network: Network, program: int, signal: DraftSignal) -> DraftSignal:
    """A program in which the roads of an intersection have green one after the other."""
    links, lanes = network.arrays.connectors, network.arrays.lanes
    letters = len(signal.phases[0][1])
    by_road: dict[int, set[int]] = {}
    for k in (links.signal == program).nonzero()[0].tolist():
        by_road.setdefault(int(lanes.road[links.from_lane[k]]), set()).add(int(links.link[k]))
    phases: list[tuple[float, str]] = []
    for road, mine in sorted(by_road.items()):
        speed = float(network.arrays.roads.speed[road])
        for time, letter in (
            (GREEN, "G"), (3.0 + (speed > FAST) + (speed > FASTER), "y"), (CLEARING, "r"),
        ):  # fmt: skip
            phases.append((time, "".join(letter if i in mine else "r" for i in range(letters))))
    return DraftSignal(signal.id, phases, signal.offset)
