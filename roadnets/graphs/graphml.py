"""GraphML as osmnx (`ox.save_graphml`) and NetworkX (`nx.write_graphml`) write it.

Read element by element with bounds (reading.xml_files), nothing of it is believed.
Source: http://graphml.graphdrawing.org/primer/graphml-primer.html.
"""

from pathlib import Path
from typing import Final

from rushhour.roadnets.errors import NetworkError, RushhourError
from rushhour.roadnets.graphs.records import LONGEST_LINE, Graph
from rushhour.roadnets.reading.xml_files import elements

MOST_KEYS: Final = 1000  # attributes that a file declares
MOST_NODES: Final = 20_000_000


def read_graphml(path: Path) -> Graph:
    """Read a .graphml file. Raises NetworkError, one line with file and line."""
    try:
        return _Reader(path).read().finish()
    except NetworkError:
        raise
    except RushhourError as error:  # of elements
        raise NetworkError(str(error)) from None


class _Reader:
    """Walks through a file once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.graph = Graph(path)
        self.names: dict[str, tuple[str, str]] = {}  # key -> what for, name of the attribute
        self.defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}, "graph": {}}
        self.about: dict[str, str] = {}  # attributes of the graph
        self.own: list[bool] = []  # of edges that say it, whether they are directed

    def read(self) -> Graph:
        graph, graphs = self.graph, 0
        item: tuple[str, dict[str, str], int] | None = None  # the node or edge around
        tags: dict[str, str] = {}
        key, text, size = "", [], 0
        for kind, raw, attributes, line in elements(self.path, texts=True):
            tag, where = raw.rpartition(":")[2], f"{self.path}:{line}"
            if kind == "text":
                if key:
                    size += len(raw)
                    if size > LONGEST_LINE:
                        raise NetworkError(
                            f"{where}: a value of more than {LONGEST_LINE >> 20} MB; mend it"
                        )
                    text.append(raw)
            elif kind == "start" and tag == "graph":
                graphs += 1
                if graphs > 1:
                    raise NetworkError(f"{where}: a second graph; give a file with one")
                graph.directed = attributes.get("edgedefault", "directed") != "undirected"
            elif kind == "start" and tag == "hyperedge":
                raise NetworkError(f"{where}: a hyperedge; a street joins two nodes")
            elif kind == "start" and tag == "key":
                self._declare(attributes, where)
                key, text, size = "default:" + attributes.get("id", ""), [], 0
            elif kind == "start" and tag in ("node", "edge"):
                item, tags = (tag, attributes, line), dict(self.defaults[tag])
            elif kind == "start" and tag == "data":
                key, text, size = attributes.get("key", ""), [], 0
                if key not in self.names:
                    raise NetworkError(f"{where}: data of a key {key[:40]!r} that is not declared")
            elif kind == "end" and tag == "data":
                _, name = self.names[key]
                (tags if item else self.about)[name] = "".join(text).strip()
                key = ""
            elif kind == "end" and tag == "default":
                _, _, name = key.partition(":")
                what, attribute = self.names[name]
                for one in self.defaults if what == "all" else (what,):
                    self.defaults.setdefault(one, {})[attribute] = "".join(text).strip()
            elif kind == "end" and tag == "key":
                key = ""
            elif kind == "end" and item is not None and tag == item[0]:
                self._add(item, tags)
                item = None
        if graphs == 0:
            raise NetworkError(f"{self.path}: no <graph> in it; give a GraphML file")
        if self.own and not all(self.own):
            graph.directed = False
        graph.crs = self.about.get("crs", self.defaults["graph"].get("crs", ""))
        return graph

    def _declare(self, attributes: dict[str, str], where: str) -> None:
        name = attributes.get("id", "")
        if not name or name in self.names or len(self.names) >= MOST_KEYS:
            raise NetworkError(
                f"{where}: key {name[:40]!r} without an id, twice, or one of more than {MOST_KEYS}"
            )
        self.names[name] = attributes.get("for", "all"), attributes.get("attr.name", name)

    def _add(self, item: tuple[str, dict[str, str], int], tags: dict[str, str]) -> None:
        kind, attributes, line = item
        where = f"{self.path}:{line}"
        if kind == "node":
            if len(self.graph.nodes) >= MOST_NODES:
                raise NetworkError(f"{where}: more than {MOST_NODES} nodes; give a part of it")
            self.graph.add_node(attributes.get("id", ""), tags, tags.get("geometry", ""), where)
            return
        if "directed" in attributes:
            self.own.append(attributes["directed"] == "true")
        start, end = attributes.get("source", ""), attributes.get("target", "")
        self.graph.add_edge(start, end, tags, tags.get("geometry", ""), where)
