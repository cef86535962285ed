"""OpenStreetMap files for tests, from a few nodes in metres and ways."""

from pathlib import Path
from xml.sax.saxutils import quoteattr

from rushhour.roadnets.model import Network

DEGREE = 111_319.49  # m, of longitude at the equator
Nodes = dict[int, tuple[float, float]]


def osm_text(
    nodes: Nodes,
    ways: list[tuple[int, list[int], dict[str, str]]],
    node_tags: dict[int, dict[str, str]] | None = None,
    relations: list[tuple[int, list[tuple[str, str, int]], dict[str, str]]] | None = None,
    origin: tuple[float, float] = (0.0, 0.0),
) -> str:
    """An .osm document. nodes: metres from the origin, which is lon, lat (on the equator they are
    metres, elsewhere eastings come out shorter). relations: members (type, role, ref)."""

    def tags(found: dict[str, str]) -> str:
        return "".join(f"<tag k={quoteattr(k)} v={quoteattr(v)}/>" for k, v in found.items())

    lines = ['<osm version="0.6">']
    for ref, (x, y) in nodes.items():
        lon, lat = origin[0] + x / DEGREE, origin[1] + y / DEGREE
        at = f'id="{ref}" version="1" lat="{lat:.9f}" lon="{lon:.9f}"'
        lines.append(f"<node {at}>{tags((node_tags or {}).get(ref, {}))}</node>")
    for ref, members, found in ways:
        inside = "".join(f'<nd ref="{node}"/>' for node in members)
        lines.append(f'<way id="{ref}" version="1">{inside}{tags(found)}</way>')
    for ref, parts, found in relations or []:
        inside = "".join(f'<member type="{t}" role="{r}" ref="{n}"/>' for t, r, n in parts)
        lines.append(f'<relation id="{ref}" version="1">{inside}{tags(found)}</relation>')
    return "\n".join([*lines, "</osm>"])


def write_osm(folder: Path, *parts: object, **more: object) -> Path:
    """Write such a document to a file."""
    path = folder / "map.osm"
    path.write_text(osm_text(*parts, **more))  # type: ignore[arg-type]
    return path


def street(kind: str = "residential", **tags: str) -> dict[str, str]:
    """Tags of a way; __ in a key stands for a colon."""
    return {"highway": kind, **{key.replace("__", ":"): value for key, value in tags.items()}}


# Two streets that cross at node 1, 500 m apart from the others so that its ends are no gates'.
CROSS: Nodes = {
    1: (0.0, 0.0), 2: (300.0, 0.0), 3: (0.0, 300.0), 4: (-300.0, 0.0), 5: (0.0, -300.0),
}  # fmt: skip
CROSS_WAYS = [(10, [4, 1, 2], street()), (11, [3, 1, 5], street())]


def write_pbf(path: Path, text: str, form: str = "pbf") -> None:
    """Write an .osm document in the binary form. form: libosmium's, with its options."""
    import osmium

    plain = path.with_suffix(".osm")
    plain.write_text(text)
    file = osmium.io.File(str(path), form)
    with osmium.SimpleWriter(file, overwrite=True) as writer:
        for found in osmium.FileProcessor(str(plain)):
            writer.add(found)


def turns(network: Network) -> set[tuple[str, str]]:
    """Pairs of roads joined by a connector."""
    lanes, links = network.arrays.lanes, network.arrays.connectors
    return {
        (network.road_ids[lanes.road[a]], network.road_ids[lanes.road[b]])
        for a, b in zip(links.from_lane, links.to_lane, strict=True)
    }


def control(network: Network, name: str) -> int:
    """Control of an intersection."""
    return int(network.arrays.intersections.control[network.intersection_ids.index(name)])
