"""Truth tables of a grant by the answers to its questions: which of them bars, in which order they
are asked, who is asked again, and what is written. The questions have tables of their own."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from junction_cases import AT_LINE, DT, FRAME, LENGTH, Asked
from road_cases import AS_PYTHON

from rushhour.kernels.core.network import GREEN, OFF, RED, STOP_THEN_GO, YELLOW
from rushhour.kernels.core.rules import POLICY_FAIR, POLICY_LITERAL
from rushhour.kernels.core.vehicles import (
    BODY,
    CONFLICT,
    EXIT_FULL,
    FREE,
    HELD,
    HELD_INSIDE,
    RED_LIGHT,
    STAMPS,
    STOP_SIGN,
    WAITS_INSIDE,
    YIELDS,
)
from rushhour.kernels.junctions import right_of_way
from rushhour.kernels.junctions.arrival_order import IMPATIENT
from rushhour.kernels.junctions.grant_review import LEFT_AT_YELLOW
from rushhour.kernels.junctions.right_of_way import GRANTED, REFUSED, TO_WAIT, WAIVED

pytestmark = [pytest.mark.tiny_world, AS_PYTHON]

I, J, K = 0, 1, 2  # who asks, and others; no id is a slot
ALL_FREE: dict[str, Any] = {
    "is_waited_for": False, "reaction_of": 0.0, "chain_with_room": 1, "waits_for_first": False,
    "worst_light": 0, "turns_across": False, "shows_green": True, "has_lost_green": False,
    "is_late": False, "who_stands_beside": -1, "ring_carries": True, "nobody_between": True,
    "wish": None, "bars_way": False, "crossed_beside": -1, "waiter_ahead": -1, "impatience": 0.7,
    "pressed_share": 0.6, "margin_of": 1.5, "further_chain": 0, "blocker_of": (FREE, -1),
    "may_wait_inside": False, "who_starves": -1, "my_turn": True, "nobody_inside": True,
    "count_overtaken": None,
}  # fmt: skip
Answer = Callable[..., Any]


class Grant:
    """One who asks at the line of a crossing, with the answers to all that is asked about it."""

    def __init__(self, control: str) -> None:
        self.j = Asked(control)
        self.veh, self.grants = self.j.veh, self.j.grants
        self.k = self.j.way("ST")
        self.asked: dict[str, list[tuple[Any, ...]]] = {}

    def ask(
        self, monkeypatch: pytest.MonkeyPatch, patient: bool = True, line: int = 0,
        rules: dict[str, Any] | None = None, light: int = OFF, **told: Any,
    ) -> tuple[int, int, int]:  # fmt: skip
        """What comes of it, the reason noted and who bars. told: other answers, and fields."""
        j, veh = self.j, self.veh
        fields = {name: value for name, value in told.items() if name not in ALL_FREE}
        self.asked = {name: [] for name in ALL_FREE}
        j.net = j.network.arrays
        j.put(I, "ST", **{"length": LENGTH, "refused": 99, "overtaken": 3, **fields})
        veh.s[I] = j.net.lanes.length[veh.lane[I]] - AT_LINE
        ways = [j.way("WT")] * line + [self.k, j.way("NT"), j.way("ET")]
        veh.path[I, : len(ways)] = ways
        veh.line[I], veh.blocker[I], veh.go[I] = line, -1, -1
        veh.id[:3] = [100, 101, 102]
        self.grants.light[:], self.grants.waived[:] = light, -1
        self.grants.ring_entry[:] = False
        for name, answer in ALL_FREE.items():
            monkeypatch.setattr(right_of_way, name, self.answering(name, told.get(name, answer)))
        return self.again(patient, rules or {})

    def again(
        self, patient: bool = True, rules: dict[str, Any] | None = None
    ) -> tuple[int, int, int]:
        """The same asked with what has been changed since."""
        j = self.j
        what = right_of_way.try_grant(
            j.net, j.veh, j.types, j.sim.order, j.grants, j.rules._replace(**(rules or {})), j.x,
            j.first, 4, I, patient, FRAME, DT, 1,
        )  # fmt: skip
        return what, int(self.veh.refused[I]), int(self.veh.blocker[I])

    def answering(self, name: str, answer: Any) -> Answer:
        def question(*args: Any) -> Any:
            self.asked[name].append(args)
            return answer(*args) if callable(answer) else answer

        return question


@pytest.fixture(scope="module")
def made() -> dict[str, Grant]:
    return {control: Grant(control) for control in ("signals", "two_way_stop", "all_way_stop")}


@pytest.fixture
def signal(made: dict[str, Grant]) -> Grant:
    return made["signals"]


@pytest.fixture
def stop(made: dict[str, Grant]) -> Grant:
    return made["two_way_stop"]


GOES = (GRANTED, 0, -1)
NO, YES = False, True
TWO: dict[str, Any] = {"chain_with_room": 2}  # the way leads over a second line
TURNS: dict[str, Any] = {"worst_light": YELLOW, "turns_across": YES}
FULL: dict[str, Any] = {"chain_with_room": -1}
LAST: dict[str, Any] = {"arrived": FRAME - int(IMPATIENT / DT)}


def refused(reason: int, who: int = -1) -> tuple[int, int, int]:
    return REFUSED, reason, who


@pytest.mark.parametrize(
    ("told", "found", "why"),
    [
        ({}, GOES, "nothing bars"),
        ({"is_waited_for": YES}, refused(99), "somebody in its way waits for it: nothing is noted"),
        ({"worst_light": RED}, refused(RED_LIGHT), "a line of its way is red"),
        ({"worst_light": YELLOW}, refused(RED_LIGHT), "yellow, and it goes straight on"),
        ({**TURNS}, refused(RED_LIGHT), "yellow, and it comes only now"),
        ({**TURNS, "arrived": 0}, GOES, "yellow, but it has waited to turn"),
        ({**TURNS, "turns_across": NO, "arrived": 0}, refused(RED_LIGHT), "it does not turn across"),
        ({"worst_light": STOP_THEN_GO}, refused(STOP_SIGN), "it has to stand first"),
        ({"worst_light": STOP_THEN_GO, "arrived": 0}, GOES, "it has stood"),
        ({"is_late": YES}, GOES, "there is no later line to come late to"),
        ({**TWO, "is_late": YES}, refused(RED_LIGHT), "the second line closes before it comes"),
        ({**TWO, "is_late": YES, "waits_for_first": YES}, GOES, "later lines no longer count"),
        ({**TWO, "is_late": YES, **LAST}, GOES, "it has waited for long enough"),
        ({**TWO, "is_late": YES, "arrived": LAST["arrived"] + 1}, refused(RED_LIGHT), "a frame less"),
        (FULL, refused(EXIT_FULL), "no room behind"),
        ({"who_stands_beside": 0}, refused(EXIT_FULL), "one stands beside where it would stop"),
        ({"ring_carries": NO}, refused(EXIT_FULL), "the roundabout would fill up"),
        ({"bars_way": YES}, refused(BODY), "a body from outside is in its way"),
        ({"crossed_beside": 0}, refused(CONFLICT, 100), "one crosses from the lane beside"),
        ({"waiter_ahead": 0}, refused(CONFLICT, 100), "one waits inside before it"),
        ({"crossed_beside": J, "waiter_ahead": K}, refused(CONFLICT, 101), "the former is said"),
        ({"crossed_beside": 0, "waiter_ahead": K}, refused(CONFLICT, 100), "and so in slot 0"),
        ({"blocker_of": (YIELDS, J)}, refused(YIELDS, 101), "one comes"),
        ({"blocker_of": (CONFLICT, 0)}, refused(CONFLICT, 100), "one is there"),
        ({"blocker_of": (YIELDS, J), "may_wait_inside": YES}, (TO_WAIT, 0, -1), "it waits inside"),
        ({"blocker_of": (CONFLICT, 0), "may_wait_inside": YES}, (TO_WAIT, 0, -1), "so in slot 0"),
        ({"who_starves": J}, GOES, "a light gives everybody a turn"),
        ({"nobody_inside": NO}, GOES, "others inside are no matter"),
        ({"my_turn": NO}, GOES, "turns are not kept at a light"),
    ],
)  # fmt: skip
def test_what_bars_at_a_light(
    signal: Grant, monkeypatch: pytest.MonkeyPatch, told: dict[str, Any], found: tuple[int, int, int], why: str,
) -> None:  # fmt: skip
    assert signal.ask(monkeypatch, **told) == found, why
    assert signal.veh.granted[I] == (found[0] != REFUSED) * told.get("chain_with_room", 1)


@pytest.mark.parametrize(
    ("control", "patient", "told", "rules", "found", "why"),
    [
        ("two_way_stop", YES, {"my_turn": NO}, {}, GOES, "everybody may ask once, whose turn it is"),
        ("two_way_stop", NO, {"my_turn": NO}, {}, refused(YIELDS), "only then by turns"),
        ("two_way_stop", YES, {"who_starves": 0}, {}, refused(YIELDS, 100), "one has waited for long"),
        ("two_way_stop", YES, {"nobody_inside": NO}, {}, GOES, "others inside are no matter"),
        ("all_way_stop", YES, {"my_turn": NO}, {}, refused(STOP_SIGN), "another came first"),
        ("all_way_stop", NO, {"my_turn": NO}, {}, refused(STOP_SIGN), "and so if it asks again"),
        ("all_way_stop", YES, {"who_starves": J}, {}, refused(YIELDS, 101), "one has waited for long"),
        ("all_way_stop", YES, {"nobody_inside": NO}, {}, GOES, "others inside are no matter"),
        ("all_way_stop", YES, {"nobody_inside": NO}, {"all_way_policy": POLICY_LITERAL},
         refused(CONFLICT), "by the letter one goes at a time"),
        ("all_way_stop", YES, {}, {"all_way_policy": POLICY_LITERAL}, GOES, "nobody is inside"),
    ],
)  # fmt: skip
def test_what_bars_where_there_is_no_light(
    made: dict[str, Grant], monkeypatch: pytest.MonkeyPatch, control: str, patient: bool,
    told: dict[str, Any], rules: dict[str, Any], found: tuple[int, int, int], why: str,
) -> None:  # fmt: skip
    assert made[control].ask(monkeypatch, patient, rules=rules, **told) == found, why


IN_ORDER: list[tuple[str, Any, int]] = [
    ("is_waited_for", YES, 99),
    ("worst_light", RED, RED_LIGHT),
    ("is_late", YES, RED_LIGHT),
    ("who_stands_beside", J, EXIT_FULL),
    ("bars_way", YES, BODY),
    ("crossed_beside", J, CONFLICT),
    ("blocker_of", (YIELDS, J), YIELDS),
    ("who_starves", J, YIELDS),
    ("my_turn", NO, STOP_SIGN),
    ("nobody_inside", NO, CONFLICT),
]


@pytest.mark.parametrize("first", range(len(IN_ORDER)))
def test_of_several_that_bar_the_first_in_order_is_said(
    made: dict[str, Grant], monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    told = {name: answer for name, answer, _ in IN_ORDER[first:]}
    rules = {"all_way_policy": POLICY_LITERAL}
    _, reason, _ = made["all_way_stop"].ask(monkeypatch, rules=rules, chain_with_room=2, **told)
    assert reason == IN_ORDER[first][2]


@pytest.mark.parametrize(
    ("policy", "limit", "literal"), [(POLICY_FAIR, 5, False), (POLICY_LITERAL, 0, True)]
)
def test_where_all_stop_the_policy_says_how_often_one_is_passed(
    made: dict[str, Grant], monkeypatch: pytest.MonkeyPatch, policy: int, limit: int, literal: bool
) -> None:
    g = made["all_way_stop"]
    g.ask(monkeypatch, rules={"all_way_policy": policy, "overtake_limit": 5})
    assert g.asked["my_turn"][0][6:9] == (limit, literal, True)


@pytest.mark.parametrize(
    ("control", "patient", "counted"),
    [("two_way_stop", YES, NO), ("two_way_stop", NO, YES), ("all_way_stop", YES, YES)],
)
def test_overtaken_are_counted_where_turns_are_kept(
    made: dict[str, Grant], monkeypatch: pytest.MonkeyPatch, control: str, patient: bool, counted: bool
) -> None:  # fmt: skip
    g = made[control]
    assert g.ask(monkeypatch, patient, rules={"overtake_limit": 5}) == GOES
    assert bool(g.asked["count_overtaken"]) == counted
    for asked in g.asked["my_turn"] if control == "two_way_stop" else ():
        assert asked[6:9] == (5, False, False)


@pytest.mark.parametrize(
    ("d", "found"), [(LEFT_AT_YELLOW - 0.01, GOES), (LEFT_AT_YELLOW, refused(RED_LIGHT))]
)
def test_who_turns_goes_at_yellow_only_from_its_line(
    signal: Grant, monkeypatch: pytest.MonkeyPatch, d: float, found: tuple[int, int, int]
) -> None:
    monkeypatch.setattr(right_of_way, "to_path", lambda *_: d)
    assert signal.ask(monkeypatch, **TURNS, arrived=1) == found


@pytest.mark.parametrize(
    ("line", "n", "first_only", "several"),
    [(0, 1, NO, NO), (0, 2, YES, YES), (1, 2, NO, NO), (1, 3, YES, YES)],
)
def test_later_lines_are_those_beyond_the_one_at_which_it_asks(
    signal: Grant, monkeypatch: pytest.MonkeyPatch, line: int, n: int, first_only: bool, several: bool
) -> None:  # fmt: skip
    signal.ask(monkeypatch, line=line, chain_with_room=n, waits_for_first=YES)
    assert signal.asked["worst_light"][0][4:] == (n, first_only)
    signal.ask(monkeypatch, line=line, chain_with_room=n)
    assert bool(signal.asked["is_late"]) == several


@pytest.mark.parametrize("joints", [0, 1, 2])
def test_what_lies_before_the_line_counts_as_way_to_it(
    signal: Grant, monkeypatch: pytest.MonkeyPatch, joints: int
) -> None:
    signal.ask(monkeypatch, line=joints, chain_with_room=joints + 1, reaction_of=0.3)
    net, joint = signal.j.net, signal.j.way("WT")
    each = net.lanes.length[net.lanes.out_start.shape[0] - 1 + joint]
    each += net.lanes.length[net.connectors.to_lane[joint]]
    *_, line, n, d, reaction = signal.asked["bars_way"][0]
    assert (line, n, reaction) == (joints, joints + 1, 0.3)
    assert d == pytest.approx(AT_LINE + joints * each)


@pytest.mark.parametrize(
    ("light", "told", "since", "why"),
    [
        (RED, {"full_since": 1990}, -1, "its own light is red: it waits for that"),
        (YELLOW, {"full_since": 1990}, -1, "or yellow"),
        (RED, {"full_since": 1990, "has_lost_green": YES}, 1990, "it stood there through a green"),
        (GREEN, {"full_since": 1990, "shows_green": NO}, -1, "no line of its way is green"),
        (GREEN, {"full_since": 1990}, 1990, "its own is green, another red: so since then"),
        (GREEN, {"full_since": 0}, 0, "so from the first frame"),
        (GREEN, {}, FRAME, "its own is green, another red: so from now on"),
        (GREEN, {"speed": 0.09}, FRAME, "it hardly rolls"),
        (GREEN, {"speed": 0.1}, -1, "it rolls"),
        (GREEN, {"speed": 0.5}, -1, "it rolls"),
    ],
)
def test_lines_that_are_never_green_together_are_a_way_that_is_not_to_be_had(
    signal: Grant, monkeypatch: pytest.MonkeyPatch, light: int, told: dict[str, Any], since: int, why: str
) -> None:  # fmt: skip
    assert signal.ask(monkeypatch, light=light, worst_light=RED, **told) == refused(RED_LIGHT)
    assert signal.veh.full_since[I] == since, why


def test_a_line_without_a_light_counts_as_green_before_a_red_one(
    stop: Grant, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stop.ask(monkeypatch, light=RED, worst_light=RED) == refused(RED_LIGHT)
    assert stop.veh.full_since[I] == FRAME


@pytest.mark.parametrize(
    ("told", "since", "wishes", "why"),
    [
        ({}, FRAME, 1, "it stands from now on, and keeps the room that comes"),
        ({"full_since": 0}, 0, 1, "it has stood there from the first frame"),
        ({"speed": 0.09}, FRAME, 1, "it hardly rolls"),
        ({"speed": 0.1}, -1, 0, "it rolls"),
        ({"speed": 0.5, "full_since": 0}, 0, 1, "it stood before"),
        ({"nobody_between": NO}, FRAME, 0, "others are between, who need the room first"),
        ({"chain_with_room": -2}, FRAME, 2, "the second lane is full"),
    ],
)
def test_who_stands_before_a_full_exit_keeps_the_room_that_comes(
    signal: Grant, monkeypatch: pytest.MonkeyPatch, told: dict[str, Any], since: int, wishes: int, why: str
) -> None:  # fmt: skip
    assert signal.ask(monkeypatch, **{**FULL, **told}) == refused(EXIT_FULL), why
    assert signal.veh.full_since[I] == since, why
    lanes = [asked[-1] for asked in signal.asked["wish"]]
    ways = signal.veh.path[I, wishes - 1 : wishes]
    assert lanes == (signal.j.net.connectors.to_lane[ways].tolist() if wishes else []), why


def test_who_wants_to_a_roundabout_keeps_no_room_there(
    signal: Grant, monkeypatch: pytest.MonkeyPatch
) -> None:
    signal.ask(monkeypatch, **FULL)
    signal.asked["wish"].clear()
    signal.grants.ring_entry[signal.k] = True
    assert signal.again() == refused(EXIT_FULL)
    assert not signal.asked["wish"]


def test_room_ends_the_wait_for_it_whatever_bars_then(
    signal: Grant, monkeypatch: pytest.MonkeyPatch
) -> None:
    signal.ask(monkeypatch, full_since=1990, bars_way=YES)
    assert signal.veh.full_since[I] == -1


@pytest.mark.parametrize(
    ("n", "beyond", "late", "barred", "asked", "entries", "why"),
    [
        (1, 0, [], [], [1], 1, "there is one line"),
        (1, 2, [], [], [2], 2, "both lines at once"),
        (1, 2, [], [2], [2, 1], 1, "the second is not to be had"),
        (1, 2, [2], [], [1], 1, "the second closes before it comes"),
        (2, 3, [3], [], [2], 2, "so behind two"),
        (2, 3, [], [3], [3, 2], 2, "so behind two"),
        (1, 2, [], [1, 2], [2, 1], 0, "neither"),
    ],
)
def test_one_asks_for_the_next_line_as_well_before_it_waits_between(
    signal: Grant, monkeypatch: pytest.MonkeyPatch, n: int, beyond: int, late: list[int],
    barred: list[int], asked: list[int], entries: int, why: str,
) -> None:  # fmt: skip
    signal.ask(
        monkeypatch, chain_with_room=n, further_chain=beyond, is_late=lambda *a: a[5] in late,
        blocker_of=lambda *a: (CONFLICT, 0) if a[7] in barred else (FREE, -1),
    )  # fmt: skip
    assert [a[7] for a in signal.asked["blocker_of"]] == asked, why
    assert signal.veh.granted[I] == entries, why


@pytest.mark.parametrize(
    ("reaction", "frames"), [(0.0, 0), (0.1, 1), (0.25, 1), (0.5, 2), (0.74, 2), (0.75, 3)]
)
def test_one_sets_off_in_the_frame_before_its_reaction_is_over(
    signal: Grant, monkeypatch: pytest.MonkeyPatch, reaction: float, frames: int
) -> None:
    assert signal.ask(monkeypatch, reaction_of=reaction) == GOES
    assert signal.veh.go[I] == FRAME + frames
    assert signal.veh.overtaken[I] == 0


@pytest.mark.parametrize("waived", [-1, FRAME + 1, FRAME + 1000])
def test_a_grant_ends_the_waiving_of_room(
    signal: Grant, monkeypatch: pytest.MonkeyPatch, waived: int
) -> None:
    signal.ask(monkeypatch)
    signal.grants.waived[signal.k] = waived
    signal.again()
    assert signal.grants.waived[signal.k] == min(waived, FRAME + WAIVED / DT)


# --- parts ---------------------------------------------------------------------------------------


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
    made: dict[str, Grant], monkeypatch: pytest.MonkeyPatch, control: str, there: int, comes: int,
    found: tuple[int, int], why: str,
) -> None:  # fmt: skip
    j, between = made[control].j, []
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

        monkeypatch.setattr(right_of_way, "try_grant", try_grant)
        monkeypatch.setattr(right_of_way, "note_holder", lambda *args: noted.append(int(args[4])))
        j.grants.candidate[j.first : j.first + 4] = candidates
        serial = right_of_way.grant_intersection(
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
        ("give_back_inside", 4, lambda _: None),
        ("note_inside", 6, lambda _: None),
        ("review_lane", 6, lambda a: a[6] - 10 if a[6] in asking else -1),
        ("let_waiting_go", 7, lambda a: a[7] + 5),
        ("grant_intersection", 7, lambda a: a[7] + 1),
    ):
        monkeypatch.setattr(right_of_way, name, noting(name, place, answer))
    right_of_way.grant_group(
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
    monkeypatch.setattr(right_of_way, "grant_group", lambda *args: ran.append(args[7]))
    awake = SimpleNamespace(group_cuts=[0, 2, 2, 5, 6], groups=[3, 1, 4, 15, 9, 2], tasks=[3, 99])
    right_of_way.grant_all(None, None, None, None, None, None, awake, FRAME, DT, 1)
    assert ran == [3, 1, 4, 15, 9], "tasks of this frame only"
