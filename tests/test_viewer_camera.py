"""Where the viewer looks and what time it shows."""

import numpy as np
import pytest

from rushhour.viewer.camera import CLOSEST, FARTHEST, Camera
from rushhour.viewer.clock import RATES, PlaybackClock

UTM = (680_000.0, 5_400_000.0)


def test_a_place_and_its_pixel_lead_to_each_other():
    camera = Camera(*UTM, 0.3, 1280, 800)
    assert camera.place(640, 400) == UTM
    assert camera.place(0, 0) == pytest.approx((UTM[0] - 192.0, UTM[1] + 120.0))
    for pixel in ((0.0, 0.0), (13.0, 777.0), (1279.0, 5.0)):
        assert camera.pixel(*camera.place(*pixel)) == pytest.approx(pixel, abs=1e-6)


def test_zooming_keeps_what_is_under_the_cursor():
    camera = Camera(10.0, -20.0, 0.5, 800, 600)
    under = camera.place(700, 50)
    for _ in range(20):
        camera = camera.zoomed(1.25, 700, 50)
    assert camera.place(700, 50) == pytest.approx(under, abs=1e-9)
    assert camera.scale == pytest.approx(0.5 / 1.25**20)
    assert camera.zoomed(1e9, 0, 0).scale == CLOSEST
    assert camera.zoomed(1e-9, 0, 0).scale == FARTHEST


def test_the_picture_follows_the_hand_and_a_box_fits():
    camera = Camera(0.0, 0.0, 2.0, 400, 200)
    assert (camera.panned(10, 0).x, camera.panned(0, 10).y) == (-20.0, 20.0)
    x0, y0, x1, y1 = camera.fitted((100.0, 0.0, 500.0, 50.0)).box
    assert x0 < 100.0 and x1 > 500.0 and y0 < 0.0 and y1 > 50.0
    assert x1 - x0 < 1.1 * 400.0


def test_the_clock_stops_at_the_end_or_begins_anew():
    clock = PlaybackClock(10.0, 20.0, 19.0, rate=2.0, playing=True)
    assert clock.ticked(0.25).time == 19.5
    stopped = clock.ticked(3.0)
    assert (stopped.time, stopped.playing) == (20.0, False)
    assert stopped.toggled() == PlaybackClock(10.0, 20.0, 10.0, rate=2.0, playing=True)
    looped = PlaybackClock(10.0, 20.0, 19.0, playing=True, loop=True).ticked(3.0)
    assert (looped.time, looped.playing) == (12.0, True)
    often = PlaybackClock(10.0, 20.0, 19.0, rate=5.0, playing=True, loop=True).ticked(7.0)
    assert (often.time, often.playing) == (14.0, True)  # 34 s beyond the end: thrice round and 4 s
    assert clock.toggled().ticked(1.0).time == 19.0


def test_rates_and_seeking_keep_to_what_there_is():
    clock = PlaybackClock(10.0, 20.0, 15.0)
    assert clock.faster(1).rate == 2.0 and clock.faster(-1).rate == 0.5
    assert clock.faster(99).rate == RATES[-1] and clock.faster(-99).rate == RATES[0]
    assert clock.sought(5.0).time == 10.0 and clock.sought(99.0).time == 20.0
    assert clock.share == 0.5 and PlaybackClock(3.0, 3.0, 3.0).share == 0.0
    assert np.isclose(clock.spanning(10.0, 40.0).share, 1 / 6)
