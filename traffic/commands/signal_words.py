"""Signals, programs and phases as they are given in commands, checked and made plain."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.signals.programs import CODES, LATEST
from rushhour.traffic.commands.log import CommandError, each_of
from rushhour.traffic.sim.signal_control import CONTROLS, Order, Plan

# Commands to signals, and what is given to them.
SIGNALLING: Final[Mapping[str, tuple[str, ...]]] = {
    "set_phase": ("signals", "phase", "duration", "yellow", "all_red"),
    "hold_phase": ("signals", "duration"),
    "set_program": ("signals", "program"),
    "release_signals": ("signals",),
}
MOST_PHASES: Final = 1000


def numbers_of(name: str, ids: Sequence[str], given: Any) -> list[int]:
    """Numbers of signals by ids or numbers; None is all. Raises CommandError for unknown ones."""
    if given is None:
        given = range(len(ids))
    found: list[int] = []
    places = _first_places(ids)
    for one in each_of(given):
        if isinstance(one, str):
            if one not in places:
                raise CommandError(
                    f"{name}: no signal {one[:60]!r}; give an id of world.signals.ids"
                )
            found.append(places[one])
        elif isinstance(one, bool) or not isinstance(one, int | np.integer):
            raise CommandError(f"{name}: signal {str(one)[:60]!r}: wanted an id or a number")
        elif 0 <= one < len(ids):
            found.append(int(one))
        else:
            raise CommandError(f"{name}: no signal {one}; there are {len(ids)}, from 0 on")
    if not found:
        raise CommandError(f"{name}: no signals given; name at least one")
    if len(set(found)) < len(found):
        raise CommandError(f"{name}: a signal is given twice; give each once")
    return found


def plain_signals(ids: Sequence[str], numbers: Sequence[int]) -> list[str | int]:
    """Ids of signals; numbers where another has the same id."""
    places = _first_places(ids)
    return [ids[i] if places[ids[i]] == i else i for i in numbers]


def _first_places(ids: Sequence[str]) -> dict[str, int]:
    """Where each id stands first."""
    return {name: i for i, name in reversed(list(enumerate(ids)))}


def plain_order(
    given: Any, numbers: Sequence[int], ids: Sequence[str], links: NDArray[np.int32]
) -> Any:
    """A program as it is given: one of CONTROLS, or a list of [letters, s].

    links: letters per state of every signal. Raises CommandError for others.
    """
    if isinstance(given, str):
        if given not in CONTROLS:
            wanted = ", ".join(CONTROLS)
            raise CommandError(
                f"set_program: {given[:60]!r}: wanted {wanted}, or (letters, s) pairs"
            )
        return given
    if not isinstance(given, list | tuple) or not 0 < len(given) <= MOST_PHASES:
        raise CommandError(
            f"set_program: wanted {', '.join(CONTROLS)}, or 1 to {MOST_PHASES} pairs of (letters, s)"
        )
    for p, pair in enumerate(given):
        where = f"set_program: phase {p}"
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            raise CommandError(f"{where}: {str(pair)[:60]}: wanted (letters, s)")
        letters, time = pair
        odd = [letter for letter in letters if letter not in CODES]
        if odd:
            raise CommandError(f"{where}: letter {odd[0]!r}; wanted some of {''.join(CODES)}")
        if isinstance(time, bool) or not isinstance(time, int | float) or not (
            0.0 < time <= LATEST / MOST_PHASES
        ):  # fmt: skip
            raise CommandError(
                f"{where}: {str(time)[:60]} s; wanted a time above 0, at most {LATEST / MOST_PHASES:g}"
            )
        for i in numbers:
            if len(letters) != links[i]:
                raise CommandError(
                    f"{where}: {len(letters)} letters; signal {ids[i][:60]!r} has {links[i]} links"
                )
    return [[str(letters), float(time)] for letters, time in given]


def order_of(plain: Any, time: float) -> Order:
    """What a plain program says, applied at a time, s."""
    if isinstance(plain, str):
        return plain
    return Plan(tuple((str(letters), float(s)) for letters, s in plain), time)
