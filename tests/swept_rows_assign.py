"""Rows of the sweep for `assign`."""

import json
import shlex
from contextlib import redirect_stdout
from io import StringIO

from swept_options import Row, Told

from rushhour.cli import main
from rushhour.roadnets.loading import load_network
from rushhour.traffic.recording.demand_file import load_demand

ASSIGN = "assign grid.h5 --trips 20 --over 20s --iterations 1 --gap 0.99 -o w1.h5 --json"
RESUMED = f"{ASSIGN.replace('w1.h5', 'w5.h5')} --resume"
MATRIX = "assign region --demand region/demand.csv --iterations 1 --gap 0.99 -o w2.h5 --json"
OMX = "assign region --demand day.omx --iterations 1 --gap 0.99 -o w2.h5 --json"
SUMO = "assign lit.net.xml --demand lit.rou.xml --all --iterations 1 --gap 0.99 -o w3.h5 --json"


def kept(t: Told) -> int:
    demand, _ = load_demand(t.folder / "w1.h5", load_network(t.folder / "grid.h5"))
    return len(demand)


def intervals(t: Told) -> int:
    import h5py

    with h5py.File(t.folder / "w1.h5") as file:
        return int(file["assignment/spent"].shape[0])


def goes_on(t: Told) -> bool:
    """Whether it had nothing to go on from, and then goes on from what the line without it wrote."""
    assert "w5.h5: no such file" in t.err
    began = t.before["iterations"]
    with redirect_stdout(StringIO()) as said:
        assert main(shlex.split(RESUMED)) == 0
    again = json.loads(said.getvalue())["iterations"]
    return len(began) == 1 and again[:1] == began and len(again) == 2


ASSIGN_ROWS = {
    "network": Row(ASSIGN, lambda t: t.facts["network"] == "grid", ASSIGN.replace("grid.h5", "none.h5"), "none.h5"),
    "--demand": Row("assign grid.h5 --demand trips.csv --iterations 1 --gap 0.99 -o w1.h5 --json", lambda t: t.facts["trips"] == 2, "none.csv", "none.csv"),
    "--demand-period": Row(f"{MATRIX} --demand-period 2h", lambda t: t.facts["trips"] == 40, "long", "--demand-period 'long'"),
    "--demand-profile": Row(f"{MATRIX} --demand-profile 1,0", lambda t: t.facts["trips"] == 40, "x", "--demand-profile 'x'"),
    "--demand-matrix": Row(f"{OMX} --demand-matrix pm", lambda t: t.facts["trips"] == 50, "noon", "none called 'noon'"),
    "--demand-scale": Row(f"{ASSIGN} --demand-scale 2", lambda t: t.facts["trips"] == 40, "x", "--scale 'x': wanted a factor"),
    "--trips": Row(ASSIGN, lambda t: t.facts["trips"] == 20, "0", "trips 0: wanted 1 to"),
    "--over": Row(ASSIGN, lambda t: t.facts["trips"] == 20, "long", "--over 'long'"),
    "--begin": Row(f"{ASSIGN} --begin 7:00", lambda t: t.facts["trips"] == 20, "noon", "--begin 'noon'"),
    "--dt": Row(f"{ASSIGN} --dt 0.25", lambda t: t.facts["iterations"][0]["mean_time_s"] != t.before["iterations"][0]["mean_time_s"], "3", "wanted 1/120 to 0.5 s"),
    "--seed": Row(f"{ASSIGN} --seed 9", lambda t: t.facts["iterations"][0]["mean_time_s"] != t.before["iterations"][0]["mean_time_s"], "-1", "--seed"),
    "--threads": Row(f"{ASSIGN} --threads 1", lambda t: t.facts["gap"] == t.before["gap"], "0", "--threads 0: wanted 1 to 256"),
    "--set": Row(f"{ASSIGN} --set car.time_gap=2", lambda t: t.facts["trips"] == 20, "car.gap=1", "car.gap"),
    "--ignore-options": Row("assign lit.sumocfg --all --iterations 1 --gap 0.99 -o w3.h5 --ignore-options lateral-resolution --json", lambda t: t.facts["trips"] == 1, "nothing", "nothing"),
    "--skip-bad-trips": Row("assign grid.h5 --demand bad.csv --iterations 1 --gap 0.99 -o w1.h5 --skip-bad-trips --json", lambda t: t.facts["trips"] == 1),
    "--output": Row(ASSIGN, lambda t: kept(t) == 20, "w.csv", "ends in .h5"),
    "--iterations": Row(ASSIGN, lambda t: len(t.facts["iterations"]) == 1, "0", "iterations 0: wanted 1 or more"),
    "--gap": Row(ASSIGN, lambda t: t.facts["reached"], "2", "gap 2: wanted 0 to 1"),
    "--method": Row(f"{ASSIGN} --method msa", lambda t: t.facts["reached"], "fast", "method 'fast': wanted one of gap, msa"),
    "--share": Row(f"{ASSIGN} --share 0.2", lambda t: t.facts["reached"], "0", "share 0: wanted more than 0"),
    "--interval": Row(f"{ASSIGN} --interval 10s", lambda t: intervals(t) > 5, "often", "--interval 'often'"),
    "--all": Row(SUMO, lambda t: t.facts["trips"] == 1),
    "--resume": Row(RESUMED, goes_on, code=2),
    "--sumo": Row(f"{ASSIGN} --sumo w.rou.xml", lambda t: t.text("w.rou.xml").count("<vehicle ") == 20, "w.txt", "w.txt"),
    "--plot": Row(f"{ASSIGN} --plot w.png", lambda t: t.drawn("w.png"), "w.txt", "w.txt"),
    "--json": Row(ASSIGN, lambda t: t.facts["reached"] and "iteration" in t.without().out),
}  # fmt: skip
