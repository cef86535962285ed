"""Runs of the same with several seeds: which seeds, and what their summaries come to together."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rushhour.traffic.analysis.samples import estimate
from rushhour.traffic.scenarios.scenario import ScenarioError
from rushhour.traffic.words.plurals import counted

MOST_SEEDS: Final = 1000
_PART = re.compile(r"(\d{1,19})(?:\.\.(\d{1,19}))?")
# The figures of a run's summary that are averaged: name, group, key, unit.
FIGURES: Final = (
    ("finished", "trips", "completed", ""),
    ("travel time", "trips", "mean_travel_time_s", "s"),
    ("departure delay", "trips", "mean_departure_delay_s", "s"),
    ("time lost", "trips", "mean_time_loss_s", "s"),
    ("waiting", "trips", "mean_waiting_time_s", "s"),
    ("speed", "trips", "mean_speed_mps", "m/s"),
    ("distance", "trips", "mean_distance_m", "m"),
    ("still on the road", "vehicles", "active", ""),
    ("minds changed", "gridlock", "minds_changed", ""),
    ("rings", "gridlock", "cycles_found", ""),
)  # fmt: skip


def seeds_of(text: str, option: str = "--seeds") -> list[int]:
    """Seeds of a text such as "1..10" or "1,5,20..22". Raises ScenarioError for another one.

    >>> seeds_of("1..3,7")
    [1, 2, 3, 7]
    """
    found: list[int] = []
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not 0 <= first <= last or last - first >= MOST_SEEDS:
            raise ScenarioError(
                f"{option} {text[:60]!r}: wanted seeds such as 1..10 or 1,5,9, at most {MOST_SEEDS}"
            )
        found += range(first, last + 1)
    if len(set(found)) != len(found) or len(found) > MOST_SEEDS:
        raise ScenarioError(
            f"{option} {text[:60]!r}: wanted each seed once, at most {MOST_SEEDS} of them"
        )
    return found


def seeds_facts(summaries: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """What summaries by seed come to: `seeds`, `figures` (mean, deviation, interval), `runs`.

    summaries: those of `rushhour run --json`.
    """
    figures = {}
    for name, group, key, unit in FIGURES:
        values = [summary[group][key] for summary in summaries.values()]
        known = [value for value in values if value is not None]
        figures[name] = {"unit": unit, **estimate(known).facts()}
    return {"seeds": list(summaries), "figures": figures, "runs": list(summaries.values())}


def seeds_text(facts: Mapping[str, Any]) -> str:
    """What summaries by seed come to, for people."""
    lines = [
        f"{'seed':>6} {'finished':>9} {'travel':>9} {'lost':>9} {'waiting':>9} {'km/h':>7}  state"
    ]
    for seed, run in zip(facts["seeds"], facts["runs"], strict=True):
        trips = run["trips"]
        speed = trips["mean_speed_mps"]
        texts = [
            _number(trips[key])
            for key in ("mean_travel_time_s", "mean_time_loss_s", "mean_waiting_time_s")
        ]
        kmh = "-" if speed is None else f"{3.6 * speed:.1f}"
        lines.append(
            f"{seed:>6} {trips['completed']:>9,} {texts[0]:>9} {texts[1]:>9} {texts[2]:>9} {kmh:>7}  "
            f"{run['state_hash'][:16]}"
        )
    n = len(facts["seeds"])
    lines += [
        "",
        f"{counted(n, 'run'):<20} {'mean':>10} {'deviation':>10}   95 % interval of the mean",
    ]
    lines += [interval_line(name, figure) for name, figure in facts["figures"].items()]
    if n == 1:
        lines.append("one run has no deviation and no interval: give more seeds")
    return "\n".join(lines)


def interval_line(name: str, figure: Mapping[str, Any]) -> str:
    """A figure of several runs as a line of a table."""
    label = f"{name}, {figure['unit']}" if figure["unit"] else name
    interval = (
        "-" if figure["low"] is None else f"{_number(figure['low'])} to {_number(figure['high'])}"
    )
    return (
        f"{label:<20} {_number(figure['mean']):>10} {_number(figure['deviation']):>10}   {interval}"
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:z,.2f}"


def without(words: Sequence[str], options: Mapping[str, int]) -> list[str]:
    """A command line without some options. options: how many values each takes."""
    found: list[str] = []
    skip = 0
    for word in words:
        if skip:
            skip -= 1
            continue
        name, equals, _ = word.partition("=")
        if name in options:
            skip = 0 if equals else options[name]
        else:
            found.append(word)
    return found
