"""What README and docs/ show as printed is what commands print, and README's figures are those of docs/.

A block without a language of code is one of three: lines to type, which are typed or at least understood;
fixes; or what a command prints, named in a comment above it, `<!-- printed by: rushhour ... -->`. There `...`
stands for lines that are left out: those with times of a machine. Everything else is compared as it is.
"""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from real_data import data_folder

from rushhour.cli.command_line import main, make_parser
from rushhour.roadnets.fixes import read_fixes

ROOT = Path(__file__).resolve().parents[1]
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(
    r"^(?:<!-- printed by: (.*?) -->\n)?```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL
)
OTHERS = (
    "py",
    "python",
    "pip",
    "apt-get",
    ".venv\\Scripts\\pip",
    ".venv\\Scripts\\rushhour",
    "make",
)
FIX = re.compile(r"^\w+\.\"")
LEFT_OUT = "..."


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str) -> list[tuple[str, str]]:
    """Blocks that are no code: by what they are printed, "" if that is not said, and their text."""
    found = BLOCK.findall(text_of(page))
    return [(by, text) for by, language, text in found if language in ("", "text")]


PRINTED = [
    pytest.param(
        page,
        by,
        text,
        marks=[]
        if by.startswith("make")
        else pytest.mark.soak
        if "porto" in by
        else pytest.mark.slow,
    )
    for page in PAGES
    for by, text in blocks(page)
    if by
]


def recipe_of(words: list[str]) -> list[str]:
    """What `make demo` types, by the Makefile; other commands as they are."""
    if words[0] != "make":
        return words
    lines = re.findall(rf"^{words[1]}:.*\n((?:\t.*\n)+)", text_of("Makefile"), re.MULTILINE)
    return shlex.split(lines[0].strip().removeprefix("$(BIN)/"))


def missing(shown: str, printed: str) -> str:
    """The first line that is shown but not printed in its place; "" if there is none.

    Lines up to LEFT_OUT stand one after the other in what is printed.
    """
    lines, at = printed.splitlines(), 0
    for part in re.split(rf"^{re.escape(LEFT_OUT)}\n", shown, flags=re.MULTILINE):
        wanted = part.splitlines()
        starts = range(at, len(lines)) if wanted else ()
        place = next((i for i in starts if lines[i].rstrip() == wanted[0].rstrip()), None)
        if wanted and place is None:
            return wanted[0]
        for k, line in enumerate(wanted):
            assert place is not None
            if place + k >= len(lines) or lines[place + k].rstrip() != line.rstrip():
                return line
            at = place + k + 1
    return ""


@pytest.mark.parametrize(("page", "by", "shown"), PRINTED)
def test_what_a_page_shows_as_printed_is_printed(
    page: str, by: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    words = recipe_of(shlex.split(by))
    assert words[0] == "rushhour"
    if "porto" in by:
        base = data_folder("osm_porto")
        words = [str(base / word) if (base / word).is_file() else word for word in words]
    monkeypatch.chdir(tmp_path)
    assert main(words[1:]) == 0
    printed = capsys.readouterr().out
    assert not missing(shown, printed), f"{page}: `{by}` prints no such line here:\n{printed}"


def test_a_line_that_is_not_printed_or_elsewhere_is_found() -> None:
    printed = "a  1\nb  2\nc  3\n"
    for shown in ("a  1\nb  2\n", "a  1\n...\n", "a  1\n...\nc  3\n", "...\nb  2\nc  3\n"):
        assert missing(shown, printed) == ""
    for shown, line in (
        ("a  2\n", "a  2"),
        ("a  1\nc  3\n", "c  3"),
        ("b  2\n...\na  1\n", "a  1"),
    ):
        assert missing(shown, printed) == line


@pytest.mark.parametrize("page", PAGES)
def test_a_block_is_to_be_typed_or_names_what_prints_it(page: str, tmp_path: Path) -> None:
    for by, text in blocks(page):
        lines = [line for line in text.splitlines() if line.strip()]
        if by:
            continue
        if all(FIX.match(line) for line in lines):
            for k, line in enumerate(lines):
                (tmp_path / f"{k}.toml").write_text(line)
                assert read_fixes(tmp_path / f"{k}.toml")
            continue
        for line in lines:
            first = shlex.split(line.rstrip("&"), comments=True, posix="\\" not in line)
            if first[:2] == ["mpiexec", "-n"]:
                first = first[3:]
            assert first[0] in ("rushhour", *OTHERS), f"{page}: who prints this? {line}"
            if first[0] == "rushhour":
                _, rest = make_parser().parse_known_args(first[1:])
                assert not rest, f"{page}: {line}"


# --- figures ---------------------------------------------------------------------------------------


def rows(page: str, head: str) -> list[list[str]]:
    """Cells of the rows of a table whose first cell begins so."""
    found = [
        line.strip("|").split("|") for line in text_of(page).splitlines() if line.startswith("|")
    ]
    return [[cell.strip() for cell in row] for row in found if row[0].strip().startswith(head)]


def number(text: str) -> float:
    found = re.search(r"-?[\d,]+(?:\.\d+)?", text)
    assert found, text
    return float(found[0].replace(",", ""))


def mean_of(row: list[str]) -> tuple[int, int]:
    """Mean over seeds of a row of the table against SUMO, and SUMO's, rounded to whole s."""
    seeds = [float(one) for one in re.findall(r"\d+\.\d", row[2])]
    assert len(seeds) == 3
    return int(sum(seeds) / 3 + 0.5), int(number(row[1]) + 0.5)


def departures(town: str) -> str:
    found = re.search(rf"([\d,]+)(?: trips)? on {town}", text_of("docs/validation.md"))
    assert found
    return found[1]


def beside_sumo() -> list[str]:
    """Of the grid with about 21,400 vehicles: their number, ours at 0.5 s, and that over SUMO's."""
    row = next(
        row for row in rows("docs/performance.md", "grid of signals") if row[1].startswith("21,")
    )
    ours, sumo = number(row[5]), number(row[2])
    return [f"{round(number(row[1]), -2):,.0f}", f"{ours:.0f}", f"{ours / sumo:.0f}"]


def wildau() -> list[str]:
    ours, theirs = mean_of(rows("docs/validation.md", "Wildau, with its actuated programs")[0])
    return [departures("wildau"), str(ours), str(theirs)]


def bologna() -> list[str]:
    ours, theirs = mean_of(rows("docs/validation.md", "Bologna, acosta")[0])
    return [departures("acosta"), str(ours), str(theirs)]


def python_needed() -> list[str]:
    found = re.search(r'requires-python = ">=([\d.]+)"', text_of("pyproject.toml"))
    assert found
    return [found[1]]


# What README says in words, the figures in it, the page and the command that they come from.
FIGURES: list[tuple[str, Callable[[], list[str]], str, str]] = [
    (r"You need Python ([\d.]+) or newer", python_needed, "", ""),
    ((r"On Wildau \(([\d,]+) vehicles, all\s+arrive\) travel and departure delay are (\d+) s in the mean, "
     r"(\d+) s in SUMO 1\.28"), wildau, "docs/validation.md", "python bench/peers.py"),
    (r"in Bologna \(([\d,]+) vehicles, buses,\s+signals\) (\d+) s against (\d+) s", bologna,
     "docs/validation.md", "python bench/peers.py"),
    ((r"on two cores, steps of 0\.5 s, a grid with ([\d,]+) vehicles ran at (\d+) times real time, (\d+)\s+"
     r"times as fast as SUMO on one thread at its step of 1 s"), beside_sumo, "docs/performance.md",
     "python bench/peers.py"),
    (r"`--steered 10%`", list, "", ""),
]  # fmt: skip
PROSE = re.sub(
    r"^```.*?^```", "", (ROOT / "README.md").read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
)
NO_FIGURE = re.compile(r"\[[^\]]*\]\([^)]*\)|BSD-3-Clause")  # links; the licence


@pytest.mark.parametrize(
    ("words", "figures", "page", "command"), FIGURES, ids=[f[0][:24] for f in FIGURES]
)
def test_a_figure_of_the_readme_is_that_of_the_docs(
    words: str, figures: Callable[[], list[str]], page: str, command: str
) -> None:
    found = re.search(words, PROSE)
    assert found, f"README has no such words any more: {words}"
    assert list(found.groups()) == figures()
    if command:
        bullet = next(part for part in PROSE.split("\n- ") if found[0] in part)
        assert command in bullet and command in text_of(page)
        assert (ROOT / command.split()[1]).is_file()


def test_every_figure_of_the_readme_is_looked_up() -> None:
    left = PROSE
    for words, *_ in FIGURES:
        left = re.sub(words, "", left)
    for line in NO_FIGURE.sub("", left).splitlines():
        assert not re.search(r"\d", line), f"README: where does this figure come from? {line}"
