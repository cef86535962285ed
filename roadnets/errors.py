"""Errors that a user can cause: each says what, where, what was wanted and what to do."""


class RushhourError(Exception):
    """Base of every error that rushhour raises for wrong input."""


class NetworkError(RushhourError, ValueError):
    """A network that cannot be read or built."""


class DemandError(RushhourError, ValueError):
    """Demand that cannot be read, or that does not fit the network."""


class ParameterError(RushhourError, ValueError):
    """A parameter that does not exist or is out of its range."""


class RunError(RushhourError):
    """A run that cannot start or go on."""
