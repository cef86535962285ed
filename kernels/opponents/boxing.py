"""Boxing in: hunters that are close together take places around their quarry instead of all ramming.

One gets in front and brakes, the next two stay at its sides, whoever is left rams from behind.
"""

import math
from typing import Final

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.opponents.gamepad import PEDAL
from rushhour.kernels.opponents.minds import Minds
from rushhour.kernels.opponents.states import BOX, CHASE
from rushhour.kernels.steering.bicycle import Bodies
from rushhour.kernels.steering.controllers import p_pedal

NO_PLACE: Final = 0
FRONT: Final = 1
LEFT: Final = 2
RIGHT: Final = 3

AWAKE: Final = 2.0  # m/s of the quarry, below which it is not boxed in but held
KEEPS: Final = 3.0  # m by which another has to be farther ahead to take the place in front
CLEAR: Final = 6.0  # m between middles, from which one is in front
LEADS: Final = 9.0  # m ahead of itself that who is in front, or wants to be, steers at
BESIDE: Final = 2.6  # m between middles to the side
SLOWS: Final = 0.6  # of its quarry's speed that who is in front drives


@kernel
def place_ahead(bodies: Bodies, q: int, k: int) -> tuple[float, float]:
    """Where body k is as body q sees it: m ahead, m to the left."""
    cos, sin = math.cos(bodies.heading[q]), math.sin(bodies.heading[q])
    dx, dy = bodies.x[k] - bodies.x[q], bodies.y[k] - bodies.y[q]
    return dx * cos + dy * sin, dy * cos - dx * sin


@kernel
def take_places(minds: Minds, bodies: Bodies) -> None:
    """Give hunters that chase one quarry their places around it. Writes place, state."""
    n = minds.flees.shape[0]
    for q in range(n):
        if not minds.flees[q]:
            continue
        close, front, lead = 0, -1, -math.inf
        for k in range(n):
            if minds.quarry[k] == q and minds.state[k] == CHASE:
                close += 1
                ahead, _ = place_ahead(bodies, q, k)
                if minds.place[k] == FRONT:
                    ahead += KEEPS
                if ahead > lead:
                    front, lead = k, ahead
        nearest = -1
        for k in range(n):
            if minds.quarry[k] != q or minds.flees[k]:
                continue
            was = minds.place[k]
            minds.place[k] = NO_PLACE
            if minds.state[k] != CHASE or close < 2 or abs(bodies.speed[q]) < AWAKE:
                continue
            if k == front:
                minds.place[k], minds.state[k] = FRONT, BOX
            elif close > 2:
                _, left = place_ahead(bodies, q, k)
                minds.place[k] = was if was in (LEFT, RIGHT) else (LEFT if left > 0.0 else RIGHT)
                minds.state[k] = BOX
                if nearest < 0 or minds.distance[k] < minds.distance[nearest]:
                    nearest = k
        if nearest >= 0 and close > 2:  # it goes on ramming, from behind
            minds.place[nearest], minds.state[nearest] = NO_PLACE, CHASE


@kernel
def boxing_point(minds: Minds, bodies: Bodies, i: int) -> tuple[float, float, float]:
    """Where body i steers to take its place, x, y, m, and the throttle for it."""
    q = minds.quarry[i]
    ahead, left = place_ahead(bodies, q, i)
    fast, speed = abs(bodies.speed[q]), bodies.speed[i]
    if minds.place[i] == FRONT:
        along, aside = ahead + LEADS, 0.0
        throttle = p_pedal(SLOWS * fast - speed, PEDAL)
        if ahead < CLEAR:
            aside = math.copysign(max(BESIDE, abs(left)), left)
            throttle = 1.0
        elif abs(left) > 0.5 * BESIDE:
            throttle = p_pedal(fast + 1.0 - speed, PEDAL)
    else:
        side = 1.0 if minds.place[i] == LEFT else -1.0
        along, aside = ahead + LEADS, side * BESIDE
        throttle = p_pedal(fast + 0.8 * (1.0 - ahead) - speed, PEDAL)
    cos, sin = math.cos(bodies.heading[q]), math.sin(bodies.heading[q])
    return (
        bodies.x[q] + along * cos - aside * sin,
        bodies.y[q] + along * sin + aside * cos,
        throttle,
    )
