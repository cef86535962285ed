"""Graphs as two tables: nodes.csv and edges.csv, as people write the GeoDataFrames of osmnx."""

from pathlib import Path
from typing import Final

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.graphs.records import ENDS, Graph
from rushhour.roadnets.reading.csv_tables import CsvTable, header_of, read_table, table_path

GRAPH_NAMES: Final = (".graphml", ".graphml.gz", ".gpkg")  # of files that are graphs
NODES: Final = ("nodes", "node")  # names of the tables
EDGES: Final = ("edges", "edge", "links", "link")
IDS: Final = ("osmid", "node_id", "id", "node", "")  # of a node; "": an index without a name


def is_graph(path: Path) -> bool:
    """Whether a path is a street graph of osmnx or NetworkX, by its name or the tables there."""
    return path.name.lower().endswith(GRAPH_NAMES) or is_graph_folder(path)


def is_graph_folder(path: Path) -> bool:
    """Whether a path is a folder with the tables of a graph, or one of these tables."""
    if path.is_dir():
        return graph_tables(path) is not None
    name, _, ending = path.name.lower().partition(".")
    table = ending in ("csv", "csv.gz") and name in NODES + EDGES
    return table and path.is_file() and graph_tables(path.parent) is not None


def graph_tables(folder: Path) -> tuple[Path, Path] | None:
    """The tables of nodes and of edges in a folder; None if it holds no graph."""
    found = [
        next((path for name in names if (path := table_path(folder, name))), None)
        for names in (NODES, EDGES)
    ]
    nodes, edges = found
    if nodes is None or edges is None:
        return None
    columns = set(header_of(edges))
    return (nodes, edges) if any(columns.issuperset(pair) for pair in ENDS) else None


def read_tables(folder: Path) -> Graph:
    """Read such a folder. Raises NetworkError, one line with file and line."""
    paths = graph_tables(folder)
    if paths is None:
        raise NetworkError(f"{folder}: no nodes.csv and edges.csv with columns u and v; add them")
    nodes, edges = read_table(paths[0]), read_table(paths[1])
    graph = Graph(folder)
    ids = nodes.needed(*IDS)
    for row, tags in enumerate(_tags(nodes)):
        graph.add_node(
            _plain(ids[row]),
            {key: text for key, text in tags.items() if key not in IDS},
            tags.get("geometry", ""),
            nodes.where(row),
        )
    start, end = next(pair for pair in ENDS if edges.column(pair[0]) and edges.column(pair[1]))
    for row, tags in enumerate(_tags(edges)):
        u, v = _plain(tags.pop(start)), _plain(tags.pop(end))
        graph.add_edge(u, v, tags, tags.get("geometry", ""), edges.where(row))
    crs = edges.column("crs") or nodes.column("crs")
    graph.crs = next((text for text in crs or () if text), "")
    return graph.finish()


def _plain(text: str) -> str:
    """An id without the .0 that it gets in a column of floats."""
    return text[:-2] if text.endswith(".0") and text[:-2].lstrip("-").isdigit() else text


def _tags(table: CsvTable) -> list[dict[str, str]]:
    """The row of each line by column."""
    names = list(table.columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*table.columns.values(), strict=True)]
