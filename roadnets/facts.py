"""What the objects of this package say of themselves: a line at a prompt, a small table in a notebook."""

from collections.abc import Iterable, Mapping
from html import escape
from importlib import import_module
from typing import Any

from rushhour.kernels.core.reprs import cut


class Shown:
    """What tells facts: `repr` gives them as a line, a notebook as a table."""

    def _shown(self) -> tuple[str, Mapping[str, object]]:
        """The title, and facts by name; what is "" is left out of the line."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return fact_line(*self._shown())

    def _repr_html_(self) -> str:
        return fact_table(*self._shown())


class Played(Shown):
    """What tells facts, and that a notebook plays: the page of `rushhour.show`, where that can be."""

    def _display_(self) -> Any:  # marimo asks for what to show in its place
        return self._page() or _Table(self._repr_html_())

    def _repr_mimebundle_(self, **chosen: Any) -> Any:  # Jupyter and VS Code; None: the table
        page = self._page()
        return None if page is None else page._repr_mimebundle_(**chosen)

    def _page(self) -> Any:
        # Found by its name: pages are made by a room above this one.
        return import_module("rushhour.viewer.notebook").inline(self)


class _Table:
    def __init__(self, text: str) -> None:
        self._text = text

    def _repr_html_(self) -> str:
        return self._text


class Part:
    """A part of a world: `repr` gives the first line of what its class says of itself."""

    def __repr__(self) -> str:
        words = (type(self).__doc__ or "").partition("\n")[0].rstrip(".")
        return cut(f"<{type(self).__name__}: {words}", ">")


def fact_line(title: str, facts: Mapping[str, object]) -> str:
    """A title and facts in one short line.

    >>> fact_line("Measures", {"interval": "300 s", "roads": 1200})
    '<Measures: interval 300 s; roads 1,200>'
    """
    told = "; ".join(f"{name} {_told(value)}" for name, value in facts.items() if value != "")
    return cut(f"<{title}: {told}" if told else f"<{title}", ">")


def rows_line(title: str, rows: int, columns: Iterable[str]) -> str:
    """A table in one short line: how many rows, of which columns.

    >>> rows_line("RoadTable", 1200, ("id", "length"))
    '<RoadTable: 1,200 rows of id, length>'
    """
    return cut(f"<{title}: {rows:,} row{'' if rows == 1 else 's'} of {', '.join(columns)}", ">")


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
