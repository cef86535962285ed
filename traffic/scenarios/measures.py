"""From a scenario to what it measures: its own detectors and those of its demand files."""

from typing import TYPE_CHECKING

from rushhour.traffic.demand.files import kind_of
from rushhour.traffic.measures.detectors import Loop, Section, queues_of
from rushhour.traffic.measures.measuring import Measures
from rushhour.traffic.sumo.config import additional_kinds
from rushhour.traffic.sumo.detectors import read_detectors
from rushhour.traffic.sumo.records import DETECTORS

if TYPE_CHECKING:
    from rushhour.traffic.scenarios.scenario import Scenario
    from rushhour.traffic.world import World

ALL_QUEUES = "all"


def scenario_measures(scenario: "Scenario", world: "World") -> tuple[Measures | None, list[str]]:
    """The measures that a scenario asks for, and remarks on its detectors; None without.

    Raises RushhourError for a detector that is nowhere on the network.
    """
    if scenario.measure is None:
        return None, []
    sumo = [path for path in scenario.demand if kind_of(path) == "sumo"]
    with_some = [path for path in sumo if additional_kinds(path) & {*DETECTORS}]
    found = read_detectors(with_some, world.network)
    loops = [*found.loops, *(Loop(f"{lane}@{pos:g}", lane, pos) for lane, pos in scenario.loops)]
    sections = [Section(f"{a} -> {b}", a, b) for a, b in scenario.sections]
    every = ALL_QUEUES in scenario.queues
    queues = queues_of(world.network, True if every else list(dict.fromkeys(scenario.queues)))
    named = {queue.name for queue in found.queues}
    queues = [queue for queue in queues if queue.name not in named] + found.queues
    measures = Measures(world, scenario.measure, loops=loops, sections=sections, queues=queues)
    return measures, found.remarks
