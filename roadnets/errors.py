"""Errors that a user can cause: each says what, where, what was wanted and what to do."""

from typing import Final

LONGEST: Final = 600  # characters of a message
END: Final = 200  # of them, what a message that quotes more ends with: what to do


class RushhourError(Exception):
    """Base of every error that rushhour raises for wrong input.

    Its message is one printable line of at most LONGEST characters, whatever of the input it quotes.
    """

    def __init__(self, message: str) -> None:
        if not message.isprintable():
            message = "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)
        if len(message) > LONGEST:
            message = f"{message[: LONGEST - END - 5]} ... {message[-END:]}"
        super().__init__(message)


class NetworkError(RushhourError, ValueError):
    """A network that cannot be read or built."""


class DemandError(RushhourError, ValueError):
    """Demand that cannot be read, or that does not fit the network."""


class ParameterError(RushhourError, ValueError):
    """A parameter that does not exist or is out of its range."""


class RunError(RushhourError):
    """A run that cannot start or go on."""


class UnheardParameter(UserWarning):
    """A parameter that was given and that no vehicle has."""
