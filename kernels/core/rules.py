"""The numbers that steer the rules of the road, as kernels receive them.

`traffic.settings.parameters` declares each with name, unit, default, range and source, and builds this.
"""

from typing import Final, NamedTuple

from rushhour.kernels.core.reprs import fields_shown

# Policies of an all-way stop.
POLICY_FAIR: Final = 0  # conflict-aware, each may be overtaken `overtake_limit` times
POLICY_FIFO: Final = 1  # conflict-aware first in, first out
POLICY_LITERAL: Final = 2  # one vehicle at a time, in order of arrival
CLOSEST: Final = 0.1  # m from a line, for those who can stop no farther from it
LAST_PLACE: Final = 1e-3  # m from its line, for who stops in an emergency


class Rules(NamedTuple):
    """Scalars of one run; SI units."""

    stop_offset: float  # m, front bumper to the line at rest
    stop_braking: float  # m/s^2, before a stop sign at most, unless one moves up in a queue
    stop_reaction: float  # s, standing time at a stop sign before a grant is used
    reaction_spread: float  # share by which the stop reaction varies between vehicles, 0..0.9
    margin_all_way: float  # s between a vehicle leaving a conflict zone and the next entering
    margin_stop: float  # s
    margin_yield: float  # s
    margin_unposted: float  # s, where no sign is posted and no road goes first
    margin_signal: float  # s
    overtake_limit: int  # times a waiting vehicle may be overtaken by conflicting ones
    all_way_policy: int  # POLICY_FAIR ...
    queue_gap: float  # m, room reserved beyond each vehicle's length on an exit lane
    left_hand: bool  # traffic keeps left; said by the network
    passing_gain: (
        float  # m/s by which somebody must be slower than desired to be passed; inf: nobody passes
    )
    lane_change_gain: float  # m/s^2 a discretionary lane change must bring
    lane_change_politeness: float  # weight of what the followers gain or lose, 0..1 (MOBIL)
    keep_right_bias: float  # m/s^2 less for a change to the edge of the road, more for one back
    lane_change_pause: float  # s between two changes of one vehicle
    lane_change_time: float  # s that the lateral movement takes
    safe_braking: float  # m/s^2, deceleration forced on a new follower, at most
    curve_braking: float  # m/s^2, comfortable braking before bends, limits and lines
    min_green: float  # s, least green under max pressure
    pressure_period: float  # s between two choices under max pressure

    def __repr__(self) -> str:
        return fields_shown(self)
