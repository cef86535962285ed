"""A control script for SUMO's TraCI: one line, the import, says what it runs on.

python examples/traci_signal.py town.sumocfg [--fixed]

With `import traci` instead (SUMO_HOME/tools in PYTHONPATH) the same script steers SUMO. Every five
seconds each signal's green goes on if most of those who stand are served by it, else it ends.
"""

import argparse

from rushhour.compat import traci


def greens(signal: str) -> dict[int, set[str]]:
    """Lanes that each green phase of a signal serves."""
    links = traci.trafficlight.getControlledLinks(signal)
    phases = traci.trafficlight.getAllProgramLogics(signal)[0].phases
    return {
        number: {link[0][0] for link, letter in zip(links, phase.state) if link and letter in "Gg"}
        for number, phase in enumerate(phases)
        if "y" not in phase.state
    }


def control(signal: str, served: dict[int, set[str]]) -> None:
    """Keep the green of a signal, or go on to the yellow behind it."""
    now = traci.trafficlight.getPhase(signal)
    if now not in served:
        return
    standing = {
        phase: sum(traci.lane.getLastStepHaltingNumber(lane) for lane in lanes)
        for phase, lanes in served.items()
    }
    if standing[now] >= max(standing.values()):
        traci.trafficlight.setPhaseDuration(signal, 20.0)
    else:
        traci.trafficlight.setPhase(signal, now + 1)


def main() -> None:
    """Run a scenario until everybody has arrived and say how long vehicles stood."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("config")
    parser.add_argument("--fixed", action="store_true", help="leave the signals alone")
    options = parser.parse_args()
    traci.start(["sumo", "-c", options.config, "--no-step-log", "true"])
    signals = {signal: greens(signal) for signal in traci.trafficlight.getIDList()}
    standing = arrived = 0
    while traci.simulation.getMinExpectedNumber() > 0:
        traci.simulationStep()
        if not options.fixed and traci.simulation.getTime() % 5 == 0:
            for signal, served in signals.items():
                control(signal, served)
        standing += sum(traci.vehicle.getSpeed(name) < 0.1 for name in traci.vehicle.getIDList())
        arrived += traci.simulation.getArrivedNumber()
    seconds = traci.simulation.getTime()
    traci.close()
    print(f"{arrived} arrived in {seconds:g} s, {standing / arrived:.1f} s each stood")


if __name__ == "__main__":
    main()
