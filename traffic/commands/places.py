"""Lanes and roads that commands name, by id, number or the name of a street."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.id_hints import id_hint
from rushhour.roadnets.street_names import find_road, find_roads
from rushhour.traffic.commands.controlled import Controlled
from rushhour.traffic.commands.log import CALL, Command, CommandError

Places = str | int | Iterable[str | int]


class Placed(Controlled):
    """What commands about places share; see `World`."""

    def _queue(self, name: str, arguments: dict[str, Any]) -> None:
        """Queue a command for the next frame."""
        self.commands.plan(Command(self.sim.frame, self.sim.time, name, arguments, CALL))

    def _place(
        self, name: str, kind: str, ids: tuple[str, ...], index: dict[str, int], place: Any
    ) -> int:
        """Number of a lane or road by number or id. Raises CommandError for what is unknown."""
        if isinstance(place, str):
            if place in index:
                return index[place]
            raise CommandError(f"{name}: no {kind} {place[:60]!r}; {id_hint(place, ids)}")
        if isinstance(place, bool) or not isinstance(place, int | np.integer):
            raise CommandError(f"{name}: {kind} {str(place)[:60]!r}: wanted an id or a number")
        if 0 <= place < len(ids):
            return int(place)
        if kind == "lane" and len(ids) <= place < self.sim.whole.n_lanes:
            raise CommandError(
                f"{name}: lane {place} is inside an intersection; close the lane that it leads to"
            )
        raise CommandError(f"{name}: no {kind} {place}; there are {len(ids)}, from 0 on")

    def _road(self, name: str, place: Any) -> int:
        """Number of a road by number, id, or the name of a street that is one road."""
        if isinstance(place, str):
            try:
                return find_road(self.sim.whole, place)
            except NetworkError as error:
                raise CommandError(f"{name}: {error}") from None
        return self._place(name, "road", self.sim.whole.road_ids, self.sim.whole.road_index, place)

    def _roads(self, name: str, place: Any) -> list[int]:
        """Numbers of a road by number or id, or of all roads of a street or a part of it."""
        if not isinstance(place, str):
            return [self._road(name, place)]
        try:
            return [int(road) for road in find_roads(self.sim.whole, place)]
        except NetworkError as error:
            raise CommandError(f"{name}: {error}") from None
