"""Tables for people: one line a row, numbers to a sensible length."""

from collections.abc import Sequence


def figure(value: object) -> str:
    """A value in a table: whole numbers as they are, others to about four figures."""
    if value is None:
        return "-"
    if isinstance(value, float):
        size = abs(value)
        return f"{value:,.0f}" if size >= 1000 else f"{value:.4g}" if size < 1 else f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Lines of a table, first column to the left, the others to the right."""
    cells = [list(header), *([figure(value) for value in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    return [
        "  ".join(
            text.ljust(width) if column == 0 else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
