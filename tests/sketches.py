"""Crossings drawn by hand that several tests begin with."""

import rushhour as rh
from rushhour.roadnets.by_hand.builder import BuilderControl
from rushhour.roadnets.model import Network

ARMS = {"e": (1, 0), "n": (0, 1), "w": (-1, 0), "s": (0, -1)}
KERB = 6.0  # m, the default
WIDTH = 3.2  # m, the default


def arms(
    control: BuilderControl = "none",
    forward: int = 1,
    backward: int = 1,
    names: str = "enws",
    **more: float,
) -> rh.NetworkBuilder:
    """Streets of 150 m out of the origin, one to each side; those along x are the major ones."""
    builder = rh.NetworkBuilder("crossing")
    for name in names:
        x, y = ARMS[name]
        builder.add_street(
            [(0, 0), (150 * x, 150 * y)], forward, backward, id=name, priority=abs(x)
        )
    builder.add_intersection(0, 0, control=control, id="c", **more)
    return builder


def movements(network: Network) -> dict[tuple[str, str], int]:
    """Connector of each pair of lanes."""
    links = network.arrays.connectors
    return {
        (network.lane_ids[a], network.lane_ids[b]): k
        for k, (a, b) in enumerate(zip(links.from_lane, links.to_lane, strict=True))
    }


def turns(network: Network) -> dict[tuple[str, str], int]:
    """Turn of each movement between roads."""
    code = network.arrays.connectors.turn
    return {
        (a[: a.rindex("_")], b[: b.rindex("_")]): int(code[k])
        for (a, b), k in movements(network).items()
    }
