"""`--scale` by time, class and zone: who is kept, who is repeated and when, of every kind of demand, by the command line."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from demand_texts import demand_of, network_text, small_network

import rushhour as rh
from rushhour.cli import main

pytestmark = pytest.mark.tiny_world  # its commands run as plain Python, too

TRIPS = "".join(
    f'<trip id="t{i}" depart="{5 * i}" from="a" to="{"de"[i % 2]}"/>' for i in range(40)
)
FILES = {
    "t.rou.xml": f"<routes>{TRIPS}</routes>",
    "r.rou.xml": "<routes>"
    + "".join(
        f'<vehicle id="r{i}" depart="{5 * i}"><route edges="a b e"/></vehicle>' for i in range(40)
    )
    + "</routes>",
    "f.rou.xml": '<routes><flow id="f" begin="0" end="200" number="40" from="a" to="d"/></routes>',
    "t.csv": "depart,origin,destination\n" + "".join(f"{5 * i},a,d\n" for i in range(40)),
    "m.csv": "o_zone_id,d_zone_id,volume\nn0,n4,40\n",
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "small.net.xml").write_text(network_text())
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def driven(here: Path, *words: str) -> dict[str, float]:
    """Departures, s, by the ids of the trips of a run of the command line."""
    record = here / "r.h5"
    record.unlink(missing_ok=True)
    done = main(
        ["run", "small.net.xml", *words, "--duration", "1s", "--record", str(record), "--json"]
    )
    assert done == 0
    with rh.open_run(record) as run:
        return dict(zip(run.demand.ids, run.demand.depart.tolist(), strict=True))


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["run", "small.net.xml", *words, "--duration", "1s"]) == 2
    return capsys.readouterr().err


KINDS = [
    ("--demand", "t.rou.xml"), ("--demand", "r.rou.xml"), ("--demand", "f.rou.xml"),
    ("--demand", "t.csv"), ("--demand", "m.csv", "--demand-period", "200s"),
    ("--trips", "40", "--over", "200s"),
]  # fmt: skip


@pytest.mark.parametrize("words", KINDS, ids=lambda words: words[1])
def test_trips_of_any_demand_are_more_or_fewer_in_a_time_and_the_others_stay(
    here: Path, words: tuple[str, ...]
) -> None:
    plain = driven(here, *words)
    fewer = driven(here, *words, "--scale", "0.5,time=0:00:50-0:01:40")
    more = driven(here, *words, "--scale", "1.5,time=0:00:50-0:01:40")
    within = [name for name, depart in plain.items() if 50.0 <= depart < 100.0]
    half = round(0.5 * len(within))
    assert len(within) > 3
    assert len(fewer) == len(plain) - len(within) + half
    assert fewer.items() <= plain.items() <= more.items()
    assert set(plain) - set(within) <= set(fewer)
    copies = {name: more[name] for name in more if name not in plain}
    assert len(copies) == half
    assert all(50.0 <= depart < 100.0 for depart in copies.values())
    originals = {name: plain[name.rsplit(".", 1)[0]] for name in copies}
    assert originals and all(copies[name] != originals[name] for name in copies)


def test_who_is_kept_at_less_is_kept_at_more_and_no_seed_changes_it(here: Path) -> None:
    words = ("--demand", "t.rou.xml")
    kept = [set(driven(here, *words, "--scale", f"{x},time=0-1000")) for x in (0.2, 0.5, 0.9)]
    assert [len(ids) for ids in kept] == [8, 20, 36]
    assert kept[0] < kept[1] < kept[2]
    again = driven(here, *words, "--scale", "0.5,time=0-1000", "--seed", "9")
    assert set(again) == kept[1]
    ranks = sorted(int(name[1:]) for name in kept[1])
    assert ranks != list(range(ranks[0], 40, 2))  # drawn, not every second one


def test_a_copy_departs_within_the_quarter_of_an_hour_of_its_original(here: Path) -> None:
    rows = "".join(f"{100 * i},a,d\n" for i in range(40))
    (here / "long.csv").write_text("depart,origin,destination\n" + rows)
    found = driven(here, "--demand", "long.csv", "--scale", "3,class=passenger")
    assert len(found) == 120
    for name, depart in found.items():
        assert depart // 900.0 == found[".".join(name.split(".")[:2])] // 900.0
    assert len(set(found.values())) == 120
    assert max(found.values()) <= 3900.0


def test_classes_types_and_zones_are_told_apart_and_factors_multiply(here: Path) -> None:
    kinds = '<vType id="coach" vClass="bus"/><vType id="van"/>'
    text = kinds + "".join(
        f'<trip id="{kind}{i}" type="{kind}" depart="{i}" from="a" to="{"db"[i % 2]}"/>'
        for i in range(20) for kind in ("coach", "van")
    )  # fmt: skip
    (here / "k.rou.xml").write_text(f"<routes>{text}</routes>")
    words = ("--demand", "k.rou.xml")

    def counted(*rules: str) -> tuple[int, int]:
        asked = [word for rule in rules for word in ("--scale", rule)]
        ids = list(driven(here, *words, *asked))
        return sum("coach" in name for name in ids), sum("van" in name for name in ids)

    network = small_network(here)
    roads = network.arrays.roads
    end = network.intersection_ids[roads.to_intersection[network.road_index["d"]]]
    start = network.intersection_ids[roads.from_intersection[network.road_index["a"]]]
    assert counted() == (20, 20)
    assert counted("2,class=bus") == (40, 20)
    assert counted("0.5,type=van") == (20, 10)
    assert counted("2,class=bus", "0.5,type=van+coach") == (20, 10)
    assert counted(f"2,to={end}") == counted(f"2,zone={end}") == (30, 30)
    assert counted(f"2,from={start},class=bus", "0,type=van") == (40, 0)
    assert counted("2", f"2,to={end},class=bus") == (60, 40)


def test_a_scenario_and_a_variant_scale_by_the_same_rules(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = "1.5,time=0:00:50-0:01:40"
    (here / "s.toml").write_text(
        f'network = "small.net.xml"\n[demand]\nfiles = ["t.csv"]\nscale = [0.5, "{rule}"]\n'
        '[times]\nduration = "5min"\n'
    )
    wanted = driven(here, "--demand", "t.csv", "--scale", "0.5", "--scale", rule)
    capsys.readouterr()

    def departed(*words: str) -> int:
        assert main(["run", *words, "--json"]) == 0
        facts: dict[str, Any] = json.loads(capsys.readouterr().out)["vehicles"]
        return int(facts["departed"])

    assert departed("s.toml") == len(wanted) == 22
    assert departed("s.toml", "--scale", "1") == 40  # the command line wins over the whole
    (here / "study.toml").write_text(
        f'base = "s.toml"\nseeds = "1"\n[variants.more]\nscale = "{rule}"\n'
    )
    assert main(["study", "study.toml", "-o", "out", "--workers", "0"]) == 0
    table = (here / "out" / "table.csv").read_text().splitlines()
    place = table[0].split(",").index("finished")
    assert [int(row.split(",")[place]) for row in table[1:]] == [22, 45]


def test_rules_in_python_are_those_of_the_command_line(here: Path) -> None:
    network = small_network(here)
    demand = demand_of(network, here, TRIPS)
    rules = ["0.5,time=0-100", "2,class=passenger"]
    found = rh.scale_demand(demand, rules, network)
    words = [word for rule in rules for word in ("--scale", rule)]
    assert dict(zip(found.ids, found.depart.tolist(), strict=True)) == driven(
        here, "--demand", "t.rou.xml", *words
    )
    assert np.all(np.diff(found.depart) >= 0.0)
    assert "2 rules" in found.remarks[-1] and "40 trips became" in found.remarks[-1]


@pytest.mark.parametrize(("rule", "message"), [
    ("much", "--scale 'much': wanted a factor, or one with what it is for"),
    ("2,hour=7", "'hour=7': wanted one of time, class, type, from, to, zone"),
    ("2,class=", "'class=': wanted one of"),
    ("2,class=lorry", "no class 'lorry'; wanted one of"),
    ("2,class=trunk", "no class 'trunk'; did you mean truck?"),
    ("2,type=lory", "no type 'lory'"),
    ("2,from=nowhere", "no zone 'nowhere'"),
    ("2,time=9:00", "time '9:00': wanted two times, as 7:00-9:00"),
    ("2,time=9:00-8:00", "ends before it begins"),
    ("2,class=truck", "none of the 40 trips is such"),
    ("2,class=truck,class=bus", "class is given twice; join its values with +"),
    ("nan", "wanted a factor from 0 to"),
    ("1e6,time=0-1000", "more than 10,000,000; lower it"),
])  # fmt: skip
def test_a_rule_that_cannot_be_meant_is_refused_in_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], rule: str, message: str
) -> None:
    found = refused(capsys, "--demand", "t.rou.xml", "--scale", rule)
    assert message in found and found.count("\n") == 1


def test_two_factors_on_the_whole_are_refused(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = refused(capsys, "--demand", "t.rou.xml", "--scale", "2", "--scale", "3")
    assert "two factors on the whole demand; give their product" in found
