"""Street graphs for tests, written by osmnx from an .osm document, in every form that is read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final


def _folder(graph: Any, path: Path) -> Path:
    import osmnx

    path.mkdir()
    for table, name in zip(osmnx.graph_to_gdfs(graph), ("nodes", "edges"), strict=True):
        table.to_csv(path / f"{name}.csv")
    return path


def _graphml(graph: Any, path: Path) -> Path:
    import osmnx

    osmnx.save_graphml(graph, path.with_suffix(".graphml"))
    return path.with_suffix(".graphml")


def _package(graph: Any, path: Path, directed: bool) -> Path:
    import osmnx

    osmnx.save_graph_geopackage(graph, path.with_suffix(".gpkg"), directed=directed)
    return path.with_suffix(".gpkg")


def _projected(graph: Any, path: Path) -> Path:
    import osmnx

    return _graphml(osmnx.project_graph(graph), path)


def _undirected(graph: Any, path: Path) -> Path:
    import osmnx

    return _graphml(osmnx.convert.to_undirected(graph), path)


FORMS: Final[dict[str, Callable[[Any, Path], Path]]] = {
    "graphml": _graphml,
    "undirected graphml": _undirected,
    "projected graphml": _projected,
    "geopackage": lambda graph, path: _package(graph, path, False),
    "directed geopackage": lambda graph, path: _package(graph, path, True),
    "projected geopackage": lambda graph, path: _package(
        __import__("osmnx").project_graph(graph), path, False
    ),
    "csv": _folder,
}


def graph_of(osm: Path, simplify: bool = True) -> Any:
    """osmnx's graph of an .osm file, with the tags of lanes by direction as well."""
    import osmnx

    kept = list(osmnx.settings.useful_tags_way)
    try:
        osmnx.settings.useful_tags_way = [*kept, "lanes:forward", "lanes:backward", "turn:lanes"]
        return osmnx.graph_from_xml(osm, simplify=simplify, retain_all=True)
    finally:
        osmnx.settings.useful_tags_way = kept


def window_of(source: Path, box: tuple[float, float, float, float], path: Path) -> Path:
    """The roads of a map that reach into a box (degrees), whole, as an .osm file for osmnx."""
    import osmium

    from rushhour.roadnets.osm.ways.tags import CLASSES

    west, south, east, north = box
    ways, nodes = set(), set()
    every = osmium.FileProcessor(str(source)).with_locations()
    for way in every.with_filter(osmium.filter.KeyFilter("highway")):
        if not way.is_way() or way.tags["highway"] not in CLASSES:
            continue
        at = [node.location for node in way.nodes if node.location.valid()]
        if any(west <= one.lon <= east and south <= one.lat <= north for one in at):
            ways.add(way.id)
            nodes.update(node.ref for node in way.nodes)
    with osmium.SimpleWriter(str(path), overwrite=True) as writer:
        for one in osmium.FileProcessor(str(source)):
            if one.id in (nodes if one.is_node() else ways if one.is_way() else ()):
                writer.add(one)
    return path
