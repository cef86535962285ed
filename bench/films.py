"""Films and pictures of the driving systems: bots, path followers, steering models, races, a chase.

python bench/films.py [--out out/films] [--only NAME ...] [--pictures DIR] [--data DIR] [--seconds 20]

Each is made through the door that users take: an example or a command, then `rushhour view --video`.
"""

import argparse
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Final

from scenarios import DATA_HELP, data_base

ROOT: Final = Path(__file__).resolve().parents[1]
MODELS: Final = "preview,aware,projection,pid,spidey1,spidey2"
SIZE: Final = "--size 640x360"
# Of each: what makes its file, with {out} and {tracks}; the time of its picture, s.
FILMS: Final = {
    "bots": ("examples/bots.py --picture {out}/bots.png", 6.0),
    "follow-paths": ("examples/follow_paths.py --picture {out}/follow-paths.png", 6.0),
    "steering-models": (
        f"rushhour race {{tracks}}/Norisring.csv --cars 6 --laps 1 --model {MODELS} --record {{out}}/steering-models.h5",
        15.0,
    ),
    "race": ("examples/car_race.py {tracks}/Hockenheim.csv --picture {out}/race.png", 14.0),
    "race-paths": ("examples/horse_race.py --picture {out}/race-paths.png", 12.0),
    "chase": ("examples/chase.py --picture {out}/chase.png", 20.0),
}


def main() -> None:
    """Make the films, say what was called."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("out/films"))
    parser.add_argument("--only", nargs="+", choices=FILMS, default=list(FILMS), metavar="NAME")
    parser.add_argument("--pictures", type=Path, help="where to put a picture of each, too")
    parser.add_argument("--data", type=Path, help=DATA_HELP)
    parser.add_argument("--seconds", type=float, default=20.0, help="of what happens, in a film")
    options = parser.parse_args()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    if options.pictures is not None:
        options.pictures.mkdir(parents=True, exist_ok=True)
    for name in options.only:
        line, time = FILMS[name]
        tracks = data_base(options.data) / "racetracks" if "{tracks}" in line else ""
        _call(line.format(out=out, tracks=tracks))
        begin = max(0.0, time - 0.25 * options.seconds)
        until = begin + options.seconds
        _call(
            f"rushhour view {out / name}.h5 --video {out / name}.mp4 {SIZE} --from {begin:g}s --to {until:g}s"
        )
        if options.pictures is not None:
            shot = options.pictures.resolve() / f"{name}.png"
            made = out / f"{name}.png"
            if made.exists():  # the example's own, nearer
                shot.write_bytes(made.read_bytes())
            else:
                _call(f"rushhour view {out / name}.h5 --shot {shot} --at {time:g}s --size 960x540")


def _call(line: str) -> None:
    words = shlex.split(line)
    words = ["-m", *words] if words[0] == "rushhour" else words
    subprocess.run([sys.executable, *words], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    print(line, flush=True)


if __name__ == "__main__":
    main()
