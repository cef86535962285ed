"""Opening a network by the name of its file."""

import gzip
import zlib
from pathlib import Path
from typing import Final

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.gmns_tables import table_path
from rushhour.roadnets.model import Network

READABLE: Final = ".osm[.gz|.pbf], .net.xml[.gz], .sumocfg, .json[.gz], .h5 or a GMNS folder"
OSM_NAMES: Final = (".osm", ".osm.gz", ".osm.bz2", ".pbf")
GMNS_TABLES: Final = ("node.csv", "node.csv.gz", "link.csv", "link.csv.gz")
LARGEST_CONFIGURATION: Final = 1 << 20  # bytes of a .sumocfg


def load_network(path: str | Path) -> Network:
    """Read a network by the name of its file.

    OpenStreetMap: .osm, .osm.gz, .osm.bz2, .osm.pbf (by the defaults of openstreetmap.OsmOptions).
    SUMO's: .net.xml, .net.xml.gz, the net-file of a .sumocfg. CityFlow's: a road network in .json
    or .json.gz, the roadnetFile of a config.json. Our own: .h5.

    Raises NetworkError if the file is missing, empty or of a kind that cannot be read.

    >>> load_network("nowhere.net.xml")
    Traceback (most recent call last):
    rushhour.roadnets.errors.NetworkError: nowhere.net.xml: no such file; ...
    """
    path = Path(path)
    if not path.exists():
        raise NetworkError(f"{path}: no such file; give a {READABLE} file")
    if is_gmns(path):
        from rushhour.roadnets.build import finish
        from rushhour.roadnets.gmns_network import read_gmns_draft

        return finish(read_gmns_draft(path if path.is_dir() else path.parent))
    if path.is_dir():
        raise NetworkError(f"{path}: a folder; give a {READABLE} file")
    name = path.name.lower()
    if not name.endswith(
        (".net.xml", ".net.xml.gz", ".sumocfg", ".json", ".json.gz", ".h5", ".hdf5", *OSM_NAMES)
    ):
        raise NetworkError(f"{path}: unknown kind of network; give a {READABLE} file")
    try:
        empty = not _first_byte(path)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise NetworkError(f"{path}: cannot be read ({reason}); give a {READABLE} file") from None
    if empty:
        raise NetworkError(f"{path}: empty; give a {READABLE} file")
    if name.endswith((".h5", ".hdf5")):
        from rushhour.roadnets.storage import load

        return load(path)
    if name.endswith(".sumocfg"):
        return load_network(_net_file(path))
    from rushhour.roadnets.build import finish

    if name.endswith(OSM_NAMES):
        from rushhour.roadnets.openstreetmap import read_osm_draft

        return finish(read_osm_draft(path))
    if name.endswith((".json", ".json.gz")):
        from rushhour.roadnets import cityflow_network

        return finish(cityflow_network.read_network_draft(path))
    from rushhour.roadnets.sumo_network import read_network_draft

    return finish(read_network_draft(path))


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
