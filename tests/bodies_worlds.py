"""Boxes of vehicles and of bodies from outside, and whether they overlap."""

import numpy as np
from numpy.typing import NDArray

from rushhour.traffic.world import World

Corners = NDArray[np.float64]


def corners(x: float, y: float, heading: float, length: float, width: float) -> Corners:
    along = 0.5 * length * np.array([np.cos(heading), np.sin(heading)])
    across = 0.5 * width * np.array([-np.sin(heading), np.cos(heading)])
    middle = np.array([x, y])
    return np.array(
        [middle + a * along + b * across for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1))]
    )


def overlap(one: Corners, other: Corners) -> bool:
    """Whether two boxes share a point: no side of either parts them."""
    for box in (one, other):
        for k in range(2):
            axis = box[k + 1] - box[k]
            a, b = one @ axis, other @ axis
            if a.max() <= b.min() or b.max() <= a.min():
                return False
    return True


def covered(world: World, box: Corners) -> list[int]:
    """Ids of the vehicles that a box overlaps as the world stands."""
    poses = world.poses()
    near = np.hypot(poses.x - box[:, 0].mean(), poses.y - box[:, 1].mean()) < 12.0 + float(
        np.ptp(box, axis=0).max()
    )
    found = []
    for r in np.flatnonzero((poses.id >= 0) & near):
        other = corners(poses.x[r], poses.y[r], poses.heading[r], poses.length[r], poses.width[r])
        if overlap(box, other):
            found.append(int(poses.id[r]))
    return found


def overlaps(world: World) -> list[tuple[int, int]]:
    """Ids of bodies that overlap a vehicle as the world stands, each with that vehicle."""
    found = []
    for body in world.bodies.rows:
        box = corners(*(float(body[n]) for n in ("x", "y", "heading", "length", "width")))
        found += [(int(body["id"]), vehicle) for vehicle in covered(world, box)]
    return found
