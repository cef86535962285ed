"""Errors that a user can cause: each says what, where, what was wanted and what to do."""


class RushhourError(Exception):
    """Base of every error that rushhour raises for wrong input.

    Its message is one printable line, whatever of the input it quotes.
    """

    def __init__(self, message: str) -> None:
        shown = (c if c.isprintable() else repr(c)[1:-1] for c in message)
        super().__init__(message if message.isprintable() else "".join(shown))


class NetworkError(RushhourError, ValueError):
    """A network that cannot be read or built."""


class DemandError(RushhourError, ValueError):
    """Demand that cannot be read, or that does not fit the network."""


class ParameterError(RushhourError, ValueError):
    """A parameter that does not exist or is out of its range."""


class RunError(RushhourError):
    """A run that cannot start or go on."""
