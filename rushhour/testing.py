"""For other people's tests: hold the frames of a world against a budget."""

from typing import TYPE_CHECKING

from rushhour.traffic.profiling.budget import verdict
from rushhour.traffic.profiling.measuring import measure_frames
from rushhour.traffic.profiling.profile import Profile
from rushhour.traffic.words.durations import seconds

if TYPE_CHECKING:
    from rushhour.traffic.world import World

__all__ = ["frame_budget"]


def frame_budget(
    world: "World", budget: str | float, *, percentile: float = 99.0, frames: int = 600,
    warm_up: str | float = "1min", repeat: int = 1,
) -> Profile:  # fmt: skip
    """Step a world and raise AssertionError if its frames take longer than a budget.

    budget: a time as "16.6ms", or s. percentile: share of the frames, %, that must keep to it.
    frames are measured after warm_up of simulated time, `repeat` times each, of which the median
    counts: more repeats, fewer false alarms on a busy machine. The message has the table of phases and
    those to blame. Returns the profile. The world stands behind the last frame.

    >>> def test_a_frame_of_our_city_fits_in_4_ms():
    ...     frame_budget(rh.World(city, trips), "4ms", repeat=5)
    """
    from rushhour.cli.profile import profile_lines

    allowed = seconds(budget, "budget")
    profile = measure_frames(world, frames, warm_up=seconds(warm_up, "warm_up"), repeat=repeat)
    judged = verdict(profile, allowed, percentile)
    if not judged.kept:
        raise AssertionError("\n".join([*judged.lines(), *profile_lines(profile.told())]))
    return profile
