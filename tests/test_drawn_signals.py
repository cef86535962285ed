"""Signals of crossings drawn by hand: as told, and safe by rule."""

import numpy as np
import pytest
from sketches import KERB, WIDTH, arms, movements

import rushhour as rh
from rushhour.kernels.core.network import GREEN, GREEN_YIELD, YELLOW
from rushhour.roadnets.model import Network


def letters(network: Network, movement: tuple[str, str]) -> list[tuple[float, int]]:
    """Duration and state of each phase, for one movement."""
    signals, links = network.arrays.signals, network.arrays.connectors
    link = links.link[movements(network)[movement]]
    lo, hi = signals.phase_start[:2]
    ends = signals.phase_end[lo:hi]
    states = signals.state.reshape(hi - lo, -1)[:, link]
    return list(zip(np.diff(ends, prepend=0.0).round(6).tolist(), states.tolist(), strict=True))


def test_signals_by_hand_are_green_as_told_with_yellow_and_red_between() -> None:
    builder = arms("signals")
    builder.add_signal("c", [(30, ["-e", "-w"]), (20, ["-n", ("-s", "n")])], offset=7.0)
    network = builder.build()
    assert network.arrays.signals.offset[0] == 7.0
    through = letters(network, ("-e_0", "w_0"))
    assert through[0] == (30.0, GREEN) and through[1][1] == YELLOW
    assert [state for _, state in through].count(GREEN) == 1
    assert letters(network, ("-e_0", "s_0"))[0] == (30.0, GREEN_YIELD)  # across oncoming traffic
    crossing = letters(network, ("-n_0", "s_0"))
    assert crossing[3] == (20.0, GREEN) and GREEN not in [state for _, state in crossing[:3]]
    yellow, red = through[1][0], through[2][0]
    assert yellow == pytest.approx(1.0 + 13.9 / 6.1, abs=0.05)  # networks.md 5.3
    assert red == pytest.approx((2.0 * (WIDTH + KERB) + 5.0) / 13.9, abs=0.05)
    never = [line for line in network.remarks if line.startswith("L20")]
    assert len(never) == 2 and all("-s -> " in line and "never green" in line for line in never)


def test_greens_that_cross_are_found() -> None:
    builder = arms("signals")
    builder.add_signal("c", [(30, ["-e", "-w", "-n"]), (20, ["-s"])])
    found = [line for line in builder.build().remarks if line.startswith("L19")]
    assert any("phase 0: " in line and "-n -> s" in line and "-e -> w" in line for line in found)


@pytest.mark.parametrize("lanes", [1, 2, 3])
@pytest.mark.parametrize("names", ["enws", "ews", "en"])
def test_signals_by_rule_are_safe_and_serve_everybody(lanes: int, names: str) -> None:
    network = arms("signals", lanes, lanes, names).build()
    assert not [line for line in network.remarks if line[:3] in ("L19", "L20")]
    assert network.arrays.signals.cycle.size == 1
    for movement in movements(network):
        assert {GREEN, GREEN_YIELD} & {state for _, state in letters(network, movement)}


@pytest.mark.parametrize("seed", range(40))
def test_signals_by_rule_are_safe_whatever_the_angles(seed: int) -> None:
    """Legs in order around a crossing do not say whether swept paths meet: sharp turns do."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 6))
    gaps = np.radians(36.0) + rng.dirichlet(np.ones(n)) * (2.0 * np.pi - n * np.radians(36.0))
    builder = rh.NetworkBuilder()
    for angle in np.cumsum(gaps):
        line = np.array([(0.0, 0.0), (200.0 * np.cos(angle), 200.0 * np.sin(angle))])
        lanes = int(rng.integers(1, 4))
        if rng.random() < 0.8:
            builder.add_street(line, lanes, int(rng.integers(1, 4)))
        else:
            builder.add_road(line[:: rng.choice((1, -1))], lanes)
    builder.add_intersection(0.0, 0.0, control="signals")
    network = builder.build()
    assert not [line for line in network.remarks if line[:3] in ("L19", "L20")]
    signals, links = network.arrays.signals, network.arrays.connectors
    conflicts, road = network.arrays.conflicts, network.arrays.lanes.road
    for k in range(network.n_connectors):
        mine = signals.state.reshape(-1, int(signals.links[0]))[:, links.link[k]]
        for c in range(links.conflict_start[k], links.conflict_start[k + 1]):
            other = conflicts.other[c]
            if road[links.from_lane[k]] != road[links.from_lane[other]]:
                theirs = signals.state.reshape(-1, int(signals.links[0]))[:, links.link[other]]
                assert not ((mine == GREEN) & (theirs == GREEN)).any()
