"""`--steered`: who of a run has a body with wheels, as text."""

from pathlib import Path
from typing import Any, Final

from rushhour.traffic.scenarios.scenario import ScenarioError

IDS: Final = "ids:"
WANTED: Final = (
    "wanted a share such as 10%, all, a number of vehicles, the nearest 200@X,Y, those within "
    "300m@X,Y, or ids:FILE"
)


def steered_choice(text: str) -> tuple[dict[str, object], dict[str, Any]]:
    """The parameters of a --steered, and its rule, empty for none (`World.steer_where`).

    Raises ScenarioError for what is none of the forms.
    """
    if text.isdecimal():
        return {"steered.share": 1.0, "steered.most": int(text)}, {}
    if text == "all":
        return {"steered.share": 1.0}, {}
    if text.startswith(IDS):
        return {"steered.bodies": True}, {"vehicles": _ids(Path(text[len(IDS) :]))}
    try:
        if text.endswith("%"):
            share = float(text[:-1]) / 100.0
            if 0.0 <= share <= 1.0:
                return {"steered.share": share}, {}
        elif "@" in text:
            return {"steered.bodies": True}, _near(*text.split("@"))
    except ValueError:
        pass
    raise ScenarioError(f"--steered {text[:60]!r}: {WANTED}")


def _near(much: str, place: str) -> dict[str, Any]:
    """Rule of 200@X,Y or 300m@X,Y. Raises ValueError."""
    x, y = (float(number) for number in place.split(","))
    number = float(much[:-1]) if much.endswith("m") else int(much)
    if not number > 0:
        raise ValueError
    return {"center": [x, y], "radius" if much.endswith("m") else "budget": number}


def _ids(path: Path) -> list[str]:
    """Ids of vehicles, one a line. Raises ScenarioError."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise ScenarioError(f"--steered {IDS}{path}: cannot be read ({why})") from None
    found = [line.strip() for line in lines if line.strip()]
    if not found:
        raise ScenarioError(f"--steered {IDS}{path}: holds no ids; give one a line")
    return found
