"""Path followers compared: the baseline, Algorithm 1, and Algorithm 1 tuned for each body.

python bench/path_following.py [--seeds N] [--json FILE] [--plots DIR]

Ten paths, six bodies, twenty seeds: 1,200 trials of each follower. The protocol (paths, bodies,
stuck rule, walls) was fixed before and stands in docs/path-following.md. Only the baseline's gain is
calibrated, to the published mean speed of the baseline; the tuned follower is tuned on seeds that
are not scored. All rows are printed, the published ones beside them.
"""

import argparse
import json
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np
from following_paths import NAMES
from following_trials import Results, all_paths, run_trials
from numpy.typing import NDArray

from rushhour.traffic.profiling.conditions import condition_lines, conditions
from rushhour.traffic.profiling.text_tables import table
from rushhour.traffic.steering.classes import CLASSES, GAME
from rushhour.traffic.steering.followers import Driver

BASELINE_SPEED: Final = 4.55  # m/s, published; calibrated to within 0.15
TUNED_ON: Final = (100, 101)  # seeds that nothing is scored on
LATERALS: Final = (0.15, 0.2, 0.3, 0.4, 0.5)
LOOKS: Final = (
    (0.5, 6.0, 15.0), (0.8, 6.0, 15.0), (0.8, 8.0, 15.0), (0.0, 8.0, 8.0), (0.0, 10.0, 10.0),
)  # fmt: skip
EIGHT: Final = LOOKS[3]
DRAWS: Final = 2000  # of the bootstrap over seeds
SHOWN: Final = ("stuck_trials", "stuck_events", "cte_m", "inside", "time_s", "speed_ms")
PUBLISHED: Final = {  # of 60 trials
    "baseline": (33, 56, 1.46, 0.91, 59.6, 4.55),
    "ours": (15, 17, 1.48, 0.91, 40.9, 5.82),
    "tuned": (8, 11, 1.32, 0.93, 36.1, 6.84),
}  # fmt: skip
PUBLISHED_STUCK: Final = {
    "baseline": (3, 9, 8, 5, 11, 20), "ours": (1, 2, 4, 3, 5, 2), "tuned": (1, 0, 2, 2, 5, 1),
}  # fmt: skip
HILLS: Final = tuple(NAMES.index(name) for name in ("steep_hill", "hill_corner"))


def calibrated(kp: float = 0.25, look: tuple[float, float, float] = LOOKS[1]) -> Driver:
    """The baseline with the gain at which it is as fast as the published one, on TUNED_ON."""
    paths, low, high = all_paths(TUNED_ON), 1.0, 16.0
    for _ in range(12):
        driver = Driver(angle_gain=round(float(np.sqrt(low * high)), 3), look=look, kp=kp, ki=0.0)
        speed = run_trials(paths, TUNED_ON, [driver]).speed.mean()
        low, high = (
            (driver.angle_gain, high) if speed < BASELINE_SPEED else (low, driver.angle_gain)
        )
    return driver


def tuned_drivers() -> list[Driver]:
    """For each body of GAME the driver with the least events + time + 10 CTE on TUNED_ON."""
    paths = all_paths(TUNED_ON)
    best: list[tuple[float, Driver]] = [(np.inf, Driver())] * len(GAME)
    for lateral in LATERALS:
        for look in LOOKS:
            driver = Driver(lateral=lateral, look=look)
            found = run_trials(paths, TUNED_ON, [driver])
            for body in range(len(GAME)):
                of = found.body == body
                cost = float((found.events + found.time + 10.0 * found.error)[of].mean())
                if cost < best[body][0]:
                    best[body] = (cost, driver)
    return [driver for _, driver in best]


def per_seed(found: Results) -> dict[str, NDArray[np.float64]]:
    """Events, and means of error, inside, time and speed, of each seed."""
    seeds = np.unique(found.seed)

    def mean(values: NDArray[Any]) -> NDArray[np.float64]:
        return np.array([values[found.seed == seed].mean() for seed in seeds])

    return {
        "stuck_events": mean(found.events), "cte_m": mean(found.error),
        "near_m": mean(found.near), "inside": mean(found.inside), "time_s": mean(found.time), "speed_ms": mean(found.speed),
    }  # fmt: skip


def ratios(ours: Results, base: Results) -> dict[str, dict[str, float]]:
    """Pooled ratio of each row with the 95 % interval of a bootstrap over seeds."""
    a, b = per_seed(ours), per_seed(base)
    draw = np.random.default_rng(1).integers(0, a["time_s"].size, (DRAWS, a["time_s"].size))
    out = {}
    for name in a:
        below = b[name][draw].mean(axis=1)
        drawn = np.divide(a[name][draw].mean(axis=1), below, out=np.zeros(DRAWS), where=below > 0.0)
        low, high = np.quantile(drawn, (0.025, 0.975))
        whole = b[name].mean()
        ratio = float(a[name].mean() / whole) if whole > 0.0 else float("nan")
        out[name] = {"ratio": ratio, "low": float(low), "high": float(high)}
    return out


def acceptance(results: dict[str, Results]) -> list[dict[str, Any]]:
    """The gates of the harness and A2.1 - A2.7: what, target, ours, met."""
    base, ours, tuned = (results[name] for name in ("baseline", "ours", "tuned"))
    m, to_ours, to_tuned = base.means(), ratios(ours, base), ratios(tuned, base)
    base_8, ours_8 = results["baseline, 8 m"], results["ours, 8 m"]
    stalls = [
        int(found.events[(found.body == GAME.index("hovercraft")) & np.isin(found.path, HILLS)].sum())
        for found in (base, ours)
    ]  # fmt: skip
    rows: list[tuple[str, str, float, bool]] = []

    def row(name: str, target: str, value: float, met: bool) -> None:
        rows.append((name, target, round(float(value), 3), bool(met)))

    share, events = m["stuck_share"], m["events_per_stuck_trial"]
    row("gate: stuck share of the baseline", "0.40 - 0.70", share, 0.4 <= share <= 0.7)
    for name, found in (("baseline", base), ("ours", ours), ("tuned", tuned)):
        events = found.means()["events_per_stuck_trial"]
        row(f"gate: events per stuck trial, {name}", "1 - 2", events, 1.0 <= events <= 2.0)
    value = to_ours["stuck_events"]["ratio"]
    row("A2.1 stuck events, ours / baseline", "<= 0.52", value, value <= 0.52)
    value = to_tuned["stuck_events"]["ratio"]
    fewer = tuned.events.sum() <= ours.events.sum()
    row("A2.2 stuck events, tuned / baseline", "<= 0.37, <= ours", value, value <= 0.37 and fewer)
    for name, kind, most in (("ours", to_ours, 0.75), ("tuned", to_tuned, 0.66)):
        value = kind["time_s"]["ratio"]
        row(f"A2.3 time, {name} / baseline", f"<= {most}", value, value <= most)
    for name, kind, least in (("ours", to_ours, 1.2), ("tuned", to_tuned, 1.4)):
        value = kind["speed_ms"]["ratio"]
        row(f"A2.4 speed, {name} / baseline", f">= {least}", value, value >= least)
    value = ratios(ours_8, base_8)["cte_m"]["ratio"]
    row("A2.5 CTE, ours / baseline, both 8 m", "0.85 - 1.15", value, 0.85 <= value <= 1.15)
    for name, found in (("baseline", base), ("baseline, 8 m", base_8)):
        value = ratios(tuned, found)["cte_m"]["ratio"]
        row(f"A2.5 CTE, tuned / {name}", "<= 1.0", value, value <= 1.0)
    for kind, first, second in (("", base, ours), (", both 8 m", base_8, ours_8)):
        value = 100.0 * (second.inside.mean() - first.inside.mean())
        row(f"A2.6 inside, ours - baseline{kind}", ">= -1 pp", value, value >= -1.0)
    value = 100.0 * (tuned.inside.mean() - base.inside.mean())
    row("A2.6 inside, tuned - baseline", ">= 1 pp", value, value >= 1.0)
    row("A2.7 hovercraft on hills, events of the baseline", ">= 1", stalls[0], stalls[0] >= 1)
    row("A2.7 hovercraft on hills, events of ours", "0", stalls[1], stalls[1] == 0)
    return [dict(zip(("what", "target", "ours", "met"), r, strict=True)) for r in rows]


def by_group(found: Results, which: NDArray[np.int64], names: tuple[str, ...]) -> dict[str, int]:
    """Stuck events of each path or body."""
    return {name: int(found.events[which == i].sum()) for i, name in enumerate(names)}


def of_bodies(found: Results, values: NDArray[np.float64]) -> dict[str, float]:
    """Mean of values of the trials of each body."""
    return {name: float(values[found.body == i].mean()) for i, name in enumerate(GAME)}


def lines(told: dict[str, Any], seeds: int) -> list[str]:
    """The tables for people."""
    names = list(told["followers"])
    out = [f"{60 * seeds} trials each; gains, m/s rad: {told['gains']}", ""]
    rows = []
    for row in SHOWN:
        cells: list[object] = [row]
        for name in names:
            value = told["followers"][name]["means"][row]
            cells.append(value if isinstance(value, int) else f"{value:.3f}")
        for name in PUBLISHED:
            cells.append(PUBLISHED[name][SHOWN.index(row)])
        rows.append(cells)
    rows.append(["near_m", *[f"{told['followers'][n]['means']['near_m']:.3f}" for n in names],
                 *[""] * len(PUBLISHED)])  # fmt: skip
    out += table(["", *names, *[f"published {name} /60" for name in PUBLISHED]], rows)
    out += ["", *table(
        ["stuck events", *names, *[f"published {name} /60" for name in PUBLISHED]],
        [[body, *[told["followers"][name]["events_by_body"][body] for name in names],
          *[PUBLISHED_STUCK[name][i] for name in PUBLISHED]] for i, body in enumerate(GAME)]
        + [[path, *[told["followers"][name]["events_by_path"][path] for name in names], "", "", ""]
           for path in NAMES],
    )]  # fmt: skip
    out += ["", *table(
        ["cross-track error, m", *names],
        [[body, *[f"{told['followers'][name]['cte_by_body'][body]:.2f}" for name in names]]
         for body in GAME],
    )]  # fmt: skip
    out += ["", *table(
        ["ratio to the baseline, 95 %", *names[1:]],
        [[row, *[f"{r['ratio']:.2f} ({r['low']:.2f} - {r['high']:.2f})"
                 for r in (told["followers"][name]["ratios"][row] for name in names[1:])]]
         for row in told["followers"][names[1]]["ratios"]],
    )]  # fmt: skip
    out += ["", *table(["", "target", "ours", "met"],
                       [[r["what"], r["target"], f"{r['ours']:g}", "yes" if r["met"] else "NO"]
                        for r in told["acceptance"]])]  # fmt: skip
    out += ["", "tuned: " + "; ".join(
        f"{body} {d['lateral']} g, look {d['look']}" for body, d in told["tuned"].items()
    )]  # fmt: skip
    return out


def main() -> None:
    """Calibrate, tune, drive, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20, help="path seeds scored (default: 20)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the tables there")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="draw paths and ways there")
    options = parser.parse_args()
    if options.seeds < 1 or options.seeds > TUNED_ON[0]:
        parser.error(f"--seeds {options.seeds}: wanted 1 to {TUNED_ON[0]}")
    told: dict[str, Any] = {"conditions": conditions()}
    print("\n".join(condition_lines(told["conditions"])))
    started = perf_counter()
    seeds = range(options.seeds)
    paths = all_paths(seeds)
    base, tuned = calibrated(), tuned_drivers()
    base_8, equal = calibrated(look=EIGHT), calibrated(kp=0.4)
    each = np.arange(len(GAME))
    results = {
        "baseline": run_trials(paths, seeds, [base]),
        "ours": run_trials(paths, seeds, [Driver()]),
        "tuned": run_trials(paths, seeds, tuned, each),
        "baseline, 8 m": run_trials(paths, seeds, [base_8]),
        "ours, 8 m": run_trials(paths, seeds, [Driver(look=EIGHT)]),
        "ours, 8 m, 0.2 g": run_trials(paths, seeds, [Driver(lateral=0.2, look=EIGHT)]),
        "baseline, kp 0.4": run_trials(paths, seeds, [equal]),
    }
    told |= {
        "gains": {name: d.angle_gain for name, d in
                  (("baseline", base), ("baseline, 8 m", base_8), ("baseline, kp 0.4", equal))},
        "tuned": {b: {"lateral": d.lateral, "look": d.look} for b, d in zip(GAME, tuned, strict=True)},
        "followers": {
            name: {
                "means": found.means(),
                "ratios": ratios(found, results["baseline"]),
                "teleports": int(found.teleports.sum()),
                "events_by_body": by_group(found, found.body, GAME),
                "events_by_path": by_group(found, found.path, NAMES),
                "cte_by_body": of_bodies(found, found.error),
                "near_by_body": of_bodies(found, found.near),
            }
            for name, found in results.items()
        },
        "acceptance": acceptance(results),
    }  # fmt: skip
    told["seconds"] = perf_counter() - started
    print("\n".join(lines(told, options.seeds)))
    print(f"{told['seconds']:.0f} s")
    if options.plots:
        from following_plots import save_errors, save_ways

        options.plots.mkdir(parents=True, exist_ok=True)
        for seed in range(min(2, options.seeds)):
            save_ways(options.plots / f"path-following-{seed}.png", seed, base, tuned)
        grips = {body: CLASSES[body].grip for body in GAME}
        published = {name: row[SHOWN.index("cte_m")] for name, row in PUBLISHED.items()}
        save_errors(
            options.plots / "path-following-errors.png", told["followers"], grips, published
        )
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
