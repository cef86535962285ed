"""Truth tables of arrival order: inputs, who goes, and the reason."""

from typing import Any

import numpy as np
import pytest
from junction_cases import DT, Junction

from rushhour.kernels.core.network import ALL_WAY_STOP, SIGNAL, STOP
from rushhour.kernels.core.vehicles import CONFLICT, EXIT_FULL, RED_LIGHT, YIELDS
from rushhour.kernels.junctions.arrival_order import (
    IMPATIENT,
    ZIP_AFTER,
    count_overtaken,
    goes_before,
    kept_by_stream,
    my_turn,
    nobody_inside,
    time_at_line,
    waits_longer,
    who_starves,
)

pytestmark = pytest.mark.tiny_world
FRAME = 2000
I, J = 1, 0  # who is asked about, and the other


@pytest.fixture(scope="module")
def all_way() -> Junction:
    return Junction("all_way_stop")


@pytest.fixture(scope="module")
def two_way() -> Junction:
    """East and west go first."""
    return Junction("two_way_stop")


@pytest.fixture(scope="module")
def hub() -> Junction:
    """Nobody has the right of way."""
    return Junction("none")


@pytest.mark.parametrize(
    ("arrived", "seconds"),
    [(-1, 0.0), (0, FRAME * DT), (FRAME, 0.0), (FRAME - 1, DT), (FRAME - 400, 100.0)],
)
def test_time_at_the_line_runs_from_the_first_standing_there(
    all_way: Junction, arrived: int, seconds: float
) -> None:
    all_way.put(I, "ST", arrived=arrived)
    assert time_at_line(all_way.veh, I, FRAME, DT) == seconds


@pytest.mark.parametrize(
    ("mine", "other", "lower_lane", "longer", "why"),
    [
        (10, -1, "i", False, "it has not stood"),
        (-1, 10, "i", True, "only it has stood"),
        (-1, -1, "i", False, "neither has"),
        (10, 0, "i", True, "it came in the very first frame"),
        (0, 10, "i", False, "I did"),
        (10, 9, "i", True, "it came first"),
        (9, 10, "i", False, "it came later"),
        (10, 10, "i", False, "a tie, mine is the lower lane"),
        (10, 10, "j", True, "a tie, its is the lower lane"),
    ],
)
def test_who_waits_longer(
    all_way: Junction, mine: int, other: int, lower_lane: str, longer: bool, why: str
) -> None:
    arms = sorted(("ST", "NT"), key=lambda m: all_way.net.connectors.from_lane[all_way.way(m)])
    a, b = arms if lower_lane == "i" else arms[::-1]
    all_way.put(I, a, arrived=mine)
    all_way.put(J, b, arrived=other)
    assert waits_longer(all_way.veh, J, I) == longer, why


ORDER: list[tuple[str, dict[str, Any], str, dict[str, Any], bool, str]] = [
    ("EL", {}, "ST", {}, True, "the major road's left turn ranks before the minor road"),
    ("ST", {}, "ET", {}, False, "the minor road ranks behind"),
    ("ST", {"full_since": 5, "arrived": 5}, "ET", {}, True, "it stands before a full exit"),
    ("ET", {}, "ST", {"full_since": 5, "arrived": 5}, False, "the other does"),
    (
        "ST", {"full_since": 9, "arrived": 4}, "ET", {"full_since": 5, "arrived": 6}, True,
        "of two before a full exit the one who stands longer, whatever the rank",
    ),
    (
        "ET", {"full_since": 5, "arrived": 6}, "ST", {"full_since": 9, "arrived": 4}, False,
        "the same, asked the other way",
    ),
    (
        "ET", {"full_since": 5, "arrived": 4}, "ST", {"full_since": 5, "arrived": 4}, True,
        "both since the same frame: by rank",
    ),
    ("ST", {"arrived": 1}, "ET", {"arrived": 90}, False, "arrival is nothing to the rank"),
]  # fmt: skip


@pytest.mark.parametrize(("mine", "a", "other", "b", "first", "why"), ORDER)
def test_order_of_candidates_by_rank(
    two_way: Junction, mine: str, a: dict[str, Any], other: str, b: dict[str, Any], first: bool,
    why: str,
) -> None:  # fmt: skip
    two_way.put(I, mine, **a)
    two_way.put(J, other, **b)
    assert goes_before(two_way.net, two_way.veh, False, I, J) == first, why


KEPT: list[tuple[str, str, dict[str, Any], str, dict[str, Any], str, bool, str]] = [
    ("two_way", "EL", {}, "WT", {}, "SL", True, "the oncoming stream never yields, and comes rolling"),
    ("two_way", "EL", {"refused": YIELDS}, "WT", {}, "SL", False, "nobody is there yet"),
    ("two_way", "EL", {}, "WT", {"arrived": 9}, "SL", False, "who passes has stood: a head as well"),
    ("two_way", "EL", {}, "WT", {}, "WT", False, "the stream is the one that asks"),
    ("two_way", "EL", {}, "WT", {}, "WR", False, "it would take the place on the road beyond"),
    ("two_way", "ST", {}, "WL", {}, "NL", False, "who passes yields itself, to the oncoming"),
    ("two_way", "WT", {}, "EL", {}, "SL", False, "it need not yield to who passes"),
    ("hub", "ET", {}, "NT", {"arrived": 9}, "ST", True, "nobody has the right of way"),
    ("hub", "ET", {}, "NT", {"arrived": 9}, "NT", False, "the one inside is mine"),
]  # fmt: skip


@pytest.mark.parametrize(("at", "other", "b", "passes", "c", "mine", "kept", "why"), KEPT)
def test_who_is_kept_by_a_stream(
    two_way: Junction, hub: Junction, at: str, other: str, b: dict[str, Any], passes: str,
    c: dict[str, Any], mine: str, kept: bool, why: str,
) -> None:  # fmt: skip
    j = two_way if at == "two_way" else hub
    j.put(J, other, **{"refused": CONFLICT, **b})
    j.put(2, passes, granted=1, **c)
    way = j.way(passes)
    j.grants.tail[way], j.grants.tail_slot[way] = -5.0, 2
    found = kept_by_stream(j.net, j.veh, j.grants, J, j.way(mine))
    j.grants.tail[way], j.grants.tail_slot[way] = np.inf, -1
    assert found == kept, why


@pytest.mark.parametrize(
    ("mine", "other", "first"), [(5, 6, True), (6, 5, False), (5, 5, None), (-1, 5, True)]
)
def test_order_of_candidates_at_an_all_way_stop_is_that_of_arrival_then_of_lanes(
    two_way: Junction, mine: int, other: int, first: bool | None
) -> None:
    """On a network with ranks, so that they would show."""
    for a, b in (("ET", "ST"), ("ST", "ET")):
        two_way.put(I, a, arrived=mine, full_since=3)
        two_way.put(J, b, arrived=other)
        lower = bool(two_way.veh.lane[I] < two_way.veh.lane[J])
        wanted = lower if first is None else first
        assert goes_before(two_way.net, two_way.veh, True, I, J) == wanted


TURN: list[tuple[str, dict[str, Any], int, bool, bool, str]] = [
    ("ET", {}, 0, False, False, "it came first, its way crosses"),
    ("ET", {}, 1, False, True, "it may be passed once, and was not yet"),
    ("ET", {"overtaken": 1}, 1, False, False, "it was passed once already"),
    ("ET", {"arrived": 90}, 0, False, True, "it came later"),
    ("ET", {"arrived": -1}, 0, False, True, "it is not there yet"),
    ("ET", {"granted": 1}, 0, False, True, "it goes already"),
    ("ET", {"refused": EXIT_FULL}, 0, False, True, "it could not go"),
    ("NT", {}, 0, False, True, "their ways do not meet"),
    ("NT", {}, 0, True, False, "one at a time, whatever the ways"),
    ("ET", {}, 5, True, False, "one at a time, whatever the limit"),
]


@pytest.mark.parametrize(("other", "b", "limit", "literal", "mine", "why"), TURN)
def test_whose_turn_it_is(
    all_way: Junction,
    other: str,
    b: dict[str, Any],
    limit: int,
    literal: bool,
    mine: bool,
    why: str,
) -> None:
    all_way.put(I, "ST", arrived=50)
    all_way.put(J, other, **{"arrived": 40, **b})
    n = all_way.ask(J, I, -1)
    j = all_way
    assert (
        my_turn(j.net, j.veh, j.grants, j.first, n, I, limit, literal, True, FRAME, DT) == mine
    ), why


LONG, SHORT = int(IMPATIENT / DT), int(ZIP_AFTER / DT)
STARVES: list[tuple[str, str, dict[str, Any], int, bool, str]] = [
    ("ET", "ST", {"arrived": FRAME - LONG}, STOP, True, "as long as it takes for any place"),
    ("ET", "ST", {"arrived": FRAME - LONG + 1}, STOP, False, "a frame less, and I go first by rule"),
    ("ST", "ET", {"arrived": FRAME - SHORT}, STOP, True, "it goes first by rule, and stands"),
    ("ST", "ET", {"arrived": FRAME - SHORT + 1}, STOP, False, "it has hardly stood"),
    ("ST", "ET", {"arrived": FRAME - SHORT}, ALL_WAY_STOP, False, "at an all-way stop by rule as well"),
    ("ST", "ET", {"arrived": FRAME - LONG}, ALL_WAY_STOP, True, "but not for ever"),
    ("ET", "ST", {"arrived": FRAME - LONG, "granted": 1}, STOP, False, "it goes already"),
    ("ET", "ST", {"arrived": FRAME - LONG, "refused": RED_LIGHT}, STOP, False, "a light holds it"),
    ("ET", "ST", {"arrived": FRAME - LONG, "refused": CONFLICT}, STOP, True, "somebody inside does"),
    ("ET", "WT", {"arrived": FRAME - LONG}, STOP, False, "their ways do not meet"),
    ("ET", "ST", {"arrived": FRAME - LONG}, SIGNAL, False, "at a light I go first by rule for as long as I come"),
    ("ST", "ET", {"arrived": FRAME - LONG}, SIGNAL, False, "and who goes first waits for no turn of mine"),
]  # fmt: skip


@pytest.mark.parametrize(("mine", "other", "b", "control", "starves", "why"), STARVES)
def test_who_starves(
    two_way: Junction,
    mine: str,
    other: str,
    b: dict[str, Any],
    control: int,
    starves: bool,
    why: str,
) -> None:
    two_way.put(I, mine)
    two_way.put(J, other, **{"refused": YIELDS, **b})
    n = two_way.ask(I, J)
    j = two_way
    found = who_starves(j.net, j.veh, j.grants, j.first, n, I, control, FRAME, DT)
    assert found == (J if starves else -1), why


@pytest.mark.parametrize(("stood", "starves"), [(SHORT, True), (SHORT - 1, False)])
def test_at_a_light_those_of_equal_rights_take_turns(
    all_way: Junction, stood: int, starves: bool
) -> None:
    """Nobody goes first by rule there."""
    j = all_way
    j.put(I, "ST")
    j.put(J, "ET", refused=CONFLICT, arrived=FRAME - stood)
    found = who_starves(j.net, j.veh, j.grants, j.first, j.ask(I, J), I, SIGNAL, FRAME, DT)
    assert found == (J if starves else -1)


def test_nobody_starves_for_one_who_has_waited_longer(two_way: Junction) -> None:
    two_way.put(I, "ET", arrived=FRAME - LONG - 1)
    two_way.put(J, "ST", arrived=FRAME - LONG, refused=YIELDS)
    j, n = two_way, two_way.ask(I, J)
    assert who_starves(j.net, j.veh, j.grants, j.first, n, I, STOP, FRAME, DT) == -1


@pytest.mark.parametrize(
    ("other", "b", "counted", "why"),
    [
        ("ET", {}, 1, "it came first and their ways meet"),
        ("ET", {"arrived": 90}, 0, "it came later"),
        ("NT", {}, 0, "their ways do not meet"),
        ("ET", {"granted": 1}, 0, "it goes already"),
        ("ET", {"refused": EXIT_FULL}, 0, "it could not go"),
    ],
)
def test_who_is_counted_as_overtaken(
    all_way: Junction, other: str, b: dict[str, Any], counted: int, why: str
) -> None:
    all_way.put(I, "ST", arrived=50)
    all_way.put(J, other, **{"arrived": 40, **b})
    j, n = all_way, all_way.ask(-1, J, I)
    count_overtaken(j.net, j.veh, j.grants, j.first, n, I)
    assert (j.veh.overtaken[J], j.veh.overtaken[I]) == (counted, 0), why


def test_nobody_is_inside_until_a_connector_is_held(all_way: Junction) -> None:
    tail = all_way.grants.tail
    tail[:] = np.inf
    assert nobody_inside(all_way.net, all_way.grants, all_way.x)
    for movement in ("ST", "WL"):
        tail[all_way.way(movement)] = -30.0
        assert not nobody_inside(all_way.net, all_way.grants, all_way.x)
        tail[:] = np.inf
