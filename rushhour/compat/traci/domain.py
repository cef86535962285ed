"""What all domains share: ids, subscriptions, and one line for every call that is not there."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rushhour.compat.traci import constants as tc
from rushhour.compat.traci.exceptions import NotThere, TraCIException
from rushhour.roadnets.errors import RushhourError

if TYPE_CHECKING:
    from rushhour.compat.traci.connection import Connection

EMISSIONS: Final = "there are no emissions, fuel, noise or energy here"
SEE: Final = "docs/from-sumo.md lists the calls that are"
_EMITS: Final = ("Emission", "Fuel", "Electricity", "Noise")


class Domain:
    """A domain of TraCI over the world of a connection.

    NAME: its name; KIND: what one of its objects is called in messages; VARS: number of a value
    and the call that tells it; INSTEAD: calls of SUMO that are not there, and what to use.
    """

    NAME: ClassVar[str] = ""
    KIND: ClassVar[str] = ""
    NUMBER: ClassVar[int] = 0
    VARS: ClassVar[Mapping[int, str]] = {}
    INSTEAD: ClassVar[Mapping[str, str]] = {}
    DEFAULT: ClassVar[tuple[int, ...]] = (tc.TRACI_ID_LIST,)

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self._world, self._names = connection.world, connection.names
        # By object: the values, and from when until when; by object of a context, what it is about.
        self._wanted: dict[str, tuple[tuple[int, ...], float, float, Mapping[int, Any]]] = {}
        self._around: dict[str, dict[int, tuple[float, tuple[int, ...]]]] = {}

    def getIDList(self) -> tuple[str, ...]:
        """Ids of all that there are now."""
        raise NotImplementedError

    def getIDCount(self) -> int:
        """How many there are now."""
        return len(self.getIDList())

    def domainID(self) -> int:
        """TraCI's number of the domain."""
        return self.NUMBER

    # --- subscriptions ---------------------------------------------------------------------

    def subscribe(
        self,
        objectID: str,
        varIDs: Iterable[int] | None = None,
        begin: float = tc.INVALID_DOUBLE_VALUE,
        end: float = tc.INVALID_DOUBLE_VALUE,
        parameters: Mapping[int, Any] | None = None,
    ) -> None:
        """Have values of one object after each step from `begin` until `end`, s, now included.

        Raises TraCIException for an object or a value that is not there.
        """
        if varIDs is None:
            varIDs = self.DEFAULT
        numbers = tuple(varIDs)
        for number in numbers:
            self._call_of(number)
        if not set(numbers) <= {tc.TRACI_ID_LIST, tc.ID_COUNT}:
            self._want(objectID)
        if not numbers:
            self._wanted.pop(objectID, None)
            return
        start = -1e300 if begin == tc.INVALID_DOUBLE_VALUE else begin
        stop = 1e300 if end == tc.INVALID_DOUBLE_VALUE else end
        self._wanted[objectID] = (numbers, start, stop, dict(parameters or {}))

    def unsubscribe(self, objectID: str) -> None:
        """Have no values of an object any more."""
        self._wanted.pop(objectID, None)

    def getSubscriptionResults(self, objectID: str) -> dict[int, Any]:
        """The values of one object as they are now, by number; {} for one that is gone."""
        if objectID not in self._wanted:
            return {}
        numbers, start, stop, given = self._wanted[objectID]
        if not start <= self._world.time <= stop:
            return {}
        of_all = set(numbers) <= {tc.TRACI_ID_LIST, tc.ID_COUNT}
        if not of_all and not self._is_there(objectID):
            if self._is_over(objectID):
                del self._wanted[objectID]
            return {}
        return {number: self._value(objectID, number, given) for number in numbers}

    def getAllSubscriptionResults(self) -> dict[str, dict[int, Any]]:
        """The values of all objects that were subscribed to and are there, by id."""
        found = {name: self.getSubscriptionResults(name) for name in list(self._wanted)}
        return {name: values for name, values in found.items() if values}

    def subscribeContext(
        self,
        objectID: str,
        domain: int,
        dist: float,
        varIDs: Iterable[int] | None = None,
        begin: float = tc.INVALID_DOUBLE_VALUE,
        end: float = tc.INVALID_DOUBLE_VALUE,
        parameters: Mapping[int, Any] | None = None,
    ) -> None:
        """Have values of the vehicles within `dist` m of an object (of its place, as the crow flies).

        Raises TraCIException for domains other than vehicles, and for values that are not there.
        """
        if domain != tc.CMD_GET_VEHICLE_VARIABLE:
            raise TraCIException("subscribeContext: only vehicles around an object are there")
        self._place(objectID)
        numbers = (tc.TRACI_ID_LIST,) if varIDs is None else tuple(varIDs)
        for number in numbers:
            self._connection.vehicle._call_of(number)
        if numbers:
            self._around.setdefault(objectID, {})[domain] = (dist, numbers)
        else:
            self.unsubscribeContext(objectID, domain, dist)

    def unsubscribeContext(self, objectID: str, domain: int, dist: float) -> None:
        """Have no values around an object any more."""
        self._around.get(objectID, {}).pop(domain, None)

    def getContextSubscriptionResults(self, objectID: str) -> dict[str, dict[int, Any]]:
        """The values of the vehicles around an object as they are now, by vehicle."""
        if not self._around.get(objectID) or not self._is_there(objectID):
            return {}
        ((dist, numbers),) = self._around[objectID].values()
        vehicles = self._connection.vehicle
        return {
            name: {
                number: vehicles._value(name, number, {})
                for number in numbers
                if number != tc.TRACI_ID_LIST
            }
            for name in self._connection.scene.within(self._place(objectID), dist)
        }

    def getAllContextSubscriptionResults(self) -> dict[str, dict[str, dict[int, Any]]]:
        """The values around all objects, by object."""
        return {name: self.getContextSubscriptionResults(name) for name in self._around}

    # --- helpers ---------------------------------------------------------------------------

    def _call_of(self, number: int) -> str:
        """The call that tells a value. Raises NotThere for others."""
        if number == tc.TRACI_ID_LIST:
            return "getIDList"
        if number == tc.ID_COUNT:
            return "getIDCount"
        if number not in self.VARS:
            raise NotThere(f"{self.NAME}: value 0x{int(number):02x}", SEE)
        return self.VARS[number]

    def _value(self, name: str, number: int, given: Mapping[int, Any]) -> Any:
        call: Callable[..., Any] = getattr(self, self._call_of(number))
        if number in (tc.TRACI_ID_LIST, tc.ID_COUNT) or not self.KIND:
            return call()
        if number not in given:
            return call(name)
        more = given[number]
        return call(name, *(more[1:] if isinstance(more, tuple) else (more,)))

    def _is_there(self, name: str) -> bool:
        """Whether an object has values now."""
        return True

    def _is_over(self, name: str) -> bool:
        """Whether one that is not there never comes back."""
        return False

    def _want(self, name: str) -> None:
        """Raise TraCIException for an object that is not known."""
        if self.KIND and name not in self.getIDList():
            raise self._unknown(name)

    def _unknown(self, name: object) -> TraCIException:
        return TraCIException(f"{self.KIND} '{str(name)[:60]}' is not known.")

    def _place(self, name: str) -> tuple[float, float]:
        """x, y of an object, for contexts."""
        raise NotThere(f"{self.NAME}.subscribeContext", "of vehicles, junctions and lanes it is")

    def _tell(self, command: Callable[..., object], *arguments: Any, **more: Any) -> Any:
        """Give a command to the world; what it refuses is a TraCIException."""
        try:
            return command(*arguments, **more)
        except RushhourError as error:
            raise TraCIException(str(error)) from None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        why = self.INSTEAD.get(name, SEE)
        if any(word in name for word in _EMITS) or name.endswith("Consumption"):
            why = EMISSIONS
        raise NotThere(f"{self.NAME}.{name}", why)
