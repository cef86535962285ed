"""movement.csv of GMNS folders: which lanes of which link lead into which, and their control.

Source: the specification, table movement.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.gmns.lanes import LARGEST_NUMBER
from rushhour.roadnets.gmns.records import GmnsTables, Link
from rushhour.roadnets.gmns.uses import for_cars
from rushhour.roadnets.reading.csv_tables import CsvTable, blank, optional_table, refuse_doubles
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.reading.values import whole

RowControl = Literal["", "none", "yield", "stop", "all_way", "signal", "on_red"]
CONTROLS: Final[dict[str, RowControl]] = {
    "no_control": "none", "none": "none", "uncontrolled": "none", "yield": "yield",
    "stop": "stop", "stop_2_way": "stop", "2_stop": "stop", "two_way_stop": "stop",
    "stop_4_way": "all_way", "4_stop": "all_way", "all_way_stop": "all_way",
    "signal": "signal", "signals": "signal", "signal_with_rtor": "on_red",
}  # fmt: skip
TURNS: Final = {
    "left": "L", "right": "R", "uturn": "U", "u_turn": "U", "thru": "T", "through": "T",
    "merge": "T", "diverge": "T",
}  # fmt: skip
PROHIBITED: Final = ("prohibited", "forbidden", "banned", "closed")


@dataclass(frozen=True)
class MovementRow:
    """A row of movement.csv. ib_lanes, ob_lanes: lane numbers from the inside; None: not given."""

    id: str
    ib_link: str
    ob_link: str
    ib_lanes: tuple[int, ...] | None
    ob_lanes: tuple[int, ...] | None
    turn: str  # R, T, L, U; "" by angle
    control: RowControl
    prohibited: bool
    where: str


@dataclass
class MovementTable:
    """Rows by node, and all ids, also of rows that are left out."""

    by_node: dict[str, list[MovementRow]]
    ids: Collection[str]


def read_movements(folder: Path, tables: GmnsTables) -> MovementTable:
    """Read movement.csv; no rows without it.

    Raises NetworkError for ids given twice, nodes and links that do not exist or do not meet, and
    lane numbers out of range.
    """
    table = optional_table(folder, "movement")
    if table is None:
        return MovementTable({}, ())
    refuse_doubles(table, "mvmt_id")
    remarks, links = tables.remarks, {link.id: link for link in tables.links}
    nodes = table.needed("node_id")
    ends = table.needed("ib_link_id"), table.needed("ob_link_id")
    kinds, controls = table.texts("type"), table.texts("ctrl_type")
    uses, shapes = table.texts("allowed_uses"), table.texts("geometry")
    by_node: dict[str, list[MovementRow]] = {}
    ids = table.needed("mvmt_id")
    for row, name in enumerate(ids):
        where = f"{table.where(row)}: movement {name[:40]!r}"
        node = nodes[row]
        if node not in tables.nodes:
            raise NetworkError(f"{where}: unknown node {node[:40]!r}; add it to node.csv")
        closed = False
        for texts, inbound in zip(ends, (True, False), strict=True):
            closed |= _is_left_out(tables, links, texts[row], inbound, node, where)
        if closed:
            remarks.add("movements of links that are no roads left out", name)
            continue
        if not blank(uses[row]) and not for_cars(uses[row]):
            remarks.add("movements closed to cars left out", name)
            continue
        if not blank(shapes[row]):
            remarks.add("lines of movements not used", name)
        kind, control = _key(kinds[row]), _key(controls[row])
        prohibited = kind in PROHIBITED or control in PROHIBITED
        by_node.setdefault(node, []).append(
            MovementRow(
                name,
                ends[0][row],
                ends[1][row],
                _lanes(table, row, "ib", where),
                _lanes(table, row, "ob", where),
                "" if prohibited else _known(kind, TURNS, "types", name, remarks),
                "" if prohibited else _control(control, name, remarks),
                prohibited,
                where,
            )
        )
    table.remark_unused(
        {"mvmt_id", "node_id", "name", "ib_link_id", "start_ib_lane", "end_ib_lane", "ob_link_id",
         "start_ob_lane", "end_ob_lane", "type", "ctrl_type", "mvmt_code", "allowed_uses",
         "geometry"}, remarks,
    )  # fmt: skip
    return MovementTable(by_node, frozenset(ids))


def _key(text: str) -> str:
    return "" if blank(text) else re.sub(r"[\s-]+", "_", text.lower())


def _known(text: str, words: dict[str, str], what: str, name: str, remarks: Remarks) -> str:
    if text and text not in words:
        remarks.add(f"{what} of movements not known", f"{name} {text}")
    return words.get(text, "")


def _control(text: str, name: str, remarks: Remarks) -> RowControl:
    if text and text not in CONTROLS:
        remarks.add("controls of movements not known", f"{name} {text}")
    return CONTROLS.get(text, "")


def _is_left_out(
    tables: GmnsTables, links: dict[str, Link], name: str, inbound: bool, node: str, where: str
) -> bool:
    """Whether a link is no road. Raises NetworkError if it does not exist or is not at the node."""
    if name in tables.closed:
        return True
    link = links.get(name)
    if link is None:
        raise NetworkError(f"{where}: unknown link {name[:40]!r}; add it to link.csv")
    at = {link.end if inbound else link.start}
    if link.two_way:
        at = {link.start, link.end}
    if node not in at:
        does = "end" if inbound else "start"
        raise NetworkError(
            f"{where}: link {name[:40]!r} does not {does} at node {node[:40]!r}; correct either"
        )
    return link.connector


def _lanes(table: CsvTable, row: int, side: str, where: str) -> tuple[int, ...] | None:
    """Numbers from start to end; a range over 0 passes it by, as no lane has it."""
    found = []
    for end in ("start", "end"):
        column = f"{end}_{side}_lane"
        text = table.texts(column)[row]
        if not blank(text):
            found.append(whole(text, where, column, -LARGEST_NUMBER, LARGEST_NUMBER))
    if not found:
        return None
    return tuple(n for n in range(min(found), max(found) + 1) if n)
