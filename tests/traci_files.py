"""A crossing with lights as files of SUMO, and a control script that knows only TraCI."""

from pathlib import Path
from typing import Any

from sumo_texts import at_lights, crossing, written

STATES = ("GrGr", "yryr", "rGrG", "ryry")  # links: from the south, east, north, west
LASTS = (30.0, 4.0, 20.0, 4.0)  # s


def scenario(folder: Path) -> Path:
    """A .sumocfg: a busy way from west to east, a quiet one from north to south; a loop on that."""
    phases = "".join(
        f'<phase duration="{seconds:g}" state="{state}"/>'
        for seconds, state in zip(LASTS, STATES, strict=True)
    )
    light = f'<tlLogic id="c" type="static" programID="0" offset="0">{phases}</tlLogic>'
    net = crossing("traffic_light", more=at_lights(), extra=light)
    written(folder, net, "small.net.xml")
    routes = """<routes>
      <vType id="car" length="4.5" sigma="0"/> <vType id="slow" maxSpeed="6" length="4"/>
      <route id="ns" edges="n_in s_out"/>
      <flow id="we" type="car" from="w_in" to="e_out" begin="0" end="120" period="5" departSpeed="8"/>
      <flow id="ns" type="car" route="ns" begin="2" end="120" period="20" departSpeed="8"/>
    </routes>"""
    written(folder, routes, "small.rou.xml")
    more = """<additional>
      <inductionLoop id="loop" lane="n_in_0" pos="-20" period="60" file="NUL"/>
      <laneAreaDetector id="area" lane="w_in_0" pos="30" endPos="80" period="60" file="NUL"/>
    </additional>"""
    written(folder, more, "small.add.xml")
    config = """<configuration>
      <net-file value="small.net.xml"/> <route-files value="small.rou.xml"/>
      <additional-files value="small.add.xml"/> <begin value="0"/>
    </configuration>"""
    return written(folder, config, "small.sumocfg")


def driven(traci: Any, command: list[str], steps: int, longest_queue: bool) -> dict[str, Any]:
    """Run a scenario with one signal of two greens; what it came to.

    longest_queue: every 5 s the green goes on for the approaches on which more stand, and ends if
    they are others; else the program runs as it is.
    """
    traci.start(command)
    light = traci.trafficlight.getIDList()[0]
    lanes = list(dict.fromkeys(traci.trafficlight.getControlledLanes(light)))
    logic = traci.trafficlight.getAllProgramLogics(light)[0]
    links = traci.trafficlight.getControlledLinks(light)
    served: dict[int, set[str]] = {}
    for phase, one in enumerate(logic.phases):
        if "y" not in one.state:
            served[phase] = {
                link[0][0]
                for link, letter in zip(links, one.state, strict=True)
                if letter in "Gg" and link
            }
    found: dict[str, Any] = {
        "departed": [],
        "arrived": 0,
        "speeds": [],
        "counts": [],
        "standing": 0,
    }
    found["phases"] = []
    for step in range(steps):
        traci.simulationStep()
        if longest_queue and step % 5 == 0 and traci.trafficlight.getPhase(light) in served:
            queue = {lane: traci.lane.getLastStepHaltingNumber(lane) for lane in lanes}
            best = max(served, key=lambda phase: sum(queue[lane] for lane in served[phase]))
            now = traci.trafficlight.getPhase(light)
            if best == now:
                traci.trafficlight.setPhaseDuration(light, 20.0)
            else:
                traci.trafficlight.setPhase(light, (now + 1) % len(logic.phases))
        found["departed"] += traci.simulation.getDepartedIDList()
        found["arrived"] += traci.simulation.getArrivedNumber()
        found["standing"] += sum(traci.lane.getLastStepHaltingNumber(lane) for lane in lanes)
        found["phases"].append(traci.trafficlight.getPhase(light))
        ids = traci.vehicle.getIDList()
        found["counts"].append(len(ids))
        found["speeds"] += [traci.vehicle.getSpeed(name) for name in ids]
    traci.close()
    return found
