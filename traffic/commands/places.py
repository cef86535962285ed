"""Lanes and roads that commands name, by id, number or the name of a street."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.id_hints import id_hint
from rushhour.roadnets.model import Network
from rushhour.roadnets.street_names import find_road, find_roads
from rushhour.traffic.commands.log import CommandError

Places = str | int | Iterable[str | int]


def place_number(
    whole: Network, name: str, kind: str, ids: tuple[str, ...], index: dict[str, int], place: Any
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
    if kind == "lane" and len(ids) <= place < whole.n_lanes:
        raise CommandError(
            f"{name}: lane {place} is inside an intersection; close the lane that it leads to"
        )
    raise CommandError(f"{name}: no {kind} {place}; there are {len(ids)}, from 0 on")


def road_number(whole: Network, name: str, place: Any) -> int:
    """Number of a road by number, id, or the name of a street that is one road."""
    if isinstance(place, str):
        try:
            return find_road(whole, place)
        except NetworkError as error:
            raise CommandError(f"{name}: {error}") from None
    return place_number(whole, name, "road", whole.road_ids, whole.road_index, place)


def road_numbers(whole: Network, name: str, place: Any) -> list[int]:
    """Numbers of a road by number or id, or of all roads of a street or a part of it."""
    if not isinstance(place, str):
        return [road_number(whole, name, place)]
    try:
        return [int(road) for road in find_roads(whole, place)]
    except NetworkError as error:
        raise CommandError(f"{name}: {error}") from None
