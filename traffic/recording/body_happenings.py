"""What happens to bodies that steer: who came off its lane, was back on it, reversed, was set on it.

Looked at in every frame, but only where the counters of the tier have moved is anybody sought.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.steering.lane_bodies import BACK, LANE, OFF_LANE, RESET, REVERSED
from rushhour.kernels.steering.stuck_manager import REVERSING

if TYPE_CHECKING:
    from rushhour.traffic.world import World

# Names of events, in the order of their numbers.
BODY_KINDS: Final = ("off_lane", "back_on_lane", "reversed", "set_on_lane")
_COLUMNS: Final = (OFF_LANE, BACK, REVERSED, RESET)


class BodyHappenings:
    """Watches the bodies of a world."""

    def __init__(self, world: "World") -> None:
        self.world = world
        if world.steering.on:
            self._counted = self._counts()
            self._away = self._now_away()

    def _counts(self) -> NDArray[np.int64]:
        return np.asarray(self.world.steering.tally[:, _COLUMNS].sum(axis=0))

    def _now_away(self) -> NDArray[np.int32]:
        """Numbers of those who are off their lanes."""
        state = self.world.steering.state
        return np.asarray(state.owner[state.away & self._there()])

    def _there(self) -> NDArray[np.bool_]:
        """Slots of those on the road who have a body."""
        state = self.world.steering.state
        lane = self.world.sim.veh.lane[: state.owner.size]
        return np.asarray((state.tier != LANE) & (state.owner >= 0) & (lane >= 0))

    def since_last(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """What happened in the last frame: places in BODY_KINDS, and the slots that it happened to.

        Who was set on its lane is back on it, too, if it was off it.
        """
        steering, last = self.world.steering, self.world.frame - 1
        if not steering.on:
            return
        counted = self._counts()
        if (counted == self._counted).all():
            return
        self._counted = counted
        state, there = steering.state, self._there()
        before, self._away = self._away, self._now_away()
        back = np.isin(state.owner, before) & ~state.away
        for kind, found in enumerate(
            (state.off_frame == last, back, state.left == REVERSING, state.reset_frame == last)
        ):
            yield kind, np.flatnonzero(found & there)
