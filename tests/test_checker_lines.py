"""Checks of lines: red lights, stop signs, and the order at all-way stops."""

import numpy as np
import pytest
from network_drafts import chain, connector, crossing, lights_in_a_row, line
from planted_world import start

from rushhour.kernels.core.network import ALL_WAY_STOP, SIGNAL, STOP
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import DraftConnector, DraftLane, DraftSignal

pytestmark = [pytest.mark.small_world, pytest.mark.tiny_world]

# --- lights ----------------------------------------------------------------------------------


def signalled(phases, link=20.0):
    """Two signals with one program, r0 -> r1 (link m) -> r2; everything is green or red at once."""
    draft = chain(line(0.0, 200.0), line(210.0, 210.0 + link), line(220.0 + link, 400.0))
    draft.signals.append(DraftSignal("t", phases))
    for c in draft.connectors:
        c.signal, c.link = "t", 0
    for x in draft.intersections[1:3]:
        x.control = SIGNAL
    return finish(draft)


def way_through(network) -> list[int]:
    return [0, 1] if network.arrays.connectors.from_lane[0] == 0 else [1, 0]


@pytest.mark.parametrize(
    ("distance", "found", "caught"),
    [(35.0, {"red_light": 1}, 0), (15.0, {}, 1)],  # 10 m/s: 20 m to stop, and a frame
)
def test_red_is_kept_by_all_who_could_stop_when_it_came(distance, found, caught):
    network = signalled([(1.0, "G"), (59.0, "r")], link=60.0)
    car = {"speed": 10.0, "path": way_through(network)}
    world, checker = start(network, ("r0_0", 190.0 - distance, car))  # red comes 10 m later
    world.step(checker, 24)
    assert checker.violations == found
    assert checker.information["caught_by_red"] == caught


def test_green_and_yellow_may_be_passed():
    network = signalled([(3.0, "G"), (57.0, "y")], link=60.0)
    car = {"speed": 10.0, "path": way_through(network)}
    world, checker = start(network, ("r0_0", 190.0, car), ("r0_0", 160.0, car))
    world.step(checker, 24)
    assert checker.violations == {}


def test_who_arrives_after_the_light_turned_red_has_no_excuse():
    network = signalled([(1.0, "r"), (1.0, "G"), (58.0, "r")], link=60.0)
    world, checker = start(network)
    world.step(checker, 20)
    world.put("r0_0", 195.0, 10.0, way_through(network))
    world.step(checker, 4)
    assert checker.violations == {"red_light": 1}
    assert "r0_0 -> r1_0, red for 3.25 s" in checker.lines()[0]


@pytest.mark.parametrize(("link", "found"), [(12.0, {}), (60.0, {"red_light": 1})])
def test_a_grant_covers_the_next_line_beyond_a_link_for_one_vehicle(link, found):
    network = signalled([(1.0, "G"), (59.0, "r")], link=link)
    car = {"speed": 10.0, "path": way_through(network)}
    world, checker = start(network, ("r0_0", 195.0, car))  # over the first line at 0.5 s
    world.step(checker, round((10.0 + link + 20.0) / 2.5))
    assert checker.violations == found
    assert checker.information["red_in_chain"] == (1 if not found else 0)


def row_of_lights(*letters: str):
    """Lights in a row, each with a letter for each quarter of its cycle of 8 s; and the connectors in
    their order."""
    network = finish(lights_in_a_row(*([(2.0, letter) for letter in four] for four in letters)))
    by_lane = {int(lane): k for k, lane in enumerate(network.arrays.connectors.from_lane)}
    return network, [by_lane[lane] for lane in range(len(letters))]


@pytest.mark.parametrize(
    ("third", "fourth", "found"),
    [
        ("rGrG", "rGrr", {}),  # green with the first and third, but never with the second and third
        ("GrrG", "GGrr", {"red_light": 1}),  # with all that may have been waited for together
    ],
)
def test_a_grant_may_begin_at_any_line_of_a_chain(third, fourth, found):
    """The first and second are never green together, so nobody waits for both."""
    network, way = row_of_lights("rGGr", "GrrG", third, fourth)
    world, checker = start(network)
    world.step(checker, 10)
    world.put("r0_0", 132.0, 10.0, way)  # over the lines at 4.3, 5.35, 6.4, 7.45 s
    world.step(checker, 21)
    assert checker.violations == found
    assert checker.information["red_in_chain"] == (1 if found else 2)


@pytest.mark.parametrize(("later", "found"), [("rrGG", {}), ("rGGr", {"red_light": 1})])
def test_who_departs_over_a_line_within_a_frame_is_in_a_chain_that_begins_there(later, found):
    network, way = row_of_lights("GGrr", later)
    world, checker = start(network)
    world.step(checker, 1)
    world.put(way[0], 1.0, 10.0, way[1:])
    world.step(checker, 6)
    assert checker.violations == found
    assert checker.information["red_in_chain"] == (0 if found else 1)


@pytest.mark.parametrize(
    ("lane", "waits", "found"),
    [("r0_0", 45.0, {}), ("r0_1", 45.0, {}), ("r0_0", 5.0, {"red_light": 1}), ("r0_1", 5.0, {"red_light": 1})],
)  # fmt: skip
def test_who_has_waited_a_cycle_passes_a_later_light_also_from_the_lane_beside(lane, waits, found):
    """Both are green for 10 s of 40; it goes 1 s into the last 10, when the first alone is green."""
    draft = lights_in_a_row([(10.0, "G"), (20.0, "r"), (10.0, "G")], [(10.0, "G"), (30.0, "r")])
    draft.roads[0].lanes.append(DraftLane("r0_1", line(0, 150) + (0.0, 3.2), 13.9))
    draft.connectors.append(DraftConnector("r0", 1, "r1", 0, signal="light0", link=0))
    network = finish(draft)
    arrays = network.arrays.connectors
    way = [int(np.flatnonzero(arrays.from_lane == network.lane_index[one])[0]) for one in ("r0_0", "r1_0")]  # fmt: skip
    world, checker = start(network)
    world.step(checker, round(4.0 * (71.0 - waits)))
    i = world.put(lane, 149.5, path=way)
    world.step(checker, round(4.0 * waits))
    world.sim.veh.accel[i] = 2.5
    world.step(checker, 16)
    assert world.sim.veh.lane[i] > network.n_road_lanes  # beyond both
    assert checker.violations == found
    assert checker.information["red_in_chain"] == (1 if not found else 0)


# --- stop signs ------------------------------------------------------------------------------


def stop_road(control=STOP):
    draft = crossing(control)
    for c in draft.connectors:
        c.must_stop = True
    return finish(draft)


STOPPING = stop_road()
ALL_WAY = finish(crossing(ALL_WAY_STOP))


def test_a_stop_sign_is_passed_only_after_standing_at_the_line():
    k = connector(STOPPING, "e", "w")
    world, checker = start(STOPPING, ("in_e_0", 85.0, {"speed": 5.0, "path": [k]}))
    world.step(checker, 8)
    assert checker.violations == {"stop_sign": 1}


def test_who_has_stood_at_the_line_may_go():
    k = connector(STOPPING, "e", "w")
    world, checker = start(STOPPING, ("in_e_0", 89.5, {"path": [k]}))
    world.step(checker, 4)
    world.sim.veh.accel[0] = 2.0
    world.step(checker, 12)
    assert checker.violations == {}
    assert checker.information["longest_wait_at_stop_sign_s"]["value"] == pytest.approx(1.5)


@pytest.mark.parametrize(("stands", "found"), [(True, {}), (False, {"stop_sign": 1})])
def test_who_changes_lane_has_stood_only_if_it_stands_on_the_new_one(stands, found):
    draft = crossing(STOP, lanes=2)
    for c in draft.connectors:
        c.must_stop = True
    network = finish(draft)
    before, after = (connector(network, "e", "w", lane) for lane in (0, 1))
    world, checker = start(network, ("in_e_0", 89.0, {"speed": 0.8, "path": [before]}))
    veh = world.sim.veh
    veh.accel[0] = -1.6
    if not stands:
        world.step(checker, 2)  # on the lane that it leaves it does
        veh.accel[0] = 2.0
    world.step(checker)
    veh.lane[0], veh.path[0, 0] = world.lane("in_e_1"), after
    world.step(checker)
    veh.accel[0] = 2.0
    world.step(checker, 12)
    assert checker.violations == found


def test_standing_far_from_the_line_is_no_stop():
    k = connector(STOPPING, "e", "w")
    world, checker = start(STOPPING, ("in_e_0", 85.0, {"path": [k]}))
    world.step(checker, 4)
    world.sim.veh.accel[0] = 2.0
    world.step(checker, 12)
    assert checker.violations == {"stop_sign": 1}


def overtaken(
    times: int,
    movement: tuple[str, str],
    policy: str,
    beside: tuple[str, float, float] | None = None,
) -> int:
    """A car waits at an all-way stop while others, who came later, go `movement` one by one.

    beside: the lane of one of before, how far it is on it, m, and its speed, m/s.
    """
    world, checker = start(ALL_WAY, **{"right_of_way.all_way_policy": policy})
    if beside is not None:
        lane, s, speed = beside
        i = world.put(lane, s)
        world.sim.veh.speed[i] = speed
    world.put("in_n_0", 89.5, path=[connector(ALL_WAY, "n", "s")])
    world.step(checker, 2)
    for _ in range(times):
        i = world.put(f"in_{movement[0]}_0", 89.5, path=[connector(ALL_WAY, *movement)])
        world.step(checker, 3)
        world.sim.veh.accel[i] = 2.5
        world.step(checker, 6)
        world.arrive(i)
    return checker.report()["stop_order"]


@pytest.mark.parametrize(
    ("times", "movement", "policy", "found"),
    [
        (2, ("e", "w"), "fair", 0),
        (3, ("e", "w"), "fair", 1),
        (1, ("e", "w"), "fifo", 1),
        (3, ("s", "n"), "fair", 0),  # does not conflict
        (1, ("s", "n"), "fifo", 0),
        (1, ("s", "n"), "literal", 1),
    ],
)
def test_an_all_way_stop_is_left_in_the_order_of_its_policy(times, movement, policy, found):
    assert overtaken(times, movement, policy) == found


@pytest.mark.parametrize(
    ("beside", "found", "why"),
    [
        (("out_e_0", 3.0, 0.0), 0, "who turned left before it stands with its rear in its way"),
        (("out_e_0", 8.0, 0.0), 1, "its rear has left the intersection"),
        (("out_w_0", 3.0, 0.0), 0, "likewise to the right"),
    ],
)
def test_who_is_barred_by_a_rear_beside_is_not_overtaken(beside, found, why):
    assert overtaken(3, ("e", "w"), "fair", beside) == found, why


@pytest.mark.parametrize(
    ("first", "cars", "apart", "speed", "found"),
    [
        (88.0, 11, 7.5, 0.0, {}),
        (
            79.0,
            9,
            8.575,
            1.0,
            {},
        ),  # 5.4 m are free behind a queue that creeps, 22 once it closed up
        (79.0, 9, 8.575, 3.5, {"stop_order": 1}),
    ],
)
def test_who_faces_a_full_exit_may_be_overtaken(first, cars, apart, speed, found):
    world, checker = start(ALL_WAY, **{"right_of_way.all_way_policy": "fifo"})
    world.put("in_n_0", 89.5, path=[connector(ALL_WAY, "n", "s")])
    for place in range(cars):
        world.put("out_s_0", first - apart * place, speed)
    world.step(checker, 2)
    i = world.put("in_e_0", 89.5, path=[connector(ALL_WAY, "e", "w")])
    world.step(checker, 3)
    world.sim.veh.accel[i] = 2.5
    world.step(checker, 4)
    assert checker.violations == found
