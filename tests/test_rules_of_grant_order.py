"""Truth tables of grants beside each other: who asks in which order and who once more, at one crossing and
in a group; and of what lies within one, who is late, who keeps one from its way."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from asked_grants import Answer, Grant, I, J
from junction_cases import AT_LINE, DT, FRAME, Asked
from road_cases import AS_PYTHON

from rushhour.kernels.core.network import ALL_WAY_STOP, GREEN
from rushhour.kernels.core.vehicles import (
    CONFLICT,
    FREE,
    HELD,
    HELD_INSIDE,
    STAMPS,
    WAITS_INSIDE,
    YIELDS,
)
from rushhour.kernels.junctions import grant_phase, right_of_way
from rushhour.kernels.junctions.right_of_way import GRANTED, REFUSED, TO_WAIT

pytestmark = [pytest.mark.tiny_world, AS_PYTHON]

NO, YES = False, True


@pytest.mark.parametrize(
    ("control", "there", "comes", "found", "why"),
    [
        ("signals", -1, -1, (FREE, -1), "nobody"),
        ("signals", 0, J, (CONFLICT, 0), "one is there"),
        ("signals", -1, 0, (YIELDS, 0), "one comes"),
        ("two_way_stop", -1, J, (YIELDS, J), "one comes"),
        ("all_way_stop", -1, J, (FREE, -1), "where all stop nobody keeps a gap"),
        ("all_way_stop", J, -1, (CONFLICT, J), "one is there"),
    ],
)
def test_who_keeps_one_from_its_way(
    grants: dict[str, Grant], monkeypatch: pytest.MonkeyPatch, control: str, there: int, comes: int,
    found: tuple[int, int], why: str,
) -> None:  # fmt: skip
    j, between = grants[control].j, []
    x = j.net.intersections.control[j.x]
    j.veh.cut[I], j.veh.cut_stamp[I] = -7, -7

    def is_clear(*args: Any) -> tuple[int, int, int]:
        between.append(args[-2])
        return there, 5, 6

    monkeypatch.setattr(right_of_way, "is_clear", is_clear)
    monkeypatch.setattr(right_of_way, "gap_blocker", lambda *_: comes)
    assert right_of_way.blocker_of(
        j.net, j.veh, j.types, j.sim.order, j.grants, j.rules, I, 1, AT_LINE, 0.0, 1.0, True, 1.0,
        1.0, x, DT,
    ) == found, why  # fmt: skip
    assert between == [control != "all_way_stop"], "one goes between two that come, by gaps"
    goes = found == (FREE, -1)
    assert (j.veh.cut[I], j.veh.cut_stamp[I]) == ((5, 6) if goes else (-7, -7))


@pytest.mark.parametrize(("drawn", "share"), [(0.0, 0.8), (0.5, 1.0), (0.75, 1.1), (1.0, 1.2)])
def test_how_long_one_looks_where_all_stop_is_drawn_around_the_mean(
    grants: dict[str, Grant], monkeypatch: pytest.MonkeyPatch, drawn: float, share: float
) -> None:
    g = grants["all_way_stop"]
    g.ask(monkeypatch)
    monkeypatch.undo()
    monkeypatch.setattr(right_of_way, "uniform", lambda *_: drawn)
    rules = g.j.rules._replace(stop_reaction=2.0, reaction_spread=0.2)
    looks = right_of_way.reaction_of(g.veh, g.j.types, rules, ALL_WAY_STOP, True, I, 1)
    assert looks == pytest.approx(2.0 * share)


@pytest.mark.parametrize(
    ("off", "counts", "late", "why"),
    [
        (0.0, 0b111, NO, "it comes as the second line closes"),
        (-1e-6, 0b111, YES, "the second closes just before"),
        (-1e-6, 0b101, NO, "the second is never green with the first, and does not count"),
        (-1e-6, 0b010, YES, "it alone counts"),
    ],
)
def test_when_one_comes_to_the_second_line(
    signal: Grant, monkeypatch: pytest.MonkeyPatch, off: float, counts: int, late: bool, why: str
) -> None:
    """At 8 m/s from lane to lane, but at 5 where the middle of the first connector bends most."""
    signal.ask(monkeypatch)
    monkeypatch.undo()
    j, net = signal.j, signal.j.net
    lane = net.lanes.out_start.shape[0] - 1 + signal.k
    length = float(net.lanes.length[lane])
    monkeypatch.setattr(right_of_way, "travel_time", lambda *_: 2.0)
    monkeypatch.setattr(right_of_way, "aimed_speed", lambda *_: 8.0)
    monkeypatch.setattr(
        right_of_way, "bend_speed", lambda _, at, s: 5.0 if (at, s) == (lane, 0.5 * length) else 7.0
    )
    monkeypatch.setattr(right_of_way, "lights_that_count", lambda *_: counts)
    way = length + float(net.lanes.length[net.connectors.to_lane[signal.k]])
    signal.grants.closes[:] = 0.0
    signal.grants.closes[signal.veh.path[I, 1]] = FRAME * DT + 0.5 + 2.0 + way / 5.0 + off
    found = right_of_way.is_late(net, j.veh, j.types, j.grants, I, 2, 3.0, 0.5, FRAME, DT)
    assert found == late, why


def test_every_light_up_to_the_next_line_counts_for_going_on_at_once(
    signal: Grant, monkeypatch: pytest.MonkeyPatch
) -> None:
    signal.ask(monkeypatch, light=GREEN)
    monkeypatch.undo()
    asked: list[tuple[int, bool]] = []
    monkeypatch.setattr(right_of_way, "through", lambda *_: 3)
    monkeypatch.setattr(right_of_way, "has_room", lambda *_: True)
    monkeypatch.setattr(right_of_way, "worst_light", lambda *args: asked.append(args[4:]) or 0)
    j = signal.j
    for n in (1, 2):
        found = right_of_way.further_chain(
            j.net, j.veh, j.sim.order, j.grants, j.rules, I, n, 0, 0.25
        )
        assert found == 3
    assert asked == [(3, False)] * 2


class Crossing:
    """The candidates of one crossing, and what becomes of each when it asks."""

    def __init__(self) -> None:
        self.j = Asked("all_way_stop")

    def decide(
        self, monkeypatch: pytest.MonkeyPatch, candidates: list[int], arrived: list[int],
        becomes: dict[int, list[tuple[int, int]]], serial: int = 0,
    ) -> tuple[list[tuple[int, bool]], int, list[int]]:  # fmt: skip
        """Who asked, and whether for the first time; grants afterwards; who was noted as a holder."""
        j, asked, noted = self.j, [], []
        for slot, (arm, frame) in enumerate(zip("SWNE", arrived, strict=True)):
            j.put(slot, f"{arm}T", arrived=frame, stamp=-9)
        for slot in range(4):
            j.veh.lane[slot] = slot
        answers = {slot: iter(outcomes) for slot, outcomes in becomes.items()}

        def try_grant(*args: Any) -> int:
            i, patient = args[9], args[10]
            asked.append((int(i), patient))
            what, j.veh.refused[i] = next(answers[i])
            j.veh.granted[i] = what != REFUSED
            return what

        monkeypatch.setattr(grant_phase, "try_grant", try_grant)
        monkeypatch.setattr(grant_phase, "note_holder", lambda *args: noted.append(int(args[4])))
        j.grants.candidate[j.first : j.first + 4] = candidates
        serial = grant_phase.grant_intersection(
            j.net, j.veh, j.types, j.sim.order, j.grants, j.rules, j.x, serial, FRAME, DT, 1
        )
        return asked, serial, noted


@pytest.fixture(scope="module")
def crossing() -> Crossing:
    return Crossing()


LET = [(GRANTED, 0)]
WAITS = [(TO_WAIT, 0)]
GIVES_WAY = (REFUSED, YIELDS)
CLASH = (REFUSED, CONFLICT)


@pytest.mark.parametrize(
    ("candidates", "arrived", "becomes", "asked", "why"),
    [
        ([0, 1, 2, 3], [10, 20, 30, 40], [LET] * 4, "0123", "in the order in which they came"),
        ([0, 1, 2, 3], [40, 30, 20, 10], [LET] * 4, "3210", "all the other way round"),
        ([0, 1, 2, 3], [30, 10, 40, 20], [LET] * 4, "1302", "mixed"),
        ([-1, 2, -1, 0], [20, 0, 10, 0], [LET] * 4, "20", "nobody stands at two of the lines"),
        ([-1, -1, -1, 1], [0, 0, 0, 0], [LET] * 4, "1", "one only"),
        ([-1] * 4, [0] * 4, [LET] * 4, "", "nobody"),
        ([0, 1, -1, -1], [1, 2, 0, 0], [[GIVES_WAY, CLASH], [GIVES_WAY, GIVES_WAY]], "01(01)",
         "all give way: each asks once more"),
        ([0, 1, -1, -1], [0, 2, 0, 0], [[GIVES_WAY, *LET], [CLASH]], "01(0)",
         "who does not give way does not ask again"),
        ([0, 1, -1, -1], [-1, 2, 0, 0], [[GIVES_WAY], LET], "01", "nor who rolls up"),
        ([0, 1, -1, -1], [1, 2, 0, 0], [LET, [GIVES_WAY, *LET]], "01(1)", "nor who goes"),
        ([0, 1, 2, -1], [1, 2, 3, 0], [[GIVES_WAY, *LET], LET, [GIVES_WAY, CLASH]], "012(02)",
         "the rest asks in the same order"),
    ],
)  # fmt: skip
def test_who_asks_in_which_order_and_who_once_more(
    crossing: Crossing, monkeypatch: pytest.MonkeyPatch, candidates: list[int], arrived: list[int],
    becomes: list[list[tuple[int, int]]], asked: str, why: str,
) -> None:  # fmt: skip
    found, _, _ = crossing.decide(monkeypatch, candidates, arrived, dict(enumerate(becomes)))
    first, _, again = asked.removesuffix(")").partition("(")
    assert found == [(int(i), True) for i in first] + [(int(i), False) for i in again], why


def test_grants_are_numbered_through_and_who_waits_inside_has_none(
    crossing: Crossing, monkeypatch: pytest.MonkeyPatch
) -> None:
    becomes = {0: LET, 1: WAITS, 2: [CLASH], 3: LET}
    _, serial, noted = crossing.decide(monkeypatch, [3, 2, 1, 0], [1, 2, 3, 4], becomes, serial=7)
    assert (serial, noted) == (10, [0, 1, 3])
    found = crossing.j.veh.stamp[:4].tolist()
    assert found == [FRAME * STAMPS + 7, WAITS_INSIDE, -9, FRAME * STAMPS + 9]


@pytest.mark.parametrize(
    ("asking", "held", "asks", "told", "why"),
    [
        ([10, 12], [HELD, 0], "abcd", [10, 12], "those whose turn it is to look"),
        ([], [HELD, 0], "abcd", [], "nobody asks"),
        ([13], [0, HELD_INSIDE], "abcd", [13], "one waits in the second: it goes before those who ask"),
        ([], [HELD_INSIDE, HELD_INSIDE], "abcd", [], "one waits in each"),
        ([11], [0, 0], "acd", [], "its line was not looked at"),
    ],
)  # fmt: skip
def test_what_a_group_does_and_in_which_order(
    monkeypatch: pytest.MonkeyPatch, asking: list[int], held: list[int], asks: str, told: list[int], why: str
) -> None:  # fmt: skip
    """Crossings 4 and 2, of lanes 10, 11 and 12, 13; slots are those of lanes - 10."""
    lanes = dict(zip("abcd", (10, 11, 12, 13), strict=True))
    inter = SimpleNamespace(
        group_start=[0, 1, 3], group=[0, 4, 2], lane=np.array([12, 13, 10, 11]),
        lane_start=np.array([0, 0, 0, 2, 2, 4]), control=np.zeros(5),
    )  # fmt: skip
    looked = {lanes[name] for name in asks}
    done: list[Any] = []
    grants = SimpleNamespace(candidate=np.full(4, 99), held=np.zeros(5, np.uint8))
    grants.held[[4, 2]] = held
    awake = SimpleNamespace(
        asked=np.array([FRAME if lane in looked else FRAME - 1 for lane in inter.lane])
    )

    def noting(name: str, place: int, answer: Answer) -> Answer:
        def act(*args: Any) -> Any:
            done.append((name, int(args[place])))
            return answer(args)

        return act

    for name, place, answer in (
        ("forget_group", 3, lambda _: None),
        ("give_back_inside", 7, lambda _: None),
        ("note_inside", 6, lambda _: None),
        ("review_lane", 6, lambda a: a[6] - 10 if a[6] in asking else -1),
        ("let_waiting_go", 7, lambda a: a[7] + 5),
        ("grant_intersection", 7, lambda a: a[7] + 1),
    ):
        monkeypatch.setattr(grant_phase, name, noting(name, place, answer))
    grant_phase.grant_group(
        SimpleNamespace(intersections=inter), None, None, None, grants, None, awake, 1, FRAME, DT, 1
    )
    serial, expected = 0, [("forget_group", 1)]
    for x in (4, 2):
        expected += [("give_back_inside", x), ("note_inside", x)]
    expected += [("review_lane", lane) for lane in (10, 11, 12, 13) if lane in looked]
    for state in held:
        if state == HELD_INSIDE:
            expected.append(("let_waiting_go", serial))
            serial += 5
    if told:
        expected += [("grant_intersection", serial), ("grant_intersection", serial + 1)]
    assert done == expected, why
    found = dict(zip(inter.lane.tolist(), grants.candidate.tolist(), strict=True))
    assert found == {lane: lane - 10 if lane in told else -1 for lane in found}, why


def test_each_group_that_is_awake_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[int] = []
    monkeypatch.setattr(grant_phase, "grant_group", lambda *args: ran.append(args[7]))
    awake = SimpleNamespace(group_cuts=[0, 2, 2, 5, 6], groups=[3, 1, 4, 15, 9, 2], tasks=[3, 99])
    grant_phase.grant_all(None, None, None, None, None, None, awake, FRAME, DT, 1)
    assert ran == [3, 1, 4, 15, 9], "tasks of this frame only"
