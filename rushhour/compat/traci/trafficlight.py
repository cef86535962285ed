"""`traci.trafficlight`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from rushhour.compat.traci import constants as tc
from rushhour.compat.traci import signal_program as programs
from rushhour.compat.traci.domain import Domain
from rushhour.compat.traci.exceptions import TraCIException
from rushhour.compat.traci.names import Program
from rushhour.compat.traci.signal_program import OFF, Light

if TYPE_CHECKING:
    from rushhour.compat.traci.connection import Connection

Logic, Phase = programs.Logic, programs.Phase  # as clients import them from here
_NEMA: Final = "there are no NEMA controllers; give setProgramLogic or setPhase"
_RAIL: Final = "there are no rail signals"


class TrafficLightDomain(Domain):
    """Signals by id. Each that a script has touched is led through its program by the face, as SUMO
    does; the others run as the world has them."""

    NAME, KIND, NUMBER = "trafficlight", "Traffic light", tc.CMD_GET_TL_VARIABLE
    DEFAULT = (tc.TL_CURRENT_PHASE,)
    Logic = programs.Logic
    Phase = programs.Phase
    VARS: ClassVar[Mapping[int, str]] = {
        tc.TL_RED_YELLOW_GREEN_STATE: "getRedYellowGreenState",
        tc.TL_CURRENT_PHASE: "getPhase",
        tc.TL_CURRENT_PROGRAM: "getProgram",
        tc.TL_CONTROLLED_LANES: "getControlledLanes",
        tc.TL_CONTROLLED_LINKS: "getControlledLinks",
        tc.TL_NEXT_SWITCH: "getNextSwitch",
        tc.TL_PHASE_DURATION: "getPhaseDuration",
        tc.TL_SPENT_DURATION: "getSpentDuration",
        tc.TL_COMPLETE_DEFINITION_RYG: "getAllProgramLogics",
    }
    INSTEAD: ClassVar[Mapping[str, str]] = {
        "setCompleteRedYellowGreenDefinition": "give setProgramLogic",
        "getCompleteRedYellowGreenDefinition": "give getAllProgramLogics",
        "getServedPersonCount": "there are no people on foot",
        "setNemaSplits": _NEMA, "setNemaMaxGreens": _NEMA, "setNemaOffset": _NEMA,
        "setNemaCycleLength": _NEMA, "getNemaPhaseCalls": _NEMA, "getConstraints": _RAIL,
        "getBlockingVehicles": _RAIL, "getRivalVehicles": _RAIL, "getPriorityVehicles": _RAIL,
    }  # fmt: skip

    def __init__(self, connection: "Connection") -> None:
        super().__init__(connection)
        self._lights: dict[str, Light] = {}

    def getIDList(self) -> tuple[str, ...]:
        """Ids of all signals."""
        return self._world.signals.ids

    def _light(self, name: str) -> Light:
        if name not in self._lights:
            if name not in self._world.signals.ids:
                raise self._unknown(name)
            own = self._names.programs.get(name, Program("0", []))
            self._lights[name] = Light(self._world, name, own.id, own.states)
        return self._lights[name]

    def _before_step(self) -> None:
        for light in self._lights.values():
            light.go_on()

    def _want(self, name: str) -> None:
        self._light(name)

    # --- as they are ------------------------------------------------------------------------

    def getRedYellowGreenState(self, tlsID: str) -> str:
        """Letters of its links."""
        return self._light(tlsID).letters()

    def getPhase(self, tlsID: str) -> int:
        """The phase that it is in, from 0 on."""
        return self._light(tlsID).program.phase

    def getPhaseName(self, tlsID: str) -> str:
        """The name that a script gave its phase."""
        program = self._light(tlsID).program
        return program.phases[program.phase].name

    def getPhaseDuration(self, tlsID: str) -> float:
        """s that its phase lasts by the program."""
        program = self._light(tlsID).program
        return program.phases[program.phase].duration

    def getSpentDuration(self, tlsID: str) -> float:
        """s that the phase has lasted."""
        return self._world.time - self._light(tlsID).program.since

    def getNextSwitch(self, tlsID: str) -> float:
        """Time at which the phase is to end, s."""
        return self._light(tlsID).program.until

    def getProgram(self, tlsID: str) -> str:
        """Id of its program."""
        return self._light(tlsID).current

    def getAllProgramLogics(self, tlsID: str) -> tuple[programs.Logic, ...]:
        """The programs that are known, with their phases."""
        light = self._light(tlsID)
        react = self._world.signals.program[light.number] == "actuated"
        kind = tc.TRAFFICLIGHT_TYPE_ACTUATED if react else tc.TRAFFICLIGHT_TYPE_STATIC
        return tuple(
            programs.Logic(name, kind, program.phase, tuple(program.phases))
            for name, program in light.programs.items()
        )

    def getControlledLinks(self, tlsID: str) -> tuple[tuple[tuple[str, str, str], ...], ...]:
        """Lane before, lane behind and way of each link, in the order of the letters."""
        light, n = self._light(tlsID), self._world.network.n_road_lanes
        net = self._world.network.arrays
        links: list[list[tuple[str, str, str]]] = [[] for _ in light.phases[0].state]
        for k in self._world.signals.connectors(tlsID).tolist():
            before, behind = int(net.connectors.from_lane[k]), int(net.connectors.to_lane[k])
            names = self._names.lanes
            links[int(net.connectors.link[k])].append((names[before], names[behind], names[n + k]))
        return tuple(tuple(one) for one in links)

    def getControlledLanes(self, tlsID: str) -> tuple[str, ...]:
        """The lane before each link, in the order of the letters."""
        return tuple(one[0][0] for one in self.getControlledLinks(tlsID) if one)

    # --- told -------------------------------------------------------------------------------

    def setPhase(self, tlsID: str, index: int) -> None:
        """Go to a phase of its program for as long as that says, then on from there."""
        light = self._light(tlsID)
        if not 0 <= int(index) < len(light.phases):
            raise TraCIException(
                f"trafficlight.setPhase: no phase {index} of '{tlsID[:60]}'; it has "
                f"{len(light.phases)}, from 0 on"
            )
        light.go_to(int(index))

    def setPhaseDuration(self, tlsID: str, phaseDuration: float) -> None:
        """Let its phase end in so many s."""
        if not 0.0 <= phaseDuration < 1e9:
            raise TraCIException(f"trafficlight.setPhaseDuration: {phaseDuration}: wanted s")
        self._light(tlsID).last(float(phaseDuration))

    def setPhaseName(self, tlsID: str, name: str) -> None:
        """Name the phase that it is in."""
        program = self._light(tlsID).program
        program.phases[program.phase].name = name

    def setRedYellowGreenState(self, tlsID: str, state: str) -> None:
        """Show these letters until told otherwise."""
        self._light(tlsID).online(str(state))

    def setLinkState(self, tlsID: str, tlsLinkIndex: int, state: str) -> None:
        """Show a letter for one link, and the others as they are, until told otherwise."""
        letters = list(self.getRedYellowGreenState(tlsID))
        if not 0 <= tlsLinkIndex < len(letters):
            raise TraCIException(
                f"trafficlight.setLinkState: no link {tlsLinkIndex} of '{tlsID[:60]}'; it has "
                f"{len(letters)}, from 0 on"
            )
        letters[tlsLinkIndex] = state
        self.setRedYellowGreenState(tlsID, "".join(letters))

    def setProgram(self, tlsID: str, programID: str) -> None:
        """Change to a program by its id: that of the files, one that was set, or "off"."""
        light = self._light(tlsID)
        if programID == OFF:
            light.online("O" * len(light.phases[0].state), OFF)
        elif programID in light.programs:
            light.change_to(programID)
        else:
            known = ", ".join(light.programs)[:80]
            raise TraCIException(
                f"trafficlight.setProgram: no program '{programID[:60]}' of '{tlsID[:60]}'; it has "
                f"{known}; others need setProgramLogic"
            )

    def setProgramLogic(self, tlsID: str, logic: programs.Logic) -> None:
        """Have a program with these phases, by the clock, and be in its currentPhaseIndex."""
        light = self._light(tlsID)
        phases = [
            programs.Phase(
                float(p.duration), str(p.state), p.minDur, p.maxDur, tuple(p.next), p.name
            )
            for p in logic.phases
        ]
        if not phases or not 0 <= logic.currentPhaseIndex < len(phases):
            raise TraCIException(
                "trafficlight.setProgramLogic: wanted phases, and currentPhaseIndex among them"
            )
        if min(phase.duration for phase in phases) <= 0.0:
            raise TraCIException("trafficlight.setProgramLogic: a phase without duration")
        light.run(logic.programID, phases, logic.currentPhaseIndex)
