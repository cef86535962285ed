"""What notebooks show of networks, worlds and runs: a small table of facts."""

from collections.abc import Mapping
from html import escape


def fact_table(title: str, facts: Mapping[str, object]) -> str:
    """A table of names and values as HTML; text is escaped, numbers have thousands marked."""
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(_told(value))}</td></tr>'
        for name, value in facts.items()
    )
    return f"<table><caption><b>{escape(title)}</b></caption><tbody>{rows}</tbody></table>"


def _told(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
