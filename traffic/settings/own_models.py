"""Car following and lane changes by functions of the user's own, compiled into the frame.

A function is known by its name and the hash of its *source*: the text of it and of all functions
that it calls, and the values that it takes from outside. So compiled kernels are found on disk again,
and a run file can say by which functions it was made.
"""

import hashlib
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from math import inf
from types import FunctionType, ModuleType
from typing import Any, Final

import numpy as np
from numba.core import event

from rushhour.kernels.bodies.heeding import heed_all
from rushhour.kernels.compiling.jit import config
from rushhour.kernels.compiling.rebuilding import rebuilt
from rushhour.kernels.core.vehicles import Types
from rushhour.kernels.driving.acceleration import drive_all
from rushhour.kernels.following.own_models import OWN, followed_acceleration, wants_change
from rushhour.kernels.lanes.lane_choice import choose_lanes_all
from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.facts import fact_line
from rushhour.traffic.demand.model import VehicleType

FOLLOWING: Final = "car_following"
CHANGING: Final = "lane_change"
# What each is tried with before it may drive anybody, in the order of its arguments.
_FOLLOWING_TRIALS: Final = (
    (0.0, 0.3, 14.0, 40.0), (0.1, 13.9, 36.0), (0.1, 0.4, 8.0, 60.0, inf), (0.0, 9.0, 30.0),
    (2.5,), (2.5,), (2.0,), (1.0,),
)  # fmt: skip
_CHANGING_TRIALS: Final = (
    (1, -1), (0.0, 14.0), (0.2, 13.9), (0.3, 30.0, inf), (0.0, 9.0), (0.3, 30.0, inf), (0.0, 9.0),
    (-3.0, 0.0, 2.0), (-3.0, 0.0, 2.0), (0.1,), (0.3,),
)  # fmt: skip
_TRIALS: Final = {FOLLOWING: _FOLLOWING_TRIALS, CHANGING: _CHANGING_TRIALS}
_ARGUMENTS: Final = {
    FOLLOWING: "v, v0, gap, v_lead, accel, decel, min_gap, time_gap",
    CHANGING: "side, v, v0, gap, v_lead, gap_there, v_lead_there, own, others, threshold, politeness",
}

Given = Callable[..., Any] | Mapping[str, Callable[..., Any]] | None


@dataclass(frozen=True)
class OwnFunction:
    """A function of the user's: its name, the hash of its source, and it, compiled."""

    name: str
    source: str
    call: Any = field(compare=False)

    def __str__(self) -> str:
        return f"{self.name} {self.source}"


@dataclass(frozen=True)
class OwnModels:
    """What the vehicles of a world drive by: the kernels, and the functions in them.

    following: (type name, function), "" every type; changing: None where MOBIL decides.
    """

    following: tuple[tuple[str, OwnFunction], ...] = ()
    changing: OwnFunction | None = None
    drive_all: Any = drive_all
    heed_all: Any = heed_all
    choose_lanes_all: Any = choose_lanes_all

    def __repr__(self) -> str:
        return fact_line("OwnModels", self.told())

    def told(self) -> dict[str, str]:
        """What a run file says of them: names and hashes, by argument of `World`; nothing for ours."""
        found: dict[str, str] = {}
        if self.following:
            found[FOLLOWING] = ", ".join(
                f"{kind}: {own}" if kind else str(own) for kind, own in self.following
            )
        if self.changing is not None:
            found[CHANGING] = str(self.changing)
        return found

    def given(self) -> dict[str, Any]:
        """The arguments of `World` that give them."""
        follows = {kind: own.call for kind, own in self.following}
        changes = None if self.changing is None else self.changing.call
        return {FOLLOWING: follows or None, CHANGING: changes}

    def assigned(self, types: tuple[VehicleType, ...], arrays: Types) -> Types:
        """The types as kernels see them, with the functions that they follow by.

        Raises ParameterError for a function of a type that there is not.
        """
        for k, (kind, _) in enumerate(self.following):
            chosen = np.array([kind in ("", one.name) for one in types], np.bool_)
            if not chosen.any():
                names = ", ".join(one.name[:40] for one in types[:6])
                raise ParameterError(
                    f"{FOLLOWING}: no vehicle type is called {kind[:60]!r}; the demand has {names}"
                )
            arrays.model[chosen] = OWN + k
        return arrays


def own_models(following: Given, changing: Callable[..., Any] | None) -> OwnModels:
    """The kernels that drive by functions of the user's own; without any, ours as they are.

    following: a function for everybody, or one for each of some vehicle types, by name. Raises
    ParameterError for a function that cannot be compiled, or returns no number on the road.
    """
    if following is None and changing is None:
        return OwnModels()
    given = {} if following is None else following
    by_type = dict(given) if isinstance(given, Mapping) else {"": given}
    follows = tuple((str(kind), _known(FOLLOWING, f)) for kind, f in by_type.items())
    changes = None if changing is None else _known(CHANGING, changing)
    return _compiled_in(follows, changes)


@cache
def _compiled_in(
    following: tuple[tuple[str, OwnFunction], ...], changing: OwnFunction | None
) -> OwnModels:
    """The same for functions that are known; worlds of the same ones share their kernels."""
    others: dict[Any, Any] = {}
    parts = [own.source for _, own in following]
    if following:
        text = _choice(len(following))
        space: dict[str, Any] = {"ours": followed_acceleration}
        space |= {f"own_{k}": own.call for k, (_, own) in enumerate(following)}
        exec(text, space)  # noqa: S102  (nothing of it is from outside)
        others[followed_acceleration] = _njit(space["followed_acceleration_own"])
        parts.append(text)
    if changing is not None:
        others[wants_change] = changing.call
        parts.append(changing.source)
    key = "own" + hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    names = [f"{FOLLOWING} {own.name}" for _, own in following]
    names += [f"{CHANGING} {changing.name}"] if changing is not None else []
    event.register("numba:compile", _Announcing(key, ", ".join(names)))  # type: ignore[no-untyped-call]
    made = (rebuilt(kernel, others, key) for kernel in (drive_all, heed_all, choose_lanes_all))
    return OwnModels(following, changing, *made)


class _Announcing(event.Listener):
    """Tells a person why the first frame takes so long; nothing where all is on disk."""

    def __init__(self, key: str, names: str) -> None:
        self._key, self._names, self._told = key, names, False

    def on_start(self, event: Any) -> None:
        if self._told or self._key not in event.data["dispatcher"].py_func.__name__:
            return
        self._told = True
        line = f"compiling {self._names[:80]} into the frame (this text for the first time, 10 to 40 s)"
        print(line, file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        pass


def _choice(count: int) -> str:
    """Source of `followed_acceleration` with as many functions, for the models from OWN on.

    They may divide by gap and v0: neither is less than 0.1, as within IDM. What is no number brakes
    comfortably: a vehicle without a place would take the world with it.
    """
    arguments = _ARGUMENTS[FOLLOWING]
    lines = [
        f"def followed_acceleration_own(model, {arguments}):",
        f"    if model < {OWN}:",
        f"        return ours(model, {arguments})",
        "    v0, gap = max(v0, 0.1), max(gap, 0.1)",
    ]
    for k in range(count):
        lines += [
            f"    if model == {OWN + k}:",
            f"        a = float(own_{k}({arguments}))",
            "        return a if a == a else -decel",
        ]
    return "\n".join([*lines, "    return -decel"])


def _njit(function: Any) -> Any:
    """Compiled in memory, as a part of kernels that are kept on disk, by the rules of the house."""
    import numba

    if config.DISABLE_JIT:
        return function
    return numba.njit(error_model="numpy")(function)


def _known(what: str, function: Any) -> OwnFunction:
    """A function of the user's, tried out. Raises ParameterError; see `own_models`."""
    plain = getattr(function, "py_func", function)
    if not isinstance(plain, FunctionType):
        raise ParameterError(
            f"{what}: wanted a function of numbers, plain or under @njit, not {type(function).__name__}"
        )
    name = plain.__name__
    where = f"{what} {name[:60]}"
    wanted = len(_TRIALS[what])
    if len(inspect.signature(plain).parameters) != wanted:
        raise ParameterError(f"{where}: wanted {wanted} arguments: {_ARGUMENTS[what]}")
    own = OwnFunction(name, _source_hash(where, plain), _njit(plain))
    _try_out(what, where, own.call)
    return own


def _try_out(what: str, where: str, call: Any) -> None:
    """Call it with what happens on a road. Raises ParameterError where that goes wrong."""
    for values in product(*_TRIALS[what]):
        try:
            got = call(*values)
        except Exception as error:  # noqa: BLE001  (whatever numba or the function raises)
            why = " ".join(str(error).split())
            raise ParameterError(
                f"{where}{values}: {type(error).__name__}: {why[:200]}; wanted what numba compiles"
            ) from None
        if what == CHANGING and not isinstance(got, bool | np.bool_):
            raise ParameterError(f"{where}{values} is {str(got)[:40]}: wanted True or False")
        if what == FOLLOWING and not (isinstance(got, int | float) and abs(got) < inf):
            raise ParameterError(
                f"{where}{values} is {str(got)[:40]}: wanted m/s^2, a finite number"
            )


def _source_hash(where: str, function: FunctionType) -> str:
    """Hash of the text of a function, of those that it calls, and of the values that it uses."""
    h = hashlib.sha256()
    for text in sorted(_sources(where, function, {}).values()):
        h.update(text.encode())
    return h.hexdigest()[:16]


def _sources(where: str, function: FunctionType, seen: dict[int, str]) -> dict[int, str]:
    """Texts of all that a function is made of; see `_source_hash`. Raises ParameterError."""
    if id(function) in seen:
        return seen
    code = function.__code__
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):  # typed at a prompt
        text = f"{code.co_code.hex()} {code.co_consts}"
    seen[id(function)] = text
    used = {
        name: function.__globals__[name] for name in code.co_names if name in function.__globals__
    }
    cells = function.__closure__ or ()
    used |= {name: cell.cell_contents for name, cell in zip(code.co_freevars, cells, strict=True)}
    for name, value in used.items():
        plain = getattr(value, "py_func", value)
        if isinstance(value, ModuleType):
            if "random" in code.co_names:
                raise ParameterError(
                    f"{where}: draws from {value.__name__}.random, which differs from run to run; use "
                    "rushhour.kernels.uniform, by numbers that tell a draw from others"
                )
        elif isinstance(plain, FunctionType):
            if plain.__module__ == "random":
                raise ParameterError(f"{where}: draws random numbers, which differ from run to run")
            _sources(where, plain, seen)
        elif isinstance(value, np.ndarray):
            seen[id(value)] = f"{name} {value.dtype} {value.shape} {value.tobytes().hex()}"
        elif isinstance(value, bool | int | float | str | tuple | np.generic):
            seen[-len(seen)] = f"{name} {value!r}"
        elif not callable(value):
            raise ParameterError(
                f"{where}: uses {name}, a {type(value).__name__}; wanted numbers, tuples and arrays"
            )
    return seen


def want_same(where: str, recorded: Mapping[str, object], models: OwnModels) -> None:
    """Raise ParameterError unless models are those that a run file says it was made by.

    recorded: attributes of its /meta.
    """
    told = models.told()
    for what in (FOLLOWING, CHANGING):
        was, now = str(recorded.get(what, "")), told.get(what, "")
        if was == now:
            continue
        if not was:
            raise ParameterError(
                f"{where}: was made without {what}, not by {now[:80]}; leave it out"
            )
        given = f"not {now[:80]}" if now else "which no file holds"
        raise ParameterError(
            f"{where}: was made by {what} {was[:120]}, {given}; give the same function: "
            f"RunFile(path, {what}=...) or World.resume(path, {what}=...)"
        )
