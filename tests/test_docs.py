"""What README and docs/ tell users to type is typed here, page by page, in one folder."""

import gzip
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import traci_files
from cityflow_texts import flow, town
from docs_files import FILES, town_map
from gmns_texts import written
from osm_texts import CROSS, CROSS_WAYS, osm_text, write_pbf
from sumo_texts import at_lights, crossing, signals
from viewed_run import needs_gl

import rushhour as rh
import rushhour.compat
from rushhour.cli import main
from rushhour.traffic.checker import Checker

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    "docs/quick-start.md", "README.md", "docs/demand.md", "docs/file-format.md",
    "docs/checks.md", "docs/lint.md", "docs/networks.md", "docs/openstreetmap.md", "docs/measures.md", "docs/counts.md", pytest.param("docs/demand-model.md", marks=pytest.mark.slow), pytest.param("docs/assign.md", marks=pytest.mark.slow), pytest.param("docs/studies.md", marks=pytest.mark.slow), "docs/python.md", "docs/scenario.md",
    "docs/commands.md", "docs/running.md", "docs/in-your-engine.md", "docs/kernels.md", "docs/models.md", pytest.param("docs/recipes.md", marks=pytest.mark.slow),
    "docs/recording.md", "docs/waiting.md", "docs/run-files.md", "docs/path-following.md",
    "docs/viewer.md", "docs/racing.md", "docs/steered.md", "docs/signals.md", "docs/learning.md", "docs/from-cityflow.md",
    "docs/from-sumo.md", "docs/profiling.md", pytest.param("docs/chase.md", marks=pytest.mark.slow),
]  # fmt: skip
BLOCK = re.compile(r"^```(sh|python|toml)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROGRAM = signals(["GrGr", "rGrG"])
ROUTES = (
    '<routes><vehicle id="a" depart="25300"><route edges="s_in n_out"/></vehicle>'
    '<vehicle id="b" depart="25310"><route edges="e_in w_out"/></vehicle></routes>'
)


@pytest.fixture(autouse=True)
def own_imports() -> Iterator[None]:
    """Pages that install our clients under others' names leave no trace."""
    yield
    rushhour.compat.uninstall(*rushhour.compat.FACES)


@pytest.fixture(scope="module")
def granted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that a page takes for granted."""
    here = tmp_path_factory.mktemp("granted")
    lit = crossing("traffic_light", more=at_lights(), extra=PROGRAM)
    for name, text in {
        "city.net.xml.gz": crossing(), "city.rou.xml.gz": ROUTES, "acosta.net.xml.gz": lit,
    }.items():  # fmt: skip
        (here / name).write_bytes(gzip.compress(text.encode()))
    (here / "town.rou.xml").write_text(ROUTES)
    write_pbf(here / "porto.osm.pbf", osm_text(CROSS, CROSS_WAYS, origin=(-8.615, 41.15)))
    (here / "flow.json").write_text(json.dumps([flow("s_in", "n_out"), flow("e_in", "w_out")]))
    (here / "streets.json").write_text(json.dumps(town()))
    (here / "flows.json").write_text(json.dumps([flow("w-a", "a-b", interval=3.0, endTime=60)]))
    files = {"dir": "./", "roadnetFile": "streets.json", "flowFile": "flows.json"}
    (here / "config.json").write_text(json.dumps({**files, "rlTrafficLight": True}))
    traci_files.scenario(here).rename(here / "crossing.sumocfg")
    written(here / "region", demand="o_zone_id,d_zone_id,volume\n1,3,200\n4,1,50\n")
    (here / "fixes.toml").write_text('speed."10" = 30\n')
    (here / "stops.add.xml").write_text("<additional/>")
    (here / "acosta_tls.add.xml").write_text(f"<additional>{PROGRAM}</additional>")
    network = rh.load_network(here / "city.net.xml.gz")
    world = rh.World(network, rh.random_trips(network, 5, "10s", seed=1))
    with rh.Recorder(here / "run.h5", world) as recorder:
        world.observers.append(recorder)
        world.step(20)
    return here


@pytest.fixture
def folder(granted: Path, tmp_path: Path) -> Path:
    """A folder with those files; what another page made is not there."""
    return Path(shutil.copytree(granted, tmp_path, dirs_exist_ok=True))


def type_line(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Run one line of a shell block; `make` is tried by the project's own checks."""
    line = line.split("#")[0].strip()
    if not line or line.startswith("make "):
        return
    command, _, target = line.partition(" > ")
    words = shlex.split(command)
    assert words[0] == "rushhour", line
    capsys.readouterr()  # what lines before have printed
    judged = {"--budget", "--compare"} & set(words)  # a busy machine may be too slow
    assert main(words[1:]) in ((0, 1) if judged else (0,)), line
    if target:
        (folder / target).write_text(capsys.readouterr().out)


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_work(
    page: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    network = rh.load_network(folder / "city.net.xml.gz")
    world = rh.World(network, rh.random_trips(network, 20, "1min", seed=1))
    names: dict[str, Any] = {"network": network, "world": world, "Checker": Checker}
    blocks = BLOCK.findall((ROOT / page).read_text())
    assert blocks
    FILES.get(page, lambda _: None)(folder)
    if any("rushhour view " in text for _, text in blocks):
        needs_gl().close()
    for language, text in blocks:
        if language == "sh":
            for line in text.splitlines():
                type_line(line, folder, capsys)
        elif language == "python":
            exec(text, names)  # noqa: S102  (our own pages)
        else:
            (folder / "scenario.toml").write_text(text)
            assert main(["run", "scenario.toml"]) == 0


@pytest.mark.slow
def test_the_way_from_a_map_and_counts_to_a_report_works_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    town_map(tmp_path)
    text = (ROOT / "docs/town.md").read_text()
    printed = dict(re.findall(r"^```(sh|csv|ini)\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    # the page shows the first rows of a table; another street was counted, too, so that one can be held out
    more = "15.6162,48.4115,E,7:00,7:15,30\n15.6162,48.4115,E,7:15,7:30,30\n"
    (tmp_path / "counts.csv").write_text(printed["csv"] + more)
    assert 'seeds = "1..10"' in printed["ini"]
    study = printed["ini"].replace('seeds = "1..10"', 'seeds = "1..2"')
    assert (
        'duration = "90min"' in study
    )  # half an hour after the counts, in which only the network empties
    study = study.replace('duration = "90min"', 'duration = "1h"\ndt = 0.5')
    (tmp_path / "study.toml").write_text(study.replace('by = "1h"', 'by = "30min"'))
    for line in printed["sh"].splitlines():
        type_line(line, tmp_path, capsys)
    said = capsys.readouterr().out
    assert "closed against base, 2 pairs of runs" in said and "20 % more against base" in said
    assert "counts with GEH below 5, mean of runs: base" in said
    report = (tmp_path / "out" / "report.html").read_text()
    assert "Ringstraße" in report and "Counts: base, scatter" in report
    assert "Level of service by approach" in report


LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


@pytest.mark.parametrize(
    "page", ["README.md", *sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
)
def test_links_of_a_page_lead_somewhere(page: str) -> None:
    for target in LINK.findall((ROOT / page).read_text()):
        assert ((ROOT / page).parent / target).exists(), target


def test_every_page_of_the_docs_can_be_reached_from_the_readme() -> None:
    seen: set[Path] = set()
    left = [ROOT / "README.md"]
    while left:
        page = left.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        left += [(page.parent / t).resolve() for t in LINK.findall(page.read_text())]
    assert {p.name for p in (ROOT / "docs").glob("*.md")} <= {p.name for p in seen}
