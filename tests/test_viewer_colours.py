"""What colours tell, and what legends say; the meshes of roads."""

import numpy as np
import pytest

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.generators.grid import cross
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.viewer.colouring import (
    BUSY,
    CARRIES,
    COLOURS,
    UNKNOWN,
    VEHICLES,
    Told,
    dimmed,
    lane_colours,
    want_colouring,
)
from rushhour.viewer.loads import loads_of
from rushhour.viewer.panels import legend_image, line, text_image
from rushhour.viewer.road_mesh import RoadMesh, joined, polyline_quads, ribbons
from rushhour.viewer.shapes import lane_marks, strips_of
from rushhour.viewer.themes import DELAYS, SPEEDS
from rushhour.viewer.trip_words import WALKS, TripWords

FREE, STANDS = SPEEDS[-1], SPEEDS[0]


def told(**columns: list[float]) -> Told:
    found = {name: (lambda v=values: np.asarray(v)) for name, values in columns.items()}
    return Told(found, ("car", "bus"), 36.0, 300.0, ("a to b",))


def colours(name: str, **columns: list[float]) -> list[tuple[int, ...]]:
    found = VEHICLES[name](told(**columns))
    return [tuple(row) for row in found.palette[found.colour].tolist()]


def test_who_stands_is_red_and_who_is_free_blue():
    assert colours("speed", speed=[0.0, 10.0, 99.0]) == [STANDS, FREE, FREE]
    assert colours("limit", speed=[0.0, 5.0], limit=[5.0, 5.0]) == [STANDS, FREE]


def test_what_was_not_recorded_is_told_so():
    for name in ("acceleration", "reason", "waiting", "tier", "route", "trip"):
        found = VEHICLES[name](told(speed=[1.0, 2.0]))
        assert (found.colour == COLOURS - 1).all() and "not recorded" in found.legend.title
        assert found.palette[-1].tolist() == list(UNKNOWN)


def test_kinds_have_a_colour_each_and_are_counted():
    found = VEHICLES["type"](told(speed=[0.0] * 3, type=[1, 0, 1]))
    assert [text for _, text in found.legend.kinds] == ["car (1)", "bus (2)"]
    shown = [tuple(row) for row in found.palette[found.colour].tolist()]
    assert shown[0] == shown[2] != shown[1] and shown[0] == found.legend.kinds[1][0]
    assert "red light (1)" in str(VEHICLES["reason"](told(speed=[0.0], reason=[2])).legend.kinds)


def test_every_colouring_has_a_legend_that_can_be_painted():
    for name, make in VEHICLES.items():
        found = make(
            told(
                speed=[1.0],
                limit=[2.0],
                accel=[0.1],
                reason=[1],
                waiting=[9.0],
                type=[0],
                tier=[0],
                route=[0],
                trip=[60.0],
            )
        )
        image = legend_image(found.legend, 2)
        assert image.shape[2] == 4 and (image[..., 3] == 255).any(), name


def test_reasons_of_one_colour_are_one_line_of_the_legend():
    """Two lines with the same patch tell nothing apart."""
    found = VEHICLES["reason"](told(speed=[0.0] * 6, reason=[2, 4, 4, 5, 3, 0])).legend.kinds
    names = [text for _, text in found]
    assert "stop sign, yields, conflict (4)" in names and "red light (1)" in names
    assert len({colour for colour, _ in found}) == len(found)


def test_lanes_without_anybody_keep_their_colour():
    limit, length = np.full(3, 10.0), np.full(3, 100.0)
    loads = loads_of(np.array([1, 1, 2], np.int32), np.array([0.0, 0.0, 10.0]), 3)
    shown, legend = lane_colours("speed", loads, limit, length)
    assert shown[:, 3].tolist() == [0, 255, 255] and legend.low == "0"
    assert tuple(shown[1, :3]) == STANDS and tuple(shown[2, :3]) == FREE
    jam, _ = lane_colours(
        "density", loads_of(np.zeros(13, np.int32), np.zeros(13), 3), limit, length
    )
    assert tuple(jam[0, :3]) == DELAYS[-1] and jam[1, 3] == 0


def test_lanes_below_vehicles_are_darker_and_their_legend_with_them():
    limit, length = np.full(3, 10.0), np.full(3, 100.0)
    loads = loads_of(np.array([1], np.int32), np.array([0.0]), 3)
    bright = lane_colours("speed", loads, limit, length)
    dark = dimmed(*bright)
    assert (dark[0][1, :3] < 0.7 * bright[0][1, :3]).all()
    assert dark[0][:, 3].tolist() == [0, 255, 0]
    assert dark[1].ramp is not None and tuple(dark[1].ramp[0]) == tuple(dark[0][1, :3])


def test_flow_is_what_passes_and_delay_what_is_lost():
    limit, length = np.full(3, 10.0), np.full(3, 100.0)
    lane, speed = (
        np.array([0] * 5 + [1] * 10 + [2], np.int32),
        np.array([10.0] * 5 + [0.0] * 10 + [5.0]),
    )
    loads = loads_of(lane, speed, 3)
    flow, told = lane_colours("flow", loads, limit, length)  # 1,800, 0 and 180 vehicles an hour
    assert told.high == "1800 vehicles/h"
    assert tuple(flow[0, :3]) == CARRIES[-1] and tuple(flow[1, :3]) == CARRIES[0]
    assert 0 < abs(flow[2, :3].astype(int) - CARRIES[0]).max() < 60
    delay, _ = lane_colours("delay", loads, limit, length)  # 0, 100 and 5 s lost a s and km
    assert tuple(delay[0, :3]) == BUSY[0] and tuple(delay[1, :3]) == BUSY[-1]
    assert 0 < abs(delay[2, :3].astype(int) - BUSY[0]).max() < 60


def test_those_who_drive_the_same_roads_have_the_same_colour():
    network = cross()
    kind, builder = VehicleType(), DemandBuilder()
    ways = [[0, 1], [2, 3], [0, 1], [1, 0], [0, 1], [2, 3], [0]]
    for i, way in enumerate(ways):
        builder.add(Trip(f"car{i}", float(i), kind, way, routed=True))
    builder.add(Trip("walker", 9.0, kind, [0], walker=True))
    words = TripWords(builder.build(), network)
    kinds = [words.kinds[k] for k in words.kind.tolist()]
    first = f"{network.road_ids[0]} to {network.road_ids[1]}"
    assert [name == first for name in kinds] == [way == [0, 1] for way in ways] + [False]
    assert words.kinds[0] == first and kinds[-1] == WALKS and len(set(kinds[:-1])) == 4
    found = VEHICLES["route"](
        Told({"speed": lambda: np.zeros(8), "route": lambda: words.kind}, (), 1.0, 1.0, words.kinds)
    )
    assert f"{first} (3)" in [text for _, text in found.legend.kinds]
    assert len(np.unique(found.colour)) == 5


def test_an_unknown_colouring_is_named_with_those_there_are():
    with pytest.raises(
        RunError, match=r"--colour 'spede': wanted one of speed, speed-red-green, limit"
    ):
        want_colouring("spede", VEHICLES, "--colour")


def test_a_ribbon_has_its_places_in_the_middle_and_its_edges_beside():
    origin = np.array([680_000.0, 5_400_000.0])
    quads = polyline_quads(origin + np.array([(0.0, 0.0), (10.0, 0.0)]), 2.0)
    mesh = ribbons(quads, (255, 0, 0), origin, 4)
    at, side = mesh.vertices["a_at"], mesh.vertices["a_side"]
    assert at.tolist() == [[0, 0], [10, 0], [10, 0], [0, 0]]
    assert (at + side).tolist() == [[0, 1], [10, 1], [10, -1], [0, -1]]
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert mesh.vertices["a_lane"].tolist() == [4.0] * 4


def test_the_dashes_of_a_lane_are_three_metres_of_nine():
    network = cross(lanes=2)
    marks = lane_marks(network, strips_of(network))
    long = np.hypot(*(marks[:, 1] - marks[:, 0]).T)
    dashes = long[long < 3.01]
    assert len(dashes) and np.isclose(dashes.max(), 3.0)
    mesh = RoadMesh(network)
    assert len(mesh.marks.triangles) == 2 * len(marks)
    lanes = np.concatenate([of_grade.vertices for of_grade in mesh.lanes])
    assert len(lanes) == 4 * len(strips_of(network).lane)
    assert lanes["a_lane"].max() == network.n_lanes - 1


def test_no_wedge_is_left_between_lanes_that_meet_at_an_angle():
    strips = strips_of(cross(lanes=2))
    longer = joined(strips)
    ends = np.bincount(strips.lane)
    grown = np.hypot(*(longer.b - longer.a).T) - np.hypot(*(strips.b - strips.a).T)
    np.testing.assert_allclose(np.bincount(strips.lane, grown)[ends > 0], 0.8, atol=1e-9)


def test_the_same_lines_give_the_same_image_and_letters_below_the_line_are_whole():
    assert text_image((line("speed"),), 1) is text_image((line("speed"),), 1)
    assert text_image((line("p"),), 1)[..., 3].shape[0] >= 4 + 9 + 4
