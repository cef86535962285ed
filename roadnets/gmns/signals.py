"""Signals of GMNS folders: controllers, timing plans and phases, and which movements they serve.

A controller runs one of its timing plans, here always the same: the one that holds all day, else
its first. A phase serves movements, protected or permitted. Source: the specification, tables
signal_*.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.gmns.timing import Phase
from rushhour.roadnets.reading.csv_tables import CsvTable, blank, optional_table, refuse_doubles
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.reading.values import number, whole

MOST_PHASES: Final = 32  # of a plan
LONGEST_CYCLE: Final = 600.0  # s (the specification)
LONGEST_GREEN: Final = 600.0  # s
LONGEST_CLEARANCE: Final = 120.0  # s (the specification)
GREEN: Final = 15.0  # s, of a phase that gives none
CLEARANCE: Final = 5.0  # s, of a phase that gives none
PROTECTION: Final = {"": "G", "protected": "G", "permitted": "g", "rtor": "s"}
ALL_DAY: Final = re.compile(r"1{7,8}_?00:?00_(?:23:?59|24:?00)")
REFERENCES: Final = ("", "begin_of_green", "begin_of_yellow", "begin_of_red")


@dataclass
class TimingPlan:
    """A timing plan of a controller. letters: by phase and movement, as SUMO's."""

    id: str
    controller: str
    all_day: bool
    cycle: float  # s; 0: as long as its phases
    where: str
    phases: list[Phase] = field(default_factory=list)
    letters: dict[str, dict[str, str]] = field(default_factory=dict)
    offset: float = 0.0  # s
    reference: tuple[int, str] | None = None  # number of a phase, and what of it is at the offset


def read_plans(folder: Path, movements: Collection[str], remarks: Remarks) -> list[TimingPlan]:
    """The plan of each controller, with its phases.

    Raises NetworkError for ids given twice, references to nothing and numbers out of range.
    """
    tables = {
        name: optional_table(folder, f"signal_{name}")
        for name in ("controller", "timing_plan", "timing_phase", "phase_mvmt", "coordination")
    }
    if tables["timing_plan"] is None or tables["timing_phase"] is None:
        given = [f"{table.name}.csv" for table in tables.values() if table is not None]
        for name in given:
            remarks.add("signal tables without timing plans and phases not used", name)
        return []
    controllers = tables["controller"]
    known = None
    if controllers is not None:
        refuse_doubles(controllers, "controller_id")
        known = set(controllers.needed("controller_id"))
        controllers.remark_unused({"controller_id"}, remarks)
    plans = _read_plans(tables["timing_plan"], known, remarks)
    owners = _read_phases(tables["timing_phase"], plans, remarks)
    if tables["phase_mvmt"] is not None:
        _read_served(tables["phase_mvmt"], owners, movements, remarks)
    if tables["coordination"] is not None:
        _read_coordination(tables["coordination"], plans, remarks)
    return _chosen(plans, remarks)


def _optional(table: CsvTable, row: int, column: str, most: float, where: str) -> float | None:
    text = table.texts(column)[row]
    return None if blank(text) else number(text, where, column, 0.0, most)


def _read_plans(
    table: CsvTable, controllers: set[str] | None, remarks: Remarks
) -> dict[str, TimingPlan]:
    refuse_doubles(table, "timing_plan_id")
    owners, times = table.needed("controller_id"), table.texts("time_day")
    days = table.texts("timeday_id", "time_day_id")
    found: dict[str, TimingPlan] = {}
    for row, name in enumerate(table.needed("timing_plan_id")):
        where = f"{table.where(row)}: timing plan {name[:40]!r}"
        if controllers is not None and owners[row] not in controllers:
            raise NetworkError(
                f"{where}: unknown controller {owners[row][:40]!r}; add it to signal_controller.csv"
            )
        cycle = _optional(table, row, "cycle_length", LONGEST_CYCLE, where) or 0.0
        always = blank(times[row]) and blank(days[row])
        always = always or ALL_DAY.fullmatch(times[row]) is not None
        found[name] = TimingPlan(name, owners[row], always, cycle, where)
    used = {"timing_plan_id", "controller_id", "time_day", "timeday_id", "time_day_id"}
    table.remark_unused({*used, "cycle_length"}, remarks)
    return found


def _read_phases(
    table: CsvTable, plans: dict[str, TimingPlan], remarks: Remarks
) -> dict[str, TimingPlan]:
    """Put the phases into their plans; returns the plan of each phase."""
    refuse_doubles(table, "timing_phase_id")
    owners, numbers = table.needed("timing_plan_id"), table.needed("signal_phase_num")
    places = [table.needed(name) for name in ("ring", "barrier", "position")]
    found: dict[str, TimingPlan] = {}
    for row, name in enumerate(table.needed("timing_phase_id")):
        where = f"{table.where(row)}: timing phase {name[:40]!r}"
        plan = plans.get(owners[row])
        if plan is None:
            raise NetworkError(
                f"{where}: unknown timing plan {owners[row][:40]!r}; add it to "
                "signal_timing_plan.csv"
            )
        if len(plan.phases) >= MOST_PHASES:
            raise NetworkError(f"{where}: plan of more than {MOST_PHASES} phases; drop some")
        least, most = (
            _optional(table, row, column, LONGEST_GREEN, where)
            for column in ("min_green", "max_green")
        )
        walk, feet = (
            _optional(table, row, column, LONGEST_CLEARANCE, where) or 0.0
            for column in ("walk_time", "ped_clearance")
        )
        green = most or least or walk + feet
        if not green:
            remarks.add(f"signal phases without a green time, {GREEN:g} s taken", name)
            green = GREEN
        clearance = _optional(table, row, "clearance", LONGEST_CLEARANCE, where)
        if clearance is None:
            remarks.add(f"signal phases without a clearance, {CLEARANCE:g} s taken", name)
            clearance = CLEARANCE
        if least is not None and most and least > most:
            remarks.add("signal phases whose least green is the longer one, that taken", name)
            green = least
        ring, barrier, position = (
            whole(texts[row], where, what, 0, 1000)
            for texts, what in zip(places, ("ring", "barrier", "position"), strict=True)
        )
        place = ring, barrier, position
        count = whole(numbers[row], where, "signal_phase_num", 0, 1000)
        phase = Phase(name, count, *place, least or green, green, clearance)
        if any((p.ring, p.barrier, p.position) == place for p in plan.phases):
            remarks.add("signal phases in the place of another put after it", name)
        plan.phases.append(phase)
        found[name] = plan
    table.remark_unused(
        {"timing_phase_id", "timing_plan_id", "signal_phase_num", "ring", "barrier", "position",
         "min_green", "max_green", "clearance", "walk_time", "ped_clearance"}, remarks,
    )  # fmt: skip
    return found


def _read_served(
    table: CsvTable, owners: dict[str, TimingPlan], movements: Collection[str], remarks: Remarks
) -> None:
    """Note which movements each phase serves, and how."""
    kinds, links = table.texts("protection"), table.texts("link_id")
    served = table.needed("mvmt_id")
    for row, phase in enumerate(table.needed("timing_phase_id")):
        where = f"{table.where(row)}: timing phase {phase[:40]!r}"
        if phase not in owners:
            raise NetworkError(
                f"{where}: is not in signal_timing_phase.csv; add it or drop the row"
            )
        shown = owners[phase].letters.setdefault(phase, {})
        if blank(served[row]):
            if blank(links[row]):
                raise NetworkError(f"{where}: serves nothing; give mvmt_id or link_id")
            continue  # people on foot
        if served[row] not in movements:
            raise NetworkError(
                f"{where}: unknown movement {served[row][:40]!r}; add it to movement.csv"
            )
        kind = kinds[row].lower()
        if kind not in PROTECTION and not blank(kind):
            remarks.add("protections that are not known, permitted taken", kinds[row])
        letter = PROTECTION.get("" if blank(kind) else kind, "g")
        known = shown.get(served[row], letter)
        shown[served[row]] = min(letter, known, key="Ggs".index)
    used = {"signal_phase_mvmt_id", "timing_phase_id", "mvmt_id", "link_id", "protection"}
    table.remark_unused(used, remarks)


def _read_coordination(table: CsvTable, plans: dict[str, TimingPlan], remarks: Remarks) -> None:
    owners, controllers = table.needed("timing_plan_id"), table.needed("controller_id")
    numbers, kinds = table.texts("coord_phase"), table.texts("coord_ref_to")
    for row, owner in enumerate(owners):
        where = f"{table.where(row)}: coordination of plan {owner[:40]!r}"
        plan = plans.get(owner)
        if plan is None:
            raise NetworkError(f"{where}: unknown timing plan; add it to signal_timing_plan.csv")
        offset = _optional(table, row, "offset", LONGEST_CYCLE, where)
        if controllers[row] != plan.controller:
            remarks.add(
                "coordinations of another controller than their plan's not used",
                owner,
                differs=True,
            )
            continue
        plan.offset = offset or 0.0
        if not blank(numbers[row]):
            kind = "" if blank(kinds[row]) else kinds[row].lower()
            if kind not in REFERENCES:
                remarks.add("coord_ref_to not known, begin_of_green taken", kinds[row])
            plan.reference = whole(numbers[row], where, "coord_phase", 0, 1000), kind
    used = {"timing_plan_id", "controller_id", "coord_phase", "coord_ref_to", "offset"}
    table.remark_unused({*used, "coordination_id", "coord_contr_id"}, remarks)


def _chosen(plans: dict[str, TimingPlan], remarks: Remarks) -> list[TimingPlan]:
    """One plan of each controller: the first that holds all day and has phases, else the first."""
    found: dict[str, TimingPlan] = {}
    for plan in plans.values():
        idle = [phase.id for phase in plan.phases if phase.id not in plan.letters]
        remarks.add("signal phases that serve nothing not used", ", ".join(idle[:5]), len(idle))
        plan.phases = [phase for phase in plan.phases if phase.id in plan.letters]
        if not plan.phases:
            remarks.add("timing plans without phases not used", plan.id)
            continue
        other = found.get(plan.controller)
        if other is None or (plan.all_day and not other.all_day):
            found[plan.controller] = plan
    for plan in found.values():
        if not plan.all_day or sum(p.controller == plan.controller for p in plans.values()) > 1:
            remarks.add(
                "timing plans taken for the whole day",
                f"{plan.controller}: {plan.id}",
                differs=True,
            )
    return list(found.values())
