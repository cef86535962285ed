"""Remarks of a reader: what it skipped, counted by kind with a few examples, and its findings.

A remark is a line of text. One that says that the result differs from what the input asks for is of
the class `Difference`: such come first and are always shown; the others are notes.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from rushhour.roadnets.findings import Finding, Place, finding

MOST_EXAMPLES: Final = 5
LONGEST_EXAMPLE: Final = 120  # characters


class Difference(str):
    """A remark that says how the result differs from what the input asks for."""

    __slots__ = ()


def differences(remarks: Iterable[str]) -> list[str]:
    """Those remarks that tell of a difference in the result."""
    return [remark for remark in remarks if isinstance(remark, Difference)]


def in_order(remarks: Iterable[str]) -> list[str]:
    """Remarks in their order, those that tell of a difference in the result first."""
    return sorted(remarks, key=lambda remark: not isinstance(remark, Difference))


def shown(remarks: Sequence[str], most: int) -> tuple[list[str], list[str], int]:
    """What people are shown: all differences, at most `most` notes, and how many are left out."""
    notes = [remark for remark in remarks if not isinstance(remark, Difference)]
    return differences(remarks), notes[:most], max(0, len(notes) - most)


def flags(remarks: Iterable[str]) -> list[bool]:
    """Which remarks tell of a difference, for storing them; `flagged` is the way back."""
    return [isinstance(remark, Difference) for remark in remarks]


def flagged(lines: Sequence[str], which: Sequence[bool]) -> tuple[str, ...]:
    """Remarks from stored lines and `flags`; all are notes where there are no flags."""
    if len(which) != len(lines):
        return tuple(lines)
    return tuple(
        Difference(line) if flag else line for line, flag in zip(lines, which, strict=True)
    )


class Remarks:
    """Collects remarks and findings.

    A kind of remark becomes one line, or one finding if it was given a check, in the order of first
    occurrence.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, list[str]] = {}
        self._counts: dict[str, int] = {}
        self._checks: dict[str, str] = {}
        self._differences: set[str] = set()
        self._found: list[Finding] = []

    def add(
        self, kind: str, example: str = "", count: int = 1, check: str = "", differs: bool = False
    ) -> None:
        """Count one more of a kind; keep the example if there are few yet.

        differs: the result is another than the input asks for.
        """
        if count <= 0:
            return
        if differs:
            self._differences.add(kind)
        self._checks.setdefault(kind, check)
        self._counts[kind] = self._counts.get(kind, 0) + count
        examples = self._kinds.setdefault(kind, [])
        if example and len(examples) < MOST_EXAMPLES:
            shown = example[:LONGEST_EXAMPLE]
            shown = shown if shown.isprintable() else repr(shown)  # a remark is one line
            if shown not in examples:
                examples.append(shown)

    def find(
        self,
        check: str,
        message: str,
        source: Iterable[str] = (),
        place: Place | None = None,
        fix: str = "",
        severity: str = "",
    ) -> None:
        """Keep a finding; see roadnets.findings."""
        self._found.append(finding(check, message, source, place, fix, severity))

    def count(self, kind: str) -> int:
        """How often a kind has occurred."""
        return self._counts.get(kind, 0)

    def lines(self) -> list[str]:
        """One line per kind without a check: the kind, how often, at most five examples.

        Those that tell of a difference first.
        """
        found = [
            Difference(self._line(kind)) if kind in self._differences else self._line(kind)
            for kind in self._kinds
            if not self._checks[kind]
        ]
        return in_order(found)

    def findings(self) -> list[Finding]:
        """Every finding, and one for each kind with a check."""
        kinds = [(check, kind) for kind, check in self._checks.items() if check]
        return self._found + [finding(check, self._line(kind)) for check, kind in kinds]

    def _line(self, kind: str) -> str:
        examples, count = self._kinds[kind], self._counts[kind]
        if not examples:
            return f"{kind}: {count}"
        more = ", ..." if count > len(examples) else ""
        return f"{kind}: {count} ({', '.join(examples)}{more})"
