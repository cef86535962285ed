"""Whom to ask why they wait, and when: a vehicle, the queues of a road, or who has stood for longest."""

from typing import TYPE_CHECKING, Final

import numpy as np

from rushhour.kernels.core.vehicles import AT_STOP, LEADER
from rushhour.roadnets.errors import RunError
from rushhour.traffic.analysis.chains import STANDS, Chain
from rushhour.traffic.analysis.waiting import Scene
from rushhour.traffic.words.durations import clock, want_recorded
from rushhour.traffic.words.places_named import lanes_of_run

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile

LOOK_BACK: Final = 10.0  # s between the frames that tell roughly who stands for longest
CLOSEST: Final = 20  # of those, whose own way is looked at


def scene_at(run: "RunFile", time: float | None = None) -> Scene:
    """The last frame recorded at or before a time in s, or of all. Raises RunError if there is none."""
    run.want_frames()
    if time is None:
        return Scene(run, run.frames.size - 1)
    want_recorded(run.path, time, run.times[0], run.times[-1])
    place = int(np.searchsorted(run.times, time + 1e-6, side="right")) - 1
    return Scene(run, max(place, 0))


def why(
    run: "RunFile", at: float | None = None, vehicle: int | str | None = None, road: str | None = None
) -> list[Chain]:  # fmt: skip
    """Why a vehicle, or the last in each queue on a road, waits at a time in s.

    at: None is the end of the run. vehicle: its number, or its id in the demand. road: its id, or the name of a street. Without
    either: the head that has stood for longest then. Chains are empty where nobody queues on the
    road, or nobody stands. Raises RunError for a vehicle, road or time that is not there.

    >>> with rh.open_run("run.h5") as run:
    ...     for one in why(run, run.times[-1], road="A0A1"):
    ...         print("\\n".join(one.lines()))
    """
    scene = scene_at(run, at)
    if road is not None:
        return [scene.chain(row) for row in _tails(scene, road)]
    if vehicle is None:
        return [scene.chain(row) for row in _longest_standing(scene)]
    number = run.trajectory(vehicle)
    row = scene.row(number.id)
    if row < 0:
        seen = (
            f"; it was from {clock(number.time[0])} to {clock(number.time[-1])}"
            if len(number)
            else ""
        )
        raise RunError(
            f"{run.path}: vehicle {number.name} is not on the road at {clock(scene.frame.time)}{seen}"
        )
    return [scene.chain(row)]


def _longest_standing(scene: Scene) -> list[int]:
    """Row of the head that has stood for longest; who is at a stop does not count.

    Frames before tell roughly for how long each stood, and their own ways exactly of those CLOSEST.
    """
    run, frame = scene.run, scene.frame
    stands = (frame.speed <= STANDS) & (frame.reason != AT_STOP)
    heads = stands & (frame.reason != LEADER)
    still = frame.id[heads if heads.any() else stands]
    place, stood = scene.place, [still]  # at once, and back to each frame looked at
    while place > 0 and still.size:
        before = int(np.searchsorted(run.times, run.times[place] - LOOK_BACK, side="right")) - 1
        place = max(0, before)
        earlier = run.frame(place)
        still = np.intersect1d(still, earlier.id[earlier.speed <= STANDS])
        stood.append(still)
    longest = dict.fromkeys(int(one) for ids in reversed(stood) for one in ids)
    since = [(scene.stands_since(one), one) for one in list(longest)[:CLOSEST]]
    ranked = sorted((time, one) for time, one in since if time is not None)
    return [scene.row(one) for _, one in ranked[:1]]


def _tails(scene: Scene, road: str) -> list[int]:
    """Rows of the last in the queue of each lane of a road, or of another place."""
    lanes = lanes_of_run(scene.network, scene.run.path, road).tolist()
    return [row for row in map(scene.queue_tail, lanes) if row >= 0]
