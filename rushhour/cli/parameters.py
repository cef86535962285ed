"""`rushhour parameters`: all of them, with unit, default, range and source."""

import argparse

from rushhour.cli.common_options import add_json
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.settings.parameter_table import TABLE, Parameter


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    command.add_argument(
        "--markdown", action="store_true", help="print the table of docs/parameters.md"
    )
    add_json(command)


def parameters(args: argparse.Namespace) -> int:
    """Print every parameter."""
    if args.json:
        rows = {
            row.name: {
                "unit": row.unit,
                "default": row.default,
                "range": list(row.choices) if row.choices else [row.low, row.high],
                "source": row.source,
                "description": row.description,
            }
            for row in TABLE.values()
        }
        print(json_text(rows))
        return 0
    if args.markdown:
        print("\n".join(markdown_table()))
        return 0
    name_width = max(map(len, TABLE))
    for row in TABLE.values():
        shown = f"{_default(row)} {row.unit}".rstrip()
        print(f"{row.name:<{name_width}}  {shown:<12}  {row.description} ({row.wanted})")
    return 0


def _default(row: Parameter) -> str:
    """The default as it is written behind --set."""
    return str(row.default).lower() if isinstance(row.default, bool) else f"{row.default}"


def markdown_table() -> list[str]:
    """The lines of the table in docs/parameters.md."""
    lines = ["| name | unit | default | wanted | what | source |", "|---|---|---|---|---|---|"]
    lines += [
        f"| `{row.name}` | {row.unit} | {_default(row)} | {row.wanted} | {row.description} | "
        f"{row.source} |"
        for row in TABLE.values()
    ]
    return lines
