"""Doors that take roads take streets by name, and what they tell of roads has the name beside the id."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
import sumo_texts
from street_worlds import high_street

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import save
from rushhour.traffic.analysis.chains import BEFORE_PLACE, WORDS, cause_told
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.scenarios.opening import open_world
from rushhour.traffic.scenarios.scenario import ScenarioError, read_scenario
from rushhour.traffic.words.places_named import (
    INTERSECTION,
    lane_named,
    place_named,
    road_named,
)

BLOCKS = {f"{sign}h{k}" for sign in ("", "-") for k in range(4)}
PART = {"h1", "-h1"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The high street, and a run on it that queues: its middle is closed, so that all must wait."""
    here = tmp_path_factory.mktemp("streets")
    save(high_street(), here / "net.h5")
    words = ["run", str(here / "net.h5"), "--trips", "120", "--over", "1min", "--duration", "3min"]
    words += ["--seed", "3", "--measure", "1min", "--record", str(here / "run.h5")]
    assert main([*words, "--close", "High St: B St - C St"]) == 0
    return here


def world(network: Network | None = None) -> rh.World:
    network = network or high_street()
    return rh.World(network, rh.random_trips(network, 20, "1min", seed=1), dt=0.5, seed=1)


# --- commands -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "closed"),
    [
        ("High St", BLOCKS),
        (["high st: a st - b st"], PART),
        (["Löwenstraße", "h0", 3], {"h0", "-h0", "-h1"}),
    ],
)
def test_a_street_closed_by_name_is_closed_both_ways_and_logged_by_ids(
    given: Any, closed: set[str]
) -> None:
    w = world()
    w.close_roads(given)
    w.step(2)
    assert set(w.closures()["roads"]) == closed
    assert set(w.commands[0].arguments["roads"]) == closed
    w.open_roads(given)
    w.step(2)
    assert w.closures()["roads"] == []


def test_limits_and_plans_take_streets_too() -> None:
    w = world()
    w.set_speed_limit(["B St", "h0_0"], 5.0)
    w.schedule("8s", "close_roads", roads=["A St"])
    w.step(10)
    assert set(w.speed_limits()) == {"n2_0", "-n2_0", "s2_0", "-s2_0", "h0_0"}
    assert set(w.closures()["roads"]) == {"n1", "-n1", "s1", "-s1"}


@pytest.mark.parametrize(
    ("name", "given", "why"),
    [
        ("close_roads", ["Hihg St"], "close_roads: no road or street 'Hihg St'; did you mean High St"),
        ("close_roads", ["High St: A St - D St"], "no street or intersection 'D St'; did you mean"),
        ("close_lanes", ["High St"], "close_lanes: no lane 'High St'"),
        ("set_speed_limit", ["Q", 5.0], "set_speed_limit: no road or street 'Q'"),
        ("set_destination", [0, "B St"], "set_destination: 'B St' is 4 roads; give one of n2, -n2, s2 and 1 more"),
        ("set_route", [0, ["A St"]], "set_route: 'A St' is 4 roads; give one of "),
    ],
)  # fmt: skip
def test_a_name_that_is_not_one_road_where_one_is_wanted_is_refused_in_one_line(
    name: str, given: list[Any], why: str
) -> None:
    w = world()
    w.step(60)
    with pytest.raises(CommandError) as error:
        getattr(w, name)(*given)
    assert why in str(error.value) and "\n" not in str(error.value)


def test_one_road_may_be_given_by_its_name() -> None:
    builder = rh.NetworkBuilder()
    builder.add_road([(0, 0), (200, 0)], id="1", name="Long Lane", end="x")
    builder.add_road([(200, 0), (400, 0)], id="2", name="Short Street", ref="9", start="x")
    builder.add_intersection(200, 0, id="x")
    network = builder.build()
    trips = {"depart": [0, 1], "origin": ["long lane", "1"], "destination": ["9", "Short Street"]}
    demand = rh.read_trips(trips, network)
    assert [network.road_ids[road] for road in demand.roads] == ["1", "2", "1", "2"]
    with pytest.raises(DemandError, match=r"road 'Elm' of its origin is not in network"):
        rh.read_trips({**trips, "origin": ["Elm", "1"]}, network)


def test_a_trip_from_a_street_of_many_roads_says_which() -> None:
    with pytest.raises(DemandError, match=r"its origin: 'A St' is 4 roads; give one of "):
        rh.read_trips({"depart": [0], "origin": ["A St"], "destination": ["h0"]}, high_street())


# --- scenarios and the command line -------------------------------------------------------------


@pytest.mark.parametrize("given", ['["High St: A St - B St"]', '"High St: A St - B St"'])
def test_a_scenario_closes_streets_from_its_begin(given: str, tmp_path: Path) -> None:
    save(high_street(), tmp_path / "net.h5")
    text = f'network = "net.h5"\nclose_roads = {given}\n[demand]\ntrips = 5\nover = "1min"\n'
    (tmp_path / "a.toml").write_text(text)
    w = open_world(read_scenario(tmp_path / "a.toml"))
    w.step(1)
    assert set(w.closures()["roads"]) == PART


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("3", "close_roads = 3: wanted a list of names or ids of roads"),
        ("[3]", r"close_roads = \[3\]: wanted a list"),
        ('["Hihg St"]', "did you mean High St"),
    ],
)
def test_a_scenario_that_closes_what_is_no_street_is_one_line(
    given: str, why: str, tmp_path: Path
) -> None:
    save(high_street(), tmp_path / "net.h5")
    text = f'network = "net.h5"\nclose_roads = {given}\n[demand]\ntrips = 5\nover = "1min"\n'
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises((ScenarioError, CommandError), match=why):
        open_world(read_scenario(tmp_path / "a.toml"))


def test_run_close_is_logged_and_the_run_repeats_bit_for_bit(files: Path, capsys: Any) -> None:
    with rh.open_run(files / "run.h5") as run:
        assert set(run.commands()[0].arguments["roads"]) == {"h2", "-h2"}
    assert main(["replay", str(files / "run.h5"), "--verify"]) == 0
    words = ["run", str(files / "net.h5"), "--trips", "3", "--over", "1s", "--close", "Hig St"]
    assert main(words) == 2
    assert "no road or street 'Hig St'; did you mean High St" in capsys.readouterr().err


def test_a_resumed_run_closes_a_street_as_a_what_if(files: Path, tmp_path: Path) -> None:
    words = ["run", "--resume", str(files / "run.h5"), "--at", "1min", "--duration", "5s"]
    words += ["--record", str(tmp_path / "rest.h5"), "--close", "A St"]
    assert main(words) == 0
    with rh.open_run(tmp_path / "rest.h5") as run:
        assert set(run.commands()[-1].arguments["roads"]) == {"n1", "-n1", "s1", "-s1"}


def told(words: list[str], capsys: Any) -> str:
    """What a command prints."""
    capsys.readouterr()
    assert main(words) == 0
    return str(capsys.readouterr().out)


def test_queues_and_why_name_streets_and_are_asked_by_them(files: Path, capsys: Any) -> None:
    run = str(files / "run.h5")
    every = json.loads(told(["queues", run, "--json", "--least", "2"], capsys))["queues"]
    network = high_street()
    assert every
    for one in every:
        assert one["name"] == network.road_name(network.road_index[one["road"]])
        assert len(one["through"]) == len(one["through_names"])
    street = every[0]["name"].split(";")[0]
    some = json.loads(told(["queues", run, "--json", "--least", "2", "--road", street], capsys))
    roads = set(network.roads.id[network.find_roads(street)])
    assert some["queues"] == [one for one in every if one["road"] in roads]
    assert f"{every[0]['road']} ({every[0]['name']})" in told(
        ["queues", run, "--least", "2"], capsys
    )
    text = told(["why", run, "--road", street.upper(), "--at", "2min"], capsys)
    assert f"({every[0]['name']})" in text
    for words in (["why", run, "--road", "Hihg St"], ["queues", run, "--road", "Hihg St"]):
        assert main(words) == 2
        assert "no road or street 'Hihg St'; did you mean High St" in capsys.readouterr().err


def test_what_queues_and_why_print_is_a_name_wherever_places_are_asked_for(
    files: Path, capsys: Any
) -> None:
    """Every road, place and cause, word by word as it stands in the table."""
    network, run = high_street(), str(files / "run.h5")
    table = told(["queues", run, "--least", "2"], capsys)
    roads = {called for called in re.findall(r"[-\w]+ \([^()]*St[^()]*\)", table)}
    roads = {name for name in roads if name.split(" (")[0] in network.road_index}
    assert len(roads) >= 5
    places = {
        re.findall(r"\((.*)\)", cause_told(cause, id, network.intersection_name(k)))[0]
        for k, id in enumerate(network.intersection_ids)
        for cause in WORDS.keys() - BEFORE_PLACE
        if " / " in network.intersection_name(k)
    }
    assert len(places) >= 3
    for name in roads:
        road = network.road_index[name.split(" (")[0]]
        assert road_named(network, name) == road and network.find_roads(name).tolist() == [road]
        told(["why", run, "--at", "2min", "--road", name], capsys)
        world().close_roads(name)
    for name in places:
        kind, number = place_named(network, name) or ("", -1)
        assert kind == INTERSECTION
        assert network.intersection_ids[number] in name.split(", ")[0]
        crossing = name.split(", ")[1]
        assert place_named(network, crossing) == (INTERSECTION, number)
        there = network.intersection_name(number)
        assert crossing == there and " / " in there
        assert place_named(network, " / ".join(reversed(there.split(" / ")))) == (kind, number)
    lane = network.lane_ids[0]
    assert lane_named(network, f"{lane} (High St)") == 0
    assert lane_named(network, f"on {lane}, High St") == 0
    for nothing in ("A St / B St", "High St / Nowhere", "h9 (High St)", "at nowhere, High St"):
        assert place_named(network, nothing) is None


def test_statistics_exports_and_tables_have_the_name_beside_the_id(
    files: Path, tmp_path: Path, capsys: Any
) -> None:
    run, network = str(files / "run.h5"), high_street()
    roads = json.loads(told(["replay", run, "--stats", "--json"], capsys))["roads"]
    assert {one["road"]: one["name"] for one in roads} == {
        one["road"]: network.road_name(network.road_index[one["road"]]) for one in roads
    }
    assert f"{roads[0]['road']} ({roads[0]['name']})" in told(["replay", run, "--stats"], capsys)
    for words in (
        ["replay", run, "--export", "csv", "--roads", "A St", "-o", str(tmp_path / "a.csv")],
        ["export", run, "--table", "roads", "--to", str(tmp_path / "b.csv")],
    ):
        assert main(words) == 0
    for name in ("a.csv", "b.csv"):
        with (tmp_path / name).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert rows and all(
            row["name"]
            == (network.road_name(network.road_index[row["road"]]) if row["road"] else "")
            for row in rows
        )
        if name == "a.csv":
            assert {row["name"] for row in rows} <= {"A St"}


def test_runs_compared_by_road_and_by_ends_name_streets(
    files: Path, tmp_path: Path, capsys: Any
) -> None:
    groups: list[list[str]] = []
    for closed in ((), ("--close", "High St: A St - B St")):
        groups.append([])
        for seed in ("1", "2", "3"):
            path = str(tmp_path / f"{len(groups)}-{seed}.h5")
            words = ["run", str(files / "net.h5"), "--trips", "40", "--over", "20s", "--seed", seed]
            assert main([*words, "--duration", "2min", "--record", path, *closed]) == 0
            groups[-1].append(path)
    words = ["compare", *groups[0], "--with", *groups[1], "--by", "road"]
    rows = json.loads(told([*words, "--json"], capsys))["by"]["largest"]
    network = high_street()
    assert rows
    for row in rows:
        assert row["name"] == network.road_name(network.road_index[row["road"]])
    assert f"{rows[0]['road']} ({rows[0]['name']}), s " in told(words, capsys)


def test_a_detector_between_streets_asks_for_one_road_and_queues_take_all(
    files: Path, capsys: Any
) -> None:
    words = ["run", str(files / "net.h5"), "--trips", "5", "--over", "9s", "--duration", "20s"]
    words += ["--measure", "10s"]
    assert main([*words, "--queue", "High St"]) == 0
    assert main([*words, "--section", "A St", "h0"]) == 2
    assert "it is of the street; give one of its roads: " in capsys.readouterr().err


def test_plots_of_roads_take_streets_and_time_space_drives_along_one(
    files: Path, tmp_path: Path, capsys: Any
) -> None:
    run, plot = str(files / "run.h5"), str(tmp_path / "a.png")
    facts = json.loads(
        told(["plot", run, "fundamental", "--road", "high st", "-o", plot, "--json"], capsys)
    )
    assert 2 <= facts["roads"] <= len(BLOCKS)

    def along(*roads: str) -> Any:
        words = [word for road in roads for word in ("--road", road)]
        return json.loads(told(["plot", run, "time-space", *words, "-o", plot, "--json"], capsys))

    one_by_one = along(*(f"h{i}" for i in range(4)))
    assert along("High St") == one_by_one
    assert one_by_one["vehicles"] > 0


def test_traci_tells_the_street_of_an_edge(tmp_path: Path) -> None:
    from rushhour.compat import traci

    text = sumo_texts.crossing().replace('id="s_in"', 'id="s_in" name="Südring"')
    net = sumo_texts.written(tmp_path, text)
    (tmp_path / "a.rou.xml").write_text(
        '<routes><trip id="t" depart="0" from="s_in" to="n_out"/></routes>'
    )
    traci.start(["sumo", "-n", str(net), "-r", str(tmp_path / "a.rou.xml")])
    try:
        assert traci.edge.getStreetName("s_in") == "Südring"
        assert traci.edge.getStreetName("n_in") == ""
        traci.edge.subscribe("s_in", [traci.constants.VAR_NAME])
        traci.simulationStep()
        assert traci.edge.getSubscriptionResults("s_in") == {0x1B: "Südring"}
    finally:
        traci.close()


def test_lint_and_errors_name_the_street(tmp_path: Path, capsys: Any) -> None:
    builder = rh.NetworkBuilder()
    builder.add_road([(0, 0), (200, 0)], id="a", name="Stub Lane")
    builder.add_road([(300, 0), (500, 0)], id="b", name="Far End")
    network = builder.build()
    with pytest.raises(DemandError, match=r"from road 'a' \(Stub Lane\) to 'b' \(Far End\)"):
        rh.read_trips({"depart": [0], "origin": ["a"], "destination": ["b"]}, network)
    text = sumo_texts.crossing().replace('id="s_in"', 'id="s_in" name="Südring"')
    text = text.replace(
        'id="s_in_0" index="0" speed="13.89" length="90.00"',
        'id="s_in_0" index="0" speed="13.89" length="70.00"',
    )
    net = str(sumo_texts.written(tmp_path, text))
    found = json.loads(told(["info", net, "--json"], capsys))["findings"]
    assert [one["streets"] for one in found if one["source"] == ["lane s_in_0"]] == [["Südring"]]
    assert "lane 's_in_0': declared 70 m, drawn 90.0 m; the drawing taken (Südring) @" in told(
        ["info", net], capsys
    )
