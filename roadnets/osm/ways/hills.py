"""Rises of ways (`incline`), as far as they say how much.

Heights of single nodes (`ele`) are not read: too few have one, and what lies between is invented.
Source: https://wiki.openstreetmap.org/wiki/Key:incline.
"""

import re
from math import radians, tan
from typing import Final

from rushhour.roadnets.drafts.heights import STEEPEST
from rushhour.roadnets.osm.ways.tags import Tags

_RISE: Final = re.compile(r"([+-]?\d{1,3}(?:[.,]\d{1,4})?)\s*(%|\N{DEGREE SIGN})")


def grade_of(tags: Tags) -> tuple[float | None, str]:
    """Rise per metre in the direction of a way's nodes, None where that is not said; and what is
    said but cannot be used.

    >>> grade_of({"incline": "-8 %"}), grade_of({"incline": "up"})
    ((-0.08, ''), (None, 'incline=up says not how steep'))
    """
    text = tags.get("incline", "").strip()
    if not text:
        return None, ""
    if text in ("up", "down", "yes"):
        return None, f"incline={text} says not how steep"
    found = _RISE.fullmatch(text)
    if found is None:
        return (
            (0.0, "")
            if text == "0"
            else (None, f"incline={text:.20} not read; wanted % or degrees")
        )
    size = float(found[1].replace(",", "."))
    grade = 0.01 * size if found[2] == "%" else tan(radians(size)) if abs(size) < 45.0 else 1.0
    if abs(grade) > STEEPEST:
        return None, f"incline={text:.20} steeper than {STEEPEST:.0%}, not taken"
    return grade, ""
