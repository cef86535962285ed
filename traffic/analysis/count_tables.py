"""Counts of vehicles by road, or by induction loop, and interval: what counters wrote down (docs/counts.md).

A table has a row for each counter and interval. Counters are called by the road, or by the loop, or by
a place and the direction in which they count.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import DemandError, NetworkError, RushhourError
from rushhour.roadnets.model import Network
from rushhour.roadnets.nearest import local_metres
from rushhour.roadnets.reading.csv_tables import blank, read_table
from rushhour.roadnets.reading.values import FARTHEST, number
from rushhour.roadnets.reading.xml_files import elements
from rushhour.roadnets.street_names import find_roads
from rushhour.traffic.words.durations import clock, seconds
from rushhour.traffic.words.places_named import place_hint, road_named

T = TypeVar("T")

SHOWN_FAULTS, LONGEST_FAULT = 4, 120  # after the first of a table; characters
MOST: Final = 1e9  # vehicles, or vehicles an hour
NEAR: Final = 100.0  # m from a counter to its road
ASIDE: Final = 50.0  # degrees between the direction of a counter and its road's
POINTS: Final = "n north,ne northeast,e east,se southeast,s south,sw southwest,w west,nw northwest"
COMPASS: Final = {  # also as nb, north, northbound
    f"{name}{ending}": 45.0 * k
    for k, names in enumerate(POINTS.split(","))
    for name, endings in zip(names.split(), (("", "b"), ("", "bound")), strict=True)
    for ending in endings
}
ROAD, LOOP = "road", "loop"
ALIASES: Final = {"edge": ROAD, "link": ROAD, "detector": LOOP}
AMOUNTS: Final = ("count", "entered", "flow")  # entered: of the table of roads of another run
EDGE_COUNTS: Final = (
    "count",
    "entered",
    "left",
    "qPKW",
)  # attributes of SUMO's, the first that is there


@dataclass(frozen=True)
class Counts:
    """n rows: what a counter saw in an interval. Arrays (n,)."""

    place: tuple[str, ...]  # ids of roads or loops
    kind: str  # ROAD or LOOP, of all rows
    begin: NDArray[np.float64]  # s
    end: NDArray[np.float64]  # s
    count: NDArray[np.float64]  # vehicles
    remarks: tuple[str, ...] = ()
    where: tuple[str, ...] = ()  # file and line of each; none where that is not known

    def __len__(self) -> int:
        return len(self.place)

    def shown(self, row: int) -> str:
        """A row for people: which counter, when, and where it stands."""
        place = f" ({self.where[row]})" if self.where else ""
        return f"{self.place[row][:60]} {clock(self.begin[row])} - {clock(self.end[row])}{place}"


def read_counts(source: Any, network: Network) -> Counts:
    """Read counts from a .csv or .csv.gz file, SUMO's edgedata (.xml, .xml.gz), a frame or a mapping.

    Columns: `road` (or `edge`; by id, or a street that is one road, or one with `direction`), or `loop` (or `detector`), or
    `lon` and `lat`, or `x` and `y`, with `direction` (degrees from north, or N, NE, ...); `begin`, `end`;
    `count` (or `entered`), vehicles, or `flow`, veh/h. Raises DemandError, naming file and line, for anything else.
    """
    try:
        if isinstance(source, str | Path):
            path = Path(source)
            if path.name.lower().endswith((".xml", ".xml.gz")):
                return _edge_data(path, network)
            table = read_table(path)
            return _of_columns(table.columns, table.where, str(path), network)
        columns = {
            str(name).lower(): [_text(value) for value in source[name]] for name in list(source)
        }
        return _of_columns(columns, lambda row: f"counts: row {row}", "counts", network)
    except NetworkError as error:
        raise DemandError(str(error)) from None


def _text(value: Any) -> str:
    text = "" if value is None else str(value)
    return "" if text in ("nan", "NaT", "<NA>") else text


def _of_columns(
    columns: Mapping[str, list[str]], where: Any, source: str, network: Network
) -> Counts:
    """Counts of a table of texts."""
    named = {ALIASES.get(name, name): values for name, values in columns.items()}
    for name in ("begin", "end"):
        if name not in named:
            raise DemandError(f"{source}: has no column {name}; it has {', '.join(columns)[:120]}")
    amount = next((name for name in AMOUNTS if name in named), None)
    if amount is None:
        raise DemandError(
            f"{source}: has no column count or flow; it has {', '.join(columns)[:120]}"
        )
    rows = [row for row, text in enumerate(named[amount]) if not blank(text)]
    if not rows:
        raise DemandError(f"{source}: holds no counts; give each counter and interval a row")
    faults = _Faults()
    begin, end = (faults.each(rows, named[name], where, _time, name) for name in ("begin", "end"))
    for k, row in enumerate(rows):
        if end[k] <= begin[k]:
            faults.add(row, f"{where(row)}: ends as or before it begins; correct begin and end (midnight is 24:00)")  # fmt: skip
    count = faults.each(rows, named[amount], where, number, amount, 0.0, MOST)
    if amount == "flow":
        count = count * (end - begin) / 3600.0
    remarks: list[str] = []
    if len(rows) < len(named[amount]):
        first = next(row for row, text in enumerate(named[amount]) if blank(text))
        counter = " ".join(filter(None, (named[name][first] for name in WHO if name in named)))[:60]
        remarks.append(
            f"counts without a number are left out: {len(named[amount]) - len(rows)}, the first {counter} ({where(first)})"
        )
    unused = [name for name in named if name not in (*KNOWN, amount)]
    if unused:
        remarks.append(f"columns of the counts that are not used: {', '.join(unused)[:120]}")
    if LOOP in named:
        kind, place = LOOP, tuple(named[LOOP][row] for row in rows)
    elif ROAD in named:
        kind, (place, more) = ROAD, _on_roads(named, rows, where, network, faults)
        remarks += more
    else:
        kind, (place, more) = ROAD, _at_places(named, rows, where, source, network, faults)
        remarks += more
    faults.refuse()
    remarks += _nobody(begin, end, count)
    found = Counts(
        place, kind, begin, end, count, tuple(remarks), tuple(where(row) for row in rows)
    )
    _refuse_doubles(found)
    return found


WHO: Final = (LOOP, ROAD, "lon", "lat", "x", "y", "direction", "begin")  # says which counter, when
KNOWN: Final = (ROAD, LOOP, "begin", "end", "x", "y", "lon", "lat", "direction")


class _Faults:
    """What is wrong with a table, row by row: it is mended at once, not by a call for each row."""

    def __init__(self) -> None:
        self.said: list[tuple[int, str]] = []

    def add(self, row: int, text: str) -> None:
        self.said.append((row, text))

    def asked(self, row: int, otherwise: T, ask: Callable[..., T], *what: Any) -> T:
        """What it gives for these, or where that is refused the other, and a fault of the row."""
        try:
            return ask(*what)
        except RushhourError as error:
            self.add(row, str(error))
            return otherwise

    def each(
        self, rows: list[int], texts: list[str], where: Any, ask: Callable[..., float], *what: Any
    ) -> NDArray[np.float64]:
        """The numbers that the texts of rows are; nan where one is refused."""
        return np.array(
            [self.asked(row, np.nan, ask, texts[row], where(row), *what) for row in rows]
        )

    def refuse(self) -> None:
        """Raise DemandError where anything is wrong: the first fault whole, what the next ones are, and how many."""
        if not self.said:
            return
        first, *others = (text for _, text in sorted(self.said, key=lambda fault: fault[0]))
        more = [text.split("; ")[0][:LONGEST_FAULT] for text in others[:SHOWN_FAULTS]]
        left = len(others) - len(more)
        more += [f"{left} more"] if left else []
        raise DemandError("; also ".join((first, *more)))


def _time(text: str, where: str, name: str) -> float:
    try:
        return seconds(text, name)
    except RushhourError as error:
        raise DemandError(f"{where}: {error}") from None


def _on_roads(
    named: Mapping[str, list[str]], rows: list[int], where: Any, network: Network, faults: _Faults
) -> tuple[tuple[str, ...], list[str]]:
    """Roads of counters given by id or street, and where it is said by direction; remarks which they are then."""
    towards = named.get("direction", [])
    found: dict[tuple[str, str], str] = {}
    remarks: list[str] = []
    place = []
    for row in rows:
        key = named[ROAD][row], towards[row] if towards else ""
        if key not in found:
            if blank(key[1]):
                found[key] = faults.asked(row, "", _road, key[0], where(row), network)
            else:
                found[key] = faults.asked(row, "", _road_towards, *key, where(row), network)
                if found[key] not in ("", key[0]):
                    remarks.append(f"the counter on {key[0]} towards {key[1]} is on road {found[key]}")  # fmt: skip
        place.append(found[key])
    return tuple(place), remarks


def _road_towards(name: str, towards: str, where: str, network: Network) -> str:
    """The id of the road of a name that leads so from its start to its end."""
    one = road_named(network, name)
    try:
        roads = np.array([one]) if one >= 0 else find_roads(network, name)
    except NetworkError as error:
        raise DemandError(f"{where}: {error}") from None
    direction = _degrees(towards, where)
    ends = [network.lane_points(int(k))[[0, -1], :2] for k in network.arrays.roads.first_lane[roads]]  # fmt: skip
    step = np.array([last - first for first, last in ends])
    heading = np.degrees(np.arctan2(step[:, 0], step[:, 1]))
    fits = np.abs((heading - direction + 180.0) % 360.0 - 180.0) <= ASIDE
    lead = roads[fits]
    if lead.size != 1:
        which = fits if lead.size else np.ones(roads.size, np.bool_)
        ids = [network.road_ids[road] for road in roads[which][:12]]
        ways = [_point(float(degrees)) for degrees in heading[which][:12]]
        if roads.size == 1:
            raise DemandError(
                f"{where}: {ids[0]} leads {ways[0]}, not {towards}; correct the direction, or give the road that leads there"
            )
        said = f"{lead.size} roads lead" if lead.size else "no road leads"
        named = ", ".join(f"{id} ({way})" for id, way in zip(ids, ways, strict=True))
        raise DemandError(f"{where}: of {name[:60]!r} {said} {towards}; give one of {named}")
    return network.road_ids[int(lead[0])]


def _road(name: str, where: str, network: Network) -> str:
    """The id of a road, given by it or by the street that it is."""
    road = road_named(network, name)
    if road < 0:
        hint = place_hint(network, name, "road")
        raise DemandError(f"{where}: road {name[:60]!r} is not one of {network.name}; {hint}")
    return network.road_ids[road]


def _refuse_doubles(counts: Counts) -> None:
    """Refuse what a counter saw in intervals that lie over each other."""
    order = np.lexsort((counts.begin, np.array(counts.place, object).astype(str)))
    for one, other in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
        if (
            counts.place[one] == counts.place[other]
            and counts.begin[other] < counts.end[one] - 1e-6
        ):
            raise DemandError(
                f"{counts.where[other]}: {counts.kind} {counts.place[other][:60]!r} is counted twice at "
                f"{clock(counts.begin[other])}; drop one of the rows, or add up classes and lanes"
            )


# --- counters by place ---------------------------------------------------------------------------


def _nobody(
    begin: NDArray[np.float64], end: NDArray[np.float64], count: NDArray[np.float64]
) -> list[str]:
    """A remark on each interval in which several counters saw nobody: mostly nobody counted."""
    found = []
    for low, high in sorted(set(zip(begin.tolist(), end.tolist(), strict=True))):
        of = (begin == low) & (end == high)
        if of.sum() > 1 and count.any() and not count[of].any():
            found.append(
                f"no counter saw anybody from {clock(low)} to {clock(high)}; leave these rows out if nobody counted then"
            )
    return found


def _at_places(
    named: Mapping[str, list[str]],
    rows: list[int],
    where: Any,
    source: str,
    network: Network,
    faults: _Faults,
) -> tuple[tuple[str, ...], list[str]]:
    """Roads of counters given by place and direction, and remarks which they are."""
    pair = next((p for p in (("lon", "lat"), ("x", "y")) if p[0] in named and p[1] in named), None)
    if pair is None:
        raise DemandError(
            f"{source}: wanted a column road, or loop, or lon and lat, or x and y, of the counters; it "
            f"has {', '.join(named)[:120]}"
        )
    if "direction" not in named:
        raise DemandError(
            f"{source}: counters at {pair[0]} and {pair[1]} want the direction that they count, as N or "
            "270; add the column direction"
        )
    known: dict[tuple[str, str, str], str] = {}
    remarks: list[str] = []
    place = []
    finder = _Directed(network)
    for row in rows:
        key = (named[pair[0]][row], named[pair[1]][row], named["direction"][row])
        if key not in known:
            road, away = faults.asked(row, (-1, 0.0), finder.found, key, pair, where(row))
            known[key] = network.road_ids[road] if road >= 0 else ""
            if road < 0:
                continue
            name = network.road_names[road] if network.road_names else ""
            called = f"{known[key]} ({name})" if name else known[key]
            remarks.append(
                f"the counter at {key[0]}, {key[1]} towards {key[2]} is on road {called}, {away:.0f} m away"
            )
        place.append(known[key])
    return tuple(place), remarks


def _point(degrees: float) -> str:
    """The point of the compass that is nearest to a direction, as N."""
    return POINTS.split(",")[round(degrees / 45.0) % 8].split()[0].upper()


def _degrees(text: str, where: str) -> float:
    """A direction, degrees clockwise from north."""
    found = COMPASS.get(text.strip().lower().replace("-", ""))
    if found is not None:
        return found
    try:
        return number(text, where, "direction", -360.0, 360.0)
    except NetworkError as error:
        raise DemandError(f"{error}, or N, NE, E, ..., also as NB or northbound") from None


class _Directed:
    """Finds the road nearest to a place that leads in a direction there."""

    def __init__(self, network: Network) -> None:
        n = network.n_road_lanes
        points = network.points[: network.point_start[n]]
        lane = np.repeat(np.arange(n), np.diff(network.point_start[: n + 1]))
        first = np.flatnonzero(lane[:-1] == lane[1:])
        self.start, self.step = points[first, :2], points[first + 1, :2] - points[first, :2]
        self.road = network.arrays.lanes.road[lane[first]]
        self.heading = np.degrees(np.arctan2(self.step[:, 0], self.step[:, 1]))
        self.network = network

    def found(
        self, key: tuple[str, str, str], pair: tuple[str, str], where: str
    ) -> tuple[int, float]:
        """The road at a place that leads in a direction, all given as texts, and how far it is, m. Raises DemandError."""
        most = (180.0, 90.0) if pair[0] == "lon" else (FARTHEST, FARTHEST)
        first, second = (
            number(text, where, name, -m, m)
            for text, name, m in zip(key[:2], pair, most, strict=True)
        )
        x, y = np.array([first]), np.array([second])
        if pair[0] == "lon":
            x, y = local_metres(self.network, x, y)
        road, away = self.nearest(float(x[0]), float(y[0]), _degrees(key[2], where))
        if road < 0:
            raise DemandError(
                f"{where}: no road within {NEAR:g} m of {key[0]}, {key[1]} leads {key[2]}; "
                "correct the place or the direction, or give the road"
            )
        return road, away

    def nearest(self, x: float, y: float, direction: float) -> tuple[int, float]:
        """The road and how far it is, m; -1 if none is near."""
        turn = np.abs((self.heading - direction + 180.0) % 360.0 - 180.0)
        to = np.array([x, y]) - self.start
        square = np.maximum((self.step**2).sum(axis=1), 1e-12)
        share = np.clip((to * self.step).sum(axis=1) / square, 0.0, 1.0)
        away = np.hypot(*(to - share[:, None] * self.step).T)
        away[turn > ASIDE] = np.inf
        best = int(np.argmin(away)) if away.size else -1
        if best < 0 or away[best] > NEAR:
            return -1, np.inf
        return int(self.road[best]), float(away[best])


# --- SUMO's edgedata -------------------------------------------------------------------------------


def _edge_data(path: Path, network: Network) -> Counts:
    """Counts of `<interval><edge id= count=|entered=>`."""
    place: list[str] = []
    rows: list[tuple[float, float, float]] = []
    where: list[str] = []
    absent: list[str] = []
    span: tuple[float, float] | None = None
    for event, tag, attributes, line in elements(path):
        at = f"{path}:{line}"
        if event == "end":
            continue
        if tag == "interval":
            begin, end = (
                _time(attributes.get(name, ""), at, f"interval {name}") for name in ("begin", "end")
            )
            if not begin < end:
                raise DemandError(f"{at}: interval ends as or before it begins; correct it")
            span = begin, end
        elif tag == "edge":
            text = next((attributes[name] for name in EDGE_COUNTS if name in attributes), "")
            if not text:
                continue
            if span is None:
                raise DemandError(f"{at}: edge outside an interval; put it into one")
            name = attributes.get("id", "")
            if name not in network.road_index:
                absent.append(name)
                continue
            place.append(name)
            rows.append((*span, number(text, at, "count", 0.0, MOST)))
            where.append(at)
    if not rows:
        raise DemandError(
            f"{path}: holds no counts of roads of {network.name}; wanted <interval> with <edge> and one of "
            f"{', '.join(EDGE_COUNTS)}"
        )
    begin, end, count = np.array(rows).T
    remarks = []
    if absent:
        names = ", ".join(dict.fromkeys(absent))
        remarks.append(f"counts of edges that the network lacks are left out: {names[:120]}")
    found = Counts(tuple(place), ROAD, begin, end, count, tuple(remarks), tuple(where))
    _refuse_doubles(found)
    return found
