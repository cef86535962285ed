"""GMNS tables for tests: a T of four nodes in metres, and a way to write them."""

from pathlib import Path

from rushhour.roadnets.model import Network

NODES = """node_id,x_coord,y_coord,zone_id,ctrl_type
a,1000,500,1,
b,1300,500,2,
c,1600,500,3,
d,1300,300,4,
"""

# a - b - c: two lanes each way as twins; b - d: undirected, one lane; km/h by the lengths.
LINKS = """link_id,from_node_id,to_node_id,directed,length,free_speed,lanes
ab,a,b,1,300,72,2
ba,b,a,1,300,72,2
bc,b,c,1,300,72,2
cb,c,b,1,300,36,2
bd,b,d,0,200,36,1
"""


def written(folder: Path, nodes: str = NODES, links: str = LINKS, **more: str) -> Path:
    """A folder with these tables; more: the text of further ones by name."""
    folder.mkdir(exist_ok=True)
    for name, text in {"node": nodes, "link": links, **more}.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder


def replaced(text: str, old: str, new: str) -> str:
    """The text with one thing changed, which must be in it."""
    assert old in text
    return text.replace(old, new, 1)


def sources(network: Network, check: str) -> list[tuple[str, ...]]:
    """Ids of the findings of a check."""
    return [one.source for one in network.findings if one.check == check]


def remark(network: Network, word: str) -> str:
    """The first remark with a word in it."""
    return next(line for line in network.remarks if word in line)
