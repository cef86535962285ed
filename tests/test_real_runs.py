"""Whole runs of real districts under the eyes of the checker, as `rushhour run --check` does."""

import json

import pytest
from real_data import data_folder

from rushhour.cli import main

pytestmark = pytest.mark.slow

# Trips, and how many of them depart in time, at least: I-210's exits are full (docs/limits.md).
RANDOM = {
    "sumo_badhersfeld_net": (3000, 0.97),
    "sumo_luxembourg": (8000, 0.97),
    "sumo_braunschweig": (2000, 0.97),
    "sumo_i210_freeway": (2000, 0.93),
}


LONG = {
    name: pytest.mark.soak
    for name in ("sumo_badhersfeld_net", "sumo_luxembourg", "sumo_braunschweig", "wildau")
}
# docs/limits.md: a few drivers stand before a full exit for 10 minutes.
LONG["sumo_i210_freeway"] = pytest.mark.xfail(reason="two stand before a full exit for 10 minutes")


def run(capsys, *words: object):
    assert main(["run", *map(str, words), "--dt", "0.25", "--check", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def nothing_found(summary) -> bool:
    return not any(summary["violations"].values()) and summary["vehicles"]["removed"] == 0


@pytest.mark.parametrize("name", [pytest.param(name, marks=LONG.get(name, ())) for name in RANDOM])
def test_random_trips_on_a_real_network_break_no_rule(capsys, name):
    trips, share = RANDOM[name]
    net = next(data_folder(name).glob("*.net.xml.gz"))
    summary = run(capsys, net, "--trips", trips, "--over", "15min", "--duration", "15min")
    assert nothing_found(summary)
    assert summary["vehicles"]["departed"] > share * trips


# Mean of travel time and departure delay of SUMO 1.28 on the same files, s.
OWN_DEMAND = {
    "acosta": (448.5, 8779, ["acosta.rou.xml.gz", "acosta_busses.rou.xml.gz",
                             "acosta_bus_stops.add.xml", "acosta_vtypes.add.xml",
                             "acosta_tls.add.xml"]),
    "wildau": (219.6, 3556, ["wildau.rou.xml.gz"]),
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=LONG.get(name, ())) for name in OWN_DEMAND]
)
def test_a_district_with_its_own_demand_runs_to_the_end_as_in_sumo(capsys, name):
    sumo, vehicles, files = OWN_DEMAND[name]
    folder = data_folder({"acosta": "sumo_bologna_acosta", "wildau": "sumo_wildau"}[name])
    demand = [word for file in files for word in ("--demand", folder / file)]
    summary = run(capsys, folder / f"{name}.net.xml.gz", *demand)
    assert nothing_found(summary)
    assert summary["vehicles"]["departed"] == summary["vehicles"]["arrived"] == vehicles
    assert summary["trips"]["longest_standstill_s"] < 600.0
    trips = summary["trips"]
    ours = trips["mean_travel_time_s"] + trips["mean_departure_delay_s"]
    assert ours == pytest.approx(sumo, rel=0.25)
