"""The warped lattice of a town: where corners lie and which streets join them."""

from dataclasses import dataclass, field
from math import atan2, cos, hypot, pi, sin
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.random import uniform
from rushhour.roadnets.geometry.street_lines import Line, curve_piece

Node = tuple[int, int]  # column, row
SPACING: Final = 168.0  # m between streets, on average
TILT: Final = 0.21  # rad by which the whole town is turned
MISSING: Final = 0.26  # share of side streets that are left out, at most
ARTERIAL: Final = 8
COLLECTOR: Final = 5
SIDE: Final = 3
FIRST_GATE: Final = 1000  # number of the first gate, in place of a column
GATE_LENGTH: Final = 220.0  # m of main street beyond the last corner

# Streams of random numbers
_GAP, _JITTER_X, _JITTER_Y, _OUTLINE, _MISSING, _THIN = range(101, 107)


@dataclass
class Edge:
    """A piece of street between two neighbouring corners of the lattice."""

    a: Node
    b: Node
    line: Line
    rank: int


@dataclass
class Mesh:
    """Corners of the lattice that lie in the town, and the streets between them."""

    at: dict[Node, NDArray[np.float64]] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    gates: dict[Node, NDArray[np.float64]] = field(default_factory=dict)

    def degrees(self) -> dict[Node, int]:
        """Number of edges at every node."""
        count = dict.fromkeys(self.at, 0)
        for edge in self.edges:
            count[edge.a] += 1
            count[edge.b] += 1
        return count


Lines = tuple[tuple[int, ...], tuple[int, ...]]  # rows, columns


def mesh_of(lines: int, seed: int, arterials: Lines, collectors: Lines) -> Mesh:
    """The lattice with all its streets, warped and cut to the outline of the town."""
    rank_row = [_rank(k, arterials[0], collectors[0]) for k in range(lines)]
    rank_column = [_rank(k, arterials[1], collectors[1]) for k in range(lines)]
    x, y = _line_places(lines, seed, 0), _line_places(lines, seed, 1)
    reach = 0.5 * (lines - 1) * SPACING
    mesh = Mesh()
    place: dict[Node, NDArray[np.float64]] = {}
    for i in range(lines):
        for j in range(lines):
            rank = max(rank_row[j], rank_column[i])
            loose = {SIDE: 0.16, COLLECTOR: 0.06, ARTERIAL: 0.03}[rank] * SPACING
            dx = loose * (2.0 * uniform(seed, i, j, _JITTER_X) - 1.0)
            dy = loose * (2.0 * uniform(seed, i, j, _JITTER_Y) - 1.0)
            place[i, j] = _warped(x[i] + dx, y[j] + dy, reach, seed)
            if _inside(x[i], y[j], reach, seed):
                mesh.at[i, j] = place[i, j]
    for j in range(lines):
        _add_line(mesh, [(i, j) for i in range(lines)], rank_row[j])
    for i in range(lines):
        _add_line(mesh, [(i, j) for j in range(lines)], rank_column[i])
    mesh.at.update(mesh.gates)
    return mesh


def _rank(k: int, arterials: tuple[int, ...], collectors: tuple[int, ...]) -> int:
    return ARTERIAL if k in arterials else COLLECTOR if k in collectors else SIDE


def _line_places(lines: int, seed: int, axis: int) -> list[float]:
    """Places of the lattice's lines before warping: closer together in the middle, m."""
    gaps = []
    for k in range(lines - 1):
        off = abs(2.0 * (k + 0.5) / (lines - 1) - 1.0)
        noise = 0.3 * (uniform(seed, k, axis, _GAP) - 0.5)
        gaps.append(SPACING * (0.84 + 0.32 * off + noise))
    places = np.concatenate(([0.0], np.cumsum(gaps)))
    return [float(p) for p in places - 0.5 * places[-1]]


def _warped(x: float, y: float, reach: float, seed: int) -> NDArray[np.float64]:
    """A place of the straight lattice after tilting and gentle bending, (2,)."""
    phase = 2.0 * pi * uniform(seed, 0, 0, _OUTLINE)
    bend = 0.055 * reach
    u = x + bend * sin(pi * y / reach + phase)
    v = y + bend * sin(pi * x / reach + 0.6 * phase + 1.0)
    return np.array((u * cos(TILT) - v * sin(TILT), u * sin(TILT) + v * cos(TILT)))


def _inside(x: float, y: float, reach: float, seed: int) -> bool:
    """Whether a place of the straight lattice belongs to the town."""
    angle = atan2(y, x)
    one = 2.0 * pi * uniform(seed, 1, 0, _OUTLINE)
    two = 2.0 * pi * uniform(seed, 2, 0, _OUTLINE)
    edge = 1.03 + 0.09 * sin(3.0 * angle + one) + 0.06 * sin(5.0 * angle + two)
    return hypot(x, y) <= reach * edge


def _add_line(mesh: Mesh, nodes: list[Node], rank: int) -> None:
    """Streets along one line of the lattice, with gates where a main street leaves the town."""
    runs: list[list[Node]] = [[]]
    for node in nodes:
        if node in mesh.at:
            runs[-1].append(node)
        elif runs[-1]:
            runs.append([])
    for run in runs:
        if len(run) < 2:
            continue
        points = [mesh.at[node] for node in run]
        points = [2.0 * points[0] - points[1], *points, 2.0 * points[-1] - points[-2]]
        for k in range(len(run) - 1):
            line = curve_piece(np.array(points[k : k + 4]))
            mesh.edges.append(Edge(run[k], run[k + 1], line, rank))
        if rank == ARTERIAL or (rank == COLLECTOR and len(run) > 4 and sum(run[0]) % 2 == 0):
            for end, before in ((run[0], run[1]), (run[-1], run[-2])):
                away = mesh.at[end] - mesh.at[before]
                far = mesh.at[end] + away * (GATE_LENGTH / hypot(*away))
                gate = (FIRST_GATE + len(mesh.gates), 0)
                mesh.gates[gate] = far
                mesh.edges.append(Edge(end, gate, np.array((mesh.at[end], far)), rank))


def thin_out(mesh: Mesh, seed: int) -> None:
    """Leave out side streets, in a random order, as long as no corner is cut off."""
    _drop_loose_ends(mesh)
    side = [e for e in mesh.edges if e.rank == SIDE]
    side.sort(key=lambda e: uniform(seed, *_key(e), _MISSING))
    degree = mesh.degrees()
    main = {n for e in mesh.edges if e.rank > SIDE for n in (e.a, e.b)}
    gone: set[int] = set()
    for edge in side:
        if len(gone) >= MISSING * len(side):
            break
        bends = sum(degree[n] == 3 and n not in main for n in (edge.a, edge.b))
        short = any(degree[n] <= 2 for n in (edge.a, edge.b))
        if short or (bends and uniform(seed, *_key(edge), _THIN) > 0.45 / bends):
            continue
        gone.add(id(edge))
        degree[edge.a] -= 1
        degree[edge.b] -= 1
    mesh.edges = [e for e in mesh.edges if id(e) not in gone]
    _drop_loose_ends(mesh)


def _key(edge: Edge) -> tuple[int, int]:
    """Two numbers that name an edge of the lattice."""
    return edge.a[0] * 1000 + edge.a[1], edge.b[0] * 1000 + edge.b[1]


def _drop_loose_ends(mesh: Mesh) -> None:
    """Take dead ends and sharp kinks away; gates stay."""
    while True:
        degree = mesh.degrees()
        loose = {n for n in mesh.at if degree[n] <= 1 and n not in mesh.gates}
        if not loose:
            break
        mesh.edges = [e for e in mesh.edges if e.a not in loose and e.b not in loose]
        for node in loose:
            del mesh.at[node]
