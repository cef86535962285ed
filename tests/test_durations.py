"""Times as people write them."""

import pytest

from rushhour.roadnets.errors import ParameterError
from rushhour.traffic.words.durations import clock, seconds


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("90s", 90.0),
        ("1h", 3600.0),
        ("10m", 600.0),
        ("10min", 600.0),
        ("1h30m", 5400.0),
        ("1h 2min 3.5s", 3723.5),
        ("250ms", 0.25),
        ("16.6ms", 0.0166),
        ("1us", 1e-6),
        ("1.5\N{MICRO SIGN}s", 1.5e-6),
        ("20ns", 2e-8),
        ("1ms 500us", 0.0015),
        ("1d", 86400.0),
        ("0:10:00", 600.0),
        ("7:00", 25200.0),
        ("25:00:30.5", 90030.5),
        ("450", 450.0),
        ("0.25", 0.25),
        (12, 12.0),
    ],
)
def test_a_written_time_is_so_many_seconds(text: str | float, value: float) -> None:
    assert seconds(text) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "text", ["", "h", "1x", "1h x", "-5", "nan", "inf", "1e99", "7:61", "1:2:3:4", "1h;2m", True]
)
def test_anything_else_is_refused(text: str | float) -> None:
    with pytest.raises(ParameterError, match="--over .*wanted a time such as 90s"):
        seconds(text, "--over")


def test_a_clock_reads_back() -> None:
    assert [seconds(clock(t)) for t in (0, 59, 3725, 90061)] == [0, 59, 3725, 90061]
