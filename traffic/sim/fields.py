"""The arrays of the state, declared once: what each is, what it grows with, and what becomes of it.

Their dtypes are those of the NamedTuples of kernels. All else follows from here: how arrays are
made and grown (`new`, `with_room`), re-packed, saved in keyframes and restored (`saved`), hashed,
checked when they come from a file (`ranges`), told in docs/state.md, and how large they are
(`bytes_of`). A field that is not declared, or declared without being there, fails a test.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isinf
from typing import Any, Final, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import LONGEST_VEHICLE
from rushhour.kernels.core.obstacles import COUNTS, Obstacles
from rushhour.kernels.core.trips import Trips, Waiting
from rushhour.kernels.core.vehicles import (
    BEHIND,
    NEVER,
    PATH,
    Grants,
    Order,
    Routes,
    Types,
    Vehicles,
)
from rushhour.kernels.junctions.grant_holders import FRAMES_NOTED
from rushhour.kernels.signals.fixed_time import Lights
from rushhour.roadnets.drafts.shapes import LONGEST

LONG_AGO: Final = -(2**30)  # frame
# What becomes of a field: made from the network, demand and parameters and never changed; part of
# snapshots and keyframes; made again from what is; written before it is read, in every frame.
STATIC, SAVED, DERIVED, SCRATCH = "static", "saved", "derived", "scratch"
# What a field has a row for.
VEHICLE, LANE, ROAD_LANE, CONNECTOR, ROAD = "vehicle", "lane", "road_lane", "connector", "road"
INTERSECTION, INTERSECTION_LANE = "intersection", "intersection_lane"
PROGRAM, DETECTOR, TRIP, STOP, PLACE, TYPE = (
    "program", "detector", "trip", "stop", "place", "type",
)  # fmt: skip
PART, ENTRY, ONE = "part", "entry", "one"

# The table of snapshots and keyframes that holds what has a row for each of these.
TABLE_OF: Final = {
    ROAD_LANE: "road_lanes", CONNECTOR: "connectors", PROGRAM: "programs", DETECTOR: "detectors",
}  # fmt: skip


@dataclass(frozen=True)
class Field:
    """One array. by: what it has a row for, `columns` values each, and `extra` rows more.

    fill: of rows that nobody has written. within: the least value, and the name of the largest, of
    indices that are saved (`recording.keyframe_checks`); most: the largest value either way of
    numbers. hashed: whether the state hash has this column of vehicles.
    """

    name: str
    kind: str
    by: str
    means: str = ""
    unit: str = ""
    fill: float = 0
    columns: int = 1
    extra: int = 0
    within: tuple[int, str] | None = None
    most: float = inf
    hashed: bool = True

    @property
    def shape(self) -> str:
        """Its shape in words."""
        rows = f"{self.by}s + {self.extra}" if self.extra else f"{self.by}s"
        rows = str(1 + self.extra) if self.by == ONE else rows
        return f"({rows}, {self.columns})" if self.columns > 1 else f"({rows},)"


# fmt: off
FIELDS: Final[dict[type[Any], tuple[Field, ...]]] = {
    Vehicles: (
        Field("id", SAVED, VEHICLE, means="number of its trip in the demand", within=(0, "trip")),
        Field("lane", SAVED, VEHICLE, means="that its front is on; -1: the slot is free", fill=-1, within=(0, "lane")),
        Field("s", SAVED, VEHICLE, unit="m", means="front bumper from the lane's start", most=LONGEST),
        Field("speed", SAVED, VEHICLE, unit="m/s", means="along the lane", most=1e3),
        Field("accel", SAVED, VEHICLE, unit="m/s^2", means="of the last frame", most=1e6),
        Field("lateral", SAVED, VEHICLE, unit="m", means="left of the lane's middle, while changing lane or passing", most=1e3),
        Field("swerve", SAVED, VEHICLE, unit="m", means="left of the lane's middle, where it wants to be to pass"),
        Field("around", SAVED, VEHICLE, means="1 + id of the last whom it passes on its lane, its own: bodies; 0 nobody", within=(0, "trips")),
        Field("pass_frame", SAVED, VEHICLE, unit="frame", means="in which it last began to pass on its lane"),
        Field("type", SAVED, VEHICLE, means="its vehicle type", within=(0, "type")),
        Field("length", SAVED, VEHICLE, unit="m", means="bumper to bumper", most=LONGEST_VEHICLE),
        Field("factor", SAVED, VEHICLE, means="desired speed / limit", most=1e3),
        Field("top", SAVED, VEHICLE, unit="m/s", means="no faster than this by a command; inf: nobody said so", fill=inf),
        Field("path", SAVED, VEHICLE, means="connectors, -1 unknown", columns=PATH, within=(-1, "connector")),
        Field("granted", SAVED, VEHICLE, means="entries of path it may enter", within=(0, "path")),
        Field("had_grant", SCRATCH, VEHICLE, means="it had a grant as the frame began"),
        Field("had_stamp", SCRATCH, VEHICLE, means="its stamp, as the frame began"),
        Field("line", SCRATCH, VEHICLE, means="entry of path whose line it faces; valid for candidates for a grant"),
        Field("go", SAVED, VEHICLE, unit="frame", means="first in which it may use its grant"),
        Field("stamp", SAVED, VEHICLE, means="order in which grants were given"),
        Field("cut", SAVED, VEHICLE, means="connector before some holders of which it goes; -1 none", within=(-1, "connector")),
        Field("cut_stamp", SAVED, VEHICLE, means="the first stamp of these"),
        Field("arrived", SAVED, VEHICLE, unit="frame", means="it first stood at the line of this lane; -1"),
        Field("overtaken", SAVED, VEHICLE, means="grants given past it while it stood at the line"),
        Field("refused", SAVED, VEHICLE, means="reason the head has no grant; written by the grant phase only", within=(0, "reason")),
        Field("full_since", SAVED, VEHICLE, unit="frame", means="since when its exit is full; -1"),
        Field("behind", SAVED, VEHICLE, means="lanes, -1 none", columns=BEHIND, within=(-1, "lane")),
        Field("trip", SAVED, VEHICLE, means="row of its trip", within=(0, "trip"), hashed=False),
        Field("leg", SAVED, VEHICLE, means="place of its road in the route pool; -1 a random walker", within=(-1, "place"), hashed=False),
        Field("route_start", SAVED, VEHICLE, means="start of its route in the pool, as far as it is remembered", within=(0, "place_behind"), hashed=False),
        Field("route_end", SAVED, VEHICLE, means="end of its route in the pool", within=(0, "place_behind"), hashed=False),
        Field("draws", SAVED, VEHICLE, means="exits drawn so far (walkers)"),
        Field("wanted", SAVED, VEHICLE, means="lane it should be on; -1 no wish", within=(-1, "lane")),
        Field("suits", SAVED, VEHICLE, means="bit per lane number of its road: as good as the wanted one"),
        Field("ring_exit", SAVED, VEHICLE, means="road by which its route leaves the roundabout that it is on or comes to next; -1", fill=-1, within=(-1, "road"), hashed=False),
        Field("change_frame", SAVED, VEHICLE, unit="frame", means="of its last lane change"),
        Field("change_to", SAVED, VEHICLE, means="lane it changes to in this frame; -1", within=(-1, "lane"), hashed=False),
        Field("yields_to", SAVED, VEHICLE, means="slot it lets in; -1, and again once it has looked at it", within=(-1, "slot"), hashed=False),
        Field("goes_next", SAVED, VEHICLE, means="somebody was let in before it, or it was: its turn at its line"),
        Field("queued", SAVED, VEHICLE, means="it has stood since it passed its last line"),
        Field("stop", SAVED, VEHICLE, means="its next stop; equals stop_end when none is left", within=(0, "stop"), hashed=False),
        Field("stop_end", SAVED, VEHICLE, means="behind its last stop", within=(0, "stop"), hashed=False),
        Field("dwell_until", SAVED, VEHICLE, unit="frame", means="until which it stays at a stop; -1 not at one"),
        Field("reason", SAVED, VEHICLE, means="why it is not at its desired speed, of REASONS", within=(0, "reason")),
        Field("blocker", SAVED, VEHICLE, means="id of the vehicle it waits for; -1 none", within=(-1, "trip")),
        Field("closes_up", SAVED, VEHICLE, unit="frame", means="until which it comes nearer to its leader, in a ring"),
        Field("stands_since", SAVED, VEHICLE, unit="frame", means="first of its standstill, not at a stop; -1 moving"),
        Field("longest", SAVED, VEHICLE, unit="frames", means="its longest standstill that is over, without stops"),
        Field("waited", SAVED, VEHICLE, unit="frames", means="of all standstills that are over"),
        Field("stopped", SAVED, VEHICLE, unit="frames", means="spent at stops"),
        Field("depart_frame", SAVED, VEHICLE, unit="frame", means="in which it departed"),
        Field("distance", SAVED, VEHICLE, unit="m", means="driven up to the start of its lane; in all once it has left"),
        Field("ideal", SAVED, VEHICLE, unit="s", means="that the same way takes at the desired speed"),
        Field("minds", SAVED, VEHICLE, means="times it changed its mind"),
        Field("left", SAVED, VEHICLE, means="reached its end in this frame", hashed=False),
        Field("told", SAVED, VEHICLE, means="NOTHING, HALT, HALT_HARD", within=(0, "told")),
        Field("told_until", SAVED, VEHICLE, unit="frame", means="in which that ends; NEVER: until told otherwise"),
    ),
    Order: (
        Field("start", SAVED, LANE, means="first place of a lane in slot", extra=1),
        Field("slot", SAVED, VEHICLE, means="slots by lane, the first on it in front", within=(0, "slot")),
        Field("spare", SCRATCH, VEHICLE, means="the other buffer"),
        Field("counts", SCRATCH, PART, means="of the counting sort; a row has an entry for each lane"),
        Field("load", SAVED, LANE, means="vehicles when the frame was sorted"),
        Field("over", SAVED, LANE, means="slot whose rear hangs over the lane's end; -1", fill=-1, within=(-1, "slot")),
        Field("over_rear", SAVED, LANE, unit="m", means="where it is on the lane; valid if there is one"),
    ),
    Grants: (
        Field("light", SAVED, CONNECTOR, means="state of its signal"),
        Field("closes", SAVED, CONNECTOR, unit="s", means="after frame 0, when it turns yellow or red; inf", fill=inf),
        Field("tail", SAVED, CONNECTOR, unit="m", means="rear of the last holder; inf: nobody", fill=inf),
        Field("tail_slot", SAVED, CONNECTOR, means="slot of that holder; -1", fill=-1, within=(-1, "slot")),
        Field("waiter", SAVED, CONNECTOR, means="slot of who waits inside on it, or comes to; -1", fill=-1, within=(-1, "slot")),
        Field("held", DERIVED, INTERSECTION, means="HELD, HELD_INSIDE: what was noted on its connectors", fill=1),
        Field("noted", DERIVED, ROAD_LANE, unit="frames", means="for which what follows has to be forgotten", fill=FRAMES_NOTED),
        Field("reserved", SAVED, ROAD_LANE, unit="m", means="promised to holders not yet on the lane"),
        Field("kept", SAVED, ROAD_LANE, unit="m", means="before its line that one of them must leave free"),
        Field("crossed", SAVED, ROAD_LANE, means="somebody comes by a grant that leads beyond it"),
        Field("onward", SAVED, ROAD_LANE, means="connector by which all of them go on; -1 several", fill=-1, within=(-1, "connector")),
        Field("wished", SAVED, ROAD_LANE, unit="m", means="kept for those who stand before it, without grant"),
        Field("wished_since", SAVED, ROAD_LANE, unit="frame", means="since which the longest of them stands", fill=NEVER),
        Field("wished_first", SAVED, ROAD_LANE, unit="m", means="that this one needs"),
        Field("eldest_since", SAVED, ROAD_LANE, unit="frame", means="wished_since of the frame before; NEVER nobody", fill=NEVER),
        Field("eldest", SAVED, ROAD_LANE, unit="m", means="wished_first of the frame before"),
        Field("claimed", SAVED, ROAD_LANE, unit="m", means="for the longest of those who must change to it"),
        Field("claimed_since", SAVED, ROAD_LANE, unit="frame", means="since which one of them has stood", fill=NEVER),
        Field("asking", SCRATCH, ROAD_LANE, means="slot of who asks those before the lane to let it in", fill=-1),
        Field("asked_in", SCRATCH, ROAD_LANE, unit="frame", means="in which it did", fill=-1),
        Field("candidate", SCRATCH, INTERSECTION_LANE, means="slot of who asks for its line; -1", fill=-1),
        Field("waived", SAVED, CONNECTOR, unit="frame", means="until which exit room is waived", fill=-1),
        Field("critical_gap", STATIC, CONNECTOR, unit="s", means="0 where it yields to nobody"),
        Field("pocket", STATIC, CONNECTOR, unit="m", means="along it to where one waits inside; 0: at the line"),
        Field("let_past", STATIC, CONNECTOR, unit="m", means="longest vehicle there that others of its lane pass"),
        Field("sure_turn", DERIVED, CONNECTOR, unit="s", means="in which a light that reacts to traffic goes round twice at the least; else inf", fill=inf),
        Field("zips", STATIC, CONNECTOR, means="it gives way where drivers let each other in"),
        Field("unposted", STATIC, INTERSECTION, means="no sign is posted and no road goes first: right before left"),
        Field("on_ring", STATIC, ROAD_LANE, means="part of a roundabout"),
        Field("ring_entry", STATIC, CONNECTOR, means="it enters a small roundabout without lights"),
        Field("opposite", STATIC, ROAD_LANE, means="lane in the other direction beside it; -1 none", fill=-1),
        Field("passers", SAVED, ROAD_LANE, means="vehicles that pass somebody on their lane"),
        Field("obstacles", SCRATCH, ONE, means="bodies from outside: Obstacles"),
    ),
    Waiting: (
        Field("head", SAVED, ROAD, means="first trip of the queue; -1", fill=-1, within=(-1, "trip")),
        Field("tail", SAVED, ROAD, means="last trip of the queue; -1", fill=-1, within=(-1, "trip")),
        Field("following", SAVED, TRIP, means="next in the queue; -1", fill=-1, within=(-1, "trip")),
        Field("lanes", SAVED, TRIP, means="bit per lane number on which it may depart"),
        Field("shut", DERIVED, ROAD, means="bit per lane number: closed, nobody departs onto it"),
        Field("busy", SAVED, ROAD, means="roads with a queue, in front", within=(0, "road")),
        Field("numbers", SAVED, ONE, means="[0] next trip to become due, [1] roads in busy, [2] lowest slot", extra=2),
        Field("newest", SCRATCH, LANE, means="newcomer of this frame on the lane; -1", fill=-1),
        Field("older", SCRATCH, VEHICLE, means="newcomer before this one on its lane; -1", fill=-1),
    ),
    Lights: (
        Field("phase", SAVED, PROGRAM, means="counted within its program; -1 before the first frame", fill=-1),
        Field("since", SAVED, PROGRAM, unit="s", means="after frame 0, when it began, or began to be cleared"),
        Field("target", SAVED, PROGRAM, means="phase for which it is being cleared; -1 none", fill=-1),
        Field("held", SAVED, PROGRAM, unit="frame", means="in which somebody last had a grant for a later line of it", fill=LONG_AGO),
        Field("hit", SAVED, DETECTOR, unit="frame", means="when somebody was last over the detector", fill=LONG_AGO),
        Field("served", SAVED, DETECTOR, unit="frame", means="when its lane last had its phase", fill=LONG_AGO),
    ),
    Routes: (
        Field("road", SAVED, PLACE, means="routes, end to end"),
        Field("arrival", DERIVED, TRIP, unit="m", means="on the last road; inf: its end"),
        Field("stop_lane", SAVED, STOP, means="lane of the stop"),
        Field("stop_pos", SAVED, STOP, unit="m", means="from the lane's start"),
        Field("stop_frames", SAVED, STOP, unit="frames", means="that the vehicle stays"),
        Field("stop_until", SAVED, STOP, unit="frame", means="before which it does not go on"),
        Field("stop_parking", SAVED, STOP, means="beside the lane"),
        Field("stops_on", SAVED, LANE, means="whether anybody ever stops there"),
        Field("round", STATIC, ROAD, means="part of a roundabout"),
    ),
    Trips: (
        Field("depart", STATIC, TRIP, unit="s", means="when it is due, ascending"),
        Field("type", STATIC, TRIP, means="vehicle type"),
        Field("walker", STATIC, TRIP, means="it draws its ways"),
        Field("route_start", SAVED, TRIP, means="into the pool of routes; where its driver chose another way"),
        Field("route_end", SAVED, TRIP, means="end of its route there"),
        Field("lane", STATIC, TRIP, means="that it wants to depart on, or a code"),
        Field("pos", STATIC, TRIP, unit="m", means="where it wants to depart"),
        Field("pos_kind", STATIC, TRIP, means="code of that"),
        Field("speed", STATIC, TRIP, unit="m/s", means="at which it wants to depart"),
        Field("speed_kind", STATIC, TRIP, means="code of that"),
        Field("stop_start", STATIC, TRIP, means="first of its stops", extra=1),
    ),
    Types: (
        Field("length", STATIC, TYPE, unit="m", means="bumper to bumper"),
        Field("width", STATIC, TYPE, unit="m", means="without mirrors"),
        Field("min_gap", STATIC, TYPE, unit="m", means="to the leader in standstill"),
        Field("accel", STATIC, TYPE, unit="m/s^2", means="largest acceleration"),
        Field("decel", STATIC, TYPE, unit="m/s^2", means="comfortable braking"),
        Field("mean_accel", STATIC, TYPE, unit="m/s^2", means="geometric mean of accel and decel"),
        Field("emergency", STATIC, TYPE, unit="m/s^2", means="hardest braking"),
        Field("time_gap", STATIC, TYPE, unit="s", means="headway"),
        Field("max_speed", STATIC, TYPE, unit="m/s", means="that it can drive"),
        Field("sigma", STATIC, TYPE, means="imperfection; Krauss only"),
        Field("green_reaction", STATIC, TYPE, unit="s", means="of the head of a queue when the light turns green"),
        Field("model", STATIC, TYPE, means="IDM, KRAUSS"),
        Field("permission", STATIC, TYPE, means="bit of its class"),
        Field("factor_mean", STATIC, TYPE, means="of desired speed / limit"),
        Field("factor_dev", STATIC, TYPE, means="its standard deviation"),
        Field("factor_min", STATIC, TYPE, means="the least"),
        Field("factor_max", STATIC, TYPE, means="the largest"),
    ),
    Obstacles: (
        Field("counts", SCRATCH, ONE, means="of bodies, of entries, and of entries wanted", extra=COUNTS - 1),
        Field("first", SCRATCH, LANE, means="last entry added to a lane; -1 none", fill=-1),
        Field("then", SCRATCH, ENTRY, means="the one added to it before; -1"),
        Field("lane", SCRATCH, ENTRY, means="that it is on"),
        Field("body", SCRATCH, ENTRY, means="row of the body"),
        Field("comes", SCRATCH, ENTRY, means="nobody is there yet"),
        Field("waits", SCRATCH, ENTRY, means="its turn, at a line or in a queue"),
        Field("rear", SCRATCH, ENTRY, unit="m", means="along the lane"),
        Field("front", SCRATCH, ENTRY, unit="m", means="along the lane"),
        Field("right", SCRATCH, ENTRY, unit="m", means="left of the lane's middle"),
        Field("left", SCRATCH, ENTRY, unit="m", means="left of the lane's middle"),
        Field("speed", SCRATCH, ENTRY, unit="m/s", means="along the lane, negative against it"),
        Field("across", SCRATCH, ENTRY, unit="m/s", means="to the left"),
        Field("enters", SCRATCH, ENTRY, unit="s", means="from now until it is there; 0 if it is"),
        Field("leaves", SCRATCH, ENTRY, unit="s", means="from now until it has gone; inf if nobody can tell"),
    ),
}
# fmt: on

# Columns of vehicles that the state hash has; of ways and stops it has what is left of them.
HASHED: Final = tuple(f.name for f in FIELDS[Vehicles] if f.kind == SAVED and f.hashed)

S = TypeVar("S", bound=NamedTuple)


def dtype_of(annotation: Any) -> Any:
    """The dtype of a field that is annotated NDArray[dtype].

    That is `ndarray[shape, dtype[X]]`, and from numpy 2.5 on, under Python 3.12, `NDArray[X]`.
    """
    last = annotation.__args__[-1]
    return last.__args__[0] if hasattr(last, "__args__") else last


def new(kind: type[S], sizes: Mapping[str, int], **given: Any) -> S:
    """Arrays of a structure, every row filled. sizes: rows, by what fields grow with; given: fields
    that are made elsewhere.

    Tables lie column after column: of a path a frame hardly reads more than the first connector.

    >>> new(Vehicles, {VEHICLE: 1024})
    """
    arrays = {}
    for field in FIELDS[kind]:
        if field.name in given:
            arrays[field.name] = given[field.name]
            continue
        rows = field.extra + (1 if field.by == ONE else sizes[field.by])
        shape = (rows, field.columns) if field.columns > 1 else (rows,)
        dtype = dtype_of(kind.__annotations__[field.name])
        arrays[field.name] = filled(shape, field.fill, dtype)
    return cast(S, cast(Any, kind)(**arrays))


def filled(shape: tuple[int, ...], fill: float, dtype: Any) -> NDArray[Any]:
    """An array of one value, column after column; zeros take no memory until they are written."""
    if fill == 0:
        return np.zeros(shape, dtype, order="F")
    return np.full(shape, fill, dtype, order="F")


def grown(array: NDArray[Any], size: int, fill: float = 0) -> NDArray[Any]:
    """A copy with `size` entries along its first axis, the new ones filled."""
    new_rows = filled((size, *array.shape[1:]), fill, array.dtype)
    new_rows[: array.shape[0]] = array
    return new_rows


def with_room(arrays: S, by: str, size: int) -> S:
    """The same structure, with room for so many of what some of its fields grow with."""
    more = {
        field.name: grown(getattr(arrays, field.name), size + field.extra, field.fill)
        for field in FIELDS[type(arrays)]
        if field.by == by
    }
    return arrays._replace(**more)


def columns(arrays: Any) -> list[tuple[str, NDArray[Any]]]:
    """Names and arrays of a structure."""
    return list(zip(arrays._fields, arrays, strict=True))


def first_rows(arrays: S, n: int) -> S:
    """A structure of the first n rows of each array; views."""
    return cast(S, cast(Any, type(arrays))(*(array[:n] for _, array in columns(arrays))))


def saved(kind: type[Any], by: str = "") -> tuple[str, ...]:
    """Fields of a structure that are saved; by: only those that grow with it."""
    return _names(kind, SAVED, by)


def static(kind: type[Any]) -> tuple[str, ...]:
    """Fields of a structure that never change."""
    return _names(kind, STATIC)


def _names(kind: type[Any], what: str, by: str = "") -> tuple[str, ...]:
    return tuple(f.name for f in FIELDS[kind] if f.kind == what and by in ("", f.by))


def restored(arrays: S, tables: Mapping[str, NDArray[Any]]) -> S:
    """Write what was saved into a structure; see TABLE_OF."""
    for field in FIELDS[type(arrays)]:
        if field.kind == SAVED and field.by in TABLE_OF:
            getattr(arrays, field.name)[:] = tables[TABLE_OF[field.by]][field.name]
    return arrays


def ranges(kind: type[Any], by: str) -> dict[str, tuple[int, str]]:
    """The least value, and the name of the largest, of the saved indices of a structure."""
    return {f.name: f.within for f in FIELDS[kind] if f.within is not None and f.by == by}


def bounds(kind: type[Any]) -> dict[str, float]:
    """The largest value either way of the numbers of a structure that have one."""
    return {f.name: f.most for f in FIELDS[kind] if not isinf(f.most)}


def units(*kinds: type[Any]) -> dict[str, str]:
    """Units of the saved fields of structures, by name; frames are counts."""
    every = (field for kind in kinds for field in FIELDS[kind])
    saved = [f for f in every if f.kind == SAVED and f.unit and not f.unit.startswith("frame")]
    return {f.name: f.unit for f in saved}


def bytes_by(kind: type[Any]) -> dict[str, int]:
    """Bytes that a structure takes for each thing that its fields grow with."""
    found: dict[str, int] = {}
    for field in FIELDS[kind]:
        hint = kind.__annotations__[field.name]
        size = np.dtype(dtype_of(hint)).itemsize * field.columns if hasattr(hint, "__args__") else 0
        found[field.by] = found.get(field.by, 0) + size
    return found


def bytes_of(arrays: Any) -> int:
    """Bytes that the arrays of a structure take, those within it included."""
    return sum(bytes_of(x) if isinstance(x, tuple) else int(x.nbytes) for x in arrays)


def page() -> str:
    """The tables of docs/state.md."""
    parts = []
    for kind, fields in FIELDS.items():
        per = ", ".join(
            f"{size} B a {by}" for by, size in bytes_by(kind).items() if by != ONE and size
        )
        about = (kind.__doc__ or "").partition("\n")[0]
        parts.append(
            f"## {kind.__name__}\n\n{about} {per}.\n\n| field | dtype | shape | unit | kind | meaning |\n|---|---|---|---|---|---|"
        )
        for field in fields:
            hint = kind.__annotations__[field.name]
            dtype = np.dtype(dtype_of(hint)).name if hasattr(hint, "__args__") else hint.__name__
            parts.append(
                f"| `{field.name}` | {dtype} | {field.shape} | {field.unit} | {field.kind} | {field.means} |"
            )
        parts.append("")
    return "\n".join(parts)
