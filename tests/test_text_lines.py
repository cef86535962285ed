"""Lines of exported files: numbers as Python prints them, texts as they are."""

import numpy as np
import pytest

from rushhour.roadnets.errors import RunError
from rushhour.traffic.analysis.lines import Lines


def test_numbers_are_rounded_as_python_rounds_them_and_zero_has_no_minus() -> None:
    draw = np.random.default_rng(5)
    ties = np.arange(-4000, 4000) / 16.0  # exactly between two in the last digit, many of them
    near = np.concatenate([np.nextafter(ties, sign) for sign in (-np.inf, np.inf)])
    some = np.concatenate(
        [
            ties, near, np.arange(0, 3000) / 1000.0 + 0.0005, [-0.0, 0.0, 1e-9, -1e-9, 9.9999999],
            draw.uniform(-180.0, 180.0, 3000), draw.normal(size=2000) * 10.0 ** draw.integers(-8, 8, 2000),
            draw.uniform(0.0, 60.0, 2000).astype(np.float32),
        ]
    )  # fmt: skip
    for decimals in (0, 1, 2, 3, 4, 7):
        text = Lines(["", "\n"], [decimals]).of([some]).decode()
        assert text.splitlines() == [f"{value:z.{decimals}f}" for value in some.tolist()]


def test_texts_stand_between_literals_and_the_last_one_for_nobody() -> None:
    lines = Lines(["<", ' n="', "|", ">\r\n"], [["gr\u00fcn", "b,c", ""], 1, ["x", "y"]])
    values = [np.array([0, 1, -1]), np.array([1.25, -3.0, 1e5]), np.array([1, 0, 1], np.uint8)]
    assert lines.of(values) == (
        '<gr\u00fcn n="1.2|y>\r\n<b,c n="-3.0|x>\r\n< n="100000.0|y>\r\n'.encode()
    )
    assert lines.of([values[0][:0], values[1][:0], values[2][:0]]) == b""


def test_more_rows_than_are_written_at_once_are_all_there() -> None:
    n = 40_000
    text = Lines(["", "\n"], [0]).of([np.arange(float(n))])
    assert text == "".join(f"{i}\n" for i in range(n)).encode()


@pytest.mark.parametrize("value", [np.nan, np.inf, -1e300])
def test_what_is_no_number_of_a_vehicle_is_refused_in_one_line(value: float) -> None:
    with pytest.raises(RunError, match="no vehicle has; record the run again"):
        Lines(["", "\n"], [3]).of([np.array([1.0, value])])
