"""Fixes: what a user says about a map that overrules what was read or guessed.

A file of fixes is TOML with one fix a line: a kind, the ids of the source, a value.

    keep_apart."310 311" = true          # nodes that are not one intersection
    lanes."27" = { forward = 2, backward = 1 }
    turns."27 310 28" = "ban"            # way, node, way; or two roads of the network
    connect."27#0 28#0" = [[0, 0], [1, 1]]  # lanes of two roads that one leads into the other
    stop_line."27#0" = 4                 # m back from where it is

Every message of the lint report ends with the line that would overrule it. Fixes of one map are
worked in by osm.fixes and drafts.fixes; each must have an effect, unless others leave it nothing to change.
"""

import json
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.findings import Finding
from rushhour.roadnets.reading.remarks import Difference

LARGEST: Final = 16 << 20  # bytes of a file
MOST_LANES: Final = 12
SHOWN_IDLE, NAMED = 6, 40  # in a line
SLOWEST, FASTEST = 5.0, 160.0  # km/h
GAP: Final = 5.0  # m between two nodes of different streets that a merge makes one
MOST_IDS: Final = 64  # of one fix
MOST_FIXES: Final = 20_000
CONTROLS: Final = ("none", "yield", "stop", "all_way_stop")
ENTRY_CONTROLS: Final = ("stop", "yield", "priority")  # of a road where it ends
FARTHEST_BACK, FARTHEST_ON = 60.0, -20.0  # m that a stop line is moved
MOST_LINKS: Final = 64  # pairs of lanes, phases, roads of a phase
LONGEST_CYCLE: Final = 300.0  # s
WANTED: Final = {
    "merge": "true",
    "keep_apart": "true",
    "junction": "true",
    "lanes": f"1 to {MOST_LANES}, or {{ forward = 2, backward = 1 }}",
    "control": " or ".join(f'"{name}"' for name in CONTROLS)
    + '; of a road "stop", "yield" or "priority"',
    "turns": '"ban" or "allow"',
    "signals": "true or false",
    "speed": f"{SLOWEST:g} to {FASTEST:g} km/h",
    "close": "true or false",
    "connect": f"1 to {MOST_LINKS} pairs of lanes, counted from the kerb, as [[0, 0], [1, 1]]",
    "stop_line": f"{FARTHEST_ON:g} to {FARTHEST_BACK:g} m back, not 0",
    "plan": f'{{ cycle = 60, offset = 0, phases = [[20, "road road"], [10, "road>road"]] }}, at most '
    f"{MOST_LINKS} phases, a cycle of at most {LONGEST_CYCLE:g} s",
}
OF_WAYS: Final = ("lanes", "speed", "close")
SETS: Final = ("merge", "keep_apart", "junction")  # whose ids have no order
ID_COUNTS: Final = {
    **dict.fromkeys(SETS, (2, MOST_IDS)), "turns": (2, 3), "connect": (2, 2),
}  # fmt: skip

CLASHES: Final = {  # what cannot be said of the same ids
    "close True": ("lanes", "speed", "stop_line"),
    "control": ("signals True", "plan"),
    "plan": ("signals False",),
    "connect": ("turns ban",),
}


class Fix(NamedTuple):
    """One line of a file of fixes."""

    kind: str
    ids: tuple[str, ...]
    value: Any  # as WANTED

    @property
    def address(self) -> str:
        """What is fixed, as it is written before the equals sign."""
        return _address(self.kind, self.ids)


def _in_order(ids: Iterable[str]) -> tuple[str, ...]:
    """Ids that have no order, once each."""
    return tuple(sorted(set(ids), key=lambda name: (len(name), name)))


def _address(kind: str, ids: Iterable[str]) -> str:
    return f"{kind}.{json.dumps(' '.join(ids), ensure_ascii=False)}"


def fix_line(kind: str, ids: Iterable[object], value: object) -> str:
    """A line of a file of fixes; "" where such a file would be refused, as for an id with a blank or too many.

    value: as it is written in TOML, true and false as bool.

    >>> fix_line("speed", [27], 50)
    'speed."27" = 50'
    """
    names = [str(name) for name in ids]
    names = list(_in_order(names)) if kind in SETS else names
    if not all(name.isprintable() and name and " " not in name for name in names):
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    line = f"{_address(kind, names)} = {text}"
    return line if fix_of(line) else ""


def fix_of(line: str) -> Fix | None:
    """The fix that a line says; None where a file with it would be refused."""
    try:
        ((kind, entries),) = tomllib.loads(line).items()
        ((key, value),) = entries.items()
        return _read(Path(), kind, key, value) if kind in WANTED else None
    except (ValueError, AttributeError, RecursionError):
        return None


class Fixes:
    """The fixes of a file, and which of them have had an effect."""

    def __init__(self, path: Path | None = None, fixes: Iterable[Fix] = ()) -> None:
        self.path = path
        self._fixes = {(fix.kind, fix.ids): fix for fix in fixes}
        self._used: set[str] = set()
        self._failed: dict[str, NetworkError] = {}  # of fixes that may be left out
        self._apart: dict[str, list[Fix]] | None = None  # the keep_apart of each node
        self._junctions: dict[str, list[Fix]] = {}
        # Of an OpenStreetMap without these, where they may cut ways otherwise: the node where each road ends.
        self.ends_before: Mapping[str, int] = {}

    def of(self, *kinds: str) -> Iterator[Fix]:
        """Fixes of some kinds, in the order of the file; without kinds all."""
        return (fix for fix in self._fixes.values() if not kinds or fix.kind in kinds)

    def use(self, fix: Fix) -> None:
        """Note that a fix has had an effect."""
        self._used.add(fix.address)

    def is_used(self, fix: Fix) -> bool:
        """Whether it has."""
        return fix.address in self._used

    def keep_apart(self, nodes: Iterable[int]) -> bool:
        """Whether a fix forbids to make one intersection of nodes of OpenStreetMap.

        Two of a keep_apart, or one of a junction and one that is none of it.
        """
        if self._apart is None:
            self._apart = _by_id(self.of("keep_apart"))
            self._junctions = _by_id(self.of("junction"))
        nodes = list(nodes)
        found = Counter(fix for node in nodes for fix in self._apart.get(str(node), ()))
        held = [fix for fix, count in found.items() if count > 1]
        if self._junctions:
            within = Counter(fix for node in nodes for fix in self._junctions.get(str(node), ()))
            held += [fix for fix, count in within.items() if count < len(nodes)]
        for fix in held:
            self.use(fix)
        return bool(held)

    def no_road(self, fix: Fix, name: str) -> NetworkError:
        """The error of a fix of a road that is none."""
        shown = repr(name[:40])
        if name not in self.ends_before:
            return self.refused(fix, f"{shown} is no road of the network; correct or drop the line")
        return self.refused(
            fix,
            f"{shown} ended at node {self.ends_before[name]} and is no road beside the other fixes; "
            "drop this line or those there",
        )

    @contextmanager
    def attempt(self, fix: Fix) -> Iterator[None]:
        """Work one fix in; where others may have changed what it is about, `finish` says whether it may fail."""
        try:
            yield
        except NetworkError as error:
            if not self.ends_before:
                raise
            self._failed[fix.address] = error

    def refused(self, fix: Fix, why: str) -> NetworkError:
        """The error of a fix that cannot be worked in. why: what is wrong; what to do."""
        shown = fix.address if len(fix.address) <= 80 else fix.address[:77] + "..."
        return NetworkError(f"{self.path}: {shown}: {why}")

    def finish(self, overtaken: Callable[[Fix], bool] = lambda fix: False) -> list[str]:
        """Remarks on the fixes. Raises NetworkError that names those without an effect.

        overtaken: whether other fixes have changed the place that one is about; then it is left out.
        """
        idle = [fix for fix in self._fixes.values() if not self.is_used(fix)]
        left = {fix.address for fix in idle if overtaken(fix)}
        idle = [fix for fix in idle if fix.address not in left]
        for fix in idle:
            if fix.address in self._failed:
                raise self._failed[fix.address]
        if idle:
            others = f"; nor have {_shown(idle[1:])}" if idle[1:] else ""
            raise self.refused(
                idle[0], f"has no effect on this map; correct or drop the line{others}"
            )
        if self.path is None or not self._fixes:
            return []
        counts = Counter(fix.kind for fix in self.of() if self.is_used(fix))
        kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
        told = [f"fixes of {self.path.name} worked in: {kinds or 'none'}"]
        out = [fix for fix in self.of() if fix.address in left]
        for fix in out[:SHOWN_IDLE]:
            why = f"{fix.address}: has no effect beside the others"
            why = str(self._failed.get(fix.address, why)).removeprefix(f"{self.path}: ")
            told.append(Difference(f"a fix is left out, as others have changed the place: {why}"))
        if more := out[SHOWN_IDLE:]:
            told.append(
                Difference(f"{len(more)} more fixes are left out so: {_shown(more, NAMED)}")
            )
        return told

    def standing(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that no fix has overruled."""
        return [one for one in findings if one.fix.rpartition(" = ")[0] not in self._used]


def _shown(fixes: Iterable[Fix], most: int = SHOWN_IDLE) -> str:
    """The addresses of the first of some fixes, and how many more there are."""
    names = [fix.address[:80] for fix in fixes]
    left = len(names) - most
    return ", ".join(names[:most]) + (f" and {left} more" if left > 0 else "")


def read_fixes(path: Path) -> Fixes:
    """Read a file of fixes.

    Raises NetworkError for what is no TOML, kinds and values that are not known, and fixes that
    contradict each other.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise NetworkError(f"{path}: larger than {LARGEST >> 20} MB; give a file of fixes")
        table = tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise NetworkError(f"{path}: cannot be read ({error.strerror}); give a file") from None
    except UnicodeDecodeError:
        raise NetworkError(f"{path}: not UTF-8; save it as UTF-8") from None
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:120]
        if "overwrite" in reason:
            reason = f"a fix is given twice: {reason}"
        raise NetworkError(
            f'{path}: not TOML ({reason}); wanted lines as speed."27" = 50'
        ) from None
    fixes: list[Fix] = []
    for kind, entries in table.items():
        if kind not in WANTED:
            raise NetworkError(
                f"{path}: unknown kind of fix {kind[:40]!r}; wanted {', '.join(WANTED)}"
            )
        if not isinstance(entries, dict):
            raise NetworkError(f'{path}: {kind}: wanted lines as {kind}."ID" = {WANTED[kind]}')
        fixes += [_read(path, kind, key, value) for key, value in entries.items()]
    if len(fixes) > MOST_FIXES:
        raise NetworkError(f"{path}: {len(fixes)} fixes; wanted at most {MOST_FIXES}")
    found = Fixes(path, fixes)
    if len({(fix.kind, fix.ids) for fix in fixes}) < len(fixes):
        raise NetworkError(f"{path}: a fix stands twice with other blanks; drop one")
    together = Together()
    for fix in fixes:
        other = together.add(fix)
        if other is not None:
            raise found.refused(fix, f"contradicts {other.address}; drop one")
    return found


def _read(path: Path, kind: str, key: str, value: Any) -> Fix:
    fix = Fix(kind, tuple(key.split()), value)
    if kind in SETS:
        fix = fix._replace(ids=_in_order(fix.ids))
    least, most = ID_COUNTS.get(kind, (1, 1))
    lone = Fixes(path)
    if not least <= len(fix.ids) <= most or not key.isprintable():
        wanted = f"{least}" if least == most else f"{least} to {most}"
        raise lone.refused(fix, f"{len(fix.ids)} ids; wanted {wanted}, with blanks between")
    if not _fits(kind, value):
        raise lone.refused(fix, f"{str(value)[:40]!r}; wanted {WANTED[kind]}")
    return fix


def _fits(kind: str, value: Any) -> bool:
    """Whether a value is one of its kind."""
    if kind in SETS:
        return value is True
    if kind in ("signals", "close"):
        return isinstance(value, bool)
    if kind == "lanes":
        if isinstance(value, dict):
            parts = list(value.values())
            return (
                set(value) == {"forward", "backward"}
                and all(type(n) is int and 0 <= n <= MOST_LANES for n in parts)
                and any(parts)
            )
        return type(value) is int and 1 <= value <= MOST_LANES
    if kind == "speed":
        return _is_number(value, SLOWEST, FASTEST)
    if kind == "stop_line":
        return _is_number(value, FARTHEST_ON, FARTHEST_BACK) and value != 0
    if kind == "connect":
        return _is_list(value) and all(
            isinstance(pair, list)
            and len(pair) == 2
            and all(type(n) is int and 0 <= n < MOST_LANES for n in pair)
            for pair in value
        )
    if kind == "plan":
        return _is_plan(value)
    words = {"control": {*CONTROLS, *ENTRY_CONTROLS}, "turns": {"ban", "allow"}}[kind]
    return isinstance(value, str) and value in words


def _is_number(value: Any, low: float, high: float) -> bool:
    return type(value) in (int, float) and low <= value <= high


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and 1 <= len(value) <= MOST_LINKS


def _is_plan(value: Any) -> bool:
    """Whether a value is a signal's plan: phases, each seconds and who has green."""
    if not isinstance(value, dict) or not {"phases"} <= value.keys() <= {
        "cycle",
        "offset",
        "phases",
    }:
        return False
    return (
        _is_number(value.get("cycle", LONGEST_CYCLE), 10.0, LONGEST_CYCLE)
        and _is_number(value.get("offset", 0), 0.0, LONGEST_CYCLE)
        and _is_list(value["phases"])
        and all(
            isinstance(phase, list)
            and len(phase) == 2
            and _is_number(phase[0], 1.0, LONGEST_CYCLE)
            and isinstance(phase[1], str)
            and phase[1].isprintable()
            and 1 <= len(phase[1].split()) <= MOST_LINKS
            for phase in value["phases"]
        )
    )


def _by_id(fixes: Iterable[Fix]) -> dict[str, list[Fix]]:
    found: dict[str, list[Fix]] = {}
    for fix in fixes:
        for name in fix.ids:
            found.setdefault(name, []).append(fix)
    return found


class Together:
    """Fixes that go together, and which of them another one contradicts."""

    def __init__(self) -> None:
        self._same: dict[tuple[str, ...], list[Fix]] = {}  # by all ids
        self._sets: dict[str, list[Fix]] = {}  # SETS by each id

    def add(self, fix: Fix) -> Fix | None:
        """Add a fix, unless it contradicts one of them: that one."""
        for other in self._same.get(fix.ids, ()):
            if fix.kind == other.kind or _clash(fix, other) or _clash(other, fix):
                return other
        if fix.kind in SETS:
            shared = Counter(other for name in fix.ids for other in self._sets.get(name, ()))
            for other, count in shared.items():
                if _split(fix, other, count):
                    return other
            for name in fix.ids:
                self._sets.setdefault(name, []).append(fix)
        self._same.setdefault(fix.ids, []).append(fix)
        return None


def _clash(a: Fix, b: Fix) -> bool:
    """Whether one fix is of a kind in CLASHES and another of the same ids one of those against it."""
    said = {b.kind, f"{b.kind} {b.value}"}
    return any(
        not said.isdisjoint(CLASHES.get(name, ())) for name in (a.kind, f"{a.kind} {a.value}")
    )


def _split(a: Fix, b: Fix, shared: int) -> bool:
    """Whether what two fixes say of which nodes are one intersection contradicts."""
    kinds = {a.kind, b.kind}
    if "keep_apart" in kinds:
        return len(kinds) > 1 and shared > 1
    if kinds == {"junction"}:
        return True
    merge, whole = (a, b) if a.kind == "merge" else (b, a)
    return len(kinds) > 1 and not set(merge.ids) <= set(whole.ids)
