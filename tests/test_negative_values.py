"""Values that begin with a minus, after any option that takes one."""

import argparse
import json
from pathlib import Path
from typing import Any

import pytest
from test_outputs import WORDS, _commands

from rushhour.cli.command_line import UsageError, main, make_parser

pytestmark = pytest.mark.tiny_world  # its commands run as plain Python, too

MORE = {
    "demo": "demo", "info": "info {file}", "parameters": "parameters", "compile": "compile",
    "why": "why {file} --at 5s", "queues": "queues {file}", "diff": "diff {file} {file}",
    "compare": "compare {file}", **WORDS,
    "export": "export {file} --table roads --to t.csv", "merge": "merge {file} --to t.h5",
    "study": "study {file} -o out",
}  # fmt: skip


def _valued() -> list[tuple[str, str, int]]:
    """Command, option and number of values, of all that take a fixed number of free words."""
    return [
        (name, action.option_strings[-1], action.nargs if isinstance(action.nargs, int) else 1)
        for name, command in _commands().items()
        for action in command._actions
        if action.option_strings and action.choices is None
        and (action.nargs is None or (isinstance(action.nargs, int) and action.nargs))
    ]  # fmt: skip


@pytest.mark.parametrize("value", ["-948,655", "-5", "-1e3", "-.5", "-E3", "-12#1_0"])
def test_every_option_that_takes_a_value_takes_one_with_a_minus(value: str):
    parser, commands = make_parser(), _commands()
    for name, option, count in _valued():
        words = MORE[name].format(file="a.h5").split()
        (action,) = (one for one in commands[name]._actions if option in one.option_strings)
        try:
            args, rest = parser.parse_known_args([*words, option, *[value] * count])
        except UsageError as error:  # of what it is, not of where it stands
            if action.type not in (int, float):  # a type of ours
                assert f"argument {option}: {value!r}: wanted" in str(error), (name, option)
                continue
            assert f"invalid {action.type.__name__} value: {value!r}" in str(error), (name, option)
            continue
        given = getattr(args, action.dest)
        if isinstance(action, argparse._AppendAction):
            given = given[-1]
        kind = action.type if action.type in (int, float) else str
        assert rest == [] or name == "generate", (name, option)
        for one in given if isinstance(given, list) else [given]:
            assert kind(one) == kind(value), (name, option)


def test_a_word_that_is_an_option_is_no_value(capsys: Any):
    assert main(["view", "a.h5", "--centre", "--zoom", "3"]) == 2
    assert "argument --centre: expected one argument" in capsys.readouterr().err
    assert main(["view", "a.h5", "--centre", "1,2", "-x"]) == 2
    assert "view has no option -x" in capsys.readouterr().err


@pytest.mark.slow
def test_a_picture_is_drawn_around_a_negative_place(tmp_path: Path, capsys: Any):
    from viewed_run import needs_gl

    needs_gl()
    net, shots = tmp_path / "g.h5", [tmp_path / "a.png", tmp_path / "b.png"]
    assert main(["generate", "grid", "--rows", "2", "--columns", "2", "-o", str(net)]) == 0
    capsys.readouterr()
    for place, shot in zip((["--centre", "-9,5"], ["--centre=-9,5"]), shots, strict=True):
        assert main(["view", str(net), *place, "--zoom", "0.5", "--shot", str(shot), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["written"] == str(shot)
    assert shots[0].read_bytes() == shots[1].read_bytes()
