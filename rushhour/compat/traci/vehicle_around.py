"""`traci.vehicle`: who is near a vehicle, and where it will stop."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from rushhour.compat.traci import constants as tc
from rushhour.compat.traci.exceptions import TraCIException
from rushhour.compat.traci.vehicle_habits import VehicleHabits
from rushhour.traffic.readings.sight import leader, way_ahead

if TYPE_CHECKING:
    from rushhour.compat.traci.scene import Scene

Near = tuple[str, float]
RIGHT, AHEAD, BLOCKING = 1, 2, 4  # bits of getNeighbors' modes
FAR: Final = 1e9


@dataclass(frozen=True)
class StopData:
    """A stop to come, as SUMO's. endPos: m; duration: s; until: s, INVALID_DOUBLE_VALUE none."""

    lane: str
    startPos: float
    endPos: float
    duration: float
    until: float
    stopFlags: int
    stoppingPlaceID: str = ""


class VehicleAround(VehicleHabits):
    """Neighbours by id, distances in m."""

    @property
    def _scene(self) -> "Scene":
        return self._connection.scene

    def getFollower(self, vehID: str, dist: float = 0.0) -> Near:
        """The next behind that has it as its leader, and the gap less that one's minGap, m; ("", -1).

        dist: m; 0 looks 100 m back.
        """
        slot, world = self._slot(vehID), self._world
        best: Near = ("", -1.0)
        if slot < 0:
            return best
        veh, reach = world.sim.veh, dist if dist > 0.0 else 100.0
        here = int(veh.lane[slot])
        behind = [one for one in self._scene.on_lane[here] if veh.s[one] < veh.s[slot]]
        nearby = behind[-1:]
        if not nearby:
            x, y = self._scene.place(slot)
            length = float(veh.length[slot])
            names = self._scene.within((x, y), reach + length)
            nearby = [world.control.fleet.slot(self._number(name)) for name in names]
        least = FAR
        for one in nearby:
            if one == slot:
                continue
            far = reach + float(veh.length[slot])
            ahead, gap = leader(world, one, way_ahead(world, one, far), far)
            if ahead == slot and gap <= reach and gap < least:
                least = gap
                keep = world.demand.types[int(veh.type[one])].min_gap
                best = world.demand.ids[int(veh.id[one])], gap - keep
        return best

    def getNeighbors(self, vehID: str, mode: int) -> tuple[Near, ...]:
        """The next on the lane beside of its edge and the gap to it less the minGap of who is behind.

        mode: bit 1 the right lane, else the left; bit 2 ahead, else behind. Those "blocking" (bit 4)
        are not told apart.
        """
        slot, world = self._slot(vehID), self._world
        if mode & BLOCKING:
            raise TraCIException(
                "vehicle.getNeighbors: blocking ones (bit 4) are not told apart; leave it out"
            )
        if slot < 0:
            return ()
        veh, edge = world.sim.veh, self._names.edges[world.sim.veh.lane[slot]]
        index = self._names.index(int(veh.lane[slot])) + (-1 if mode & RIGHT else 1)
        lane = self._names.lane_number.get(f"{edge}_{index}", -1)
        others = self._scene.on_lane.get(lane, [])
        if mode & AHEAD:
            found = [one for one in others if veh.s[one] > veh.s[slot]][:1]
        else:
            found = [one for one in others if veh.s[one] <= veh.s[slot]][-1:]
        near: list[Near] = []
        for one in found:
            first, second = (one, slot) if mode & AHEAD else (slot, one)
            keep = world.demand.types[int(veh.type[second])].min_gap
            gap = float(veh.s[first] - veh.length[first] - veh.s[second]) - keep
            near.append((world.demand.ids[int(veh.id[one])], gap))
        return tuple(near)

    def getLeftLeaders(self, vehID: str, blockingOnly: bool = False) -> tuple[Near, ...]:
        """As `getNeighbors`."""
        return self.getNeighbors(vehID, AHEAD | (BLOCKING if blockingOnly else 0))

    def getRightLeaders(self, vehID: str, blockingOnly: bool = False) -> tuple[Near, ...]:
        """As `getNeighbors`."""
        return self.getNeighbors(vehID, RIGHT | AHEAD | (BLOCKING if blockingOnly else 0))

    def getLeftFollowers(self, vehID: str, blockingOnly: bool = False) -> tuple[Near, ...]:
        """As `getNeighbors`."""
        return self.getNeighbors(vehID, BLOCKING if blockingOnly else 0)

    def getRightFollowers(self, vehID: str, blockingOnly: bool = False) -> tuple[Near, ...]:
        """As `getNeighbors`."""
        return self.getNeighbors(vehID, RIGHT | (BLOCKING if blockingOnly else 0))

    # --- places on its way -------------------------------------------------------------------

    def getDrivingDistance(self, vehID: str, edgeID: str, pos: float, laneIndex: int = 0) -> float:
        """m along its route to a place on it; INVALID_DOUBLE_VALUE where it does not come there."""
        slot, world = self._slot(vehID), self._world
        lane = self._names.lane_number.get(f"{edgeID}_{laneIndex}", -1)
        if lane < 0:
            raise TraCIException(
                f"getDrivingDistance: no lane {laneIndex} on edge '{str(edgeID)[:60]}'"
            )
        veh = world.sim.veh
        if slot < 0 or veh.leg[slot] < 0:
            return tc.INVALID_DOUBLE_VALUE
        network, at = world.network, float(self._names.from_file(lane, pos))
        roads = world.sim.routes.road[veh.leg[slot] : veh.route_end[slot]].tolist()
        goal = network.road_index.get(str(edgeID), -1)
        here = int(veh.lane[slot])
        inside = here >= network.n_road_lanes
        if not inside and roads[0] == goal and at >= veh.s[slot]:
            return at - float(veh.s[slot])
        lengths = network.arrays.lanes.length
        far = float(lengths[here] - veh.s[slot])
        between = network.arrays.roads.length
        for place, (before, road) in enumerate(pairwise(roads)):
            if place or not inside:
                far += self._across(before, road)
            if road == goal:
                return far + at
            far += float(between[road])
        return tc.INVALID_DOUBLE_VALUE

    def _across(self, before: int, after: int) -> float:
        """Length of the shortest way from one road to the next."""
        arrays, n = self._world.network.arrays, self._world.network.n_road_lanes
        first = int(arrays.roads.first_lane[before])
        last = first + int(arrays.roads.lane_count[before])
        ways = range(int(arrays.lanes.out_start[first]), int(arrays.lanes.out_start[last]))
        road_of, to = arrays.lanes.road, arrays.connectors.to_lane
        found = [float(arrays.lanes.length[n + k]) for k in ways if road_of[to[k]] == after]
        return min(found, default=0.0)

    def getDrivingDistance2D(self, vehID: str, x: float, y: float) -> float:
        """The same, to the place on a lane that is nearest to x, y."""
        edge, pos, index = self._connection.simulation.convertRoad(x, y)
        return self.getDrivingDistance(vehID, edge, pos, index)

    def getStops(self, vehID: str, limit: int = 0) -> tuple[StopData, ...]:
        """Its stops to come, at most `limit` (0: all); one that it is at comes first."""
        slot, world = self._slot(vehID), self._world
        if limit < 0:
            raise TraCIException("getStops: those that were made are not kept; give 0 or more")
        if slot < 0:
            number, demand = self._number(vehID), world.demand
            rows = range(int(demand.stop_start[number]), int(demand.stop_start[number + 1]))
        else:
            rows = range(int(world.sim.veh.stop[slot]), int(world.sim.veh.stop_end[slot]))
        pool, found = world.sim.routes, []
        for row in rows[: limit or None]:
            lane, until = int(pool.stop_lane[row]), int(pool.stop_until[row])
            pos = self._names.to_file(lane, float(pool.stop_pos[row]))
            found.append(
                StopData(
                    lane=self._names.lanes[lane],
                    startPos=pos,
                    endPos=pos,
                    duration=float(pool.stop_frames[row]) * world.dt,
                    until=world.begin + until * world.dt if until > 0 else tc.INVALID_DOUBLE_VALUE,
                    stopFlags=tc.STOP_PARKING if pool.stop_parking[row] else tc.STOP_DEFAULT,
                )
            )
        return tuple(found)

    def getNextStops(self, vehID: str) -> tuple[tuple[str, float, str, int, float, float], ...]:
        """The same as tuples: lane, endPos, "", 1 for the one that it is at and 2 for those beside
        the road, duration, until.
        """
        now = self.getStopState(vehID) & 1
        return tuple(
            (one.lane, one.endPos, one.stoppingPlaceID, 2 * one.stopFlags + (0 if place else now),
             one.duration, one.until)
            for place, one in enumerate(self.getStops(vehID))
        )  # fmt: skip

    def getStopState(self, vehID: str) -> int:
        """1 at a stop, 3 where that is beside the road, else 0."""
        raise NotImplementedError

    def resume(self, vehID: str) -> None:
        """Drive on from the stop that it is at."""
        self._want(vehID)
        self._tell(self._world.leave_stop, vehID)
