"""Lane changes that can never be made, and full exits beyond lanes shorter than a vehicle."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked_runs import checked
from network_drafts import line
from osm_texts import street, write_osm

import rushhour as rh
from rushhour.cli import main
from rushhour.kernels.core.network import NONE, YIELD
from rushhour.roadnets.build import finish
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
)
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import save
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import POS_GIVEN, SPEED_MAX, VehicleType
from rushhour.traffic.world import World

STOOD_STILL = 3
NODES = {"a": (-300, -60), "b": (0, 0), "c": (100, 0), "l": (120, 200), "r": (120, -200)}


def parted(lanes: int, bus_lane: bool = False, both: bool = False) -> Network:
    """Roads "up" and, with both, "down" into "mid": the lane at the kerb leads to "right" only, the
    last one to "left" only, and "up" into the one at the kerb, "down" into the last."""
    draft = Draft("parted", "test")
    long = 10.0 if both else 90.0
    for name, (x, y) in {**NODES, "c": (10 + long, 0), "d": (-300, 60)}.items():
        control = YIELD if name in "bc" else NONE
        draft.intersections.append(DraftIntersection(name, float(x), float(y), control))
    mid = [DraftLane(f"mid_{k}", line(5, 5 + long) + [0, 3.2 * k], 13.9) for k in range(lanes)]
    if bus_lane:
        mid[1].permissions = CLASS_BIT["bus"]
    end = 15 + long
    draft.roads += [
        DraftRoad("up", "a", "b", [DraftLane("up_0", line(-300, -5) + [0, -3.2], 13.9)]),
        DraftRoad("down", "d", "b", [DraftLane("down_0", line(-300, -5) + [0, 6.4], 13.9)]),
        DraftRoad("mid", "b", "c", mid),
        DraftRoad("right", "c", "r", [DraftLane("right_0", line(end, end + 200) - [0, 9], 13.9)]),
        DraftRoad("left", "c", "l", [DraftLane("left_0", line(end, end + 200) + [0, 9], 13.9)]),
    ]
    draft.connectors += [
        DraftConnector("up", 0, "mid", 0), DraftConnector("down", 0, "mid", lanes - 1),
        DraftConnector("mid", 0, "right", 0), DraftConnector("mid", lanes - 1, "left", 0),
    ]  # fmt: skip
    return finish(draft)


def told(
    network: Network, trips: list[tuple[str, str, float]], folder: Path,
    capsys: pytest.CaptureFixture[str], stops: str = "", at: int = 22,
    every: float = 4.0, gridlock: str = "",
) -> tuple[list[dict[str, Any]], dict[str, Any], str]:  # fmt: skip
    """Causes, standstill and lines of the command's run. trips: name, roads, length in m."""
    save(network, folder / "city.h5")
    text = "".join(
        f'<vType id="t{length:g}" length="{length}"/>' for length in {t[2] for t in trips}
    )
    text += "".join(
        f'<vehicle id="{name}" type="t{length:g}" depart="{every * k}"><route edges="{roads}"/></vehicle>'
        for k, (name, roads, length) in enumerate(trips)
    )
    (folder / "trips.rou.xml").write_text(f"<routes>{text}</routes>")
    (folder / "scenario.toml").write_text(
        'network = "city.h5"\ndemand = "trips.rou.xml"\n[times]\nuntil_empty = true\ngive_up_after = "30min"\n'
        + f'[parameters]\n"gridlock.turn_across_after" = 3600.0\n{gridlock}\n'
        + (f'[[events]]\ntime = "{at}s"\naction = "stop"\nvehicle = "{stops}"\n' if stops else "")
    )
    capsys.readouterr()
    code = main(["run", str(folder / "scenario.toml"), "--record", str(folder / "r.h5"), "--json"])
    out = capsys.readouterr()
    assert code == STOOD_STILL
    found = json.loads(out.out)["standstill"]
    return found["causes"], found, out.err


def why(run: Path, capsys: pytest.CaptureFixture[str], vehicle: str = "") -> list[str]:
    """What `why` prints of the end of the run."""
    assert main(["why", str(run), *(["--vehicle", vehicle] if vehicle else [])]) == 0
    return capsys.readouterr().out.splitlines()


def test_who_may_not_cross_the_lane_between_is_named_with_that_lane(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trips = [("l0", "up mid left", 5.0), ("r0", "up mid right", 5.0), ("l1", "up mid left", 5.0)]
    (cause,), _, err = told(parted(3, bus_lane=True), trips, tmp_path, capsys)
    assert (cause["cause"], cause["where"], cause["head"]) == ("lane_closed", "mid_1", "l0")
    assert cause["vehicles"] == 3
    assert "l0 on mid_0: must change lane, and may not use mid_1" in err
    assert why(tmp_path / "r.h5", capsys, "r0")[-1] == "  cause: waits for a lane change (to mid_2)"


def test_a_change_to_a_lane_that_is_blocked_for_ever_waits_for_who_blocks_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trips = [("x", "up mid left", 5.0)]
    trips += [(f"l{k}", "up mid left", 5.0) for k in range(25)] + [("r", "up mid right", 5.0)]
    (cause,), found, err = told(parted(2), trips, tmp_path, capsys, stops="x", at=40)
    assert (cause["cause"], cause["head"], cause["vehicles"]) == ("hazard", "x", 27)
    assert found["nothing_can_change"] and found["time_s"] < 20 * 60.0
    assert "\n  x on " in err and "was told to stand" in err
    for name in ("l16", "l24", "r"):  # on the lane beside, or behind
        assert "was told to stand" in why(tmp_path / "r.h5", capsys, name)[-1]


def test_two_who_bar_each_others_change_are_a_ring_that_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trips = [("l", "up mid left", 9.0), ("r", "down mid right", 9.0)]
    (cause,), _, err = told(
        parted(2, both=True),
        trips,
        tmp_path,
        capsys,
        every=0.0,
        gridlock='gridlock.policy = "none"',
    )
    assert (cause["cause"], cause["vehicles"]) == ("ring", 2)
    assert sorted(cause["ring"]) == [
        "l waits for a lane change (to mid_1)", "r waits for a lane change (to mid_0)",
    ]  # fmt: skip
    assert "r waits for a lane change (to mid_0)" in err
    assert why(tmp_path / "r.h5", capsys)[-1] == "  cause: a ring: each waits for the next (at c)"


def test_a_long_vehicle_before_a_short_lane_waits_for_who_fills_the_one_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    builder = rh.NetworkBuilder("short")
    for name, line_of in (
        ("first", [(0, 0), (200, 0)]), ("short", [(200, 0), (230, 0)]), ("last", [(230, 0), (400, 0)]),
        ("side", [(200, -200), (200, 0)]), ("lane", [(230, -200), (230, 0)]),
    ):  # fmt: skip
        builder.add_road(line_of, speed=13.9, id=name, priority=len(name))
    for x in (200.0, 230.0):
        builder.add_intersection(x, 0.0, control="yield", id=f"at{x:g}")
    network = builder.build()
    length = float(network.arrays.lanes.length[network.lane_index["short_0"]])
    trips = [("x", "lane last", 5.0), *((f"c{k}", "lane last", 5.0) for k in range(22))]
    trips += [("bus", "first short last", round(length + 3.0))]
    (cause,), found, _ = told(network, trips, tmp_path, capsys, stops="x")
    assert (cause["cause"], cause["head"], cause["vehicles"]) == ("hazard", "x", 24)
    assert found["nothing_can_change"]
    lines = why(tmp_path / "r.h5", capsys, "bus")
    assert "the exit is full (last_0)" in lines[1] and "was told to stand" in lines[-1]


@pytest.mark.parametrize("model", ["idm", "krauss"])
@pytest.mark.parametrize("dt", [0.25, 0.5])
@pytest.mark.parametrize(("hourly", "drawn"), [(1400, 1), (1800, 2)])
def test_who_stands_beside_a_fast_stream_is_let_in_by_one_of_the_first(
    tmp_path: Path, hourly: int, drawn: int, dt: float, model: str
) -> None:
    """Each braked gently, too gently to stop in time, and drove past for the next to do the same: 72 s
    at 1,400 an hour, and 26 min with who stood behind on a motorway of a city in its peak."""
    nodes = {1: (0.0, 0.0), 2: (1500.0, 0.0), 3: (3000.0, 0.0), 4: (2500.0, -120.0)}
    fast = {"oneway": "yes", "lanes": "2", "maxspeed": "120"}
    ways = [
        (10, [1, 2], street("motorway", **fast)),
        (11, [2, 3], street("motorway", **fast)),
        (12, [2, 4], street("motorway_link", oneway="yes", lanes="1", maxspeed="60")),
    ]
    network = load_network(write_osm(tmp_path, nodes, ways))
    on, ahead, off = (network.road_ids.index(f"{way}#0") for way in (10, 11, 12))
    car, draw, builder = VehicleType(model=model), np.random.default_rng(drawn), DemandBuilder()
    for lane, many in enumerate((hourly // 4, 200)):
        for k, depart in enumerate(np.sort(draw.uniform(0.0, 900.0, many)).tolist()):
            end = off if lane == 0 and draw.random() < 0.7 else ahead
            fresh = {"depart_lane": lane, "depart_speed_kind": SPEED_MAX}
            builder.add(Trip(f"{lane}.{k}", depart, car, [on, end], **fresh))
    last = float(network.arrays.lanes.length[1]) - 0.3
    here = {"depart_lane": 1, "depart_pos": last, "depart_pos_kind": POS_GIVEN}
    builder.add(Trip("stands", 120.0, car, [on, off], **here))
    world = World(network, builder.build(), dt=dt, seed=1)
    checker = checked(world)
    world.step(round(900.0 / dt))
    gone = [world.demand.ids[trip] for trip in world.trips.trip]
    assert world.trips.longest_standstill[gone.index("stands")] < 20.0
    assert checker.violations == {}
