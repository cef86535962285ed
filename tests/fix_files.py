"""Maps with files of fixes, for tests."""

from pathlib import Path

from osm_texts import Nodes, street

from rushhour.roadnets.drafts.draft import Draft
from rushhour.roadnets.fixes import Fixes, read_fixes
from rushhour.roadnets.osm.network import OsmOptions, read_osm_draft

STAGGER: Nodes = {
    1: (-20.0, 0.0), 2: (20.0, 0.0), 3: (-300.0, 0.0), 4: (300.0, 0.0), 5: (-20.0, 300.0),
    6: (20.0, -300.0),
}  # fmt: skip
STAGGER_WAYS = [(10, [3, 1, 2, 4], street()), (11, [5, 1], street()), (12, [2, 6], street())]


def fixes_of(tmp_path: Path, *lines: str) -> Fixes:
    path = tmp_path / "fixes.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return read_fixes(path)


def fixed(tmp_path: Path, where: Path, *lines: str) -> Draft:
    """The draft of a map with fixes."""
    return read_osm_draft(where, OsmOptions(fixes=fixes_of(tmp_path, *lines)))


def turns(draft: Draft) -> set[tuple[str, str]]:
    return {(c.from_road, c.to_road) for c in draft.connectors}


def lanes(draft: Draft) -> dict[str, int]:
    return {road.id: len(road.lanes) for road in draft.roads}
