"""How many of something, in words."""


def counted(count: int, what: str, several: str = "") -> str:
    """A number and what it counts. several: the word for more than one, else `what` with an s.

    >>> counted(1, "frame"), counted(2400, "frame"), counted(0, "branch", "branches")
    ('1 frame', '2,400 frames', '0 branches')
    """
    return f"{count:,} {what if count == 1 else several or what + 's'}"
