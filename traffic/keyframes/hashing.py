"""The hash of a state: a sum over its vehicles, queues and programs of signals.

Each of them has a digest of its own, and digests are added word by word: so it does not matter in
which order they are kept, in which slots, on how many threads, or which part of a world is added
first. Of a way and of stops only what is left counts, road by road, not where it lies in a pool.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import FIXED, Actuation
from rushhour.kernels.core.trips import Waiting
from rushhour.kernels.core.vehicles import Routes, Vehicles
from rushhour.kernels.signals.fixed_time import Lights
from rushhour.traffic.sim.fields import HASHED

if TYPE_CHECKING:
    from rushhour.traffic.sim.sim import Sim

WORDS: Final = 4  # of 64 bits, in a digest and in a sum
Sum = NDArray[np.uint64]  # (WORDS,)
STOPS: Final = ("stop_lane", "stop_pos", "stop_frames", "stop_until", "stop_parking")


def state_hash(sim: "Sim", commanded: bytes) -> str:
    """SHA-256 of what the parts of a state add up to.

    commanded: what commands have left in the world, apart from its vehicles.
    """
    aside = sim.verge.rows
    parts = [
        sim.domain.added(
            vehicle_sum(b"vehicle", sim.veh, sim.routes, sim.domain.slots())
            + light_sum(sim.lights, sim.actuation, *sim.domain.programs())
        ),
        vehicle_sum(b"aside", aside, sim.routes, np.arange(aside.lane.size)),
        queue_sum(sim.waiting),
    ]
    total = np.sum(parts, axis=0, dtype=np.uint64)
    numbers = np.array([sim.frame, int(sim.waiting.numbers[0])], "<i8")  # trips due so far
    h = sha256(numbers.tobytes() + total.astype("<u8").tobytes())
    h.update(commanded)
    return h.hexdigest()


def vehicle_sum(kind: bytes, veh: Vehicles, routes: Routes, rows: NDArray[Any]) -> Sum:
    """Sum over some rows of vehicles, with the roads and stops that each has before it."""
    columns = [getattr(veh, name)[rows] for name in HASHED]
    width, data = _packed(columns)
    first, last = veh.leg[rows].tolist(), veh.route_end[rows].tolist()
    stops, stops_end = veh.stop[rows].tolist(), veh.stop_end[rows].tolist()

    def each() -> Iterator[bytes]:
        for i, (a, b) in enumerate(zip(first, last, strict=True)):
            one = sha256(kind)
            one.update(data[i * width : (i + 1) * width])
            if 0 <= a < b:
                one.update(routes.road[a:b].tobytes())
            if stops[i] < stops_end[i]:
                for name in STOPS:
                    one.update(getattr(routes, name)[stops[i] : stops_end[i]].tobytes())
            yield one.digest()

    return _added(each())


def queue_sum(waiting: Waiting) -> Sum:
    """Sum over the roads outside of which somebody waits."""
    roads = np.flatnonzero(waiting.head >= 0)
    return _sum(b"queue", [roads.astype(np.int32), waiting.head[roads], waiting.tail[roads]])


def light_sum(
    lights: Lights, actuation: Actuation, programs: NDArray[Any], detectors: NDArray[Any]
) -> Sum:
    """Sum over some programs of signals and some detectors, once one of all programs reacts."""
    if not (actuation.control != FIXED).any():
        return np.zeros(WORDS, np.uint64)
    remembered = (lights.phase, lights.since, lights.target, lights.held)
    return _sum(b"program", [programs, *(each[programs] for each in remembered)]) + _sum(
        b"detector", [detectors, lights.hit[detectors], lights.served[detectors]]
    )


def _sum(kind: bytes, columns: list[NDArray[Any]]) -> Sum:
    width, data = _packed(columns)
    ends = range(width, len(data) + 1, width)
    return _added(sha256(kind + data[end - width : end]).digest() for end in ends)


def _packed(columns: list[NDArray[Any]]) -> tuple[int, bytes]:
    """Bytes of a row, and the rows of columns of equal length one behind the other."""
    n = len(columns[0])
    parts = [
        np.ascontiguousarray(c).view(np.uint8).reshape(n, c.nbytes // max(1, n)) for c in columns
    ]
    rows = np.concatenate(parts, axis=1)
    return max(1, rows.shape[1]), rows.tobytes()


def _added(digests: Iterator[bytes]) -> Sum:
    words = np.frombuffer(b"".join(digests), "<u8").reshape(-1, WORDS)
    return np.asarray(words.sum(axis=0, dtype=np.uint64))
