"""What happened in a chase: horns, near misses and collisions; and how the traffic hears a horn.

Who is ahead of a horn makes way: it asks for the lane nearer to the kerb, or, on the last one,
slows down, so that it can be passed. Both are commands of the world, logged and recorded as any.
"""

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.drawing.poses import Poses
from rushhour.kernels.opponents.noticing import COLLISION, HORN, NEAR_MISS
from rushhour.traffic.commands.log import CommandError

if TYPE_CHECKING:
    from rushhour.traffic.world import World

EVENTS: Final = ("horn", "near_miss", "collision")
assert (EVENTS[HORN], EVENTS[NEAR_MISS], EVENTS[COLLISION]) == EVENTS
REACH: Final = 25.0  # m ahead of the horn in which it is meant, and
ASIDE: Final = 2.5  # m to either side
ALONG: Final = 0.7  # cosine of the angle to its heading, below which somebody drives elsewhere
YIELDS: Final = 6.0  # s for which it makes way
SLOWS: Final = 0.5  # of its speed
CREEPS: Final = 2.0  # m/s at least


class ChaseEvent(NamedTuple):
    """One event. body: whose; 0 is the target. vehicle: id of the traffic's, -1: none.

    other: the other body, -1: none. speed: m/s of one against the other; of a horn 0.
    """

    frame: int
    kind: str
    body: int
    vehicle: int
    other: int
    speed: float


def event_of(frame: int, row: NDArray[np.float64]) -> ChaseEvent:
    """The event of a row that the kernels wrote: kind, body, other, m/s."""
    other = int(row[2])
    return ChaseEvent(
        frame, EVENTS[int(row[0])], int(row[1]), max(-1, other), -1 - other if other < 0 else -1,
        float(row[3]),
    )  # fmt: skip


def who_hears(now: Poses, x: float, y: float, heading: float) -> list[int]:
    """Ids of the vehicles that a horn at (x, y) is meant for: ahead of it, going the same way."""
    cos, sin = np.cos(heading), np.sin(heading)
    dx, dy = now.x - x, now.y - y
    along, aside = dx * cos + dy * sin, dy * cos - dx * sin
    heard = (now.id >= 0) & (along > 0.0) & (along < REACH) & (np.abs(aside) < ASIDE)
    heard &= np.cos(now.heading - heading) > ALONG
    return sorted(now.id[heard].tolist())


def make_way(world: "World", vehicles: list[int]) -> None:
    """Let vehicles that hear a horn yield to it, from the next frame on; who cannot does not."""
    net, veh, n = world.network.arrays, world.sim.veh, world.network.n_road_lanes
    for number in vehicles:
        slots = np.flatnonzero((veh.id == number) & (veh.lane >= 0))
        if not slots.size or veh.lane[slots[0]] >= n:  # gone, or within an intersection
            continue
        lane = int(veh.lane[slots[0]])
        place = lane - int(net.roads.first_lane[net.lanes.road[lane]])
        try:
            if place > 0:
                world.request_lane(number, place - 1, YIELDS)
                continue
        except CommandError:  # that lane is closed to it
            pass
        world.set_speed(number, max(CREEPS, SLOWS * float(veh.speed[slots[0]])))
        world.schedule(world.time + YIELDS, "set_speed", vehicle=number, speed=None)
