"""SUMO's options: which are taken, which leave traffic as it is, and which no traffic here follows.

Every option of SUMO 1.28 (`sumo --save-template`) is in one of the tables. One that would change what
vehicles do, and that nothing here does, is refused by name unless its value asks for what is done
anyway; who wants to run without it names it to be ignored, which is remarked.
"""

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Final

from rushhour.roadnets.errors import DemandError
from rushhour.traffic.sumo.asked import is_asked
from rushhour.traffic.sumo.wishes import DEVICES, FALSE, meets

SHORT: Final = {
    "c": "configuration-file", "configuration": "configuration-file", "n": "net-file",
    "net": "net-file", "r": "route-files", "routes": "route-files", "a": "additional-files",
    "additional": "additional-files", "b": "begin", "e": "end", "v": "verbose", "S": "start",
    "Q": "quit-on-end", "W": "no-warnings", "w": "weight-files", "x": "weight-attribute",
    "l": "log", "g": "gui-settings-file", "G": "game", "d": "delay", "X": "xml-validation",
    "C": "save-configuration", "p": "print-options", "?": "help", "V": "version", "H": "human-readable-time",
}  # fmt: skip

# Options that say what vehicles do whose file does not, and the attributes that would.
DEFAULTS: Final = {"default.departspeed": "departSpeed", "default.departlane": "departLane"}
# Taken: by the reader of configurations and by traci.start.
TAKEN: Final = (
    "configuration-file", "net-file", "route-files", "additional-files", "begin", "end",
    "step-length", "seed", "random", "scale", "scale-suffix", "ignore-route-errors",
    "device.rerouting.probability", "device.rerouting.period", "waiting-time-memory",
    "tripinfo-output", "tripinfo-output.write-unfinished", "tripinfo-output.write-undeparted",
    "time-to-teleport", *DEFAULTS,
)  # fmt: skip
# Vehicles stand until there is room: SUMO lets them jump ahead. Told first, never refused.
TELEPORTS: Final = (
    "time-to-teleport.highways", "time-to-teleport.disconnected", "time-to-teleport.remove",
    "time-to-teleport.ride", "time-to-teleport.bidi", "time-to-teleport.railsignal-deadlock",
    "time-to-teleport.highways.min-speed", "time-to-teleport.remove-constraint",
)  # fmt: skip
# Files that SUMO writes beside the traffic.
OUTPUTS: Final = (
    "netstate-dump", "emission-output", "battery-output", "elechybrid-output",
    "chargingstations-output", "overheadwiresegments-output", "substations-output", "fcd-output",
    "person-fcd-output", "full-output", "queue-output", "vtk-output", "amitran-output",
    "summary-output", "person-summary-output", "personinfo-output", "vehroute-output",
    "personroute-output", "link-output", "railsignal-block-output", "railsignal-vehicle-output",
    "bt-output", "lanechange-output", "stop-output", "collision-output", "edgedata-output",
    "lanedata-output", "statistic-output", "deadlock-output", "save-state.times",
    "save-state.period", "save-state.files", "device.ssm.file", "device.toc.file",
    "device.rerouting.output", "log", "message-log", "error-log", "save-configuration",
    "save-template", "save-schema",
)  # fmt: skip
# What changes no vehicle's way: reports, drawing, speed of computing, people, rails, energy, what
# happens after collisions (there are none), and what only counts with an option that is refused.
QUIET: Final = (
    "save-commented", "weight-attribute", "write-license", "write-metadata", "precision",
    "human-readable-time", "threads", "route-steps", "ignore-accidents", "keep-after-arrival",
    "max-num-persons", "max-num-teleports", "startup-wait-threshold", "sloppy-insert",
    "eager-insert", "slope-centered", "routing-algorithm", "replay-rerouting", "verbose",
    "print-options", "help", "version", "no-warnings", "aggregate-warnings", "language",
    "duration-log", "no-step-log", "step-log", "remote-port", "num-clients", "thread-rngs",
    "gui-settings-file", "quit-on-end", "game", "start", "delay", "breakpoints", "edgedata-files",
    "alternative-net-file", "selection-file", "demo", "disable-textures", "registry-viewport",
    "window-size", "window-pos", "tracker-interval", "gui-testing", "gui-testing-debug",
    "step-method.ballistic", "device.rerouting.threads", "device.rerouting.synchronize",
    "device.rerouting.deterministic", "device.rerouting.bike-speeds",
    "device.rerouting.railsignal", "tls.actuated.show-detectors", "emergencydecel.warning-threshold",
    "load-state.offset", "load-state.remove-vehicles", "tls.delay_based.detector-range",
)  # fmt: skip
_QUIET_FAMILIES: Final = (
    "collision.", "intermodal-collision.", "pedestrian.", "persontrip.", "ride.", "person-device.",
    "railsignal", "railway.", "overhead-wire.", "mapmatch.", "xml-validation", "astar.", "log.",
    "emissions.", "phemlight-", "output", "precision.", "duration-log.", "step-log.", "game.",
    "gui-testing.", "save-configuration.", "save-template.", "save-state.", "device.emissions.",
    "device.btreceiver.", "device.btsender.", "device.battery.", "device.example.", "device.ssm.",
    "device.fcd.", "device.elechybrid.", "device.tripinfo.", "device.vehroute.",
    "device.rerouting.cch-", *(f"{name}." for name in OUTPUTS),
)  # fmt: skip
# With values that ask for what is done anyway: words, or a comparison with a number.
_ONLY: Final[Mapping[str, tuple[str, ...]]] = {
    "weight-files": ("",), "load-state": ("",), "junction-taz": ("false",),
    "extrapolate-departpos": ("false",), "lateral-resolution": ("<=0",),
    "no-internal-links": ("false",), "ignore-junction-blocker": ("<0",),
    "max-num-vehicles": ("<0",), "max-depart-delay": ("<0", ">=86400"),
    "emergency-insert": ("false",), "insertion-checks": ("all",), "random-depart-offset": ("<=0",),
    "lanechange.duration": ("<=0",), "lanechange.overtake-right": ("false",),
    "tls.all-off": ("false",), "tls.actuated.jam-threshold": ("<=0",),
    "tls.actuated.detector-length": ("<=0",), "tls.yellow.min-decel": ("=3",),
    "time-to-impatience": ("=180",), "default.action-step-length": ("<=0",),
    "default.carfollowmodel": ("krauss",), "default.speeddev": ("<0", "=0.1"),
    "default.emergencydecel": ("default",), "parking.maneuver": ("false",),
    "use-stop-ended": ("false",), "use-stop-started": ("false",),
    "weights.turnaround-penalty": ("=5",), "weights.reversal-penalty": ("=60",),
    "weights.random-factor": ("=1",), "weights.random-factor.dynamic": ("false",),
    "weights.minor-penalty": ("=1.5",), "weights.tls-penalty": ("=0",),
    "weights.priority-factor": ("=0",), "weights.separate-turns": ("=0",),
    "device.rerouting.explicit": ("",), "device.rerouting.pre-period": (">0",),
    "device.rerouting.adaptation-weight": ("=0",), "device.rerouting.adaptation-steps": ("=180",),
    "device.rerouting.adaptation-interval": ("=1",), "device.rerouting.threshold.factor": ("=1",),
    "device.rerouting.threshold.constant": ("=0",), "device.rerouting.invalidation": ("false",),
    "device.rerouting.with-taz": ("false",), "device.rerouting.mode": ("=0",),
    "device.rerouting.init-with-loaded-weights": ("false",), "mesosim": ("false",),
}  # fmt: skip
# Options that are yes or no, and may stand without a value.
SWITCHES: Final = (
    "save-configuration.relative", "junction-taz", "write-license", "write-metadata",
    "human-readable-time", "netstate-dump.empty-edges", "emission-output.geo",
    "emission-output.step-scaled", "elechybrid-output.aggregated",
    "chargingstations-output.aggregated", "chargingstations-output.aggregated.write-unfinished",
    "fcd-output.geo", "fcd-output.utm", "fcd-output.signals", "fcd-output.distance",
    "fcd-output.acceleration", "fcd-output.speed-relative", "fcd-output.skip-empty",
    "queue-output.skip-empty", "tripinfo-output.write-unfinished",
    "tripinfo-output.write-undeparted", "vehroute-output.exit-times",
    "vehroute-output.last-route", "vehroute-output.sorted", "vehroute-output.dua",
    "vehroute-output.cost", "vehroute-output.intended-depart", "vehroute-output.route-length",
    "vehroute-output.write-unfinished", "vehroute-output.skip-ptlines",
    "vehroute-output.incomplete", "vehroute-output.stop-edges", "vehroute-output.speedfactor",
    "vehroute-output.internal", "lanechange-output.started", "lanechange-output.ended",
    "lanechange-output.xy", "stop-output.write-unfinished", "save-state.rng",
    "save-state.transportables", "save-state.constraints", "pedestrian.jupedsim.wkt.geo",
    "step-method.ballistic", "extrapolate-departpos", "no-internal-links", "ignore-route-errors",
    "ignore-accidents", "collision.check-junctions", "time-to-teleport.remove",
    "time-to-teleport.remove-constraint", "sloppy-insert", "eager-insert", "emergency-insert",
    "lanechange.overtake-right", "tls.all-off", "tls.actuated.show-detectors",
    "railsignal-moving-block", "slope-centered", "overhead-wire.solver",
    "overhead-wire.recuperation", "overhead-wire.substation-current-limits", "parking.maneuver",
    "use-stop-ended", "use-stop-started", "pedestrian.striping.legacy-departposlat",
    "mapmatch.junctions", "mapmatch.taz", "weights.random-factor.dynamic",
    "persontrip.ride-public-line", "replay-rerouting", "device.rerouting.deterministic",
    "device.rerouting.invalidation", "device.rerouting.with-taz",
    "device.rerouting.init-with-loaded-weights", "device.rerouting.synchronize",
    "device.rerouting.railsignal", "device.rerouting.bike-speeds",
    "person-device.rerouting.deterministic", "verbose", "print-options", "help", "version",
    "no-warnings", "log.timestamps", "log.processid", "duration-log.disable",
    "duration-log.statistics", "no-step-log", "emissions.volumetric-fuel",
    "device.emissions.deterministic", "device.btreceiver.deterministic",
    "device.btreceiver.all-recognitions", "device.btsender.deterministic",
    "person-device.btsender.deterministic", "person-device.btreceiver.deterministic",
    "device.stationfinder.deterministic", "device.stationfinder.checkEnergyForRoute",
    "device.battery.deterministic", "device.battery.track-fuel", "device.example.deterministic",
    "device.ssm.deterministic", "device.ssm.trajectories", "device.ssm.geo",
    "device.ssm.write-positions", "device.ssm.write-lane-positions", "device.ssm.write-na",
    "device.toc.deterministic", "device.toc.mrmKeepRight", "device.toc.useColorScheme",
    "device.driverstate.deterministic", "device.bluelight.deterministic",
    "device.fcd.deterministic", "person-device.fcd.deterministic",
    "device.elechybrid.deterministic", "device.taxi.deterministic", "device.glosa.deterministic",
    "device.glosa.use-queue", "device.glosa.override-safety", "device.glosa.ignore-cfmodel",
    "device.tripinfo.deterministic", "device.vehroute.deterministic",
    "device.friction.deterministic", "device.fcd-replay.deterministic", "mesosim", "meso-ltm",
    "meso-multi-queue", "meso-lane-queue", "meso-junction-control",
    "meso-junction-control.limited", "meso-overtaking", "meso-interpolate-pos", "random",
    "quit-on-end", "game", "start", "demo", "disable-textures", "registry-viewport",
    "gui-testing", "gui-testing-debug",
)  # fmt: skip
_TRUE: Final = ("true", "1", "yes", "on", "t", "x")


def switched(value: str) -> bool:
    """A switch's value. Raises ValueError for a word that is neither yes nor no."""
    word = value.strip().lower()
    if word not in (*_TRUE, *FALSE):
        raise ValueError(word)
    return word in _TRUE


def is_known(name: str) -> bool:
    """Whether SUMO has an option."""
    return name in (*TAKEN, *TELEPORTS, *OUTPUTS, *QUIET, *_ONLY) or (
        name.startswith((*_QUIET_FAMILIES, *_meso_and_devices()))
    )


def check_options(
    given: Mapping[str, str], where: str, ignored: Collection[str] = ()
) -> tuple[list[str], list[str]]:
    """Look through options by full name: (files that are not written, options that are ignored).

    ignored: names of options that are to be let be. where: begins messages.
    Raises DemandError for an option that traffic here does not follow, and for a name, also in
    `ignored`, that SUMO does not have.
    """
    outputs: list[str] = []
    let_be: list[str] = []
    for name in ignored:
        if name not in given and not is_asked(name) and not is_known(name):
            raise _unknown(name, where)
    for name, value in given.items():
        if not _is_refused(name, value.strip()):
            if name in OUTPUTS and value.strip() not in ("", "-1"):
                outputs.append(name)
        elif name in ignored:
            let_be.append(name)
        elif not is_known(name):
            raise _unknown(name, where)
        else:
            raise DemandError(
                f"{where}: option {name} {value[:40]!r} would change the traffic and is not "
                f"followed here; take it out, or run without it by --ignore-options {name}"
            )
    return outputs, let_be


def _unknown(name: str, where: str) -> DemandError:
    near = get_close_matches(name, _names(), n=1)
    hint = f"did you mean {near[0]}?" if near else "take it out"
    return DemandError(f"{where}: {name[:60]!r} is no option of SUMO's; {hint}")


def _is_refused(name: str, value: str) -> bool:
    if name in _ONLY:
        return not any(meets(value, wish) for wish in _ONLY[name])
    device, _, part = name.removeprefix("device.").partition(".")
    if name.startswith("device.") and device in DEVICES:
        return (part == "probability" and not meets(value, "<=0")) or (
            part == "explicit" and value != ""
        )
    return not is_known(name)


def _meso_and_devices() -> tuple[str, ...]:
    return ("meso-", *(f"device.{name}." for name in DEVICES))


def _names() -> Iterator[str]:
    yield from (*TAKEN, *TELEPORTS, *OUTPUTS, *QUIET, *_ONLY)
