"""Measuring that goes on in a resumed run: what `Measures` remembers, as tables for a keyframe.

Rows of the tables that are over are not repeated: `numbers` counts those that there were.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.measuring import COUNTS, LOOP_SUMS, READINGS
from rushhour.roadnets.errors import RunError

if TYPE_CHECKING:
    from rushhour.traffic.measures.measuring import Measures

LONGEST: Final = 1 << 40  # frames of an interval
KINDS: Final = {
    "measured_vehicles": np.dtype(  # those who are somewhere; see kernels.measuring.Meters
        [("vehicle", "<i4"), ("road", "<i4"), ("since", "<f8", (READINGS,)), ("s", "<f8")]
    ),
    "measured_roads": np.dtype([("counts", "<i8", (COUNTS,)), ("sums", "<f8", (READINGS,))]),
    "measured_loops": np.dtype(  # by lane and place; see kernels.measuring.Loops
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


def measuring_state(measures: "Measures") -> dict[str, NDArray[Any]]:
    """What measures remember after a frame, as tables of KINDS."""
    m, loops, queues = measures._meters, measures._loops, measures._queues
    known = np.flatnonzero(m.road >= 0)
    found = {name: np.zeros(0, kind) for name, kind in KINDS.items()}
    there = found["measured_vehicles"] = np.zeros(known.size, KINDS["measured_vehicles"])
    there["vehicle"], there["road"] = known, m.road[known]
    there["since"], there["s"] = m.since[known], m.s[known]
    roads = found["measured_roads"] = np.zeros(len(m.counts), KINDS["measured_roads"])
    roads["counts"], roads["sums"] = m.counts, m.sums
    over = found["measured_loops"] = np.zeros(loops.lane.size, KINDS["measured_loops"])
    for name in OF_LOOPS:
        over[name] = getattr(loops, name)
    over["began"], over["frames"] = measures._loop_since, measures._loop_frames
    lines = found["measured_queues"] = np.zeros(queues.lane.size, KINDS["measured_queues"])
    lines["sums"], lines["most"] = queues.sums, queues.most
    inside = [
        (x, who, came) for x, ones in enumerate(measures._inside) for who, came in ones.items()
    ]
    found["measured_inside"] = np.array(inside, KINDS["measured_inside"])
    times = [(x, time) for x, ones in enumerate(measures._times) for time in ones]
    found["measured_times"] = np.array(times, KINDS["measured_times"])
    numbers = {
        "interval": measures.interval, "since": measures._since, "looks": measures._looks,
        "roads": int(measures._with_roads),
        **{f"rows {name}": rows.size for name, rows in measures.rows.items()},
    }  # fmt: skip
    found["measured_numbers"] = np.array(
        [(name.encode(), value) for name, value in numbers.items()], KINDS["measured_numbers"]
    )
    return found


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


def go_on(measures: "Measures", state: Mapping[str, NDArray[Any]]) -> None:
    """Let measures of the same detectors remember a state; their world stands at its frame.

    Raises RunError for a state that is not one of theirs.
    """
    m, loops, queues = measures._meters, measures._loops, measures._queues
    world, numbers = measures.world, numbers_of(state)
    there, over = state["measured_vehicles"], state["measured_loops"]
    trips, slots, now = m.road.size, world.sim.veh.lane.size, world.frame
    sections = len(measures._inside)
    wanted = (
        ("measured_roads", None, len(m.counts), 0), ("measured_loops", None, loops.lane.size, 0),
        ("measured_queues", None, queues.lane.size, 0), ("measured_vehicles", "vehicle", trips, 0),
        ("measured_vehicles", "road", len(m.counts), 0), ("measured_loops", "over", trips, -1),
        ("measured_loops", "slot", slots, 0), ("measured_loops", "began", now + 1, 0),
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
    if not 0 <= numbers["since"] <= now or numbers["looks"] < 0:
        raise RunError("measured_numbers are not of this frame; record the run again")
    m.road[:] = -1
    m.road[there["vehicle"]] = there["road"]
    m.since[there["vehicle"]] = there["since"]
    m.s[there["vehicle"]] = there["s"]
    m.counts[:], m.sums[:] = state["measured_roads"]["counts"], state["measured_roads"]["sums"]
    for name in OF_LOOPS:
        getattr(loops, name)[:] = over[name]
    measures._loop_since[:], measures._loop_frames[:] = over["began"], over["frames"]
    if over.size:
        measures._next_loop = measures.next_loop()
    queues.sums[:], queues.most[:] = (state["measured_queues"][name] for name in ("sums", "most"))
    for x, who, came in state["measured_inside"].tolist():
        measures._inside[x][who] = came
    for x, time in state["measured_times"].tolist():
        measures._times[x].append(time)
    measures._since, measures._looks = numbers["since"], numbers["looks"]
    measures._departed = world.departed
