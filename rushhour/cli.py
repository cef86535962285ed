"""The `rushhour` command: its subcommands, and how it reports errors.

Exit codes: 0 done, 1 a check failed, 2 wrong input, 3 a run in which nobody moves any more, 130
interrupted, 143 terminated. Everything heavy is imported by the command that needs it, after --threads has been put into effect.
"""

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from rushhour import __version__
from rushhour.options import add_commands
from rushhour.outputs import want_outputs
from rushhour.roadnets.errors import RushhourError


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


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = Parser(
        prog="rushhour",
        allow_abbrev=False,
        description="The traffic of a whole city on an ordinary computer.",
        epilog="Try `rushhour demo`. Every command has --help.",
    )
    parser.add_argument("--version", action="version", version=f"rushhour {__version__}")
    add_commands(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        return _run(sys.argv[1:] if argv is None else argv)
    except RushhourError as error:
        text = " ".join(str(error).split())
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
    parser = make_parser()
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
    if args.command == "run":
        from rushhour.command_run import run

        return run(args)
    if args.command == "demo":
        from rushhour.command_demo import demo

        return demo(args)
    if args.command == "demand":
        from rushhour.command_demand import demand

        return demand(args)
    if args.command == "fit":
        from rushhour.command_fit import fit

        return fit(args)
    if args.command == "assign":
        from rushhour.command_assign import assign

        return assign(args)
    if args.command == "signals":
        from rushhour.command_signals import signals

        return signals(args)
    if args.command == "profile":
        from rushhour.command_profile import profile

        return profile(args)
    if args.command == "replay":
        from rushhour.command_replay import replay

        return replay(args)
    if args.command == "compare":
        from rushhour.command_compare import compare

        return compare(args)
    if args.command == "diff":
        from rushhour.command_diff import diff

        return diff(args)
    if args.command in ("parameters", "compile"):
        from rushhour import command_setup

        commands = {"parameters": command_setup.parameters, "compile": command_setup.compile_all}
        return commands[args.command](args)
    if args.command in ("why", "queues"):
        from rushhour import command_why

        return {"why": command_why.why, "queues": command_why.queues}[args.command](args)
    if args.command in ("export", "plot"):
        from rushhour import command_measures

        reports = {"export": command_measures.export, "plot": command_measures.plot}
        return reports[args.command](args)
    if args.command == "study":
        from rushhour.command_study import study

        return study(args)
    if args.command == "counts":
        from rushhour.command_counts import counts

        return counts(args)
    if args.command == "report":
        from rushhour.command_report import report

        return report(args)
    if args.command == "share":
        from rushhour.command_share import share

        return share(args)
    if args.command == "view":
        from rushhour.command_view import view

        return view(args)
    if args.command == "race":
        from rushhour.command_race import race

        return race(args)
    if args.command == "chase":
        from rushhour.command_chase import chase

        return chase(args)
    if args.command == "racepaths":
        from rushhour.command_race_paths import race_paths

        return race_paths(args)
    from rushhour import command_files

    files = {
        "import": command_files.import_map,
        "generate": command_files.generate_map,
        "info": command_files.info,
    }
    return files[args.command](args)
