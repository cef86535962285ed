"""What to try in place of an id that a run does not have."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

MOST_COMPARED: Final = 50_000  # ids that are looked through for one that is like an unknown one


def id_hint(name: str, names: Sequence[str]) -> str:
    """What to try in place of an id that there is not."""
    near = get_close_matches(name[:60], names[:MOST_COMPARED], n=3, cutoff=0.5)
    if near:
        return f"did you mean {', '.join(text[:60] for text in near)}?"
    return f"it has {len(names):,}, as {names[0][:60]}" if names else "it has none"
