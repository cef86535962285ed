"""`traci.vehicle`: what vehicles can be told. Each is a command of the world, logged with it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from rushhour.compat.traci import constants as tc
from rushhour.compat.traci.domain import Domain
from rushhour.compat.traci.exceptions import TraCIException
from rushhour.roadnets.errors import RushhourError
from rushhour.traffic.commands.kinds import TAKEN
from rushhour.traffic.commands.limits import FASTEST, SLOWEST

if TYPE_CHECKING:
    from rushhour.compat.traci.connection import Connection

NO_END: Final = 1e7  # s, of stops without an end
ALWAYS: Final = 86_400.0  # s, of lanes asked for without an end
_DRAWN: Final = "looks are the viewer's, docs/viewer.md"


@dataclass
class Wishes:
    """What a script wants of the speed of one vehicle, m/s; None: nothing."""

    speed: float | None = None  # setSpeed
    most: float | None = None  # setMaxSpeed
    factor: float | None = None  # setSpeedFactor: of the limit where it is
    ramp: tuple[float, float, float, float] | None = None  # slowDown: from, to, s from, s until
    halts: bool = False  # was told to stand
    told: float | None = None  # what the world was told last


class VehicleCommands(Domain):
    """Commands to vehicles by id; they take effect as the next step begins."""

    INSTEAD: ClassVar[Mapping[str, str]] = {
        "moveTo": "vehicles drive; remove it and add another, or world.set_route",
        "moveToXY": "vehicles drive; bodies that others move are world.bodies, docs/steered.md",
        "highlight": _DRAWN, "setSignals": _DRAWN,
        "setAcceleration": "give setSpeed or slowDown",
        "openGap": "give setSpeed or slowDown", "changeSublane": "give changeLane",
        "setAccel": "give setType", "setDecel": "give setType", "setTau": "give setType",
        "setMinGap": "give setType", "setLength": "give setType", "setImperfection": "give setType",
        "rerouteEffort": "give rerouteTraveltime", "setVia": "give setRoute",
        "setAdaptedTraveltime": "parameters rerouting, docs/commands.md",
        "setBusStop": "give setStop with its place", "replaceStop": "give setStop, or resume",
        "getPersonCapacity": "nobody rides", "getTaxiFleet": "there are no taxis",
        "dispatchTaxi": "there are no taxis",
    }  # fmt: skip

    def __init__(self, connection: "Connection") -> None:
        super().__init__(connection)
        self._wishes: dict[str, Wishes] = {}
        self._waiting: set[str] = set()  # whose wishes the world has yet to be told
        self._route_ids: dict[str, str] = {}
        self._added: dict[str, str] = {}  # types of those who join as the next step begins
        self._begin_habits()

    def _number(self, vehID: str) -> int:
        """Number of a vehicle. Raises TraCIException for one that is not known."""
        try:
            return self._world.control.fleet.number("vehicle", str(vehID))
        except RushhourError:
            raise self._unknown(vehID) from None

    def _slot(self, vehID: str) -> int:
        raise NotImplementedError

    def _begin_habits(self) -> None:
        raise NotImplementedError

    # --- speeds ----------------------------------------------------------------------------

    def _wish(self, vehID: str) -> Wishes:
        self._slot(vehID)
        self._waiting.add(vehID)
        return self._wishes.setdefault(vehID, Wishes())

    def setSpeed(self, vehID: str, speed: float) -> None:
        """Drive no faster than `speed`, m/s, until told otherwise; -1 lets it go.

        What is safe and allowed binds it as before. Below 0.1 m/s it stops in its lane.
        """
        wish = self._wish(vehID)
        wish.speed, wish.ramp = (None if speed < 0.0 else _speed("setSpeed", speed)), None

    def slowDown(self, vehID: str, speed: float, duration: float) -> None:
        """Come to `speed`, m/s, within `duration`, s, evenly; then it drives as it likes."""
        at = self._slot(vehID)
        now, begin = (0.0 if at < 0 else float(self._world.sim.veh.speed[at])), self._world.time
        self._wish(vehID).ramp = (now, _speed("slowDown", speed), begin, begin + max(0.0, duration))

    def setMaxSpeed(self, vehID: str, speed: float) -> None:
        """Drive no faster than `speed`, m/s, on any road."""
        self._wish(vehID).most = _speed("setMaxSpeed", speed)

    def _before_step(self) -> None:
        """Tell the world the speeds that are wanted, as a step begins."""
        for name in sorted(self._waiting - set(self._added)):
            number, wish = self._number(name), self._wishes[name]
            if self._world.control.fleet.becomes.get(number) == TAKEN:
                self._waiting.discard(name)
            elif self._world.control.fleet.slot(number) >= 0:
                self._tell_speed(number, wish)
                if wish.ramp is None and wish.factor is None:
                    self._waiting.discard(name)
            elif self._connection.steps.over(number):
                self._waiting.discard(name)
        self._added = {}

    def _tell_speed(self, number: int, wish: Wishes) -> None:
        world = self._world
        if wish.ramp is not None and world.time >= wish.ramp[3] - 1e-9:
            wish.ramp = None
        wanted = [one for one in (wish.speed, wish.most) if one is not None]
        if wish.ramp is not None:
            start, goal, begin, end = wish.ramp
            share = min(1.0, (world.time + self._connection.options.step - begin) / (end - begin))
            wanted.append(start + (goal - start) * share)
        if wish.factor is not None:
            lane = world.sim.veh.lane[world.control.fleet.slot(number)]
            wanted.append(wish.factor * float(world.network.arrays.lanes.speed[lane]))
        least = min(wanted, default=None)
        halts = least is not None and least < SLOWEST
        try:
            if halts and not wish.halts:
                world.stop(number)
            elif wish.halts and not halts:
                world.go_on(number)
            told = None if least is None or halts else min(least, FASTEST)
            if told != wish.told:
                world.set_speed(number, told)
            wish.told, wish.halts = told, halts
        except RushhourError as error:
            self._waiting.discard(self._world.demand.ids[number])
            raise TraCIException(str(error)) from None

    # --- ways ------------------------------------------------------------------------------

    def setRoute(self, vehID: str, edgeList: Iterable[str]) -> None:
        """Drive other edges, the first of which is the one that it is on."""
        self._want(vehID)
        self._tell(self._world.set_route, vehID, [str(edge) for edge in edgeList])
        self._route_ids.pop(vehID, None)

    def setRouteID(self, vehID: str, routeID: str) -> None:
        """Drive a route by its id."""
        self.setRoute(vehID, self._connection.route.getEdges(routeID))
        self._route_ids[vehID] = routeID

    def changeTarget(self, vehID: str, edgeID: str) -> None:
        """Drive to another edge by the best way."""
        self._want(vehID)
        self._tell(self._world.set_destination, vehID, edgeID)

    def rerouteTraveltime(self, vehID: str, currentTravelTimes: bool = True) -> None:
        """Find the best way to its destination again (where drivers reroute, by the times now)."""
        slot, world = self._slot(vehID), self._world
        if slot >= 0 and world.sim.veh.leg[slot] >= 0:
            last = int(world.sim.routes.road[world.sim.veh.route_end[slot] - 1])
            self._tell(world.set_destination, vehID, world.network.road_ids[last])

    def changeLane(self, vehID: str, laneIndex: int, duration: float) -> None:
        """Change to a lane of its edge by its index, as soon as it is safe, and stay for s."""
        slot, world = self._slot(vehID), self._world
        if slot < 0:
            raise TraCIException(f"changeLane: vehicle '{vehID[:60]}' has not departed yet")
        edge = self._names.edges[world.sim.veh.lane[slot]]
        lane = self._names.lane_number.get(f"{edge}_{laneIndex}", -1)
        if lane < 0 or lane >= world.network.n_road_lanes:
            raise TraCIException(f"changeLane: no lane {laneIndex} on edge '{edge[:60]}'")
        seconds = ALWAYS if not 0.0 < duration < ALWAYS else duration
        self._tell(world.request_lane, vehID, int(world.network.arrays.lanes.number[lane]), seconds)

    def changeLaneRelative(self, vehID: str, indexOffset: int, duration: float) -> None:
        """Change so many lanes to the left (of those driving on the right)."""
        slot = self._slot(vehID)
        index = 0 if slot < 0 else self._names.index(int(self._world.sim.veh.lane[slot]))
        self.changeLane(vehID, index + indexOffset, duration)

    def setType(self, vehID: str, typeID: str) -> None:
        """Be of another type, one that is not longer."""
        self._want(vehID)
        self._tell(self._world.set_type, vehID, typeID)

    # --- stops, being there -----------------------------------------------------------------

    def setStop(
        self,
        vehID: str,
        edgeID: str,
        pos: float = 1.0,
        laneIndex: int = 0,
        duration: float = tc.INVALID_DOUBLE_VALUE,
        flags: int = tc.STOP_DEFAULT,
        startPos: float = tc.INVALID_DOUBLE_VALUE,
        until: float = tc.INVALID_DOUBLE_VALUE,
    ) -> None:
        """Stop at a place of its route, in its lane, for s (without end if not given)."""
        if flags != tc.STOP_DEFAULT or until != tc.INVALID_DOUBLE_VALUE:
            raise TraCIException("setStop: flags and until are not there; give a duration")
        self._want(vehID)
        lane = self._names.lane_number.get(f"{edgeID}_{laneIndex}", -1)
        if lane < 0:
            raise TraCIException(f"setStop: no lane {laneIndex} on edge '{str(edgeID)[:60]}'")
        network = self._world.network
        place, number = self._names.from_file(lane, pos), int(network.arrays.lanes.number[lane])
        seconds = NO_END if duration == tc.INVALID_DOUBLE_VALUE else duration
        self._tell(self._world.stop_at, vehID, edgeID, place, seconds, lane=number)

    def remove(self, vehID: str, reason: int = tc.REMOVE_VAPORIZED) -> None:
        """Take a vehicle off the road as the next step begins."""
        self._want(vehID)
        self._tell(self._world.remove, vehID)

    def add(
        self,
        vehID: str,
        routeID: str,
        typeID: str = "DEFAULT_VEHTYPE",
        depart: str | float | None = "now",
        departLane: str | int = "first",
        departPos: str | float = "base",
        departSpeed: str | float = "0",
        **more: object,
    ) -> None:
        """Add a vehicle on a route by its id. depart: "now" or s; two edges apart are a trip."""
        if more:
            raise TraCIException(
                f"vehicle.add: {', '.join(more)[:80]} are not there; leave them out"
            )
        edges = self._connection.route.getEdges(routeID)
        row: dict[str, object] = {"id": vehID, "type": typeID}
        if depart not in ("now", None):
            row["depart"] = _number("depart", depart)
        for name, given, quiet in (
            ("depart_lane", departLane, ("first", "best", "free", "allowed", "random")),
            ("depart_pos", departPos, ("base", "free", "last")),
            ("depart_speed", departSpeed, ("max", "desired", "speedLimit")),
        ):
            if given not in quiet:
                row[name] = given
        if departSpeed in ("max", "desired", "speedLimit"):
            first = self._world.network.road_index[edges[0]]
            limit = float(self._world.network.arrays.roads.speed[first])
            row["depart_speed"] = min(limit, self._connection.vehicletype.getMaxSpeed(typeID))
        joined = len(edges) == 1 or self._connection.route._is_connected(edges)
        ways = {"route": list(edges)} if joined else {"origin": edges[0], "destination": edges[-1]}
        self._tell(self._world.add_vehicles, [{**row, **ways}])
        self._added[vehID], self._route_ids[vehID] = typeID, routeID


def _speed(call: str, speed: float) -> float:
    if not 0.0 <= speed < 1e6:
        raise TraCIException(f"{call}: speed {str(speed)[:40]}: wanted 0 m/s or more")
    return float(speed)


def _number(what: str, text: object) -> float:
    try:
        return float(str(text))
    except ValueError:
        raise TraCIException(f"vehicle.add: {what} {str(text)[:40]!r}: wanted 'now' or s") from None
