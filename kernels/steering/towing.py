"""Towing: bodies taken as in the LANE tier where no wheels could steer them.

The front keeps to its lane and to its plan, and draws the rear axle behind it, which also comes to
the way that the front took. That is how bends tighter than the body turns are taken, changes of lane
at walking pace, and passing on one lane. Drawn alone, a body would lie across its neighbours for
long: behind a turn by 172 degrees a bus is still 0.7 rad off its lane after 23 m.
"""

import math
from typing import Final

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import BEHIND, Vehicles
from rushhour.kernels.following.desired_speed import CREEP
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes
from rushhour.kernels.steering.lane_bodies import Steered
from rushhour.kernels.steering.lane_paths import WIDE, Lines, next_on_path, place_on_line, walk_on
from rushhour.kernels.steering.paths import wrapped

# Why somebody is towed.
BEND: Final = 1  # too tight for its body
ASIDE: Final = 2  # passes on its lane, or changes lane at walking pace

LAG: Final = 0.3  # m that a body may be behind its plan before the plan waits
MARGIN: Final = 1.1  # times the least radius of its front bumper that a bend must have
ALIGNED: Final = 0.98  # cosine of the angle to the lane (0.2 rad) within which a body is let go
LET_GO: Final = 0.3  # m beside its plan, likewise
SETTLES: Final = 1.0  # 1/s with which a towed front comes to its plan
ALIGNS: Final = 1.0  # rad by which it turns towards its way for each nose's length ahead or aside
SLOW: Final = 2.0  # m/s, below which a change of lane is made as in the LANE tier
BEFORE: Final = 6.0  # m before a bend too tight for it that a body is taken in tow


@kernel(forceinline=True)
def is_tight(kinds: BodyTypes, t: int, radius: float) -> bool:
    """Whether a bend of that radius, m, is tighter than the front of a body of type t can drive."""
    if radius >= WIDE:
        return False
    rear = kinds.wheelbase[t] / math.tan(kinds.max_steer[t])
    nose = kinds.nose[t]
    return bool(radius < MARGIN * math.sqrt(rear * rear + nose * nose))


@kernel(forceinline=True)
def why_towed(
    net: NetworkArrays, lines: Lines, veh: Vehicles, kinds: BodyTypes, bodies: Bodies, st: Steered,
    i: int, along: float,
) -> int:  # fmt: skip
    """Why vehicle i is towed in this frame; 0: it is not.

    along: cosine of the angle between its body and its lane.
    """
    aside = abs(veh.lateral[i] - veh.swerve[i])
    slides = aside > LAG and (veh.speed[i] < SLOW or st.towed[i] == ASIDE)
    if veh.around[i] > 0 or slides:
        return ASIDE
    t = veh.type[i]
    lane, s = int(veh.lane[i]), veh.s[i]
    if lines.bend_from[lane] <= s <= lines.bend_to[lane] and is_tight(kinds, t, lines.radius[lane]):
        return BEND
    if s > net.lanes.length[lane] - BEFORE:
        after, _ = next_on_path(net, veh, i, lane, 0)
        if after >= 0 and lines.bend_from[after] <= 0.0 and is_tight(kinds, t, lines.radius[after]):
            return BEND
    if st.towed[i] > 0:
        if along < ALIGNED or abs(st.astray[i]) > LET_GO:
            return int(st.towed[i])
    return 0


@kernel(forceinline=True)
def planned(veh: Vehicles, rules: Rules, i: int, seconds: float) -> float:
    """Where the plan of i is beside the middle of its lane, m, in some seconds."""
    off = veh.swerve[i] - veh.lateral[i]
    step = 3.5 * seconds / rules.lane_change_time
    return veh.lateral[i] + min(step, max(-step, off))


@kernel(forceinline=True)
def hold_plan(veh: Vehicles, rules: Rules, i: int, most: float, dt: float) -> None:
    """Take back beforehand what `move` will shift the plan of i in this frame beyond `most` m.

    A body with wheels moves aside only as it moves ahead.
    """
    step = 3.5 * dt / rules.lane_change_time
    off = veh.lateral[i] - veh.swerve[i]
    if abs(off) > step > most:
        veh.lateral[i] += math.copysign(step - most, off)


@kernel(forceinline=True)
def way_heading(
    net: NetworkArrays, lines: Lines, veh: Vehicles, i: int, s: float, nose: float, heading: float
) -> float:
    """Heading, rad, from where the front was `nose` m before to where it is, at s on its lane.

    Where its way comes back to itself so closely that this tells nothing, `heading`.
    """
    lane, _, at = walk_on(net, veh, i, int(veh.lane[i]), 0, s)
    x, y, _, _ = place_on_line(lines, lane, at)
    back = s - nose
    if back >= 0.0:
        lane, _, back = walk_on(net, veh, i, int(veh.lane[i]), 0, back)
    else:
        lane = int(veh.lane[i])
        for b in range(BEHIND):
            if back >= 0.0 or veh.behind[i, b] < 0:
                break
            lane = int(veh.behind[i, b])
            back += net.lanes.length[lane]
    rx, ry, _, _ = place_on_line(lines, lane, back)
    dx, dy = x - rx, y - ry
    if dx * dx + dy * dy < 0.1 * nose * nose:
        return heading
    return math.atan2(dy, dx)


@kernel
def tow(
    net: NetworkArrays, lines: Lines, veh: Vehicles, kinds: BodyTypes, bodies: Bodies, st: Steered,
    rules: Rules, i: int, dt: float,
) -> None:  # fmt: skip
    """Draw the body of i by its front bumper to where `move` will put the vehicle."""
    v, a, t = veh.speed[i], veh.accel[i], veh.type[i]
    nxt = v + a * dt
    ds = 0.5 * (v + nxt) * dt
    if nxt < 0.0:
        ds, nxt = -0.5 * v * v / a, 0.0
    step = 3.5 * dt / rules.lane_change_time
    if veh.around[i] > 0 and v < 2.0:
        step = CREEP * dt
    off = veh.swerve[i] - veh.lateral[i]
    beside = veh.lateral[i] + min(step, max(-step, off))
    st.astray[i] *= max(0.0, 1.0 - SETTLES * dt)
    st.ahead[i] *= max(0.0, 1.0 - SETTLES * dt)
    beside += st.astray[i]
    lane, _, s = walk_on(net, veh, i, int(veh.lane[i]), 0, veh.s[i] + st.ahead[i] + ds)
    x, y, ux, uy = place_on_line(lines, lane, s)
    x, y = x - uy * beside, y + ux * beside
    before = bodies.heading[i]
    # What it slides aside all of the body does, as in the LANE tier; it turns by going ahead.
    aside = beside - veh.lateral[i] - st.astray[i]
    bodies.x[i] -= uy * aside
    bodies.y[i] += ux * aside
    heading = before + wrapped(math.atan2(y - bodies.y[i], x - bodies.x[i]) - before)
    nose, base, most = kinds.nose[t], kinds.wheelbase[t], kinds.max_steer[t]
    turning = (heading - before) / dt  # of the drawn axle alone
    off = wrapped(
        way_heading(net, lines, veh, i, veh.s[i] + st.ahead[i] + ds, nose, heading) - heading
    )
    turns = ALIGNS * (ds + abs(aside)) / nose
    heading += min(turns, max(-turns, off))
    rx, ry = x - nose * math.cos(heading), y - nose * math.sin(heading)
    ahead = (rx - bodies.x[i]) * math.cos(heading) + (ry - bodies.y[i]) * math.sin(heading)
    bodies.x[i], bodies.y[i], bodies.heading[i] = rx, ry, heading
    bodies.speed[i], bodies.slip[i] = max(0.0, ahead / dt), 0.0
    wanted = math.atan(base * turning / max(bodies.speed[i], 0.5))
    # As they would stand for that at once: who is let go must not drive on round a bend left behind.
    bodies.steer[i] = min(most, max(-most, wanted))
    bodies.turning[i] = bodies.speed[i] * math.tan(bodies.steer[i]) / base
    bodies.throttle[i], bodies.wheel[i] = 0.0, bodies.steer[i]
    st.expected[i], st.integral[i] = nxt, 0.0
