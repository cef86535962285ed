"""Signal programs of SUMO files: which one is active, and whether it fits the links."""

from collections.abc import Sequence
from pathlib import Path

from rushhour.roadnets.drafts.draft import DraftSignal
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.reading.values import whole
from rushhour.roadnets.signals.programs import CODES
from rushhour.roadnets.sumo.actuation import actuation_of
from rushhour.roadnets.sumo.elements import RawProgram, SumoFile, read_programs

LARGEST_LINK = 100_000  # linkIndex


def link_of(file: SumoFile, attributes: dict[str, str], where: str) -> tuple[str, int] | None:
    """Signal and link index of a connection; None if it has no signal."""
    signal = attributes.get("tl")
    if not signal or attributes.get("uncontrolled", "") in ("1", "true"):
        return None
    if signal not in file.programs:
        junction = file.junctions.get(signal)
        if junction is not None and junction.kind.startswith("rail"):
            return None
        raise NetworkError(
            f"{where}: signal {signal!r} has no tlLogic; add the file that holds its program"
        )
    if "linkIndex" not in attributes:
        raise NetworkError(f"{where}: has a signal but no linkIndex; add it")
    return signal, whole(attributes["linkIndex"], where, "linkIndex", 0, LARGEST_LINK)


def _links_needed(file: SumoFile) -> dict[str, int]:
    """How many letters a state of each signal must have at least."""
    needed: dict[str, int] = {}
    for c in file.connections:
        place = link_of(file, c.attributes, file.where(c.line, "connection"))
        if place is not None:
            needed[place[0]] = max(needed.get(place[0], 0), place[1] + 1)
    return needed


def load_programs(file: SumoFile, paths: Sequence[Path]) -> None:
    """Replace programs of the network by those of additional files; the last one wins.

    Raises NetworkError when a replacing program has more or fewer letters than the one it replaces.
    """
    for path in paths:
        for program in read_programs(path, file.remarks):
            old = file.programs.get(program.id)
            if old is None:
                file.remarks.add("programs for unknown signals ignored", program.id, differs=True)
                continue
            if program.program == "off" and not program.phases:
                program.phases = [(1.0, "O" * max((len(s) for _, s in old.phases), default=1))]
            letters, new = _letters(old), _letters(program)
            if letters != new:
                raise NetworkError(
                    f"{program.where}: states of {new} letters for {letters} links; "
                    "give each state one letter per link"
                )
            file.programs[program.id] = program


def _letters(program: RawProgram) -> int:
    """Letters per state, the same in all phases."""
    if not program.phases:
        raise NetworkError(f"{program.where}: no phases; give it at least one")
    first = len(program.phases[0][1])
    for p, (_, state) in enumerate(program.phases):
        if len(state) != first:
            raise NetworkError(
                f"{program.where}: phase {p} has {len(state)} letters, phase 0 has {first}; "
                "give every phase one letter per link"
            )
        unknown = set(state) - CODES.keys()
        if unknown:
            raise NetworkError(
                f"{program.where}: phase {p} has the letter {min(unknown)!r}; "
                f"use one of {''.join(CODES)}"
            )
    return first


def draft_signals(file: SumoFile) -> list[DraftSignal]:
    """The active program of every signal that guards a connection, in file order.

    Programs of other types than static and actuated run on their fixed durations, remarked.
    Raises NetworkError for states that are too short for the links, and times that are none.
    """
    needed = _links_needed(file)
    signals: list[DraftSignal] = []
    for program in file.programs.values():
        if program.program == "off" and not program.phases:
            program.phases = [(1.0, "O" * max(needed.get(program.id, 1), 1))]
        letters = _letters(program)
        if letters < needed.get(program.id, 0):
            raise NetworkError(
                f"{program.where}: states of {letters} letters for {needed[program.id]} links; "
                "give each state one letter per link"
            )
        if program.id not in needed:
            file.remarks.add("signals without a road connection left out", program.id, differs=True)
            continue
        plan = None
        if program.kind == "actuated" and len(program.details) == len(program.phases):
            plan = actuation_of(program, file.remarks)
        elif program.kind not in ("static", "actuated"):
            file.remarks.add(
                f"{program.kind} signals run on their fixed durations", program.id, differs=True
            )
        signals.append(DraftSignal(program.id, program.phases, program.offset, plan))
    return signals
