"""The file of a study: what its runs are made from, how variants change it, what cannot be meant."""

import os
from pathlib import Path

import pytest
from study_files import SCENARIO, STUDY, based, folder_of_study, wants

from rushhour.roadnets.errors import RushhourError
from rushhour.traffic.studies import inputs
from rushhour.traffic.studies.inputs import hash_of, inputs_of
from rushhour.traffic.studies.study import dry_run, study, tasks_of
from rushhour.traffic.studies.study_file import read_study
from rushhour.traffic.studies.worker import done


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return folder_of_study(tmp_path, monkeypatch)


def hashes(path: str = "study.toml") -> list[str]:
    return [hash_of(inputs_of(spec, spec.scenario())) for spec in read_study(path).specs()]


def test_the_hash_is_of_everything_that_a_run_is_made_from_and_nothing_else(here: Path) -> None:
    (here / "more.xml").write_text('<routes><vType id="fast" maxSpeed="20"/></routes>')
    (here / "rou.xml").write_text(
        '<routes><include href="more.xml"/><trip id="a" type="fast" depart="0" from="0.0-0.1" to="0.1-1.1"/></routes>'
    )
    based(SCENARIO.replace("[demand]\n", '[demand]\nfiles = ["rou.xml"]\n'))
    before = hashes()
    assert len(set(before)) == 8 and hashes() == before
    os.utime(here / "grid.h5")
    based("# said\n" + (here / "base.toml").read_text())
    assert hashes() == before
    (here / "more.xml").write_text('<routes><vType id="fast" maxSpeed="25"/></routes>')
    assert not set(hashes()) & set(before)
    (here / "more.xml").write_text('<routes><vType id="fast" maxSpeed="20"/></routes>')
    assert hashes() == before
    based((here / "base.toml").read_text() + '[parameters]\n"car.time_gap" = 1.3\n')
    assert not set(hashes()) & set(before)


def test_other_code_of_the_same_version_makes_other_runs_and_is_refused_at_workers(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, own = hashes(), inputs.code_digest()
    room = here / "room"
    room.mkdir()
    (room / "a.py").write_text("x = 1\n")
    monkeypatch.setattr("rushhour.traffic.__path__", [str(room)])
    inputs.code_digest.cache_clear()
    try:
        other, asked = inputs.code_digest(), tasks_of(read_study("study.toml"), here / "out")[0]
        assert other != own and not set(hashes()) & set(before)
        (room / "a.py").write_text("x = 2\n")
        inputs.code_digest.cache_clear()
        assert len({own, other, inputs.code_digest()}) == 3
    finally:
        monkeypatch.undo()
        inputs.code_digest.cache_clear()
    monkeypatch.chdir(here)
    assert inputs.code_digest() == own and hashes() == before
    found = done(asked.facts())
    assert "other code" in found["error"] and found["again"] is False
    assert not list((here / "out").glob("runs/*"))


def test_variants_change_the_base_and_add_to_its_events_and_closed_roads(here: Path) -> None:
    event = '[[{}events]]\ntime = 10\naction = "close_roads"\nroads = ["0.1-1.1"]\n'
    based('close_roads = ["0.0-0.1"]\n' + SCENARIO + event.format(""))
    wants(
        'base = "base.toml"\nseeds = "3"\n[variants.v]\nclose_roads = ["0.1-0.0"]\nscale = 1.2\n'
        '[variants.v.parameters]\n"car.time_gap" = 1.4\n[variants.v.times]\nduration = "1min"\n'
        + event.format("variants.v.")
    )
    base, v = (spec.scenario() for spec in read_study("study.toml").specs())
    assert base.closed == ("0.0-0.1",) and v.closed == ("0.0-0.1", "0.1-0.0")
    assert (len(base.events), len(v.events)) == (1, 2)
    assert (v.demand_scale, v.duration, v.seed) == (1.2, 60.0, 3)
    assert dict(v.parameters) == {"car.time_gap": 1.4} and base.measure == 900.0
    # the same, told as a mapping with the base in it
    import tomllib

    table = tomllib.loads((here / "study.toml").read_text())
    table["base"] = tomllib.loads((here / "base.toml").read_text())
    assert [spec.scenario().closed for spec in read_study(table).specs()] == [base.closed, v.closed]


@pytest.mark.parametrize(("text", "message"), [
    ('seeds = "1"', "has no base"),
    ('base = "none.toml"', "base 'none.toml': no such file"),
    ('base = "base.toml"\nvariant = 1', "variant is not known; did you mean variants"),
    ('base = "base.toml"\n[variants]\na = 1', r"variants: wanted sections \[variants.NAME\]"),
    ('base = "base.toml"\n[variants.a]\nscael = 2', "scael is not known; wanted one of network"),
    ('base = "base.toml"\n[axes]\nscale = []', "axes: wanted lists"),
    ('base = "base.toml"\n[axes]\n"demand.scael" = [1]', "scael is not known"),
    ('base = "base.toml"\ncompare = "b"', "compare 'b': wanted one of base"),
    ('base = "base.toml"\nseeds = "9..1"', "seeds '9..1': wanted seeds"),
    ('base = "base.toml"\ncounts = "none.csv"', "counts.file 'none.csv': no such file"),
    ('base = "base.toml"\n[counts]\nfile = "grid.h5"\nlimits = ["x"]', r"study\.toml: \[counts\] limits 'x': wanted tag"),
    ('base = "base.toml"\n[counts]\nfile = "grid.h5"\nlimits = ["geh5=60", "geh5=50"]', r"\[counts\] limits 'geh5=50': geh5 has its limit from 'geh5=60'"),
    ('base = "base.toml"\n[counts]\nfile = "grid.h5"\nlimits = [85]', r"study\.toml: \[counts\] limits: wanted texts"),
    ('base = "grid.h5"', "nobody drives"),
    ('base = "base.toml"\n[axes]\nseed = [1, 2]', "axes: seed: seeds are those of the study; drop it, and give seeds"),
    ('base = "base.toml"\n[variants.a]\nseed = 7', "variants.a: seed: seeds are those of the study"),
    ('base = "base.toml"\n[variants.a]\nscale = 2\n[axes]\n"demand.scale" = [1]', 'variants.a gives demand.scale, and so does the axis "demand.scale"'),
    ('base = "base.toml"\n[variants.a.parameters]\n"car.time_gap" = 1.2\n[axes]\n"parameters.car.time_gap" = [1]', "variants.a gives parameters.car.time_gap"),
    ('base = "base.toml"\n[axes]\nscale = [1]\n"demand.scale" = [1]', 'the axis "scale" gives demand.scale, and so does'),
    ('base = "base.toml"\n[variants.a]\nscale = 2\ndemand.scale = 3', "variants.a: gives scale and demand.scale"),
    ('base = "base.toml"\n[variants.a]\nscale = 0', "study.toml: a: scale 0: nobody would drive; give a factor above 0"),
    ('base = "base.toml"\n[axes]\n"times.dt" = [0.5, 3]', "base, times.dt 3: .*dt 3 s: wanted 1/120 to 0.5 s"),
])  # fmt: skip
def test_a_study_that_cannot_be_meant_is_one_line(here: Path, text: str, message: str) -> None:
    wants(text + "\n")
    for tried in (dry_run, study):
        with pytest.raises(RushhourError, match=message) as caught:
            tried("study.toml", "out", workers=0)
        assert "\n" not in str(caught.value) and not (here / "out").exists()


def test_files_and_scale_of_the_demand_of_a_variant_stand_beside_each_other(here: Path) -> None:
    (here / "a.csv").write_text("id,depart,origin,destination\n")
    for told in ('scale = 2\ndemand = ["a.csv"]', 'demand = "a.csv"\nscale = 2'):
        wants(f'base = "base.toml"\nseeds = "1"\n[variants.v]\n{told}\n')
        one = read_study("study.toml").specs()[1].scenario()
        assert (one.demand_scale, [path.name for path in one.demand]) == (2.0, ["a.csv"])


def test_seeds_are_a_text_or_a_list(here: Path) -> None:
    for told, wanted in (('"1..2,7"', [1, 2, 7]), ("[1, 5, 9]", [1, 5, 9]), ("4", [4])):
        wants(STUDY.replace('"1..2"', told))
        assert read_study("study.toml").seeds == wanted
    for told in ("[]", "[1, 1]", "[1.5]", "[true]", "[[1]]", "-1"):
        wants(STUDY.replace('"1..2"', told))
        with pytest.raises(RushhourError, match=r"study\.toml: seeds .*wanted"):
            read_study("study.toml")


def test_a_fault_of_one_variant_names_it(here: Path) -> None:
    wants(STUDY.replace('close_roads = ["0.0-0.1"]', 'close_road = ["0.0-0.1"]'))
    with pytest.raises(RushhourError, match=r"^closed, scale 1\.0: .*close_road is not known"):
        read_study("study.toml")
    wants(STUDY.replace("0.0-0.1", "0.0-0.9"))
    with pytest.raises(RushhourError, match=r"^closed: .*0\.0-0\.9"):
        dry_run("study.toml", "out")
