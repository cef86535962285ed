"""The generators by name, with typed options, for the command line."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite
from typing import Final, Literal, get_args, get_origin, get_type_hints

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.generators.grid import cross, grid
from rushhour.roadnets.generators.motorway import motorway
from rushhour.roadnets.generators.ring import ring, straight
from rushhour.roadnets.generators.spider import spider
from rushhour.roadnets.generators.town import town
from rushhour.roadnets.model import Network

GENERATORS: Final[dict[str, Callable[..., Network]]] = {
    "grid": grid,
    "cross": cross,
    "ring": ring,
    "straight": straight,
    "motorway": motorway,
    "spider": spider,
    "town": town,
}

HELP: Final = {
    "rows": "crossings from south to north",
    "columns": "crossings from west to east",
    "length": "m, of a street or of the whole road",
    "lanes": "lanes of each direction, left-turn lanes not counted",
    "speed": "limit, m/s",
    "control": "who gives way at crossings",
    "left": "how left turns are served",
    "turns": "turns that exist",
    "border": "what lies beyond the outer crossings",
    "legs": "how many legs vehicles come from, in the order S, N, E, W",
    "entries": "legs vehicles come from, by letter",
    "arms": "arms: their number, or for a crossing their letters",
    "major": "legs of higher priority, by letter",
    "lane_turns": "turns of each entry lane from the kerb, such as RT,L",
    "green": "s, of the first signal phase; 0 by rule",
    "cycle": "s, of the signals; 0 by rule",
    "kerb": "m, radius of the kerbs",
    "circumference": "m, along the outermost lane",
    "on_ramps": "number of on-ramps",
    "off_ramps": "number of off-ramps",
    "acceleration_lane": "m",
    "deceleration_lane": "m",
    "circles": "number of circles",
    "spacing": "m between circles",
    "size": "how large",
    "seed": "the same seed gives the same network",
    "blocks": "street lines each way, instead of a size",
}


@dataclass(frozen=True)
class Option:
    """One option of a generator. choices is empty unless the value must be one of them."""

    name: str
    kind: type  # int, float, str, or tuple for a comma-separated list
    default: object
    choices: tuple[str, ...]
    help: str


def options_of(name: str) -> tuple[Option, ...]:
    """The options of a generator, in order.

    Raises NetworkError for a name that does not exist.

    >>> [option.name for option in options_of("straight")]
    ['length', 'lanes', 'speed']
    """
    function = _generator(name)
    hints = get_type_hints(function)
    options = []
    for parameter in inspect.signature(function).parameters.values():
        hint = hints[parameter.name]
        words = get_args(hint) if get_origin(hint) is Literal else ()
        choices = tuple(str(word) for word in words)
        kind: type = str if words else hint if hint in (int, float, str) else tuple
        options.append(
            Option(parameter.name, kind, parameter.default, choices, HELP[parameter.name])
        )
    return tuple(options)


def generate(name: str, **options: object) -> Network:
    """Make a network by the generator's name; values may be given as text.

    Raises NetworkError for a name, option or value that does not exist or is out of range.

    >>> generate("ring", circumference="400", lanes=2).n_road_lanes
    4
    """
    function = _generator(name)
    known = {option.name: option for option in options_of(name)}
    values = {}
    for key, value in options.items():
        if key not in known:
            near = get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]}" if near else f"it has {', '.join(known)}"
            raise NetworkError(f"generator {name}: no option {key}; {hint}")
        values[key] = _value(name, known[key], value)
    return function(**values)


def _generator(name: str) -> Callable[..., Network]:
    if name not in GENERATORS:
        raise NetworkError(f"generator {name!r}: wanted one of {', '.join(GENERATORS)}")
    return GENERATORS[name]


def _value(name: str, option: Option, value: object) -> object:
    """The value of an option in its own type."""
    where = f"generator {name}: {option.name} {value!r}"
    if option.choices and value not in option.choices:
        raise NetworkError(f"{where}: wanted one of {', '.join(option.choices)}")
    if option.kind is str:
        return str(value)
    if option.kind is tuple:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        if isinstance(value, (list, tuple)):
            return tuple(str(part) for part in value)
        raise NetworkError(f"{where}: wanted a list separated by commas")
    wanted = "a whole number" if option.kind is int else "a number"
    try:
        number = float(str(value))
    except ValueError:
        number = float("nan")
    if not isfinite(number) or (option.kind is int and number != int(number)):
        raise NetworkError(f"{where}: wanted {wanted}")
    return int(str(value)) if option.kind is int and str(value).isdigit() else option.kind(number)
