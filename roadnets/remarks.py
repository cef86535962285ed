"""Remarks of a reader: what it mended, skipped or doubted, counted by kind with a few examples."""

from typing import Final

from rushhour.roadnets.draft import Draft

MOST_EXAMPLES: Final = 5
LONGEST_EXAMPLE: Final = 120  # characters


class Remarks:
    """Collects remarks; `lines` gives one line per kind, in the order of first occurrence."""

    def __init__(self) -> None:
        self._kinds: dict[str, list[str]] = {}
        self._counts: dict[str, int] = {}

    def add(self, kind: str, example: str = "", count: int = 1) -> None:
        """Count one more of a kind; keep the example if there are few yet."""
        if count <= 0:
            return
        self._counts[kind] = self._counts.get(kind, 0) + count
        examples = self._kinds.setdefault(kind, [])
        if example and len(examples) < MOST_EXAMPLES:
            shown = example[:LONGEST_EXAMPLE]
            examples.append(shown if shown.isprintable() else repr(shown))  # a remark is one line

    def count(self, kind: str) -> int:
        """How often a kind has occurred."""
        return self._counts.get(kind, 0)

    def lines(self) -> list[str]:
        """One line per kind: the kind, how often, at most five examples."""
        found = []
        for kind, examples in self._kinds.items():
            line = f"{kind}: {self._counts[kind]}"
            if examples:
                more = ", ..." if self._counts[kind] > len(examples) else ""
                line += f" ({', '.join(examples)}{more})"
            found.append(line)
        return found


def remark_lane_drops(draft: Draft, remarks: Remarks) -> None:
    """Name the lanes that end while their road goes on; vehicles must leave them before."""
    left = {(c.from_road, c.from_lane) for c in draft.connectors}
    for road in draft.roads:
        ends = [lane for k, lane in enumerate(road.lanes) if (road.id, k) not in left]
        if len(ends) < len(road.lanes):
            for lane in ends:
                remarks.add("L15 lanes that end while their road goes on", lane.id)
