"""Every parameter of a run: name, unit, default, range, source and what it does.

Names are `group.field`. The groups `car`, `van`, `truck`, `bus` and `motorcycle` are the built-in
vehicle types; vehicle types read from a file keep the file's own values.
"""

from dataclasses import dataclass
from typing import Final

Value = float | int | bool | str

POLICIES: Final = ("fair", "fifo", "literal")  # places are kernels.core.rules.POLICY_FAIR ...
GRIDLOCK_POLICIES: Final = ("reroute", "rotate", "none", "teleport")
ROUTINGS: Final = ("current", "free-flow")
CONTROLS: Final = ("program", "fixed", "actuated", "max_pressure")
MODELS: Final = ("idm", "krauss")
TYPE_NAMES: Final = ("car", "van", "truck", "bus", "motorcycle")
CLASS_OF_TYPE: Final = {
    "car": "passenger",
    "van": "delivery",
    "truck": "truck",
    "bus": "bus",
    "motorcycle": "motorcycle",
}


@dataclass(frozen=True)
class Parameter:
    """One row of the table. choices: the words allowed, for a parameter that is a word."""

    name: str
    unit: str
    default: Value
    low: float
    high: float
    source: str
    description: str
    choices: tuple[str, ...] = ()

    @property
    def wanted(self) -> str:
        """The range in words."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if isinstance(self.default, bool):
            return "true or false"
        kind = "a whole number from " if isinstance(self.default, int) else ""
        unit = f" {self.unit}" if self.unit else ""
        return f"{kind}{self.low:g} to {self.high:g}{unit}"


_ROW = "right-of-way measurements"
_HCM = "HCM 7, ch. 20: capacities"
_ACTUATED = "SUMO's default"
_MOBIL = "MOBIL (Kesting, Treiber, Helbing 2007)"

_GENERAL: Final = (
    Parameter("right_of_way.stop_offset", "m", 0.3, 0.0, 3.0, _ROW,
              "distance from the front bumper to the stop line at rest"),
    Parameter("right_of_way.stop_braking", "m/s^2", 2.5, 0.5, 9.0, "comfortable braking",
              "deceleration before a stop sign, at most, unless one moves up in a queue"),
    Parameter("right_of_way.green_reaction", "s", 1.5, 0.0, 5.0, "start-up loss 1.6 s",
              "reaction of the head of a queue when the light turns green; when given, also of types whose "
              "file says another"),
    Parameter("right_of_way.stop_reaction", "s", 0.6, 0.0, 5.0, "HCM 7, ch. 21: capacities",
              "standing time at a stop sign before a granted vehicle goes"),
    Parameter("right_of_way.reaction_spread", "", 0.5, 0.0, 0.9, _ROW,
              "share by which the stop reaction varies between vehicles"),
    Parameter("right_of_way.margin_all_way", "s", 2.5, 0.0, 10.0, "HCM 7, ch. 21: capacities",
              "time between a vehicle leaving a conflict zone and the next one entering it, "
              "all-way stop"),
    Parameter("right_of_way.margin_stop", "s", 0.5, 0.0, 10.0, _ROW, "the same, two-way stop"),
    Parameter("right_of_way.margin_yield", "s", 0.5, 0.0, 10.0, _ROW, "the same, yield sign"),
    Parameter("right_of_way.margin_unposted", "s", 1.5, 0.0, 10.0, "SUMO: one crossing by itself",
              "the same, where no sign is posted and no road goes first: right before left"),
    Parameter("right_of_way.margin_signal", "s", 1.0, 0.0, 10.0, _ROW, "the same, signal"),
    Parameter("right_of_way.gap_left", "s", 5.9, 1.0, 15.0, _HCM,
              "critical gap of a left turn at a stop sign"),
    Parameter("right_of_way.gap_straight", "s", 5.9, 1.0, 15.0, _HCM,
              "critical gap for crossing at a stop sign"),
    Parameter("right_of_way.gap_right", "s", 4.4, 1.0, 15.0, _HCM,
              "critical gap of a right turn at a stop sign"),
    Parameter("right_of_way.gap_yield_left", "s", 9.2, 1.0, 15.0, _HCM,
              "critical gap of a left turn at a yield sign, and where nothing is posted"),
    Parameter("right_of_way.gap_yield_straight", "s", 6.8, 1.0, 15.0, _HCM,
              "the same, for crossing"),
    Parameter("right_of_way.gap_yield_right", "s", 9.2, 1.0, 15.0, _HCM,
              "the same, of a right turn"),
    Parameter("right_of_way.gap_major_left", "s", 3.4, 1.0, 15.0, _HCM,
              "critical gap of a left turn from the road that goes first"),
    Parameter("right_of_way.gap_yield", "s", 3.2, 1.0, 15.0, "HCM 7, ch. 22",
              "critical gap at a roundabout entry, and on a ramp that gives way"),
    Parameter("right_of_way.gap_permissive", "s", 3.7, 1.0, 15.0, "HCM 7, ch. 31",
              "critical gap of a left turn against oncoming green"),
    Parameter("right_of_way.overtake_limit", "", 2, 0, 100, _ROW,
              "times a waiting vehicle may be overtaken by conflicting ones at an all-way stop"),
    Parameter("right_of_way.all_way_policy", "", "fair", 0, 0, _ROW,
              "order at an all-way stop: fair (conflict-aware, overtaken at most overtake_limit "
              "times), fifo (conflict-aware, strict), literal (one vehicle at a time)", POLICIES),
    Parameter("right_of_way.queue_gap", "m", 3.0, 0.5, 10.0, _ROW,
              "room reserved on an exit lane beyond each vehicle's length"),
    Parameter("gridlock.change_mind_after", "s", 30.0, 1.0, 3600.0, _ROW,
              "time a head faces a full exit before it chooses again"),
    Parameter("gridlock.turn_off_after", "s", 0.0, 0.0, 3600.0, "choice",
              "time a random walker faces a full exit before it takes another one that has room"),
    Parameter("gridlock.turn_across_after", "s", 20.0, 1.0, 3600.0, "choice",
              "time a driver stands at the end of a lane that does not lead its way, and cannot "
              "change lane, before it turns from there across the next lanes"),
    Parameter("gridlock.change_mind_share", "", 1.0, 0.0, 1.0, _ROW,
              "share of these heads that choose again, drawn anew after each such time; 0: nobody"),
    Parameter("gridlock.keep_routes", "", False, 0, 1, "choice",
              "true forbids changing a route on the way"),
    Parameter("gridlock.wait_for_period", "s", 10.0, 1.0, 600.0, _ROW,
              "time between two searches for rings of lanes that wait for each other"),
    Parameter("gridlock.policy", "", "reroute", 0, 0, _ROW,
              "what resolves a ring: reroute (its heads choose again, then rotate), rotate (its "
              "heads move on together), none, teleport (a head is removed, as SUMO does)",
              GRIDLOCK_POLICIES),
    Parameter("gridlock.act_after", "s", 20.0, 0.0, 3600.0, _ROW,
              "time a ring stands before the policy acts on it"),
    Parameter("closures.patience", "s", 300.0, 0.0, 1e9, "choice",
              "time after which a driver whom closed roads leave no way ends its trip where it stands, "
              "unless an opening comes within as long from then; 1e9: it waits for ever"),
    Parameter("passing.allowed", "", True, 0, 1, "choice",
              "false: nobody passes on a road with one lane in its direction"),
    Parameter("passing.oncoming", "", True, 0, 1, "choice",
              "false: passing on such a road only where its lane is wide enough for two"),
    Parameter("passing.gain", "m/s", 3.0, 1.0, 30.0, "choice",
              "difference from the desired speed at which somebody ahead is passed there"),
    Parameter("routing.choice", "", "current", 0, 0, "SUMO's default",
              "by which times trips without a route choose their way: current (as they depart, by those of "
              "the traffic then), free-flow (on empty roads)", ROUTINGS),
    Parameter("rerouting.fraction", "", 0.0, 0.0, 1.0, "choice",
              "share of the drivers that look at current travel times on their way"),
    Parameter("rerouting.period", "s", 60.0, 1.0, 86400.0, "choice",
              "time between two looks of one driver, the first when it departs"),
    Parameter("rerouting.smoothing", "s", 30.0, 1.0, 3600.0, "choice",
              "time constant of the exponential average of what a road carries"),
    Parameter("rerouting.gain", "", 0.05, 0.0, 1.0, "choice",
              "share of the time ahead that another way must save to be taken"),
    Parameter("lane_change.gain", "m/s^2", 0.3, 0.0, 5.0, _MOBIL,
              "acceleration that a discretionary lane change must bring"),
    Parameter("lane_change.politeness", "", 0.2, 0.0, 1.0, _MOBIL,
              "weight of what both followers gain or lose"),
    Parameter("lane_change.keep_right_bias", "m/s^2", 0.0, 0.0, 5.0, _MOBIL,
              "asks for less gain to the right, for more to the left; above `gain`, who has a choice "
              "keeps right (left in left-hand traffic)"),
    Parameter("lane_change.pause", "s", 3.0, 0.0, 60.0, "choice",
              "least time between two lane changes of one vehicle"),
    Parameter("lane_change.time", "s", 3.0, 0.5, 20.0, "choice",
              "time that the lateral movement takes"),
    Parameter("lane_change.safe_braking", "m/s^2", 4.0, 0.5, 9.0, _MOBIL,
              "greatest deceleration forced on a new follower"),
    Parameter("curve.braking", "m/s^2", 2.0, 0.5, 9.0, "comfortable braking",
              "deceleration before bends, lower limits and lines"),
    Parameter("curve.lateral_acceleration", "m/s^2", 3.5, 0.5, 9.0, "AASHTO side friction .35 below 30 km/h",
              "sideways acceleration that sets the speed in bends, where a map does not say"),
    Parameter("signals.control", "", "program", 0, 0, "choice",
              "when phases end: program (as the network says), fixed (by the clock), actuated "
              "(fixed programs with several greens react to detectors, too), max_pressure (the "
              "green with the longest queues before it and the shortest behind it)", CONTROLS),
    Parameter("signals.min_green", "s", 5.0, 1.0, 120.0, _ACTUATED,
              "least green of programs that react by signals.control"),
    Parameter("signals.max_green", "s", 50.0, 1.0, 600.0, _ACTUATED,
              "greatest green of programs made actuated"),
    Parameter("signals.max_gap", "s", 3.0, 0.1, 60.0, _ACTUATED,
              "time without a vehicle at any detector that ends a green of programs made actuated"),
    Parameter("signals.detector_gap", "s", 2.0, 0.1, 10.0, _ACTUATED,
              "time of travel from detector to stop line, at most (min_green / 2 s + 0.5) x 7.5 m"),
    Parameter("signals.max_pressure_period", "s", 10.0, 1.0, 600.0, "Varaiya 2013",
              "time between two choices of a green under max pressure"),
    Parameter("signals.yellow", "s", 3.0, 0.0, 20.0, "choice",
              "yellow of changes by command where the program has none of its own"),
    Parameter("signals.all_red", "s", 1.0, 0.0, 20.0, "choice",
              "red of changes by command where the program has no yellow of its own"),
    Parameter("steered.share", "", 0.0, 0.0, 1.0, "choice",
              "share of the vehicles that have a body with wheels and steer it along their lanes"),
    Parameter("steered.most", "", 1_000_000_000, 0, 1_000_000_000, "choice",
              "steered vehicles at once, at most; who departs while there are as many is not"),
    Parameter("steered.budget", "", 1_000_000_000, 0, 1_000_000_000, "choice",
              "vehicles that a rule (steer_where) steers at once, at most: the nearest to its center"),
    Parameter("steered.bodies", "", False, 0, 1, "choice",
              "true: vehicles may be given bodies on the way, also with a share of 0 (set_tier)"),
    Parameter("quota.steered", "", 1_000_000_000, 0, 1_000_000_000, "choice",
              "steered vehicles at once, at most; who finds no place waits for one (docs/profiling.md)"),
    Parameter("quota.lanes", "", 1_000_000_000, 0, 1_000_000_000, "choice",
              "vehicles that look for a better lane in a frame without need, at most"),
    Parameter("quota.routing", "", 1_000_000_000, 1, 1_000_000_000, "choice",
              "drivers that look for another way in a frame, at most; the others wait their turn"),
    Parameter("quota.wait_for", "", 1_000_000_000, 1, 1_000_000_000, "choice",
              "lanes on which a frame looks for who is stuck, and for rings, at most"),
    Parameter("quota.vehicles", "", 1_000_000_000, 0, 1_000_000_000, "choice",
              "vehicles on the road at once, at most; trips wait outside for a place"),
    Parameter("following.model", "", "idm", 0, 0, "Treiber et al. 2000; Krauss 1998",
              "car-following model; when given, also of vehicles whose file says another", MODELS),
)  # fmt: skip

# Field of a vehicle type: unit, low, high, description.
_TYPE_FIELDS: Final[dict[str, tuple[str, float, float, str]]] = {
    "length": ("m", 0.5, 18.0, "length"),
    "width": ("m", 0.3, 3.0, "width"),
    "min_gap": ("m", 0.1, 20.0, "gap at standstill, bumper to bumper"),
    "accel": ("m/s^2", 0.1, 20.0, "acceleration"),
    "decel": ("m/s^2", 0.1, 20.0, "comfortable deceleration"),
    "emergency_decel": ("m/s^2", 1.0, 20.0, "strongest deceleration"),
    "time_gap": ("s", 0.1, 10.0, "desired time gap, bumper to bumper"),
    "max_speed": ("m/s", 0.5, 100.0, "top speed"),
    "speed_factor": ("", 0.1, 5.0, "mean ratio of desired speed to the limit"),
    "speed_dev": ("", 0.0, 1.0, "standard deviation of that ratio"),
    "speed_factor_min": ("", 0.05, 5.0, "least ratio drawn"),
    "speed_factor_max": ("", 0.05, 5.0, "greatest ratio drawn"),
    "sigma": ("", 0.0, 1.0, "driver's imperfection, Krauss model only"),
}

_D7 = "saturation flow 1,900 veh/h/lane"
_SUMO = "SUMO default of the class"
_COMMON: Final = {
    "min_gap": 2.0, "speed_factor": 1.0, "speed_dev": 0.1, "speed_factor_min": 0.2,
    "speed_factor_max": 2.0, "sigma": 0.0, "emergency_decel": 9.0,
}  # fmt: skip
_TYPES: Final[dict[str, dict[str, float]]] = {
    "car": _COMMON | {
        "length": 5.0, "width": 1.8, "accel": 2.5, "decel": 2.5, "time_gap": 1.0,
        "max_speed": 55.0,
    },
    "van": _COMMON | {
        "length": 6.5, "width": 2.16, "accel": 2.0, "decel": 2.5, "time_gap": 1.1,
        "max_speed": 45.0, "speed_dev": 0.05,
    },
    "truck": _COMMON | {
        "length": 12.0, "width": 2.5, "accel": 1.1, "decel": 2.0, "time_gap": 1.5,
        "max_speed": 25.0, "speed_dev": 0.05, "emergency_decel": 7.0, "min_gap": 2.5,
    },
    "bus": _COMMON | {
        "length": 12.0, "width": 2.5, "accel": 1.2, "decel": 2.0, "time_gap": 1.3,
        "max_speed": 23.6, "speed_dev": 0.05, "emergency_decel": 7.0, "min_gap": 2.5,
    },
    "motorcycle": _COMMON | {
        "length": 2.2, "width": 0.9, "accel": 3.5, "decel": 3.0, "time_gap": 1.0,
        "max_speed": 55.0, "emergency_decel": 10.0,
    },
}  # fmt: skip


def _of_types() -> tuple[Parameter, ...]:
    rows = []
    for name, values in _TYPES.items():
        for field, (unit, low, high, what) in _TYPE_FIELDS.items():
            dynamic = field in ("min_gap", "accel", "decel", "time_gap")
            sized = field in ("length", "width", "max_speed", "speed_dev")
            if name == "car" and dynamic:
                source = _D7
            else:
                source = _SUMO if sized and name != "truck" else "choice"
            rows.append(
                Parameter(f"{name}.{field}", unit, values[field], low, high, source,
                          f"{what} of a {name}")
            )  # fmt: skip
    return tuple(rows)


TYPE_FIELDS: Final = tuple(_TYPE_FIELDS)
TABLE: Final[dict[str, Parameter]] = {row.name: row for row in _GENERAL + _of_types()}
