"""Streets of a town from its mesh: bends through corners of two streets, one-way streets."""

from typing import Final

import numpy as np

from rushhour.kernels.core.random import uniform
from rushhour.roadnets.generators.town_mesh import (
    ARTERIAL,
    COLLECTOR,
    FIRST_GATE,
    SIDE,
    Edge,
    Mesh,
    Node,
)
from rushhour.roadnets.geometry.street_lines import Line, line_length, rounded_join
from rushhour.roadnets.plans.street_plan import Control, Corner, Plan, Street

BEND: Final = 40.0  # m over which a corner of two streets is rounded
ONE_WAY: Final = 0.14  # share of side streets made one-way, at most
_ONE_WAY_DRAW, _DIRECTION = 111, 112
LANES: Final = {ARTERIAL: 2, COLLECTOR: 1, SIDE: 1}
SPEED: Final = {ARTERIAL: 13.89, COLLECTOR: 13.89, SIDE: 8.33}  # m/s
WIDTH: Final = {ARTERIAL: 3.25, COLLECTOR: 3.2, SIDE: 2.9}  # m


def corner_name(node: Node) -> str:
    """Name of a lattice corner, such as "c07r03", or of a gate."""
    if node[0] >= FIRST_GATE:
        return f"gate{node[0] - FIRST_GATE:02d}"
    return f"c{node[0]:02d}r{node[1]:02d}"


def close_gaps(mesh: Mesh, plan: Plan) -> None:
    """Write the mesh into the plan, its corners of two streets made into bends."""
    edges = list(mesh.edges)
    for node in sorted(mesh.at):
        ends = [e for e in edges if node in (e.a, e.b)]
        if node in mesh.gates or len(ends) != 2:
            continue
        joined = _joined(ends[0], ends[1], node)
        between = {joined.a, joined.b}
        doubled = any({e.a, e.b} == between for e in edges)
        if joined.a != joined.b and not doubled:
            edges = [e for e in edges if e is not ends[0] and e is not ends[1]] + [joined]
    used = {n for e in edges for n in (e.a, e.b)}
    for node in sorted(used):
        x, y = mesh.at[node]
        control: Control = "gate" if node in mesh.gates else "none"
        plan.add_corner(Corner(corner_name(node), float(x), float(y), control))
    for e in edges:
        lanes = LANES[e.rank]
        median = WIDTH[e.rank] if e.rank == ARTERIAL else 0.0
        plan.streets.append(
            Street(corner_name(e.a), corner_name(e.b), e.line, lanes, lanes, SPEED[e.rank], e.rank,
                   WIDTH[e.rank], median, 55.0 if median else 0.0)
        )  # fmt: skip


def _joined(first: Edge, second: Edge, node: Node) -> Edge:
    """Two edges through a common node as one."""
    start, end = (
        first.a if first.b == node else first.b,
        (second.b if second.a == node else second.a),
    )
    one = first.line if first.b == node else first.line[::-1]
    two = second.line if second.a == node else second.line[::-1]
    reach = min(BEND, 0.4 * min(line_length(one), line_length(two)))
    return Edge(start, end, _bend(one, two, reach), min(first.rank, second.rank))


def _bend(one: Line, two: Line, reach: float) -> Line:
    return rounded_join(np.asarray(one), np.asarray(two), reach)


def make_one_way(plan: Plan, seed: int) -> None:
    """Make side streets one-way, one after another, as long as all can still reach all."""
    side = [k for k, s in enumerate(plan.streets) if s.priority == SIDE]
    chosen = sorted(side, key=lambda k: uniform(seed, k, 0, _ONE_WAY_DRAW))
    made: set[str] = set()
    for k in chosen[: int(ONE_WAY * len(side))]:
        street = plan.streets[k]
        if {street.start, street.end} & made:
            continue
        if uniform(seed, k, 0, _DIRECTION) < 0.5:
            street.forward = 0
        else:
            street.backward = 0
        if mutually_reachable(plan):
            made |= {street.start, street.end}
        else:
            street.forward = street.backward = LANES[SIDE]


def mutually_reachable(plan: Plan) -> bool:
    """Whether from every road all others can be reached without turning back, gates apart."""
    gates = {name for name, corner in plan.corners.items() if corner.control == "gate"}
    ways: list[tuple[str, str, int]] = []
    for k, street in enumerate(plan.streets):
        if street.forward:
            ways.append((street.start, street.end, k))
        if street.backward:
            ways.append((street.end, street.start, k))
    out: dict[str, list[int]] = {name: [] for name in plan.corners}
    into: dict[str, list[int]] = {name: [] for name in plan.corners}
    for w, (a, b, _) in enumerate(ways):
        out[a].append(w)
        into[b].append(w)
    inner = next(w for w, (a, b, _) in enumerate(ways) if not {a, b} & gates)

    def reached(table: dict[str, list[int]], ahead: bool) -> set[int]:
        seen, todo = {inner}, [inner]
        while todo:
            w = todo.pop()
            for following in table[ways[w][1] if ahead else ways[w][0]]:
                if following not in seen and ways[following][2] != ways[w][2]:
                    seen.add(following)
                    todo.append(following)
        return seen

    ahead, behind = reached(out, True), reached(into, False)
    return all(
        (w in ahead or a in gates) and (w in behind or b in gates)
        for w, (a, b, _) in enumerate(ways)
    )
