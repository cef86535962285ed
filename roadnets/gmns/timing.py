"""When the phases of a ring-and-barrier controller are green, as a fixed program.

Phases of a *ring* follow each other by position; rings run side by side. A *barrier* group holds
the phases that come before the next barrier, which all rings cross together. A phase is green and
then clears (yellow and all-red). Source: the specification, table signal_timing_phase; the rings
are NEMA's.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Phase:
    """One phase. least, green, clearance: s."""

    id: str
    number: int
    ring: int
    barrier: int
    position: int
    least: float
    green: float
    clearance: float


@dataclass(frozen=True)
class Shown:
    """When a phase is green and when it has cleared, s from the start of the cycle."""

    phase: Phase
    start: float
    green_end: float
    end: float


Group = dict[int, list[Phase]]  # phases by ring, in order


def timeline(phases: list[Phase], cycle: float = 0.0) -> tuple[list[Shown], float, bool]:
    """When each phase is shown, the length of the cycle in s, and whether it is the one wanted.

    At a barrier a ring that is ready waits in the green of its last phase. cycle: greens are
    stretched to fill it, or shortened towards their least; 0, or too short even so: as they are.
    """
    groups = _groups(phases)
    lengths = [max(_length(ring) for ring in group.values()) for group in groups]
    least = [max(_length(ring, True) for ring in group.values()) for group in groups]
    total = sum(lengths)
    fits = cycle <= 0.0 or (total > 0.0 and cycle >= sum(least))
    targets = list(lengths)
    if fits and cycle > total:
        targets = [length * cycle / total for length in lengths]
    elif fits and 0.0 < cycle < total:
        share = (total - cycle) / (total - sum(least))
        targets = [a - share * (a - b) for a, b in zip(lengths, least, strict=True)]
    shown: list[Shown] = []
    start = 0.0
    for group, length, target in zip(groups, lengths, targets, strict=True):
        for ring in group.values():
            at = start
            greens = _greens(ring, length, target)
            for phase, green in zip(ring, greens, strict=True):
                shown.append(Shown(phase, at, at + green, at + green + phase.clearance))
                at += green + phase.clearance
        start += target
    return shown, start, fits


def _groups(phases: list[Phase]) -> list[Group]:
    """The barrier groups in order, each with its rings."""
    found: dict[int, Group] = {}
    ordered = sorted(phases, key=lambda p: (p.barrier, p.ring, p.position, p.number))
    for phase in ordered:
        found.setdefault(phase.barrier, {}).setdefault(phase.ring, []).append(phase)
    return list(found.values())


def _length(ring: list[Phase], least: bool = False) -> float:
    return sum((min(p.least, p.green) if least else p.green) + p.clearance for p in ring)


def _greens(ring: list[Phase], length: float, target: float) -> list[float]:
    """Greens of the phases of a ring in a group that lasts `length` by itself, `target` in all."""
    greens = [phase.green for phase in ring]
    greens[-1] += length - _length(ring)
    wanted = target - sum(phase.clearance for phase in ring)
    total = sum(greens)
    if wanted >= total:
        if total <= 0.0:
            return [*greens[:-1], wanted]
        return [green * wanted / total for green in greens]
    least = [min(phase.least, phase.green) for phase in ring]
    spare = total - sum(least)
    share = (wanted - sum(least)) / spare if spare > 0.0 else 0.0
    return [a + share * (green - a) for a, green in zip(least, greens, strict=True)]
