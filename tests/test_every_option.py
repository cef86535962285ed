"""Every command with each of its options once, on a small case: what came of it, and a wrong value of it.

The options are those of the parser: one without a row in the tables fails. A row has a line, a claim on
what the line comes to (with the option, often against without), and a wrong value, which must end in
exit code 2 and one line of error. No line ends in a traceback.
"""

import argparse
import json
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from swept_options import Row, Told, small_files, words_with, words_without
from swept_rows_assign import ASSIGN_ROWS
from swept_rows_demand import DAY_ROWS, FIT_ROWS
from swept_rows_files import (
    COMPARE_ROWS,
    COMPILE,
    COUNTS_ROWS,
    DEMO_ROWS,
    DIFF,
    EXPORT_ROWS,
    GENERATE,
    IMPORT,
    INFO,
    MERGE_ROWS,
    PARAMETERS,
    PLOT_ROWS,
    QUEUES_ROWS,
    REPLAY,
    REPORT_ROWS,
    STUDY_ROWS,
    WHY_ROWS,
    generators,
)
from swept_rows_run import PROFILE, RUN
from swept_rows_shown import CHASE_ROWS, PATHS_ROWS, RACE_ROWS, SHARE_ROWS, VIEW
from swept_rows_signals import SIGNALS
from viewed_run import needs_gl

from rushhour.cli import compiling_aside
from rushhour.cli.command_line import main, make_parser
from rushhour.roadnets.model import Network
from rushhour.viewer import window, window_kinds
from rushhour.viewer.page.live_page import LivePage

pytestmark = pytest.mark.slow
ROWS: dict[str, dict[str, Row]] = {
    "demo": DEMO_ROWS, "import": IMPORT, "generate": GENERATE, "info": INFO, "parameters": PARAMETERS,
    "compile": COMPILE, "run": RUN, "signals": SIGNALS, "profile": PROFILE, "replay": REPLAY, "why": WHY_ROWS,
    "queues": QUEUES_ROWS, "diff": DIFF, "compare": COMPARE_ROWS, "export": EXPORT_ROWS, "merge": MERGE_ROWS, "plot": PLOT_ROWS,
    "demand": DAY_ROWS, "fit": FIT_ROWS, "assign": ASSIGN_ROWS, "counts": COUNTS_ROWS, "study": STUDY_ROWS, "report": REPORT_ROWS, "share": SHARE_ROWS, "view": VIEW, "race": RACE_ROWS, "chase": CHASE_ROWS, "racepaths": PATHS_ROWS,
}  # fmt: skip
EVERY = [(command, name) for command, rows in ROWS.items() for name in rows]
DRAWN_BY_GL = {"view", "chase --shot"}


def commands() -> dict[str, argparse.ArgumentParser]:
    """The parsers of all commands, by name."""
    for action in make_parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def name_of(action: argparse.Action) -> str:
    """The long name of an option; of an argument where it is kept."""
    return max(action.option_strings, key=len, default=action.dest)


@cache
def actions(command: str) -> dict[str, argparse.Action]:
    """The options and arguments of a command."""
    return {
        name_of(action): action
        for action in commands()[command]._actions
        if not isinstance(action, argparse._HelpAction)
    }


def test_every_option_of_every_command_has_a_row_and_no_other() -> None:
    assert commands().keys() == ROWS.keys()
    for command, rows in ROWS.items():
        assert list(rows) and actions(command).keys() == rows.keys(), command
        for name, row in rows.items():
            takes = actions(command)[name].nargs != 0
            assert takes == (row.wrong is not None) or name == "--find-vehicles", (
                f"{command} {name}"
            )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    here = tmp_path_factory.mktemp("sweep")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        small_files(here)
        yield here


def files_in(folder: Path) -> dict[Path, int]:
    """All files, and when each was written last, ns."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


Said = dict[tuple[str, ...], tuple[tuple[int, str, str], dict[Path, bytes]]]


@pytest.fixture(scope="module")
def said(folder: Path) -> Said:
    """What lines came to: code, output, errors, and the files that they wrote. Many rows begin from the same line."""
    return {}


class Tried:
    """Types lines, each once: typed again, its files are put back as it left them."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], said: Said) -> None:
        self.folder, self.capsys, self.said = folder, capsys, said

    def type(self, words: list[str], option: str, values: int) -> Told:
        """Type a line; in `without` the same one without an option."""
        line = tuple(words)
        if line in self.said:
            for path, content in self.said[line][1].items():
                path.write_bytes(content)
        else:
            before = files_in(self.folder)
            told = self._typed(words)
            after = files_in(self.folder).items()
            wrote = [path for path, at in after if path.is_file() and before.get(path) != at]
            self.said[line] = told, {path: path.read_bytes() for path in wrote}
        plain = words_without(words, option, values)
        return Told(*self.said[line][0], self.folder, lambda: self.type(plain, option, values))

    def _typed(self, words: list[str]) -> tuple[int, str, str]:
        self.capsys.readouterr()
        try:
            code = main(words)
        except SystemExit as end:  # argparse's --help
            code = int(end.code or 0)
        out, err = self.capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err


@pytest.fixture
def tried(
    folder: Path, said: Said, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Tried:
    """In the folder; kernels have been compiled before."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(compiling_aside, "compile_everything", lambda helpers: None)
    return Tried(folder, capsys, said)


@pytest.fixture
def no_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows are not opened, but say of what kind they would be."""
    monkeypatch.setattr(
        window, "watch", lambda viewing, kind=None: print(json.dumps({"window": kind}))
    )
    monkeypatch.setattr(window_kinds, "window_backend", lambda kind: None)
    monkeypatch.setattr(LivePage, "run", lambda page: None)


def used(words: list[str], action: argparse.Action) -> tuple[str, int]:
    """The name by which a line has an option, and how many words are its values."""
    name = next((one for one in action.option_strings if one in words), "")
    if action.nargs in ("+", "*") and name:
        at = words.index(name) + 1
        more = [k for k, word in enumerate(words[at:]) if word.startswith("-")]
        return name, more[0] if more else len(words) - at
    count = {None: 1, "?": 1}.get(action.nargs, action.nargs)
    return name, int(count) if isinstance(count, int) else 0


@pytest.mark.parametrize(("command", "name"), EVERY, ids=[" ".join(one) for one in EVERY])
def test_an_option_does_what_it_says(
    command: str, name: str, tried: Tried, no_windows: None
) -> None:
    if command in DRAWN_BY_GL or f"{command} {name}" in DRAWN_BY_GL:
        needs_gl().close()
    row = ROWS[command][name]
    words = shlex.split(row.line)
    option, values = used(words, actions(command)[name])
    assert option or not name.startswith("-"), f"the line has no {name}"
    told = tried.type(words, option, values)
    assert told.code in ((0, 1) if row.code < 0 else (row.code,)), told.err
    assert row.claim(told), told.out[:2000]


WRONG = [one for one in EVERY if ROWS[one[0]][one[1]].wrong]


@pytest.mark.parametrize(("command", "name"), WRONG, ids=[" ".join(one) for one in WRONG])
def test_a_wrong_value_of_an_option_is_one_line(command: str, name: str, tried: Tried) -> None:
    row = ROWS[command][name]
    words = shlex.split(row.line)
    option, values = used(words, actions(command)[name])
    wrong = (
        words_with(words, option, values, row.wrong or "")
        if option
        else shlex.split(row.wrong or "")
    )
    told = tried.type(wrong, option, values)
    assert told.code == 2, told.out[:1000] + told.err
    errors = [line for line in told.err.splitlines() if line.startswith("rushhour: error: ")]
    assert len(errors) == 1 and told.err.endswith(errors[0] + "\n")
    assert row.says in errors[0]
    assert told.out == ""


MADE = generators()


@pytest.mark.parametrize(
    ("name", "option", "other", "needs"), MADE, ids=[f"{g[0]} {g[1]}" for g in MADE]
)
def test_an_option_of_a_generator_makes_another_network(
    name: str, option: str, other: str, needs: str, tried: Tried
) -> None:
    plain = ["generate", name, *shlex.split(needs), "-o", "plain.h5"]
    assert tried.type(plain, "", 0).code == 0
    told = tried.type([*plain[:-1], "other.h5", f"--{option}", other], "", 0)
    assert told.code == 0, told.err
    assert networks_differ(tried.folder)
    told = tried.type(["generate", name, f"--{option}", "{}"], "", 0)
    assert told.code == 2 and told.err.count("\n") == 1, told.err


def networks_differ(folder: Path) -> bool:
    from rushhour.roadnets.loading import load_network

    one, other = (load_network(folder / f"{name}.h5") for name in ("plain", "other"))
    return _content(one) != _content(other)


def _content(network: Network) -> bytes:
    return _bytes((network.arrays, network.actuation, network.points))


def _bytes(arrays: Any) -> bytes:
    return b"".join(a.tobytes() if hasattr(a, "tobytes") else _bytes(a) for a in arrays)
