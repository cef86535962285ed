"""The plan of a signal as a panel: what each movement is shown over the cycle, and where it is now."""

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import FIXED, OFF
from rushhour.roadnets.model import Network
from rushhour.viewer.inspector import cut
from rushhour.viewer.lettering import text_width, write_text
from rushhour.viewer.panels import EDGE, ROW, colour_of, glass, line, text_size
from rushhour.viewer.place_lines import TURNS, state_colour
from rushhour.viewer.places import movements
from rushhour.viewer.themes import DARK, Theme

SPAN: Final = 130  # pixels of a cycle, times the scale
MOST_ROWS: Final = 14
LETTERS: Final = 24


def programs_of(network: Network, intersection: int) -> list[int]:
    """The signal programs that an intersection's movements belong to."""
    signal = network.arrays.connectors.signal
    return sorted({int(signal[k]) for k in movements(network, intersection)} - {-1})


def phase_shown(
    network: Network, program: int, lights: NDArray[np.uint8], time: float
) -> tuple[int, float | None]:
    """The phase that a program shows, -1 if none of its plan; and its place in the cycle, s.

    The place is known where the clock says the phase that is shown; else it is None.
    """
    signals, connectors = network.arrays.signals, network.arrays.connectors
    states = _states(network, program)
    mine = np.flatnonzero(connectors.signal == program)
    matches = np.flatnonzero((states[:, connectors.link[mine]] == lights[mine]).all(axis=1))
    if network.actuation.control[program] == FIXED:
        at = float(np.mod(time - signals.offset[program], signals.cycle[program]))
        ends = _ends(network, program)
        phase = min(int(np.searchsorted(ends, at, side="right")), len(ends) - 1)
        if phase in matches:
            return phase, at
    return (int(matches[0]), None) if matches.size else (-1, None)


def _states(network: Network, program: int) -> NDArray[np.uint8]:
    """What each phase shows each link, (phases, links)."""
    signals = network.arrays.signals
    phases = int(signals.phase_start[program + 1] - signals.phase_start[program])
    links, first = int(signals.links[program]), int(signals.state_start[program])
    return signals.state[first : first + phases * links].reshape(phases, links)


def _ends(network: Network, program: int) -> NDArray[np.float64]:
    signals = network.arrays.signals
    return signals.phase_end[signals.phase_start[program] : signals.phase_start[program + 1]]


def _groups(network: Network, program: int) -> list[tuple[str, int]]:
    """Movements that are always shown the same: their name, and the link of one of them."""
    connectors, states = network.arrays.connectors, _states(network, program)
    found: dict[bytes, tuple[str, int, int]] = {}
    for k in np.flatnonzero(connectors.signal == program).tolist():
        link = int(connectors.link[k])
        key = states[:, link].tobytes()
        if key in found:
            name, first, count = found[key]
            found[key] = (name, first, count + 1)
        else:
            lane = network.lane_ids[int(connectors.from_lane[k])]
            found[key] = (f"{cut(lane, 12)} {TURNS[int(connectors.turn[k])]}", link, 1)
    return [
        (cut(name + (f" +{count - 1}" if count > 1 else ""), LETTERS), link)
        for name, link, count in found.values()
    ]


def plan_image(
    network: Network, program: int, lights: NDArray[np.uint8], time: float, scale: int,
    theme: Theme = DARK,
) -> NDArray[np.uint8]:  # fmt: skip
    """A row for each group of movements, the cycle from left to right, a line at what is shown now."""
    phase, at = phase_shown(network, program, lights, time)
    ends = _ends(network, program)
    count = f"phase {phase + 1} of {len(ends)}" if phase >= 0 else "no phase of its plan"
    if at is not None:
        count += f", {float(ends[phase]) - at:.0f} s left"
    title = f"{cut(network.signal_ids[program], 18)}: {count}"
    return _drawn(
        _Known(network), program, title, phase, None if at is None else round(at, 1), scale, theme
    )


class _Known:
    """A network as a key: the same object is the same."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def __hash__(self) -> int:
        return id(self.network)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and other.network is self.network


@lru_cache(maxsize=8)
def _drawn(
    known: _Known, program: int, title: str, phase: int, at: float | None, scale: int, theme: Theme
) -> NDArray[np.uint8]:
    network = known.network
    rows = _groups(network, program)
    ends, states = _ends(network, program), _states(network, program)
    edge, high, span = EDGE * scale, ROW * scale, SPAN * scale
    shown = rows[:MOST_ROWS]
    names = max((text_width(name, scale) for name, _ in shown), default=0) + 4 * scale
    width = max(names + span + 2 * edge, text_size((line(title),), scale)[0])
    more = len(rows) > len(shown)
    image = glass(width, high * (len(shown) + 1 + more) + 2 * edge, theme)
    write_text(image, title, edge, edge, theme.ink, scale)
    cuts = np.round(np.concatenate(([0.0], ends)) / max(float(ends[-1]), 1e-9) * span).astype(int)
    left = edge + names
    for row, (name, link) in enumerate(shown):
        y = edge + high * (row + 1)
        write_text(image, name, edge, y, theme.faint, scale)
        for k in range(len(ends)):
            if states[k, link] != OFF:
                bar = image[y + scale : y + 7 * scale, left + cuts[k] : left + cuts[k + 1]]
                bar[...] = (*colour_of(state_colour(int(states[k, link])), theme), 255)
    if more:
        y = edge + high * (len(shown) + 1)
        write_text(image, f"and {len(rows) - len(shown)} more", edge, y, theme.faint, scale)
    if phase >= 0:
        top, bottom = edge + high, edge + high * (len(shown) + 1)
        x = left + (
            int(cuts[phase] + cuts[phase + 1]) // 2
            if at is None
            else round(at / max(float(ends[-1]), 1e-9) * span)
        )
        image[top - scale : bottom, max(0, x - scale // 2) : x + max(1, scale // 2)] = (
            *theme.ink, 255,
        )  # fmt: skip
    return image
