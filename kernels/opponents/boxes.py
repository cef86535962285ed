"""Boxes on the ground: all that an opponent can run into, and how it is parted from them.

First come the bodies themselves, then the vehicles of the traffic nearby, which nobody can push.
Who runs into something is moved out of it by the shortest way and loses its speed against it.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.drawing.poses import Poses
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes

BOUNCE: Final = 0.1  # share of the speed against something that is given back
TOUCH: Final = 0.005  # m of overlap from which a body is not beside a vehicle but in it
NEAR: Final = 70.0  # m around bodies in which vehicles are seen


class Boxes(NamedTuple):
    """Boxes, shape (m,)."""

    x: NDArray[np.float64]  # m, of the middle
    y: NDArray[np.float64]
    heading: NDArray[np.float64]  # rad
    half_length: NDArray[np.float64]  # m
    half_width: NDArray[np.float64]  # m
    vx: NDArray[np.float64]  # m/s
    vy: NDArray[np.float64]
    row: NDArray[np.int32]  # row of the vehicle's pose; -1 of a body


@kernel
def box_bodies(types: BodyTypes, bodies: Bodies, boxes: Boxes) -> None:
    """Put the bodies into the first boxes."""
    for i in range(bodies.x.shape[0]):
        t = bodies.type[i]
        cos, sin = math.cos(bodies.heading[i]), math.sin(bodies.heading[i])
        half = types.nose[t] - 0.5 * types.wheelbase[t]
        boxes.x[i] = bodies.x[i] + 0.5 * types.wheelbase[t] * cos
        boxes.y[i] = bodies.y[i] + 0.5 * types.wheelbase[t] * sin
        boxes.heading[i], boxes.half_length[i] = bodies.heading[i], half
        boxes.half_width[i] = types.half_width[t]
        boxes.vx[i] = bodies.speed[i] * cos - bodies.slip[i] * sin
        boxes.vy[i] = bodies.speed[i] * sin + bodies.slip[i] * cos


@kernel
def find_near(now: Poses, before: Poses, bodies: Bodies, boxes: Boxes, dt: float) -> int:
    """Put vehicles near a body into the boxes behind the bodies', as many as there is room for.

    Writes size, velocity over the frame of dt (s) and row. Returns the boxes in all.
    """
    n = bodies.x.shape[0]
    count = n
    for r in range(now.id.shape[0]):
        if now.id[r] < 0:
            continue
        near = False
        for i in range(n):
            if abs(now.x[r] - bodies.x[i]) < NEAR and abs(now.y[r] - bodies.y[i]) < NEAR:
                near = True
                break
        if near and count < boxes.x.shape[0]:
            boxes.row[count] = r
            boxes.half_length[count], boxes.half_width[count] = (
                0.5 * now.length[r],
                0.5 * now.width[r],
            )
            boxes.vx[count] = (now.x[r] - before.x[r]) / dt
            boxes.vy[count] = (now.y[r] - before.y[r]) / dt
            count += 1
    return count


@kernel
def move_boxes(
    now: Poses, before: Poses, boxes: Boxes, bodies: int, count: int, share: float
) -> None:
    """Put the vehicles' boxes where they are a share of the frame after its begin."""
    for k in range(bodies, count):
        r = boxes.row[k]
        boxes.x[k] = before.x[r] + share * (now.x[r] - before.x[r])
        boxes.y[k] = before.y[r] + share * (now.y[r] - before.y[r])
        boxes.heading[k] = now.heading[r]


@kernel
def reach_along(boxes: Boxes, k: int, dx: float, dy: float) -> float:
    """How far box k reaches from its middle in a direction (unit vector), m."""
    cos, sin = math.cos(boxes.heading[k]), math.sin(boxes.heading[k])
    return boxes.half_length[k] * abs(cos * dx + sin * dy) + boxes.half_width[k] * abs(
        cos * dy - sin * dx
    )


@kernel
def overlap(boxes: Boxes, i: int, k: int) -> tuple[float, float, float]:
    """By how much, m, two boxes overlap, and in which direction box i gets out of k; 0: not."""
    dx, dy = boxes.x[i] - boxes.x[k], boxes.y[i] - boxes.y[k]
    best, bx, by = math.inf, 0.0, 0.0
    for side in range(4):
        angle = boxes.heading[i if side < 2 else k] + (0.5 * math.pi if side % 2 else 0.0)
        ax, ay = math.cos(angle), math.sin(angle)
        apart = dx * ax + dy * ay
        depth = reach_along(boxes, i, ax, ay) + reach_along(boxes, k, ax, ay) - abs(apart)
        if depth <= 0.0:
            return 0.0, 0.0, 0.0
        if depth < best:
            best = depth
            bx, by = (ax, ay) if apart >= 0.0 else (-ax, -ay)
    return best, bx, by


@kernel
def push_out(bodies: Bodies, boxes: Boxes, i: int, depth: float, nx: float, ny: float) -> None:
    """Move body i, and its box, by depth along n."""
    bodies.x[i] += depth * nx
    bodies.y[i] += depth * ny
    boxes.x[i] += depth * nx
    boxes.y[i] += depth * ny


@kernel
def take_speed(
    bodies: Bodies, boxes: Boxes, i: int, vx: float, vy: float, nx: float, ny: float, share: float
) -> None:
    """Take from body i a share of its speed against something with velocity (vx, vy), along n."""
    into = (boxes.vx[i] - vx) * nx + (boxes.vy[i] - vy) * ny
    if into >= 0.0:
        return
    boxes.vx[i] -= share * (1.0 + BOUNCE) * into * nx
    boxes.vy[i] -= share * (1.0 + BOUNCE) * into * ny
    cos, sin = math.cos(bodies.heading[i]), math.sin(bodies.heading[i])
    bodies.speed[i] = boxes.vx[i] * cos + boxes.vy[i] * sin
    bodies.slip[i] = boxes.vy[i] * cos - boxes.vx[i] * sin


@kernel
def part_bodies(
    bodies: Bodies, boxes: Boxes, count: int, stood: NDArray[np.float64], hit: NDArray[np.int32],
    rammed: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Part bodies from each other, half each, then from the vehicles, which stay; in fixed order.

    Who fits nowhere between vehicles goes back to where it stood before, stood: (n, 3) x, y, heading.
    Writes the bodies' places and speeds; hit: (n,) box that each ran into last, -1 none; rammed:
    (n, n) who touched whom.
    """
    n = bodies.x.shape[0]
    hit[:] = -1
    rammed[:] = False
    for i in range(n):
        for k in range(i + 1, n):
            far = boxes.half_length[i] + boxes.half_length[k] + 2.0
            if abs(boxes.x[i] - boxes.x[k]) > far or abs(boxes.y[i] - boxes.y[k]) > far:
                continue
            depth, nx, ny = overlap(boxes, i, k)
            if depth > 0.0:
                rammed[i, k] = rammed[k, i] = True
                hit[i], hit[k] = k, i
                vx, vy, wx, wy = boxes.vx[i], boxes.vy[i], boxes.vx[k], boxes.vy[k]
                take_speed(bodies, boxes, i, wx, wy, nx, ny, 0.5)
                take_speed(bodies, boxes, k, vx, vy, -nx, -ny, 0.5)
                push_out(bodies, boxes, i, 0.5 * depth, nx, ny)
                push_out(bodies, boxes, k, 0.5 * depth, -nx, -ny)
    for _ in range(3):  # who is between two vehicles comes out of both
        clear = True
        for i in range(n):
            for k in range(n, count):
                far = boxes.half_length[i] + boxes.half_length[k] + 2.0
                if abs(boxes.x[i] - boxes.x[k]) > far or abs(boxes.y[i] - boxes.y[k]) > far:
                    continue
                depth, nx, ny = overlap(boxes, i, k)
                if depth > 0.0:
                    clear = False
                    hit[i] = k
                    take_speed(bodies, boxes, i, boxes.vx[k], boxes.vy[k], nx, ny, 1.0)
                    push_out(bodies, boxes, i, depth, nx, ny)
        if clear:
            return
    for i in range(n):
        for k in range(n, count):
            if overlap(boxes, i, k)[0] > TOUCH:
                bodies.x[i], bodies.y[i], bodies.heading[i] = stood[i, 0], stood[i, 1], stood[i, 2]
                bodies.speed[i] = bodies.slip[i] = bodies.turning[i] = 0.0
                break
