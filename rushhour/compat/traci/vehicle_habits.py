"""`traci.vehicle`: what scripts set once and forget: modes, desired speeds, colours, parameters."""

import warnings
from typing import Final

from rushhour.compat.traci.exceptions import TraCIException
from rushhour.compat.traci.vehicle_commands import ALWAYS, VehicleCommands

Colour = tuple[int, int, int, int]
ALL_CHECKS: Final = 31  # SUMO's speed mode of those who check everything, and what it begins with
OWN_CHANGES: Final = 0xFF  # bits of a lane-change mode: for what a driver changes by itself
BY_ITSELF: Final = 1621  # SUMO's lane-change mode to begin with
YELLOW: Final[Colour] = (255, 255, 0, 255)  # SUMO's colour of who has none


class VehicleHabits(VehicleCommands):
    """What is kept of each vehicle that a script has told something of these."""

    def _begin_habits(self) -> None:
        self._speed_modes: dict[str, int] = {}
        self._lane_modes: dict[str, int] = {}
        self._colours: dict[str, Colour] = {}
        self._parameters: dict[tuple[str, str], str] = {}
        # Who keeps to its lane but for changeLane: the lane's number that it was last asked for.
        self._keeping: dict[str, int] = {}
        self._warned = False

    # --- modes -------------------------------------------------------------------------------

    def setSpeedMode(self, vehID: str, speedMode: int) -> None:
        """Taken and told back; drivers keep all checks, which one warning says of other modes."""
        self._want(vehID)
        self._speed_modes[vehID] = int(speedMode)
        if int(speedMode) & ALL_CHECKS != ALL_CHECKS and not self._warned:
            self._warned = True
            warnings.warn(
                f"vehicle.setSpeedMode {int(speedMode)}: drivers keep their distance, the right of "
                f"way and the lights in every mode, as in {ALL_CHECKS}",
                stacklevel=2,
            )

    def getSpeedMode(self, vehID: str) -> int:
        """The mode that was set; 31 to begin with."""
        self._want(vehID)
        return self._speed_modes.get(vehID, ALL_CHECKS)

    def setLaneChangeMode(self, vehID: str, laneChangeMode: int) -> None:
        """Modes without changes of its own (0, 256, 512 ...) keep a vehicle in its lane until
        `changeLane`, but for the last 120 m before its route leaves it; others let it drive as it
        likes. Every change is safe.
        """
        self._want(vehID)
        self._lane_modes[vehID] = mode = int(laneChangeMode)
        if mode & OWN_CHANGES == 0:
            self._keeping.setdefault(vehID, -1)
        elif self._keeping.pop(vehID, -1) >= 0:
            self._ask_for(vehID, 0.0)

    def getLaneChangeMode(self, vehID: str) -> int:
        """The mode that was set; 1621 to begin with."""
        self._want(vehID)
        return self._lane_modes.get(vehID, BY_ITSELF)

    def changeLane(self, vehID: str, laneIndex: int, duration: float) -> None:
        """Change to a lane of its edge by its index, as soon as it is safe, and stay for s.

        Who does not change by itself stays there.
        """
        if vehID in self._keeping:
            duration = ALWAYS
        super().changeLane(vehID, laneIndex, duration)
        if vehID in self._keeping:
            self._keeping[vehID] = self._lane_asked(vehID, laneIndex)

    def _lane_asked(self, vehID: str, index: int) -> int:
        veh, net = self._world.sim.veh, self._world.network.arrays
        edge = self._names.edges[veh.lane[self._slot(vehID)]]
        return int(net.lanes.number[self._names.lane_number[f"{edge}_{index}"]])

    def _ask_for(self, vehID: str, seconds: float) -> None:
        """Ask a vehicle on a road for the lane that it is on."""
        world = self._world
        slot = world.control.fleet.slot(self._number(vehID))
        if slot >= 0 and world.sim.veh.lane[slot] < world.network.n_road_lanes:
            number = int(world.network.arrays.lanes.number[world.sim.veh.lane[slot]])
            world.request_lane(vehID, number, seconds)

    def _before_step(self) -> None:
        """Tell the world what was told here, as a step begins."""
        super()._before_step()
        world = self._world
        road_lanes, lanes = world.network.n_road_lanes, world.network.arrays.lanes
        for name, asked in list(self._keeping.items()):
            number = self._number(name)
            slot = world.control.fleet.slot(number)
            if slot < 0:
                if self._connection.steps.over(number):
                    del self._keeping[name]
                continue
            lane = int(world.sim.veh.lane[slot])
            if lane >= road_lanes:
                continue
            here = int(lanes.number[lane])
            count = int(world.network.arrays.roads.lane_count[lanes.road[lane]])
            if asked < 0 or asked >= count:  # a road without that lane: stay on the one reached
                self._ask_for(name, ALWAYS)
                self._keeping[name] = here

    # --- desired speed -----------------------------------------------------------------------

    def setSpeedFactor(self, vehID: str, factor: float) -> None:
        """Want at most so many times the limit of each road, and no more than by itself."""
        if not 0.0 <= factor < 1e3:
            raise TraCIException(f"setSpeedFactor: {str(factor)[:40]}: wanted 0 or more")
        self._wish(vehID).factor = float(factor)

    # --- told back ---------------------------------------------------------------------------

    def setColor(self, vehID: str, color: tuple[int, ...]) -> None:
        """Kept for `getColor`; nothing is drawn in it."""
        self._want(vehID)
        values = [int(value) for value in color]
        if len(values) not in (3, 4) or not all(0 <= value <= 255 for value in values):
            raise TraCIException(
                f"setColor: {str(tuple(color))[:60]}: wanted three or four of 0 to 255"
            )
        red, green, blue, opacity = [*values, 255][:4]
        self._colours[vehID] = red, green, blue, opacity

    def getColor(self, vehID: str) -> Colour:
        """The colour that was set; yellow to begin with."""
        self._want(vehID)
        return self._colours.get(vehID, YELLOW)

    def setParameter(self, vehID: str, param: str, value: str) -> None:
        """Kept for `getParameter`; devices and models have none that can be set."""
        self._want(vehID)
        if str(param).startswith(
            ("device.", "laneChangeModel.", "carFollowModel.", "junctionModel.")
        ):
            raise TraCIException(
                f"setParameter: {str(param)[:60]} is not there; docs/parameters.md lists what is"
            )
        self._parameters[vehID, str(param)] = str(value)

    def getParameter(self, vehID: str, param: str) -> str:
        """The text that was set; "" none."""
        self._want(vehID)
        return self._parameters.get((vehID, str(param)), "")

    def getParameterWithKey(self, vehID: str, param: str) -> tuple[str, str]:
        """The name and the text that was set."""
        return str(param), self.getParameter(vehID, param)

    # --- what nobody here has ----------------------------------------------------------------

    def getPersonNumber(self, vehID: str) -> int:
        """0: nobody rides."""
        self._want(vehID)
        return 0

    def getPersonIDList(self, vehID: str) -> tuple[str, ...]:
        """(): nobody rides."""
        self._want(vehID)
        return ()

    def getLine(self, vehID: str) -> str:
        """ "": lines of public transport are not kept."""
        self._want(vehID)
        return ""
