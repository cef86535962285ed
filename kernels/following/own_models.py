"""Where functions of the user's own take the place of ours: who follows whom how, who wants to change.

A world without them calls these two as they are, and they cost nothing: they are compiled into
their callers. For one with them `rebuilt_kernels` makes the kernels again that call them.
"""

from typing import Final

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.following.car_following import idm_acceleration

OWN: Final = (
    2  # model of a type that follows by the first of the user's functions; see vehicles.IDM
)


@kernel
def followed_acceleration(
    model: int,
    v: float,
    v0: float,
    gap: float,
    v_lead: float,
    accel: float,
    decel: float,
    min_gap: float,
    time_gap: float,
) -> float:
    """Acceleration of a vehicle whose type follows by `model`, in place of which others may stand.

    IDM for all that come here: Krauss drivers brake by it for whom they let in, and weigh lanes by it.
    """
    return idm_acceleration(v, v0, gap, v_lead, accel, decel, min_gap, time_gap)


@kernel
def wants_change(
    side: int,
    v: float,
    v0: float,
    gap: float,
    v_lead: float,
    gap_there: float,
    v_lead_there: float,
    own: float,
    others: float,
    threshold: float,
    politeness: float,
) -> bool:
    """Whether a driver wants the lane beside it: 1 to the left, -1 to the right.

    own: m/s^2 that it gains; others: that both followers gain; threshold: m/s^2. Source: MOBIL,
    Kesting, Treiber, Helbing 2007.
    """
    return own + politeness * others > threshold
