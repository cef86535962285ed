"""Which key does what. Window libraries call keys differently; here each has one name."""

import sys
from typing import Final

from rushhour.viewer import actions as do

ALIASES: Final = {
    " ": "space", "return": "enter", "kp_enter": "enter", "esc": "escape", "pageup": "page up",
    "pagedown": "page down", "back": "backspace",
}  # fmt: skip
SHIFTED: Final = {"/": "?", "-": "_", "=": "+"}  # on keyboards whose library tells the bare key


def key_name(name: str | None, text: str | int | None = "", shift: bool = False) -> str:
    """One name for a key, whatever a window library calls it: "space", "a", "?", "left".

    text: what it types; an int is its code point, as vispy's glfw gives it when a key is let go.
    """
    if isinstance(text, int):
        text = chr(text) if 0 < text <= sys.maxunicode else ""
    if text and text.isprintable() and text != " ":
        return text.lower() if text.isalpha() else text
    plain = (name or "").lower()
    plain = ALIASES.get(plain, plain)
    return SHIFTED.get(plain, plain) if shift else plain


# key, with Shift: what it does, in words, and the action
KEYS: Final[dict[tuple[str, bool], tuple[str, do.Action]]] = {
    ("space", False): ("play, stop", do.Play()),
    (",", False): ("one frame back", do.Step(-1)),
    (".", False): ("one frame on", do.Step(1)),
    ("left", False): ("1 s back", do.Skip(-1.0)),
    ("right", False): ("1 s on", do.Skip(1.0)),
    ("left", True): ("10 s back", do.Skip(-10.0)),
    ("right", True): ("10 s on", do.Skip(10.0)),
    ("[", False): ("slower", do.Rate(-1)),
    ("]", False): ("faster", do.Rate(1)),
    ("home", False): ("to the start", do.Ends(False)),
    ("end", False): ("to the end", do.Ends(True)),
    ("l", False): ("loop, or stop at the end", do.Loop()),
    ("c", False): ("colour vehicles by the next", do.NextColour()),
    ("c", True): ("colour vehicles by the one before", do.NextColour(-1)),
    ("h", False): ("colour lanes by the next", do.NextLanes()),
    ("v", False): ("colour streets, over an interval", do.NextStreets()),
    ("v", True): ("by the one before", do.NextStreets(-1)),
    ("f", False): ("follow the chosen vehicle", do.Follow()),
    ("i", False): ("find a vehicle by its id", do.Find("")),
    ("escape", False): ("let go of it", do.Select(None)),
    ("r", False): ("see everything", do.Fit()),
    ("b", False): ("keep this time, or drop it", do.Mark()),
    ("n", False): ("to the next kept time", do.Jump("bookmark")),
    ("n", True): ("to the kept time before", do.Jump("bookmark", True)),
    ("j", False): ("to the next who got stuck", do.Jump("stuck")),
    ("j", True): ("to the one before", do.Jump("stuck", True)),
    ("g", False): ("to the next gridlock", do.Jump("ring")),
    ("g", True): ("to the one before", do.Jump("ring", True)),
    ("w", False): ("to who stands longest now", do.Jump("waiter")),
    ("w", True): ("to the one before", do.Jump("waiter", True)),
    ("x", False): ("to the dearest frame, the next", do.Jump("worst")),
    ("x", True): ("to the one before", do.Jump("worst", True)),
    ("d", False): ("live: drive by the arrows; let go", do.Drive()),
    ("p", False): ("cost of the phases", do.Show("costs")),
    ("m", False): ("marks of what lint found", do.Show("lint")),
    ("t", False): ("names of streets", do.Show("names")),
    ("s", False): ("write a picture", do.Shot()),
    ("?", False): ("this help", do.Show("help")),
    ("q", False): ("close", do.Quit()),
}
MOUSE: Final = (
    ("wheel", "closer, farther, at the cursor"),
    ("drag", "move the picture; on the timeline: the time"),
    ("click", "look closer at what is there"),
)


def action_of(key: str, shift: bool, finding: str | None) -> do.Action | None:
    """What a key means; finding: what was typed of an id, None if nobody types one."""
    if finding is not None:
        return _typed(key, shift, finding)
    known = KEYS.get((key, shift)) or (None if key.isalpha() else KEYS.get((key, False)))
    return known[1] if known else None


def _typed(key: str, shift: bool, finding: str) -> do.Action | None:
    """Keys while an id is typed."""
    if key == "enter":
        return do.Found()
    if key == "escape":
        return do.Find(None)
    if key == "backspace":
        return do.Find(finding[:-1])
    if key == "space":
        return do.Find(finding + " ")
    if len(key) == 1:
        return do.Find(finding + (key.upper() if shift else key))
    return None


def help_lines() -> list[tuple[str, str]]:
    """Keys and what they do, for people."""
    names = [
        (("Shift " if shift else "") + (key.upper() if len(key) == 1 else key.capitalize()), what)
        for (key, shift), (what, _) in KEYS.items()
    ]
    return [*MOUSE, *names]
