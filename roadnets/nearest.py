"""The road nearest to a place, given in the network's metres or as longitude and latitude.

Lanes are cut into pieces no longer than a *cell*, pieces sorted into the square cells that their
boxes touch. A search looks at the cells around a place, in squares that double, until the nearest
piece found is nearer than anything beyond the square can be.
"""

from math import hypot
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.classes import CLASS_BIT, EVERYBODY
from rushhour.roadnets.errors import NetworkError

if TYPE_CHECKING:
    from rushhour.roadnets.model import Network

CELL: Final = 50.0  # m
MOST_PIECES: Final = 2_000_000  # beyond, cells are larger
RINGS: Final = (1, 2, 4, 8, 16)  # cells around a place's own; then every piece is looked at
AT_ONCE: Final = 1000  # places compared with the same pieces in one go

Floats = NDArray[np.float64]


class RoadPlace(NamedTuple):
    """A place on a road."""

    road: str  # id
    road_index: int
    lane: int  # index of the road lane
    s: float  # m along the lane
    distance: float  # m from the place asked for to the lane's centre line


class Nearest(NamedTuple):
    """Nearest lanes of q places, each (q,); lane -1 and distance inf where none is near enough."""

    lane: NDArray[np.int32]
    s: Floats  # m
    distance: Floats  # m


class RoadFinder:
    """Finds the nearest of the road lanes that some vehicle classes may use."""

    def __init__(self, network: "Network", permission: int = EVERYBODY) -> None:
        lanes = network.arrays.lanes
        n = network.n_road_lanes
        points = network.points[: network.point_start[n]]
        lane_of = np.repeat(np.arange(n, dtype=np.int32), np.diff(network.point_start[: n + 1]))
        first = np.flatnonzero(
            (lane_of[:-1] == lane_of[1:])
            & ((lanes.permissions[lane_of[:-1]] & np.uint32(permission)) != 0)
        )
        step = points[first + 1] - points[first]
        length = np.hypot(step[:, 0], step[:, 1])
        self.cell = max(CELL, float(length.sum()) / MOST_PIECES)
        cuts = np.maximum(np.ceil(length / self.cell).astype(np.int64), 1)
        of = np.repeat(np.arange(first.size), cuts)
        number = np.arange(of.size) - np.repeat(np.cumsum(cuts) - cuts, cuts)
        share = 1.0 / cuts[of]
        self.lane = lane_of[first[of]]
        self.span = step[of] * share[:, None]
        self.start = points[first[of]] + self.span * number[:, None]
        self.length = length[of] * share
        self.station = network.station[first[of]] + self.length * number
        self._sort()

    def _sort(self) -> None:
        """Sort pieces into cells."""
        end = self.start + self.span
        low = np.floor(np.minimum(self.start, end) / self.cell).astype(np.int64)
        high = np.floor(np.maximum(self.start, end) / self.cell).astype(np.int64)
        self.origin = low.min(axis=0, initial=0)
        self.rows = int((high - self.origin).max(initial=0)) + 2
        keys, pieces = [], []
        for dx in (0, 1):
            for dy in (0, 1):
                x, y = low[:, 0] + dx, low[:, 1] + dy
                inside = np.flatnonzero((x <= high[:, 0]) & (y <= high[:, 1]))
                keys.append(self._key(x[inside], y[inside]))
                pieces.append(inside)
        key, piece = np.concatenate(keys), np.concatenate(pieces)
        order = np.lexsort((piece, key))
        self.keys, self.pieces = key[order], piece[order]

    def _key(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.int64]:
        key: NDArray[np.int64] = (x - self.origin[0]) * self.rows + (y - self.origin[1])
        return key

    def nearest(self, x: Floats, y: Floats, within: float = np.inf) -> Nearest:
        """The nearest lane of each place (q,), m, as far as it is within `within` metres."""
        places = np.column_stack((x, y)).astype(np.float64)
        q = len(places)
        found = Nearest(np.full(q, -1, np.int32), np.zeros(q), np.full(q, np.inf))
        far = 1e9 * self.cell  # beyond, cells have no numbers; nothing lies there
        cells = np.floor(np.clip(places, -far, far) / self.cell).astype(np.int64)
        left = np.arange(q)
        for ring in RINGS:
            if not left.size:
                return self._cut(found, within)
            square, group = np.unique(cells[left], axis=0, return_inverse=True)
            by_group = np.argsort(group.ravel(), kind="stable")
            ends = np.cumsum(np.bincount(group.ravel(), minlength=len(square)))
            for (cx, cy), lo, hi in zip(square, np.concatenate(([0], ends)), ends, strict=False):
                rows = left[by_group[lo:hi]]
                self._compare(places, rows, self._around(int(cx), int(cy), ring), found)
            left = left[found.distance[left] > ring * self.cell]
            if ring * self.cell >= within:
                return self._cut(found, within)
        everything = np.arange(self.lane.size)
        for place in left:
            self._compare(places, np.array([place]), everything, found)
        return self._cut(found, within)

    @staticmethod
    def _cut(found: Nearest, within: float) -> Nearest:
        beyond = found.distance > within
        found.lane[beyond], found.distance[beyond] = -1, np.inf
        return found

    def _around(self, cx: int, cy: int, ring: int) -> NDArray[np.int64]:
        """Pieces in the square of cells around one."""
        columns = np.arange(cx - ring, cx + ring + 1)
        least = max(cy - ring, int(self.origin[1]))
        most = min(cy + ring, int(self.origin[1]) + self.rows - 1)
        if most < least:
            return np.zeros(0, np.int64)
        lo = np.searchsorted(self.keys, self._key(columns, np.full_like(columns, least)))
        hi = np.searchsorted(self.keys, self._key(columns, np.full_like(columns, most)), "right")
        slices = [self.pieces[a:b] for a, b in zip(lo.tolist(), hi.tolist(), strict=True) if a < b]
        return np.unique(np.concatenate(slices)) if slices else np.zeros(0, np.int64)

    def _compare(
        self, places: Floats, rows: NDArray[np.int64], pieces: NDArray[np.int64], found: Nearest
    ) -> None:
        """Note the nearest of some pieces for some places."""
        if not pieces.size:
            return
        start, span, length = self.start[pieces], self.span[pieces], self.length[pieces]
        unit = span / np.maximum(length, 1e-12)[:, None]
        for at in range(0, rows.size, AT_ONCE):
            row = rows[at : at + AT_ONCE]
            away = places[row][:, None, :] - start
            along = np.clip((away * unit).sum(axis=2), 0.0, length)
            rest = away - along[:, :, None] * unit
            distance = np.hypot(rest[:, :, 0], rest[:, :, 1])
            best = distance.argmin(axis=1)
            pick = (np.arange(row.size), best)
            found.lane[row] = self.lane[pieces[best]]
            found.s[row] = self.station[pieces[best]] + along[pick]
            found.distance[row] = distance[pick]


def road_finder(network: "Network", permission: int = EVERYBODY) -> RoadFinder:
    """The finder of a network for some vehicle classes; made once."""
    key = ("road finder", permission)
    if key not in network.derived:
        network.derived[key] = RoadFinder(network, permission)
    finder: RoadFinder = network.derived[key]
    return finder


def nearest_road(
    network: "Network",
    x: float | None,
    y: float | None,
    lon: float | None,
    lat: float | None,
    vehicle_class: str | None,
) -> RoadPlace:
    """The road nearest to x, y (m) or to lon, lat (degrees); see `Network.nearest_road`."""
    if vehicle_class is not None and vehicle_class not in CLASS_BIT:
        raise NetworkError(f"vehicle class {vehicle_class!r}: wanted one such as passenger or bus")
    pairs = {"x, y": (x, y), "lon, lat": (lon, lat)}
    given = {name: pair for name, pair in pairs.items() if pair != (None, None)}
    if len(given) != 1 or None in next(iter(given.values())):
        raise NetworkError("nearest_road: wanted either x and y, or lon= and lat=")
    name, (a, b) = next(iter(given.items()))
    try:
        first, second = np.array([float(a)]), np.array([float(b)])  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise NetworkError(f"nearest_road: {name} = {a!r}, {b!r}; wanted two numbers") from None
    if name == "lon, lat":
        first, second = local_metres(network, first, second)
    if not hypot(float(first[0]), float(second[0])) < np.inf:
        raise NetworkError(f"nearest_road: {name} = {a!r}, {b!r}; wanted a place on the map")
    finder = road_finder(network, EVERYBODY if vehicle_class is None else CLASS_BIT[vehicle_class])
    near = finder.nearest(first, second)
    lane = int(near.lane[0])
    if lane < 0:
        raise NetworkError(
            f"{network.name}: has no road for class {vehicle_class}; ask for another"
        )
    road = int(network.arrays.lanes.road[lane])
    place = float(near.s[0]), float(near.distance[0])
    return RoadPlace(network.road_ids[road], road, lane, *place)


def local_metres(network: "Network", lon: Floats, lat: Floats) -> tuple[Floats, Floats]:
    """Places in degrees (WGS 84) as x, y in the network's metres; inf where there is none.

    Raises NetworkError if the network has no projection or pyproj is not installed.
    """
    x, y = _transformer(network).transform(lon, lat)
    return np.asarray(x, float) - network.origin[0], np.asarray(y, float) - network.origin[1]


def local_degrees(network: "Network", x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Places in the network's metres as longitude and latitude (WGS 84); errors as `local_metres`."""
    x, y = x + network.origin[0], y + network.origin[1]
    lon, lat = _transformer(network).transform(x, y, direction="INVERSE")
    return np.asarray(lon, float), np.asarray(lat, float)


def _transformer(network: "Network") -> Any:
    """Turns degrees into the metres of a network's source; made once."""
    if "transformer" in network.derived:
        return network.derived["transformer"]
    if not network.projection:
        raise NetworkError(
            f"{network.name}: has no projection, so longitudes and latitudes mean nothing here; "
            "give x and y in metres"
        )
    try:
        from pyproj import Transformer
        from pyproj.exceptions import ProjError
    except ImportError:
        raise NetworkError(
            "longitude and latitude: wanted the package pyproj; pip install 'rushhour[data]'"
        ) from None
    try:
        found = Transformer.from_crs("EPSG:4326", network.projection, always_xy=True)
    except ProjError:
        raise NetworkError(
            f"{network.name}: its projection {network.projection[:60]!r} is not known to PROJ; "
            "give x and y in metres"
        ) from None
    network.derived["transformer"] = found
    return found
