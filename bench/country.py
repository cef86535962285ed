"""A country: cities, each a grid of signals, joined to their neighbours by wider and faster roads."""

from rushhour.roadnets.build import finish
from rushhour.roadnets.model import Network
from rushhour.roadnets.plans.drafting import draft_of
from rushhour.roadnets.plans.street_plan import Corner, Plan

STREET, ROAD = (2, 13.89), (3, 27.78)  # lanes of each direction and m/s, within and between cities


def country(cities: int, side: int, block: float = 400.0, apart: float = 1500.0) -> Network:
    """A square of cities x cities cities, each of side x side crossings.

    block: m from crossing to crossing. apart: m between two cities; two roads join them.
    """
    plan = Plan("country", f"country of {cities} x {cities} cities")
    pitch = (side - 1) * block + apart
    doors = sorted({side // 3, (2 * side) // 3})  # rows and columns whose streets lead on
    n = cities * side
    at = [(k // side) * pitch + (k % side) * block for k in range(n)]
    for r in range(n):
        for c in range(n):
            corner = Corner(f"{r}.{c}", at[c], at[r], "signals")
            corner.offset = round((c % side) * block / STREET[1], 1)
            plan.add_corner(corner)
    for line in range(n):
        for k in range(n - 1):
            within = (k + 1) % side != 0
            if within or line % side in doors:
                lanes, speed = STREET if within else ROAD
                for start, end in (((line, k), (line, k + 1)), ((k, line), (k + 1, line))):
                    names = ("{}.{}".format(*each) for each in (start, end))
                    plan.add_straight(*names, lanes, lanes, speed, priority=4)
    return finish(draft_of(plan))
