"""Rows of the sweep for `demand` and `fit`."""

from swept_options import Row, Told

from rushhour.roadnets.loading import load_network
from rushhour.traffic.recording.demand_file import load_demand

DAY = "demand homes.osm -o y1.h5 --population 60 --json"
FIT = "fit grid.h5 --trips 30 --over 30s --counts counts.csv -o z1.h5 --json"
MATRIX = "fit region --demand region/demand.csv --counts counts3.csv -o z2.h5 --json"
OMX = "fit region --demand day.omx --counts counts3.csv -o z2.h5 --json"
SUMO = "fit lit.net.xml --demand lit.rou.xml --counts counts2.csv -o z3.h5 --json"


def trips(t: Told, path: str, network: str) -> int:
    demand, _ = load_demand(t.folder / path, load_network(t.folder / network))
    return len(demand)


def outside(t: Told) -> int:
    return sum(
        int(t.facts["by_purpose"].get(name, 0)) for name in ("in", "away", "through", "out", "home")
    )


DAY_ROWS = {
    "map": Row(DAY, lambda t: t.facts["buildings"] == 2, DAY.replace("homes.osm", "none.osm"), "none.osm"),
    "--output": Row(DAY, lambda t: trips(t, "y1.h5", "homes.osm") == t.facts["trips"], "y.csv", "ends in .h5"),
    "--network": Row(f"{DAY} --network homes.osm", lambda t: t.facts["trips"] == t.before["trips"], "none.h5", "none.h5"),
    "--population": Row(DAY, lambda t: t.facts["population"] == 60, "0", "population 0: wanted 1 to"),
    "--zones": Row("demand homes.osm -o y1.h5 --zones homes.geojson --json", lambda t: t.facts["population"] == 77, "none.geojson", "none.geojson"),
    "--rate": Row(f"{DAY} --rate 3", lambda t: t.facts["trips"] > 2 * t.before["trips"], "-1", "rate -1: wanted 0 to 20"),
    "--model": Row(f"{DAY} --model radiation", lambda t: t.facts["trips"] > 0, "physics", "model 'physics': wanted gravity or radiation"),
    "--mean-time": Row(f"{DAY} --mean-time 1min", lambda t: t.facts["trips"] > 0, "long", "--mean-time 'long'"),
    "--external": Row(f"{DAY} --external 0", lambda t: outside(t) == 0, "1", "external 1: wanted 0 to 0.95"),
    "--through": Row(f"{DAY} --through 1", lambda t: t.facts["by_purpose"].get("in", 0) == 0, "2", "through 2: wanted 0 to 1"),
    "--begin": Row(f"{DAY} --begin 12:00", lambda t: 0 < t.facts["trips"] < t.before["trips"], "noon", "--begin 'noon'"),
    "--end": Row(f"{DAY} --end 12:00", lambda t: 0 < t.facts["trips"] < t.before["trips"], "noon", "--end 'noon'"),
    "--counts": Row(f"{DAY} --counts counts4.csv", lambda t: t.facts["fitted"]["used"]["counts"] == 2 and t.facts["fitted"]["trips"] != t.before["trips"], "none.csv", "none.csv"),
    "--hold-out": Row(f"{DAY} --counts counts4.csv --hold-out 0.5", lambda t: t.facts["fitted"]["held_out"]["counts"] == 1, "1", "hold out 1"),
    "--seed": Row(f"{DAY} --seed 5", lambda t: t.facts["population"] == 60, "-1", "--seed"),
    "--plot": Row(f"{DAY} --plot y.png", lambda t: t.drawn("y.png"), "y.txt", "y.txt"),
    "--threads": Row(f"{DAY} --threads 1", lambda t: t.facts == t.before, "0", "--threads 0: wanted 1 to 256"),
    "--json": Row(DAY, lambda t: t.facts["trips"] > 0 and "population" in t.without().out),
}  # fmt: skip

FIT_ROWS = {
    "network": Row(FIT, lambda t: t.facts["network"] == "grid", FIT.replace("grid.h5", "none.h5"), "none.h5"),
    "--demand": Row("fit grid.h5 --demand trips.csv --counts counts.csv -o z1.h5 --json", lambda t: t.facts["trips_before"] == 2, "none.csv", "none.csv"),
    "--demand-period": Row(f"{MATRIX} --demand-period 2h", lambda t: t.facts["trips_before"] == 40, "long", "--demand-period 'long'"),
    "--demand-profile": Row(f"{MATRIX} --demand-profile 1,0", lambda t: t.facts["trips_before"] == 40, "x", "--demand-profile 'x'"),
    "--demand-matrix": Row(f"{OMX} --demand-matrix pm", lambda t: t.facts["trips_before"] == 50, "noon", "none called 'noon'"),
    "--demand-scale": Row(f"{FIT} --demand-scale 2", lambda t: t.facts["trips_before"] == 60, "x", "--scale 'x': wanted a factor"),
    "--trips": Row(FIT, lambda t: t.facts["trips_before"] == 30, "0", "trips 0: wanted 1 to"),
    "--over": Row(FIT, lambda t: t.facts["trips_before"] == 30, "long", "--over 'long'"),
    "--begin": Row(f"{FIT} --begin 0:00", lambda t: t.facts["trips_before"] == 30, "noon", "--begin 'noon'"),
    "--dt": Row(f"{FIT} --dt 0.5", lambda t: t.facts == t.before, "long", "--dt 'long'"),
    "--seed": Row(f"{FIT} --seed 9", lambda t: t.facts["used"] != t.before["used"], "-1", "--seed"),
    "--threads": Row(f"{FIT} --threads 1", lambda t: t.facts == t.before, "0", "--threads 0: wanted 1 to 256"),
    "--set": Row(f"{FIT} --set car.time_gap=2", lambda t: t.facts == t.before, "car.gap=1", "car.gap"),
    "--ignore-options": Row(f"{SUMO} --ignore-options person", lambda t: t.facts["trips_before"] == 1, "nothing", "nothing"),
    "--skip-bad-trips": Row("fit grid.h5 --demand bad.csv --counts counts.csv -o z1.h5 --skip-bad-trips --json", lambda t: t.facts["trips_before"] == 1),
    "--counts": Row(FIT, lambda t: t.facts["used"]["counts"] == 4, "none.csv", "none.csv"),
    "--output": Row(FIT, lambda t: trips(t, "z1.h5", "grid.h5") == t.facts["trips"], "z.csv", "ends in .h5"),
    "--hold-out": Row(f"{FIT} --hold-out 0.5", lambda t: t.facts["held_out"]["counts"] == 2 and t.before["held_out"] is None, "1", "hold out 1"),
    "--trust": Row(f"{FIT} --trust 1000", lambda t: t.facts["used"]["rmse_veh_per_h_after"] > t.before["used"]["rmse_veh_per_h_after"], "0", "trust 0"),
    "--matrix": Row(f"{FIT} --matrix od.csv", lambda t: t.text("od.csv").startswith("o_zone_id,d_zone_id,volume,before"), "od.txt", "ends in .csv"),
    "--json": Row(FIT, lambda t: t.facts["trips"] > 0 and "trips became" in t.without().out),
}  # fmt: skip
