"""A spider's web: arms from a centre, crossed by circles."""

from math import cos, pi, sin

from rushhour.roadnets.build import finish
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.generators.grid import AT, GridControl, check_street, one_of
from rushhour.roadnets.geometry.street_lines import arc
from rushhour.roadnets.model import Network
from rushhour.roadnets.plans.drafting import draft_of
from rushhour.roadnets.plans.roundabouts import ring_radius
from rushhour.roadnets.plans.street_plan import Control, Corner, Lefts, Plan, Street
from rushhour.roadnets.signals.actuation import made_actuated


def spider(
    arms: int = 6,
    circles: int = 3,
    spacing: float = 200.0,
    lanes: int = 1,
    speed: float = 13.89,
    control: GridControl = "all_way_stop",
    left: Lefts = "lane",
) -> Network:
    """Arms from a centre out to gates, crossed by circles `spacing` metres apart.

    The centre is a roundabout if streets have one lane, else signals with a phase for each arm.
    control: "actuated" are signals whose greens end by detectors, "priority" lets the circles
    yield to the arms.
    Raises NetworkError for a count, speed or word out of range.

    >>> spider(5, 2).n_roads
    95
    """
    if not (3 <= arms <= 12 and 1 <= circles <= 100):
        raise NetworkError(f"spider of {arms} arms, {circles} circles: wanted 3-12 arms, 1-100")
    check_street(spacing, lanes, speed, 80.0)
    one_of("control", control, tuple(AT))
    one_of("left", left, ("lane", "phase", "shared"))
    if 2.0 * pi * spacing / arms < 80.0 or (lanes > 1 and arms > 8):
        raise NetworkError(f"spider of {arms} arms: too many for {spacing:g} m and {lanes} lanes")
    plan = Plan("spider", f"spider of {arms} arms and {circles} circles")
    width = 3.2 if left == "lane" else 0.0
    centre: Control = "roundabout" if lanes == 1 else "signals"
    plan.add_corner(Corner("centre", 0.0, 0.0, centre, lefts="phase", ring=ring_radius(arms)))
    for c in range(1, circles + 2):
        for a in range(arms):
            x, y = c * spacing * cos(2 * pi * a / arms), c * spacing * sin(2 * pi * a / arms)
            corner = Corner(f"{a}.{c}", x, y, AT[control] if c <= circles else "gate", lefts=left)
            plan.add_corner(corner)
    for a in range(arms):
        for c in range(1, circles + 2):
            plan.add_straight(
                f"{a}.{c - 1}" if c > 1 else "centre", f"{a}.{c}", lanes, lanes, speed,
                priority=4, median=width, pocket=min(50.0, 0.3 * spacing) if width else 0.0,
            )  # fmt: skip
    for c in range(1, circles + 1):
        for a in range(arms):
            line = arc(
                0.0, 0.0, c * spacing, 2 * pi * a / arms, 2 * pi * (a + 1) / arms, spacing / 40.0
            )
            plan.streets.append(
                Street(f"{a}.{c}", f"{(a + 1) % arms}.{c}", line, lanes, lanes, speed, 3,
                       median=width, pocket=min(40.0, 0.3 * spacing) if width else 0.0)
            )  # fmt: skip
    network = finish(draft_of(plan))
    return made_actuated(network) if control == "actuated" else network
