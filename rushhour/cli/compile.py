"""`rushhour compile`: every kernel, now."""

import argparse
from time import perf_counter

from rushhour.cli.common_options import add_threads
from rushhour.cli.progress import compile_bar


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add_threads(command)


def compile_all(args: argparse.Namespace) -> int:
    """Compile every kernel, on as many cores as there are."""
    started = perf_counter()
    from rushhour.cli.compiling_aside import compile_everything, helpers, start_helpers

    with compile_bar():
        start_helpers()
        compile_everything(helpers())
    print(f"kernels are compiled ({perf_counter() - started:.1f} s)")
    return 0
