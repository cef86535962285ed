"""The queues of a run, by the time they cost: where, when, how they grew, and what began them."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.street_names import called, some
from rushhour.traffic.analysis.chains import Chain, cause_told
from rushhour.traffic.analysis.waiting import CREEPS, LOOKS, Scene
from rushhour.traffic.words.durations import clock
from rushhour.traffic.words.places_named import lanes_of_run

if TYPE_CHECKING:
    from rushhour.roadnets.model import Network
    from rushhour.traffic.recording.run_file import RunFile

LEAST: Final = 3  # vehicles that make a queue
MOVES: Final = ("free", "leader", "curve", "speed_limit_ahead", "starting")
PAUSE: Final = 120.0  # s that a queue may be gone, as in a green, and still be the same


@dataclass(frozen=True)
class QueueFound:
    """A queue on one road, from its first to its last vehicle below 1.4 m/s."""

    road: str
    begin: float  # s
    end: float  # s
    delay: float  # vehicle-seconds that were spent in it
    most: int  # vehicles at its worst
    worst: float  # s, when that was
    growth: float  # vehicles a minute, from its begin to its worst
    cause: str  # of the chain from its last vehicle, in most of several looks: a reason, or "ring"
    where: str  # place of the cause
    share: float  # of the looks that found this cause
    through: tuple[str, ...]  # roads between, that are full on the way to the cause
    lasts: bool = False  # it was still there in the last frame that was looked at
    name: str = ""  # what its road is called
    where_name: str = ""  # what the place of the cause is called: a street, or those that meet
    through_names: tuple[str, ...] = ()  # of the roads between


def queues(
    run: "RunFile",
    begin: float | None = None,
    end: float | None = None,
    *,
    top: int = 10,
    least: int = LEAST,
    every: float = 10.0,
    road: str | None = None,
    tell: Callable[[float], None] = lambda share: None,
) -> list[QueueFound]:
    """The `top` queues of a run that cost most, in the order of their delay.

    begin, end: only between these times, s. least: vehicles below 1.4 m/s that make a queue. every:
    s between the frames that are looked at. road: only on this one, or on a street. tell: is told the
    share that is done. Raises RunError for a run without frames, or without reasons and blockers in
    them, and for a road that there is not.

    >>> with rh.open_run("run.h5") as run:
    ...     [(queue.road, queue.delay, queue.cause) for queue in rh.queues(run)]
    """
    places = _places(run, begin, end, every)
    scene = Scene(run, int(places[0]))  # refuses a run without what is needed
    wanted = _wanted(run, road)
    counts = _counts(run, scene, places, least, tell)
    spans = [
        span
        for number, rows in counts.items()
        if wanted is None or number in wanted
        for span in _spans(run, number, rows)
    ]
    spans.sort(key=lambda span: (-span["delay"], span["begin"], span["road"]))
    return [_explained(run, span) for span in spans[:top]]


def queued(
    run: "RunFile", begin: float | None = None, end: float | None = None, every: float = 10.0
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.int64]]]:
    """Times of looks, s, and by road the vehicles below 1.4 m/s at each, where there were ever LEAST.

    begin, end, every: as of `queues`. Raises RunError for a run without frames, or none in that time.
    """
    places = _places(run, begin, end, every)
    times = np.asarray(run.times[places], np.float64)
    counts = _counts(run, Scene(run, int(places[0])), places, 1, lambda share: None)
    found: dict[str, NDArray[np.int64]] = {}
    for road, looks in sorted(counts.items()):
        line = np.zeros(times.size, np.int64)
        line[np.searchsorted(times, [time for time, _, _ in looks])] = [n for _, n, _ in looks]
        if line.max() >= LEAST:
            found[run.network().road_ids[road]] = line
    return times, found


def _wanted(run: "RunFile", road: str | None) -> set[int] | None:
    """Numbers of the roads that are asked for; None: of all."""
    if road is None:
        return None
    network = run.network()
    lanes = lanes_of_run(network, run.path, road)
    return set(network.arrays.lanes.road[lanes].tolist())


def _places(
    run: "RunFile", begin: float | None, end: float | None, every: float
) -> NDArray[np.int64]:
    """Places of recorded frames, `every` s apart."""
    first = 0 if begin is None else int(np.searchsorted(run.times, begin - 1e-6))
    last = run.times.size if end is None else int(np.searchsorted(run.times, end + 1e-6))
    run.want_frames()
    if first >= last:
        asked = f"from {clock(begin or 0.0)}" + ("" if end is None else f" until {clock(end)}")
        if end is not None and begin is not None and end < begin:
            raise RunError(f"queues {asked}: the end is before the begin; exchange them")
        raise RunError(
            f"{run.path}: no frame was recorded {asked}; its frames are from "
            f"{clock(run.times[0])} to {clock(run.times[-1])}"
        )
    slots = np.floor((run.times[first:last] - run.times[first]) / max(every, 1e-3) + 1e-6)
    return first + np.unique(slots, return_index=True)[1].astype(np.int64)


def _counts(
    run: "RunFile",
    scene: Scene,
    places: NDArray[np.int64],
    least: int,
    tell: Callable[[float], None],
) -> dict[int, list[tuple[float, int, float]]]:
    """By road: time, vehicles in the queue and s until the next look, where there are enough."""
    network = scene.network
    road_of = network.arrays.lanes.road
    found: dict[int, list[tuple[float, int, float]]] = {}
    times = run.times[places]
    spans = np.diff(times, append=times[-1] + (times[-1] - times[-2] if times.size > 1 else 0.0))
    for at, (place, time, span) in enumerate(zip(places, times, spans, strict=True)):
        frame = run.frame(int(place))
        roads = road_of[frame.lane[frame.speed < CREEPS]]
        number, size = np.unique(roads[roads >= 0], return_counts=True)
        many = size >= least
        for road, count in zip(number[many].tolist(), size[many].tolist(), strict=True):
            found.setdefault(road, []).append((float(time), count, float(span)))
        tell((at + 1) / places.size)
    return found


def _spans(run: "RunFile", road: int, rows: list[tuple[float, int, float]]) -> list[dict[str, Any]]:
    """The queues of one road, apart where it was gone for PAUSE."""
    last = float(run.times[-1])
    found: list[dict[str, Any]] = []
    for time, count, span in rows:
        if not found or time - found[-1]["end"] > PAUSE:
            found.append(
                {"road": road, "begin": time, "end": time, "delay": 0.0, "most": 0, "worst": time,
                 "first": count, "looks": []}
            )  # fmt: skip
        queue = found[-1]
        queue["end"] = min(time + span, last)
        queue["lasts"] = time + span > last
        queue["delay"] += count * span
        queue["looks"].append((time, count))
        if count > queue["most"]:
            queue["most"], queue["worst"] = count, time
    return found


def _explained(run: "RunFile", span: dict[str, Any]) -> QueueFound:
    """A queue with its cause: the most frequent in LOOKS while it was at least half as long as ever.

    In the middle of a green its head drives freely, which is no cause if another was ever seen.
    """
    network, road = run.network(), span["road"]
    long = [time for time, count in span["looks"] if 2 * count >= span["most"]]
    chosen = {long[k * (len(long) - 1) // max(1, LOOKS - 1)] for k in range(LOOKS)}
    chains = [chain for chain in (_chain_at(run, road, time) for time in sorted(chosen)) if chain]
    causes = Counter((chain.cause, chain.where) for chain in chains)
    kept = {key: n for key, n in causes.items() if key[0] not in MOVES} or causes
    cause, where = max(kept, key=lambda key: (kept[key], key))
    chain = next(chain for chain in chains if (chain.cause, chain.where) == (cause, where))
    growing = span["worst"] - span["begin"]
    growth = 60.0 * (span["most"] - span["first"]) / growing if growing > 0.0 else 0.0
    between = _roads_between(chain, network, road)
    return QueueFound(
        network.road_ids[road], span["begin"], span["end"], span["delay"], span["most"],
        span["worst"], growth, cause, where, causes[cause, where] / len(chains),
        tuple(network.road_ids[one] for one in between), span["lasts"], network.road_name(road),
        chain.street, tuple(network.road_name(one) for one in between),
    )  # fmt: skip


def _chain_at(run: "RunFile", road: int, time: float) -> Chain | None:
    """From the last in the longest queue of a road's lanes; None if nobody queues there."""
    scene = Scene(run, int(np.searchsorted(run.times, time - 1e-6)))
    roads, frame = scene.network.arrays.roads, scene.frame
    lanes = range(int(roads.first_lane[road]), int(roads.first_lane[road] + roads.lane_count[road]))
    slow = frame.lane[frame.speed < CREEPS]
    longest = max(lanes, key=lambda lane: (int((slow == lane).sum()), -lane))
    tail = scene.queue_tail(longest)
    return scene.chain(tail) if tail >= 0 else None


def _roads_between(chain: Chain, network: "Network", road: int) -> tuple[int, ...]:
    """Other roads that a chain passes, in its order."""
    road_of = network.arrays.lanes.road
    lanes = [
        network.lane_index[wait.lane] for wait in chain.waits if wait.lane in network.lane_index
    ]
    return tuple(dict.fromkeys(int(road_of[lane]) for lane in lanes if road_of[lane] != road))


def queue_lines(found: list[QueueFound]) -> list[str]:
    """The queues as a table for people."""
    rows = [("delay", "road", "from", "to", "longest", "at", "growth", "cause")]
    for queue in found:
        names = queue.through_names or [""] * len(queue.through)
        between = [called(*one) for one in zip(queue.through, names, strict=True)]
        way = f", through {some(between)}" if between else ""
        rows.append(
            (
                f"{queue.delay / 3600.0:.2f} h", called(queue.road, queue.name), clock(queue.begin),
                "end of run" if queue.lasts else clock(queue.end),
                f"{queue.most} veh", clock(queue.worst), f"{queue.growth:.1f} veh/min",
                cause_told(queue.cause, queue.where, queue.where_name) + way,
            )
        )  # fmt: skip
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]) - 1)]
    return [
        "  ".join([*(text.ljust(w) for text, w in zip(row, widths, strict=False)), row[-1]])
        for row in rows
    ]
