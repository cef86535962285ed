"""Places on lanes in SUMO demand: where vehicles depart, stop and arrive.

Positions in the files are metres of the lane's declared length, negative ones from its end; ours
are metres along the lane's shape.
"""

from collections.abc import Collection, Sequence
from math import inf
from typing import Any, Final

from rushhour.kernels.core.vehicles import MAX_LANES
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.model import Network
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.reading.values import number, seconds, whole
from rushhour.traffic.demand import model as codes
from rushhour.traffic.demand.builder import Stop
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.sumo.asked import OPPORTUNISTIC, want_ignored
from rushhour.traffic.sumo.flows import LATEST
from rushhour.traffic.sumo.options import switched
from rushhour.traffic.sumo.records import Attributes, StopRecord
from rushhour.traffic.sumo.vehicle_types import drawn

STREAM_ARRIVAL: Final = 8304
FASTEST: Final = 200.0  # m/s
LINE_GAP: Final = 0.1  # m before the lane's end where the last stop can be
_LANES: Final = {
    "first": codes.LANE_FIRST, "best": codes.LANE_BEST, "best_prob": codes.LANE_BEST,
    "free": codes.LANE_FREE, "random": codes.LANE_RANDOM, "allowed": codes.LANE_ALLOWED,
}  # fmt: skip
_POSITIONS: Final = {
    "base": codes.POS_BASE, "random": codes.POS_RANDOM, "free": codes.POS_FREE,
    "random_free": codes.POS_RANDOM_FREE, "random_location": codes.POS_RANDOM_FREE,
    "last": codes.POS_LAST, "splitFront": codes.POS_LAST, "stop": codes.POS_BASE,
}  # fmt: skip
_SPEEDS: Final = {
    "max": codes.SPEED_MAX, "desired": codes.SPEED_DESIRED, "speedLimit": codes.SPEED_LIMIT,
    "random": codes.SPEED_RANDOM, "last": codes.SPEED_LAST, "avg": codes.SPEED_AVERAGE,
}  # fmt: skip
LANE, SPEED = (
    "best_prob",
    "avg",
)  # of vehicles that do not say: SUMO's default.departlane, .departspeed


class Places:
    """Reads places on the lanes of a network."""

    def __init__(
        self,
        network: Network,
        seed: int,
        remarks: Remarks,
        skip_bad_stops: bool = False,
        ignored: Collection[str] = (),
    ) -> None:
        self.network = network
        self.skip_bad_stops = skip_bad_stops
        self.ignored = ignored  # names of `asked` that are let be
        self.seed = seed
        self.remarks = remarks
        n = network.n_road_lanes
        self._declared = network.declared_length.tolist()
        self._length = network.arrays.lanes.length[:n].tolist()
        self._permissions = network.arrays.lanes.permissions[:n].tolist()
        self._road = network.arrays.lanes.road[:n].tolist()
        self._first_lane = network.arrays.roads.first_lane.tolist()
        self._lane_count = network.arrays.roads.lane_count.tolist()

    def road_of(self, lane: int) -> int:
        """Road of a road lane."""
        return int(self._road[lane])

    def true_metres(self, lane: int, text: str, where: str, what: str) -> float:
        """Metres along our lane of a position in the file."""
        declared = self._declared[lane]
        value = number(text, where, what, -1e7, 1e7)
        if value < 0.0:
            value += declared
        if not -LINE_GAP <= value <= declared + LINE_GAP:
            self.remarks.add(f"{what} beyond the lane, moved to its end", where, differs=True)
        return float(min(max(value, 0.0), declared) * (self._length[lane] / max(declared, 1e-3)))

    def departure(
        self, a: Attributes, road: int, stops: Sequence[Stop], kind: VehicleType, where: str
    ) -> dict[str, Any]:
        """The depart_ fields of a trip whose first road this is."""
        lane, text = self._depart_lane(a.get("departLane", LANE), road, kind, where)
        values: dict[str, Any] = {"depart_lane": lane}
        at_lane = self._first_lane[road] + max(0, lane)
        text = a.get("departPos", "base")
        if text == "stop" and stops and self._road[stops[0].lane] == road:
            values["depart_lane"] = stops[0].lane - self._first_lane[road]
            values["depart_pos_kind"] = codes.POS_GIVEN
            values["depart_pos"] = stops[0].pos
        elif text in _POSITIONS:
            values["depart_pos_kind"] = _POSITIONS[text]
        else:
            values["depart_pos_kind"] = codes.POS_GIVEN
            values["depart_pos"] = self.true_metres(at_lane, text, where, "departPos")
        text = a.get("departSpeed", SPEED)
        if text in _SPEEDS:
            values["depart_speed_kind"] = _SPEEDS[text]
        else:
            values["depart_speed"] = number(text, where, "departSpeed", 0.0, FASTEST)
        return values

    def _depart_lane(self, text: str, road: int, kind: VehicleType, where: str) -> tuple[int, str]:
        """Code or number of a departLane. The file counts lanes that are closed to cars as well."""
        if text in _LANES:
            return _LANES[text], text
        given = whole(text, where, "departLane", 0, MAX_LANES - 1)
        edge, first = self.network.road_ids[road], self._first_lane[road]
        lane = self.network.lane_index.get(f"{edge}_{given}", -1)
        if lane < 0 and not any(
            self.network.lane_ids[first + j].startswith(f"{edge}_")
            for j in range(self._lane_count[road])
        ):
            lane = first + given if given < self._lane_count[road] else -1
        if lane < 0 or self._road[lane] != road or not self._allows(lane, kind):
            raise DemandError(
                f"{where}: lane {given} of road {edge!r} is not there or closed to class "
                f"{kind.vehicle_class}; correct departLane"
            )
        return lane - first, text

    def _allows(self, lane: int, kind: VehicleType) -> bool:
        return bool(self._permissions[lane] & CLASS_BIT[kind.vehicle_class])

    def arrival(self, a: Attributes, road: int, name: str, where: str) -> float:
        """Where on its last road a trip ends, m; inf: at its end."""
        text = a.get("arrivalPos", "max")
        lane = self._first_lane[road]
        if text == "max":
            return inf
        if text == "random":
            return float(self._length[lane]) * drawn(self.seed, name, STREAM_ARRIVAL)
        return self.true_metres(lane, text, where, "arrivalPos")

    def stop(
        self, stop: StopRecord, bus_stops: dict[str, Attributes], kind: VehicleType, later: float
    ) -> Stop | None:
        """The halt of a stop element; None (and a remark) for one that cannot be served.

        later: s to add to a time that the file counts from the departure.
        """
        a, where = stop.attributes, stop.where
        place = a
        if "busStop" in a:
            found = bus_stops.get(a["busStop"])
            if found is None:
                raise DemandError(
                    f"{where}: bus stop {a['busStop'][:60]!r} is in no file given; add its file"
                )
            place = found
        if "lane" not in place:
            if not self.ignored:  # of a place that is: told already
                raise DemandError(f"{where}: is neither at a lane nor at a bus stop; give it one")
            self.remarks.add(
                "stops neither at a lane nor at a bus stop are left out", where, differs=True
            )
            return None
        lane = self.network.lane_index.get(place["lane"])
        if lane is None:
            raise DemandError(
                f"{where}: lane {place['lane'][:60]!r} is not in {self.network.name}, or closed to "
                "all road vehicles; correct the stop"
            )
        if not self._allows(lane, kind):
            what = f"lane {place['lane'][:60]!r} is closed to class {kind.vehicle_class}"
            self._leave_out("stops on lanes closed to the vehicle are left out", where, what)
            return None
        length = self._length[lane]
        pos = length
        if "endPos" in place:
            pos = self.true_metres(lane, place["endPos"], where, "endPos")
        if "duration" not in a and "until" not in a:
            self.remarks.add("stops without duration and until last 0 s", where)
        duration = seconds(a.get("duration", "0"), where, "duration", -LATEST, LATEST)
        until = seconds(a["until"], where, "until", 0.0, LATEST) + later if "until" in a else -inf
        parking = self._parking(a.get("parking", "false"), where)
        return Stop(lane, min(pos, length - LINE_GAP), max(duration, 0.0), until, parking)

    def _parking(self, text: str, where: str) -> bool:
        """Whether a vehicle stands beside the road while it stops."""
        if text == OPPORTUNISTIC:
            want_ignored(text, f"parking={text!r}", where, self.ignored, self.remarks)
            return False
        try:
            return switched(text)
        except ValueError:
            raise DemandError(f"{where}: parking {text[:40]!r}; give true or false") from None

    def _leave_out(self, told: str, where: str, what: str) -> None:
        """Leave a stop out that cannot be served, where that was asked for."""
        if not self.skip_bad_stops:
            raise DemandError(
                f"{where}: {what}; correct it, or run without such stops by --skip-bad-trips"
            )
        self.remarks.add(told, where, differs=True)

    def served(self, stops: Sequence[Stop], roads: Sequence[int], where: str) -> list[Stop]:
        """The stops that the route passes in this order; others are left out, with a remark."""
        kept: list[Stop] = []
        at, last_pos = 0, -1.0
        for stop in stops:
            place = at
            if self._road[stop.lane] == roads[at] and stop.pos < last_pos:
                place += 1
            while place < len(roads) and roads[place] != self._road[stop.lane]:
                place += 1
            if place == len(roads):
                lane = self.network.lane_ids[stop.lane]
                what = f"the stop on lane {lane!r} is not on the rest of the route"
                told = "stops that are not on the rest of the route are left out"
                self._leave_out(told, where, what)
                continue
            at, last_pos = place, stop.pos
            kept.append(stop)
        return kept
