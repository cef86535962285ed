"""What SUMO's demand files may ask and traffic here does not do: elements, attributes, params, words.

Each is refused by name, unless its value asks for what is done anyway; who wants to run without it
names it to be ignored, which is remarked. What changes no vehicle's way is let be. The parameters of
SUMO's lane-change model (lc...) are told first: they weigh motives that drivers here do not have.
"""

from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from typing import Final

from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.traffic.sumo.wishes import DEVICES, meets

# Elements that move somebody, close something or change signals, and that nothing here follows.
ELEMENTS: Final = (
    "calibrator", "vaporizer", "person", "personFlow", "container", "containerFlow", "WAUT",
    "destProbReroute", "routeProbReroute", "viaProbReroute",
)  # fmt: skip
_OLD_MODELS: Final = "carFollowing-"  # <carFollowing-Krauss .../> inside a type
# By element; values that ask for what is done anyway, as in `options`: words, or a comparison.
_OF_VEHICLES: Final[Mapping[str, tuple[str, ...]]] = {
    "arrivalLane": ("current",), "arrivalSpeed": ("current",), "insertionChecks": ("all",),
    "reroute": ("false",), "speedFactor": (), "fromJunction": (), "toJunction": (),
    "viaJunctions": (), "fromXY": (), "toXY": (), "viaXY": (), "fromLonLat": (), "toLonLat": (),
    "viaLonLat": (),
}  # fmt: skip
ATTRIBUTES: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "vehicle": _OF_VEHICLES, "trip": _OF_VEHICLES, "flow": _OF_VEHICLES,
    "vType": {
        "apparentDecel": (), "desiredMaxSpeed": (), "laneChangeModel": ("default", "lc2013"),
        "actionStepLength": ("<=0",), "speedFactorPremature": ("<=0",), "impatience": ("=0",),
        "jmDriveAfterYellowTime": ("<0",), "jmDriveAfterRedTime": ("<0",),
        "jmIgnoreKeepClearTime": ("<0",), "jmIgnoreFoeProb": ("=0",),
        "jmIgnoreJunctionFoeProb": ("=0",), "jmSigmaMinor": ("=0",), "jmStoplineGap": ("=1",),
        "jmStoplineGapMinor": ("=1",), "jmStoplineCrossingGap": ("=1",), "jmTimegapMinor": ("=1",),
        "jmExtraGap": ("=0",), "jmStopSignWait": ("=1",), "jmAllwayStopWait": ("=0",),
        "jmAdvance": (), "delta": ("=4",), "adaptFactor": (), "adaptTime": (),
    },
    "vTypeDistribution": {"deterministic": ("<0",)},
    "stop": {
        "parkingArea": (), "chargingStation": (), "containerStop": (), "overheadWireSegment": (),
        "edge": (), "x": (), "y": (), "lon": (), "lat": (), "triggered": ("false",),
        "containerTriggered": ("false",), "speed": ("<=0",), "extension": ("<=0",), "index": ("end",),
        "jump": ("<0",), "jumpUntil": ("<0",), "split": ("",), "join": ("",), "onDemand": ("false",),
        "collision": ("false",), "ended": (), "started": (),
    },
    "rerouter": {"probability": (">=1",), "vTypes": ("",), "timeThreshold": ("<=0",)},
    "closingReroute": {"allow": (), "disallow": ()},
    "closingLaneReroute": {"allow": (), "disallow": ()},
    "variableSpeedSign": {"vTypes": ("",)},
}  # fmt: skip
DEPARTS: Final = ("triggered", "containerTriggered", "split")  # words of `depart`
OPPORTUNISTIC: Final = "opportunistic"  # a word of a stop's `parking`
# Attributes that are read, of which some values are refused.
VALUES: Final = ("carFollowModel", "length", "type")
# Looks, reports, people aboard, what counts only with something else that is refused, and what only
# models other than Krauss's and IDM have.
QUIET: Final = (
    "color", "guiShape", "imgFile", "osgFile", "emissionClass", "name", "line", "lines", "height",
    "personCapacity", "personNumber", "containerCapacity", "containerNumber", "mass", "shape",
    "boardingDuration", "loadingDuration", "parkingBadges", "manoeuverAngleTimes", "modes",
    "collisionMinGapFactor", "timeToTeleportBidi", "locomotiveLength",
    "carriageLength", "carriageGap", "carriageDoors", "carriageDoorWidth", "frontSeatPos",
    "seatingWidth", "jmDriveRedSpeed", "jmIgnoreFoeSpeed", "jmCrossingGap", "calibrator", "fill",
    "center", "angle", "friendlyPos", "parkingLength", "posLat", "expected", "expectedContainers",
    "permitted", "actType", "tripId", "priority", "group", "pos", "radius", "optional",
    # What SUMO and its routers write of a run, and what only counts with lateral-resolution.
    "arrival", "cost", "savings", "exitTimes", "routeLength", "departPosLat", "arrivalPosLat",
    "latAlignment", "maxSpeedLat", "minGapLat", "lcSublane", "lcPushy", "lcPushyGap", "lcImpatience",
    "lcTimeToImpatience", "lcAccelLat", "lcLaneDiscipline", "lcMaxSpeedLatStanding",
    "lcMaxSpeedLatFactor", "lcMaxDistLatStanding", "replacedOnEdge", "replacedAtTime", "reason",
    "replacedAtIndex", "speedRelative", "stepping", "tpreview", "tmp1", "tmp2", "tmp3", "tmp4", "tmp5",
    "security", "estimation", "trainType", "cc1", "cc2",
)  # fmt: skip
_LANE_CHANGING: Final = "lc"  # SUMO's lane-change model, whose weights have no counterpart
# Params that SUMO looks at: which devices somebody has, and values of models under other names.
_MODELS: Final = ("junctionModel.", "laneChangeModel.", "carFollowModel.")
_DEVICES: Final = ("rerouting", *DEVICES)


def check_elements(ignored: Collection[str], where: str) -> None:
    """Check what is to be ignored of demand files alone. Raises DemandError for other names."""
    for name in ignored:
        if not is_asked(name):
            near = get_close_matches(name, list(_names()), n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise DemandError(
                f"{where}: --ignore-options {name[:60]}: wanted an option of a .sumocfg, or what demand "
                f"files ask and nothing here follows, as calibrator or speedFactor{hint}"
            )


def is_asked(name: str) -> bool:
    """Whether demand files may ask for this and be refused."""
    return name in _names() or name.startswith((*_MODELS, _OLD_MODELS))


def want_ignored(
    name: str, what: str, where: str, ignored: Collection[str], remarks: Remarks
) -> None:
    """Refuse what a demand file asks and nothing follows, unless its name is ignored: then remark it.

    what: it with its value, for the message.
    """
    if name not in ignored:
        raise DemandError(
            f"{where}: {what} would change the traffic and is not followed here; take it out, or run "
            f"without it by --ignore-options {name}"
        )
    remarks.add(f"{name} is ignored, as was asked", differs=True)


def check_element(tag: str, known: Collection[str], where: str, remarks: Remarks) -> None:
    """Remark an element that nothing here reads. Raises DemandError for nearly the name of another."""
    near = get_close_matches(tag, [*known, *ELEMENTS], n=1, cutoff=0.85)
    if near:
        raise DemandError(f"{where}: <{tag[:40]}> is none of SUMO's; did you mean <{near[0]}>?")
    remarks.add(f"<{tag[:40]}> is not read")


def check_attributes(
    tag: str,
    attributes: Mapping[str, str],
    known: AbstractSet[str],
    where: str,
    ignored: Collection[str],
    remarks: Remarks,
) -> None:
    """Look through the attributes of an element that are not read.

    known: those that are read. Raises DemandError for one that is not followed (`want_ignored`), and
    for one that SUMO does not have and that is nearly the name of another.
    """
    refused = ATTRIBUTES.get(tag, {})
    for name in sorted(attributes.keys() - known):
        value, of = attributes[name], f"attribute {name[:40]!r} of <{tag}>"
        if name in refused:
            if not any(meets(value.strip(), wish) for wish in refused[name]):
                want_ignored(name, f"{of}, {value[:40]!r},", where, ignored, remarks)
        elif name in QUIET or name.startswith(("xmlns", "xsi:")):
            remarks.add("attributes that leave traffic as it is are not read", name)
        elif name == "timeToTeleport":
            remarks.add("nobody is teleported, whatever a type says", value, differs=True)
        elif name.startswith(_LANE_CHANGING) and name[2:3].isupper():
            told = (
                "weights of SUMO's lane-change model, that drivers here do not have, are not used"
            )
            remarks.add(told, name, differs=True)
        else:
            near = get_close_matches(name, [*known, *refused], n=1, cutoff=0.8)
            if near:
                raise DemandError(f"{where}: {of} is none of SUMO's; did you mean {near[0]}?")
            remarks.add(f"{of} is none of SUMO's and not read")


def check_param(
    attributes: Mapping[str, str], where: str, ignored: Collection[str], remarks: Remarks
) -> None:
    """Refuse a <param> by which SUMO would drive somebody otherwise; the rest are users' own."""
    key, value = attributes.get("key", ""), attributes.get("value", "")
    has = [key == name and not meets(value, "false") for name in _device_params()]
    if key.startswith(_MODELS) or any(has):
        want_ignored(key, f"<param> {key[:60]!r}, {value[:40]!r},", where, ignored, remarks)


def is_refused_element(tag: str) -> bool:
    """Whether an element would move somebody, close something or change signals."""
    return tag in ELEMENTS or tag.startswith(_OLD_MODELS)


def _device_params() -> Iterator[str]:
    return (f"has.{device}.device" for device in _DEVICES)


def _names() -> set[str]:
    return {
        *ELEMENTS, *DEPARTS, OPPORTUNISTIC, *VALUES, *(name for of in ATTRIBUTES.values() for name in of),
        *_device_params(),
    }  # fmt: skip
