"""From a timing plan to the letters of a node's movements, and who gives way at its lights."""

from itertools import pairwise
from math import pi
from typing import Final

from rushhour.roadnets.drafts.draft import DraftSignal
from rushhour.roadnets.findings import WARNING
from rushhour.roadnets.fixes import fix_line
from rushhour.roadnets.gmns.signals import TimingPlan
from rushhour.roadnets.gmns.timing import Shown, timeline
from rushhour.roadnets.plans.signals import crosses
from rushhour.roadnets.plans.street_plan import Corner, Leg
from rushhour.roadnets.plans.turns import Movement
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.signals.intergreens import yellow_time

SAME_TIME: Final = 1e-6  # s
STRENGTH: Final = "rsygG"  # letters, the strongest last
OPPOSITE: Final = pi / 4.0  # off the opposite direction, of oncoming movements


def given_program(
    corner: Corner,
    legs: list[Leg],
    movements: list[Movement],
    ids: list[set[str]],
    lit: list[int],
    plans: list[TimingPlan],
    remarks: Remarks,
) -> tuple[DraftSignal, list[int]] | None:
    """The program of a node by the plan that serves it, and the movements that it has links for.

    plans: those that serve any of its movements. ids: rows of movement.csv that each movement is
    of. lit: places of movements with signals. Movements that no phase serves have no link: they
    give way to those that have. None: no plan.
    """
    count = {
        id(plan): sum(bool(ids[k] & mine.keys()) for k in lit for mine in plan.letters.values())
        for plan in plans
    }
    if not any(count.values()):
        return None
    plan = max(plans, key=lambda plan: count[id(plan)])
    if len(plans) > 1:
        remarks.add("nodes served by several controllers, one taken", corner.id)
    shown, cycle, fits = timeline(plan.phases, plan.cycle)
    if not fits:
        text = (
            f"program {corner.id!r}: its phases do not fit into {plan.cycle:g} s; {cycle:g} taken"
        )
        remarks.find("L20", text, [f"signal {corner.id}"], (corner.x, corner.y))
    mine = [_letters_of(plan, ids[k]) for k in range(len(movements))]
    dark = [k for k in lit if not mine[k]]
    for k in dark:
        name = ", ".join(sorted(ids[k]))
        remarks.find(
            "L20",
            f"node {corner.id!r}: movement {name} has a signal but no phase; it yields to others",
            [f"node {corner.id}"],
            (corner.x, corner.y),
        )
    lit = [k for k in lit if mine[k]]
    if not cycle > 0.0 or not lit:
        return None
    yellow = yellow_time(max(leg.street.speed for leg in legs))
    stages = _stages(shown, cycle, yellow, [mine[k] for k in lit])
    stages = _made_safe(corner, [movements[k] for k in lit], stages, remarks)
    return DraftSignal(corner.id, stages, _offset(plan, shown, yellow)), lit


def _letters_of(plan: TimingPlan, ids: set[str]) -> dict[str, str]:
    """The letter of a movement in the green of each phase that serves it."""
    found: dict[str, str] = {}
    for phase, served in plan.letters.items():
        letters = [served[name] for name in ids & served.keys()]
        if letters:
            found[phase] = max(letters, key=STRENGTH.index)
    return found


def _offset(plan: TimingPlan, shown: list[Shown], yellow: float) -> float:
    """When the program starts, s: its reference point is at the offset of the plan."""
    if plan.reference is None:
        return plan.offset
    number, kind = plan.reference
    for one in shown:
        if one.phase.number == number:
            at = {"begin_of_yellow": one.green_end, "begin_of_red": one.green_end + yellow}
            return plan.offset - min(at.get(kind, one.start), one.end)
    return plan.offset


def _stages(
    shown: list[Shown], cycle: float, yellow: float, served: list[dict[str, str]]
) -> list[tuple[float, str]]:
    """Stages of a cycle with a letter for each movement. served: its letters by phase."""
    follower = {
        one.phase.id: other.phase.id
        for one in shown
        for other in shown
        if one.phase.ring == other.phase.ring
        and abs((one.end - other.start + cycle / 2.0) % cycle - cycle / 2.0) < SAME_TIME
    }
    times = {0.0, cycle}
    for one in shown:
        times |= {one.start, one.green_end, min(one.green_end + yellow, one.end), one.end}
    cuts = sorted(t for t in times if 0.0 <= t <= cycle)
    stages: list[tuple[float, str]] = []
    start = 0.0
    for before, after in pairwise(cuts):
        if after - before < SAME_TIME:
            continue
        at = (before + after) / 2.0
        letters = "".join(_letter(at, shown, yellow, mine, follower) for mine in served)
        if stages and stages[-1][1] == letters:
            stages[-1] = (after - start, letters)
        else:
            start = before
            stages.append((after - start, letters))
    return [(round(time, 6), letters) for time, letters in stages]


def _letter(
    at: float, shown: list[Shown], yellow: float, mine: dict[str, str], follower: dict[str, str]
) -> str:
    """The letter of a movement at a time: the strongest that its phases show."""
    best = "r"
    for one in shown:
        if one.phase.id not in mine or not one.start <= at < one.end:
            continue
        letter = mine[one.phase.id]
        if at >= one.green_end:
            after = mine.get(follower.get(one.phase.id, ""), "")
            if after:  # it goes on
                letter = min(letter, after, key=STRENGTH.index)
            elif letter != "s":
                letter = "y" if at < one.green_end + yellow else "r"
            else:
                letter = "r"
        best = max(best, letter, key=STRENGTH.index)
    return best


def _cross(a: Movement, b: Movement) -> bool:
    """Whether two movements meet: they cross, or end on one lane."""
    if a.exit == b.exit:
        return a.entry != b.entry and a.to_lane == b.to_lane
    return crosses(a, b)


def _made_safe(
    corner: Corner, movements: list[Movement], stages: list[tuple[float, str]], remarks: Remarks
) -> list[tuple[float, str]]:
    """Of two movements that cross in protected green, let the one that turns more give way (L19)."""
    n = len(movements)
    pairs = [
        (i, j) for i in range(n) for j in range(n)
        if "TRLU".index(movements[i].turn) > "TRLU".index(movements[j].turn)
        and _cross(movements[i], movements[j])
    ]  # fmt: skip
    found: list[tuple[float, str]] = []
    yielding: set[int] = set()
    for time, letters in stages:
        gives = {i for i, j in pairs if letters[i] == letters[j] == "G"}
        yielding |= gives
        found.append((time, "".join("g" if i in gives else c for i, c in enumerate(letters))))
    if yielding:
        remarks.find(
            "L19",
            f"program {corner.id!r}: movements protected while others that cross them are: "
            f"{len(yielding)}; they yield then",
            [f"signal {corner.id}"],
            (corner.x, corner.y),
            fix_line("signals", [corner.id], False),
            WARNING,
        )
    return found


def yields_at_signals(
    legs: list[Leg], movements: list[Movement], links: list[int], signal: DraftSignal
) -> list[tuple[int, int]]:
    """Pairs of movements of a node with signals of which the first gives way.

    A turn against an oncoming stream; a movement in yielding green, or at red after a stop, while
    another is green; one without a signal against all. links: of the program, -1: none.
    """
    weak: set[tuple[int, int]] = set()
    for _, letters in signal.phases:
        waits = [k for k, c in enumerate(letters) if c in "gs"]
        goes = [k for k, c in enumerate(letters) if c == "G"]
        weak |= {(a, b) for a in waits for b in goes}
    found = []
    for i, a in enumerate(movements):
        for j, b in enumerate(movements):
            if a.entry == b.entry:
                continue
            here, there = links[i], links[j]
            if here < 0 <= there:
                gives = True
            elif there < 0 <= here:
                gives = False
            else:
                turned = _turns_against(legs, a, b)
                mutual = (here, there) in weak and (there, here) in weak
                gives = turned or (
                    (here, there) in weak and not mutual and not _turns_against(legs, b, a)
                )
            if gives:
                found.append((i, j))
    return found


def _turns_against(legs: list[Leg], a: Movement, b: Movement) -> bool:
    """Whether the first turns across an oncoming other, or back."""
    if a.turn == "U":
        return b.turn != "U"
    off = abs((legs[a.entry].angle - legs[b.entry].angle) % (2.0 * pi) - pi)
    return a.turn == "L" and b.turn in "TR" and off <= OPPOSITE
