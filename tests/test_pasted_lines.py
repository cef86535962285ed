"""All lines that a report prints, pasted into one file: worked in, or left out by name."""

import json
from pathlib import Path
from typing import Any

import pytest
from osm_texts import CROSS, CROSS_WAYS, write_osm
from real_data import data_folder

from rushhour.cli import main
from rushhour.roadnets.findings import finding
from rushhour.roadnets.fixes import fix_line, fix_of, read_fixes
from rushhour.roadnets.importing import import_network
from rushhour.roadnets.lint.report import finding_rows, report_lines

pytest.importorskip("osmium")

CONNECT = 'connect."10#0 10#1" = [[0, 0]]'
BESIDE = {  # whether the second line is given as one to paste, too
    "of one road twice": (CONNECT, 'connect."10#0 10#1" = [[1, 0]]', False),
    "a turn and its lanes": ('turns."10#0 10#1" = "ban"', CONNECT, False),
    "another turn and lanes": ('turns."11#0 10#1" = "ban"', CONNECT, True),
    "lanes and a stop line": (CONNECT, 'stop_line."10#0" = 4', True),
    "merge and apart": ('keep_apart."1 2 3" = true', 'merge."1 3" = true', False),
    "merge and apart elsewhere": ('keep_apart."1 2" = true', 'merge."1 3" = true', True),
    "two merges": ('merge."1 2" = true', 'merge."1 3" = true', True),
    "in another order": ('merge."1 2" = true', 'merge."2 1" = true', False),
    "close and its speed": ('close."11" = true', 'speed."11" = 30', False),
    "lanes and speed": ('lanes."11" = 2', 'speed."11" = 30', True),
    "lights off and a plan": (
        'signals."1" = false', 'plan."1" = { phases = [[20, "10#0"], [20, "11#0"]] }', False,
    ),
    "a line that files of before may hold": ('merge."1 2" = true', 'stop_line."10#0" = 283', True),
}  # fmt: skip


@pytest.mark.parametrize("name", list(BESIDE))
def test_a_line_that_contradicts_one_above_it_is_a_comment_that_names_it(
    tmp_path: Path, name: str
) -> None:
    first, second, both = BESIDE[name]
    network = import_network(write_osm(tmp_path, CROSS, CROSS_WAYS))
    told = [finding("L18", f"turn {k}", fix=line) for k, line in enumerate((first, second))]
    object.__setattr__(network, "findings", tuple(told))
    lines = [text.partition("  # ")[2] for text in report_lines(network) if "  # " in text]
    above = first.partition(" = ")[0]
    assert lines == [first, second if both else f"# {second}  (contradicts {above})"]
    assert [one["fix"] for one in finding_rows(network)] == lines


def test_lines_that_the_reader_would_refuse_are_not_printed() -> None:
    assert fix_line("merge", [2, 1, 2], True) == 'merge."1 2" = true'
    assert fix_line("keep_apart", range(65), True) == ""  # too many
    assert fix_line("speed", [27], 3) == fix_line("lanes", [27], 13) == ""
    assert [fix_of(text) for text in ("speed = 5", "", 'width."2" = 5', "no", "[a]\n[b]")] == [
        None
    ] * 5


def told(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    assert main([*argv, "--json"]) == 0
    facts: dict[str, Any] = json.loads(capsys.readouterr().out)
    return facts


@pytest.mark.parametrize(
    ("folder", "least", "out"),
    [
        ("krems/krems", 66, 6),
        pytest.param("columbus/columbus", 800, 50, marks=pytest.mark.slow),
        pytest.param("porto/porto_portugal", 8700, 1200, marks=pytest.mark.soak),
    ],
)
def test_all_lines_of_a_real_map_can_be_pasted_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: str, least: int, out: int
) -> None:
    name, _, file = folder.partition("/")
    path = str(data_folder(f"osm_{name}") / f"{file}.osm.gz")
    before = told(capsys, "info", path, "--lint")["findings"]
    lines = dict.fromkeys(one["fix"] for one in before if one["fix"])
    fixes = tmp_path / "fixes.toml"
    fixes.write_text("\n".join(lines), encoding="utf-8")
    count = len(list(read_fixes(fixes).of()))
    assert count >= least
    argv = ("import", path, "-o", str(tmp_path / "map.h5"), "--fixes", str(fixes), "--force")
    after = told(capsys, *argv)
    (said,) = (one for one in after["remarks"] if one.startswith("fixes of fixes.toml worked in: "))
    worked = sum(int(part.split()[0]) for part in said.partition(": ")[2].split(", "))
    assert count - out <= worked <= count
    assert bool(after["differences"]) == (worked < count)  # named, what is left out
    assert len(after["findings"]) < len(before) - worked // 4
