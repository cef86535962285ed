"""Truth tables of a grant by the answers to its questions: which of them bars, in which order they
are asked, and what is written. The questions have tables of their own."""

from typing import Any

import pytest
from asked_grants import Grant, I, J, K
from junction_cases import AT_LINE, DT, FRAME
from road_cases import AS_PYTHON

from rushhour.kernels.core.network import GREEN, RED, STOP_THEN_GO, YELLOW
from rushhour.kernels.core.rules import POLICY_FAIR, POLICY_LITERAL
from rushhour.kernels.core.vehicles import (
    BODY,
    CONFLICT,
    EXIT_FULL,
    FREE,
    RED_LIGHT,
    STOP_SIGN,
    YIELDS,
)
from rushhour.kernels.junctions import right_of_way
from rushhour.kernels.junctions.arrival_order import IMPATIENT
from rushhour.kernels.junctions.kept_grants import LEFT_AT_YELLOW
from rushhour.kernels.junctions.right_of_way import GRANTED, REFUSED, TO_WAIT, WAIVED

pytestmark = [pytest.mark.tiny_world, AS_PYTHON]


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
        ({"who_stands_on_way": 0}, refused(EXIT_FULL), "one stands beside where it would stop"),
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
        ({"who_starves": J}, refused(YIELDS, 101), "one has waited for long whom it may not keep"),
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
    grants: dict[str, Grant], monkeypatch: pytest.MonkeyPatch, control: str, patient: bool,
    told: dict[str, Any], rules: dict[str, Any], found: tuple[int, int, int], why: str,
) -> None:  # fmt: skip
    assert grants[control].ask(monkeypatch, patient, rules=rules, **told) == found, why


IN_ORDER: list[tuple[str, Any, int]] = [
    ("is_waited_for", YES, 99),
    ("worst_light", RED, RED_LIGHT),
    ("is_late", YES, RED_LIGHT),
    ("who_stands_on_way", J, EXIT_FULL),
    ("bars_way", YES, BODY),
    ("crossed_beside", J, CONFLICT),
    ("blocker_of", (YIELDS, J), YIELDS),
    ("who_starves", J, YIELDS),
    ("my_turn", NO, STOP_SIGN),
    ("nobody_inside", NO, CONFLICT),
]


@pytest.mark.parametrize("first", range(len(IN_ORDER)))
def test_of_several_that_bar_the_first_in_order_is_said(
    grants: dict[str, Grant], monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    told = {name: answer for name, answer, _ in IN_ORDER[first:]}
    rules = {"all_way_policy": POLICY_LITERAL}
    _, reason, _ = grants["all_way_stop"].ask(monkeypatch, rules=rules, chain_with_room=2, **told)
    assert reason == IN_ORDER[first][2]


@pytest.mark.parametrize(
    ("policy", "limit", "literal"), [(POLICY_FAIR, 5, False), (POLICY_LITERAL, 0, True)]
)
def test_where_all_stop_the_policy_says_how_often_one_is_passed(
    grants: dict[str, Grant],
    monkeypatch: pytest.MonkeyPatch,
    policy: int,
    limit: int,
    literal: bool,
) -> None:
    g = grants["all_way_stop"]
    g.ask(monkeypatch, rules={"all_way_policy": policy, "overtake_limit": 5})
    assert g.asked["my_turn"][0][6:9] == (limit, literal, True)


@pytest.mark.parametrize(
    ("control", "patient", "counted"),
    [("two_way_stop", YES, NO), ("two_way_stop", NO, YES), ("all_way_stop", YES, YES)],
)
def test_overtaken_are_counted_where_turns_are_kept(
    grants: dict[str, Grant], monkeypatch: pytest.MonkeyPatch, control: str, patient: bool, counted: bool
) -> None:  # fmt: skip
    g = grants[control]
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
    monkeypatch.setattr(right_of_way, "to_line", lambda *_: d)
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
