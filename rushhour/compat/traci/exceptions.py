"""The exceptions of TraCI: one class of each, whatever a client calls the module."""


class TraCIException(Exception):
    """What cannot be meant or done, in one line; the connection goes on."""

    def __init__(self, desc: object, command: object = None, errorType: object = None) -> None:
        super().__init__(desc)
        self._command, self._type = command, errorType

    def getCommand(self) -> object:
        """TraCI's number of the command that failed; None: not known."""
        return self._command

    def getType(self) -> object:
        """TraCI's number of what failed; None: not known."""
        return self._type


class FatalTraCIError(Exception):
    """There is no connection, or none can be made."""


class NotThere(TraCIException, AttributeError):
    """A name that is not there: `hasattr` sees it so, and a call says what to do."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what} is not there: {why}")
