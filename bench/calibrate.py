"""IDM and Krauss fitted to measured drivers, and what the fits are worth on data not fitted.

python bench/calibrate.py [--data DIR] [--models idm krauss] [--toml FILE] [--json FILE]

The data are a platoon of five cars, 33 minutes at 10 Hz. Fitted is the first half of the time, the
errors of the gap are those of the second half: with the default parameters, with the driver's own
fit, with one fit of all drivers, and with one of the other drivers. --toml writes the fit of all drivers,
of the model whose error is least, for `rushhour run --parameters FILE`.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from following_fit import (
    FIELDS,
    MODELS,
    PLATOON,
    Fit,
    Following,
    default_values,
    errors,
    fit,
    read_platoon,
)
from scenarios import DATA_HELP, data_base

from rushhour.traffic.profiling.conditions import condition_lines, conditions
from rushhour.traffic.profiling.text_tables import table
from rushhour.traffic.settings.parameter_table import TABLE, TYPE_NAMES

FITTED = 0.5  # of the time


def row(
    drivers: Sequence[Following], model: str, which: str, kind: str, found: Fit | None
) -> dict[str, Any]:
    """Errors of one set of parameters on some drivers."""
    values = default_values(kind) if found is None else found.values
    metres, share = errors(drivers, model, values, kind)
    return {
        "model": model,
        "drivers": " ".join(driver.name for driver in drivers) if len(drivers) == 1 else "all",
        "fit": which,
        "rmse_m": metres,
        "rmspe": share,
        "parameters": dict(zip(FIELDS, values, strict=True)),
        "measured": [] if found is None else list(found.measured),
        "kept_default": list(FIELDS) if found is None else list(found.kept),
    }


def calibrated(
    drivers: Sequence[Following], models: Sequence[str], kind: str, seed: int
) -> list[dict[str, Any]]:
    """The errors of all fits, on the part of the time that was not fitted."""
    early = [driver.part(0.0, FITTED) for driver in drivers]
    late = [driver.part(FITTED, 1.0) for driver in drivers]
    rows = []
    for model in models:
        everybody = fit(early, model, kind, seed)
        for k, driver in enumerate(late):
            others = [other for j, other in enumerate(early) if j != k]
            rows += [
                row([driver], model, "default", kind, None),
                row([driver], model, "own", kind, fit([early[k]], model, kind, seed)),
                row([driver], model, "all drivers", kind, everybody),
                row([driver], model, "other drivers", kind, fit(others, model, kind, seed)),
            ]
        rows += [
            row(late, model, "default", kind, None),
            row(late, model, "all drivers", kind, everybody),
        ]
    return rows


def chosen(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The fit of all drivers with the least error on all of them."""
    fits = [r for r in rows if r["drivers"] == "all" and r["fit"] == "all drivers"]
    return min(fits, key=lambda r: float(r["rmspe"]))


def toml_text(best: dict[str, Any], kind: str) -> str:
    """A file of parameters: the built-in vehicle type `kind` as fitted."""
    name = {"idm": "IDM", "krauss": "Krauss"}[best["model"]]
    lines = [
        f"# {name} fitted by bench/calibrate.py to the drivers of a measured platoon. Error of the gap",
        f"# on the part not fitted: {best['rmse_m']:.2f} m, {best['rmspe']:.1%}.",
    ]
    if best["kept_default"]:
        lines.append(
            f"# Not told by the data, so left at the default: {', '.join(best['kept_default'])}."
        )
    if best["model"] != TABLE["following.model"].default:
        lines += ["", "[parameters.following]", f'model = "{best["model"]}"']
    lines += ["", f"[parameters.{kind}]"]
    lines += [
        f"{field} = {value:.4g}"
        for field, value in best["parameters"].items()
        if field not in best["kept_default"]
    ]
    return "\n".join(lines) + "\n"


def shown(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The table for people; a value in brackets is the default, one with = was measured."""
    cells = []
    for r in rows:
        values = [
            f"({value:.3g})" if field in r["kept_default"] else f"={value:.3g}"
            if field in r["measured"] else f"{value:.3g}"
            for field, value in r["parameters"].items()
        ]  # fmt: skip
        cells.append(
            [f"{r['model']}, {r['drivers']}", r["fit"], f"{r['rmse_m']:.2f}", f"{r['rmspe']:.1%}", *values]
        )  # fmt: skip
    header = ["model, drivers", "parameters", "RMSE m", "RMSPE", *FIELDS]
    return table(header, cells)


def main() -> None:
    """Fit, print the errors, write them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, metavar="DIR", help=DATA_HELP)
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--type", choices=TYPE_NAMES, default="car", dest="kind",
                        help="vehicle type whose defaults are compared and that is written")  # fmt: skip
    parser.add_argument("--seed", type=int, default=1, help="of the search (default: 1)")
    parser.add_argument("--toml", type=Path, metavar="FILE", help="write the best fit there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the errors there")
    options = parser.parse_args()
    for path in (options.toml, options.json):
        if path is not None and not path.parent.is_dir():
            parser.error(f"{path}: no folder {path.parent}; make it or choose another")
    try:
        drivers = read_platoon(data_base(options.data) / PLATOON)
    except (OSError, ValueError) as error:
        parser.error(f"{error}; wanted the platoon of --data DIR, {PLATOON}")
    told = conditions()
    print("\n".join(condition_lines(told)))
    rows = calibrated(drivers, options.models, options.kind, options.seed)
    print("\n".join(shown(rows)))
    if options.toml:
        options.toml.write_text(toml_text(chosen(rows), options.kind))
    if options.json:
        options.json.write_text(json.dumps({"conditions": told, "fits": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
