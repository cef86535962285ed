"""When the vehicles of SUMO demand depart: single ones, and flows by their rule of spacing.

A flow has one rule: `number` (evenly from begin to end), `period`, `vehsPerHour` or `perHour`
(evenly, from begin on), `period="exp(r)"` (a Poisson process of r per second) or `probability` (of
one departure in each whole second). A `number` beside another rule is a limit.

A factor makes flows denser, as SUMO's --scale does; single vehicles, and those of a probability,
depart so often (demand.scaling).
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count, repeat
from math import ceil, floor, inf, log1p
from typing import Final, NamedTuple

from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.reading.values import number, seconds, whole
from rushhour.traffic.demand.scaling import SUFFIX, Quota, copies
from rushhour.traffic.sumo.asked import DEPARTS, want_ignored
from rushhour.traffic.sumo.records import Record
from rushhour.traffic.sumo.vehicle_types import drawn

LATEST: Final = 1e9  # s
MOST_VEHICLES: Final = 5_000_000  # departures in all
AHEAD: Final = 200.0  # s that SUMO reads ahead (--route-steps)
FLOW_END: Final = 86400.0  # s, when a flow names neither end nor number
LEAST_PROBABILITY: Final = 1e-12  # a flow of less is taken as none
STREAM_FLOW: Final = 8303
_RULES: tuple[str, ...] = ("period", "vehsPerHour", "perHour", "probability")


class Departure(NamedTuple):
    """One vehicle: its id, when it departs, and how long after the first of an even flow."""

    name: str
    time: float  # s
    shift: float  # s, 0 but for flows with even spacing
    drawn_as: str  # the id by which its type and route are drawn: copies are like their original


class Timetable:
    """Departures within begin <= time < end; refuses more than MOST_VEHICLES in all."""

    def __init__(
        self,
        begin: float,
        end: float,
        seed: int,
        remarks: Remarks,
        scale: Callable[[Record, str], float],
        suffix: str = SUFFIX,
        ignored: Collection[str] = (),
    ) -> None:
        self.scale = scale  # factor on a vehicle (or flow) of a record, by its id
        self.suffix = suffix
        self.ignored = ignored  # names of `asked` that are let be
        self.quota = Quota()
        self.begin = begin
        self.end = end
        self.seed = seed
        self.remarks = remarks
        self.counted = 0

    def quotas(self, records: Sequence[Record]) -> list[int]:
        """How many of each single vehicle depart; counted in the order in which SUMO comes to them.

        That is how it reads ahead in a file: until somebody is due after the begin, then, when that
        one is due, as far as 200 s beyond. Vehicles of flows count when they are due.
        """
        found = [1] * len(records)
        start = max(self.begin, 0.0)
        last: dict[str, float] = {}  # by file: when the last one that was read is due
        until: dict[str, float] = {}
        read: dict[str, float] = {}  # when SUMO reads on
        coming: list[tuple[float, int, int]] = []  # when, 1 of flows, record
        for i, record in enumerate(records):
            file, flow = record.file, record.tag == "flow"
            time = self._begin(record) if flow else self._time(record)
            if time is None:
                continue
            if last.get(file, -inf) > until.setdefault(file, start):
                read[file] = ceil(last[file] - 1e-9)
                until[file] = last[file] + AHEAD
            last[file] = time
            if flow:
                dues = (one.time for one in self._flow(record))
                for due in dues:
                    if due >= start:
                        coming.append((float(ceil(due - 1e-9)), 1, i))
                        self._want_few(len(coming))
            elif start <= time < self.end:
                coming.append((read.get(file, start), 0, i))
        for _, of_flow, i in sorted(coming):
            if of_flow:
                self.quota.of(1.0)
            else:
                found[i] = self.quota.of(self.scale(records[i], records[i].attributes["id"]))
                self._want_few(self.quota.told)
        return found

    def _want_few(self, departures: int) -> None:
        if departures > MOST_VEHICLES:
            raise DemandError(f"more than {MOST_VEHICLES} departures; lower the scale")

    def departures(self, record: Record, quota: int, taken: set[str]) -> Iterator[Departure]:
        """Departures of a vehicle (so many of it), trip or flow, in their order.

        taken: ids that copies are not given.
        """
        if record.tag == "flow":
            found = self._flow(record)
        else:
            found = (
                one._replace(name=name)
                for one in self._single(record)
                for name in copies(one.name, quota, self.suffix, taken)
            )
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
        name, time = record.attributes["id"], self._time(record)
        if time is None:
            text = record.attributes["depart"]
            what = f"depart={text!r}"
            want_ignored(text, what, record.where, self.ignored, self.remarks)
            self.remarks.add(f'vehicles with depart="{text}" are left out', name, differs=True)
        elif time < self.end:
            yield Departure(name, time, 0.0, name)

    def _time(self, record: Record) -> float | None:
        """When a single vehicle departs; None if something else is to let it depart."""
        text = record.attributes.get("depart")
        if text is None:
            raise DemandError(f"{record.where}: has no 'depart'; give seconds or H:M:S")
        if text in DEPARTS:
            return None
        if text == "begin":
            return max(self.begin, 0.0)
        return seconds(text, record.where, "depart", 0.0, LATEST)

    def _begin(self, record: Record) -> float:
        """When a flow begins."""
        text = record.attributes.get("begin", "0")
        if text == "begin":
            return max(self.begin, 0.0)
        return seconds(text, record.where, "begin", 0.0, LATEST)

    def _flow(self, record: Record) -> Iterator[Departure]:
        a, name, where = record.attributes, record.attributes["id"], record.where
        begin = self._begin(record)
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
        factor = self.scale(record, name)
        if factor == 0.0:
            return
        if rules and rules[0] == "probability":
            p = number(a["probability"], where, "probability", 0.0, 1.0)
            times = self._several(self._each_second(name, begin, p), factor)
        elif a.get("period", "").startswith("exp(") and a["period"].endswith(")"):
            rate = number(a["period"][4:-1], where, "period", 1e-9, 1e4)
            times = self._poisson(name, begin, rate * factor)
        else:
            step = self._step(record, rules, begin, end, most)
            if factor != 1.0 and most is None:  # as SUMO: so many, and none after the end
                most = ceil((end - begin) / step - 1e-9)
            step /= factor
            # A number between begin and end is inside whatever the rounding.
            limit = min(end, self.end) if rules else self.end
            yield from self._even(name, begin, limit, step, _times(most, factor))
            return
        most = _times(most, factor)
        for k, time in enumerate(times):
            if time >= min(end, self.end) or (most is not None and k >= most):
                return
            yield Departure(f"{name}.{k}", time, 0.0, f"{name}.{k}")

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
            yield Departure(f"{name}.{k}", time, k * step, f"{name}.{k}")

    def _each_second(self, name: str, begin: float, p: float) -> Iterator[float]:
        """Successes of one draw per second; drawn as the gaps between them, which is the same."""
        if p < LEAST_PROBABILITY:
            return
        second = -1.0
        for k in count():
            u = drawn(self.seed, name, STREAM_FLOW, k)
            second += 1.0 if p >= 1.0 else 1.0 + floor(log1p(-u) / log1p(-p))
            yield begin + second

    def _several(self, times: Iterator[float], factor: float) -> Iterator[float]:
        """Each time as often as a factor says."""
        quota = Quota()
        for time in times:
            yield from repeat(time, quota.of(factor))

    def _poisson(self, name: str, begin: float, rate: float) -> Iterator[float]:
        time = begin
        for k in count():
            time -= log1p(-drawn(self.seed, name, STREAM_FLOW, k)) / rate
            yield time


def _times(number: int | None, factor: float) -> int | None:
    """A number of vehicles, scaled; None: any."""
    return None if number is None else floor(number * factor + 0.5)
