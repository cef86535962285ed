"""What cannot be meant by who draws a network: refused in one line, or a sound network."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from soundness import assert_sound

import rushhour as rh
from rushhour.roadnets.by_hand.sketch import CONTROLS
from rushhour.roadnets.errors import NetworkError

GOOD = [(0.0, 0.0), (100.0, 0.0)]
Draw = Callable[[rh.NetworkBuilder], Any]

PIECES: dict[str, tuple[Draw, str]] = {
    "one point": (lambda b: b.add_road([(0, 0)]), r"road 'road0': points .*2 or more points"),
    "no points": (lambda b: b.add_road([]), r"2 or more points"),
    "text": (lambda b: b.add_road("line"), r"points 'line'"),
    "ragged": (lambda b: b.add_road([(0, 0), (1,)]), r"2 or more points"),
    "four columns": (lambda b: b.add_road(np.zeros((3, 4))), r"2 or more points"),
    "one place": (lambda b: b.add_road([(3, 3), (3, 3.001)]), r"all points lie in one place"),
    "nan": (lambda b: b.add_road([(0, 0), (np.nan, 1)]), r"point 1 is not finite"),
    "far": (lambda b: b.add_road([(0, 0), (1e300, 1)]), r"point 1 is not finite or beyond 1e\+08"),
    "huge integer": (lambda b: b.add_road([(0, 0), (10**5000, 1)]), r"road 'road0': point"),
    "lanes 0": (lambda b: b.add_road(GOOD, 0), r"lanes 0; give a whole number from 1 to 63"),
    "lanes 1.5": (lambda b: b.add_road(GOOD, 1.5), r"lanes 1.5; give a whole number"),
    "many lanes": (lambda b: b.add_road(GOOD, 10**6), r"lanes 1000000"),
    "speed 0": (lambda b: b.add_road(GOOD, 1, 0), r"speed 0; give a number from 0.1 to 100"),
    "speed text": (lambda b: b.add_road(GOOD, 1, "fast"), r"speed 'fast'"),
    "speed nan": (lambda b: b.add_road(GOOD, 1, np.nan), r"speed nan"),
    "speed huge": (lambda b: b.add_road(GOOD, 1, 10**5000), r"speed an? int|speed .*give"),
    "width": (lambda b: b.add_road(GOOD, width=-3), r"width -3"),
    "offset": (lambda b: b.add_road(GOOD, offset="left"), r"offset 'left'; wanted 'centre'"),
    "priority": (lambda b: b.add_road(GOOD, priority="high"), r"priority 'high'"),
    "class": (lambda b: b.add_road(GOOD, permissions="cars"), r"unknown vehicle class 'cars'"),
    "no class": (lambda b: b.add_road(GOOD, permissions=()), r"permissions 0"),
    "id": (lambda b: b.add_road(GOOD, id=7), r"road id 7; give a text"),
    "empty id": (lambda b: b.add_road(GOOD, id=""), r"road id ''"),
    "id twice": (lambda b: (b.add_road(GOOD, id="a"), b.add_road(GOOD, id="a")), r"'a' is given tw"),
    "start": (lambda b: b.add_road(GOOD, start=5), r"start 5; give an intersection's id"),
    "street without lanes": (lambda b: b.add_street(GOOD, 1, 0), r"road '-road0': lanes 0"),
    "place": (lambda b: b.add_intersection(0, np.inf), r"y inf; give a number"),
    "control": (lambda b: b.add_intersection(0, 0, "lights"), r"control 'lights'; wanted one of n"),
    "control list": (lambda b: b.add_intersection(0, 0, ["none"]), r"control \['none'\]"),
    "reach": (lambda b: b.add_intersection(0, 0, reach=-1), r"reach -1"),
    "intersection twice": (
        lambda b: (b.add_intersection(0, 0, id="a"), b.add_intersection(9, 0, id="a")), r"'a' is g"
    ),
    "connect numbers": (lambda b: b.connect(1, 2), r"movement: road 1; give the id"),
    "lanes are no pairs": (lambda b: b.connect("a", "b", lanes=[1, 2]), r"give pairs \(from, to\)"),
    "negative lane": (lambda b: b.connect("a", "b", lanes=[(0, -1)]), r"lane -1"),
    "no lanes": (lambda b: b.connect("a", "b", lanes=[]), r"no pair of lanes"),
    "phases are no pairs": (lambda b: b.add_signal("c", [5]), r"give pairs \(seconds, "),
    "phase of 0 s": (lambda b: b.add_signal("c", [(0, ["a"])]), r"phase 0: green 0"),
    "greens are numbers": (lambda b: b.add_signal("c", [(9, [1])]), r"give pairs"),
    "name": (lambda b: rh.NetworkBuilder(""), r"network name ''"),
}  # fmt: skip


@pytest.mark.parametrize("kind", PIECES)
def test_a_piece_that_cannot_be_meant_is_refused_and_nothing_is_added(kind: str) -> None:
    draw, pattern = PIECES[kind]
    builder = rh.NetworkBuilder("map")
    with pytest.raises(NetworkError, match=pattern) as caught:
        draw(builder)
    message = str(caught.value)
    assert "\n" not in message and len(message) < 300
    builder.add_street(GOOD, id="a" if "twice" not in kind else "b")
    builder.build()


def crossing(draw: Draw) -> rh.NetworkBuilder:
    """A lit crossing c of roads a (in) and b (out) and others, and what is drawn besides."""
    builder = rh.NetworkBuilder("map")
    builder.add_road([(-100, 0), (-9, 0)], id="a")
    builder.add_road([(9, 0), (100, 0)], id="b")
    builder.add_road([(0, -100), (0, -9)], id="up")
    builder.add_road([(200, 0), (300, 0)], id="far")
    builder.add_intersection(0, 0, "signals", id="c")
    draw(builder)
    return builder


BUILDS: dict[str, tuple[Draw, str]] = {
    "unknown start": (lambda b: b.add_road(GOOD, start="x"), r"start 'x' is no intersection; add"),
    "unknown road": (lambda b: b.connect("a", "x"), r"movement 'a' to 'x': 'x' is no road"),
    "unknown forbidden": (lambda b: b.forbid("x", "b"), r"'x' is no road"),
    "roads that do not meet": (
        lambda b: b.connect("a", "far"), r"first ends at 'c', the second starts at 'far:start'; give"
    ),
    "unknown lane": (lambda b: b.connect("a", "b", lanes=[(0, 3)]), r"lanes 0 to 0, not 3"),
    "signal of nothing": (lambda b: b.add_signal("x"), r"signal of 'x': no intersection with contr"),
    "signal without signals": (
        lambda b: (b.add_intersection(250, 99, id="y"), b.add_signal("y")), r"signal of 'y': no in"
    ),
    "green of nobody": (lambda b: b.add_signal("c", [(9, ["far"])]), r"phase 0: there is no road 'f"),
    "green of no movement": (
        lambda b: b.add_signal("c", [(9, ["a"]), (9, [("a", "far")])]), r"phase 1: there is no movem"
    ),
    "name of an end": (lambda b: b.add_intersection(900, 0, id="far:end"), r"'far:end' is given twi"),
    "small ring": (
        lambda b: (b.add_road([(0, 1), (0, 200)], start="r"), b.add_road([(0, 1), (99, 99)], end="r"),
                   b.add_intersection(0, 1, "roundabout", id="r", radius=5)), r"use a larger ring"
    ),
    "wide ring": (
        lambda b: (b.add_street([(500, 0), (600, 0)], 2), b.add_street([(500, 0), (500, 99)]),
                   b.add_intersection(500, 0, "roundabout", id="r")), r"road '.*' has 2 lanes; a rin"
    ),
    "movement on a ring": (
        lambda b: (b.add_street([(500, 0), (600, 0)], id="p"), b.add_street([(500, 0), (500, 99)]),
                   b.add_intersection(500, 0, "roundabout", id="r"), b.connect("-p", "p")),
        r"at roundabout 'r' follow its ring"
    ),
    "too long": (lambda b: b.add_road([(0, 0), (9e7, 0)]), r"m long; split it below"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BUILDS)
def test_a_network_that_cannot_be_meant_is_refused_in_one_line(kind: str) -> None:
    draw, pattern = BUILDS[kind]
    builder = crossing(draw)
    with pytest.raises(NetworkError, match=pattern) as caught:
        builder.build()
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


def test_a_network_without_roads_is_refused() -> None:
    with pytest.raises(NetworkError, match=r"map: no roads; add one"):
        rh.NetworkBuilder("map").build()


def test_random_drawings_are_refused_or_become_sound_networks() -> None:
    """300 drawings of roads anyhow: one line of error, or a network whose pieces fit."""
    built = 0
    for seed in range(300):
        draw = random.Random(seed)
        builder = rh.NetworkBuilder(f"drawing {seed}")
        try:
            scribble(builder, draw)
            network = builder.build()
        except NetworkError as error:
            assert "\n" not in str(error)
            continue
        built += 1
        assert_sound(network)
    assert built > 100


def scribble(builder: rh.NetworkBuilder, draw: random.Random) -> None:
    """A few roads, intersections, movements and signals, some of them nonsense."""
    hubs = [(draw.uniform(-200, 200), draw.uniform(-200, 200)) for _ in range(draw.randint(1, 4))]
    roads: list[str] = []
    for _ in range(draw.randint(1, 9)):
        x, y = draw.choice(hubs)
        line = [(x + draw.gauss(0, 9), y + draw.gauss(0, 9))]
        for _ in range(draw.randint(1, 4)):
            line.append((line[-1][0] + draw.gauss(0, 60), line[-1][1] + draw.gauss(0, 60)))
        if draw.random() < 0.5:
            line[-1] = draw.choice(hubs)
        if draw.random() < 0.5:
            roads += builder.add_street(line, draw.randint(1, 3), draw.randint(1, 3))
        else:
            line = line[:: draw.choice((1, -1))]
            roads.append(builder.add_road(line, draw.randint(1, 4), draw.uniform(1, 40)))
    for x, y in hubs:
        control = draw.choice(CONTROLS)
        node = builder.add_intersection(x, y, control, kerb=draw.uniform(1, 20))
        if draw.random() < (0.5 if control == "signals" else 0.02):
            builder.add_signal(node, [(10, [draw.choice(roads)]), (20, [draw.choice(roads)])])
    for _ in range(draw.choice((0, 0, 0, 0, 1, 2))):
        a, b = draw.choice(roads), draw.choice(roads)
        if draw.random() < 0.5:
            builder.forbid(a, b)
        else:
            builder.connect(a, b, draw.choice((None, [(0, 0)], [(0, 1), (1, 0)])))
