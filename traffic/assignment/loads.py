"""How full ways make roads, as far as a network tells before anybody has driven there.

What a lane passes: 1,800 veh/h for the share of time in which its lights let it go (HCM 7, chapter 19, rounded down);
what nobody has seen full passes 720 where it yields or stops (`switching.PASSED`). Of the ways that leave a lane the
best counts.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import RED, YELLOW
from rushhour.roadnets.model import Network
from rushhour.traffic.assignment.switching import PASSED

Floats = NDArray[np.float64]

SATURATION: Final = 1800.0  # veh/h of a lane that nothing stops


def passed_by_roads(network: Network) -> Floats:
    """Vehicles an hour that each road passes at its end, (n_roads,)."""
    net, n_lanes = network.arrays, network.n_road_lanes
    links = net.connectors
    yields = (links.signal < 0) & ((links.rank > 0) | links.must_stop)
    passed = np.where(yields, PASSED, SATURATION * _green(network))
    lane = np.full(n_lanes, SATURATION)
    leads_on = np.unique(links.from_lane)
    lane[leads_on] = 0.0
    np.maximum.at(lane, links.from_lane, passed)
    found = np.bincount(net.lanes.road[:n_lanes], lane, network.n_roads)
    return np.asarray(found, np.float64)


def _green(network: Network) -> Floats:
    """Share of its cycle in which each connector's light lets somebody go, (n_connectors,); 1 without one."""
    links, signals = network.arrays.connectors, network.arrays.signals
    share = np.ones(links.link.size)
    for program in range(signals.cycle.size):
        first, last = signals.phase_start[program : program + 2]
        lasts = np.diff(np.concatenate(([0.0], signals.phase_end[first:last])))
        mine = np.flatnonzero((links.signal == program) & (links.link >= 0))
        place = signals.state_start[program] + signals.links[program] * np.arange(last - first)
        state = signals.state[place[:, None] + links.link[mine][None]]
        goes = (state != RED) & (state != YELLOW)
        share[mine] = (lasts @ goes) / lasts.sum()
    return share


def fullest(network: Network, roads: NDArray[np.int32], entered: Floats, span: float) -> float:
    """The largest load of a road in an interval, over what it passes. entered: s, when each of `roads` is driven into."""
    if not roads.size:
        return 0.0
    row = np.floor((entered - entered.min()) / span).astype(np.int64)
    n = network.n_roads
    came = np.bincount(row * n + roads, minlength=(int(row.max()) + 1) * n).reshape(-1, n)
    passed = np.maximum(passed_by_roads(network), 1.0) * span / 3600.0
    return float((came / passed[None]).max())
