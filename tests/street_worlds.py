"""Streets with names for tests: a high street that three others cross, and a ring road."""

import rushhour as rh
from rushhour.roadnets.model import Network

BLOCK = 150.0  # m between crossings


def high_street(blocks: int = 4) -> Network:
    """High St in `blocks` blocks, h0 first; A St, B St, ... cross it one block apart, from its first end
    on. Its first block is also called Löwenstraße, all of it is number B 1."""
    builder = rh.NetworkBuilder("high street")
    for k in range(blocks):
        ends = [(BLOCK * k, 0.0), (BLOCK * (k + 1), 0.0)]
        name = "High St;Löwenstraße" if k == 0 else "High St"
        builder.add_street(ends, id=f"h{k}", name=name, ref="B 1")
    for k in range(1, blocks):
        x, name = BLOCK * k, f"{'ABCDEFGH'[k - 1]} St"
        builder.add_street([(x, 0.0), (x, 120.0)], id=f"n{k}", name=name)
        builder.add_street([(x, 0.0), (x, -120.0)], id=f"s{k}", name=name)
    return builder.build()


def ids(network: Network, text: str) -> list[str]:
    """The roads of a name."""
    return sorted(network.roads.id[network.find_roads(text)].tolist())
