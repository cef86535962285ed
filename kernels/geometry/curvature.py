"""Maximum curvature of a quadratic Bezier curve in closed form, in the plane and in space.

p1 and p3 are the ends, p2 the control point. Everything is computed relative to p2, so that far
from the origin no digits are lost.
"""

import math
from typing import Final

from rushhour.kernels.compiling.jit import kernel

FLAT: Final = 1e-12  # cross product over the largest square below which the points are in line


@kernel
def peak_curvature(uu: float, ww: float, uw: float, cross: float) -> float:
    """Largest curvature, 1/m, from the products of u = p2 - p1 and w = p3 - p2.

    uu, ww, uw: scalar products, m^2; cross: length of u x w, m^2. A path in line is 0, one that
    reverses is inf. Source: validation.md A0 (equations 3 and 4 in their branch-cheap form).
    """
    dd = uu + ww - 2.0 * uw
    if cross <= FLAT * max(uu, ww, dd):
        return math.inf if uw < 0.0 else 0.0
    area = 0.5 * cross
    along = uu - uw  # -u.d, with d = w - u: the peak lies at t = -u.d / d.d
    if along <= 0.0:
        return area / (uu * math.sqrt(uu))
    if along >= dd:
        return area / (ww * math.sqrt(ww))
    return 0.5 * dd * math.sqrt(dd) / (cross * cross)


@kernel
def max_curvature(x1: float, y1: float, x2: float, y2: float, x3: float, y3: float) -> float:
    """Largest curvature, 1/m, of the quadratic Bezier curve p1, p2, p3 in the plane."""
    ux, uy = x2 - x1, y2 - y1
    wx, wy = x3 - x2, y3 - y2
    cross = abs(ux * wy - uy * wx)
    return peak_curvature(ux * ux + uy * uy, wx * wx + wy * wy, ux * wx + uy * wy, cross)


@kernel
def max_curvature_3d(
    x1: float,
    y1: float,
    z1: float,
    x2: float,
    y2: float,
    z2: float,
    x3: float,
    y3: float,
    z3: float,
) -> float:
    """Largest curvature, 1/m, of the quadratic Bezier curve p1, p2, p3 in space."""
    ux, uy, uz = x2 - x1, y2 - y1, z2 - z1
    wx, wy, wz = x3 - x2, y3 - y2, z3 - z2
    cx, cy, cz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
    uu = ux * ux + uy * uy + uz * uz
    ww = wx * wx + wy * wy + wz * wz
    return peak_curvature(
        uu, ww, ux * wx + uy * wy + uz * wz, math.sqrt(cx * cx + cy * cy + cz * cz)
    )
