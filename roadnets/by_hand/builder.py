"""Drawing a network by hand: roads along lines, intersections where their ends meet.

For engines that have their own splines, and for a crossing in ten lines. Right-hand traffic.
"""

from collections.abc import Collection, Sequence
from typing import Any

from numpy.typing import ArrayLike

from rushhour.kernels.core.vehicles import MAX_LANES
from rushhour.roadnets.build import finish
from rushhour.roadnets.by_hand.drafting import draft_of_sketch
from rushhour.roadnets.by_hand.sketch import (
    CONTROLS,
    FASTEST,
    BuilderControl,
    Offset,
    Sketch,
    SketchIntersection,
    SketchRoad,
    SketchSignal,
    called,
    identifier,
    line_of,
    number,
    permission_mask,
    shown,
    whole,
)
from rushhour.roadnets.classes import ROAD_VEHICLES
from rushhour.roadnets.drafts.index import HIGHEST_PRIORITY
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.facts import fact_line
from rushhour.roadnets.lint.checks import linted
from rushhour.roadnets.lint.signals import crossing_greens
from rushhour.roadnets.model import Network
from rushhour.roadnets.reading.values import FARTHEST

MOST_PHASES = 1000


class NetworkBuilder:
    """Collects roads and intersections; `build` joins them into a network.

    A crossing of two streets with signals:

    >>> builder = NetworkBuilder("crossing")
    >>> for name, x, y in (("e", 1, 0), ("n", 0, 1), ("w", -1, 0), ("s", 0, -1)):
    ...     _ = builder.add_street([(0, 0), (150 * x, 150 * y)], speed=13.9, id=name)
    >>> _ = builder.add_intersection(0, 0, control="signals")
    >>> network = builder.build()
    >>> world = World(network, random_trips(network, 20, "2min", seed=1), dt=0.25, seed=1)
    >>> world.step(400)
    """

    def __init__(self, name: str = "network") -> None:
        if not isinstance(name, str) or not name:
            raise NetworkError(f"network name {shown(name)}; give a text")
        self._sketch = Sketch(name)

    def __repr__(self) -> str:
        sketch = self._sketch
        facts = {"roads": len(sketch.roads), "intersections": len(sketch.intersections)}
        return fact_line(f"NetworkBuilder {sketch.name}", facts)

    def add_road(
        self,
        points: ArrayLike,
        lanes: int = 1,
        speed: float = 13.9,
        *,
        start: str | None = None,
        end: str | None = None,
        width: float = 3.2,
        id: str | None = None,
        priority: int = 0,
        permissions: int | str | Sequence[str] = ROAD_VEHICLES,
        offset: Offset = "centre",
        name: str = "",
        ref: str = "",
    ) -> str:
        """Add one direction of traffic and return its id.

        points: (p, 2) m in driving direction; a third column is height, m. speed: m/s. width: m of
        each lane. start, end: intersections that it joins wherever they are; without them the
        nearest within its reach. priority: the larger goes first at "yield" and "stop".
        permissions: a mask of roadnets.classes, or names such as ("bus", "taxi"). offset: the
        lanes lie astride the points ("centre") or to the right of them ("right"). name, ref: what
        its street is called, as "Main St" and "A 1"; several with ";" between.
        Raises NetworkError for values out of range and ids given twice.

        >>> builder.add_road([(0, 0), (80, 0), (120, 30)], lanes=2, id="ramp")
        'ramp'
        """
        road = self._road_id(id)
        where = f"road {shown(road)}"
        if offset not in ("centre", "right"):
            raise NetworkError(f"{where}: offset {shown(offset)}; wanted 'centre' or 'right'")
        for what, node in (("start", start), ("end", end)):
            if node is not None and not isinstance(node, str):
                raise NetworkError(f"{where}: {what} {shown(node)}; give an intersection's id")
        line, heights = line_of(points, where)
        self._sketch.roads[road] = SketchRoad(
            id=road,
            line=line,
            lanes=whole(lanes, where, "lanes", 1, MAX_LANES),
            speed=number(speed, where, "speed", 0.1, FASTEST),
            start=start,
            end=end,
            width=number(width, where, "width", 1.0, 20.0),
            priority=whole(priority, where, "priority", -HIGHEST_PRIORITY, HIGHEST_PRIORITY),
            permissions=permission_mask(permissions, where),
            centred=offset == "centre",
            name=called(name, where, "name"),
            ref=called(ref, where, "ref"),
            heights=heights,
        )
        return road

    def add_street(
        self,
        points: ArrayLike,
        forward: int = 1,
        backward: int = 1,
        speed: float = 13.9,
        *,
        start: str | None = None,
        end: str | None = None,
        id: str | None = None,
        **more: Any,
    ) -> tuple[str, str]:
        """Add both directions along one line, to the right of it each; their ids.

        forward, backward: lanes. The road along the points is called `id`, the one against them
        "-" and `id`. more: width, priority, permissions, name, ref, as of `add_road`.

        >>> builder.add_street([(0, 0), (200, 0)], id="main")
        ('main', '-main')
        """
        name = self._road_id(id)
        back = self._road_id(f"-{name}")
        flat, space = line_of(points, f"road {shown(name)}")
        line = flat if space is None else space
        self.add_road(line, forward, speed, start=start, end=end, id=name, offset="right", **more)
        try:
            self.add_road(
                line[::-1], backward, speed, start=end, end=start, id=back, offset="right", **more
            )
        except NetworkError:
            del self._sketch.roads[name]
            raise
        self._sketch.roads[name].twin, self._sketch.roads[back].twin = back, name
        return name, back

    def add_intersection(
        self,
        x: float,
        y: float,
        control: BuilderControl = "none",
        *,
        id: str | None = None,
        reach: float = 25.0,
        kerb: float = 6.0,
        radius: float = 22.0,
    ) -> str:
        """Add a place where roads meet and return its id.

        Ends of roads within `reach` metres that are not tied elsewhere join it (the nearest one).
        Roads are cut back as far as they reach into it, never moved or made longer. control:
        "none", "yield" (by priority, equals right before left), "stop" (lower priorities stop),
        "all_way_stop", "signals" or "roundabout". kerb: radius of the kerbs, m. radius: of a
        roundabout's ring, m.
        Raises NetworkError for values out of range and ids given twice.

        >>> builder.add_intersection(0.0, 0.0, control="all_way_stop", id="middle")
        'middle'
        """
        known = self._sketch.intersections
        name = identifier(id, known, "intersection", len(known))
        where = f"intersection {shown(name)}"
        if control not in CONTROLS:
            raise NetworkError(
                f"{where}: control {shown(control)}; wanted one of {', '.join(CONTROLS)}"
            )
        self._sketch.intersections[name] = SketchIntersection(
            id=name,
            x=number(x, where, "x", -FARTHEST, FARTHEST),
            y=number(y, where, "y", -FARTHEST, FARTHEST),
            control=control,
            reach=number(reach, where, "reach", 0.0, 1000.0),
            kerb=number(kerb, where, "kerb", 0.5, 50.0),
            radius=number(radius, where, "radius", 5.0, 200.0),
        )
        return name

    def connect(
        self, from_road: str, to_road: str, lanes: Collection[tuple[int, int]] | None = None
    ) -> None:
        """Let vehicles drive from the end of a road into another that starts there.

        lanes: pairs (from, to) of lanes, numbered from the kerb, for exactly this movement;
        without them by rule. All movements but U-turns exist by rule: this adds a U-turn, chooses
        lanes, or takes back `forbid`. Roads may be added later; `build` checks that they meet.
        """
        pair = self._pair(from_road, to_road)
        where = f"connect {shown(from_road)} to {shown(to_road)}"
        pairs: list[tuple[int, int]] = []
        try:
            for a, b in lanes if lanes is not None else ():
                pairs.append(
                    (whole(a, where, "lane", 0, MAX_LANES), whole(b, where, "lane", 0, MAX_LANES))
                )
        except (TypeError, ValueError) as error:
            if isinstance(error, NetworkError):
                raise
            raise NetworkError(f"{where}: lanes {shown(lanes)}; give pairs (from, to)") from None
        if lanes is not None and not pairs:
            raise NetworkError(f"{where}: no pair of lanes; give one, or forbid the movement")
        self._sketch.movements[pair] = tuple(pairs)

    def forbid(self, from_road: str, to_road: str) -> None:
        """Let nobody drive from a road into another; undone by `connect`."""
        self._sketch.movements[self._pair(from_road, to_road)] = None

    def _road_id(self, id: str | None) -> str:
        return identifier(id, self._sketch.roads, "road", len(self._sketch.roads))

    @staticmethod
    def _pair(from_road: str, to_road: str) -> tuple[str, str]:
        for name in (from_road, to_road):
            if not isinstance(name, str):
                raise NetworkError(f"movement: road {shown(name)}; give the id of a road")
        return from_road, to_road

    def add_signal(
        self,
        intersection: str,
        phases: Sequence[tuple[float, Collection[str | tuple[str, str]]]] = (),
        *,
        cycle: float = 0.0,
        offset: float = 0.0,
    ) -> None:
        """Say how the signals of an intersection work; without this, by rule.

        phases: (seconds of green, what is green), where that is roads that arrive, or pairs (from,
        to) of single movements; yellow and all-red are put between them, and turns across green
        oncoming traffic yield. cycle: s, for phases by rule. offset: s by which it starts later.
        Raises NetworkError for values out of range; `build` for roads that do not arrive there.

        >>> builder.add_signal("middle", [(30, ["w", "e"]), (20, ["n", "s"])])
        """
        where = f"signal of {shown(intersection)}"
        if not isinstance(intersection, str):
            raise NetworkError(f"{where}: give the id of an intersection")
        taken = []
        try:
            for k, (seconds, greens) in enumerate(phases):
                taken.append(
                    (number(seconds, where, f"phase {k}: green", 1.0, 3600.0), _greens(greens))
                )
                if k >= MOST_PHASES:
                    raise NetworkError(f"{where}: wanted at most {MOST_PHASES} phases")
        except (TypeError, ValueError) as error:
            if isinstance(error, NetworkError):
                raise
            raise NetworkError(
                f"{where}: phases {shown(phases)}; give pairs (seconds, [road or (from, to), ...])"
            ) from None
        self._sketch.signals[intersection] = SketchSignal(
            phases=tuple(taken),
            cycle=number(cycle, where, "cycle", 0.0, 3600.0),
            offset=number(offset, where, "offset", -1e6, 1e6),
        )

    def build(self) -> Network:
        """The network of what was drawn so far; more may be added and built again.

        `network.remarks` lists what looks wrong, one line each: see docs/python.md.
        Raises NetworkError for what cannot be built: names of nothing, roads that do not meet.
        """
        network = finish(draft_of_sketch(self._sketch))
        unsafe = {network.signal_ids[program] for program, *_ in crossing_greens(network)}
        unsafe -= {name for name, signal in self._sketch.signals.items() if signal.phases}
        if unsafe:  # their swept paths meet although their legs lie in order
            network = finish(draft_of_sketch(self._sketch, unsafe))
        return linted(network)


def _greens(greens: Collection[str | tuple[str, str]]) -> tuple[str | tuple[str, str], ...]:
    """What a phase shows green. Raises ValueError or TypeError for other than roads and pairs."""
    if isinstance(greens, str):
        return (greens,)
    found: list[str | tuple[str, str]] = []
    for green in greens:
        if isinstance(green, str):
            found.append(green)
        else:
            a, b = green
            if not (isinstance(a, str) and isinstance(b, str)):
                raise TypeError(green)
            found.append((a, b))
    return tuple(found)
