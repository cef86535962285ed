"""Truth table of the room that those have a grant for who come to a short piece of a ring behind another."""

from typing import Any

import pytest
from junction_cases import LENGTH, A, Asked, B
from road_cases import AS_PYTHON
from test_rules_of_short_lanes import lane_of, led_to, place

from rushhour.kernels.core.network import GROUP_LENGTH
from rushhour.kernels.junctions.ring_exits import reserved_behind

pytestmark = [pytest.mark.tiny_world, AS_PYTHON]
OTHER = 5  # slot
GRANTED = {"granted": 1}
BEYOND = (("ST",), GRANTED)  # path from the piece itself
COMES = (("WT", "ST"), {"granted": 2})  # from the lane before it


@pytest.fixture(scope="module")
def junction() -> Asked:
    return Asked("signals")


@pytest.mark.parametrize(
    ("others", "told", "found", "why"),
    [
        ({}, {}, 0, "nobody comes"),
        ({B: ("lane", 1.0, *BEYOND)}, {}, 1, "it is behind on the piece"),
        ({B: ("lane", 5.0, *BEYOND)}, {}, 0, "it is before it on the piece: it goes first"),
        ({B: ("WT", 3.0, *BEYOND)}, {}, 1, "it enters the piece"),
        ({B: ("WT", 3.0, ("ST",), {})}, {}, 0, "it has no grant for what lies beyond"),
        ({B: ("before", 5.0, *COMES)}, {}, 1, "it has a grant for both lines"),
        ({B: ("before", 5.0, COMES[0], GRANTED)}, {}, 0, "for the first line alone"),
        ({B: ("before", 5.0, ("WR",), GRANTED)}, {}, 0, "it goes another way"),
        ({B: ("WT", 3.0, *BEYOND), OTHER: ("before", 5.0, *COMES)}, {}, 2, "both"),
        ({B: ("WT", 3.0, *BEYOND)}, {"ring": False}, 0, "it is no ring"),
        ({B: ("WT", 3.0, *BEYOND)}, {"length": GROUP_LENGTH}, 0, "one can wait on the piece"),
        ({B: ("WT", 3.0, *BEYOND)}, {"mine": "WT"}, 0, "it is not on the piece yet"),
    ],
)
def test_room_that_those_behind_it_on_a_ring_have_a_grant_for_is_no_room_that_it_waits_for(
    junction: Asked, others: dict[int, Any], told: dict[str, Any], found: int, why: str
) -> None:
    j = junction
    j.decide()
    net = led_to(j, "WT", length=told.get("length", 8.0))
    way, here = j.way("WT"), lane_of(j)
    inside = net.lanes.out_start.shape[0] - 1 + way
    lanes = {"lane": here, "WT": inside, "before": int(net.connectors.from_lane[way])}
    place(j, A, lanes[told.get("mine", "lane")], 3.0)
    for slot, (where, s, path, fields) in others.items():
        j.veh.path[slot] = -1
        place(j, slot, lanes[where], s, *path, **fields)
    beyond = int(net.connectors.to_lane[j.way("ST")])
    on_ring = j.grants.on_ring.copy()
    on_ring[here] = told.get("ring", True)
    metres = reserved_behind(net, j.veh, j.sim.order, on_ring, A, beyond, j.rules.queue_gap)
    assert metres == pytest.approx(found * (LENGTH + j.rules.queue_gap)), why
