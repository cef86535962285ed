"""A one-way motorway with on-ramps and off-ramps."""

from typing import Final

import numpy as np

from rushhour.kernels.core.network import NONE, STRAIGHT, YIELD
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import Draft, DraftConnector, DraftIntersection
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.generators.grid import check_street
from rushhour.roadnets.generators.ring import WIDTH, add_road
from rushhour.roadnets.geometry.street_lines import bezier
from rushhour.roadnets.model import Network

TAPER: Final = 60.0  # m in which a lane opens or closes
NOSE: Final = 30.0  # m of connector where a ramp joins or leaves
RAMP_LENGTH: Final = 200.0  # m, about
RAMP_SPEED: Final = 22.22  # m/s
ON_PRIORITY: Final = 5


def motorway(
    length: float = 5000.0,
    lanes: int = 3,
    on_ramps: int = 1,
    off_ramps: int = 1,
    speed: float = 33.33,
    acceleration_lane: float = 250.0,
    deceleration_lane: float = 200.0,
) -> Network:
    """A motorway that runs east, its ramps evenly spaced, off-ramps first and then by turns.

    An on-ramp joins as an acceleration lane that ends in a taper; what is still on it there
    yields. An off-ramp leaves from a lane of its own. Main roads are "main0", "main1", ... in
    driving order, ramps "on0", ..., "off0", ...
    Raises NetworkError if the ramps do not fit or a value is out of range.

    >>> motorway(2000.0, lanes=2, on_ramps=1, off_ramps=0).n_roads
    4
    """
    check_street(length, lanes, speed, 100.0)
    if not (0 <= on_ramps <= 50 and 0 <= off_ramps <= 50):
        raise NetworkError(f"ramps {on_ramps} on, {off_ramps} off: wanted 0 to 50 of each")
    for what, value in (("acceleration", acceleration_lane), ("deceleration", deceleration_lane)):
        if not 50.0 <= value <= 2000.0:
            raise NetworkError(f"{what}_lane {value:g} m: wanted 50 to 2000")
    kinds = _by_turns(off_ramps, on_ramps)
    space = length / (len(kinds) + 1)
    need = max(acceleration_lane, deceleration_lane + 2.0 * RAMP_LENGTH) + 2.0 * TAPER
    if kinds and space < need:
        raise NetworkError(
            f"motorway of {length:g} m: {len(kinds)} ramps need {need * (len(kinds) + 1):.0f} m;"
            " make it longer or take ramps away"
        )
    motorway = _Motorway(lanes, speed)
    for k, kind in enumerate(kinds):
        place = (k + 1) * space
        motorway.extend(place)
        if kind == "on":
            motorway.join_ramp(acceleration_lane)
        else:
            motorway.leave_ramp(deceleration_lane)
    motorway.extend(length)
    return finish(motorway.draft)


def _by_turns(off: int, on: int) -> list[str]:
    """Off-ramps and on-ramps by turns, what is left over last."""
    both = min(off, on)
    return ["off", "on"] * both + ["off"] * (off - both) + ["on"] * (on - both)


class _Motorway:
    """A motorway under construction, from west to east."""

    def __init__(self, lanes: int, speed: float) -> None:
        self.lanes = lanes
        self.speed = speed
        self.x = 0.0
        self.draft = Draft("motorway", f"motorway of {lanes} lanes")
        self.mains = 0
        self.ramps = {"on": 0, "off": 0}
        self.open_at = self._place("begin", 0.0, NONE)
        self.last = ""

    def _place(self, name: str, x: float, control: int) -> str:
        self.draft.intersections.append(DraftIntersection(name, x, 0.0, control))
        return name

    def _main(self, to_x: float, extra: int, control: int) -> str:
        """Build the next piece of the main road; extra 1: with a lane beside it."""
        name = f"main{self.mains}"
        self.mains += 1
        end = self._place(f"after {name}", to_x, control)
        line = np.array([(self.x, -extra * WIDTH), (to_x, -extra * WIDTH)])
        add_road(self.draft, name, (self.open_at, end), line, self.lanes + extra, self.speed)
        self.x, self.open_at = to_x, end
        return name

    def _connect(self, before: str, first: int, after: str, to_first: int, lanes: int) -> None:
        self.draft.connectors += [
            DraftConnector(before, first + k, after, to_first + k, turn=STRAIGHT)
            for k in range(lanes)
        ]

    def extend(self, to_x: float) -> None:
        """Build the main road on to a place, without ramps."""
        before = self.last
        self.last = self._main(to_x, 0, NONE)
        if before:
            wide = self._is_wide(before)
            self._connect(before, 1 if wide else 0, self.last, 0, self.lanes)

    def _is_wide(self, name: str) -> bool:
        road = next(r for r in self.draft.roads if r.id == name)
        return len(road.lanes) > self.lanes

    def join_ramp(self, length: float) -> None:
        """Add an on-ramp here, its acceleration lane, and the taper that ends it."""
        name = f"on{self.ramps['on']}"
        self.ramps["on"] += 1
        y = -WIDTH
        end = np.array((self.x, y))
        bend = bezier(end + (-RAMP_LENGTH, -40.0), end + (-0.45 * RAMP_LENGTH, 0.0), end, 5.0)
        source = self._place(f"{name} begin", float(bend[0, 0]), NONE)
        self.draft.intersections[-1].y = float(bend[0, 1])
        add_road(self.draft, name, (source, self.open_at), bend, 1, min(RAMP_SPEED, self.speed))
        self.draft.roads[-1].priority = ON_PRIORITY
        self.x += NOSE
        before = self.last
        self.last = self._main(self.x + length, 1, YIELD)
        self._connect(before, 0, self.last, 1, self.lanes)
        self._connect(name, 0, self.last, 0, 1)
        self.x += TAPER
        wide = self.last
        merging = len(self.draft.connectors)
        self.draft.connectors.append(DraftConnector(wide, 0, f"main{self.mains}", 0, turn=STRAIGHT))
        here = next(i for i in self.draft.intersections if i.id == self.open_at)
        here.yields = [(merging, merging + 1)]

    def leave_ramp(self, length: float) -> None:
        """Add a lane here that leaves as an off-ramp."""
        name = f"off{self.ramps['off']}"
        self.ramps["off"] += 1
        before = self.last
        self.x += TAPER
        self.last = self._main(self.x + length, 1, NONE)
        self._connect(before, 0, self.last, 1, self.lanes)
        self._connect(before, 0, self.last, 0, 1)
        self.x += NOSE
        start = np.array((self.x, -WIDTH))
        bend = bezier(start, start + (0.45 * RAMP_LENGTH, 0.0), start + (RAMP_LENGTH, -40.0), 5.0)
        sink = self._place(f"{name} end", float(bend[-1, 0]), NONE)
        self.draft.intersections[-1].y = float(bend[-1, 1])
        add_road(self.draft, name, (self.open_at, sink), bend, 1, min(RAMP_SPEED, self.speed))
        self.draft.roads[-1].priority = ON_PRIORITY
        self._connect(self.last, 0, name, 0, 1)
