"""Yellow, and the time between the end of one green and the start of another that crosses it.

Intergreens follow RiLSA 2015 (2.4): crossing time + clearing time - entering time. The clearing
vehicle drives over the far end of the conflict zone with its rear, the entering one reaches the near
end with its front. Yellow times follow RiLSA (2.3) or ITE (2020, Guidelines for Determining Traffic
Signal Change and Clearance Intervals, eq. 1) with 1 s of reaction and 3.05 m/s^2.
"""

from dataclasses import dataclass
from math import ceil
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import STRAIGHT
from rushhour.roadnets.model import Network
from rushhour.roadnets.signals.greens import conflicts_among

CLEARING_SPEED: Final = 8.0  # m/s, at least, of the last vehicle through
REACTION, BRAKING = 1.0, 3.05  # s and m/s^2 of ITE's yellow


def yellow_time(speed: float) -> float:
    """ITE's yellow for an approach speed in m/s, between 3 and 5 s."""
    return round(min(5.0, max(3.0, REACTION + speed / (2.0 * BRAKING))), 1)


def all_red_time(clear: float, speed: float) -> float:
    """Time in which the last vehicle clears `clear` metres, between 1 and 4 s."""
    return round(min(4.0, max(1.0, (clear + 5.0) / max(speed, CLEARING_SPEED))), 1)


@dataclass(frozen=True)
class Standard:
    """What a guideline says of clearing and of people on foot."""

    name: str
    walking: float  # m/s
    walk_start: float  # s of walk before those who clear start to be counted
    crossing: tuple[
        float, float
    ]  # s after the end of green at which the last one enters: straight, turning
    clearing: tuple[float, float]  # m/s of who clears: straight, turning
    length: float  # m of the vehicle that clears
    entering: float  # m/s of who enters without having stopped; 0: standing at the line

    def yellow(self, speed: float) -> int:
        """Yellow in whole seconds for an approach speed, m/s."""
        if self.name == "rilsa":
            return 3 if speed < 14.5 else 4 if speed < 17.3 else 5
        return ceil(yellow_time(speed) - 0.25)

    def intergreen(
        self, clear: float, enter: float, turning: bool, speed: float, yellow: float
    ) -> int:
        """Whole seconds from the end of a green to the start of one that crosses it.

        clear, enter: m from the stop lines to the far and the near end of the conflict zone. turning:
        whether who clears turns. speed: m/s of its approach.

        >>> RILSA.intergreen(20.0, 5.0, False, 13.9, 3.0)
        6
        """
        pace = self.clearing[turning]
        if self.name != "rilsa":  # ITE: red to clear the zone at the speed of the approach
            pace = speed if not turning else pace
        late = self.crossing[turning] if self.name == "rilsa" else yellow
        entering = enter / self.entering if self.entering else 0.0
        needed = late + (clear + self.length) / pace - entering
        return max(ceil(yellow), ceil(needed - 0.05))


RILSA: Final = Standard("rilsa", 1.2, 4.0, (3.0, 2.0), (10.0, 7.0), 6.0, 11.1)
MUTCD: Final = Standard("mutcd", 1.07, 7.0, (0.0, 0.0), (13.4, 6.7), 6.1, 0.0)
STANDARDS: Final = {one.name: one for one in (RILSA, MUTCD)}


def intergreens(
    network: Network, members: NDArray[np.intp], standard: Standard
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Yellow of each connector of a program (m,), and intergreens between them (m, m), s.

    [i, j]: from the end of i to the start of j; 0 where they do not meet.
    """
    net = network.arrays
    links, conflicts = net.connectors, net.conflicts
    speed = net.lanes.speed[links.from_lane[members]]
    yellow = np.array([standard.yellow(float(v)) for v in speed], np.int64)
    between = np.zeros((members.size, members.size), np.int64)
    for i, j, c in conflicts_among(net, members):
        between[i, j] = standard.intergreen(
            float(conflicts.here_out[c]), float(conflicts.there_in[c]),
            bool(links.turn[members[i]] != STRAIGHT), float(speed[i]), float(yellow[i]),
        )  # fmt: skip
    return yellow, between
