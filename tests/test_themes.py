"""Colours of the map and of what it tells, as they are seen by everybody.

Dichromats are simulated after Machado, Oliveira and Fernandes (2009) at full severity, and differences are
those of CIEDE2000, both by colour-science.
"""

import warnings
from itertools import combinations, pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import REASONS
from rushhour.viewer.colouring import BRAKES, CARRIES
from rushhour.viewer.outside import OUTSIDE, TARGET
from rushhour.viewer.race_shot import race_colours
from rushhour.viewer.themes import (
    DELAYS,
    KINDS,
    LESS_MORE,
    LEVELS,
    RACERS,
    REASON_COLOURS,
    RED_TO_GREEN,
    SPEEDS,
    SPEEDS_ON_WHITE,
    THEMES,
    Colour,
    Theme,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of libraries that it would like to have
    colour = pytest.importorskip("colour")

KINDS_OF_EYES = ("normal", "Protanomaly", "Deuteranomaly", "Tritanomaly")
APART = 20.0
RAMPS = {
    "speed": SPEEDS,
    "delay": DELAYS,
    "flow": CARRIES,
    "acceleration": BRAKES,
    "difference": LESS_MORE,
    "level": LEVELS,
    "diagrams": SPEEDS_ON_WHITE,
}


def seen(colours: tuple[Colour, ...], eyes: str) -> NDArray[np.float64]:
    """CIELAB of colours as they are seen, (n, 3)."""
    linear = colour.models.eotf_sRGB(np.array(colours) / 255.0)
    if eyes != "normal":
        linear = linear @ colour.blindness.matrix_cvd_Machado2009(eyes, 1.0).T
    xyz = colour.RGB_to_XYZ(np.clip(linear, 0.0, 1.0), "sRGB")
    return np.asarray(colour.XYZ_to_Lab(xyz, colour.CCS_ILLUMINANTS["CIE 1931 2 Degree Standard Observer"]["D65"]))  # fmt: skip


def apart(one: NDArray[np.float64], two: NDArray[np.float64]) -> float:
    return float(colour.delta_E(one, two, method="CIE 2000"))


@pytest.mark.parametrize("eyes", KINDS_OF_EYES)
def test_any_two_kinds_of_a_legend_are_told_apart(eyes: str) -> None:
    lab = seen(KINDS, eyes)
    least = min(apart(lab[i], lab[j]) for i, j in combinations(range(len(KINDS)), 2))
    assert least >= APART


@pytest.mark.parametrize("eyes", KINDS_OF_EYES)
def test_racers_are_told_apart(eyes: str) -> None:
    """Neighbours of a legend by everybody, any two of ten as well as so many can be."""
    racers = race_colours(30)
    assert len({tuple(one) for one in racers.tolist()}) == 30
    lab = seen(RACERS, eyes)
    assert racers[: len(lab)].tolist() == [list(one) for one in RACERS]
    assert min(apart(a, b) for a, b in pairwise(lab)) >= APART
    least = min(apart(a, b) for a, b in combinations(lab[:10], 2))
    assert least >= (APART if eyes == "normal" else 0.5 * APART)
    if eyes == "normal":
        tracks = seen(tuple(theme.track for theme in THEMES.values()), eyes)
        assert min(apart(racer, track) for racer in lab for track in tracks) >= 0.9 * APART


def test_nobody_of_the_traffic_has_the_colour_of_a_chase() -> None:
    """Its target and its opponents differ from each other and from every step of speed and delay."""
    target, opponent = seen((TARGET, OUTSIDE), "normal")
    assert apart(target, opponent) >= APART
    for scale in (SPEEDS, DELAYS):
        at = np.linspace(0.0, len(scale) - 1.0, 60)
        steps = np.array([np.interp(at, range(len(scale)), one) for one in np.transpose(scale)]).T
        for step in seen(tuple(map(tuple, steps)), "normal"):
            assert min(apart(step, target), apart(step, opponent)) >= APART


def test_the_first_ten_racers_are_bright_or_pure():
    """No colour of theirs is a mixture with grey: lightness above 70 or chroma above 55 (CIELCh)."""
    lab = seen(RACERS[:10], "normal")
    chroma = np.hypot(lab[:, 1], lab[:, 2])
    assert ((lab[:, 0] > 70.0) | (chroma > 55.0)).all() and (chroma > 30.0).all()


@pytest.mark.parametrize("eyes", KINDS_OF_EYES)
@pytest.mark.parametrize("name", RAMPS)
def test_neighbouring_steps_of_a_scale_are_told_apart(name: str, eyes: str) -> None:
    lab = seen(RAMPS[name], eyes)
    assert min(apart(a, b) for a, b in pairwise(lab)) >= APART


@pytest.mark.parametrize("eyes", KINDS_OF_EYES)
@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
def test_a_lane_of_buses_is_told_from_other_lanes(theme: Theme, eyes: str) -> None:
    (bus,) = seen((theme.bus,), eyes)
    assert min(apart(bus, road) for road in seen(theme.roads, eyes)) >= 0.25 * APART


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
def test_a_level_of_service_is_told_from_a_road_without_one(theme: Theme) -> None:
    roads = seen(theme.roads, "normal")
    for level in seen(LEVELS, "normal"):
        assert min(apart(level, road) for road in roads) >= 0.75 * APART


@pytest.mark.parametrize("eyes", KINDS_OF_EYES)
@pytest.mark.parametrize("name", RAMPS)
def test_the_ends_of_a_scale_are_farthest_from_each_other(name: str, eyes: str) -> None:
    """Standing and free are never taken for each other."""
    lab = seen(RAMPS[name], eyes)
    assert apart(lab[0], lab[-1]) >= 1.5 * APART


def test_the_red_yellow_green_of_before_fails_for_deuteranopes() -> None:
    """What these tests are for: red and green of that scale."""
    lab = seen(RED_TO_GREEN, "Deuteranomaly")
    assert apart(lab[0], lab[-1]) < 1.5 * APART


def test_every_reason_has_a_colour_of_the_kinds() -> None:
    assert len(REASON_COLOURS) == len(REASONS)
    assert set(REASON_COLOURS) <= set(KINDS)


def light(c: Colour) -> float:
    return float(colour.models.eotf_sRGB(np.array(c) / 255.0) @ (0.2126, 0.7152, 0.0722))


def contrast(one: Colour, two: Colour) -> float:
    low, high = sorted((light(one), light(two)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
def test_what_is_written_can_be_read(theme: Theme) -> None:
    """A contrast of 4.5 (WCAG 2.1, 1.4.3) of texts to their panel and of names to what is around them."""

    for text, below in ((theme.ink, theme.panel), (theme.faint, theme.panel), (theme.names, theme.halo),
                        (theme.names, theme.roads[0])):  # fmt: skip
        assert contrast(text, below) >= 4.5
    assert contrast(theme.kerb, theme.land) >= 1.5  # roads are seen


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
def test_every_vehicle_or_its_rim_is_seen_on_every_road(theme: Theme) -> None:
    """A contrast of 1.5 to the asphalt; the rim is that of dark colours below a light of 0.13."""
    for one in (*SPEEDS, *DELAYS, *KINDS):
        dark = float((np.array(one) / 255.0) ** 2 @ (0.2126, 0.7152, 0.0722)) < 0.13
        rim = theme.dark_rim if dark else theme.rim
        for road in (*theme.roads, theme.bus, theme.track):
            assert max(contrast(one, road), contrast(rim, road)) >= 1.5
