"""Rows of the sweep for `signals`."""

from typing import Any

from swept_options import Row, Told

from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import load

S = "signals pair.h5 --trips 150 --over 10min --seed 3 --json"
G = S.replace("pair", "grid")  # whose run was recorded
OMX = "signals crossroads --demand day.omx --json"
M = "signals crossroads --demand crossroads/demand.csv --json"


def cycles(t: Told) -> set[int]:
    return {row["cycle_s"] for row in t.facts["signals"]}


def traffic(facts: dict[str, Any]) -> float:
    """Traffic of all signals, pcu/h."""
    return sum(row["pcu_h"] for row in facts["signals"])


def groups(facts: dict[str, Any]) -> set[int | None]:
    return {row["group"] for row in facts["signals"]}


def made(t: Told, path: str) -> Network:
    return load(t.folder / path)


def shortest_green(facts: dict[str, Any]) -> int:
    return min(green for row in facts["signals"] for green in row["greens_s"])


SIGNALS = {
    "network": Row(S, lambda t: len(t.facts["signals"]) == 2, S.replace("pair", "none"), "none.h5: no such file"),
    "--demand": Row("signals grid.h5 --demand trips.csv --json", lambda t: traffic(t.facts) > 0, "none.csv", "none.csv"),
    "--demand-period": Row(f"{M} --demand-period 30min", lambda t: traffic(t.facts) > 1.5 * traffic(t.before), "soon", "--demand-period 'soon'"),
    "--demand-scale": Row(f"{S} --scale 3", lambda t: traffic(t.facts) > 2.0 * traffic(t.before), "-1", "wanted"),
    "--demand-profile": Row(f"{M} --demand-profile 1,0", lambda t: traffic(t.facts) > 1.5 * traffic(t.before), "a,b", "--demand-profile 'a,b'"),
    "--demand-matrix": Row(f"{OMX} --demand-matrix pm", lambda t: traffic(t.facts) > 0, "noon", "none called 'noon'"),
    "--trips": Row(S, lambda t: traffic(t.facts) > 0, "0", "wanted 1 to"),
    "--over": Row(S.replace("10min", "20min"), lambda t: t.facts["end_s"] > 900.0, "soon", "--over 'soon'"),
    "--begin": Row(f"{S} --begin 7:00", lambda t: t.facts["begin_s"] > 25_000.0, "noon", "--begin 'noon'"),
    "--dt": Row(f"{S} --evaluate 1 --dt 0.5", lambda t: t.changed("evaluation"), "3", "wanted 1/120 to 0.5 s"),
    "--seed": Row(S, lambda t: t.facts["signals"], "x", "--seed"),
    "--threads": Row(f"{S} --threads 1", lambda t: t.same("signals"), "0", "--threads 0: wanted 1 to 256"),
    "--set": Row(f"{S} --evaluate 1 --set car.time_gap=2", lambda t: t.changed("evaluation"), "car.timegap=2", "did you mean car.time_gap?"),
    "--ignore-options": Row("signals lit.sumocfg --ignore-options lateral-resolution --json",
        lambda t: t.without().code == 2 and len(t.facts["signals"]) == 1, "lateral-resolutio", "lateral-resolution"),
    "--skip-bad-trips": Row("signals grid.h5 --demand bad.csv --skip-bad-trips --json", lambda t: t.without().code == 2 and t.facts["signals"]),
    "--output": Row(f"{S} -o s1.h5", lambda t: cycles(t) <= set(made(t, "s1.h5").arrays.signals.cycle.tolist()), "s1.xml", "ends in .h5"),
    "--cycle": Row(f"{S} --cycle 80", lambda t: cycles(t) == {80}, "long", "--cycle 'long': wanted seconds"),
    "--min-green": Row(f"{S} --min-green 15 --phases new", lambda t: shortest_green(t.facts) >= 15, "0", "least green 0 s: wanted 3 to 60"),
    "--phases": Row(f"{S} --phases new", lambda t: {row["phases"] for row in t.facts["signals"]} == {"new"}, "old", "old"),
    "--coordinate": Row(f"{S} --coordinate 0", lambda t: groups(t.facts) == {None} != groups(t.before) and t.changed("signals"),
        "far", "--coordinate 'far': wanted metres"),
    "--standard": Row(f"{S} --phases new --standard mutcd", lambda t: t.changed("signals"), "mine", "mine"),
    "--from": Row(f"{S} --from 5min", lambda t: t.facts["begin_s"] == 300.0, "soon", "--from 'soon'"),
    "--until": Row(f"{S} --until 5min", lambda t: t.facts["end_s"] == 300.0, "soon", "--until 'soon'"),
    "--evaluate": Row(f"{S} --evaluate 1..2", lambda t: t.facts["evaluation"]["difference_veh_h"]["n"] == 2, "2..1", "--evaluate '2..1': wanted seeds"),
    "--csv": Row(f"{S} --csv lanes.csv", lambda t: t.text("lanes.csv").startswith("signal,lane,pcu_h"), "lanes.txt", "ends in .csv"),
    "--corridor": Row(f"{S} --plot c1.png --corridor 0.0,0.1", lambda t: t.facts["corridor"]["signals"] == ["0.0", "0.1"],
        "0.0,x", "no timed signal 'x'"),
    "--plot": Row(f"{S} --plot c2.png", lambda t: t.drawn("c2.png"), "c2.txt", "ends in"),
    "--run": Row(f"{G} --plot c3.png --corridor 0.0,0.1 --run run.h5", lambda t: t.facts["corridor"]["vehicles"] > 0, "none.h5", "none.h5"),
    "--json": Row(S, lambda t: "v/c" in t.without().out and t.facts["left_alone"] == {}),
}  # fmt: skip
