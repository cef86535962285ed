"""The room of the command line: a file per command with its options, none of which loads what is heavy."""

import argparse
import subprocess
import sys
from importlib import import_module

import pytest

from rushhour.cli.command_line import COMMANDS, make_parser


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_its_options_and_its_function_in_one_file(name: str) -> None:
    _, module, function = COMMANDS[name]
    found = import_module(f"rushhour.cli.{module}")
    assert f"`rushhour {name}`" in (found.__doc__ or "")
    assert callable(found.add_options) and callable(getattr(found, function))


def test_a_parser_for_one_command_has_its_options_and_no_others() -> None:
    def options(parser: argparse.ArgumentParser, name: str) -> set[str]:
        (commands,) = (one for one in parser._actions if isinstance(one.choices, dict))
        assert isinstance(commands.choices, dict) and list(commands.choices) == list(COMMANDS)
        return {text for one in commands.choices[name]._actions for text in one.option_strings}

    one, every = make_parser("run"), make_parser()
    assert options(one, "run") == options(every, "run") and len(options(one, "run")) > 30
    assert options(one, "plot") == {"-h", "--help"} < options(every, "plot")


def test_options_of_all_commands_are_made_without_numba_and_files_of_runs() -> None:
    """--threads counts only before numba is loaded, and --help should not wait for it."""
    program = "import sys; from rushhour.cli.command_line import make_parser; make_parser(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()  # fmt: skip
    assert "rushhour.cli.run" in loaded
    assert not {"numba", "h5py", "vispy", "matplotlib", "scipy"} & set(loaded)
