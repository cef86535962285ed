"""Heights that would make roads steeper than roads are, held back.

Along lanes and connectors every height is bounded from above by what can be reached from any other
point at the steepest rise, and from below by the same going down; halfway between the two bounds
nothing is steeper, and where nothing was, both are the height itself (McShane 1934, Whitney 1934).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

CLOSE: Final = 1e-6  # m by which a bound moves that is found


def held(height: Values, ends: tuple[NDArray[np.intp], NDArray[np.intp]], rise: Values) -> Values:
    """Heights, (p,) m, of which none differs from one beside it by more than may be.

    ends: of each pair of points beside each other, (e,); rise: m between them, at most.
    """
    bounds = []
    for sign in (1.0, -1.0):  # the lowest of what comes from above; the highest from below
        bound = sign * height
        while True:
            new = bound.copy()
            np.minimum.at(new, ends[1], bound[ends[0]] + rise)
            np.minimum.at(new, ends[0], bound[ends[1]] + rise)
            moved = float((bound - new).max(initial=0.0))
            bound = new
            if moved <= CLOSE:
                break
        bounds.append(sign * bound)
    return np.asarray((bounds[0] + bounds[1]) / 2.0)
