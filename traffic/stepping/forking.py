"""Forks of a process in which compiled code has run: its threads are not there, and nothing steps.

GNU OpenMP ends such a child at the first parallel kernel, without an error that Python could see.
"""

import os
import sys
from typing import Final

from rushhour.roadnets.errors import RunError

_lost: list[int] = []  # processes, this one and those above, that were forked so


def _note_fork() -> None:
    parallel = sys.modules.get("numba.np.ufunc.parallel")
    if getattr(parallel, "_is_initialized", False):
        _lost.append(os.getpid())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)

WHAT_TO_DO: Final = 'start it with spawn: multiprocessing.get_context("spawn"), or fork before the first world is made'


def refuse_after_fork() -> None:
    """Raises RunError in a fork of a process in which the threads of compiled code ran."""
    if _lost:
        raise RunError(
            "this process was forked from one in which compiled code had run, whose threads "
            f"it has not got; {WHAT_TO_DO}"
        )
