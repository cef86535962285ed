"""When the vehicles of SUMO demand depart: single ones, and flows by their rule of spacing.

A flow has one rule: `number` (evenly from begin to end), `period`, `vehsPerHour` or `perHour`
(evenly, from begin on), `period="exp(r)"` (a Poisson process of r per second) or `probability` (of
one departure in each whole second). A `number` beside another rule is a limit.
"""

from collections.abc import Iterator
from itertools import count
from math import ceil, floor, inf, log1p
from typing import Final, NamedTuple

from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.reading.values import number, seconds, whole
from rushhour.traffic.sumo.records import Record
from rushhour.traffic.sumo.vehicle_types import drawn

LATEST: Final = 1e9  # s
MOST_VEHICLES: Final = 5_000_000  # departures in all
FLOW_END: Final = 86400.0  # s, when a flow names neither end nor number
LEAST_PROBABILITY: Final = 1e-12  # a flow of less is taken as none
STREAM_FLOW: Final = 8303
_RULES: tuple[str, ...] = ("period", "vehsPerHour", "perHour", "probability")


class Departure(NamedTuple):
    """One vehicle: its id, when it departs, and how long after the first of an even flow."""

    name: str
    time: float  # s
    shift: float  # s, 0 but for flows with even spacing


class Timetable:
    """Departures within begin <= time < end; refuses more than MOST_VEHICLES in all."""

    def __init__(self, begin: float, end: float, seed: int, remarks: Remarks) -> None:
        self.begin = begin
        self.end = end
        self.seed = seed
        self.remarks = remarks
        self.counted = 0

    def departures(self, record: Record) -> Iterator[Departure]:
        """Departures of a vehicle, trip or flow, in their order."""
        found = self._flow(record) if record.tag == "flow" else self._single(record)
        for departure in found:
            self.counted += 1
            if self.counted > MOST_VEHICLES:
                raise DemandError(
                    f"{record.where}: more than {MOST_VEHICLES} departures; shorten the flows or "
                    "run a part of them with --begin and --duration"
                )
            if departure.time >= self.begin:
                yield departure

    def _single(self, record: Record) -> Iterator[Departure]:
        name, text = record.attributes["id"], record.attributes.get("depart")
        if text is None:
            raise DemandError(f"{record.where}: has no 'depart'; give seconds or H:M:S")
        if text in ("triggered", "containerTriggered", "split"):
            self.remarks.add(f'vehicles with depart="{text}" are left out', name)
            return
        if text == "begin":
            time = max(self.begin, 0.0)
        else:
            time = seconds(text, record.where, "depart", 0.0, LATEST)
        if time < self.end:
            yield Departure(name, time, 0.0)

    def _flow(self, record: Record) -> Iterator[Departure]:
        a, name, where = record.attributes, record.attributes["id"], record.where
        begin = max(self.begin, 0.0)
        if a.get("begin", "0") != "begin":
            begin = seconds(a.get("begin", "0"), where, "begin", 0.0, LATEST)
        most = whole(a["number"], where, "number", 0, MOST_VEHICLES) if "number" in a else None
        rules = [rule for rule in _RULES if rule in a]
        if len(rules) > 1 or not (rules or most is not None):
            raise DemandError(
                f"{where}: has {' and '.join(rules) or 'no spacing'}; give one of number, period, "
                "vehsPerHour, perHour, probability"
            )
        limited = most is not None and bool(rules)
        end = inf if limited else max(FLOW_END, begin)
        if "end" in a:
            end = seconds(a["end"], where, "end", 0.0, LATEST)
            if end < begin:
                raise DemandError(f"{where}: ends at {end:g} s, before it begins; correct its end")
        if rules and rules[0] == "probability":
            p = number(a["probability"], where, "probability", 0.0, 1.0)
            times = self._each_second(name, begin, p)
        elif a.get("period", "").startswith("exp(") and a["period"].endswith(")"):
            rate = number(a["period"][4:-1], where, "period", 1e-9, 1e4)
            times = self._poisson(name, begin, rate)
        else:
            step = self._step(record, rules, begin, end, most)
            # A number between begin and end is inside whatever the rounding.
            limit = min(end, self.end) if rules else self.end
            yield from self._even(name, begin, limit, step, most)
            return
        for k, time in enumerate(times):
            if time >= min(end, self.end) or (most is not None and k >= most):
                return
            yield Departure(f"{name}.{k}", time, 0.0)

    def _step(
        self, record: Record, rules: list[str], begin: float, end: float, most: int | None
    ) -> float:
        """Seconds between the departures of an even flow."""
        if not rules:
            return (end - begin) / max(most or 0, 1)
        text = record.attributes[rules[0]]
        if rules[0] == "period":
            return seconds(text, record.where, "period", 1e-4, LATEST)
        return 3600.0 / number(text, record.where, rules[0], 1e-6, 3.6e7)

    def _even(
        self, name: str, begin: float, end: float, step: float, most: int | None
    ) -> Iterator[Departure]:
        skipped = 0
        if self.begin > begin and step > 0.0:  # departures before the run are not even counted
            skipped = max(0, ceil((self.begin - begin) / step) - 1)
        for k in count(skipped):
            time = begin + k * step
            if time >= end or (most is not None and k >= most):
                return
            yield Departure(f"{name}.{k}", time, k * step)

    def _each_second(self, name: str, begin: float, p: float) -> Iterator[float]:
        """Successes of one draw per second; drawn as the gaps between them, which is the same."""
        if p < LEAST_PROBABILITY:
            return
        second = -1.0
        for k in count():
            u = drawn(self.seed, name, STREAM_FLOW, k)
            second += 1.0 if p >= 1.0 else 1.0 + floor(log1p(-u) / log1p(-p))
            yield begin + second

    def _poisson(self, name: str, begin: float, rate: float) -> Iterator[float]:
        time = begin
        for k in count():
            time -= log1p(-drawn(self.seed, name, STREAM_FLOW, k)) / rate
            yield time
