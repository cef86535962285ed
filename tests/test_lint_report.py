"""The report of an import, as a user sees it: the table, the JSON, the picture, errors, fixes."""

import json
from pathlib import Path

import numpy as np
import pytest
from network_drafts import chain, line
from osm_texts import CROSS, CROSS_WAYS, street, write_osm
from sumo_texts import at_lights, crossing, signals

from rushhour.cli import main
from rushhour.roadnets.build import finish
from rushhour.roadnets.findings import CHECKS, finding
from rushhour.roadnets.lint.report import finding_rows, report_lines
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import load, save
from rushhour.viewer.marks import COLOURS, save_findings

pytestmark = pytest.mark.tiny_world  # its commands run as plain Python, too

pytest.importorskip("osmium")
ORIGIN = (-8.6, 41.15)
WAYS = [(10, [4, 1, 2], street(maxspeed="50; 40")), CROSS_WAYS[1]]


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def found(network: Network, *findings: object) -> Network:
    object.__setattr__(network, "findings", tuple(findings))
    return network


def told(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> str:
    assert main(list(argv)) == code
    out = capsys.readouterr()
    return out.err if code else out.out


def test_the_report_counts_every_kind_and_shows_five(capsys: pytest.CaptureFixture[str]) -> None:
    network = found(
        finish(chain(line(0, 100))),
        *(finding("L06", f"way {i}: doubtful", place=(i, 2.0), fix=f'speed."{i}" = 50') for i in range(9)),
        finding("L24", "3 dead ends"),
        finding("L21", "half of it", severity="E"),
    )  # fmt: skip
    lines = report_lines(network)
    assert lines[1] == f"{'found':<20} 1 errors, 9 warnings, 1 notes"
    assert [text for text in lines if text.startswith("L")] == [
        f"L21 E       1  {CHECKS['L21'][1]}", f"L06 W       9  {CHECKS['L06'][1]}",
        f"L24 I       1  {CHECKS['L24'][1]}",
    ]  # fmt: skip
    examples = [text.strip() for text in lines if text.startswith("         way")]
    assert examples == [f'way {i}: doubtful @{i},2  # speed."{i}" = 50' for i in range(5)]
    twice = [
        finding("L06", text, fix='speed."1" = 50') for text in ("way 1: doubtful", "way 1: odd")
    ]
    given = [
        text.partition("  # ")[2]
        for text in report_lines(found(network, *twice))
        if "way 1" in text
    ]
    assert given == ['speed."1" = 50', ""]  # a name stands once in a file of fixes
    assert report_lines(found(network)) == []


def test_import_tells_every_finding_with_its_place_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = write_osm(tmp_path, CROSS, WAYS, origin=ORIGIN)
    facts = json.loads(told(capsys, "import", str(where), "-o", "map.h5", "--json"))
    (row,) = (row for row in facts["findings"] if row["id"] == "L06")
    assert row["message"] == 'way 10: maxspeed "50; 40" read as 50 km/h'
    assert (row["severity"], row["source"], row["fix"]) == ("W", ["way 10"], 'speed."10" = 50')
    assert (row["lon"], row["lat"]) == pytest.approx(ORIGIN, abs=1e-5)  # node 1, in its middle
    network = load("map.h5")
    place = network.points.mean(axis=0)
    assert np.hypot(row["x"] - place[0], row["y"] - place[1]) < 5.0
    assert finding_rows(network) == facts["findings"]
    assert json.loads(told(capsys, "info", "map.h5", "--json"))["findings"] == facts["findings"]
    assert "L06 W       1" in told(capsys, "info", "map.h5")


def test_a_network_without_projection_has_places_in_metres_only(tmp_path: Path) -> None:
    network = found(finish(chain(line(0, 100))), finding("L06", "x", place=(1.234, 2.0)))
    (row,) = finding_rows(network)
    assert (row["x"], row["y"], row["lon"], row["lat"]) == (1.23, 2.0, None, None)


def test_errors_stop_an_import_unless_forced(capsys: pytest.CaptureFixture[str]) -> None:
    network = found(
        finish(chain(line(0, 100))), finding("L19", "greens", fix='signals."c" = false')
    )
    save(network, "bad.h5")
    error = told(capsys, "import", "bad.h5", "-o", "good.h5", code=2)
    assert error == (
        'rushhour: error: bad.h5: L19 greens (fixes.toml: signals."c" = false); '
        "mend the map or give --force\n"
    )
    assert not Path("good.h5").exists()
    assert "L19 E       1" in told(capsys, "import", "bad.h5", "-o", "good.h5", "--force")
    assert load("good.h5").findings[0] == network.findings[0]


def test_fixes_are_worked_in_and_the_finding_is_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = write_osm(tmp_path, CROSS, WAYS, origin=ORIGIN)
    report = told(capsys, "import", str(where), "-o", "map.h5")
    (printed,) = (text for text in report.splitlines() if "maxspeed" in text and "#" in text)
    Path("fixes.toml").write_text(printed.split("  # ")[1] + "\n")
    again = told(capsys, "import", str(where), "-o", "map.h5", "--fixes", "fixes.toml")
    assert "L06" not in again and "fixes of fixes.toml worked in: 1 speed" in again
    Path("fixes.toml").write_text('speed."77" = 50')
    error = told(capsys, "import", str(where), "-o", "map.h5", "--fixes", "fixes.toml", code=2)
    assert error.startswith('rushhour: error: fixes.toml: speed."77": is no way of the map')
    error = told(capsys, "import", "map.h5", "-o", "b.h5", "--fixes", "fixes.toml", code=2)
    assert "import the map itself again" in error


def test_fixes_of_a_network_of_sumo_are_worked_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = crossing("traffic_light", more=at_lights(), extra=signals(["GrGr", "rGrG"]))
    Path("town.net.xml").write_text(text)
    Path("fixes.toml").write_text('signals."c" = false\nspeed."s_in" = 36')
    report = told(
        capsys, "import", "town.net.xml", "-o", "town.h5", "--fixes", "fixes.toml", "--json"
    )
    assert json.loads(report)["control"]["signal"] == 0
    network = load("town.h5")
    assert network.roads.speed[network.road_index["s_in"]] == pytest.approx(10.0)


def test_a_network_that_is_looked_over_twice_has_every_finding_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = write_osm(tmp_path, CROSS, WAYS, origin=ORIGIN)
    told(capsys, "import", str(where), "-o", "a.h5")
    told(capsys, "import", "a.h5", "-o", "b.h5")
    assert load("a.h5").findings == load("b.h5").findings != ()


def test_a_picture_has_a_mark_of_the_kind_s_colour_at_the_place(tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    network = found(
        finish(chain(line(0, 1000))),
        finding("L06", "x", place=(250.0, 0.0)),
        finding("L13", "x", place=(750.0, 0.0)),
        finding("L24", "only counted", place=(500.0, 0.0)),
        finding("L21", "nowhere"),
    )
    save_findings(tmp_path / "marks.png", network, (600, 300))
    image = np.asarray(pillow.open(tmp_path / "marks.png").convert("RGB"))
    below = image[100:250]  # the legend lies above
    for colour, x in ((COLOURS[0], 250.0), (COLOURS[1], 750.0)):
        rows, columns = np.nonzero((below == colour).all(axis=2))
        scale = 600.0 / 1040.0  # pixels per metre: 20 m are left on each side
        assert columns.mean() == pytest.approx((x + 20.0) * scale, abs=1.5)
        assert rows.mean() + 100 == pytest.approx(150.0, abs=1.5)
        assert 30 < len(rows) < 150  # a diamond of 12 pixels has 72
    assert not (below == COLOURS[2]).all(axis=2).any()
