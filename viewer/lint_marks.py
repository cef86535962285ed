"""What lint found in a network, as marks on the map: a colour for each check, with a legend."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.findings import CHECKS, NOTE
from rushhour.roadnets.model import Network
from rushhour.viewer.camera import Camera
from rushhour.viewer.colouring import Legend
from rushhour.viewer.inspector import WIDEST, cut
from rushhour.viewer.marks import check_colours
from rushhour.viewer.panels import ACCENT, FAINT, INK, Line, line

RADIUS: Final = 5.0  # pixels from the middle of a mark to its corners
MOST_LINES: Final = 6


@dataclass(frozen=True)
class Marks:
    """Diamonds at places (n, 2), m, in colours (n, 3)."""

    places: NDArray[np.float64]
    colours: NDArray[np.uint8]
    radius: float = RADIUS  # pixels


class LintMarks:
    """The errors and warnings of a network that have a place; rarer checks above others."""

    def __init__(self, network: Network) -> None:
        grave = [
            (number, one)
            for number, one in enumerate(network.findings)
            if one.severity != NOTE and one.place is not None
        ]
        counts: dict[str, int] = {}
        for _, one in grave:
            counts[one.check] = counts.get(one.check, 0) + 1
        colours = check_colours(counts)
        grave.sort(key=lambda one: (-counts[one[1].check], one[0]))
        self.numbers = np.array([number for number, _ in grave], np.int64)
        self._findings = network.findings
        self.places = np.array([one.place for _, one in grave], np.float64).reshape(-1, 2)
        self._colours = np.array([colours[one.check] for _, one in grave], np.uint8).reshape(-1, 3)
        self.legend = Legend(
            "what lint found" if counts else "lint found nothing",
            kinds=tuple(
                (colours[check], f"{check} {CHECKS[check][1]} ({count:,})")
                for check, count in sorted(counts.items())
            ),
        )

    def seen(self, camera: Camera) -> Marks:
        """Those in the picture."""
        x0, y0, x1, y1 = camera.box
        away = RADIUS * camera.scale
        x, y = self.places.T
        inside = (x > x0 - away) & (x < x1 + away) & (y > y0 - away) & (y < y1 + away)
        return Marks(self.places[inside], self._colours[inside])

    def under(self, x: float, y: float, reach: float) -> int | None:
        """The number of the finding nearest to a place, within reach m."""
        if not len(self.places):
            return None
        away = np.hypot(*(self.places - (x, y)).T)
        return int(self.numbers[np.argmin(away)]) if away.min() <= reach else None

    def lines(self, number: int) -> tuple[Line, ...]:
        """A finding in words."""
        from textwrap import wrap

        one = self._findings[number]
        told = wrap(one.message, WIDEST)
        more = [line(cut(name), FAINT) for name in one.source[:MOST_LINES]]
        if one.fix:
            more += [line(part, FAINT) for part in wrap(f"to overrule: {one.fix}", WIDEST)]
        title = f"{one.check} {CHECKS[one.check][1]}"
        return (line(cut(title), ACCENT), *(line(part, INK) for part in told), *more)
