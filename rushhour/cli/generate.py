"""`rushhour generate`: a network made, or the generators listed."""

import argparse

from rushhour.cli.common_options import add_json
from rushhour.cli.network_facts import draw_network, show_network
from rushhour.cli.outputs import H5, PNG, add_output
from rushhour.cli.progress import compile_bar
from rushhour.roadnets.errors import NetworkError


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    command.add_argument("name", nargs="?", metavar="NAME",
        help="which generator; without it, all are listed with their options")  # fmt: skip
    add_output(command, "-o", "--output", endings=H5, help="the .h5 file to write")
    add_output(command, "--picture", endings=PNG, help="also draw it as a PNG")
    command.add_argument("-h", "--help", action="store_true", dest="wants_help",
                         help="show the generators and their options")  # fmt: skip
    add_json(command)


def generate_map(args: argparse.Namespace) -> int:
    """Make a network, or list the generators."""
    from rushhour.roadnets.generators import by_name

    if args.wants_help or args.name is None:
        names = [args.name] if args.name else list(by_name.GENERATORS)
        print("usage: rushhour generate NAME [--option VALUE ...] [-o FILE.h5] [--picture FILE]")
        for name in names:
            print(f"\n{name}")
            for option in by_name.options_of(name):
                kind = "|".join(option.choices) or option.kind.__name__
                text = f"  --{option.name.replace('_', '-')} {kind}"
                print(f"{text:<44} {option.help} (default: {option.default})")
        return 0
    options = _named_values(args.options)
    with compile_bar():
        network = by_name.generate(args.name, **options)
        if args.output is not None:
            from rushhour.roadnets.storage import save

            save(network, args.output)
        draw_network(network, args.picture)
    show_network(network, args.json, args.output)
    return 0


def _named_values(words: list[str]) -> dict[str, str]:
    """Options of a generator from `--rows 5` or `--rows=5`."""
    values: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if not name.startswith("--") or (not equals and not rest):
            raise NetworkError(f"generate: {word!r}: wanted --option VALUE; see generate --help")
        values[name[2:].replace("-", "_")] = value if equals else rest.pop(0)
    return values
