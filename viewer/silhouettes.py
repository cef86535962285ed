"""What vehicles look like from above: a shape by class, the same in windows, pictures and pages.

`page/bodies.glsl` draws them: as bodies with a front, lights and wheels, and from afar as kites.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

OF_NO_CLASS: Final = ("target", "opponent", "body")  # drawn by their size
CLASSES: Final = ("car", "van", "truck", "bus", "motorcycle", "racer", "runner", *OF_NO_CLASS)
UNKNOWN: Final = CLASSES.index("body")
NARROW: Final = 1.2  # m; who is narrower is no car
CAR: Final = 4.5  # m, of a car, which says how far away bodies are kites
BODY_PIXELS: Final = 11.0  # that a car is long from which on it is a body; twice that in races
RACER_KITE: Final = 18.0  # pixels
LARGEST_KITE: Final = 13.0  # pixels, of a car
LEAST_KITES: Final = ((8.0, 7.0), (3.0, 9.0), (0.0, 11.0))  # beyond so many m a pixel: pixels
NEAR_KITE: Final = 6.4  # m that a kite is long, where that is more
CROWD: Final = 6000.0  # vehicles that are seen, from which on kites are smaller
CROWDED: Final = 0.25  # exponent of how much
KITE_RIM: Final = 0.8  # pixels
FAR_RIM: Final = 0.3  # pixels, from FAR on: rims would be all that is seen
FAR: Final = 2.0  # m a pixel


def silhouette(kind: str, length: float, width: float) -> int:
    """The shape of a vehicle type by its name, else by its size."""
    word = kind.lower()
    for name, others in (
        ("bus", ("bus", "coach", "tram")),
        ("truck", ("truck", "trailer", "lorry", "hgv")),
        ("motorcycle", ("motorcycle", "moped", "scooter", "bike")),
        ("van", ("van", "delivery")),
    ):
        if any(other in word for other in others):
            return CLASSES.index(name)
    if width < NARROW:
        return CLASSES.index("motorcycle")
    if length > 10.0:
        return CLASSES.index("bus")
    return CLASSES.index("truck" if length > 7.0 else "van" if width > 1.95 else "car")


def racer_shapes(width: NDArray[np.float64]) -> NDArray[np.int32]:
    """The shape of racers so wide, m: narrow ones are horses with who rides them, others open cars."""
    runs, drives = (CLASSES.index(name) for name in ("runner", "racer"))
    return np.where(width < NARROW, runs, drives).astype(np.int32)


def sized(
    length: NDArray[np.float64],
    width: NDArray[np.float64],
    kind: NDArray[np.int32],
    names: tuple[str, ...],
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Lengths, widths, m, and shapes that there are, (k, 3), and the row of each vehicle, (n,). names: of kinds."""
    columns: NDArray[np.float64] = np.column_stack((length, width, kind)).astype(np.float64)
    rows, of = np.unique(np.round(columns, 3), axis=0, return_inverse=True)
    for row in rows:
        row[2] = silhouette(names[int(row[2])], row[0], row[1])
    return (rows if len(rows) else np.array([(1.0, 1.0, 0.0)])), of.reshape(-1).astype(np.int32)


def shapes_of(
    length: NDArray[np.float64],
    width: NDArray[np.float64],
    kind: NDArray[np.int32],
    names: tuple[str, ...],
) -> NDArray[np.float64]:
    """The shape of each vehicle, (n,). names: of kinds."""
    rows, of = sized(length, width, kind, names)
    return np.asarray(rows[of, 2], np.float64)


def kite_pixels(scale: float, seen: int, race: bool) -> float:
    """How many pixels long a car's kite is at so many m a pixel, among so many; 0: a body is drawn instead."""
    if CAR / scale >= BODY_PIXELS * (2.0 if race else 1.0):
        return 0.0
    if race:
        return RACER_KITE
    crowd = float(min(1.0, (CROWD / max(1, seen)) ** CROWDED))
    least = next(pixels for far, pixels in LEAST_KITES if scale > far) * crowd
    return min(LARGEST_KITE, max(least, NEAR_KITE / scale))


def kite_rim(scale: float) -> float:
    """How wide the rim of a kite is at so many m a pixel, pixels."""
    return FAR_RIM if scale > FAR else KITE_RIM


def kite_facts() -> dict[str, Any]:
    """What `kite_pixels` and `kite_rim` go by, for a page."""
    return {
        "car": CAR, "body": BODY_PIXELS, "racer": RACER_KITE, "most": LARGEST_KITE,
        "least": LEAST_KITES, "near": NEAR_KITE, "crowd": CROWD, "crowded": CROWDED,
        "rim": KITE_RIM, "far_rim": FAR_RIM, "far": FAR,
    }  # fmt: skip
