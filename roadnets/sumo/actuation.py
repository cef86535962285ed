"""What SUMO's actuated programs say of their phases and detectors."""

from typing import Final

from rushhour.roadnets.drafts.draft import DraftActuation
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.reading.values import seconds, whole
from rushhour.roadnets.sumo.elements import LONGEST_PHASE, RawProgram

LEAST: Final = 5.0  # s, of a phase that says only how long it lasts at most
MOST: Final = 50.0  # s, of a phase that says only how long it lasts at least
MOST_NEXT: Final = 64  # phases that may follow one
TIMES: Final = {
    "max-gap": "max_gap",
    "detector-gap": "detector_gap",
    "passing-time": "passing_time",
}
SHOWN: Final = {"show-detectors", "file", "freq"}  # that say nothing about traffic


def actuation_of(program: RawProgram, remarks: Remarks) -> DraftActuation:
    """Limits, next phases and detectors of a program; params not known are remarked.

    Raises NetworkError for a minimum above the maximum, next phases that do not exist, values
    that are no times.
    """
    plan = DraftActuation([])
    for p, attributes in enumerate(program.details):
        where = f"{program.where}: phase {p}"
        plan.limits.append(_limits(attributes, program.phases[p], where))
        plan.following.append(_following(attributes.get("next", ""), len(program.phases), where))
    for key, value in program.params.items():
        where = f"{program.where}: param {key[:60]!r}"
        name, _, lane = key.partition(":")
        if key in TIMES:
            setattr(plan, TIMES[key], seconds(value, where, "value", 0.001, LONGEST_PHASE))
        elif name == "max-gap" and lane:
            plan.gaps[lane] = seconds(value, where, "value", 0.001, LONGEST_PHASE)
        elif key not in SHOWN:
            remarks.add(
                "params of actuated signals ignored", f"{program.id} {key[:60]}", differs=True
            )
    return plan


def _limits(
    attributes: dict[str, str], phase: tuple[float, str], where: str
) -> tuple[float, float]:
    """Least and greatest time of a phase, s; equal for those that are not green, or say neither."""
    duration, state = phase
    given = {
        name: seconds(attributes[name], where, name, 0.001, LONGEST_PHASE)
        for name in ("minDur", "maxDur")
        if name in attributes
    }
    if not given:
        return duration, duration
    most = given.get("maxDur", max(MOST, given.get("minDur", 0.0)))
    least = given.get("minDur", min(LEAST, most))
    if least > most:
        raise NetworkError(f"{where}: minDur {least:g} s above maxDur {most:g} s; lower it")
    if set(state) & set("yY") or not set(state) & set("gG"):
        return (least, least) if "minDur" in given else (duration, duration)
    return least, most


def _following(text: str, phases: int, where: str) -> tuple[int, ...]:
    """Phases that may follow, from the attribute `next`."""
    words = text.split()
    if len(words) > MOST_NEXT:
        raise NetworkError(f"{where}: {len(words)} next phases; give at most {MOST_NEXT}")
    return tuple(whole(word, where, "next", 0, phases - 1) for word in words)
