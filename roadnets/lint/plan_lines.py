"""A signal's plan as a line of a file of fixes, to be pasted and changed."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import GREEN, GREEN_YIELD
from rushhour.roadnets.drafts.fixed_plans import INTO
from rushhour.roadnets.fixes import LONGEST_CYCLE, fix_line
from rushhour.roadnets.model import Network
from rushhour.roadnets.signals.greens import greens_of, letters_of, members_of, phase_times


def plan_line(network: Network, program: int, cycle: float) -> str:
    """The line that gives a program a cycle, its greens as they are; "" where none can be written.

    cycle: s, of which the greens have as much as their times now say.
    """
    letters = letters_of(network.arrays.signals, program)
    times = phase_times(network.arrays.signals, program)
    members = members_of(network.arrays)[program]
    phases = []
    for phase in greens_of(letters):
        names = list(_shown(network, members, letters[phase]))
        if not names or not all(name.isprintable() and '"' not in name for name in names):
            return ""
        phases.append(f'[{times[phase]:g}, "{" ".join(names)}"]')
    if not phases or cycle > LONGEST_CYCLE:
        return ""
    offset = float(network.arrays.signals.offset[program]) % cycle
    value = f"{{ cycle = {cycle:g}, offset = {offset:g}, phases = [{', '.join(phases)}] }}"
    return fix_line("plan", [network.signal_ids[program]], value)


def _shown(
    network: Network, members: NDArray[np.intp], letters: NDArray[np.uint8]
) -> Iterator[str]:
    """Roads and movements that have green in a phase; of blanks or the sign between, a name no fix has."""
    links, lane_road = network.arrays.connectors, network.arrays.lanes.road
    ways: dict[int, dict[int, bool]] = {}  # road -> road -> whether all of it is green
    for k in members.tolist():
        a, b = (int(lane_road[lane[k]]) for lane in (links.from_lane, links.to_lane))
        green = letters[links.link[k]] in (GREEN, GREEN_YIELD)
        ways.setdefault(a, {})[b] = ways.get(a, {}).get(b, True) and green
    for a, onto in sorted(ways.items()):
        if all(onto.values()):
            yield _plain(network.road_ids[a])
            continue
        for b, green in sorted(onto.items()):
            if green:
                yield f"{_plain(network.road_ids[a])}{INTO}{_plain(network.road_ids[b])}"


def _plain(name: str) -> str:
    return name if " " not in name and INTO not in name else "\0"
