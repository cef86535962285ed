"""What signals show at a moment, lane by lane."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import GREEN, GREEN_YIELD, OFF, RED, STOP_THEN_GO, YELLOW
from rushhour.roadnets.model import Network
from rushhour.viewer.covered import covered_ends

# The best of a lane's links decides what is shown.
_ORDER: Final = (RED, STOP_THEN_GO, YELLOW, GREEN_YIELD, GREEN)
LIGHT_COLOURS: Final = np.array(
    [(235, 64, 52), (235, 64, 52), (250, 206, 70), (120, 200, 110), (64, 220, 120)], dtype=np.uint8
)


def states_at(network: Network, time: float) -> NDArray[np.uint8]:
    """What the programs of a network show each connector at a time in s, by their own clock."""
    connectors, signals = network.arrays.connectors, network.arrays.signals
    states = np.full(network.n_connectors, OFF, np.uint8)
    chosen = np.flatnonzero(connectors.signal >= 0)
    program = connectors.signal[chosen]
    place = np.mod(time - signals.offset, signals.cycle)
    phase = np.array(
        [
            min(np.searchsorted(signals.phase_end[a:b], place[p], side="right"), b - a - 1)
            for p, (a, b) in enumerate(
                zip(signals.phase_start[:-1], signals.phase_start[1:], strict=True)
            )
        ],
        dtype=np.intp,
    )
    states[chosen] = signals.state[
        signals.state_start[program]
        + phase[program] * signals.links[program]
        + connectors.link[chosen]
    ]
    return states


def lights_of(
    network: Network, states: NDArray[np.uint8]
) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
    """Lanes that end at a lit signal, and the colour each sees, (n, 3); states: by connector. Not those whose end lies below
    another road.
    """
    shown = np.full(network.n_road_lanes, -1)
    lit = np.flatnonzero(states != OFF)
    rank = np.zeros(max(_ORDER) + 1, dtype=np.intp)
    rank[list(_ORDER)] = np.arange(len(_ORDER))
    np.maximum.at(shown, network.arrays.connectors.from_lane[lit], rank[states[lit]])
    lanes = np.flatnonzero((shown >= 0) & ~covered_ends(network))
    return lanes, LIGHT_COLOURS[shown[lanes]]
