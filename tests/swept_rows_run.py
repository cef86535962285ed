"""Rows of the sweep for `run` and `profile`: network, demand, parameters, what is recorded and measured."""

from collections import Counter

from swept_options import Row, Told

from rushhour.roadnets.json_text import json_text
from rushhour.traffic.recording.run_file import RunFile

R = "run grid.h5 --trips 30 --over 30s --seed 3 --dt 0.5 --json"
W = "run grid.h5 --vehicles 30 --duration 20s --dt 0.5 --json"
M = "run region --demand region/demand.csv --duration 1h --dt 0.5 --json"
OMX = "run region --demand day.omx --demand-period 5min --duration 20min --dt 0.5 --json"
SOON = f"{M} --demand-period 5min"
P = "profile grid.h5 --vehicles 20 --frames 4 --warm-up 1s --json"


def given(name: str, value: object) -> "object":
    """A claim: a parameter is what the option says."""
    return lambda t: t.facts["parameters_changed"][name] == value


def recorded(t: Told, path: str) -> RunFile:
    """The run file that was written."""
    run = RunFile(t.folder / path)
    assert run.complete
    return run


def spacing(t: Told, path: str) -> float:
    with recorded(t, path) as run:
        return float(run.times[1] - run.times[0])


def keyframes(t: Told, path: str) -> tuple[int, int]:
    with recorded(t, path) as run:
        return len(run.frames), len(run.keyframes)


def fields(t: Told, path: str) -> set[str]:
    with recorded(t, path) as run:
        return set(run.frame(0).columns)


def kept(t: Told, path: str, name: str) -> str:
    """What the frames of a run file say of how they are kept."""
    with recorded(t, path) as run:
        return str(run.group("frames").attrs[name])


def kept_meta(t: Told, path: str, name: str) -> float:
    with recorded(t, path) as run:
        return float(run.meta[name])


def at_most(t: Told, path: str) -> int:
    with recorded(t, path) as run:
        return int(run.counts.max())


def trips_of(t: Told, path: str) -> int:
    return len(t.text(path).splitlines()) - 1


def both_seeds(t: Told) -> bool:
    return t.facts["seeds"] == [5, 6] and [run["seed"] for run in t.facts["runs"]] == [5, 6]


def measured(t: Told, name: str) -> object:
    return t.facts["measures"][name]


# What is simulated: the options of `run` and `profile`.
WORLD = {
    "network": Row(W, lambda t: t.facts["network"] == "grid", W.replace("grid", "none"), "none.h5: no such file"),
    "--demand": Row("run grid.h5 --demand trips.csv --json", lambda t: t.facts["vehicles"]["departed"] == 2,
        "none.csv", "none.csv"),
    "--demand-period": Row(f"{M} --demand-period 10min", lambda t: t.facts["trips"]["last_arrival_s"] < 900 < t.before["trips"]["last_arrival_s"],
        "soon", "--demand-period 'soon': wanted a time"),
    "--demand-scale": Row(f"{SOON} --scale 2", lambda t: (t.before["vehicles"]["departed"], t.facts["vehicles"]["departed"]) == (40, 80),
        "-1", "wanted"),
    "--demand-profile": Row(f"{SOON} --demand-profile 1,0,0", lambda t: t.facts["trips"]["last_arrival_s"] < 180 < t.before["trips"]["last_arrival_s"],
        "a,b", "--demand-profile 'a,b': wanted shares"),
    "--demand-matrix": Row(f"{OMX} --demand-matrix am", lambda t: t.facts["vehicles"]["departed"] == 30, "noon", "none called 'noon'"),
    "--vehicles": Row(W, lambda t: t.facts["vehicles"]["departed"] == 30, "0", "wanted 1 to"),
    "--trips": Row(R, lambda t: t.facts["vehicles"]["departed"] == 30, "0", "wanted 1 to"),
    "--over": Row(R.replace("30s", "5min"), lambda t: t.facts["trips"]["last_arrival_s"] > 200.0, "soon", "--over 'soon'"),
    "--begin": Row(f"{R} --begin 7:00", lambda t: t.facts["begin_s"] == 25_200.0, "noon", "--begin 'noon'"),
    "--dt": Row(W, lambda t: t.facts["dt_s"] == 0.5 and t.changed("frames", "state_hash"), "3", "wanted 1/120 to 0.5 s"),
    "--seed": Row(f"{W} --seed 4", lambda t: t.facts["seed"] == 4 and t.changed("state_hash"), "-1", "--seed"),
    "--threads": Row(f"{W} --threads 1", lambda t: t.same("state_hash"), "0", "--threads 0: wanted 1 to 256"),
    "--set": Row(f"{W} --set car.time_gap=2", given("car.time_gap", 2.0), "car.timegap=2", "did you mean car.time_gap?"),
    "--parameters": Row(f"{W} --parameters more.toml", given("car.time_gap", 1.7), "none.toml", "none.toml"),
    "--policy": Row(f"{W} --policy fifo".replace("grid", "stops"), given("right_of_way.all_way_policy", "fifo"), "lifo", "lifo"),
    "--signals": Row(f"{W} --signals actuated", lambda t: t.changed("state_hash"), "blue", "blue"),
    "--keep-routes": Row(f"{W} --keep-routes", given("gridlock.keep_routes", True)),
    "--routing": Row(f"{R} --routing free-flow", given("routing.choice", "free-flow"), "best", "best"),
    "--reroute": Row(f"{W} --reroute 50%", given("rerouting.fraction", 0.5), "often", "--reroute 'often': wanted a share"),
    "--reroute-period": Row(f"{W} --reroute 50% --reroute-period 5s", given("rerouting.period", 5.0), "soon", "--reroute-period 'soon'"),
    "--steered": Row(f"{W} --steered all", lambda t: t.facts["steered"]["vehicles"] == 30 and t.before["steered"]["vehicles"] == 0,
        "some", "--steered"),
    "--quota": Row(f"{W} --quota lanes=5", lambda t: t.facts["quotas"]["lanes"]["most"] == 5, "lanes=-1", "lanes"),
    "--ignore-options": Row("run lit.sumocfg --ignore-options lateral-resolution --json",
        lambda t: t.without().code == 2 and t.facts["vehicles"]["departed"] == 1
        and "lateral-resolution" in t.facts["differences"][0], "lateral-resolutio", "lateral-resolution"),
    "--skip-bad-trips": Row("run grid.h5 --demand bad.csv --skip-bad-trips --json",
        lambda t: t.without().code == 2 and t.facts["vehicles"]["departed"] == 1 and "'b'" in json_text(t.facts["remarks"])),
}  # fmt: skip

RUN = {
    **WORLD,
    "--duration": Row(W, lambda t: t.facts["sim_s"] == 20.0, "long", "--duration 'long'"),
    "--until-empty": Row(f"{R} --until-empty", lambda t: t.facts["vehicles"]["arrived"] == 30 and t.same("state_hash")),
    "--budget": Row(f"{W} --budget 50ms", lambda t: t.facts["calibration"]["budget_ms"] == 50.0 and t.facts["quotas"], "soon", "budget 'soon'"),
    "--seeds": Row(f"{W} --seeds 5..6", both_seeds, "6..5", "--seeds"),
    "--record": Row(f"{W} --record r1.h5", lambda t: keyframes(t, "r1.h5")[0] == 21 and t.facts["recorded"]["file"] == "r1.h5",
        "no/run.h5", "run.h5"),
    "--record-every": Row(f"{W} --record r2.h5 --record-every 4s", lambda t: spacing(t, "r2.h5") == 4.0, "often", "--record-every 'often'"),
    "--record-mode": Row(f"{W} --record r3.h5 --record-mode keyframes", lambda t: keyframes(t, "r3.h5") == (0, 2), "all", "all"),
    "--keyframe-every": Row(f"{W} --record r4.h5 --keyframe-every 5s", lambda t: keyframes(t, "r4.h5")[1] == 5, "often", "--keyframe-every 'often'"),
    "--record-precision": Row(f"{W} --record r5.h5 --record-precision full", lambda t: kept(t, "r5.h5", "precision") == "full",
        "rough", "precision"),
    "--record-packing": Row(f"{W} --record r6.h5 --record-packing huffman", lambda t: kept(t, "r6.h5", "packing") == "huffman", "zip", "packing"),
    "--record-fields": Row(f"{W} --record r7.h5 --record-fields accel", lambda t: "accel" in fields(t, "r7.h5") and "reason" not in fields(t, "r7.h5"),
        "mood", "mood"),
    "--record-region": Row(f"{W} --record r8.h5 --record-region 0,0,150,150", lambda t: 0 < at_most(t, "r8.h5") < 30, "1,2", "region"),
    "--record-max": Row(f"{W} --record r9.h5 --record-every 0.5s --record-max 400kB", lambda t: t.facts["recorded"]["bytes"] <= 400_000,
        "big", "big"),
    "--give-up-after": Row(f"{W} --record r10.h5 --give-up-after 30min", lambda t: kept_meta(t, "r10.h5", "give_up_after") == 1800.0
        and t.same("state_hash"), "soon", "--give-up-after 'soon'"),
    "--on-full": Row(f"{W} --record r11.h5 --on-full end", lambda t: keyframes(t, "r11.h5")[0] == 21 and t.same("state_hash"), "wait", "wait"),
    "--resume": Row("run --resume run.h5 --duration 5s --json", lambda t: (t.facts["begin_s"], t.facts["sim_s"]) == (40.0, 5.0),
        "none.h5", "none.h5"),
    "--at": Row("run --resume run.h5 --duration 5s --at 20s --json", lambda t: t.facts["begin_s"] == 20.0 and t.changed("state_hash"), "soon", "--at 'soon'"),
    "--output": Row(f"{R} --output out1", lambda t: trips_of(t, "out1/trips.csv") == 30, "grid.h5", "--output grid.h5: cannot be a folder"),
    "--measure": Row(f"{W} --measure 10s", lambda t: measured(t, "interval_s") == 10.0, "often", "--measure 'often'"),
    "--loop": Row(f"{W} --measure 10s --loop 0.0-0.1_0 20", lambda t: measured(t, "loops")["measured"] == 1 and "loops" not in t.before["measures"],
        "nowhere 20", "nowhere"),
    "--section": Row(f"{W} --measure 10s --section 0.0-0.1 0.0-0.1", lambda t: measured(t, "sections"), "0.0-0.1 nowhere", "nowhere"),
    "--queue": Row(f"{W} --measure 10s --queue all", lambda t: measured(t, "queues")["longest_m"] > 0.0, "nowhere", "nowhere"),
    "--close": Row(f"{W} --close 0.0-0.1", lambda t: t.changed("state_hash"), "nowhere", "close_roads: no road 'nowhere'"),
    "--picture": Row(f"{W} --picture p1.png", lambda t: t.drawn("p1.png") and t.same("state_hash"), "no/p.png", "p.png"),
    "--check": Row(f"{W} --check", lambda t: set(t.facts["violations"].values()) == {0} and not t.before["violations"]),
    "--json": Row(W, lambda t: t.facts["vehicles"]["active"] > 0 and "vehicles     30 departed" in t.without().out),
}  # fmt: skip

ONE = "profile grid.h5 --frames 4 --warm-up 1s --json"


def profiled(line: str) -> str:
    """A line of `run` as one of `profile`: the same world, some frames of it."""
    words = line.removeprefix("run ").split()
    if "--duration" in words:
        at = words.index("--duration")
        del words[at : at + 2]
    return " ".join(["profile", *words, "--frames", "4", "--warm-up", "6s"])


def driven(t: Told) -> bool:
    """Frames of the world that the line means were measured."""
    return t.facts["frames"] == 4 and t.facts["vehicles"] > 0 and t.facts["phases"]


def of_world(name: str) -> Row:
    row = WORLD[name]
    wrong = profiled(row.wrong) if name == "network" and row.wrong else row.wrong
    return Row(profiled(row.line), driven, wrong, row.says)


def traced(t: Told) -> bool:
    import json

    events = json.loads(t.text("t.json"))["traceEvents"]
    return Counter(event["ph"] for event in events)["X"] >= 4


PROFILE = {
    **{name: of_world(name) for name in WORLD},
    "--vehicles": Row(P, lambda t: t.facts["vehicles"] == 20, "0", "wanted 1 to"),
    "--dt": Row(f"{P} --dt 0.1", lambda t: (t.facts["dt"], t.before["dt"]) == (0.1, 0.25), "3", "wanted 1/120 to 0.5 s"),
    "--demand-period": Row(profiled(f"{M} --demand-period 1min"), lambda t: t.facts["vehicles"] > t.before["vehicles"], "soon", "--demand-period"),
    "--demand-scale": Row(profiled(f"{M} --demand-scale 50"), lambda t: t.facts["vehicles"] > t.before["vehicles"], "-1", "wanted"),
    "--demand-profile": Row(profiled(f"{M} --demand-profile 60,1,1,1"), lambda t: t.facts["vehicles"] >= t.before["vehicles"], "a,b", "--demand-profile"),
    "--demand-matrix": Row(profiled(f"{OMX} --demand-matrix pm"), lambda t: t.facts["vehicles"] > 0, "noon", "none called 'noon'"),
    "--trips": Row(profiled(R.replace("--over 30s", "--over 10s")), driven, "0", "wanted 1 to"),
    "--over": Row(profiled(R.replace("--over 30s", "--over 10s")), driven, "soon", "--over 'soon'"),
    "--begin": Row(f"{P} --begin 7:00", driven, "noon", "--begin 'noon'"),
    "--steered": Row(f"{P} --steered all", lambda t: "steer" in str(t.facts["phases"]) and "steer" not in str(t.before["phases"]), "some", "--steered"),
    "--warm-up": Row(P, driven, "long", "--warm-up 'long'"),
    "--frames": Row(P, lambda t: t.facts["frames"] == 4, "0", "--frames 0: wanted 1 to"),
    "--repeat": Row(f"{P} --repeat 2", lambda t: len(t.facts["repeats_ms"]["all"]) == 2, "0", "repeat"),
    "--budget": Row(f"{P} --budget 10min", lambda t: t.facts["budget"]["kept"] is True, "soon", "--budget 'soon'"),
    "--percentile": Row(f"{P} --budget 10min --percentile 50", lambda t: t.facts["budget"]["percentile"] == 50.0, "101", "percentile"),
    "--plot": Row(f"{P} --plot c1.png", lambda t: t.drawn("c1.png"), "no/c.png", "c.png"),
    "--trace": Row(f"{P} --trace t.json", traced, "no/t.json", "t.json"),
    "--compare": Row(f"{P} --compare old.json", lambda t: "compared" in t.facts, "none.json", "none.json", code=-1),
    "--record": Row(f"{P} --record r10.h5", lambda t: recorded(t, "r10.h5"), "no/r.h5", "r.h5"),
    "--sweep": Row("profile --sweep vehicles=10..20 --frames 3 --warm-up 0s --json", lambda t: len(t.facts["vehicles"]) > 1, "cars=1..2", "sweep"),
    "--find-vehicles": Row("profile grid.h5 --find-vehicles --budget 10s --frames 3 --warm-up 0s --json", lambda t: t.facts["vehicles"] > 0),
    "--calibrate": Row("profile grid.h5 --calibrate --budget 10ms --json", lambda t: t.facts["quotas"]["vehicles"] > 0),
    "--json": Row(P, lambda t: t.facts["profile"] == 1 and "ns/vehicle" in t.without().out),
}  # fmt: skip
