"""The summary of a run, for people."""

from collections.abc import Mapping
from typing import Any, Final

from rushhour.cli.quotas import quotas_text
from rushhour.roadnets.reading.remarks import shown
from rushhour.traffic.scenarios.recording import sized
from rushhour.traffic.words.durations import clock
from rushhour.traffic.words.plurals import counted

SHOWN: Final = 3  # commands that were refused, and that were not reached
LONGEST: Final = 160  # letters of one
RESUMED: Final = "resumed from "  # a remark that begins so says where a run went on


def summary_text(summary: Mapping[str, Any], checked: bool = False) -> str:
    """The summary of a run for people."""
    vehicles, trips, jam = summary["vehicles"], summary["trips"], summary["gridlock"]
    end = summary["begin_s"] + summary["sim_s"]
    rows = [
        ("network", summary["network"]),
        ("time", (f"{clock(summary['begin_s'])} to {clock(end)}, {counted(summary['frames'], 'frame')} of "
                 f"{summary['dt_s']:g} s")),
        ("vehicles", ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in vehicles.items())),
        ("trips", _trips_text(trips)),
        ("standing", _standing_text(summary["stopped_by_reason"])),
        ("gridlock", (f"{counted(jam['minds_changed'], 'mind')} changed, rings: {jam['cycles_found']:,} "
                     f"found, {jam['cycles_resolved']:,} resolved"
                     + (f", the longest after {jam['longest_cycle']:g} s" if jam["cycles_found"]
                        else ""))),
    ]  # fmt: skip
    told = summary["commands"]
    if told["given"] or told["to_come"] or summary["rerouting"]["rerouted"]:
        rows.append(("commands", _commands_text(told, summary["rerouting"])))
    short = summary["rerouting"]["cut_short_first"]
    if short:
        rest = summary["rerouting"]["cut_short"] - len(short[:SHOWN])
        more = f" and {rest:,} more" if rest else ""
        rows.append(("cut short", f"by closed roads: {', '.join(short[:SHOWN])}{more}"))
    for name, which in (("refused", told["refused_first"]), ("not reached", told["to_come_first"])):
        rows += [(name, _short(line)) for line in which[:SHOWN]]
    if summary["steered"]["vehicles"]:
        rows.append(("steered", _steered_text(summary["steered"])))
    if summary["quotas"]:
        rows.append(("quotas", quotas_text(summary["quotas"])))
    if summary["measures"]:
        rows.append(("measures", _measures_text(summary["measures"])))
    recorded = summary.get("recorded")  # of a run from the command line
    if recorded:
        rows.append(("recorded", f"{recorded['file']}, {sized(recorded['bytes'])}"))
    if checked:
        violations = {k: v for k, v in summary["violations"].items() if v}
        text = ", ".join(f"{name} {count:,}" for name, count in violations.items())
        rows.append(("violations", text or "none"))
    rows += [
        ("wall time", (f"{summary['wall_s']:.2f} s, and {summary['compile_s']:.2f} s to compile or "
                      f"load kernels; {counted(summary['threads'], 'thread')}")),
        ("speed", (f"{summary['real_time_factor']:,.1f} times real time, "
                  f"{summary['vehicle_updates_per_s'] / 1e6:.2f} million vehicle-updates a second")),
        ("ms a frame", _phases_text(summary["phases_ms"])),
        ("state", summary["state_hash"][:16]),
    ]  # fmt: skip
    if summary["parameters_changed"]:
        changed = summary["parameters_changed"].items()
        rows.insert(1, ("parameters", ", ".join(f"{name}={value}" for name, value in changed)))
    resumed = [remark for remark in summary["remarks"] if remark.startswith(RESUMED)]
    if resumed:
        rows.insert(1, ("resumed", resumed[-1].removeprefix("resumed ")))
    differs, notes, left_out = shown([one for one in summary["remarks"] if one not in resumed], 5)
    rows += [("differs", remark) for remark in differs]
    rows += [("note", remark) for remark in notes]
    if left_out:
        rows.append(("note", f"and {left_out} more; see --json"))
    return "\n".join(f"{name:<12} {text}" for name, text in rows)


def _short(line: str) -> str:
    """A line that many names do not make too long."""
    return line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} ... {line[-LONGEST // 2 :]}"


def _commands_text(commands: Mapping[str, Any], rerouting: Mapping[str, Any]) -> str:
    parts = [f"{commands['given']:,} given, {commands['refused']:,} refused"]
    parts += [
        f"{rerouting[name]:,} {name.replace('_', ' ')}"
        for name in ("rerouted", "cut_off", "cut_short")
        if rerouting[name]
    ]
    if commands["to_come"]:
        parts.append(f"{commands['to_come']:,} not reached")
    if commands["aside"]:
        parts.append(f"{commands['aside']:,} at the side of the road")
    return ", ".join(parts)


def _steered_text(steered: Mapping[str, int]) -> str:
    parts = [f"{steered['vehicles']:,} vehicles"]
    parts += [
        f"{steered[name]:,} {what}"
        for name, what in (
            ("tight_bends", "bends too tight for them"),
            ("slow_changes", "changes at walking pace"),
            ("off_lane", "times off their lane"),
            ("back_on_lane", "back on it"),
            ("reversed", "times in reverse"),
            ("set_on_lane", "times set on their lane"),
        )
        if steered[name]
    ]
    return ", ".join(parts)


def _trips_text(trips: Mapping[str, Any]) -> str:
    if not trips["completed"] or trips["mean_speed_mps"] is None:
        return "none finished yet"
    return (
        f"{trips['completed']:,} finished: travel {trips['mean_travel_time_s']:.1f} s, "
        f"departure delay {trips['mean_departure_delay_s']:.1f} s, lost "
        f"{trips['mean_time_loss_s']:.1f} s, {3.6 * trips['mean_speed_mps']:.1f} km/h"
    )


def _standing_text(reasons: Mapping[str, int]) -> str:
    standing = sorted(((n, name) for name, n in reasons.items() if n), reverse=True)
    text = ", ".join(f"{name.replace('_', ' ')} {n:,}" for n, name in standing[:6])
    return text or "nobody"


def _measures_text(measures: Mapping[str, Any]) -> str:
    parts = [f"every {measures['interval_s']:g} s by the clock"]
    if "roads" in measures:
        roads = measures["roads"]
        parts.append(f"{roads['measured']:,} roads, {roads['vehicle_hours']:,.1f} vehicle-hours, "
                     f"{roads['hours_lost']:,.1f} of them lost")  # fmt: skip
    if "loops" in measures:
        loops = measures["loops"]
        parts.append(f"{loops['measured']:,} loops passed {loops['passed']:,} times")
    if "sections" in measures:
        sections = measures["sections"]
        mean = sections["mean_time_s"]
        parts.append(f"{sections['measured']:,} sections driven {sections['passed']:,} times"
                     + (f", {mean:.1f} s" if mean is not None else ""))  # fmt: skip
    if "queues" in measures:
        queues = measures["queues"]
        parts.append(f"{queues['measured']:,} queues, the longest {queues['longest_m']:.0f} m "
                     f"({queues['longest_at']})")  # fmt: skip
    return "; ".join(parts)


def _phases_text(phases: Mapping[str, Mapping[str, float]]) -> str:
    return ", ".join(f"{name} {cost['p50']:.2f}" for name, cost in phases.items() if cost["p50"])
