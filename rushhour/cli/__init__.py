"""The command line: a file per command, with its options and what it does, and what several of them share.

Nothing here decides how traffic goes: a command reads what is asked, calls traffic, roadnets and viewer, and
says what came out. `command_line` lists the commands.
"""

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    from rushhour.cli.command_line import main as run

    return run(argv)
