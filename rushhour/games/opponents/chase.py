"""A chase through the traffic of a world: hunters, who flees, and what came of it.

All of them are bodies from outside (`world.bodies`): the traffic sees them, brakes for them and
passes them. They move as the world's frames do, driven through a gamepad by minds, by a tape of
recorded inputs, or by somebody's hand.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.games.navmesh.mesh import Navmesh, build_navmesh
from rushhour.games.opponents.happenings import ChaseEvent, event_of, make_way, who_hears
from rushhour.games.opponents.making import Cast, made_cast, place_cast
from rushhour.games.opponents.tape import Tape
from rushhour.kernels.core.reprs import fields_shown
from rushhour.kernels.opponents.acting import act_frame
from rushhour.kernels.opponents.minds import BETTER, FULL, SIMPLE
from rushhour.kernels.opponents.states import STATES
from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.facts import fact_line
from rushhour.traffic.settings.numbers import whole_seed

if TYPE_CHECKING:
    from rushhour.traffic.world import World

RECOVERIES: Final = {"simple": SIMPLE, "better": BETTER, "full": FULL}
STATE_NAMES: Final = ("wait", "destination", "intercept", "chase", "avoid", "box")
assert len(STATE_NAMES) == STATES
STEP: Final = 1.0 / 30.0  # s, the longest in which bodies move
MOST: Final = 1000  # opponents


@dataclass(frozen=True)
class ChaseResult:
    """What came of a chase; arrays have the target first, then the opponents, (n,)."""

    time: float  # s
    captures: int
    rams: NDArray[np.int32]  # times that one began to touch its quarry (the target: its hunter)
    bumps: NDArray[np.int32]  # ... a vehicle of the traffic
    passes: NDArray[np.int32]  # vehicles that one began to pass
    slides: NDArray[np.int32]  # power-slides begun
    resets: NDArray[np.int32]  # times set on a road
    off_time: NDArray[np.float64]  # s beside the roads
    horns: NDArray[np.int32]  # times that one sounded its horn
    near_misses: NDArray[np.int32]
    collisions: NDArray[np.int32]  # with anybody; of two bodies the first has it
    shares: NDArray[np.float64]  # (n, states) of the time, in the order of STATE_NAMES

    def __repr__(self) -> str:
        return fields_shown(self)


class Chase:
    """Opponents that hunt a target through the traffic of a world.

    opponents: how many. car: a class of traffic.steering.classes. speed: m/s at most, of the
    opponents; the target's is `lead` times that. recovery: how one gets back to the road, "full",
    "better" or "simple". by_hand: the target is driven by `drive`. navmesh: of the world's network,
    if there is one already. tape: inputs of another chase of the same world, which are given again.

    They join as the world stands, where nobody is, and act in each of its frames from then on.
    Raises ParameterError for values that cannot be.

    >>> world = World(network, vehicles_on_road(network, 200, seed=1), dt=0.1, seed=1)
    >>> chase = Chase(world, opponents=4, seed=1)
    >>> world.step(600)
    >>> chase.result().captures
    """

    steers = True  # as an observer of the world: its cost is that of steering

    def __init__(
        self,
        world: "World",
        opponents: int = 4,
        *,
        car: str = "car",
        speed: float = 17.0,
        lead: float = 0.9,
        recovery: str = "full",
        by_hand: bool = False,
        seed: int | None = None,
        navmesh: Navmesh | None = None,
        tape: Tape | None = None,
    ) -> None:
        if not 1 <= opponents <= MOST:
            raise ParameterError(f"opponents {opponents}: wanted 1 to {MOST}")
        if recovery not in RECOVERIES:
            raise ParameterError(
                f"recovery {recovery!r:.40}: wanted one of {', '.join(RECOVERIES)}"
            )
        for name, value, most in (("speed", speed, 60.0), ("lead", lead, 3.0)):
            if not 0.0 < value <= most:
                raise ParameterError(f"{name} {value!r:.40}: wanted more than 0, up to {most:g}")
        self.world = world
        self.navmesh = build_navmesh(world.network) if navmesh is None else navmesh
        self.seed = world.seed if seed is None else whole_seed(seed)
        self._recovery = RECOVERIES[recovery]
        self._again = tape
        self._steps = max(1, int(np.ceil(world.dt / STEP - 1e-9)))
        self._begun = world.frame
        self._before = world.poses(alpha=0.0)
        self._now = world.poses(alpha=1.0)
        self.cast: Cast = made_cast(opponents, car, speed, lead, self._steps)
        self.cast.minds.by_hand[0] = by_hand
        if tape is None:
            place_cast(self.cast, self.navmesh.cells, self._now, self.seed)
        else:
            tape.begin(self.cast, self._steps, world)
        self.tape = Tape.of(self.cast, self._steps, world)
        self._tell()
        world.observers.append(self)

    def __repr__(self) -> str:
        facts = {"opponents": len(self) - 1, "captures": int(self.cast.captures.sum())}
        return fact_line(f"Chase on {self.world.network.name}", facts)

    def __len__(self) -> int:
        return int(self.cast.minds.flees.size)

    def drive(self, throttle: float, steer: float, hand_brake: float = 0.0) -> None:
        """Press the target's pad until the next call; throttle, steer: -1 to 1, of by_hand only.

        Raises ParameterError for a target that drives itself, and for what is not finite.
        """
        if not self.cast.minds.by_hand[0]:
            raise ParameterError("the target drives itself; make the chase with by_hand=True")
        values = (throttle, steer, hand_brake)
        if not np.isfinite(values).all():
            raise ParameterError(f"pad {values}: wanted numbers from -1 to 1")
        pad = self.cast.pad
        pad.throttle[0], pad.steer[0], pad.hand_brake[0] = np.clip(values, (-1, -1, 0), 1)

    def observe(self) -> None:
        """Act in the frame that the world has just stepped."""
        world, cast = self.world, self.cast
        self._before = world.poses(self._before, 0.0)
        self._now = world.poses(self._now, 1.0)
        frame = world.frame - 1 - self._begun
        inputs, moved = self.tape.next_frame()
        if self._again is not None:
            self._again.copy_frame(frame, inputs, moved)
        act_frame(
            cast.minds, cast.pad, cast.paths, cast.drivers, cast.types, cast.cars, cast.bodies,
            self.navmesh.cells, self.navmesh._search, cast.boxes, self._now, self._before,
            cast.way, inputs, moved, cast.stood, cast.rammed, cast.was, cast.caught,
            cast.captures, cast.notes,
            self._again is not None, self._recovery, self.seed, frame, world.dt,
        )  # fmt: skip
        notes = cast.notes
        for row in notes.event[: notes.written[0]]:
            self.tape.events.append(event_of(frame, row))
        if self._again is not None:
            horns = [event.body for event in self._again.events_at(frame) if event.kind == "horn"]
        else:
            horns = np.flatnonzero(cast.minds.heard >= 0).tolist()
        for body in horns:
            self.sound_horn(body, frame)
        self.tape.note(cast)
        self._tell()

    def sound_horn(self, body: int = 0, frame: int | None = None) -> None:
        """Let a body sound its horn: the traffic ahead that goes its way makes way if it can.

        body: 0, the target, or an opponent. frame: of the chase, the last one if not given.
        Opponents do so themselves when somebody holds them up. Raises ParameterError.
        """
        if not 0 <= body < len(self):
            raise ParameterError(f"body {body}: wanted 0 to {len(self) - 1}")
        b, t = self.cast.bodies, self.cast.types
        half, heading = 0.5 * float(t.wheelbase[b.type[body]]), float(b.heading[body])
        x, y = float(b.x[body]) + half * np.cos(heading), float(b.y[body]) + half * np.sin(heading)
        heard = who_hears(self._now, x, y, heading)
        when = self.world.frame - 1 - self._begun if frame is None else frame
        self.tape.events.append(ChaseEvent(when, "horn", body, heard[0] if heard else -1, -1, 0.0))
        make_way(self.world, heard)

    @property
    def events(self) -> tuple[ChaseEvent, ...]:
        """Horns, near misses and collisions so far; frames are those of the chase."""
        return tuple(self.tape.events)

    def _tell(self) -> None:
        """Tell the traffic where all are now."""
        b, t = self.cast.bodies, self.cast.types
        cos, sin = np.cos(b.heading), np.sin(b.heading)
        half = 0.5 * t.wheelbase[b.type]
        self.world.bodies.set(
            np.arange(b.x.size), b.x + half * cos, b.y + half * sin, b.heading,
            vx=b.speed * cos - b.slip * sin, vy=b.speed * sin + b.slip * cos,
            length=2.0 * t.nose[b.type] - t.wheelbase[b.type], width=2.0 * t.half_width[b.type],
        )  # fmt: skip

    @property
    def states(self) -> tuple[str, ...]:
        """What each is after now, the target first."""
        return tuple(STATE_NAMES[k] for k in self.cast.minds.state)

    def result(self) -> ChaseResult:
        """What came of it so far."""
        minds, cars = self.cast.minds, self.cast.cars
        time = (self.world.frame - self._begun) * self.world.dt
        in_all = np.maximum(minds.in_state.sum(axis=1, keepdims=True), 1e-9)
        return ChaseResult(
            time, int(self.cast.captures[0]), minds.rams.copy(), minds.bumps.copy(),
            minds.passes.copy(), cars.slides.copy(), minds.resets.copy(), minds.off_time.copy(),
            self._counted("horn"), self._counted("near_miss"), self._counted("collision"),
            minds.in_state / in_all,
        )  # fmt: skip

    def _counted(self, kind: str) -> NDArray[np.int32]:
        """How many events of a kind each body has."""
        bodies = [event.body for event in self.tape.events if event.kind == kind]
        return np.bincount(bodies, minlength=len(self)).astype(np.int32)

    def state(self) -> dict[str, NDArray[Any]]:
        """Where the bodies are, to the bit: x, y (of the rear axle), heading, speed, slip, ..."""
        names = ("x", "y", "heading", "speed", "slip", "turning", "steer")
        return {name: getattr(self.cast.bodies, name).copy() for name in names}
