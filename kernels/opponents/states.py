"""What an opponent is after: few states, chosen by distance, and where two that move can meet.

A hunter heads for where its quarry is (DESTINATION), nearer for where they can meet (INTERCEPT),
close behind it straight at it (CHASE), or, with others there, to a place around it (BOX). Who flees cruises (DESTINATION) until a hunter is near, then
gets away (AVOID). A state is left a share beyond the distance at which it was entered.
Source: Hit & Run, seed-systems.md S3-18 - S3-22; validation.md C3.14. The distances are ours.
"""

import math
from typing import Final

from rushhour.kernels.compiling.jit import kernel

WAIT: Final = 0  # gives a head start
DESTINATION: Final = 1
INTERCEPT: Final = 2
CHASE: Final = 3
AVOID: Final = 4
BOX: Final = 5  # takes a place around its quarry, with others
STATES: Final = 6

FAR: Final = 150.0  # m to the quarry, below which it is intercepted, and
CLOSE: Final = 22.0  # m, below which it is chased
SCARED: Final = 70.0  # m to the nearest hunter, below which it is avoided
LEAVES: Final = 1.25  # times its distance at which a state is left again


@kernel
def meeting_time(
    px: float, py: float, ux: float, uy: float, qx: float, qy: float, speed: float
) -> float:
    """When somebody at q with a speed can meet who goes on from p with velocity u; inf: never.

    The smallest t > 0 of |p + u t - q| = speed t (0 where they are at one place).
    """
    dx, dy = px - qx, py - qy
    square = dx * dx + dy * dy
    if square == 0.0:
        return 0.0
    a = ux * ux + uy * uy - speed * speed
    b = dx * ux + dy * uy
    root = b * b - a * square
    if root < 0.0:
        return math.inf
    root = math.sqrt(root)
    # t of a t^2 + 2 b t + square = 0, in the form that does not cancel
    q = -b - root if b > 0.0 else -b + root
    best = math.inf
    if a != 0.0 and q / a > 0.0:
        best = q / a
    if q != 0.0 and square / q > 0.0:
        best = min(best, square / q)
    return best


@kernel
def hunting_state(state: int, distance: float) -> int:
    """State of a hunter whose quarry is so far away, m, after the state it was in."""
    close = CLOSE * LEAVES if state in (CHASE, BOX) else CLOSE
    far = FAR * LEAVES if state in (INTERCEPT, CHASE, BOX) else FAR
    if distance < close:
        return CHASE
    return INTERCEPT if distance < far else DESTINATION


@kernel
def fleeing_state(state: int, distance: float) -> int:
    """State of who flees, with the nearest hunter so far away, m."""
    return AVOID if distance < (SCARED * LEAVES if state == AVOID else SCARED) else DESTINATION
