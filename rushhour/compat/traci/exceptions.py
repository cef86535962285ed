"""The exceptions of TraCI."""


class TraCIException(Exception):
    """What cannot be meant or done, in one line; the connection goes on."""


class FatalTraCIError(Exception):
    """There is no connection, or none can be made."""


class NotThere(TraCIException, AttributeError):
    """A name that is not there: `hasattr` sees it so, and a call says what to do."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what} is not there: {why}")
