"""Who ran into a body from outside that had stood there long enough to be seen."""

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from rushhour.traffic.world import World

MOVES: Final = 0.3  # m/s, below which nobody runs into anything
NOTICE: Final = 1.0  # s besides the time that stopping takes


class BodyWatch:
    """Remembers since when each body stands where it is."""

    def __init__(self) -> None:
        self._stands: dict[int, tuple[bytes, int]] = {}  # id: what it is, frame since when
        self._touched: dict[int, int] = {}

    def look(self, world: "World") -> list[tuple[int, int, float]]:
        """Slots of vehicles that began to touch a body in the last frame, could have stopped before
        it, and move; each with the id of the body and the s for which it had stood."""
        rows, veh, types = world.bodies.rows, world.sim.veh, world.sim.types
        if not len(rows):
            self._stands, self._touched = {}, {}
            return []
        before = world.frame - 1  # bodies held, and touches were found, as it began
        known, self._stands = self._stands, {}
        for row in rows:
            name, what = int(row["id"]), row.tobytes()
            was, since = known.get(name, (b"", before))
            self._stands[name] = (what, since if was == what else before)
        found: list[tuple[int, int, float]] = []
        touching = dict(world.bodies.touching())
        for body, vehicle in touching.items():
            slots = np.flatnonzero((veh.id == vehicle) & (veh.lane >= 0))
            if self._touched.get(body) == vehicle or not slots.size:
                continue
            i = int(slots[0])
            t = int(veh.type[i])
            fast = min(
                float(types.max_speed[t]),
                float(world.network.arrays.lanes.speed[veh.lane[i]] * veh.factor[i]),
            )
            stood = (before - self._stands[body][1]) * world.dt
            if veh.speed[i] > MOVES and stood > fast / float(types.emergency[t]) + NOTICE:
                found.append((i, body, stood))
        self._touched = touching
        return found
