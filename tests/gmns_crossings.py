"""A crossing as GMNS tables: four arms of 300 m, two lanes each way, left pockets from west and east.

Node x lies in the middle; link `wx` comes from the west, `xw` goes there. Metres and km/h.
"""

from collections.abc import Callable
from pathlib import Path

from gmns_texts import written

from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network

ARMS = {"w": (-300, 0), "s": (0, -300), "e": (300, 0), "n": (0, 300)}
AROUND = "wsen"  # counter-clockwise: the next arm is on the right of who comes in
CONFIG = "short_length,long_length,speed\nm,m,km/h\n"
NODES = "node_id,x_coord,y_coord,ctrl_type\nx,1000,1000,{}\n" + "".join(
    f"{arm},{1000 + x},{1000 + y},\n" for arm, (x, y) in ARMS.items()
)
LINKS = "link_id,from_node_id,to_node_id,directed,length,free_speed,lanes\n" + "".join(
    f"{arm}x,{arm},x,1,300,50,2\nx{arm},x,{arm},1,300,50,2\n" for arm in ARMS
)
SEGMENTS = "segment_id,link_id,ref_node_id,start_lr,end_lr,l_lanes_added,r_lanes_added\n" + "".join(
    f"p{arm},{arm}x,{arm},220,300,1,\n" for arm in "we"
)
MOVEMENT_COLUMNS = (
    "mvmt_id,node_id,ib_link_id,start_ib_lane,end_ib_lane,ob_link_id,start_ob_lane,end_ob_lane,"
    "type,ctrl_type\n"
)
Turn = tuple[str, str]  # arm, L T or R
TURNS: list[Turn] = [(arm, turn) for arm in ARMS for turn in "LTR"]
NAMES = {"L": "left", "T": "thru", "R": "right"}


def leads_to(arm: str, turn: str) -> str:
    """The arm that a turn from an arm leads to."""
    return AROUND[(AROUND.index(arm) + {"R": 1, "T": 2, "L": 3}[turn]) % 4]


def movement_rows(control: Callable[[str, str], str], left: str = "-1") -> str:
    """All movements: lefts from the pocket (west, east) or lane 1, straight on two lanes, rights."""
    rows = MOVEMENT_COLUMNS
    for arm, turn in TURNS:
        inner = left if arm in "we" else "1"
        lanes = {"L": (inner, "", "1", ""), "T": ("1", "2", "1", "2"), "R": ("2", "", "2", "")}[
            turn
        ]
        ib, ob = ",".join(lanes[:2]), ",".join(lanes[2:])
        rows += (
            f"{arm}{turn},x,{arm}x,{ib},x{leads_to(arm, turn)},{ob},{NAMES[turn]},"
            f"{control(arm, turn)}\n"
        )
    return rows


def tables(control: str = "signal", **more: str) -> dict[str, str]:
    """The tables of the crossing with one control of all its movements; more: others, or changed."""
    return {
        "nodes": NODES.format(""),
        "links": LINKS,
        "config": CONFIG,
        "segment": SEGMENTS,
        "movement": movement_rows(lambda arm, turn: control),
        **more,
    }


def crossing(folder: Path, control: str = "signal", **more: str) -> Network:
    """The network of the crossing."""
    return load_network(written(folder, **tables(control, **more)))


def movements(network: Network, node: str = "x") -> set[tuple[str, str]]:
    """Lanes joined by the connectors of a node."""
    links = network.arrays.connectors
    here = links.intersection == network.intersection_ids.index(node)
    names = network.lane_ids
    pairs = zip(links.from_lane[here].tolist(), links.to_lane[here].tolist(), strict=True)
    return {(names[a], names[b]) for a, b in pairs}


def turn_of(network: Network, connector: int) -> Turn:
    """Arm and turn of a connector of node x."""
    links, road = network.arrays.connectors, network.arrays.lanes.road
    arm = network.road_ids[road[links.from_lane[connector]]][0]
    to = network.road_ids[road[links.to_lane[connector]]][1]
    return arm, next(turn for turn in "LTR" if leads_to(arm, turn) == to)


def at_x(network: Network) -> list[int]:
    """Connectors of node x."""
    here = network.arrays.connectors.intersection == network.intersection_ids.index("x")
    found: list[int] = here.nonzero()[0].tolist()
    return found


# --- eight phases in two rings ------------------------------------------------------------------

# Number, ring, barrier, position, green, and what it serves (the NEMA numbering).
EIGHT = [
    (1, 1, 1, 1, 10, "eL"), (2, 1, 1, 2, 30, "wT wR"), (3, 1, 2, 1, 8, "nL"),
    (4, 1, 2, 2, 20, "sT sR"), (5, 2, 1, 1, 15, "wL"), (6, 2, 1, 2, 20, "eT eR"),
    (7, 2, 2, 1, 12, "sL"), (8, 2, 2, 2, 16, "nT nR"),
]  # fmt: skip
PLAN = "timing_plan_id,controller_id,timeday_id,time_day,cycle_length\nday,c,,11111111_0000_2359,\n"
PHASES = (
    "timing_phase_id,timing_plan_id,signal_phase_num,min_green,max_green,clearance,ring,barrier,"
    "position\n"
)
EIGHT_PHASES = PHASES + "".join(
    f"p{n},day,{n},5,{green},5,{ring},{barrier},{position}\n"
    for n, ring, barrier, position, green, _ in EIGHT
)
SERVED = "signal_phase_mvmt_id,timing_phase_id,mvmt_id,link_id,protection\n"
EIGHT_SERVED = SERVED + "".join(
    f"{n}{name},p{n},{name},,protected\n" for n, *_, names in EIGHT for name in names.split()
)


def eight_phases(**more: str) -> dict[str, str]:
    """Tables of a controller of eight phases; more: others, or changed."""
    return {
        "signal_controller": "controller_id\nc\n",
        "signal_timing_plan": PLAN,
        "signal_timing_phase": EIGHT_PHASES,
        "signal_phase_mvmt": EIGHT_SERVED,
        **more,
    }
