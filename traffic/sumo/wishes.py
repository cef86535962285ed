"""What SUMO's options and its demand files have in common: devices, and values that are let be."""

from typing import Final

FALSE: Final = ("false", "0", "no", "off", "f", "-")
# Devices that drive otherwise; refused where any vehicle has one.
DEVICES: Final = (
    "stationfinder", "toc", "driverstate", "bluelight", "taxi", "glosa", "friction", "fcd-replay",
)  # fmt: skip


def meets(value: str, wish: str) -> bool:
    """Whether a value is that word, or is a number of which a comparison holds."""
    if not wish.startswith(("<", ">", "=")):
        as_switch = value.lower() in FALSE and wish == "false"
        return value.lower() == wish or as_switch
    sign = wish.rstrip("0123456789.")
    try:
        number = float(value)
    except ValueError:
        return False
    other = float(wish.removeprefix(sign))
    return {
        "<": number < other, "<=": number <= other, "=": number == other,
        ">": number > other, ">=": number >= other,
    }[sign]  # fmt: skip
