"""What the colours of vehicles and of lanes tell, and the legend that says so.

A colouring gives every vehicle a row of a palette of 256 colours, so that what is drawn of a vehicle
stays the same whatever is told. Quantities have a ramp; kinds have a colour each.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushhour.kernels.core.vehicles import REASONS
from rushhour.kernels.drawing.packing import ramp_rows
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.model import Network
from rushhour.traffic.words.durations import clock
from rushhour.viewer.loads import Loads
from rushhour.viewer.moments import Moment, Source
from rushhour.viewer.raster import RAMP, round_down, usual_speed
from rushhour.viewer.standing import LONGEST
from rushhour.viewer.street_layers import Layer
from rushhour.viewer.themes import DELAYS, KINDS, LESS_MORE, REASON_COLOURS, RED_TO_GREEN, Colour

if TYPE_CHECKING:
    from rushhour.viewer.trip_words import TripWords

OF_TRIPS: Final = ("route", "trip")  # colourings that tell what the demand says
COLOURS: Final = 256  # rows of a palette
UNKNOWN: Final[Colour] = (150, 156, 164)  # the last row: no such value was recorded
TIERS: Final = ("on a lane", "steered", "driven")
SLOW: Final = DELAYS
BRAKES: Final[tuple[Colour, ...]] = ((211, 59, 46), (255, 167, 62), (171, 177, 179), (88, 142, 229))
BUSY: Final = DELAYS
CARRIES: Final[tuple[Colour, ...]] = (
    (50, 62, 92), (70, 120, 200), (110, 215, 215), (235, 250, 190),
)  # fmt: skip
# Behind the eight that everybody tells apart others, which not everybody does.
MORE_KINDS: Final[tuple[Colour, ...]] = (
    *KINDS, (255, 130, 200), (190, 140, 100), (220, 240, 110), (150, 170, 255), (230, 230, 230),
    (60, 150, 110), (170, 90, 150), (170, 150, 60),
)  # fmt: skip
JAM: Final = 130.0  # vehicles per km of a lane, about what stands in a queue
MANY_MORE: Final = 40.0  # vehicles per km
FULL: Final = 1800.0  # vehicles an hour on a lane, about what it can carry
LOST: Final = 100.0  # vehicles per km whose whole time is lost
DIM: Final = 0.6  # of the brightness of lanes that have vehicles on them
LONG_TRIP: Final = 1800.0  # s


@dataclass(frozen=True)
class Legend:
    """A ramp with a text at either end, or kinds with a colour each."""

    title: str
    low: str = ""
    high: str = ""
    ramp: NDArray[np.uint8] | None = None  # (k, 3)
    kinds: tuple[tuple[Colour, str], ...] = ()


@dataclass(frozen=True)
class Coloured:
    """A colour for each of n vehicles: colour (n,), rows of palette (256, 3)."""

    colour: NDArray[np.uint8]
    palette: NDArray[np.uint8]
    legend: Legend


def palette_of(stops: ArrayLike) -> NDArray[np.uint8]:
    """A palette of a ramp through some colours; its last row stays free for UNKNOWN."""
    given = np.asarray(stops, dtype=np.float64)
    at = np.linspace(0.0, len(given) - 1.0, COLOURS - 1)
    bands = [np.interp(at, np.arange(len(given)), given[:, k]) for k in range(3)]
    return np.vstack((np.column_stack(bands), [UNKNOWN])).astype(np.uint8)


def on_ramp(share: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Rows of a palette for shares 0 .. 1; NaN is unknown."""
    row = np.empty(len(share), np.uint8)
    ramp_rows(share, 0.0, 1.0, COLOURS - 1, row)
    return row


def _ramp(
    value: NDArray[Any],
    low: float,
    high: float,
    stops: ArrayLike,
    title: str,
    ends: tuple[str, str],
) -> Coloured:
    palette, row = palette_of(stops), np.empty(len(value), np.uint8)
    ramp_rows(np.ascontiguousarray(value, np.float64), low, high, COLOURS - 1, row)
    return Coloured(row, palette, Legend(title, *ends, palette[: COLOURS - 1]))


def _kinds(
    value: NDArray[Any],
    names: tuple[str, ...],
    title: str,
    colours: tuple[Colour, ...] = MORE_KINDS,
    akin: bool = False,
) -> Coloured:
    """Kinds by how many vehicles are of each; those behind the colours that there are share the last.

    akin: those of one colour are one line of the legend.
    """
    palette = np.full((COLOURS, 3), UNKNOWN, np.uint8)
    counts = np.bincount(value.astype(np.intp), minlength=len(names))
    place = np.minimum(np.arange(len(counts)), COLOURS - 2)
    palette[place] = np.array(colours, np.uint8)[place % len(colours)]
    rows: dict[Any, list[int]] = {}
    for k in range(min(len(names), COLOURS - 1)):
        if counts[k]:
            rows.setdefault(tuple(palette[k].tolist()) if akin else k, []).append(k)
    shown = tuple(
        (
            tuple(palette[row[0]].tolist()),
            f"{', '.join(names[k] for k in row)} ({counts[row].sum():,})",
        )
        for row in rows.values()
    )
    return Coloured(
        place[value.astype(np.intp)].astype(np.uint8), palette, Legend(title, kinds=shown)
    )


def _unknown(n: int, title: str) -> Coloured:
    palette = palette_of(RAMP)
    note = Legend(f"{title}: not recorded", kinds=((UNKNOWN, "unknown"),))
    return Coloured(np.full(n, COLOURS - 1, np.uint8), palette, note)


@dataclass(frozen=True)
class Told:
    """What colourings may ask of the vehicles at an instant: arrays (n,), by name, and names of kinds.

    speed (m/s), limit (m/s), accel (m/s^2), reason, waiting (s), type, tier, route (by number of
    routes), trip (s since its departure); a missing one is told so.
    """

    columns: Mapping[str, Callable[[], NDArray[Any] | None]]
    types: tuple[str, ...]
    free_speed: float  # km/h, at which speeds are green
    longest_wait: float  # s, at which waiting is darkest
    routes: tuple[str, ...] = ()

    def get(self, name: str) -> NDArray[Any] | None:
        """A column; None if it was not recorded."""
        maker = self.columns.get(name)
        return None if maker is None else maker()


def told_at(source: Source, moment: Moment, words: "TripWords | None" = None) -> Told:
    """What colourings may ask of a moment of a source. words: of its trips, for OF_TRIPS."""
    columns, limit = moment.columns, source.network.arrays.lanes.speed
    raced = "limit" in columns  # there are no lanes
    usual = float(columns["limit"][0]) if raced else usual_speed(source.network)
    return Told(
        {
            "speed": lambda: moment.speed,
            "limit": lambda: columns["limit"] if raced else limit[columns["lane"]] if len(moment) else moment.speed,
            "accel": lambda: columns.get("accel"),
            "reason": lambda: columns.get("reason"),
            "waiting": lambda: source.waiting(moment),
            "type": lambda: moment.type,
            "tier": lambda: columns.get("tier"),
            "route": lambda: None if words is None else words.kind[moment.id],
            "trip": lambda: None if words is None else moment.time - words.depart[moment.id],
        },
        source.types, round_down(3.6 * usual), LONGEST,
        () if words is None else words.kinds,
    )  # fmt: skip


def by_speed(told: Told) -> Coloured:
    """Red standing, blue free."""
    return _by_speed(told, RAMP)


def by_speed_in_green(told: Told) -> Coloured:
    """Red standing, green free."""
    return _by_speed(told, RED_TO_GREEN)


def _by_speed(told: Told, stops: ArrayLike) -> Coloured:
    speed = told.get("speed")
    assert speed is not None
    return _ramp(
        3.6 * speed, 0.0, told.free_speed, stops, "speed", ("0", f"{told.free_speed:g} km/h")
    )


def by_limit(told: Told) -> Coloured:
    """Speed as a share of the limit."""
    speed, limit = told.get("speed"), told.get("limit")
    assert speed is not None and limit is not None
    return _ramp(
        speed / np.maximum(limit, 0.1), 0.0, 1.0, RAMP, "speed / limit", ("0", "the limit")
    )


def by_accel(told: Told) -> Coloured:
    """Red braking, blue gaining speed."""
    accel = told.get("accel")
    if accel is None:
        return _unknown(len(_any(told)), "acceleration")
    return _ramp(accel, -3.0, 2.0, BRAKES, "acceleration", ("-3", "+2 m/s2"))


def by_reason(told: Told) -> Coloured:
    """Why each is slower than it wants to be."""
    reason = told.get("reason")
    if reason is None:
        return _unknown(len(_any(told)), "reason")
    names = tuple(name.replace("_", " ") for name in REASONS)
    return _kinds(
        np.minimum(reason, len(names) - 1), names, "why it is slow", REASON_COLOURS, akin=True
    )


def by_waiting(told: Told) -> Coloured:
    """How long each has stood."""
    waiting = told.get("waiting")
    if waiting is None:
        return _unknown(len(_any(told)), "waiting")
    return _ramp(
        waiting, 0.0, told.longest_wait, SLOW, "standing since",
        ("moves", f"{told.longest_wait / 60.0:g} min"),
    )  # fmt: skip


def by_type(told: Told) -> Coloured:
    """The vehicle types of the demand."""
    kind = told.get("type")
    assert kind is not None
    return _kinds(kind, told.types, "type")


def by_tier(told: Told) -> Coloured:
    """How each is simulated."""
    tier = told.get("tier")
    if tier is None:
        return _unknown(len(_any(told)), "tier")
    return _kinds(np.minimum(tier, len(TIERS) - 1), TIERS, "simulated")


def by_route(told: Told) -> Coloured:
    """Those who drive the same way."""
    route = told.get("route")
    if route is None:
        return _unknown(len(_any(told)), "route")
    return _kinds(route, told.routes, "route")


def by_trip(told: Told) -> Coloured:
    """How long ago each was to depart."""
    since = told.get("trip")
    if since is None:
        return _unknown(len(_any(told)), "trip")
    ends = ("departs", f"{LONG_TRIP / 60.0:g} min")
    return _ramp(since, 0.0, LONG_TRIP, SLOW, "on its trip since", ends)


def _any(told: Told) -> NDArray[Any]:
    speed = told.get("speed")
    assert speed is not None
    return speed


VEHICLES: Final[dict[str, Callable[[Told], Coloured]]] = {
    "speed": by_speed, "speed-red-green": by_speed_in_green, "limit": by_limit, "acceleration": by_accel, "reason": by_reason,
    "waiting": by_waiting, "type": by_type, "tier": by_tier, "route": by_route, "trip": by_trip,
}  # fmt: skip
PLAIN: Final = "plain"
DIFFERENCE: Final = "difference"
LANES: Final = (PLAIN, "speed", "density", "flow", "delay", DIFFERENCE)


def dimmed(colours: NDArray[np.uint8], legend: Legend) -> tuple[NDArray[np.uint8], Legend]:
    """Colours of lanes and their legend so dark that vehicles of the same colour are seen on them."""
    ramp = legend.ramp
    share = np.array([DIM, DIM, DIM, 1.0])
    dark = None if ramp is None else (ramp * DIM).astype(np.uint8)
    return (colours * share).astype(np.uint8), replace(legend, ramp=dark)


def want_colouring(name: str, known: object, option: str) -> str:
    """A colouring by its name. Raises RunError, naming the option, if there is none."""
    names = list(known)  # type: ignore[call-overload]
    if name not in names:
        raise RunError(f"{option} {name[:40]!r}: wanted one of {', '.join(names)}")
    return name


def lane_colours(
    name: str, loads: Loads, limit: NDArray[np.float64], length: NDArray[np.float64]
) -> tuple[NDArray[np.uint8], Legend]:
    """Colours of lanes, (n_lanes, 4), by the vehicles on them now, with their legend.

    limit (m/s), length (m): of lanes. A lane without anybody is clear: it keeps its own colour.
    "speed": the mean over the limit; "density": vehicles per km; "flow": vehicles an hour, their
    speed over the length; "delay": the share of their time that each loses against the limit,
    together, per km.
    """
    colours = np.zeros((limit.size, 4), np.uint8)
    used = np.flatnonzero(loads.count)
    count, speed = loads.count[used], loads.speed[used]
    top, long = np.maximum(limit[used], 0.1), np.maximum(length[used], 1.0)
    if name == "speed":
        share = speed / count / top
        palette, legend = palette_of(RAMP), ("lanes: mean speed / limit", "0", "the limit")
    elif name == "density":
        share = 1000.0 * count / long / JAM
        palette, legend = palette_of(BUSY), ("lanes: density", "0", f"{JAM:g} vehicles/km")
    elif name == "flow":
        share = 3600.0 * speed / long / FULL
        palette, legend = palette_of(CARRIES), ("lanes: flow", "0", f"{FULL:g} vehicles/h")
    else:
        share = 1000.0 * np.maximum(count - speed / top, 0.0) / long / LOST
        palette, legend = palette_of(BUSY), ("lanes: delay, s per s and km", "0", f"{LOST:g}")
    colours[used, :3] = palette[on_ramp(share)]
    colours[used, 3] = 255
    return colours, Legend(*legend, palette[: COLOURS - 1])


def difference_colours(
    loads: Loads, other: Loads, length: NDArray[np.float64]
) -> tuple[NDArray[np.uint8], Legend]:
    """Colours of lanes by how many more vehicles per km are on them here than in another run.

    loads, other: here and there; length (m): of lanes.
    A lane that nobody is on in either keeps its own colour.
    """
    colours = np.zeros((length.size, 4), np.uint8)
    here, there = loads.count, other.count
    used = np.flatnonzero(here + there)
    more = 1000.0 * (here[used] - there[used]) / np.maximum(length[used], 1.0)
    palette = palette_of(LESS_MORE)
    colours[used, :3] = palette[on_ramp(0.5 + 0.5 * more / MANY_MORE)]
    colours[used, 3] = 255
    legend = Legend(
        "lanes: more here", f"-{MANY_MORE:g}", f"+{MANY_MORE:g} vehicles/km", palette[: COLOURS - 1]
    )
    return colours, legend


def street_colours(
    share: NDArray[np.float64], network: Network, layer: Layer, edges: NDArray[np.float64], i: int
) -> tuple[NDArray[np.uint8], Legend]:
    """Colours of lanes, (n_lanes, 4), by the shares of their roads, (n_roads,), in the i-th interval; with their legend."""
    known = np.append(~np.isnan(share), False)
    if layer.letters:
        palette = np.array(layer.scale, np.uint8)
        row = np.rint(np.nan_to_num(share) * (len(palette) - 1)).astype(np.int64)
    else:
        palette = palette_of(layer.scale)
        row = on_ramp(np.nan_to_num(share)).astype(np.int64)
    of_roads = np.zeros((share.size + 1, 4), np.uint8)  # the last one: of crossings
    of_roads[:-1, :3] = palette[row]
    of_roads[:, 3] = np.where(known, 255, 0)
    title = f"streets: {layer.title}, {clock(edges[i])} to {clock(edges[i + 1])}"
    if layer.letters:
        kinds = tuple(
            (colour, name) for colour, name in zip(layer.scale, layer.letters, strict=True)
        )
        legend = Legend(title, kinds=kinds)
    else:
        legend = Legend(title, layer.low, layer.high, palette[: COLOURS - 1])
    return of_roads[network.arrays.lanes.road], legend
