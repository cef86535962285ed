"""Opening a network by the name of its file."""

import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rushhour.roadnets.drafts.draft import Draft
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.graphs.tables import GRAPH_NAMES, is_graph, is_graph_folder
from rushhour.roadnets.model import Network
from rushhour.roadnets.reading.collecting import without_collection
from rushhour.roadnets.reading.csv_tables import table_path

if TYPE_CHECKING:
    from rushhour.roadnets.osm.network import OsmOptions

READABLE: Final = (
    ".osm[.gz|.pbf], .graphml, .gpkg, .net.xml[.gz], .sumocfg, .json[.gz], .h5 or a GMNS folder"
)
OSM_NAMES: Final = (".osm", ".osm.gz", ".osm.bz2", ".pbf")
GMNS_TABLES: Final = ("node.csv", "node.csv.gz", "link.csv", "link.csv.gz")
LARGEST_CONFIGURATION: Final = 1 << 20  # bytes of a .sumocfg


def load_network(path: str | Path) -> Network:
    """Read a network by the name of its file.

    OpenStreetMap: .osm, .osm.gz, .osm.bz2, .osm.pbf (by the defaults of osm.network.OsmOptions).
    Graphs of osmnx: .graphml, .gpkg, a folder with nodes.csv and edges.csv (by the same rules).
    SUMO's: .net.xml, .net.xml.gz, the net-file of a .sumocfg. CityFlow's: a road network in .json
    or .json.gz, the roadnetFile of a config.json. Our own: .h5.

    Raises NetworkError if the file is missing, empty or of a kind that cannot be read.

    >>> load_network("nowhere.net.xml")
    Traceback (most recent call last):
    rushhour.roadnets.errors.NetworkError: nowhere.net.xml: no such file; ...
    """
    path = Path(path)
    if path.name.lower().endswith((".h5", ".hdf5")) and not path.is_dir():
        from rushhour.roadnets.storage import load

        _refuse_unreadable(path)
        return load(path)
    from rushhour.roadnets.signals.safe_programs import finish_draft

    return finish_draft(read_draft(path))


@without_collection()
def read_draft(path: Path, osm: "OsmOptions | None" = None, programs: Sequence[Path] = ()) -> Draft:
    """Read a map, of any kind but .h5, as a draft.

    osm: how an OpenStreetMap file is read. programs: SUMO files whose signal programs replace those
    of a SUMO network. Raises NetworkError as `load_network`.
    """
    _refuse_unreadable(path)
    if is_graph(path):
        from rushhour.roadnets.osm.network import read_osm_draft

        return read_osm_draft(path, osm)
    if is_gmns(path):
        from rushhour.roadnets.gmns.network import read_gmns_draft

        return read_gmns_draft(path if path.is_dir() else path.parent)
    name = path.name.lower()
    if name.endswith(".sumocfg"):
        return read_draft(_net_file(path), osm, programs)
    if name.endswith(OSM_NAMES):
        from rushhour.roadnets.osm.network import read_osm_draft

        return read_osm_draft(path, osm)
    if name.endswith((".json", ".json.gz")):
        from rushhour.roadnets.cityflow import network as cityflow

        return cityflow.read_network_draft(path)
    from rushhour.roadnets.sumo.network import read_network_draft

    return read_network_draft(path, programs)


def _refuse_unreadable(path: Path) -> None:
    """Raise NetworkError for a path that is no file of a kind that can be read, or is empty."""
    if not path.exists():
        raise NetworkError(f"{path}: no such file; give a {READABLE} file")
    if is_gmns(path) or is_graph_folder(path):
        return
    if path.is_dir():
        missing = [name for name in ("node", "link") if not table_path(path, name)]
        if len(missing) == 1:
            raise NetworkError(f"{path}: a GMNS folder without {missing[0]}.csv; add that table")
        raise NetworkError(f"{path}: a folder; give a {READABLE} file")
    name = path.name.lower()
    if not name.endswith(
        (
            ".net.xml",
            ".net.xml.gz",
            ".sumocfg",
            ".json",
            ".json.gz",
            ".h5",
            ".hdf5",
            *OSM_NAMES,
            *GRAPH_NAMES,
        )
    ):
        raise NetworkError(f"{path}: unknown kind of network; give a {READABLE} file")
    try:
        empty = not _first_byte(path)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise NetworkError(f"{path}: cannot be read ({reason}); give a {READABLE} file") from None
    if empty:
        raise NetworkError(f"{path}: empty; give a {READABLE} file")


def is_gmns(path: Path) -> bool:
    """Whether a path is a GMNS folder or one of its two tables, node.csv and link.csv."""
    if path.is_dir():
        return all(table_path(path, name) for name in ("node", "link"))
    return path.name.lower() in GMNS_TABLES


def _first_byte(path: Path) -> bytes:
    if path.name.lower().endswith(".gz"):
        with gzip.open(path) as file:
            return file.read(1)
    with path.open("rb") as file:
        return file.read(1)


def _net_file(path: Path) -> Path:
    """The network that a SUMO configuration names, relative to its own folder."""
    from xml.parsers import expat

    found: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag in ("net-file", "net", "n") and attributes.get("value"):
            found.append(attributes["value"])

    def entity(*_: object) -> None:
        raise NetworkError(f"{path}: declares entities, which are not read; remove its DOCTYPE")

    if path.stat().st_size > LARGEST_CONFIGURATION:
        raise NetworkError(f"{path}: larger than a configuration can be; give a {READABLE} file")
    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(path.read_bytes(), True)
    except expat.ExpatError as error:
        raise NetworkError(f"{path}: not XML ({error}); give a {READABLE} file") from None
    if not found:
        raise NetworkError(f"{path}: names no net-file; add one or give the network itself")
    net = path.parent / found[0]
    if net.suffix.lower() == ".sumocfg":
        raise NetworkError(f"{path}: its net-file {found[0]!r} is no network; name a .net.xml file")
    return net
