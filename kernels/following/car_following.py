"""Car following: the acceleration each model allows, and speeds that are safe by kinematics.

Pure functions of numbers. gap is bumper to bumper in m; b is a deceleration, positive.
"""

from math import inf, sqrt

from rushhour.kernels.compiling.jit import kernel


@kernel
def idm_acceleration(
    v: float,
    v0: float,
    gap: float,
    v_lead: float,
    accel: float,
    decel: float,
    min_gap: float,
    time_gap: float,
) -> float:
    """Acceleration of the intelligent driver model; gap inf is a free road.

    Above the desired speed it brakes no harder than comfortable. Source: validation.md D.
    """
    r = v / v0 if v0 > 0.1 else v / 0.1
    free = accel * (1.0 - r * r * r * r)
    free = max(free, -decel)
    if gap == inf:
        return free
    wish = v * time_gap + v * (v - v_lead) / (2.0 * sqrt(accel * decel))
    wish = max(wish, 0.0)
    wish += min_gap
    gap = max(gap, 0.1)
    q = wish / gap
    return free - accel * q * q


@kernel
def krauss_speed(
    v: float,
    v0: float,
    gap: float,
    v_lead: float,
    accel: float,
    decel: float,
    min_gap: float,
    time_gap: float,
    dt: float,
) -> float:
    """Speed of the next frame by Krauss, before imperfection.

    Source: validation.md D6: the follower can stop behind a leader that brakes at b.
    """
    want = min(v + accel * dt, v0)
    if gap == inf:
        return max(want, v - decel * dt)
    g = max(gap - min_gap, 0.0)
    bt = decel * time_gap
    safe = -bt + sqrt(bt * bt + v_lead * v_lead + 2.0 * decel * g)
    return max(0.0, min(want, safe))


@kernel
def seen_speed(v: float, v_lead: float, late: float) -> float:
    """Speed of the leader as a driver knows it who sees it draw away `late` s late.

    It is a second behind, about; not from standstill: nobody starts twice for that.
    Source: SUMO's steps of 1 s; queues of its drivers pass lights as slowly at every dt.
    """
    return v_lead - late * min(v, max(0.0, v_lead - v))


@kernel
def dawdled_speed(
    v: float, w: float, most: float, accel: float, share: float, period: float, dt: float
) -> float:
    """Speed of the next frame of an imperfect Krauss driver, who could drive at w in it.

    most: what limits and leader allow it, however long it may take. share: of the acceleration
    that it leaves undone for a period (s); it falls behind `most` by as much, at that pace. Less in
    proportion where a period's acceleration is more than `most`: nobody stands by imperfection.
    Independent of dt. Source: SUMO's sigma at steps of 1 s.
    """
    behind = share * min(accel * period, most)
    held = max(most - behind, min(most, v - share * accel * dt))
    return max(0.0, min(w, v + (1.0 - share) * accel * dt, held))


@kernel
def approach_speed(v: float, d: float, v_end: float, b: float, dt: float) -> float:
    """Highest next speed from which v_end is reached within d, braking at b.

    Exact for a speed that changes linearly in the frame (d shrinks by (v + next) dt / 2), so the
    deceleration is b at every dt. Below 0 where it comes to rest within the frame: what it would be
    at the end if it braked on, so that it rests after d (at up to 2 b); 0 where d is gone.
    """
    rest = d - 0.5 * v * dt
    over = 2.0 * b * rest + v_end * v_end
    if over < 0.0:
        if d <= 0.0:
            return 0.0
        return min(0.0, max(v - 0.5 * v * v * dt / d, v - 2.0 * b * dt))
    return sqrt(0.25 * b * b * dt * dt + over) - 0.5 * b * dt


@kernel
def guard_speed(v: float, gap: float, v_lead: float, b: float, dt: float) -> float:
    """Highest next speed that cannot hit a leader that brakes at b from now on.

    The leader comes to rest v_lead^2 / 2b ahead; we react one frame later with the same b.
    """
    return approach_speed(v, gap + v_lead * v_lead / (2.0 * b), 0.0, b, dt)


@kernel
def travel_time(d: float, v: float, accel: float, v_max: float) -> float:
    """Seconds to cover d metres from speed v, accelerating up to v_max; 0 for d <= 0."""
    if d <= 0.0:
        return 0.0
    if v >= v_max:
        return d / max(v, 0.1)
    ramp = (v_max * v_max - v * v) / (2.0 * accel)
    if d <= ramp:
        return (sqrt(v * v + 2.0 * accel * d) - v) / accel
    return (v_max - v) / accel + (d - ramp) / v_max


@kernel
def stopping_distance(v: float, b: float) -> float:
    """Metres to stand still from v, braking at b."""
    return v * v / (2.0 * b)
