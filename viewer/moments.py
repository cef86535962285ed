"""What is to be drawn at an instant, wherever it comes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.model import Network
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.outside.body_log import no_bodies
from rushhour.viewer.camera import Box
from rushhour.viewer.loads import Loads, loads_of


@dataclass(frozen=True, eq=False)
class Moment:
    """Vehicles at one time: arrays (n,) sorted by id. columns: what else was recorded, as "reason"."""

    time: float  # s
    id: NDArray[np.int32]
    x: NDArray[np.float64]  # m, of the front bumper's middle
    y: NDArray[np.float64]  # m
    heading: NDArray[np.float64]  # rad from east, counter-clockwise
    speed: NDArray[np.float64]  # m/s
    length: NDArray[np.float64]  # m
    width: NDArray[np.float64]  # m
    size: NDArray[np.int32]  # row of the source's sizes
    type: NDArray[np.int32]  # row of the source's types
    columns: Mapping[str, NDArray[Any]]

    def __len__(self) -> int:
        return len(self.id)

    def row(self, vehicle: int | None) -> int:
        """Row of a vehicle; -1 if it is not there."""
        if vehicle is None:
            return -1
        at = int(np.searchsorted(self.id, vehicle))
        return at if at < len(self.id) and self.id[at] == vehicle else -1


@dataclass(frozen=True)
class Bars:
    """Costs in ms: rows of name and value; a full bar is `budget` long."""

    title: str
    rows: tuple[tuple[str, float], ...]
    budget: float


class Source(Protocol):
    """Where moments come from.

    steps: it goes on when it is asked for later times, and never back. chased: bodies from outside
    are those of a chase. sizes: (k, 3) length, width, m, and shape that moments name.
    """

    name: str
    steps: bool
    chased: bool
    network: Network
    sizes: NDArray[np.float64]
    types: tuple[str, ...]

    @property
    def times(self) -> NDArray[np.float64]:
        """Recorded times, s."""
        ...

    @property
    def demand(self) -> Demand | None:
        """Who drives where, by number of vehicles; None where nothing tells."""
        ...

    def at(self, time: float, near: Box | None = None) -> Moment:
        """What is to be drawn at a time in s; exact at least near a box, m, None: everywhere."""
        ...

    def outside(self, time: float) -> NDArray[Any]:
        """The bodies from outside that are there at a time in s, rows of outside.body_log.ROW."""
        ...

    def loads(self, time: float) -> Loads:
        """What is on every lane at a time in s, or in the recorded frame before; the same object for the same."""
        ...

    def vehicles(self, time: float) -> int:
        """How many are on the road at a time in s, or in the recorded frame before."""
        ...

    def lights(self, time: float) -> NDArray[np.uint8]:
        """What signals show each connector at a time in s, (n_connectors,)."""
        ...

    def waiting(self, moment: Moment) -> NDArray[np.float64] | None:
        """Since how many s each vehicle of a moment stands; None if nothing tells."""
        ...

    def vehicle_name(self, vehicle: int) -> str:
        """The id of a vehicle in the demand."""
        ...

    def vehicle_number(self, name: str) -> int | None:
        """The number of a vehicle by its id, or by its number as text; None if there is none."""
        ...

    def events(self, kind: str) -> tuple[tuple[float, int, int], ...]:
        """When something happened: s, vehicle (-1 none) and lane (-1 none), ascending."""
        ...

    def costs(self, time: float) -> tuple[Bars, ...]:
        """What a frame at a time in s cost, by phase; none where nothing tells."""
        ...

    def dearest(self) -> tuple[tuple[float, float], ...]:
        """Times, s, and costs, ms, of frames that one can go to, the dearest first."""
        ...

    def refresh(self) -> bool:
        """Read what was written since; whether there may be more."""
        ...


def no_vehicles(time: float) -> Moment:
    """A moment of an empty network."""
    none, whole = np.zeros(0), np.zeros(0, np.int32)
    return Moment(time, whole, none, none, none, none, none, none, whole, whole, {})


class NetworkSource:
    """A network without vehicles; its signals go by their clock."""

    steps = chased = False

    def __init__(self, network: Network) -> None:
        self.name, self.network = network.name, network
        self.sizes: NDArray[np.float64] = np.array([(1.0, 1.0, 0.0)])
        self.types: tuple[str, ...] = ()
        self.times = np.zeros(1)
        self.demand = None
        none = np.zeros(0, np.int32)
        self._empty = loads_of(none, none, network.n_lanes)

    def at(self, time: float, near: Box | None = None) -> Moment:
        """Nobody."""
        return no_vehicles(time)

    def outside(self, time: float) -> NDArray[Any]:
        """None."""
        return no_bodies().rows

    def loads(self, time: float) -> Loads:
        """Nobody."""
        return self._empty

    def vehicles(self, time: float) -> int:
        """None."""
        return 0

    def lights(self, time: float) -> NDArray[np.uint8]:
        """What programs show by their clock."""
        from rushhour.viewer.lights import states_at

        return states_at(self.network, time)

    def waiting(self, moment: Moment) -> None:
        """Nobody waits."""

    def vehicle_name(self, vehicle: int) -> str:
        """There is none."""
        return ""

    def vehicle_number(self, name: str) -> int | None:
        """There is none."""
        return None

    def events(self, kind: str) -> tuple[tuple[float, int, int], ...]:
        """Nothing happened."""
        return ()

    def costs(self, time: float) -> tuple[Bars, ...]:
        """Nothing is simulated."""
        return ()

    def dearest(self) -> tuple[tuple[float, float], ...]:
        """Nothing is simulated."""
        return ()

    def refresh(self) -> bool:
        """It stays as it is."""
        return False
