"""`traci.vehicle`: what can be asked about vehicles. What they can be told: vehicle_commands.py."""

from collections.abc import Mapping
from math import degrees
from typing import ClassVar

import numpy as np

from rushhour.compat.traci import constants as tc
from rushhour.compat.traci.exceptions import TraCIException
from rushhour.compat.traci.vehicle_around import VehicleAround
from rushhour.compat.traci.vehicletype import TypeReads
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.readings.sight import leader, way_ahead

INVALID = tc.INVALID_DOUBLE_VALUE
LIGHTS_WITHIN = 1000.0  # m
AT_STOP, PARKED = 1, 2  # bits of getStopState


class VehicleDomain(VehicleAround, TypeReads):
    """Vehicles by id. One that has not departed yet has the values that SUMO calls invalid; one
    that has arrived is not known. Speeds in m/s, positions in m, times in s."""

    NAME, KIND, NUMBER = "vehicle", "Vehicle", tc.CMD_GET_VEHICLE_VARIABLE
    DEFAULT = (tc.VAR_ROAD_ID, tc.VAR_LANEPOSITION)
    VARS: ClassVar[Mapping[int, str]] = {
        **TypeReads.VARS,
        tc.VAR_SPEED: "getSpeed", tc.VAR_POSITION: "getPosition", tc.VAR_POSITION3D: "getPosition3D",
        tc.VAR_ANGLE: "getAngle", tc.VAR_ROAD_ID: "getRoadID", tc.VAR_LANE_ID: "getLaneID",
        tc.VAR_LANE_INDEX: "getLaneIndex", tc.VAR_TYPE: "getTypeID", tc.VAR_ROUTE_ID: "getRouteID",
        tc.VAR_EDGES: "getRoute", tc.VAR_ROUTE_INDEX: "getRouteIndex",
        tc.VAR_LANEPOSITION: "getLanePosition", tc.VAR_LANEPOSITION_LAT: "getLateralLanePosition",
        tc.VAR_ALLOWED_SPEED: "getAllowedSpeed", tc.VAR_WAITING_TIME: "getWaitingTime",
        tc.VAR_ACCUMULATED_WAITING_TIME: "getAccumulatedWaitingTime", tc.VAR_DISTANCE: "getDistance",
        tc.VAR_ACCELERATION: "getAcceleration", tc.VAR_NEXT_TLS: "getNextTLS",
        tc.VAR_LEADER: "getLeader", tc.VAR_DEPARTURE: "getDeparture",
        tc.VAR_DEPART_DELAY: "getDepartDelay", tc.VAR_TIMELOSS: "getTimeLoss",
        tc.VAR_STOPSTATE: "getStopState", tc.VAR_COLOR: "getColor",
        tc.VAR_FOLLOWER: "getFollower", tc.VAR_SPEEDSETMODE: "getSpeedMode",
        tc.VAR_LANECHANGE_MODE: "getLaneChangeMode",
    }  # fmt: skip

    def getIDList(self) -> tuple[str, ...]:
        """Ids of those on the road, sorted."""
        return self._connection.scene.ids

    def getIDCount(self) -> int:
        """How many are on the road."""
        return int(self._connection.scene.slots.size)

    def _slot(self, vehID: str) -> int:
        """Slot of a vehicle; -1 before it departs. Raises TraCIException for one that is not known."""
        if vehID in self._added:
            return -1
        number = self._number(vehID)
        slot = self._world.control.fleet.slot(number)
        if slot < 0 and self._connection.steps.over(number):
            raise self._unknown(vehID)
        return slot

    def _column(self, vehID: str, name: str) -> float:
        slot = self._slot(vehID)
        return INVALID if slot < 0 else float(getattr(self._world.sim.veh, name)[slot])

    # --- motion ----------------------------------------------------------------------------

    def getSpeed(self, vehID: str) -> float:
        """Speed, m/s."""
        return self._column(vehID, "speed")

    def getAcceleration(self, vehID: str) -> float:
        """Acceleration in the last frame, m/s^2."""
        return self._column(vehID, "accel")

    def getPosition(self, vehID: str) -> tuple[float, float]:
        """x, y of the middle of its front bumper in the network's coordinates."""
        slot = self._slot(vehID)
        return (INVALID, INVALID) if slot < 0 else self._connection.scene.place(slot)

    def getPosition3D(self, vehID: str) -> tuple[float, float, float]:
        """The same, with height 0: roads are level here."""
        x, y = self.getPosition(vehID)
        return x, y, INVALID if x == INVALID else 0.0

    def getAngle(self, vehID: str) -> float:
        """Degrees clockwise from north."""
        slot, scene = self._slot(vehID), self._connection.scene
        if slot < 0:
            return INVALID
        return float((90.0 - degrees(scene.pose[scene.row[slot], 2])) % 360.0)

    def getRoadID(self, vehID: str) -> str:
        """Its edge, ":junction_..." inside one; "" before it departs."""
        slot = self._slot(vehID)
        return "" if slot < 0 else self._names.edges[self._world.sim.veh.lane[slot]]

    def getLaneID(self, vehID: str) -> str:
        """Its lane; "" before it departs."""
        slot = self._slot(vehID)
        return "" if slot < 0 else self._names.lanes[self._world.sim.veh.lane[slot]]

    def getLaneIndex(self, vehID: str) -> int:
        """Index of its lane, 0 the rightmost."""
        slot = self._slot(vehID)
        return (
            tc.INVALID_INT_VALUE if slot < 0 else self._names.index(self._world.sim.veh.lane[slot])
        )

    def getLanePosition(self, vehID: str) -> float:
        """m from the lane's start to its front."""
        slot, veh = self._slot(vehID), self._world.sim.veh
        return INVALID if slot < 0 else self._names.to_file(int(veh.lane[slot]), float(veh.s[slot]))

    def getLateralLanePosition(self, vehID: str) -> float:
        """m left of the lane's middle."""
        return self._column(vehID, "lateral")

    def getAllowedSpeed(self, vehID: str) -> float:
        """The fastest that it would drive on its lane, m/s."""
        slot, veh = self._slot(vehID), self._world.sim.veh
        if slot < 0:
            return INVALID
        limit = self._world.network.arrays.lanes.speed[veh.lane[slot]] * veh.factor[slot]
        return float(min(limit, self.getMaxSpeed(vehID)))

    # --- times -----------------------------------------------------------------------------

    def getWaitingTime(self, vehID: str) -> float:
        """s that it has stood without a break, stops left out."""
        slot, veh = self._slot(vehID), self._world.sim.veh
        if slot < 0:
            return INVALID
        since = int(veh.stands_since[slot])
        return (self._world.frame - since) * self._world.dt if since >= 0 else 0.0

    def getAccumulatedWaitingTime(self, vehID: str) -> float:
        """s that it has stood within the last 100 s."""
        slot = self._slot(vehID)
        return INVALID if slot < 0 else self._connection.steps.accumulated(self._number(vehID))

    def getTimeLoss(self, vehID: str) -> float:
        """s lost to driving slower than it would, since it departed."""
        slot, world = self._slot(vehID), self._world
        if slot < 0:
            return INVALID
        veh, t = world.sim.veh, int(world.sim.veh.type[slot])
        limit = world.network.arrays.lanes.speed[veh.lane[slot]] * veh.factor[slot]
        ideal = veh.ideal[slot] + veh.s[slot] / min(
            float(world.sim.types.max_speed[t]), float(limit)
        )
        driven = (world.frame - veh.depart_frame[slot] - veh.stopped[slot]) * world.dt
        return max(0.0, float(driven - ideal))

    def getDeparture(self, vehID: str) -> float:
        """s, when it departed."""
        slot, world = self._slot(vehID), self._world
        if slot < 0:
            return INVALID
        return float(world.begin + world.sim.veh.depart_frame[slot] * world.dt)

    def getDepartDelay(self, vehID: str) -> float:
        """s that it had to wait for room to depart; before that -1."""
        slot = self._slot(vehID)
        if slot < 0:
            return -1.0
        due = float(self._world.demand.depart[self._number(vehID)])
        return max(0.0, self.getDeparture(vehID) - due)

    def getDistance(self, vehID: str) -> float:
        """m driven since it departed."""
        slot, veh = self._slot(vehID), self._world.sim.veh
        return INVALID if slot < 0 else float(veh.distance[slot] + veh.s[slot])

    # --- ways ------------------------------------------------------------------------------

    def getTypeID(self, vehID: str) -> str:
        """Its type."""
        return self._kind(vehID).name

    def getRouteID(self, vehID: str) -> str:
        """Id of its route: the one that it was added with, else "!" and its own id."""
        self._slot(vehID)
        return self._route_ids.get(vehID, f"!{vehID}")

    def getRoute(self, vehID: str) -> tuple[str, ...]:
        """Edges of its route, as far as it is remembered."""
        slot, world = self._slot(vehID), self._world
        ids, veh = world.network.road_ids, world.sim.veh
        if vehID in self._added:
            return self._connection.route.getEdges(self._route_ids[vehID])
        if slot < 0:
            number, demand = self._number(vehID), world.demand
            roads = demand.roads[demand.route_start[number] : demand.route_start[number + 1]]
        elif veh.leg[slot] < 0:
            roads = np.zeros(0, np.int32)
        else:
            roads = world.sim.routes.road[veh.route_start[slot] : veh.route_end[slot]]
        return tuple(ids[road] for road in roads.tolist())

    def getRouteIndex(self, vehID: str) -> int:
        """Place of its edge in its route; -1 before it departs."""
        slot, veh = self._slot(vehID), self._world.sim.veh
        if slot < 0 or veh.leg[slot] < 0:
            return -1
        return int(veh.leg[slot] - veh.route_start[slot])

    def isRouteValid(self, vehID: str) -> bool:
        """Whether its route can be driven: always, others are refused."""
        self._slot(vehID)
        return True

    def getStopState(self, vehID: str) -> int:
        """1 at a stop, 3 where that is beside the road, else 0."""
        slot, world = self._slot(vehID), self._world
        if slot < 0 or world.sim.veh.dwell_until[slot] < 0:
            return 0
        stop = int(world.sim.veh.stop[slot])
        return AT_STOP | (PARKED if world.sim.routes.stop_parking[stop] else 0)

    def isStopped(self, vehID: str) -> bool:
        """Whether it is at a stop."""
        return bool(self.getStopState(vehID) & AT_STOP)

    def isStoppedParking(self, vehID: str) -> bool:
        """Whether it is at a stop beside the road."""
        return bool(self.getStopState(vehID) & PARKED)

    # --- what is ahead ---------------------------------------------------------------------

    def getLeader(self, vehID: str, dist: float = 100.0) -> tuple[str, float] | None:
        """The next ahead on its way and the gap to it less its own minGap, m; None: nobody.

        dist: m; 0 looks as far as it takes to brake.
        """
        slot, world = self._slot(vehID), self._world
        if slot < 0:
            return None
        speed, kind = float(world.sim.veh.speed[slot]), self._kind(vehID)
        reach = dist if dist > 0.0 else speed * speed / (2.0 * kind.decel) + speed + kind.min_gap
        ahead, gap = leader(world, slot, way_ahead(world, slot, reach), reach)
        if ahead < 0:
            return None
        return world.demand.ids[world.sim.veh.id[ahead]], gap - kind.min_gap

    def getNextTLS(self, vehID: str) -> tuple[tuple[str, int, float, str], ...]:
        """Lights on its way as far as it is planned: id, link, m to the line, letter."""
        slot, world = self._slot(vehID), self._world
        if slot < 0:
            return ()
        arrays, n, found = world.network.arrays, world.network.n_road_lanes, []
        far = -float(world.sim.veh.s[slot])
        for place, lane in enumerate(way_ahead(world, slot, LIGHTS_WITHIN)):
            if lane >= n and place and (signal := int(arrays.connectors.signal[lane - n])) >= 0:
                name = world.signals.ids[signal]
                link = int(arrays.connectors.link[lane - n])
                state = self._connection.trafficlight.getRedYellowGreenState(name)
                found.append((name, link, far, state[link]))
            far += float(arrays.lanes.length[lane])
        return tuple(found)

    # --- its type --------------------------------------------------------------------------

    def _kind(self, name: str) -> VehicleType:
        slot, world = self._slot(name), self._world
        if name in self._added:
            return self._connection.vehicletype._kind(self._added[name])
        kind = world.demand.type[self._number(name)] if slot < 0 else world.sim.veh.type[slot]
        return world.demand.types[int(kind)]

    def getMaxSpeed(self, typeID: str) -> float:
        """The fastest that it drives on any road, m/s."""
        told = self._wishes.get(typeID)
        most = self._kind(typeID).max_speed
        return most if told is None or told.most is None else min(told.most, most)

    def getSpeedFactor(self, typeID: str) -> float:
        """Its own desired speed by the limit."""
        own, told = self._column(typeID, "factor"), self._wishes.get(typeID)
        return own if told is None or told.factor is None else min(own, told.factor)

    # --- subscriptions ---------------------------------------------------------------------

    def _want(self, name: str) -> None:
        self._slot(name)

    def _is_there(self, name: str) -> bool:
        try:
            return self._slot(name) >= 0
        except TraCIException:
            return False

    def _is_over(self, name: str) -> bool:
        return name not in self._added and self._connection.steps.over(self._number(name))

    def _place(self, name: str) -> tuple[float, float]:
        return self.getPosition(name)
