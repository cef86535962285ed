"""The `rushhour` command: its subcommands, and how it reports errors.

Exit codes: 0 done, 1 a check failed, 2 wrong input, 3 a run in which nobody moves any more, 130
interrupted, 143 terminated. Everything heavy is imported by the command that needs it, after --threads has been put into effect.
"""

import argparse
import gc
import os
import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Final, NoReturn

from rushhour import __version__
from rushhour.cli.outputs import want_outputs
from rushhour.cli.ranks import ending_all, is_first, refuse
from rushhour.roadnets.errors import RushhourError, UnheardParameter

# What each is for, and the module and function of it; a module has add_options, too.
COMMANDS: Final = {
    "demo": ("a town, a recording, a page that plays it, a summary: no input needed", "demo", "demo"),
    "import": ("read a map and save it as .h5", "import_map", "import_map"),
    "generate": ("make a network: grid, ring, motorway, town, ...", "generate", "generate_map"),
    "info": ("what is in a network, demand or run file", "info", "info"),
    "parameters": ("every parameter: unit, default, range, source", "parameters", "parameters"),
    "compile": ("compile all kernels now, not at first use", "compile", "compile_all"),
    "run": ("run the traffic of a network", "run", "run"),
    "demand": ("a day of car trips from what a map tells of homes, work and shops", "demand", "demand"),
    "fit": ("fit trips to counts", "fit", "fit"),
    "assign": ("ways in equilibrium: nobody has a faster one", "assign", "assign"),
    "signals": ("time fixed-time signals for a demand: cycles, splits, offsets", "signals", "signals"),
    "profile": ("what a frame costs, phase by phase, held against a budget", "profile", "profile"),
    "replay": ("what a run file holds; verify it, export its frames, count it out", "replay", "replay"),
    "why": ("whom a vehicle or a queue of a recorded run waits for, up to the cause", "why", "why"),
    "queues": ("the queues of a run, by the time they cost, with their causes", "queues", "queues"),
    "diff": ("whether two runs are the same, where they part, how far they grow apart", "diff", "diff"),
    "compare": ("what differs between runs and others, with confidence intervals", "compare", "compare"),
    "export": ("write a table of a run file as csv or parquet", "export", "export"),
    "merge": ("put the files of a run that several ranks wrote into one", "merge", "merge"),
    "plot": ("draw a diagram of a run file", "plot", "plot"),
    "report": ("write a run file as one page to read, with its pictures", "report", "report"),
    "counts": ("hold runs against counts: GEH, R2, RMSE, limits of the guidance", "counts", "counts"),
    "share": ("write a run as a page that plays in any browser", "share", "share"),
    "study": ("run a base, its variants and seeds, and write tables and a report", "study", "study"),
    "view": ("watch a run or a network: in a window, as a picture, as a film", "view", "view"),
    "race": ("cars that race each other on a track", "race", "race"),
    "chase": ("opponents that hunt a target through the traffic", "chase", "chase"),
    "racepaths": ("paths of racers over a course, ahead of the race", "race_paths", "race_paths"),
}  # fmt: skip


class UsageError(RushhourError):
    """A command line that cannot be understood."""


class Parser(argparse.ArgumentParser):
    """Raises UsageError instead of printing its usage and leaving.

    What stands where an option wants a value is one, also if it begins with a minus, as in
    `--centre -948,655` or `--road -E3`: argparse takes that for an option but where it is a number.
    """

    _values: frozenset[str] = frozenset()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's."""
        self._values = self._values_in(args or ())
        return super().parse_known_args(args, namespace)

    def _parse_optional(self, arg_string: str) -> Any:
        if arg_string in self._values:
            return None
        return super()._parse_optional(arg_string)

    def _values_in(self, words: Sequence[str]) -> frozenset[str]:
        """Words that begin with one minus, and stand where an option wants them."""
        options = {text: action for action in self._actions for text in action.option_strings}
        found, wanted = set(), 0
        for word in words:
            if word in options:
                nargs = options[word].nargs
                wanted = 1 if nargs is None else nargs if isinstance(nargs, int) else 0
            elif wanted:
                wanted -= 1
                if word[:1] == "-" and word[:2] != "--":
                    found.add(word)
        return frozenset(found)

    def error(self, message: str) -> NoReturn:
        """Report a mistake in the command line."""
        raise UsageError(f"{message}; see `{self.prog} --help`")


def make_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of the whole command line. only: whose options are wanted; None: all."""
    parser = Parser(
        prog="rushhour",
        allow_abbrev=False,
        description="The traffic of a whole city on an ordinary computer.",
        epilog="Try `rushhour demo`. Every command has --help.",
    )
    parser.add_argument("--version", action="version", version=f"rushhour {__version__}")
    add_commands(parser, only)
    return parser


def add_commands(parser: argparse.ArgumentParser, only: str | None = None) -> None:
    """Add all commands to a parser, with the options of one, of none (""), or of all (None)."""
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, (what, _, _) in COMMANDS.items():
        command = commands.add_parser(
            name, help=what, description=what[0].upper() + what[1:] + ".", allow_abbrev=False,
            add_help=name != "generate",
        )  # fmt: skip
        if only is None or only == name:
            _module_of(name).add_options(command)
        known = [text for action in command._actions for text in action.option_strings]
        command.set_defaults(command=name, known_options=known)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        with ending_all(), warnings.catch_warnings():
            warnings.simplefilter("ignore", UnheardParameter)  # commands tell it among the remarks
            return _run(sys.argv[1:] if argv is None else argv)
    except RushhourError as error:
        text = " ".join(str(error).split())
        if is_first():
            print(f"rushhour: error: {text}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("rushhour: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read our output has gone: nothing left to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _want_words(argv: Sequence[str]) -> None:
    """Refuse an empty word, as a variable leaves that is not set: `.` in place of a name. Raises UsageError."""
    for place, word in enumerate(argv):
        name, equals, value = word.partition("=")
        if not word or (name.startswith("--") and equals and not value):
            after = name if equals else (argv[place - 1] if place else "rushhour")
            raise UsageError(
                f"{after} has an empty word after it; give a name or a value, or leave it out"
            )


def _run(argv: Sequence[str]) -> int:
    # Networks and definitions of kernels are millions of objects that stay: looking through them
    # for garbage at every 700th took a seventh of the time to the first frame.
    gc.set_threshold(50_000, 20, 20)
    _want_words(argv)
    parser = make_parser(next((word for word in argv if word[:1] != "-"), ""))
    args, rest = parser.parse_known_args(_with_others(argv))
    args.words = list(argv)
    if not hasattr(args, "command"):
        parser.print_help()
        return 0
    if args.command == "generate":
        args.options = rest
    elif rest:
        _refuse(args, rest)
    threads = getattr(args, "threads", None)
    if threads is not None:
        if not 1 <= threads <= 256:
            raise UsageError(f"--threads {threads}: wanted 1 to 256")
        os.environ["NUMBA_NUM_THREADS"] = str(threads)
    refuse(args)
    want_outputs(args)
    code = _command(args)
    sys.stdout.flush()
    return code


def _with_others(argv: Sequence[str]) -> list[str]:
    """A command line in which `compare A.h5 -- B.h5` is `compare A.h5 --with B.h5`."""
    words = list(argv)
    if words[:1] == ["compare"] and "--" in words:
        words[words.index("--")] = "--with"
    return words


def _refuse(args: argparse.Namespace, rest: Sequence[str]) -> NoReturn:
    """Name what is not known, and what may have been meant."""
    name = rest[0].partition("=")[0]
    near = get_close_matches(name, args.known_options, n=1) if name.startswith("-") else []
    hint = f"did you mean {near[0]}?" if near else f"see `rushhour {args.command} --help`"
    kind = "option" if name.startswith("-") else "argument"
    raise UsageError(f"{args.command} has no {kind} {name}; {hint}")


def _command(args: argparse.Namespace) -> int:
    _, _, function = COMMANDS[args.command]
    return int(getattr(_module_of(args.command), function)(args))


def _module_of(command: str) -> Any:
    return import_module(f"rushhour.cli.{COMMANDS[command][1]}")
