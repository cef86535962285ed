"""Remarks of a reader: what it skipped, counted by kind with a few examples, and its findings."""

from collections.abc import Iterable
from typing import Final

from rushhour.roadnets.findings import Finding, Place, finding

MOST_EXAMPLES: Final = 5
LONGEST_EXAMPLE: Final = 120  # characters


class Remarks:
    """Collects remarks and findings.

    A kind of remark becomes one line, or one finding if it was given a check, in the order of first
    occurrence.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, list[str]] = {}
        self._counts: dict[str, int] = {}
        self._checks: dict[str, str] = {}
        self._found: list[Finding] = []

    def add(self, kind: str, example: str = "", count: int = 1, check: str = "") -> None:
        """Count one more of a kind; keep the example if there are few yet."""
        if count <= 0:
            return
        self._checks.setdefault(kind, check)
        self._counts[kind] = self._counts.get(kind, 0) + count
        examples = self._kinds.setdefault(kind, [])
        if example and len(examples) < MOST_EXAMPLES:
            shown = example[:LONGEST_EXAMPLE]
            examples.append(shown if shown.isprintable() else repr(shown))  # a remark is one line

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
        """One line per kind without a check: the kind, how often, at most five examples."""
        return [self._line(kind) for kind in self._kinds if not self._checks[kind]]

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
