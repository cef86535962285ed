"""Small hand-made SUMO networks for tests: a crossing of four one-lane roads."""

from collections.abc import Mapping, Sequence
from pathlib import Path

ARMS = {"s": (0, -1), "e": (1, 0), "n": (0, 1), "w": (-1, 0)}
STRAIGHT_ON = {"s": "n", "e": "w", "n": "s", "w": "e"}
REACH, SETBACK, SIDE = 100.0, 10.0, 1.6  # m
# Links 0..3 are s, e, n, w; each crosses its two neighbours and, unless told, w and e give way.
CROSSING_FOES = ("1010", "0101", "1010", "0101")
MINOR_FROM_SIDES = ("0000", "0101", "0000", "0101")


def _place(arm: str, distance: float, side: float) -> str:
    x, y = ARMS[arm]
    return f"{x * distance - y * side:.2f},{y * distance + x * side:.2f}"


def lane(name: str, shape: str, index: int = 0, more: str = "", length: float = 90.0) -> str:
    """A lane element."""
    return (
        f'<lane id="{name}_{index}" index="{index}" speed="13.89" length="{length:.2f}" '
        f'shape="{shape}" {more}/>'
    )


def connection(start: str, end: str, more: str = "", from_lane: int = 0, to_lane: int = 0) -> str:
    """A connection between two edges."""
    return (
        f'<connection from="{start}" to="{end}" fromLane="{from_lane}" toLane="{to_lane}" '
        f'dir="s" state="M" {more}/>'
    )


def crossing(
    kind: str = "priority",
    foes: Sequence[str] = CROSSING_FOES,
    responses: Sequence[str] = MINOR_FROM_SIDES,
    more: Mapping[str, str] | None = None,
    extra: str = "",
    net: str = "",
    lane_more: str = "",
) -> str:
    """A whole network: roads s_in, s_out, ...; straight movements only.

    more: attributes of the connection that comes from an arm. The connections are written in the
    reverse order of their links.
    """
    parts = [
        f'<net version="1.20" {net}>',
        '<location netOffset="10.00,-20.00" projParameter="!"/>',
    ]
    for arm, (x, y) in ARMS.items():
        into = f"{_place(arm, REACH, SIDE)} {_place(arm, SETBACK, SIDE)}"
        out = f"{_place(arm, SETBACK, -SIDE)} {_place(arm, REACH, -SIDE)}"
        parts.append(
            f'<edge id="{arm}_in" from="{arm}" to="c" priority="1">'
            f"{lane(f'{arm}_in', into, more=lane_more)}</edge>"
        )
        parts.append(
            f'<edge id="{arm}_out" from="c" to="{arm}" priority="1">'
            f"{lane(f'{arm}_out', out)}</edge>"
        )
        parts.append(
            f'<junction id="{arm}" type="dead_end" x="{x * REACH}" y="{y * REACH}" '
            f'incLanes="{arm}_out_0" intLanes="" shape=""/>'
        )
    incoming = " ".join(f"{arm}_in_0" for arm in ARMS)
    parts.append(f'<junction id="c" type="{kind}" x="0.00" y="0.00" incLanes="{incoming}">')
    for index, (response, foe) in enumerate(zip(responses, foes, strict=True)):
        parts.append(f'<request index="{index}" response="{response}" foes="{foe}" cont="0"/>')
    parts.append("</junction>")
    for arm in reversed(ARMS):
        attributes = (more or {}).get(arm, "")
        parts.append(connection(f"{arm}_in", f"{STRAIGHT_ON[arm]}_out", attributes))
    return "\n".join([*parts, extra, "</net>"])


def signals(letters: Sequence[str], more: str = "", name: str = "c") -> str:
    """A tlLogic element; each state lasts 10 s more than the one before, from 10 s."""
    phases = "".join(
        f'<phase duration="{10 * (p + 1)}" state="{state}"/>' for p, state in enumerate(letters)
    )
    return f'<tlLogic id="{name}" type="static" programID="0" offset="0" {more}>{phases}</tlLogic>'


def at_lights() -> dict[str, str]:
    """Attributes of the crossing's connections under the signal c, link by link."""
    return {arm: f'tl="c" linkIndex="{index}"' for index, arm in enumerate(ARMS)}


def written(folder: Path, text: str, name: str = "small.net.xml") -> Path:
    """The text as a file."""
    path = folder / name
    path.write_text(text)
    return path
