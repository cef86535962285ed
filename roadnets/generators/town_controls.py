"""Who gives way where in a town."""

from math import pi, radians
from typing import Final

from rushhour.kernels.core.random import uniform
from rushhour.roadnets.generators.town_mesh import ARTERIAL, COLLECTOR, SIDE
from rushhour.roadnets.plans.street_plan import Control, Leg, Plan, legs_of

ROUNDABOUT_RADIUS: Final = 15.0  # m, centre line of the ring
MOST_ROUNDABOUTS: Final = 5
WAVE: Final = 100.0  # s; signals follow each other eastward as fast as traffic drives
POCKET: Final = 40.0  # m of left lane on collectors at signals
_KIND: Final = 121


def control_corners(plan: Plan, seed: int) -> None:
    """Choose the control of every corner from the ranks of its streets.

    Where an arterial meets a main street: signals, with left lanes on both. Where collectors
    meet: roundabouts, then all-way stops. Side streets stop or yield at main streets, or all
    stop; among themselves all stop, or the one that ends, or they give way from the right.
    """
    legs = legs_of(plan)
    rings = 0
    for k, (name, corner) in enumerate(plan.corners.items()):
        if corner.control == "gate":
            continue
        around = legs[name]
        ranks = sorted((leg.street.priority for leg in around), reverse=True)
        draw = uniform(seed, k, 0, _KIND)
        if ranks[0] == SIDE:
            corner.kerb = 5.0
            other: Control = "yield" if len(ranks) >= 4 else "two_way_stop"
            corner.control = "all_way_stop" if draw < 0.75 else other
        elif ranks[0] == ARTERIAL and (
            _crosses_main(ranks) or (len(ranks) == 3 and ranks[2] == COLLECTOR)
        ):
            corner.control, corner.lefts, corner.kerb = "signals", "lane", 6.0
            corner.offset = round(corner.x / around[0].street.speed % WAVE, 1)
            _widen(around)
        elif ranks[0] == COLLECTOR and _crosses_main(ranks):
            if rings < MOST_ROUNDABOUTS and _fits_ring(around):
                corner.control, corner.ring = "roundabout", ROUNDABOUT_RADIUS
                rings += 1
            else:
                corner.control = "all_way_stop"
        elif ranks[0] == ranks[-1]:
            corner.control = "all_way_stop"
        else:
            quiet: Control = "all_way_stop" if draw < 0.4 else "yield"
            stops = ranks[0] == ARTERIAL or draw > 0.7
            corner.control = "two_way_stop" if stops else quiet
    if rings == 0:
        _build_a_roundabout(plan, legs)


def _build_a_roundabout(plan: Plan, legs: dict[str, list[Leg]]) -> None:
    """Turn the corner of small streets with the most even angles into a roundabout."""
    fit = [
        (-len(around), -_least_gap(around), name)
        for name, around in legs.items()
        if len(around) >= 3 and all(leg.street.priority < ARTERIAL for leg in around)
    ]
    if fit:
        corner = plan.corners[min(fit)[2]]
        corner.control, corner.ring = "roundabout", ROUNDABOUT_RADIUS


def _crosses_main(ranks: list[int]) -> bool:
    """Whether a main street crosses another one."""
    return len(ranks) >= 3 and ranks[2] >= COLLECTOR


def _widen(legs: list[Leg]) -> None:
    """Give collectors that meet signals a left lane in a median."""
    for leg in legs:
        street = leg.street
        if street.priority == COLLECTOR and street.median == 0.0:
            street.median, street.pocket = street.lane_width, POCKET


def _fits_ring(legs: list[Leg]) -> bool:
    """Whether four arms of one lane leave the ring at wide enough angles."""
    if len(legs) != 4 or any(max(leg.lanes_in, leg.lanes_out) > 1 for leg in legs):
        return False
    return _least_gap(legs) > radians(70.0)


def _least_gap(legs: list[Leg]) -> float:
    """The least angle between neighbouring legs, rad."""
    return min(
        (b.angle - a.angle) % (2.0 * pi) for a, b in zip(legs, legs[1:] + legs[:1], strict=True)
    )
