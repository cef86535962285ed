"""A small SUMO network for tests of demand, with lanes for some classes only.

a (200 m declared, drawn 100 m; lane 0 on foot, lane 2 not for trucks) -> b -> c (buses), e
a -> d;   walk: on foot only
"""

from collections.abc import Sequence
from pathlib import Path

from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.sumo.demand import read_demand

_LANE = '<lane id="{0}" index="{1}" speed="10" length="{2}" shape="{3}" {4}/>'
_PLACES = {"n0": (0, 0), "n1": (110, 0), "n2": (220, 0), "n3": (330, 0), "n4": (220, 100)}
_EDGES = {
    "a": ("n0", "n1", 200.0, ("allow='pedestrian'", "", "disallow='truck'")),
    "b": ("n1", "n2", 100.0, ("",)),
    "c": ("n2", "n3", 100.0, ("allow='bus'",)),
    "d": ("n1", "n4", 130.0, ("",)),
    "e": ("n2", "n4", 80.0, ("",)),
    "walk": ("n2", "n3", 100.0, ("allow='pedestrian'",)),
}
_CONNECTIONS = (("a", 1, "b"), ("a", 2, "d"), ("b", 0, "c"), ("b", 0, "e"))


def _shape(start: tuple[int, int], end: tuple[int, int], side: float) -> str:
    """From 5 m after the start to 5 m before the end."""
    (x, y), (u, v) = start, end
    length = ((u - x) ** 2 + (v - y) ** 2) ** 0.5
    dx, dy = (u - x) / length, (v - y) / length
    return (
        f"{x + 5 * dx + side * dy:.3f},{y + 5 * dy - side * dx:.3f} "
        f"{u - 5 * dx + side * dy:.3f},{v - 5 * dy - side * dx:.3f}"
    )


def network_text() -> str:
    """The network as a .net.xml file."""
    parts = ['<net version="1.20">']
    incoming: dict[str, list[str]] = {name: [] for name in _PLACES}
    for edge, (start, end, length, lanes) in _EDGES.items():
        parts.append(f'<edge id="{edge}" from="{start}" to="{end}" priority="1">')
        for number, more in enumerate(lanes):
            shape = _shape(_PLACES[start], _PLACES[end], 3.2 * (len(lanes) - 0.5 - number))
            parts.append(_LANE.format(f"{edge}_{number}", number, length, shape, more))
            incoming[end].append(f"{edge}_{number}")
        parts.append("</edge>")
    for name, (x, y) in _PLACES.items():
        parts.append(
            f'<junction id="{name}" type="priority" x="{x}" y="{y}" '
            f'incLanes="{" ".join(incoming[name])}" intLanes=""/>'
        )
    for start, lane, end in _CONNECTIONS:
        parts.append(
            f'<connection from="{start}" to="{end}" fromLane="{lane}" toLane="0" dir="s" state="M"/>'
        )
    return "\n".join([*parts, "</net>"])


def small_network(folder: Path) -> Network:
    """The network, read."""
    path = folder / "small.net.xml"
    path.write_text(network_text())
    return load_network(path)


def demand_of(network: Network, folder: Path, *texts: str, **options: object) -> Demand:
    """Demand of files with these contents, without their root element."""
    paths: Sequence[Path] = [folder / f"{k}.rou.xml" for k in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(f"<routes>\n{text}\n</routes>")
    return read_demand(paths, network, **options)  # type: ignore[arg-type]


def roads_of(network: Network, demand: Demand, trip: int = 0) -> list[str]:
    """Source ids of the roads of a trip."""
    start, stop = demand.route_start[trip : trip + 2]
    return [network.road_ids[road] for road in demand.roads[start:stop]]
