"""Measuring that goes on in a resumed run: the tables in which keyframes keep what `Measures` remembers.

Rows of the tables that are over are not repeated: `numbers` counts those that there were.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.measuring.loops import LOOP_SUMS
from rushhour.kernels.measuring.roads import COUNTS, READINGS
from rushhour.roadnets.errors import RunError

LONGEST: Final = 1 << 40  # frames of an interval
KINDS: Final = {
    "measured_vehicles": np.dtype(  # those who are somewhere; see kernels.measuring.roads.Meters
        [("vehicle", "<i4"), ("road", "<i4"), ("since", "<f8", (READINGS,)), ("s", "<f8")]
    ),
    "measured_roads": np.dtype([("counts", "<i8", (COUNTS,)), ("sums", "<f8", (READINGS,))]),
    "measured_loops": np.dtype(  # by lane and place; see kernels.measuring.loops.Loops
        [
            ("over", "<i4"), ("slot", "<i4"), ("clear", "<f8"), ("at", "<f8"), ("since", "<f8"),
            ("passed", "<i8"), ("sums", "<f8", (LOOP_SUMS,)), ("began", "<i8"), ("frames", "<i8"),
        ]
    ),
    "measured_queues": np.dtype([("sums", "<f8", (2,)), ("most", "<f8", (2,))]),
    "measured_inside": np.dtype([("section", "<i4"), ("vehicle", "<i4"), ("came", "<f8")]),
    "measured_times": np.dtype([("section", "<i4"), ("time", "<f8")]),
    "measured_numbers": np.dtype([("name", "S16"), ("value", "<i8")]),
}  # fmt: skip
NUMBERS: Final = ("interval", "since", "looks", "roads")
OF_LOOPS: Final = ("over", "slot", "clear", "at", "since", "passed", "sums")


def numbers_of(state: Mapping[str, NDArray[Any]]) -> dict[str, int]:
    """The numbers of a state by name. Raises ValueError if some are not there."""
    table = state["measured_numbers"]
    found = {
        bytes(name).decode("ascii", "replace"): int(value)
        for name, value in zip(table["name"], table["value"], strict=True)
    }
    if not set(NUMBERS) <= set(found):
        raise ValueError("measured_numbers lacks some")
    return found


def check_state(
    state: Mapping[str, NDArray[Any]], roads: int, loops: int, queues: int, sections: int,
    trips: int, slots: int, frame: int,
) -> dict[str, int]:  # fmt: skip
    """Check a state against so many roads (and 1), loops, ..., as of a frame; its numbers.

    Raises RunError for one that is not of these.
    """
    numbers = numbers_of(state)
    wanted = (
        ("measured_roads", None, roads, 0), ("measured_loops", None, loops, 0),
        ("measured_queues", None, queues, 0), ("measured_vehicles", "vehicle", trips, 0),
        ("measured_vehicles", "road", roads, 0), ("measured_loops", "over", trips, -1),
        ("measured_loops", "slot", slots, 0), ("measured_loops", "began", frame + 1, 0),
        ("measured_loops", "frames", LONGEST, 1), ("measured_inside", "section", sections, 0),
        ("measured_inside", "vehicle", trips, 0), ("measured_times", "section", sections, 0),
    )  # fmt: skip
    for name, column, size, least in wanted:
        table = state[name]
        if column is None:
            sound = len(table) == size
        else:
            sound = not len(table) or least <= table[column].min() <= table[column].max() < size
        if not sound:
            raise RunError(f"{name} are not those of the run's detectors; record the run again")
    if not 0 <= numbers["since"] <= frame or numbers["looks"] < 0:
        raise RunError("measured_numbers are not of this frame; record the run again")
    return numbers
