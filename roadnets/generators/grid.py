"""Grids of streets and single crossings, for capacity tests and for large runs."""

from collections.abc import Sequence
from typing import Final, Literal, get_args

from rushhour.kernels.core.network import LONGEST_VEHICLE
from rushhour.roadnets.build import finish
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.model import Network
from rushhour.roadnets.plans.drafting import draft_of
from rushhour.roadnets.plans.street_plan import ROUNDABOUT_SETBACK, Control, Corner, Lefts, Plan
from rushhour.roadnets.signals.actuation import made_actuated

GridControl = Literal["signals", "actuated", "all_way_stop", "priority"]
Border = Literal["gates", "loops", "closed"]
CrossControl = Literal["signals", "all_way_stop", "two_way_stop", "yield", "none", "roundabout"]

AT: Final[dict[GridControl, Control]] = {
    "signals": "signals", "actuated": "signals", "all_way_stop": "all_way_stop", "priority": "yield",
}  # fmt: skip
LARGEST_GRID = 1_000_000  # intersections
DIRECTIONS = {"E": (1.0, 0.0), "N": (0.0, 1.0), "W": (-1.0, 0.0), "S": (0.0, -1.0)}


def check_street(length: float, lanes: int, speed: float, shortest: float = 40.0) -> None:
    """Refuse lengths, lane counts and speeds that make no street."""
    if not shortest <= length <= 100_000.0:
        raise NetworkError(f"length {length:g} m: wanted {shortest:g} to 100000; choose another")
    if not 1 <= lanes <= 8:
        raise NetworkError(f"lanes {lanes}: wanted 1 to 8 in each direction; choose another")
    if not 1.0 <= speed <= 70.0:
        raise NetworkError(f"speed {speed:g} m/s: wanted 1 to 70; give metres per second")


def one_of(what: str, value: str, choices: Sequence[str]) -> None:
    """Refuse a word that is not among the choices."""
    if value not in choices:
        raise NetworkError(f"{what} {value!r}: wanted one of {', '.join(choices)}")


def _check_grid(rows: int, columns: int, control: str, left: str, turns: str, border: str) -> None:
    """Refuse a size or words that make no grid."""
    if rows < 1 or columns < 1 or rows * columns > LARGEST_GRID:
        raise NetworkError(
            f"grid {rows} x {columns}: wanted at least 1 x 1 and at most {LARGEST_GRID} crossings"
        )
    one_of("control", control, tuple(AT))
    one_of("left", left, ("lane", "phase", "shared"))
    one_of("turns", turns, ("all", "through"))
    one_of("border", border, ("gates", "loops", "closed"))
    if border == "closed" and (min(rows, columns) < 2 or turns == "through"):
        raise NetworkError("border closed: wanted at least 2 x 2 and all turns; use loops")


def grid(
    rows: int = 5,
    columns: int = 5,
    length: float = 150.0,
    lanes: int = 2,
    speed: float = 13.89,
    control: GridControl = "signals",
    left: Lefts = "lane",
    turns: Literal["all", "through"] = "all",
    border: Border = "gates",
) -> Network:
    """A grid of two-way streets, `length` metres from centre to centre.

    lanes: through lanes of each direction.   left: "lane" opens a left-turn lane in the median
    before each crossing, "phase" gives each entry a signal phase of its own, "shared" neither.
    control: "actuated" are signals whose greens end by detectors, "priority" lets the columns
    yield to the rows.   border: "gates" lets vehicles enter
    and leave, "loops" turns them back, "closed" has no streets beyond the outer crossings.
    Raises NetworkError for a size, lane count, speed or word out of range.

    >>> grid(3, 4, lanes=1).n_roads
    110
    """
    check_street(length, lanes, speed, 60.0)
    _check_grid(rows, columns, control, left, turns, border)
    plan = Plan("grid", f"grid {rows} x {columns}")
    width, at = (3.2 if left == "lane" and turns == "all" else 0.0), AT[control]
    for r in range(rows):
        for c in range(columns):
            corner = Corner(f"{r}.{c}", c * length, r * length, at, lefts=left)
            corner.turns = "RTL" if turns == "all" else "T"
            corner.offset = round(c * length / speed, 1) if at == "signals" else 0.0
            plan.add_corner(corner)

    def join(a: str, b: str, along: bool) -> None:
        plan.add_straight(
            a, b, lanes, lanes, speed, priority=4 if along or control != "priority" else 3,
            median=width, pocket=min(60.0, 0.4 * length) if width else 0.0,
        )  # fmt: skip

    for r in range(rows):
        for c in range(columns - 1):
            join(f"{r}.{c}", f"{r}.{c + 1}", True)
    for c in range(columns):
        for r in range(rows - 1):
            join(f"{r}.{c}", f"{r + 1}.{c}", False)
    if border != "closed":
        end: Control = "gate" if border == "gates" else "turning_loop"
        for r in range(rows):
            plan.add_corner(Corner(f"{r}.west", -length, r * length, end))
            plan.add_corner(Corner(f"{r}.east", columns * length, r * length, end))
            join(f"{r}.west", f"{r}.0", True)
            join(f"{r}.{columns - 1}", f"{r}.east", True)
        for c in range(columns):
            plan.add_corner(Corner(f"south.{c}", c * length, -length, end))
            plan.add_corner(Corner(f"north.{c}", c * length, rows * length, end))
            join(f"south.{c}", f"0.{c}", False)
            join(f"{rows - 1}.{c}", f"north.{c}", False)
    network = finish(draft_of(plan))
    return made_actuated(network) if control == "actuated" else network


def _entries(legs: int, entries: str, arms: str, major: str) -> str:
    """The legs that vehicles come from; refuses those that are none."""
    if not 1 <= legs <= 4:
        raise NetworkError(f"legs {legs}: wanted 1 to 4")
    wanted = entries or "".join(d for d in "SNEW" if d in arms)[:legs]
    for what, letters in (("arms", arms), ("entries", wanted), ("major", major)):
        if not letters or set(letters) - set("ENWS"):
            raise NetworkError(f"{what} {letters!r}: wanted letters of ENWS")
    return wanted


def cross(
    legs: int = 4,
    length: float = 300.0,
    lanes: int = 1,
    speed: float = 13.89,
    control: CrossControl = "all_way_stop",
    entries: str = "",
    arms: str = "ENWS",
    major: str = "EW",
    left: Lefts = "shared",
    turns: str = "RTL",
    lane_turns: Sequence[str] = (),
    green: float = 0.0,
    cycle: float = 0.0,
    kerb: float = 4.0,
) -> Network:
    """One crossing with straight approaches of `length` metres up to the stop line.

    legs: how many legs vehicles come from, in the order S, N, E, W; `entries` names them instead.
    arms: legs that exist as exits (three of them make a T).   major: the legs of higher priority
    under "two_way_stop" and "yield".   turns: turns that exist, of R, T, L.   lane_turns: what
    each entry lane allows, from the kerb, such as ("RT", "L").   green: s of the first phase
    (that of the north-south axis if it has entries).   cycle: s.   kerb: radius of the kerbs, m.
    Roads are called "S-X" (in) and "X-S" (out), X being the crossing; at a roundabout "S-X.0" and
    so on counter-clockwise from the southernmost arm, and the ring's "X:ring0", ...
    Raises NetworkError for values out of range.

    >>> cross(control="signals", green=30.0, cycle=60.0).n_roads
    8
    """
    check_street(length, lanes, speed, 2.0 * LONGEST_VEHICLE)
    one_of("control", control, get_args(CrossControl))
    if control == "roundabout" and (lanes > 1 or turns != "RTL" or lane_turns or left == "lane"):
        raise NetworkError("roundabout: wanted one lane, all turns and no left lanes")
    one_of("left", left, ("lane", "phase", "shared"))
    wanted = _entries(legs, entries, arms, major)
    if lane_turns and len(lane_turns) != lanes:
        raise NetworkError(f"lane_turns: {len(lane_turns)} given for {lanes} lanes; give one each")
    if set("".join(lane_turns) + turns) - set("RTL") or not turns:
        raise NetworkError("turns and lane_turns: wanted letters of R, T and L")
    if not (0.0 <= green < 1000.0 and 0.0 <= cycle < 1000.0 and 1.0 <= kerb <= 20.0):
        raise NetworkError("green, cycle: wanted 0 to 1000 s; kerb: wanted 1 to 20 m")
    plan = Plan("cross", f"crossing of {len(arms)} arms")
    corner = Corner("X", 0.0, 0.0, control, lefts=left, turns=turns, green=green, cycle=cycle)
    corner.lane_turns, corner.kerb = tuple(lane_turns), kerb
    plan.add_corner(corner)
    width = 3.2 if left == "lane" and not lane_turns else 0.0
    reach = length + lanes * 3.2 + width / 2.0 + corner.kerb
    if control == "roundabout":
        reach = length + corner.ring + ROUNDABOUT_SETBACK
    for d in "SENW":
        if d not in arms:
            continue
        x, y = DIRECTIONS[d]
        plan.add_corner(Corner(d, x * reach, y * reach, "gate"))
        plan.add_straight(
            d, "X", lanes if d in wanted else 0, lanes, speed, priority=4 if d in major else 3,
            median=width, pocket=min(60.0, 0.4 * length) if width else 0.0, centred=False,
        )  # fmt: skip
    return finish(draft_of(plan))
