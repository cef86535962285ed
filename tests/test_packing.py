"""Vehicles made ready for drawing: who is in view, which dot, who is under the cursor."""

import numpy as np
import pytest
from plain_kernels import as_python

from rushhour.kernels.drawing.packing import dot_vehicles, pack_visible, ramp_rows, vehicle_at

pytestmark = pytest.mark.small_world
UTM = np.array([680_000.0, 5_400_000.0])


def crowd(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    return draw.uniform(0, 100, n), draw.uniform(0, 60, n), draw.uniform(-3, 3, n)


@pytest.mark.parametrize("n", [0, 1, 7, 500])
def test_those_in_the_box_are_packed_in_order_and_near_the_origin(n: int):
    x, y, heading = crowd(n)
    code = np.arange(n, dtype=np.int32) * 33_000
    box = np.array([20.0, 10.0, 80.0, 50.0])
    out = np.zeros((max(1, n), 4), np.float32)
    count = pack_visible(x + UTM[0], y + UTM[1], heading, code, box + np.tile(UTM, 2), UTM, out)
    inside = np.flatnonzero((x >= 20) & (x <= 80) & (y >= 10) & (y <= 50))
    assert count == inside.size
    assert (
        np.abs(out[:count, 0] - x[inside]).max(initial=0.0) < 1e-3
    )  # float32 at UTM: half a metre
    assert np.abs(out[:count, 1] - y[inside]).max(initial=0.0) < 1e-3
    assert (out[:count, 3].astype(np.int64) == code[inside]).all()


def test_no_more_are_packed_than_there_is_room_and_nobody_at_nan():
    x, y, heading = crowd(10)
    x[3] = np.nan
    out = np.zeros((4, 4), np.float32)
    everywhere = np.array([-1e9, -1e9, 1e9, 1e9])
    code = np.arange(10, dtype=np.int32)
    assert pack_visible(x, y, heading, code, everywhere, np.zeros(2), out) == 4
    assert out[:, 3].tolist() == [0.0, 1.0, 2.0, 4.0]


def dotted(x: list[float], y: list[float], colour: list[int], dot: int) -> tuple[int, np.ndarray]:
    palette = np.zeros((256, 3), np.uint8)
    palette[1], palette[2] = (100, 0, 0), (0, 50, 200)
    image = np.full((6, 8, 4), 9, np.uint8)
    sums = np.zeros((6, 8, 4), np.int32)
    seen = dot_vehicles(
        np.array(x),
        np.array(y),
        np.array(colour, np.uint8),
        palette,
        0.0,
        12.0,
        2.0,
        dot,
        sums,
        image,
    )
    assert not sums.any()  # for the next picture
    return seen, image


def test_a_dot_lies_where_its_vehicle_is_and_takes_the_mean_of_several():
    seen, image = dotted([5.0, 5.5, 11.0], [11.0, 10.5, 1.0], [1, 2, 2], 1)
    assert seen == 3
    assert image[0, 2].tolist() == [50, 25, 100, 255]  # 4 .. 6 m east, 0 .. 2 m below the top
    assert image[5, 5].tolist() == [0, 50, 200, 255]
    assert int((image[..., 3] > 0).sum()) == 2


def test_dots_at_the_edge_are_cut_and_those_beyond_are_not_seen():
    seen, image = dotted([0.0, -9.0, 500.0], [12.0, 5.0, 5.0], [1, 1, 1], 2)
    assert seen == 1 and np.argwhere(image[..., 3] > 0).tolist() == [[0, 0]]


def test_a_click_finds_the_body_under_it_else_the_nearest_within_reach():
    x, y = np.array([10.0, 10.0, 40.0]), np.array([0.0, 3.0, 0.0])
    heading, length, width = np.array([0.0, 0.0, 1.5708]), np.full(3, 5.0), np.full(3, 2.0)

    def at(px: float, py: float, reach: float = 0.5) -> int:
        return int(vehicle_at(x, y, heading, length, width, px, py, reach))

    assert at(9.9, 0.2) == 0 and at(5.1, 0.9) == 0 and at(7.0, 2.5) == 1
    assert at(10.3, 0.0) == 0 and at(10.8, 0.0) == -1  # before the bumper
    assert at(40.0, -4.0) == 2 and at(36.0, 0.0) == -1  # it stands across
    assert at(7.0, 1.4, 3.0) == 0 and at(7.0, 1.6, 3.0) == 1


def test_the_compiled_kernels_say_the_same_as_they_are_written():
    x, y, heading = crowd(200)
    size, wide = np.full(200, 5.0), np.full(200, 2.0)
    for px, py in ((50.0, 30.0), (3.0, 3.0), (99.0, 59.0)):
        told = [
            f(x, y, heading, size, wide, px, py, 4.0) for f in (vehicle_at, as_python(vehicle_at))
        ]
        assert told[0] == told[1]
    box, code = np.array([10.0, 10.0, 70.0, 50.0]), np.arange(200, dtype=np.int32)
    outs = [np.zeros((200, 4), np.float32) for _ in range(2)]
    for f, out in zip((pack_visible, as_python(pack_visible)), outs, strict=True):
        f(x, y, heading, code, box, np.zeros(2), out)
    assert outs[0].tobytes() == outs[1].tobytes()


def test_a_ramp_ends_at_its_ends_and_knows_what_is_unknown():
    value = np.array([-5.0, 0.0, 5.0, 10.0, 99.0, np.nan, np.inf])
    for f in (ramp_rows, as_python(ramp_rows)):
        row = np.zeros(7, np.uint8)
        f(value, 0.0, 10.0, 255, row)
        assert row.tolist() == [0, 0, 127, 254, 254, 255, 254]
