"""What the viewer keeps and scales: colours of lanes, chains of waiting, ticks of the timeline."""

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rushhour.roadnets.generators.grid import cross
from rushhour.viewer.clock import PlaybackClock
from rushhour.viewer.inspector import chain_rows
from rushhour.viewer.kept_colours import KeptColours
from rushhour.viewer.loads import Loads
from rushhour.viewer.moments import Moment
from rushhour.viewer.panels import ACCENT, WARN
from rushhour.viewer.timeline import RING, timeline_of


def moment(blockers: list[int], time: float = 0.0) -> Moment:
    """Vehicles 10, 20, 30 ... with whom they wait for."""
    n = len(blockers)
    ids, zeros = 10 * np.arange(1, n + 1, dtype=np.int32), np.zeros(n)
    kinds = np.zeros(n, np.int32)
    columns = {"blocker": np.array(blockers, np.int32)}
    return Moment(time, ids, zeros, zeros, zeros, zeros, zeros, zeros, kinds, kinds, columns)


@pytest.mark.parametrize(
    ("blockers", "start", "rows"),
    [
        ([-1, 10, 20], 2, [2, 1, 0]),
        ([20, 30, 10], 0, [0, 1, 2, 0]),  # a ring: it ends where it began
        ([20, 30, 20], 0, [0, 1, 2, 1]),  # a tail before a ring: it ends where that began
        ([99, -1, -1], 0, [0]),  # waits for one that is not there
    ],
)
def test_a_chain_of_waiting_ends_with_the_first_who_is_in_it_twice(
    blockers: list[int], start: int, rows: list[int]
) -> None:
    assert chain_rows(moment(blockers), start) == rows


def test_colours_of_lanes_are_made_anew_for_another_colouring_and_another_second() -> None:
    network = cross()
    colours = KeptColours(SimpleNamespace(network=network))  # type: ignore[arg-type]
    n = network.n_lanes

    def loads(vehicles: int) -> Loads:
        return Loads(np.full(n, vehicles, np.int64), np.full(n, 5.0 * vehicles))

    few, many = loads(1), loads(9)
    shown = [
        colours.of_lanes(moment([-1], time), load, name, None)[0].copy()
        for time, load, name in (
            (0.0, few, "density"), (0.9, many, "density"), (1.0, many, "density"),
            (1.5, many, "flow"), (1.9, few, "flow"),
        )
    ]  # fmt: skip
    same = [bool((a == b).all()) for a, b in pairwise(shown)]
    assert same == [True, False, False, True]  # kept within a second


def test_a_map_without_vehicles_is_coloured_by_each_load() -> None:
    network = cross()
    colours = KeptColours(SimpleNamespace(network=network))  # type: ignore[arg-type]
    n = network.n_lanes
    shown = [
        colours.of_lanes(
            moment([]), Loads(np.full(n, k, np.int64), np.full(n, 5.0)), "density", None
        )[0]
        for k in (1, 9)
    ]
    assert (shown[0] != shown[1]).any()


def test_events_and_bookmarks_stand_on_the_timeline_by_their_share_of_the_span() -> None:
    events: dict[str, list[tuple[float, int, int]]] = {
        "stuck": [(150.0, 0, 0)],
        "ring": [(190.0, 0, 0)],
    }

    def told(kind: str) -> list[Any]:
        return events[kind]

    source: Any = SimpleNamespace(events=told)
    line = timeline_of(source, PlaybackClock(100.0, 300.0, 250.0), (100.0, 300.0))
    assert line.ticks == ((0.25, WARN), (0.45, RING), (0.0, ACCENT), (1.0, ACCENT))
    assert line.share == 0.75
