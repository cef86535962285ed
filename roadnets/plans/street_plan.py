"""A street plan: corners joined by two-way or one-way streets, before lanes are drawn.

The generators write a `Plan`; `plans.drafting.draft_of` turns it into a `Draft` of lanes,
connectors and signal programs. A *corner* is an intersection to be; a *leg* is one end of a
street, seen from its corner; a *pocket* is a left-turn lane that opens in the median some metres
before a corner. Right-hand traffic.
"""

from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.geometry.street_lines import Line, line_length, point_at
from rushhour.roadnets.plans.stretches import Stretch, half_widths, turn_lanes

Control = Literal[
    "signals",
    "all_way_stop",
    "two_way_stop",  # streets of lower priority stop
    "yield",  # streets of lower priority yield; equal ones: right before left
    "none",
    "roundabout",
    "gate",  # the border: vehicles enter and leave
    "turning_loop",  # a dead end with room to turn back
]
Lefts = Literal["shared", "lane", "phase"]

ROUNDABOUT_SETBACK: Final = 10.0  # m from a ring's centre line to the ends of its arms
TAPER: Final = 16.0  # m in which a pocket opens
APART: Final = 4.0  # m between two pockets beyond a taper, which is steep in its middle
SHORTEST_POCKET: Final = 20.0  # m
SHORTEST_BEFORE_POCKET: Final = 25.0  # m of street before a pocket opens
MOST_OF_A_STREET: Final = 0.45  # of its length, that a corner of a squeezed plan takes


@dataclass
class Corner:
    """Where streets meet."""

    id: str
    x: float  # m
    y: float  # m
    control: Control
    kerb: float = 6.0  # m, radius of the kerbs
    ring: float = 15.0  # m, radius of a roundabout's ring (centre line)
    lefts: Lefts = "shared"  # "phase": each leg has a signal phase of its own
    turns: str = "RTL"  # turns that exist here, of R, T and L; U: back where nothing else leads on
    lane_turns: tuple[str, ...] = ()  # per lane from the kerb, e.g. ("RT", "L"); (): by rule
    green: float = 0.0  # s of the first phase; 0: by rule
    cycle: float = 0.0  # s; 0: by rule
    offset: float = 0.0  # s


@dataclass
class Street:
    """Between two corners. line: (p, 2), from the start's centre to the end's centre."""

    start: str
    end: str
    line: Line
    forward: int  # lanes towards `end`
    backward: int  # lanes towards `start`
    speed: float  # m/s
    priority: int = 3
    lane_width: float = 3.2  # m
    median: float = 0.0  # m
    pocket: float = 0.0  # m of left-turn lane at both ends; needs a median one lane wide
    centred: bool = True  # a one-way street lies astride its line
    name: str = ""
    back_name: str | None = None  # towards `start`; None: as `name`
    back_speed: float | None = None  # m/s towards `start`; None: as `speed`
    back_priority: int | None = None  # towards `start`; None: as `priority`
    roads: tuple[str, str] | None = None  # ids forward and back; None: by the ends
    stretches: tuple[list[Stretch], list[Stretch]] | None = None  # forward and back; None: alike

    def speed_of(self, forward: bool) -> float:
        """Limit of one direction, m/s."""
        return self.speed if forward or self.back_speed is None else self.back_speed

    def name_of(self, forward: bool) -> str:
        """What one direction is called."""
        return self.name if forward or self.back_name is None else self.back_name

    def priority_of(self, forward: bool) -> int:
        """Priority of one direction, at the corner where it arrives."""
        return self.priority if forward or self.back_priority is None else self.back_priority


@dataclass
class Plan:
    """Corners and streets of a network to be."""

    name: str
    source: str
    corners: dict[str, Corner] = field(default_factory=dict)
    streets: list[Street] = field(default_factory=list)
    squeeze: bool = False  # streets shorter than their corners ask are drawn all the same

    def add_corner(self, corner: Corner) -> None:
        """Put a corner into the plan."""
        self.corners[corner.id] = corner

    def add_straight(
        self, start: str, end: str, forward: int, backward: int, speed: float, **more: object
    ) -> Street:
        """Join two corners by a straight street."""
        a, b = self.corners[start], self.corners[end]
        line = np.array([(a.x, a.y), (b.x, b.y)])
        street = Street(start, end, line, forward, backward, speed, **more)  # type: ignore[arg-type]
        self.streets.append(street)
        return street


@dataclass
class Leg:
    """One end of a street seen from its corner; outward means away from the corner."""

    street: Street
    at_start: bool
    angle: float  # rad, outward direction
    lanes_in: int  # lanes that arrive at the corner, pocket not counted
    lanes_out: int
    left_half: float  # m from the line to the left edge, looking outward
    right_half: float
    setback: float = 1.0  # m from the corner's centre to the stop line
    pocket: bool = False
    left_only: int = 0  # lanes of those that arrive, for left turns alone where there are any
    right_only: int = 0
    numbers_in: tuple[int, ...] = ()  # of lanes that arrive, from the kerb, where they have some
    numbers_out: tuple[int, ...] = ()
    road_in: str = ""  # the road that arrives
    road_out: str = ""  # the road that leaves

    @property
    def priority(self) -> int:
        """Priority of the road that arrives."""
        return self.street.priority_of(not self.at_start)


def _half_widths(street: Street, at_start: bool) -> tuple[float, float]:
    """Width of the forward and of the backward side of a street at one of its ends, m."""
    w = street.lane_width
    if street.stretches is not None:
        return half_widths(*street.stretches, at_start)
    one_way = street.forward == 0 or street.backward == 0
    if one_way and street.centred:
        half = (street.forward + street.backward) * w / 2.0
        return half, half
    lanes = max(street.forward, street.backward)
    forward, backward = street.forward or lanes, street.backward or lanes
    return street.median / 2.0 + forward * w, street.median / 2.0 + backward * w


def outward_angle(line: Line) -> float:
    """Direction in which a line leaves its start, measured over some metres, rad."""
    ahead = line[1] if len(line) == 2 else point_at(line, min(15.0, line_length(line) / 2.0))
    dx, dy = ahead - line[0]
    return float(np.arctan2(dy, dx))


def legs_of(plan: Plan) -> dict[str, list[Leg]]:
    """The legs of every corner, counter-clockwise, with their setbacks."""
    legs: dict[str, list[Leg]] = {name: [] for name in plan.corners}
    for street in plan.streets:
        ahead, back = _half_widths(street, True)
        start = Leg(street, True, outward_angle(street.line), street.backward, street.forward,
                    back, ahead)  # fmt: skip
        ahead, back = _half_widths(street, False)
        end = Leg(street, False, outward_angle(street.line[::-1]), street.forward,
                  street.backward, ahead, back)  # fmt: skip
        if street.stretches is not None:
            count_lanes(start, *street.stretches)
            count_lanes(end, *street.stretches[::-1])
        legs[street.start].append(start)
        legs[street.end].append(end)
    for name, around in legs.items():
        around.sort(key=lambda leg: leg.angle)
        set_back(plan.corners[name], around)
        if plan.squeeze:
            for leg in around:
                share = MOST_OF_A_STREET * line_length(leg.street.line)
                leg.setback = min(leg.setback, share)
    return legs


def count_lanes(leg: Leg, leaving: list[Stretch] | None, arriving: list[Stretch] | None) -> None:
    """Note on a leg which lanes of its stretches leave and arrive; None: as they were noted."""
    if leaving is not None:
        leg.numbers_out = leaving[0].numbers if leaving else ()
        leg.lanes_out = len(leg.numbers_out)
    if arriving is not None:
        leg.numbers_in = arriving[-1].numbers if arriving else ()
        leg.lanes_in = len(leg.numbers_in)
        leg.left_only, leg.right_only = turn_lanes(arriving)


def set_back(corner: Corner, legs: list[Leg]) -> None:
    """Place the stop lines of a corner so that kerbs of neighbouring legs clear each other."""
    if corner.control in ("gate", "turning_loop"):
        for leg in legs:
            leg.setback = 0.0
        return
    if corner.control == "roundabout":
        for leg in legs:
            leg.setback = corner.ring + ROUNDABOUT_SETBACK
        return
    for leg, following in zip(legs, legs[1:] + legs[:1], strict=True):
        if leg is following:
            continue
        both = _corner_setbacks(leg, following, corner.kerb)
        leg.setback = max(leg.setback, both[0])
        following.setback = max(following.setback, both[1])


def _corner_setbacks(leg: Leg, following: Leg, kerb: float) -> tuple[float, float]:
    """Setbacks that two neighbouring legs ask of each other (networks.md 3.3)."""
    t = (following.angle - leg.angle) % (2.0 * np.pi)
    if t > np.radians(150.0):
        return 1.0, 1.0
    t = max(t, float(np.radians(30.0)))
    a, b = leg.left_half, following.right_half
    rounding = kerb / np.tan(t / 2.0)
    mine = (b + a * np.cos(t)) / np.sin(t) + rounding
    theirs = (a + b * np.cos(t)) / np.sin(t) + rounding
    return min(float(mine), 30.0), min(float(theirs), 30.0)


def pocket_length(street: Street, room: float, at_both_ends: bool) -> float:
    """How long a pocket can be in `room` metres between two stop lines; 0 if none fits.

    at_both_ends: another one, of the other direction, opens in the same median. Their tapers may lie
    side by side.
    """
    if street.pocket <= 0.0:
        return 0.0
    fits = min(street.pocket, room - TAPER - SHORTEST_BEFORE_POCKET)
    if at_both_ends:
        fits = min(fits, 0.5 * (room - TAPER - APART))
    return fits if fits >= SHORTEST_POCKET else 0.0


def lane_offsets(street: Street, lanes: int) -> NDArray[np.float64]:
    """Offsets to the right of the driving direction of a road's lanes, from the kerb, m."""
    one_way = street.forward == 0 or street.backward == 0
    inner = -0.5 * lanes * street.lane_width if one_way and street.centred else street.median / 2.0
    places = np.arange(lanes, 0, -1, dtype=np.float64) - 0.5
    return places * street.lane_width + inner
