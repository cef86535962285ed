"""The colours of a source's vehicles and lanes, kept as long as they stay the same."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.traffic.demand.model import Demand
from rushhour.viewer.colouring import (
    DIFFERENCE,
    OF_TRIPS,
    PLAIN,
    VEHICLES,
    Coloured,
    Legend,
    difference_colours,
    dimmed,
    lane_colours,
    street_colours,
    told_at,
)
from rushhour.viewer.loads import Loads
from rushhour.viewer.moments import Moment, Source
from rushhour.viewer.race_source import RaceSource
from rushhour.viewer.recorded import RunSource
from rushhour.viewer.road_sums import SumsOfRun
from rushhour.viewer.street_layers import LESS, Streets, layer_called, shares
from rushhour.viewer.trip_words import TripWords


class KeptColours:
    """Makes colours when they are asked for, and again only when what they tell is another."""

    def __init__(self, source: Source) -> None:
        self._source = source
        lanes = source.network.arrays.lanes
        self._limit, self._length = np.array(lanes.speed), np.array(lanes.length)
        self._coloured: tuple[Any, Coloured] | None = None
        self._lanes: tuple[Any, NDArray[np.uint8], Legend] | None = None
        self._streets: tuple[Any, NDArray[np.uint8], Legend] | None = None
        self._sums: dict[Source, tuple[SumsOfRun, int]] = {}
        self._words: tuple[Demand, TripWords] | None = None

    def of_vehicles(self, moment: Moment, name: str) -> Coloured:
        """Those of a moment, by a colouring of `colouring.VEHICLES`."""
        key = (moment, name)
        if self._coloured is None or self._coloured[0] != key:
            words = self._trip_words() if name in OF_TRIPS else None
            if isinstance(self._source, RaceSource) and name == "type":
                made = self._source.coloured(moment)
            else:
                made = VEHICLES[name](told_at(self._source, moment, words))
            self._coloured = (key, made)
        return self._coloured[1]

    def of_streets(
        self, time: float, name: str, other: Source | None
    ) -> tuple[NDArray[np.uint8], Legend] | None:
        """Those of lanes by a layer of `street_layers` in the interval of a time, s; None where nothing was recorded.

        other: the source that differences tell of. Lanes on which nothing was driven keep theirs.
        """
        sums = self._sums_of(self._source)
        there = self._sums_of(other) if other is not None else None
        if sums is None or (name.startswith(LESS) and there is None):
            return None
        i = sums.interval(time)
        key = (name, i, sums)
        if self._streets is None or self._streets[0] != key:
            layer = layer_called(name, other.name if other is not None else "")
            beside = there.at(i) if there is not None and name.startswith(LESS) else None
            share = shares(name, Streets(self._source.network), sums.at(i), beside)
            self._streets = (
                key,
                *street_colours(share, self._source.network, layer, sums.edges, i),
            )
        return self._streets[1:]

    def _sums_of(self, source: Source) -> SumsOfRun | None:
        """What was driven in a recorded run; of both runs in the intervals of the first one."""
        if not isinstance(source, RunSource) or source.run.times.size < 2:
            return None
        known, frames = self._sums.get(source, (None, 0))
        if known is None or frames != source.run.times.size:
            mine = None if source is self._source else self._sums_of(self._source)
            known = SumsOfRun(source.run, None if mine is None else mine.edges)
            self._sums[source] = (known, source.run.times.size)
        return known

    def _trip_words(self) -> TripWords | None:
        """What the demand says; None where there is none. Those who joined since have it made anew."""
        demand = self._source.demand
        if demand is None:
            return None
        if self._words is None or self._words[0] is not demand:
            self._words = (demand, TripWords(demand, self._source.network))
        return self._words[1]

    def of_lanes(
        self, moment: Moment, loads: Loads, name: str, other: Source | None
    ) -> tuple[NDArray[np.uint8], Legend]:
        """Those of lanes with these loads, by a colouring of `colouring.LANES`; darker below vehicles.

        other: the source that DIFFERENCE tells of. A moment without vehicles is a map: its lanes always
        have a colour.
        """
        mapped = not len(moment)
        if mapped and name == PLAIN:
            name = "speed"
        # Once a second, or once a recorded frame: roads are drawn anew for it.
        key = (name, loads if mapped else int(moment.time))
        if self._lanes is None or self._lanes[0] != key:
            if name == DIFFERENCE and other is not None:
                there = other.loads(moment.time)
                made = difference_colours(loads, there, self._length)
            else:
                made = lane_colours(name, loads, self._limit, self._length)
            self._lanes = (key, *(made if mapped else dimmed(*made)))
        return self._lanes[1:]
