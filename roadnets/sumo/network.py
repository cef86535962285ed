"""Reading SUMO networks (.net.xml, also gzipped) into a draft.

Lanes that no road vehicle may use are left out, and with them their connections. A connector is
the chain of junction lanes that a connection names. Who conflicts with whom and who gives way
comes from the junctions' request bits, see `sumo.requests`; programs from `sumo.signals`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import (
    ALL_WAY_STOP,
    LEFT,
    NONE,
    RIGHT,
    SIGNAL,
    STOP,
    STRAIGHT,
    U_TURN,
    YIELD,
)
from rushhour.roadnets.classes import CAR, EVERYBODY, ROAD_VEHICLES
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
    DraftSignal,
)
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.reading.values import PermissionReader, number, shape, shape_heights, whole
from rushhour.roadnets.sumo.elements import (
    RawConnection,
    RawEdge,
    RawJunction,
    RawLane,
    SumoFile,
    read_elements,
)
from rushhour.roadnets.sumo.requests import (
    Letters,
    drop_mutual,
    foes,
    number_links,
    responses,
    settle_by_letters,
    settle_by_number,
)
from rushhour.roadnets.sumo.short_roads import lead_past_stubs, reach_lanes_of_short_roads
from rushhour.roadnets.sumo.signals import draft_signals, link_of, load_programs

LANE_WIDTH: Final = 3.2  # m, where the file gives none
WIDEST: Final = 100.0  # m
FASTEST: Final = 100.0  # m/s, limits above are taken as this
LONGEST: Final = 1e6  # m
SHORTEST_DRAWN: Final = 1e-4  # m
LONGEST_CHAIN: Final = 16  # pieces of one connector
DOUBTFUL_SHARE: Final = 0.05  # of the length, by which a drawn lane may differ from the declared
DOUBTFUL_LENGTH: Final = 1.0  # m, which it may always differ

_TURNS: Final = {
    "s": STRAIGHT, "l": LEFT, "L": LEFT, "r": RIGHT, "R": RIGHT, "t": U_TURN, "T": U_TURN,
}  # fmt: skip
_LIGHTS: Final = ("traffic_light", "traffic_light_right_on_red", "traffic_light_unregulated")
_KINDS: Final = {
    *_LIGHTS, "priority", "priority_stop", "right_before_left", "left_before_right", "allway_stop",
    "zipper", "unregulated", "rail_signal", "rail_crossing", "dead_end", "district",
}  # fmt: skip


@dataclass
class _Chain:
    """The junction lanes of a connection, joined."""

    shape: NDArray[np.float64] | None
    speed: float | None
    length: float
    permissions: int


class _Drafting:
    """Turns the elements of one file into a draft."""

    def __init__(self, file: SumoFile, draft: Draft) -> None:
        self.file = file
        self.draft = draft
        self.remarks = file.remarks
        self.permissions = PermissionReader(file.remarks)
        self.kept: dict[tuple[str, int], tuple[int, int]] = {}  # new number, mask
        self.connector: dict[int, int] = {}  # draft connector of a raw connection, by identity

    def _speed(self, text: str, where: str, lane: str) -> float:
        speed = number(text, where, "speed", 1e-6, 1e6)
        if speed > FASTEST:
            self.remarks.find(
                "L06",
                f"lane {lane!r}: speed {speed:g} m/s, lowered to {FASTEST:g}",
                [f"lane {lane}"],
            )
        return min(speed, FASTEST)

    def _lane(self, edge: RawEdge, raw: RawLane, mask: int) -> DraftLane:
        a, where = raw.attributes, self.file.where(raw.line, f"lane {raw.id!r}")
        for name in ("speed", "shape", "length"):
            if name not in a:
                raise NetworkError(f"{where}: has no {name!r}; export the network again")
        points = shape(a["shape"], where)
        declared = number(a["length"], where, "length", 1e-6, LONGEST)
        drawn = float(np.hypot(*np.diff(points, axis=0).T).sum())
        if drawn < SHORTEST_DRAWN:
            raise NetworkError(
                f"{where}: all points of its shape lie in one place; give it two different points"
            )
        if abs(drawn - declared) > max(DOUBTFUL_LENGTH, DOUBTFUL_SHARE * declared):
            self.remarks.find(
                "L25",
                f"lane {raw.id!r}: declared {declared:g} m, drawn {drawn:.1f} m; the drawing taken",
                [f"lane {raw.id}"],
                points[len(points) // 2],
            )
        width = a.get("width", "")
        return DraftLane(
            raw.id,
            points,
            self._speed(a["speed"], where, raw.id),
            number(width, where, "width", 0.01, WIDEST) if width else LANE_WIDTH,
            mask,
            declared,
            shape_heights(a["shape"], where),
        )

    def add_roads(self) -> None:
        """Draft the edges with the lanes that road vehicles may use."""
        for edge in self.file.edges.values():
            where = self.file.where(edge.line, f"edge {edge.id!r}")
            lanes: list[DraftLane] = []
            for raw in sorted(edge.lanes, key=lambda lane: lane.number):
                mask = self.permissions.mask(raw.attributes)
                if not mask & ROAD_VEHICLES:
                    self.remarks.add("lanes for no road vehicle left out")
                    continue
                self.kept[edge.id, raw.number] = len(lanes), mask
                lanes.append(self._lane(edge, raw, mask))
            if not lanes:
                continue
            ends = edge.attributes.get("from", ""), edge.attributes.get("to", "")
            for end in ends:
                if end not in self.file.junctions:
                    raise NetworkError(
                        f"{where}: unknown junction {end!r}; add it or drop the edge"
                    )
            priority = edge.attributes.get("priority", "-1")
            self.draft.roads.append(
                DraftRoad(
                    edge.id,
                    *ends,
                    lanes,
                    whole(priority, where, "priority", -1_000_000_000, 1_000_000_000),
                    edge.attributes.get("name", ""),
                    ref=edge.ref,
                )
            )

    def _chain(self, c: RawConnection, where: str) -> _Chain:
        """The pieces a connection leads over, from its via to the last one."""
        via: str | None = c.attributes.get("via")
        pieces: list[NDArray[np.float64]] = []
        speeds: list[float] = []
        length, mask = 0.0, EVERYBODY
        while via:
            raw = self.file.inner_lanes.get(via)
            if raw is None:
                raise NetworkError(f"{where}: via {via!r} is no junction lane; export again")
            if len(pieces) == LONGEST_CHAIN:
                raise NetworkError(
                    f"{where}: more than {LONGEST_CHAIN} vias in a row; break the circle"
                )
            place = self.file.where(raw.line, f"lane {via!r}")
            a = raw.attributes
            if "shape" not in a:
                raise NetworkError(f"{place}: has no 'shape'; export the network again")
            # Junction lanes may consist of one place; those have no direction of their own.
            points = a["shape"].split()
            if len(points) > 1:
                pieces.append(shape(a["shape"], place))
            speeds.append(self._speed(a.get("speed", "13.89"), place, via))
            length += number(a.get("length", "0"), place, "length", 0.0, LONGEST)
            mask &= self.permissions.mask(a)
            via = self.file.inner_vias.get((via.rpartition("_")[0], raw.number))
        if not pieces:
            return _Chain(None, min(speeds, default=None), length, mask)
        joined = np.concatenate(pieces)
        if np.ptp(joined, axis=0).max() < 0.01:
            return _Chain(None, min(speeds), length, mask)
        return _Chain(joined, min(speeds), length, mask)

    def add_connectors(self) -> None:
        """Draft the connections between lanes that are kept."""
        for c in self.file.connections:
            where = self.file.where(
                c.line, f"connection {c.from_edge}_{c.from_lane} -> {c.to_edge}_{c.to_lane}"
            )
            for edge_id, index in ((c.from_edge, c.from_lane), (c.to_edge, c.to_lane)):
                edge = self.file.edges.get(edge_id)
                if edge is None or not any(lane.number == index for lane in edge.lanes):
                    raise NetworkError(
                        f"{where}: unknown lane {index} of edge {edge_id!r}; drop the connection"
                    )
            meets = self.file.edges[c.from_edge].attributes.get("to")
            if meets != self.file.edges[c.to_edge].attributes.get("from"):
                raise NetworkError(
                    f"{where}: joins edges that do not meet at a junction; drop the connection"
                )
            a = self.kept.get((c.from_edge, c.from_lane))
            b = self.kept.get((c.to_edge, c.to_lane))
            if a is None or b is None:
                self.remarks.add("connections of lanes that are left out")
                continue
            chain = self._chain(c, where)
            mask = chain.permissions & self.permissions.mask(c.attributes)
            if not mask & a[1] & b[1] & ROAD_VEHICLES:
                self.remarks.add(
                    "connections that no road vehicle may use left out", where.partition(": ")[2]
                )
                continue
            signal = link_of(self.file, c.attributes, where)
            self.connector[id(c)] = len(self.draft.connectors)
            self.draft.connectors.append(
                DraftConnector(
                    c.from_edge,
                    a[0],
                    c.to_edge,
                    b[0],
                    chain.shape,
                    chain.speed,
                    _TURNS.get(c.attributes.get("dir", "")),
                    signal[0] if signal else None,
                    signal[1] if signal else -1,
                    permissions=mask,
                    declared_length=chain.length,
                )
            )
            if c.attributes.get("keepClear") in ("0", "false"):
                self.remarks.add(
                    "keepClear=0 ignored, junctions are always kept clear", differs=True
                )

    def add_intersections(self, signals: list[DraftSignal]) -> None:
        """Draft the junctions that a kept road touches."""
        used = {end for r in self.draft.roads for end in (r.from_intersection, r.to_intersection)}
        letters = Letters(signals)
        for name, links in number_links(self.file).items():
            if name not in used:
                continue
            junction = self.file.junctions[name]
            place = {
                number: self.connector[id(c)]
                for number, c in enumerate(links)
                if id(c) in self.connector
            }
            if junction.kind not in _KINDS:
                self.remarks.add(
                    f"junctions of unknown type {junction.kind!r} read as priority", differs=True
                )
            if len(junction.requests) < len(links) and junction.kind not in (
                "unregulated", "dead_end", "district", "rail_signal",
            ):  # fmt: skip
                self.remarks.add("junctions with fewer requests than links", name)
            self.draft.intersections.append(self._intersection(junction, links, place, letters))

    def _light(self, connector: int) -> tuple[str, int] | None:
        c = self.draft.connectors[connector]
        return None if c.signal is None else (c.signal, c.link)

    def _intersection(
        self,
        junction: RawJunction,
        links: list[RawConnection],
        place: dict[int, int],
        letters: Letters,
    ) -> DraftIntersection:
        conflicting, kind = foes(junction, place), junction.kind
        pairs = responses(junction, place)
        for number_, connector in place.items():
            if links[number_].attributes.get("pass") in ("1", "true"):
                pairs = {(i, j) for i, j in pairs if i != connector}
        mutual = sum((j, i) in pairs for i, j in pairs if i < j)
        if mutual:
            self.remarks.find(
                "L30",
                f"junction {junction.id!r}: {mutual} pairs of links yield to each other; settled "
                "by their order",
                [f"junction {junction.id}"],
                (junction.x, junction.y),
            )
        lights = any(self._light(connector) is not None for connector in place.values())
        if lights:
            control = SIGNAL
            yields = settle_by_letters(conflicting, pairs, self._light, letters)
        elif kind == "allway_stop":
            control, yields = ALL_WAY_STOP, []
        elif kind in ("unregulated", "traffic_light_unregulated"):
            control, yields = NONE, []
        elif kind == "zipper":
            control, yields = YIELD if conflicting else NONE, drop_mutual(pairs)
        else:
            yields = settle_by_number(pairs)
            control = YIELD if conflicting or yields else NONE
            if kind == "priority_stop" and self._put_stop_signs(links, place, pairs):
                control = STOP
        if kind in _LIGHTS and not lights:
            self.remarks.add("signal junctions without a signalled road connection", junction.id)
        return DraftIntersection(junction.id, junction.x, junction.y, control, conflicting, yields)

    def _put_stop_signs(
        self, links: list[RawConnection], place: dict[int, int], pairs: set[tuple[int, int]]
    ) -> bool:
        """Mark the movements that must stop; False if there is none."""
        stated = {k for n, k in place.items() if links[n].attributes.get("state") == "s"}
        marked = stated or {i for i, _ in pairs}
        for connector in marked:
            self.draft.connectors[connector].must_stop = True
        return bool(marked)


def read_network_draft(path: Path, programs: Sequence[Path] = ()) -> Draft:
    """Read a SUMO network as a draft for `roadnets.build.finish`.

    programs: additional files; their signal programs replace those of the network, the last wins.
    Raises NetworkError for what is not a SUMO network, has no lane for cars, or holds a value that
    cannot be meant; RushhourError for XML that cannot be read. Each is one line with its place.
    """
    file = read_elements(path)
    load_programs(file, programs)
    name = path.name.removesuffix(".gz").removesuffix(".xml").removesuffix(".net")
    draft = Draft(
        name,
        f"SUMO network {path.name}",
        left_hand=file.left_hand,
        lateral_acceleration=file.lateral_acceleration,
        bends_bind=False,
        projection=file.projection,
        origin=(0.0 - file.offset[0], 0.0 - file.offset[1]),
    )
    drafting = _Drafting(file, draft)
    drafting.add_roads()
    if not any(mask & CAR for _, mask in drafting.kept.values()):
        raise NetworkError(f"{path}: no drivable lane; give a network with a lane for cars")
    draft.signals, draft.zebras = draft_signals(file), file.zebras
    drafting.add_connectors()
    lead_past_stubs(draft, file.remarks)
    drafting.add_intersections(draft.signals)
    reach_lanes_of_short_roads(draft, file.remarks)
    draft.remarks, draft.findings = file.remarks.lines(), file.remarks.findings()
    return draft
